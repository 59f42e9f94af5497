"""The weights of the join, learned on the first halves of the labelled streams.

The decisions of a replay in which every article goes to its true story are examples: the true story should be joined,
the most similar others should not. A logistic regression on them, where every stream counts the same, gives the
direction; the constant is then chosen so that whole replays, mistakes and their consequences included, have the best
mean of pair F and BCubed F on the first halves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.optimize import minimize

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
# a plain guess, to find the most similar others by; also where the regression begins
GUESS = np.array([-6.0, 2.0, 8.0, 2.0, 4.0, 1.0, 0.5, 4.0, 0.0])
LOOSE = -30.0
STEPS = (-1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5)  # of the constant


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
            if story.ends(stories.settings) <= articles[0].time:
                stories.close(story)
        stories.forget_closed_before(articles[0].time)
        read = [reader.read(one.title, one.text) for one in articles]
        counted = [frequencies.count(terms) for terms in read]
        frequencies.begin_batch(now // DAY)
        for one, terms, ids in zip(articles, read, counted, strict=True):
            number += 1
            vectors = frequencies.weigh(terms, ids)
            label = stream.story_of.get(one.id, one.id)
            own = true_story.get(label)
            own = own if own is not None and own.id in stories.open else None
            family, _ = families.add(number, one.time, f"{one.title}\n{one.text}")
            if own is not None:
                own.last = max(own.last, one.time)
            if family != number and own is not None:  # copies are folded before anything is decided
                stories.note(own)
                continue
            if label in first_half:
                matches, _ = stories.matches(vectors, time=one.time, language=terms.language, cut=LOOSE)
                others = [match for match in matches if match.story is not own][:MOST_OTHERS]
                rows += [match.likeness.features() for match in others]
                right += [0.0] * len(others)
                if own is not None:
                    rows.append(stories.match(own, vectors, time=one.time).likeness.features())
                    right.append(1.0)
            member = Member(number, number, one.key, one.time, vectors)
            if own is None:
                made = Story(f"{label}/{number}", one.key, *[one.time] * 4, terms.language, members=[member])
                made.n_documents = made.n_families = 1
                stories.open_new(made)
                true_story[label] = made
            else:
                own.n_families += 1
                stories.add(own, member)
    return np.array(rows).reshape(-1, len(FEATURES)), np.array(right)


def fit(sets: Sequence[tuple[Floats, Floats]], *, shrink: float) -> Floats:
    """Return the weights of a logistic regression on several sets that count the same; likeness never speaks against.

    The weights are drawn to the guess by `shrink` times half the squared distance.
    """
    rows, right = np.vstack([one for one, _ in sets]), np.concatenate([own for _, own in sets])
    weights = np.concatenate([np.full(own.size, 1 / (own.size * len(sets))) for _, own in sets])

    def loss(found: Floats) -> tuple[float, Floats]:
        scores = rows @ found
        signed = np.where(right == 1, -scores, scores)
        error = 1 / (1 + np.exp(-signed))
        away = np.r_[0.0, (found - GUESS)[1:]]
        slope = rows.T @ (weights * error * np.where(right == 1, -1, 1)) + shrink * away
        return float(weights @ np.logaddexp(0, signed) + shrink * (away @ away) / 2), slope

    bounds = [(None, None), *[(0, None)] * 7, (None, None)]
    return np.asarray(minimize(loss, GUESS, jac=True, bounds=bounds, method="L-BFGS-B").x)


def choose_constant(
    coefficients: Floats, streams: Sequence[LabelledStream], reader: TermReader, tell: Callable[[str], None]
) -> tuple[Floats, float]:
    """Return the weights with the constant that is best on whole replays of the first halves, and how good that is.

    The streams of one corpus (languages) count as one.
    """
    best: tuple[float, float] = (-1.0, 0.0)
    for step in STEPS:
        shifted = coefficients + np.r_[step, [0.0] * (len(FEATURES) - 1)]
        values: dict[str, list[float]] = {}
        for one in streams:
            values.setdefault(one.name.split()[0], []).append(first_half_value(one, shifted, reader))
        value = float(np.mean([np.mean(own) for own in values.values()]))  # every corpus counts the same
        tell(f"    constant {shifted[0]:6.2f}: {value:.4f}")
        best = (value, step) if value > best[0] else best
    return coefficients + np.r_[best[1], [0.0] * (len(FEATURES) - 1)], best[0]


def first_half_value(stream: LabelledStream, coefficients: Floats, reader: TermReader) -> float:
    """Return the mean of pair F and BCubed F on the stories of the first half."""
    found = replay(stream, coefficients=coefficients, reader=reader).story_of
    scores = judge(found, stream, stream.halves()[0])
    return (scores["pair_f"] + scores["bcubed_f"]) / 2
