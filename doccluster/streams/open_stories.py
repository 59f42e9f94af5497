"""The stories that are open, or closed so lately that they can be resumed: compared with, added to, joined and cut."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.kernels.story_index import add_scattered, product_with_scattered
from doccluster.streams.article import Moment
from doccluster.streams.frequencies import WeightedTerms
from doccluster.streams.joining import Floats, Likeness, depth, join_score
from doccluster.streams.settings import StreamSettings
from doccluster.streams.story import Member, Story, newest_of
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
        self._newest: dict[int, list[Member]] = {}  # the newest members of the story in each slot
        self._scratch = np.zeros(1 << 12, dtype=np.float64)

    def __iter__(self) -> Iterator[Story]:
        return iter(self.open.values())

    def matches(self, vectors: WeightedTerms, *, time: Moment, language: str, cut: float) -> tuple[list[Match], Floats]:
        """Return the stories whose join score reaches `cut`, the best first, and the products with all slots.

        Of equal scores the older story is first, then the one with the lesser id.
        """
        products, has_field = self._index.products(vectors)
        usable = self._usable_for(language, time)
        leaders = self._index.leaders(products, usable)
        slots = np.flatnonzero(usable & (products[1] > 0))
        likeness = self._likeness(slots, products, has_field, leaders, time=time, n_terms=vectors.ids.size)
        can_join = np.flatnonzero(join_score(likeness, self.coefficients) >= cut - _ROUNDING).tolist()
        found = []
        with self._scattered(vectors):
            for place in can_join:
                slot = int(slots[place])
                cosines = tuple(float(own[place]) for own in (likeness.title, likeness.both, likeness.names))
                rival = float(likeness.rival[place])
                match = self._match(self._by_slot[slot], self._newest[slot], vectors, cosines, time=time, rival=rival)
                if match.score >= cut:
                    found.append(match)
        return sorted(found, key=lambda one: (-one.score, one.story.born, one.story.id)), products

    def match(
        self, story: Story, vectors: WeightedTerms, *, time: Moment, language: str = "", besides: Iterable[Story] = ()
    ) -> Match:
        """Return how an article is like one story; the stories `besides` are not its rivals."""
        products, has_field = self._index.products(vectors)
        left_out = [one.slot for one in (story, *besides)]
        rival = float(self._index.leaders(products, self._usable_for(language, time), left_out)[0])
        cosines = self._cosines(products[:, story.slot], self._index.squares[story.slot], has_field)
        with self._scattered(vectors):
            return self._match(story, self._newest[story.slot], vectors, cosines, time=time, rival=rival)

    def nearest_ended(self, products: Floats, time: Moment) -> tuple[Story, float] | None:
        """Return the story that had ended before `time` with the greatest cosine of all words, of equal ones the last.

        It was closed, or would have been, if nothing had come in after its last article.
        """
        facts, squares = self._facts, self._index.squares[:, 1]
        has_ended = (facts.lasts + np.where(facts.usable, facts.waits, 0.0) <= time) & (squares > 0)
        slots = np.flatnonzero(has_ended & (facts.lasts >= time - self.settings.resume_within))
        slots = slots[[slot in self._by_slot for slot in slots.tolist()]]
        if not slots.size:
            return None
        cosines = products[1, slots] / np.sqrt(squares[slots])
        nearest = (self._by_slot[slot] for slot in slots[cosines == cosines.max()].tolist())
        return max(nearest, key=lambda one: (one.last, one.id)), float(cosines.max())

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
        self._newest[story.slot] = newest_of([*self._newest[story.slot], member], self.settings.n_newest)
        self.note(story)
        return left

    def note(self, story: Story) -> None:
        """Bring what the index knows of a story up to date."""
        facts, slot = self._facts, story.slot
        facts.make_room(self._index.n_slots)
        facts.usable[slot] = story.id in self.open
        facts.lasts[slot], facts.firsts[slot] = story.last, story.first
        facts.waits[slot] = story.wait(self.settings)
        facts.counts[slot] = max(1, story.n_families)
        facts.languages[slot] = self._languages.setdefault(story.language, len(self._languages))

    def choose_lead(self, story: Story) -> None:
        """Let the newest member that is most like the whole story name it; asked again when the story has grown."""
        if story.n_families < LEAD_GROWTH * story.led_at and any(one.number == story.lead for one in story.members):
            return
        if len(story.members) > 1:
            story.lead = self._most_like_the_whole(story)
        elif story.members:
            story.lead = story.members[0].number
        story.led_at = story.n_families

    def _most_like_the_whole(self, story: Story) -> int:
        half_life = self.settings.half_life
        self._make_scratch(one.vectors for one in story.members)
        for one in story.members:
            add_scattered(one.vectors.ids, one.vectors.values, story.factor(one.time, half_life), self._scratch)
        best = max((self._product(one.vectors), -one.number) for one in newest_of(story.members, LEADS))
        for one in story.members:
            self._scratch[one.vectors.ids] = 0.0
        return -best[1]

    def replace(self, story: Story, members: Iterable[Member]) -> None:
        """Give a story other members, in the order of their numbers; its sums are made again."""
        story.members = sorted(members, key=lambda one: one.number)
        self._give_up(story)
        self._rebuild(story)

    def remove(self, story: Story) -> None:
        """Let go of a story."""
        self._give_up(story)
        del (self.open if story.id in self.open else self.closed)[story.id]

    def named(self, name: str) -> Story | None:
        """Return the story of an id, None if it is none of these."""
        return self.open.get(name) or self.closed.get(name)

    def state_of(self, story: Story) -> str:
        """Return the state of a story: open or closed; merged if it is none of these."""
        return "open" if story.id in self.open else "closed" if story.id in self.closed else "merged"

    def close(self, story: Story) -> None:
        """Close a story; its sums stay until it is forgotten."""
        self.closed[story.id] = self.open.pop(story.id)
        self._facts.usable[story.slot] = False

    def forget_closed_before(self, time: Moment) -> list[Story]:
        """Let go of the closed stories whose last article came in before; return them."""
        old = sorted((story for story in self.closed.values() if story.touched < time), key=lambda one: one.id)
        for story in old:
            self._give_up(story)
            del self.closed[story.id]
        return old

    def ended_by(self, time: Moment) -> list[Story]:
        """Return the open stories for which nothing has come long enough, those that are idle longest first."""
        found = [one for one in self.open.values() if one.touched <= time - self.settings.close_after_least]
        return sorted((one for one in found if one.ends(self.settings) <= time), key=lambda one: (one.touched, one.id))

    def _match(
        self,
        story: Story,
        newest: Iterable[Member],
        vectors: WeightedTerms,
        cosines: tuple[float, ...],
        *,
        time: Moment,
        rival: float,
    ) -> Match:
        """Return how an article, whose values are in the scratch, is like a story."""
        title, both, names = cosines
        near = max((self._product(one.vectors) for one in newest), default=0.0)
        apart = max(0, time - story.last, story.first - time)
        last, first = self._closeness(apart), self._closeness(time - story.first)
        likeness = Likeness(
            title, both, names, near, last, first, max(1, story.n_families), rival, depth(vectors.ids.size)
        )
        return Match(story, likeness, float(join_score(likeness, self.coefficients)))

    def _likeness(
        self,
        slots: npt.NDArray[np.int64],
        products: Floats,
        has_field: npt.NDArray[np.bool_],
        leaders: Floats,
        *,
        time: Moment,
        n_terms: int,
    ) -> Likeness:
        """Return how an article is like stories at the best: as if one of the newest members were the same."""
        facts, squares = self._facts, self._index.squares[slots]
        cosines = products[:, slots] / np.sqrt(np.where(squares > 0, squares, 1.0)).T
        both = cosines[1]
        title, names = (np.where(has_field[own] & (squares[:, own] > 0), cosines[own], both) for own in (0, 2))
        apart = np.maximum(0, np.maximum(time - facts.lasts[slots], facts.firsts[slots] - time))
        last, first = self._closeness(apart), self._closeness(time - facts.firsts[slots])
        rival = np.where(both >= leaders[0], leaders[1], leaders[0])
        return Likeness(title, both, names, 1.0, last, first, facts.counts[slots], rival, depth(n_terms))

    @contextmanager
    def _scattered(self, vectors: WeightedTerms) -> Iterator[None]:
        """Let the scratch hold the values of all words of an article."""
        self._make_scratch((vectors,))
        self._scratch[vectors.ids] = vectors.values[:, 1]
        try:
            yield
        finally:
            self._scratch[vectors.ids] = 0.0

    def _product(self, vectors: WeightedTerms) -> float:
        """Return the product, of all words, of an article with the one in the scratch."""
        return float(product_with_scattered(vectors.ids, vectors.values, self._scratch))

    def _make_scratch(self, vectors: Iterable[WeightedTerms]) -> None:
        """Have a place, of value 0, for every term of some articles and of all members."""
        needed = max(self._index.n_terms, 1 + max(int(one.ids.max(initial=0)) for one in vectors))
        if needed > self._scratch.size:
            self._scratch = np.zeros(2 * needed, dtype=np.float64)

    def _cosines(
        self, products: Floats, squares: Floats, has_field: npt.NDArray[np.bool_]
    ) -> tuple[float, float, float]:
        lengths = [math.sqrt(square) for square in squares.tolist()]
        own, has = products.tolist(), has_field.tolist()
        both = own[1] / lengths[1] if lengths[1] > 0 else 0.0
        title = own[0] / lengths[0] if has[0] and lengths[0] > 0 else both
        names = own[2] / lengths[2] if has[2] and lengths[2] > 0 else both
        return title, both, names

    def _closeness(self, apart: Any) -> Any:
        units = apart / self.settings.time_scale
        return np.exp(-0.5 * units * units)

    def _usable_for(self, language: str, time: Moment) -> npt.NDArray[np.bool_]:
        """Return which stories an article may join: open ones of its language, with articles near it in time."""
        facts = self._facts
        facts.make_room(self._index.n_slots)
        found: npt.NDArray[np.bool_] = facts.usable & (facts.lasts + facts.waits > time)
        found &= facts.firsts - facts.waits < time
        if language and not self.settings.across_languages:
            number = self._languages.setdefault(language, len(self._languages))
            found &= (facts.languages == number) | (facts.languages == 0)
        return found

    def _give_up(self, story: Story) -> None:
        self._facts.usable[story.slot] = False
        del self._by_slot[story.slot], self._newest[story.slot]
        self._index.give_up(story.slot)
        story.slot = -1

    def _rebuild(self, story: Story) -> None:
        story.slot = self._index.take_slot()
        self._by_slot[story.slot] = story
        for member in story.members:
            self._index.add(story.slot, member.vectors, story.factor(member.time, self.settings.half_life))
        self._newest[story.slot] = newest_of(story.members, self.settings.n_newest)
        self.note(story)
