"""A living story, as the stream keeps it in memory."""

from __future__ import annotations

from dataclasses import dataclass, field

from doccluster.streams.article import Moment

# what the store keeps of a story that is not told by its documents, besides its id and state
STORY_FIELDS = ("founder", "born", "language", "parent", "lead", "led_at", "changed", "touched")


@dataclass(slots=True)
class Story:
    """One story.

    Attributes
    ----------
    founder : str
        The key of the article that it is named after.
    born : int
        When it was founded: the time of its founder, or what the clock said at a split.
    parent : str
        The story that it was split off.
    lead, led_at : int
        The number of the article that names the story, and when it was chosen.
    changed : int
        When articles went from it to another story, or came from one.
    touched : int
        What the stream's clock said when an article came to it last, whatever its date; the date if that is later.
    n_documents : int
    members : set of int
        The numbers of its articles that later ones are compared with.
    """

    id: str
    founder: str
    born: Moment
    language: str
    parent: str = ""
    lead: int = 0
    led_at: int = 0
    changed: Moment = 0
    touched: Moment = 0
    n_documents: int = 0
    members: set[int] = field(default_factory=set)
