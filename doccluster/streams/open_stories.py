"""The stories that are open, or closed so lately that they can be resumed: compared with, added to, joined and cut."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from doccluster.streams.article import Moment
from doccluster.streams.frequencies import WeightedTerms
from doccluster.streams.joining import Floats, Likeness, join_score
from doccluster.streams.settings import StreamSettings
from doccluster.streams.story import Member, Story
from doccluster.streams.story_index import StoryFacts, StoryIndex

LEADS = 20  # newest members among which the one that names a story is chosen
LEAD_GROWTH = 1.5  # by which the families of a story must have grown before it is named again
_ROUNDING = 1e-9  # by which a bound may miss the score that it bounds


@dataclass(frozen=True, slots=True)
class Match:
    """An open story that an article may join, and the score of that."""

    story: Story
    likeness: Likeness
    score: float


class OpenStories:
    """Stories by id, with their sums in an index; every change of a story goes through here."""

    def __init__(self, settings: StreamSettings, coefficients: Floats) -> None:
        self.settings = settings
        self.coefficients = coefficients
        self.open: dict[str, Story] = {}
        self.closed: dict[str, Story] = {}
        self._by_slot: dict[int, Story] = {}
        self._index = StoryIndex()
        self._facts = StoryFacts()
        self._languages: dict[str, int] = {"": 0}
        self._scratch = np.zeros(1 << 12, dtype=np.float64)

    def __iter__(self) -> Iterator[Story]:
        return iter(self.open.values())

    def matches(self, vectors: WeightedTerms, *, time: Moment, language: str, cut: float) -> tuple[list[Match], Floats]:
        """Return the stories whose join score reaches `cut`, the best first, and the products with all slots.

        Of equal scores the older story is first, then the one with the lesser id.
        """
        products = self._index.products(vectors)
        bounds = self._facts.bounds(
            products,
            self._index.squares,
            has_field=vectors.has_field,
            usable=self._usable_for(language),
            moment=float(time),
            scale=self.settings.time_scale,
            cut=cut - _ROUNDING,
            coefficients=self.coefficients,
        )
        found = []
        for slot in np.flatnonzero(bounds >= cut - _ROUNDING).tolist():
            match = self._match(self._by_slot[slot], vectors, products, time)
            if match.score >= cut:
                found.append(match)
        return sorted(found, key=lambda one: (-one.score, one.story.born, one.story.id)), products

    def match(self, story: Story, vectors: WeightedTerms, *, time: Moment) -> Match:
        """Return how an article is like one story."""
        return self._match(story, vectors, self._index.products(vectors), time)

    def nearest_closed(self, products: Floats) -> tuple[Story, float] | None:
        """Return the closed story with the greatest cosine of all words, of equal ones the one closed last."""
        slots = np.array([story.slot for story in self.closed.values()], dtype=np.int64)
        squares = self._index.squares[slots, 1]
        cosines = products[slots, 1] / np.sqrt(np.where(squares > 0, squares, 1.0))
        nearest = np.flatnonzero(cosines == cosines.max(initial=-1.0)).tolist()
        if not nearest:
            return None
        stories = list(self.closed.values())
        best = max(nearest, key=lambda place: (stories[place].last, stories[place].id))
        return stories[best], float(cosines[best])

    def open_new(self, story: Story) -> None:
        """Take in an open story, with the members it has."""
        self.open[story.id] = story
        self._rebuild(story)

    def take_closed(self, story: Story) -> None:
        """Take in a story that is closed."""
        self.open[story.id] = story
        self._rebuild(story)
        self.close(story)

    def add(self, story: Story, member: Member) -> list[Member]:
        """Add an article to the sums of a story; return the members that are too old to stay in them."""
        half_life = self.settings.half_life
        left: list[Member] = []
        if story.is_to_be_rebased(member.time, half_life):
            left = story.rebase(member.time, half_life)
            self._give_up(story)
            self._rebuild(story)
        story.members.append(member)
        self._index.add(story.slot, member.vectors, story.factor(member.time, half_life))
        self.note(story)
        return left

    def note(self, story: Story) -> None:
        """Bring what the index knows of a story up to date."""
        facts, slot = self._facts, story.slot
        facts.make_room(self._index.n_slots)
        facts.usable[slot] = story.id in self.open
        facts.lasts[slot], facts.firsts[slot] = story.last, story.first
        facts.counts[slot] = max(1, story.n_families)
        newest = story.newest(self.settings.n_newest)
        factors = [story.factor(one.time, self.settings.half_life) for one in newest]
        facts.least[slot] = min(factors, default=1.0)
        facts.languages[slot] = self._languages.setdefault(story.language, len(self._languages))

    def choose_lead(self, story: Story) -> None:
        """Let the newest member that is most like the whole story name it; asked again when the story has grown."""
        if story.lead in {one.number for one in story.members} and story.n_families < LEAD_GROWTH * story.led_at:
            return
        newest = story.newest(LEADS)
        half_life = self.settings.half_life
        self._make_scratch(one.vectors for one in story.members)
        for one in story.members:
            self._scratch[one.vectors.ids] += story.factor(one.time, half_life) * one.vectors.values[:, 1]
        best = (-1.0, 0)
        for one in newest:
            likeness = float((self._scratch[one.vectors.ids] * one.vectors.values[:, 1]).sum())
            best = max(best, (likeness, -one.number))
        for one in story.members:
            self._scratch[one.vectors.ids] = 0.0
        story.lead, story.led_at = -best[1] or story.lead, story.n_families

    def replace(self, story: Story, members: Iterable[Member]) -> None:
        """Give a story other members, in the order of their numbers; its sums are made again."""
        story.members = sorted(members, key=lambda one: one.number)
        self._give_up(story)
        self._rebuild(story)

    def remove(self, story: Story) -> None:
        """Let go of an open story."""
        self._give_up(story)
        del self.open[story.id]

    def close(self, story: Story) -> None:
        """Close a story; its sums stay until it is forgotten."""
        self.closed[story.id] = self.open.pop(story.id)
        self._facts.usable[story.slot] = False

    def forget_closed_before(self, time: Moment) -> list[Story]:
        """Let go of the closed stories whose last article is older; return them."""
        old = sorted((story for story in self.closed.values() if story.last < time), key=lambda one: one.id)
        for story in old:
            self._give_up(story)
            del self.closed[story.id]
        return old

    def _match(self, story: Story, vectors: WeightedTerms, products: Floats, time: Moment) -> Match:
        title, both, names = self._cosines(story, vectors, products)
        near = self._greatest_cosine(vectors, story.newest(self.settings.n_newest))
        last, first = self._closeness(time - story.last), self._closeness(time - story.first)
        likeness = Likeness(title, both, names, near, last, first, max(1, story.n_families))
        return Match(story, likeness, join_score(likeness, self.coefficients))

    def _greatest_cosine(self, vectors: WeightedTerms, members: Sequence[Member]) -> float:
        """Return the greatest cosine, of all words, of an article with one of the members."""
        self._make_scratch((vectors, *(member.vectors for member in members)))
        self._scratch[vectors.ids] = vectors.values[:, 1]
        products = [float((self._scratch[one.vectors.ids] * one.vectors.values[:, 1]).sum()) for one in members]
        self._scratch[vectors.ids] = 0.0
        return max(products, default=0.0)

    def _make_scratch(self, vectors: Iterable[WeightedTerms]) -> None:
        """Have a place, of value 0, for every term of some articles."""
        needed = 1 + max(int(one.ids.max(initial=0)) for one in vectors)
        if needed > self._scratch.size:
            self._scratch = np.zeros(2 * needed, dtype=np.float64)

    def _cosines(self, story: Story, vectors: WeightedTerms, products: Floats) -> tuple[float, float, float]:
        squares, own = self._index.squares[story.slot], products[story.slot]
        both = float(own[1] / np.sqrt(squares[1])) if squares[1] > 0 else 0.0
        has = vectors.has_field
        title = float(own[0] / np.sqrt(squares[0])) if has[0] and squares[0] > 0 else both
        names = float(own[2] / np.sqrt(squares[2])) if has[2] and squares[2] > 0 else both
        return title, both, names

    def _closeness(self, apart: float) -> float:
        units = apart / self.settings.time_scale
        return float(np.exp(-0.5 * units * units))

    def _usable_for(self, language: str) -> npt.NDArray[np.bool_]:
        self._facts.make_room(self._index.n_slots)
        if not language or self.settings.across_languages:
            return self._facts.usable
        number = self._languages.setdefault(language, len(self._languages))
        spoken = self._facts.languages
        same: npt.NDArray[np.bool_] = self._facts.usable & ((spoken == number) | (spoken == 0))
        return same

    def _give_up(self, story: Story) -> None:
        self._facts.usable[story.slot] = False
        del self._by_slot[story.slot]
        self._index.give_up(story.slot)
        story.slot = -1

    def _rebuild(self, story: Story) -> None:
        story.slot = self._index.take_slot()
        self._by_slot[story.slot] = story
        for member in story.members:
            self._index.add(story.slot, member.vectors, story.factor(member.time, self.settings.half_life))
        self.note(story)
