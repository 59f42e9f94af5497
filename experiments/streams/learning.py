"""The weights of the join, learned on the first halves of the labelled streams.

The decisions of a replay in which every article goes to its true story are examples: the true story should be joined,
the most similar others should not. A logistic regression on them, where every corpus counts the same, gives the
direction; how far the weights are drawn to 0, and the constant, are chosen by whole replays of the first halves,
mistakes and their consequences included: what counts is the mean of pair F and BCubed F.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from doccluster.corpus.duplicates import codes_of
from doccluster.streams.article_terms import TermReader
from doccluster.streams.copies import Families
from doccluster.streams.frequencies import DAY, TermFrequencies
from doccluster.streams.joining import FEATURES, Floats
from doccluster.streams.open_stories import OpenStories
from doccluster.streams.settings import StreamSettings
from doccluster.streams.story import Member, Story
from experiments.streams.labelled import LabelledStream
from experiments.streams.replaying import by_hour, judge, replay

MOST_OTHERS = 8  # wrong stories of an article that are examples
# a plain guess, to find the most similar others by
GUESS = np.array([-9.0, 1.0, 1.0, 2.0, 1.0, 2.0, 0.0, 1.0, 0.0, 12.0])
LOOSE = -30.0
STEPS = (-1.0, -0.5, 0.0, 0.5)  # of the constant


def examples(stream: LabelledStream, reader: TermReader) -> tuple[Floats, Floats]:
    """Return the features of decisions on articles of the first half, and whether joining was right."""
    stories = OpenStories(StreamSettings(), GUESS)
    frequencies, families = TermFrequencies(), Families()
    first_half, _ = stream.halves()
    true_story: dict[str, Story] = {}
    rows: list[tuple[float, ...]] = []
    right: list[float] = []
    number = 0
    for now, articles in by_hour(stream.articles):
        for story in list(stories):
            if story.last + story.wait(stories.settings) <= articles[0].time:
                stories.close(story)
        stories.forget_closed_before(articles[0].time)
        read = [reader.read(one.title, one.text) for one in articles]
        counted = [frequencies.count(terms, place) for place, terms in enumerate(read, number + 1)]
        frequencies.begin_batch(now // DAY)
        for one, terms, ids in zip(articles, read, counted, strict=True):
            number += 1
            vectors = frequencies.weigh(terms, ids)
            label = stream.story_of.get(one.id, one.id)
            own = true_story.get(label)
            own = own if own is not None and own.id in stories.open else None
            family, _ = families.add(number, one.time, codes_of(f"{one.title}\n{one.text}"), arrived=one.time)
            if family != number and own is not None:  # copies are folded before anything is decided
                own.last = max(own.last, one.time)
                stories.note(own)
                continue
            if label in first_half:
                matches, _ = stories.matches(vectors, time=one.time, language=terms.language, cut=LOOSE)
                others = [match for match in matches if match.story is not own][:MOST_OTHERS]
                rows += [match.likeness.features() for match in others]
                right += [0.0] * len(others)
                if own is not None:
                    match = stories.match(own, vectors, time=one.time, language=terms.language)
                    rows.append(match.likeness.features())
                    right.append(1.0)
            member = Member(number, number, one.key, one.time, vectors)
            if own is None:
                made = Story(f"{label}/{number}", one.key, *[one.time] * 4, terms.language, members=[member])
                made.n_documents = made.n_families = 1
                stories.open_new(made)
                true_story[label] = made
            else:
                own.n_families += 1
                own.last = max(own.last, one.time)
                stories.add(own, member)
    return np.array(rows).reshape(-1, len(FEATURES)), np.array(right)


def fit(streams: Sequence[LabelledStream], sets: Sequence[tuple[Floats, Floats]], *, shrink: float) -> Floats:
    """Return the weights of a logistic regression on the examples of streams; likeness never speaks against.

    Every corpus counts the same, and so does every stream (language) of one.

    The weights are drawn to 0 by `shrink` times half their squares.
    """
    rows, right = np.vstack([one for one, _ in sets]), np.concatenate([own for _, own in sets])
    sizes = Counter(one.corpus for one in streams)
    shares = [1 / (len(sizes) * sizes[one.corpus]) for one in streams]
    weights = np.concatenate(
        [np.full(own.size, share / own.size) for (_, own), share in zip(sets, shares, strict=True)]
    )

    def loss(found: Floats) -> tuple[float, Floats]:
        scores = rows @ found
        signed = np.where(right == 1, -scores, scores)
        error = 1 / (1 + np.exp(-signed))
        away = np.r_[0.0, found[1:]]
        slope = rows.T @ (weights * error * np.where(right == 1, -1, 1)) + shrink * away
        return float(weights @ np.logaddexp(0, signed) + shrink * (away @ away) / 2), slope

    bounds = [(None, None), *[(0, None)] * 7, (None, None), (0, None)]
    return np.asarray(minimize(loss, GUESS, jac=True, bounds=bounds, method="L-BFGS-B").x)


@dataclass(frozen=True)
class Candidate:
    """Weights, and what whole replays with them are worth on the first half of each stream."""

    shrink: float
    step: float
    weights: Floats
    values: tuple[float, ...]

    @property
    def value(self) -> float:
        """The mean: every stream counts the same, so that the smallest corpora do not outweigh all others."""
        return float(np.mean(self.values))


def candidates(
    coefficients: Floats,
    streams: Sequence[LabelledStream],
    reader: TermReader,
    *,
    shrink: float,
    tell: Callable[[str], None],
) -> Iterator[Candidate]:
    """Yield weights with several constants."""
    for step in STEPS:
        shifted = coefficients + np.r_[step, [0.0] * (len(FEATURES) - 1)]
        found = Candidate(shrink, step, shifted, tuple(first_half_value(one, shifted, reader) for one in streams))
        tell(f"    constant {shifted[0]:6.2f}: {found.value:.4f}")
        yield found


def choose(found: Sequence[Candidate]) -> Candidate:
    """Return the simplest of those that are within one standard error of the best (Breiman et al. 1984, 3.4.3).

    Simpler is what is more drawn to 0, then what has a constant nearer to that of the regression.
    """
    best = max(found, key=lambda one: one.value)
    least = best.value - float(np.std(best.values, ddof=1)) / len(best.values) ** 0.5
    return max((one for one in found if one.value >= least), key=lambda one: (one.shrink, -abs(one.step), one.value))


def first_half_value(stream: LabelledStream, coefficients: Floats, reader: TermReader) -> float:
    """Return the mean of pair F and BCubed F on the stories of the first half."""
    found = replay(stream, coefficients=coefficients, reader=reader).story_of
    scores = judge(found, stream, stream.halves()[0])
    return (scores["pair_f"] + scores["bcubed_f"]) / 2
