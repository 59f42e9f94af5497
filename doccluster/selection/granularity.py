"""How fine clusters should be: every k on a log grid, clustered by half of the terms and judged by the other half.

The rule is ours and is measured, not derived (`experiments/choosing_k`). Two things are looked at: how much more alike
the documents of a cluster are than any two, which is largest for few broad clusters, and how well a document is
predicted by the others of its cluster, which goes on improving as long as smaller clusters say something of terms that
were not used to find them. Their product, with a small weight on the prediction, is largest at topics; with a large
one, at stories.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from doccluster.blocks import map_blocks
from doccluster.measures import get_measure
from doccluster.measures.contingency import ContingencyTable
from doccluster.partition import Partition
from doccluster.progress import Progress, silent
from doccluster.selection.held_out import HeldOutHalf, split_terms
from doccluster.selection.prototypes import Prototype
from doccluster.short_repr import ShortRepr

Granularity = Literal["topics", "stories"]

# the power of the prediction in the score: topics are broad, stories say all they can
PREDICTION_POWER: Mapping[Granularity, float] = {"topics": 0.6, "stories": 2.0}
ABOUT_AS_GOOD = 0.9  # of the best score
FOUND_TWICE = 0.6  # adjusted Rand of the stories of both halves: so much, and the stories are what the data are
# clusters below both are none: many small clusters keep little of all cosines together, broad ones agree little
LEAST_COHESION, LEAST_AGREEMENT = 0.02, 0.1
N_SHUFFLES = 19  # allow p = 0.05
Columns = dict[str, npt.NDArray[Any]]
COLUMNS = ("cohesion", "prediction", "agreement", "topics", "stories")

MOST_STARTS, SHARED_STARTS = 8, 200

FINE_STEP, COARSE_STEP, FINE_TO = 1.2, 1.35, 30


@dataclass(frozen=True, repr=False)
class Curves(ShortRepr):
    """What the halves of the terms say of each k.

    Attributes
    ----------
    columns : mapping of name to array, one entry per k
        k, cohesion, prediction (the share of the variance of a document that the others of its cluster predict),
        agreement (adjusted Rand of the clusters of both halves), topics, stories (the scores).
    p_value : float
        (b + 1) / (t + 1), with b of t shufflings of the documents of one half reaching the agreement of the data.
    """

    columns: Columns
    p_value: float

    @property
    def has_structure(self) -> bool:
        """Whether the halves agree beyond chance, and on clusters that matter: by their cohesion or by how well."""
        if self.p_value > 1 / (N_SHUFFLES + 1):
            return False
        columns = self.columns
        return bool(columns["cohesion"].max() >= LEAST_COHESION or columns["agreement"].max() >= LEAST_AGREEMENT)

    def best(self, granularity: Granularity, ks: Iterable[int] | None = None) -> tuple[int, tuple[int, ...]]:
        """Return the k of a granularity and the neighbouring ones that are about as good, only of `ks` where given.

        The curve is noisy and its grid coarse, so the answer is the middle (on the log scale) of the run of k around
        the best whose scores are within a tenth of it; of `ks` it is the best itself. Where stories are what the data
        are, topics are the level above them: where cohesion alone is largest.
        """
        is_above = granularity == "topics" and self.natural() == "stories"
        sizes, scores = self.columns["k"], self.columns["cohesion" if is_above else granularity]
        if ks is not None:
            wanted = np.isin(sizes, list(ks))
            sizes, scores = sizes[wanted], scores[wanted]
        place = int(np.argmax(scores))
        good = scores >= ABOUT_AS_GOOD * scores[place]
        first = place - int(np.argmin(np.append(good[place::-1], False))) + 1
        last = place + int(np.argmin(np.append(good[place:], False))) - 1
        run = sizes[first : last + 1]
        middle = int(sizes[place]) if ks is not None else round(float(np.exp(np.log(run).mean())))
        return middle, tuple(int(k) for k in run)

    def natural(self) -> Granularity:
        """Return "stories" where both halves of the terms find the same ones, else "topics"."""
        if not self.has_structure:
            return "topics"
        found = np.isin(self.columns["k"], self.best("stories")[1])
        return "stories" if self.columns["agreement"][found].max() >= FOUND_TWICE else "topics"


def log_grid(n_documents: int) -> list[int]:
    """Return the numbers of clusters that are looked at, from 2 to half the documents, spread geometrically.

    Examples
    --------
    >>> log_grid(60)
    [2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 17, 20, 24, 29, 30]
    """
    largest = max(2, n_documents // 2)
    ks = [2]
    while ks[-1] < largest:
        step = FINE_STEP if ks[-1] < FINE_TO else COARSE_STEP
        ks.append(min(largest, max(ks[-1] + 1, round(ks[-1] * step))))
    return ks


def judge_ks(
    matrix: Any,
    ks: Iterable[int],
    algorithm: Prototype,
    rng: np.random.Generator,
    *,
    n_threads: int | None = None,
    progress: Progress = silent,
) -> Curves:
    """Return what two halves of the terms say of each k; unit rows of shape (n_documents, n_terms), none of them zero.

    A k above half of the documents that have terms in both halves is left out.
    """
    first, second, filled = split_terms(matrix, rng)
    sizes = [k for k in sorted(set(ks)) if 2 <= k <= max(2, filled.size // 2)] if filled.size > 2 else []
    if not sizes:
        return Curves({name: np.empty(0) for name in ("k", *COLUMNS)}, 1.0)
    seeds = rng.integers(2**31, size=(len(sizes), 2))
    jobs = [(row, side) for row in reversed(range(len(sizes))) for side in (0, 1)]  # the longest first
    halves = (first, second)
    judges = (HeldOutHalf(second), HeldOutHalf(first))

    def fit(job: tuple[int, int]) -> npt.NDArray[np.int64]:
        row, side = job
        k, seed = sizes[row], int(seeds[row, side])
        found = algorithm.labels(halves[side], n_clusters=k, seed=seed, n_init=starts_for(k))
        return Partition.from_labels(found).labels

    labels: dict[tuple[int, int], npt.NDArray[np.int64]] = {}
    for job, found in zip(jobs, map_blocks(fit, jobs, n_threads=n_threads), strict=True):
        labels[job] = found
        progress("choose k", len(labels), len(jobs))
    pairs = [(labels[row, 0], labels[row, 1]) for row in range(len(sizes))]
    everything = np.zeros(filled.size, dtype=np.int64)
    base = [judge.judge(everything).error for judge in judges]
    rows = []
    for k, own in zip(sizes, pairs, strict=True):
        verdicts = [judge.judge(found) for judge, found in zip(judges, own, strict=True)]
        gains = [1 - verdict.error / error if error > 0 else 0.0 for verdict, error in zip(verdicts, base, strict=True)]
        is_filled = all(int(found.max()) + 1 == k for found in own)  # a k that is not has no score
        cohesion = float(np.mean([one.cohesion for one in verdicts])) if is_filled else 0.0
        rows.append((cohesion, float(np.mean(gains)), agreement(*own)))
    columns: Columns = {"k": np.array(sizes), **dict(zip(COLUMNS, np.array(rows).T, strict=False))}
    for name, power in PREDICTION_POWER.items():
        columns[name] = np.maximum(columns["cohesion"], 0) * np.maximum(columns["prediction"], 0) ** power
    return Curves(columns, agreement_p_value(pairs, rng))


def starts_for(n_clusters: int) -> int:
    """Return how many starts a fit is worth: few clusters are fitted fast, and one bad start would be seen.

    >>> [starts_for(k) for k in (2, 30, 100, 1000)]
    [8, 6, 2, 1]
    """
    return min(MOST_STARTS, max(1, SHARED_STARTS // n_clusters))


def agreement(first: npt.NDArray[np.int64], second: npt.NDArray[np.int64]) -> float:
    """Return the adjusted Rand index of two clusterings, labels 0..k-1; 0 where it is not defined."""
    table = ContingencyTable.from_partitions(Partition.from_labels(first), Partition.from_labels(second))
    value = get_measure("adjusted_rand").compute(table).value
    return 0.0 if np.isnan(value) else float(value)


def agreement_p_value(
    pairs: list[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]], rng: np.random.Generator
) -> float:
    """Return the Monte Carlo p value of the largest agreement over k, with the documents of one half shuffled.

    The agreements are standardised for each k, since small numbers of clusters agree by chance more widely.
    """
    n_documents = pairs[0][0].size
    values = np.empty((N_SHUFFLES + 1, len(pairs)))
    values[0] = [agreement(*own) for own in pairs]
    for number in range(1, N_SHUFFLES + 1):
        order = rng.permutation(n_documents)
        values[number] = [agreement(one, other[order]) for one, other in pairs]
    spread = np.maximum(values.std(axis=0), np.finfo(float).tiny)
    figures = ((values - values.mean(axis=0)) / spread).max(axis=1)
    return float((1 + np.sum(figures[1:] >= figures[0])) / figures.size)
