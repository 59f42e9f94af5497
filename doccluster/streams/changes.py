"""What a batch changes: where its articles went, what happened to stories, and all that the store has to write."""

from __future__ import annotations

from dataclasses import dataclass, field

from doccluster.streams.article import Article, Moment
from doccluster.streams.frequencies import WeightedTerms
from doccluster.streams.story import Story


@dataclass(frozen=True, slots=True)
class Event:
    """One line of the lineage: what happened to a story.

    Attributes
    ----------
    when : int
    event : str
        born, grew, merged, split, moved, closed, resumed, renamed or pinned. (The store writes a line `moved` for each
        document that goes to another story.)
    story, other : str
        For `merged` the story that goes on and the one that ended; for `split` the story and the new one; for `resumed`
        the new story and its parent.
    n_documents : int
        How many documents it is about.
    number : int
        The number of the document, for `born` and `grew`.
    """

    when: Moment
    event: str
    story: str
    other: str = ""
    n_documents: int = 0
    similarity: float = 0.0
    number: int = 0


@dataclass(frozen=True, slots=True)
class StoryPlacement:
    """Where an article went; `margin` is by how much the probability exceeds the next story's and the threshold."""

    number: int
    article: Article
    language: str
    family: int
    story: str
    is_in_sums: bool
    similarity: float | None
    margin: float | None
    vectors: WeightedTerms


@dataclass(slots=True)
class BatchResult:
    """All that a batch has changed.

    Attributes
    ----------
    placements : list of StoryPlacement
        The new articles, in the order in which they were placed.
    events : list of Event
    joined_families : list of (int, int)
        A family, and the one that it is now a part of.
    touched : dict of Story
        Open stories that have changed, by id.
    ended : dict of (Story, str)
        Stories that are not open any more, and how they ended: closed or merged.
    moves : list of (str, str, list of int)
        From a story to another the families that have moved, for each event merged, split and moved, in their order;
        from a story that was merged everything goes.
    left : list of int
        Numbers of members whose families turned out to be others'.
    read_again : list of (WeightedTerms, int)
        The vectors and numbers of articles whose texts have changed.
    forgotten : list of str
        Ids of stories that cannot be resumed any more.
    copies_from : int or None
        From when on articles can still have copies, if that has changed.
    """

    placements: list[StoryPlacement] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    joined_families: list[tuple[int, int]] = field(default_factory=list)
    touched: dict[str, Story] = field(default_factory=dict)
    ended: dict[str, tuple[Story, str]] = field(default_factory=dict)
    moves: list[tuple[str, str, list[int]]] = field(default_factory=list)
    left: list[int] = field(default_factory=list)
    read_again: list[tuple[WeightedTerms, int]] = field(default_factory=list)
    forgotten: list[str] = field(default_factory=list)
    copies_from: Moment | None = None

    def note(self, story: Story, state: str) -> None:
        """Record that a story has changed, and whether it is open, closed or merged now."""
        if state == "open":
            self.touched[story.id] = story
        else:
            self.touched.pop(story.id, None)
            self.ended[story.id] = (story, state)

    def record_turn(
        self,
        now: Moment,
        event: str,
        source: Story,
        target: Story,
        families: list[int],
        n_documents: int,
        likeness: float,
    ) -> None:
        """Record that families of a story have gone to another."""
        self.moves.append((source.id, target.id, families))
        pair = (source.id, target.id) if event == "split" else (target.id, source.id)
        self.events.append(Event(now, event, *pair, n_documents, likeness))
