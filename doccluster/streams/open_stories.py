"""The stories that are open, or closed so lately that they can be resumed: compared with, added to, joined and cut."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from doccluster.kernels.postings import PARTS, add_likeness
from doccluster.streams.article import Moment
from doccluster.streams.article_index import ArticleIndex
from doccluster.streams.frequencies import WeightedTerms
from doccluster.streams.joining import Floats, Likeness, Scale, join_score
from doccluster.streams.settings import DAY, StreamSettings
from doccluster.streams.story import Member, Story, newest_of

LEADS = 20  # newest members among which the one that names a story is chosen
NOTHING_SHARED = -20.0  # the score of an article that shares no word with a story
LEAD_MARGIN = 1.25  # by which another one has to be better than the one that names it

Places = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Match:
    """A story that an article may join; how like it the article is in the mean, and the score of joining."""

    story: Story
    likeness: float
    score: float


@dataclass(frozen=True, slots=True)
class Compared:
    """How an article is like stories, by the places of these."""

    places: Places
    likeness: Likeness
    scores: Floats

    def teach(self, scale: Scale, place: int = -1, *, cut: float) -> None:
        """Let a scale learn from an article that joined the story in `place`; others that it could have are neither."""
        alike, is_own = (self.likeness.mean, self.likeness.near, self.likeness.meaning), self.places == place
        if is_own.any():
            scale.friends.learn(*(float(one[is_own][0]) for one in alike))
        is_stranger = ~is_own & (self.scores < cut)
        scale.strangers.learn(*(float(one[is_stranger].max(initial=0.0)) for one in alike))


class OpenStories:
    """Stories by id, with their articles in an index; every change of a story goes through here."""

    def __init__(self, settings: StreamSettings, coefficients: Floats) -> None:
        self.settings = settings
        self.coefficients = coefficients
        self.open: dict[str, Story] = {}
        self.closed: dict[str, Story] = {}
        self.scales: dict[str, Scale] = {}  # by language
        self._index = ArticleIndex()
        self._articles = _Articles()
        self._facts = _Facts()
        self._stories: dict[int, Story] = {}  # by place
        self._languages: dict[str, int] = {"": 0}

    def __iter__(self) -> Iterator[Story]:
        return iter(self.open.values())

    def scale(self, language: str) -> Scale:
        """Return how alike strangers and friends are in a language."""
        return self.scales.setdefault(language, Scale())

    def compare(
        self,
        vectors: WeightedTerms,
        *,
        time: Moment,
        language: str,
        besides: Sequence[Story] = (),
    ) -> Compared:
        """Return how an article is like the stories that it may join; those `besides` are neither these nor rivals."""
        facts, usable = self._facts, self._usable_for(language, time)
        usable[[one.place for one in besides]] = False
        apart = np.maximum(0, np.maximum(time - facts.lasts, facts.firsts - time))
        last = np.exp(-0.5 * (apart / self.settings.time_scale) ** 2)
        return self._compared(vectors, language, usable, last)

    def _compared(self, vectors: WeightedTerms, language: str, usable: npt.NDArray[np.bool_], last: Floats) -> Compared:
        alike = *self._likeness(vectors, usable), self._meaning(vectors)
        # what has no word in common can still mean the same
        places = np.flatnonzero(usable if vectors.meaning is not None else usable & (alike[0] > 0))
        means, nears, meaning = (one[places] for one in alike)
        mean_rivals, near_rivals, meaning_rivals = (_rivals(one) for one in (means, nears, meaning))
        rivals = mean_rivals, near_rivals, meaning_rivals
        likeness = Likeness(means, nears, meaning, last[places], *rivals, n_words=vectors.ids.size)
        scores = np.asarray(join_score(likeness, self.scale(language), self.coefficients), dtype=np.float64)
        return Compared(places, likeness, scores)

    def matches(self, compared: Compared, cut: float) -> list[Match]:
        """Return the stories whose join score reaches `cut`, the best first.

        Of equal scores the older story is first, then the one with the lesser id.
        """
        found = [
            Match(
                self._stories[int(compared.places[one])],
                float(compared.likeness.mean[one]),
                float(compared.scores[one]),
            )
            for one in np.flatnonzero(compared.scores >= cut)
        ]
        return sorted(found, key=lambda one: (-one.score, one.story.born, one.story.id))

    def match(
        self, story: Story, vectors: WeightedTerms, *, time: Moment, language: str, besides: Sequence[Story] = ()
    ) -> Match:
        """Return how an article is like one story, whether or not it may join that; `besides` are not its rivals."""
        is_rival = self._usable_for(language, time)
        is_rival[[one.place for one in besides]] = False
        usable = is_rival.copy()
        usable[story.place], is_rival[story.place] = True, False
        alike = *self._likeness(vectors, usable), self._meaning(vectors)
        mean, near, meaning = (float(one[story.place]) for one in alike)
        if vectors.meaning is None and not mean > 0:
            return Match(story, 0.0, NOTHING_SHARED)
        mean_rival, near_rival, meaning_rival = (float(one[is_rival].max(initial=0.0)) for one in alike)
        apart = max(0, time - story.last, story.first - time)
        last = math.exp(-0.5 * (apart / self.settings.time_scale) ** 2)
        likeness = Likeness(mean, near, meaning, last, mean_rival, near_rival, meaning_rival, n_words=vectors.ids.size)
        return Match(story, mean, float(join_score(likeness, self.scale(language), self.coefficients)))

    def nearest_ended(self, vectors: WeightedTerms, *, time: Moment, language: str) -> Match | None:
        """Return the story that had ended before `time` and that an article goes on from, if any."""
        facts = self._facts
        has_ended = facts.lasts + np.where(facts.is_open, facts.waits, 0) <= time
        has_ended &= facts.is_taken & (facts.lasts >= time - self.settings.resume_within)
        has_ended &= self._speaks(language)
        as_if_new = np.ones(facts.size)
        ended = self.matches(self._compared(vectors, language, has_ended, as_if_new), -np.inf)
        return max(ended, key=lambda one: (one.score, one.story.last, one.story.id), default=None)

    def at(self, place: int) -> Story:
        """Return the story in a place."""
        return self._stories[place]

    def open_new(self, story: Story) -> None:
        """Take in an open story, with the members it has."""
        self.open[story.id] = story
        story.place = self._facts.take()
        self._stories[story.place] = story
        self._enter(story, story.members)

    def take_closed(self, story: Story) -> None:
        """Take in a story that is closed."""
        self.open_new(story)
        self.close(story)

    def add(self, story: Story, member: Member) -> None:
        """Add an article to a story."""
        story.members.append(member)
        self._enter(story, [member])

    def note(self, story: Story) -> None:
        """Bring what is known of a story besides its articles up to date."""
        facts, place = self._facts, story.place
        facts.is_open[place] = story.id in self.open
        facts.lasts[place], facts.firsts[place] = story.last, story.first
        facts.waits[place] = story.wait(self.settings)
        facts.languages[place] = self._languages.setdefault(story.language, len(self._languages))

    def choose_lead(self, story: Story, now: Moment) -> None:
        """Let the article name a story that is new and says what the story says; not more than once a day.

        At once where the story was merged or split, or the article that names it has left.
        """
        is_there = any(one.number == story.lead for one in story.members)
        if is_there and (now < story.led_at + DAY or story.led_at > story.last) and story.changed < story.led_at:
            return
        worth = {
            one.number: self._mean_of(story, one.vectors) * 2.0 ** ((one.time - story.last) / DAY)
            for one in newest_of(story.members, LEADS)
        }
        if worth:
            best = max(worth, key=lambda number: (worth[number], -number))
            if not is_there or worth[best] > LEAD_MARGIN * worth.get(story.lead, 0.0):
                story.lead = best
            story.led_at = now

    def replace(self, story: Story, members: Iterable[Member]) -> None:
        """Give a story other members, in the order of their numbers; those that stay are read again."""
        self._leave(story)
        story.members = sorted(members, key=lambda one: one.number)
        self._enter(story, story.members)

    def remove(self, story: Story) -> None:
        """Let go of a story."""
        self._leave(story)
        self._facts.give_up(story.place)
        del self._stories[story.place], (self.open if story.id in self.open else self.closed)[story.id]
        story.place = -1

    def named(self, name: str) -> Story | None:
        """Return the story of an id, None if it is none of these."""
        return self.open.get(name) or self.closed.get(name)

    def state_of(self, story: Story) -> str:
        """Return the state of a story: open or closed; merged if it is none of these."""
        return "open" if story.id in self.open else "closed" if story.id in self.closed else "merged"

    def close(self, story: Story) -> None:
        """Close a story; its articles stay until it is forgotten."""
        self.closed[story.id] = self.open.pop(story.id)
        self._facts.is_open[story.place] = False

    def forget_closed_before(self, time: Moment) -> list[Story]:
        """Let go of the closed stories whose last article came in before; return them."""
        old = sorted((story for story in self.closed.values() if story.touched < time), key=lambda one: one.id)
        for story in old:
            self.remove(story)
        return old

    def ended_by(self, time: Moment) -> list[Story]:
        """Return the open stories for which nothing has come long enough, those that are idle longest first."""
        found = [one for one in self.open.values() if one.touched <= time - self.settings.close_after_least]
        return sorted((one for one in found if one.ends(self.settings) <= time), key=lambda one: (one.touched, one.id))

    def _likeness(self, vectors: WeightedTerms, usable: npt.NDArray[np.bool_]) -> tuple[Floats, Floats]:
        """Return the mean and the greatest cosine of an article with the usable stories, by place."""
        articles, sums, nears = self._articles, np.zeros(usable.size), np.zeros(usable.size)
        own = articles.places, articles.weights, articles.are_newest
        add_likeness(self._index.products(vectors), own, usable, sums, nears)
        return np.divide(sums, self._facts.weights, out=sums, where=sums > 0), nears

    def _meaning(self, vectors: WeightedTerms) -> Floats:
        """Return the mean cosine of meaning of an article with each story, 0 at least, by place."""
        articles, size = self._articles, self._facts.size
        if vectors.meaning is None or not articles.meanings.size:
            return np.zeros(size)
        parts = np.rint(articles.weights * (articles.meanings @ vectors.meaning) * PARTS)
        sums = np.bincount(articles.places, weights=parts, minlength=size) / PARTS
        sums[_NOWHERE] = 0.0
        return np.divide(np.maximum(sums, 0.0), self._facts.weights, out=np.zeros(size), where=sums > 0)

    def _mean_of(self, story: Story, vectors: WeightedTerms) -> float:
        usable = np.zeros(self._facts.size, dtype=np.bool_)
        usable[story.place] = True
        return float(self._likeness(vectors, usable)[0][story.place])

    def _usable_for(self, language: str, time: Moment) -> npt.NDArray[np.bool_]:
        """Return which stories an article may join: open ones of its language, with articles near it in time."""
        facts = self._facts
        is_near = (facts.lasts + facts.waits > time) & (facts.firsts - facts.waits < time)
        found: npt.NDArray[np.bool_] = facts.is_open & is_near & self._speaks(language)
        return found

    def _speaks(self, language: str) -> npt.NDArray[np.bool_]:
        if not language:
            return np.ones(self._facts.size, dtype=np.bool_)
        number = self._languages.setdefault(language, len(self._languages))
        found: npt.NDArray[np.bool_] = (self._facts.languages == number) | (self._facts.languages == 0)
        return found

    def _enter(self, story: Story, members: Iterable[Member]) -> None:
        for one in members:
            one.slot = self._index.add(one.vectors)
            self._articles.make_room(self._index.n_slots, one.vectors.meaning)
            if one.vectors.meaning is not None:
                self._articles.meanings[one.slot] = one.vectors.meaning
        slots = [one.slot for one in story.members]
        times = np.array([one.time for one in story.members])
        weights = 2.0 ** ((times - times.max(initial=0)) / self.settings.half_life)
        articles = self._articles
        articles.places[slots], articles.weights[slots], articles.are_newest[slots] = story.place, weights, False
        articles.are_newest[[one.slot for one in newest_of(story.members, self.settings.n_newest)]] = True
        self._facts.weights[story.place] = weights.sum() or 1.0
        self.note(story)

    def _leave(self, story: Story) -> None:
        for one in story.members:
            self._articles.places[one.slot] = _NOWHERE
            self._index.give_up(one.slot)


_NOWHERE = 0  # the place of no story


class _Articles:
    """What is known of the article in each slot: the place of its story, its weight and whether it is new there, and
    what it means.
    """

    def __init__(self) -> None:
        self.places = np.zeros(0, dtype=np.int64)
        self.weights = np.zeros(0, dtype=np.float64)
        self.are_newest = np.zeros(0, dtype=np.bool_)
        self.meanings = np.zeros((0, 0), dtype=np.float32)

    def make_room(self, n_slots: int, meaning: npt.NDArray[np.float32] | None) -> None:
        """Have a value for each slot, and room for meaning of as many dimensions."""
        if meaning is not None and self.meanings.shape[1] != meaning.size:
            self.meanings = np.zeros((n_slots, meaning.size), dtype=np.float32)
        _grow(self, n_slots)


class _Facts:
    """What is known of the story in each place; place 0 is for no story."""

    def __init__(self) -> None:
        self.is_taken = np.zeros(0, dtype=np.bool_)
        self.is_open = np.zeros(0, dtype=np.bool_)
        self.lasts = np.zeros(0, dtype=np.int64)
        self.firsts = np.zeros(0, dtype=np.int64)
        self.waits = np.zeros(0, dtype=np.int64)
        self.languages = np.zeros(0, dtype=np.int64)
        self.weights = np.zeros(0, dtype=np.float64)
        self._free: list[int] = []

    @property
    def size(self) -> int:
        """How many places there are."""
        return int(self.is_open.size)

    def take(self) -> int:
        """Return a free place."""
        if not self._free:
            first = max(1, self.size)
            _grow(self, 2 * first + 64)
            self._free = list(range(self.size - 1, first - 1, -1))
        place = self._free.pop()
        self.is_taken[place] = True
        return place

    def give_up(self, place: int) -> None:
        """Free a place."""
        self.is_taken[place] = self.is_open[place] = False
        self._free.append(place)


def _grow(arrays: _Articles | _Facts, size: int) -> None:
    for name, old in vars(arrays).items():
        if isinstance(old, np.ndarray) and len(old) < size:
            setattr(arrays, name, np.concatenate([old, np.zeros((size - len(old), *old.shape[1:]), dtype=old.dtype)]))


def _rivals(values: Floats) -> Floats:
    """Return, for each story, the greatest value of another one."""
    if values.size < 2:
        return np.zeros(values.size)
    best = int(values.argmax())
    found = np.full(values.size, values[best])
    found[best] = max(values[:best].max(initial=0.0), values[best + 1 :].max(initial=0.0))
    return found
