"""The weights of the join, learned on the first halves of the labelled streams.

Examples are what comes of a replay with weights that there are already, so that mistakes and fragments are among them.
How far the weights stay from those, and the constant, are chosen by whole replays of the first halves: what counts is
the mean of pair F and BCubed F.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from doccluster.streams.article_terms import TermReader
from doccluster.streams.joining import FEATURES, Floats, shipped_coefficients
from doccluster.streams.learning import examples, fit
from experiments.streams.labelled import LabelledStream
from experiments.streams.replaying import judge, replay

STEPS = (-0.5, 0.0, 0.5)  # of the constant


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
    streams: Sequence[LabelledStream], reader: TermReader, shrinks: Sequence[float], tell: Callable[[str], None]
) -> Iterator[Candidate]:
    """Yield weights that are drawn less and less to those that are shipped, each with several constants."""
    shipped = shipped_coefficients()
    sets = [examples(one.articles, one.first_half(), shipped) for one in streams]
    sizes = Counter(one.corpus for one in streams)
    shares = [1 / (len(sizes) * sizes[one.corpus]) for one in streams]  # every corpus counts the same
    for shrink in shrinks:
        learned = fit(sets, shares, toward=shipped, shrink=shrink)
        tell(f"  shrink {shrink}: {np.round(learned, 2).tolist()}")
        for step in STEPS:
            weights = learned + np.r_[step, [0.0] * (len(FEATURES) - 1)]
            found = Candidate(shrink, step, weights, tuple(first_half_value(one, weights, reader) for one in streams))
            tell(f"    constant {weights[0]:6.2f}: {found.value:.4f}")
            yield found


def choose(found: Sequence[Candidate]) -> Candidate:
    """Return the simplest of those that are within one standard error of the best (Breiman et al. 1984, 3.4.3).

    Simpler is what is more drawn to the weights that there were, then what has a constant nearer to the regression's.
    """
    best = max(found, key=lambda one: one.value)
    least = best.value - float(np.std(best.values, ddof=1)) / len(best.values) ** 0.5
    return max((one for one in found if one.value >= least), key=lambda one: (one.shrink, -abs(one.step), one.value))


def first_half_value(stream: LabelledStream, coefficients: Floats, reader: TermReader) -> float:
    """Return the mean of pair F and BCubed F on the stories of the first half."""
    found = replay(stream, coefficients=coefficients, reader=reader).story_of
    scores = judge(found, stream, stream.halves()[0])
    return (scores["pair_f"] + scores["bcubed_f"]) / 2
