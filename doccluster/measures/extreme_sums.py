"""Sums of the smallest and of the largest distances, exact, from the same sweep: what the C-index compares with.

The N smallest distances end somewhere; a sample of pairs says beforehand, within five standard errors, where. The sweep
sums what lies below that narrow range and keeps what lies inside, so the end is found exactly without a second look.
Values that many pairs share (the atom, an edge of a range) are counted, not kept, so ties cost no memory.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from doccluster.kernels.metric import EUCLIDEAN
from doccluster.measures.sorted_documents import SortedDocuments

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

SAMPLED = 2**17  # pairs looked at beforehand, more where there are billions: the ranges hold about 1 % of all pairs
WIDTH = 5.0  # half the width of a range in standard errors of the sampled quantile
KEEP_ALL = 2**16  # so few pairs are all kept


def edges_around(
    documents: SortedDocuments, wanted: tuple[int, int], n_pairs: int, *, width: float = WIDTH
) -> FloatArray:
    """Return, for each number of smallest distances wanted, a range of `squared` in which they end; array (2, 2)."""
    if n_pairs <= KEEP_ALL or not math.isfinite(width):
        return np.tile([-1.0, np.inf], (2, 1))
    sample = _sampled(documents, n_pairs)
    edges = np.empty((2, 2))
    for line, number in enumerate(wanted):
        share = number / n_pairs
        reach = width * math.sqrt(share * (1 - share) * sample.size) + 2
        low, high = math.floor(share * sample.size - reach), math.ceil(share * sample.size + reach)
        edges[line] = (sample[low] if low >= 0 else -1.0, sample[high] if high < sample.size else np.inf)
    return edges


def _sampled(documents: SortedDocuments, n_pairs: int) -> FloatArray:
    generator = np.random.default_rng(0)  # where the ranges lie changes no result
    number = int(min(n_pairs // 4, max(SAMPLED, n_pairs // 4096), 2**22))
    first = generator.integers(0, documents.n, number)
    second = generator.integers(0, documents.n - 1, number)
    return np.sort(documents.squared_of(first, second + (second >= first)))


@dataclass
class SortedOut:
    """The pairs sorted out by two ranges, gathered from blocks."""

    edges: FloatArray = field(default_factory=lambda: np.empty((2, 2)))
    counts: IntArray = field(default_factory=lambda: np.zeros((2, 3), np.int64))
    below: FloatArray = field(default_factory=lambda: np.zeros(2))
    inside: tuple[list[FloatArray], list[FloatArray]] = field(default_factory=lambda: ([], []))
    at_atom: int = 0

    def add(self, counts: IntArray, below: FloatArray, inside: tuple[FloatArray, FloatArray], at_atom: int) -> None:
        """Take in what a block of rows has."""
        self.counts += counts
        self.below += below
        for parts, part in zip(self.inside, inside, strict=True):
            parts.append(part)
        self.at_atom += at_atom

    def sum_of_smallest(self, line: int, number: int, documents: SortedDocuments) -> float | None:
        """Return the sum of the `number` smallest distances; None if they do not end in the range of this line."""
        values, counts = self._inside(line, documents.distance.atom)
        under, total = int(self.counts[line, 0]), float(self.below[line])
        if 0 <= documents.distance.atom < self.edges[line, 0]:
            under, total = (
                under + self.at_atom,
                total + self.at_atom * float(_distance(documents, documents.distance.atom)),
            )
        rest = number - under
        if rest < 0 or rest > int(counts.sum()):
            return None
        taken = np.clip(rest - (np.cumsum(counts) - counts), 0, counts)
        return total + float((_distance(documents, values) * taken).sum())

    def _inside(self, line: int, atom: float) -> tuple[FloatArray, IntArray]:
        """Return the distinct values in the range, ascending, the atom and the edges among them, and their counts."""
        lower, upper = self.edges[line]
        kept = np.concatenate([np.sort(np.concatenate(self.inside[line])) if self.inside[line] else np.empty(0)])
        values = np.concatenate([kept, [lower, upper, atom]])
        at_atom = self.at_atom if lower <= atom <= upper else 0
        counts = np.concatenate([np.ones(kept.size, np.int64), [*self.counts[line, 1:], at_atom]]).astype(np.int64)
        values, counts = values[counts > 0], counts[counts > 0]
        order = np.argsort(values, kind="stable")
        return values[order], counts[order]


def _distance(documents: SortedDocuments, squared: FloatArray | float) -> FloatArray:
    return np.asarray(np.sqrt(squared) if documents.distance.metric == EUCLIDEAN else squared, dtype=np.float64)
