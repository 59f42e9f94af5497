"""When each story of a made news stream is born, merges, splits and ends, and when its articles appear.

A thread is a stretch of articles about one mixture of subjects. Most stories are one thread. Two stories that merge
are a thread each, and go on as a third one about both subjects; a story that splits is a thread about two subjects,
and goes on as one thread about each.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]

HOUR, DAY = 3600, 86_400
LONGEST_GAP = 5 * DAY  # within a story: well below the time after which a story counts as closed
MIN_BEFORE, MIN_AFTER = 5, 8  # articles of a story before and after it merges or splits


@dataclass(frozen=True)
class Thread:
    """Articles about one mixture of subjects.

    Attributes
    ----------
    story, in_the_end : int
        The story that its articles belong to when they appear, and after all merges.
    subjects : tuple of int
        What it is about, in equal parts.
    times : int64 array
        Seconds since the stream began, ascending.
    """

    story: int
    in_the_end: int
    subjects: tuple[int, ...]
    times: Ints


@dataclass(frozen=True)
class Turn:
    """A merge (`other` becomes part of `story`) or a split (`other` leaves `story`), at the first article after it."""

    kind: str
    time: int
    story: int
    other: int


@dataclass(frozen=True)
class Timetable:
    """The threads of a stream and its turns. Stories are numbered from 0; each has a subject of the same number."""

    threads: tuple[Thread, ...]
    turns: tuple[Turn, ...]
    n_stories: int


@dataclass(frozen=True)
class Pace:
    """How long the stream is (`days`), how many articles a story has, and in how many hours its flow halves."""

    days: float
    articles: float
    half_life: float

    def birth(self, generator: np.random.Generator) -> float:
        return float(generator.uniform(0.0, self.days * DAY))

    def burst(self, begin: float, least: int, generator: np.random.Generator) -> Ints:
        """Return the times of articles from a moment on: many at first, then fewer and fewer."""
        spread = np.exp(0.5 * generator.standard_normal())
        n = max(least, int(generator.poisson(self.articles * np.exp(0.5 * generator.standard_normal() - 0.125))))
        ages = np.sort(generator.exponential(self.half_life * HOUR * spread / np.log(2), n))
        gaps = np.minimum(np.diff(ages, prepend=ages[0]), LONGEST_GAP)
        return (begin + np.cumsum(gaps)).astype(np.int64)

    def steady(self, begin: float, end: float, generator: np.random.Generator) -> Ints:
        """Return times spread evenly at random between two moments; the first is the beginning."""
        n = max(MIN_BEFORE, int(generator.poisson(self.articles / 2)))
        return np.sort(np.r_[begin, generator.uniform(begin, end, n - 1)]).astype(np.int64)


def plan_threads(n_stories: int, n_merges: int, n_splits: int, pace: Pace, generator: np.random.Generator) -> Timetable:
    """Return the timetable of a stream: single stories, then pairs that merge, then stories that split."""
    threads: list[Thread] = []
    turns: list[Turn] = []
    n_single = n_stories - 2 * n_merges - n_splits
    for story in range(n_single):
        threads.append(Thread(story, story, (story,), pace.burst(pace.birth(generator), 1, generator)))
    for story in range(n_single, n_single + 2 * n_merges, 2):
        turns.append(_merge(threads, story, pace, generator))
    for number in range(n_splits):
        turns.append(_split(threads, n_stories - n_splits + number, n_stories + number, pace, generator))
    return Timetable(tuple(threads), tuple(turns), n_stories + n_splits)


def _merge(threads: list[Thread], story: int, pace: Pace, generator: np.random.Generator) -> Turn:
    """Add two stories that have nothing in common until all goes on as one."""
    begin = pace.birth(generator)
    later = begin + generator.uniform(0.0, DAY)
    turn = later + generator.uniform(1.5, 2.5) * DAY
    for own, start in ((story, begin), (story + 1, later)):
        threads.append(Thread(own, story, (own,), pace.steady(start, turn - HOUR, generator)))
    tail = pace.burst(turn, MIN_AFTER, generator)
    threads.append(Thread(story, story, (story, story + 1), tail))
    return Turn("merged", int(tail[0]), story, story + 1)


def _split(threads: list[Thread], story: int, part: int, pace: Pace, generator: np.random.Generator) -> Turn:
    """Add a story about two subjects that go on apart."""
    begin = pace.birth(generator)
    turn = begin + generator.uniform(1.0, 2.0) * DAY
    threads.append(Thread(story, story, (story, part), pace.steady(begin, turn - HOUR, generator)))
    for own in (story, part):
        threads.append(Thread(own, own, (own,), pace.burst(turn, MIN_AFTER, generator)))
    return Turn("split", int(threads[-1].times[0]), story, part)
