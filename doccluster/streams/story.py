"""A living story, its members, and how long it waits for more."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Iterable
from dataclasses import dataclass, field

from doccluster.streams.article import Moment
from doccluster.streams.frequencies import WeightedTerms
from doccluster.streams.settings import StreamSettings

# what the store keeps of a story, besides its id and state
STORY_FIELDS = (
    "founder", "born", "first", "last", "language", "parent", "lead", "led_at", "n_documents",
    "n_families", "changed", "split_checked", "touched",
)  # fmt: skip


@dataclass(slots=True)
class Member:
    """The first article of a family in a story, as vectors; `n_documents` counts the copies too."""

    number: int
    family: int
    key: str
    time: Moment
    vectors: WeightedTerms
    n_documents: int = 1
    slot: int = -1


@dataclass(slots=True)
class Story:
    """One open story.

    Attributes
    ----------
    founder : str
        The key of the article that founded it.
    born : int
        When it was founded, in the time of the stream.
    first, last : int
        The times of its first and last article.
    members : list of Member
        One for each family, in the order in which they came.
    place : int
        Where what is known of it is kept in arrays.
    changed : int
        When it was last merged or split, or born of a split.
    touched : int
        What the stream's clock said when an article came to it last, whatever its date; the date if that is later.
    lead, led_at : int
        The number of the article that names the story, and when it was chosen.
    split_checked : int
        The number of families at which it was last looked at for a split.
    """

    id: str
    founder: str
    born: Moment
    first: Moment
    last: Moment
    language: str
    parent: str = ""
    lead: int = 0
    n_documents: int = 0
    n_families: int = 0
    changed: Moment = 0
    touched: Moment = 0
    split_checked: int = 0
    led_at: int = 0
    place: int = -1
    members: list[Member] = field(default_factory=list)

    def ends(self, settings: StreamSettings) -> Moment:
        """Return when the story is closed, by the stream's clock, if no article comes."""
        return self.touched + self.wait(settings)

    def wait(self, settings: StreamSettings) -> int:
        """Return how far from the story's articles in time another one can be, and still belong to it."""
        times = sorted(one.time for one in self.members)
        gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
        wait = settings.close_gaps * statistics.median(gaps) if gaps else settings.close_after_least
        return int(min(max(wait, settings.close_after_least), settings.close_after_most))


def newest_of(members: Iterable[Member], n: int) -> list[Member]:
    """Return the n members of the latest times, the latest first; of one time the last that came first."""
    return sorted(members, key=lambda one: (-one.time, -one.number))[:n]
