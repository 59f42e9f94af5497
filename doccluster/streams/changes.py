"""What a batch changes: where its articles went, what happened to stories, and all that the store has to write."""

from __future__ import annotations

from dataclasses import dataclass, field

from doccluster.stories.looking_again import DeskArticle
from doccluster.streams.article import Article, Moment
from doccluster.streams.story import Story


@dataclass(frozen=True, slots=True)
class Event:
    """One line of the lineage: what happened to a story.

    Attributes
    ----------
    when : int
    event : str
        born, grew, merged, split, moved, closed, renamed or pinned. (The store writes a line `moved` for each document
        that goes to another story.)
    story, other : str
        For `merged` the story that goes on and the one that ended; for `split` the story and the new one.
    n_documents : int
        How many documents it is about.
    similarity : float
        The mean likeness with the other articles of the story.
    number : int
        The number of the document, for `born` and `grew`.
    reason : str
        Why documents went to another story.
    """

    when: Moment
    event: str
    story: str
    other: str = ""
    n_documents: int = 0
    similarity: float = 0.0
    number: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class StoryPlacement:
    """Where an article went; `similarity` is its mean likeness with the others there, None of the first one."""

    article: Article
    language: str
    outlet: str
    story: str
    similarity: float | None
    placed: DeskArticle


@dataclass(frozen=True, slots=True)
class Turn:
    """Articles, by their numbers, that have gone from a story to another."""

    source: str
    target: str
    numbers: tuple[int, ...]


@dataclass(slots=True)
class BatchResult:
    """All that a batch has changed.

    Attributes
    ----------
    placements : list of StoryPlacement
        The new articles, in the order of the stream.
    events : list of Event
    turns : list of Turn
        One for each event merged, split and moved, in their order.
    stories : dict of id to (Story, str)
        Stories that have changed, and their states: open, closed or merged.
    linked : dict of number to DeskArticle
        Articles whose words or links are others than before.
    forgotten : list of int
        The numbers of articles that later ones are not compared with any more.
    """

    placements: list[StoryPlacement] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)
    stories: dict[str, tuple[Story, str]] = field(default_factory=dict)
    linked: dict[int, DeskArticle] = field(default_factory=dict)
    forgotten: list[int] = field(default_factory=list)
