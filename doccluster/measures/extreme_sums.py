"""Sums of the smallest and of the largest distances, exact, in bounded memory: what the C-index compares with.

A first sweep has counted and summed all distances in bins; only the bin in which the wanted number of pairs runs out
is looked at again. A bin too full to be held is divided until it is not, or until all its distances are equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.kernels.pairwise import EUCLIDEAN, collect_bins, divide_bin
from doccluster.measures.pair_sweep import BINS, Histogram
from doccluster.measures.sorted_documents import SortedDocuments
from doccluster.progress import Progress

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

HELD = 2**22  # distances of one bin held at a time: 32 MiB


@dataclass(frozen=True)
class ExtremeSums:
    """W_min and W_max: the sums of the `n_wanted` smallest and of the `n_wanted` largest distances."""

    smallest: float
    largest: float

    @classmethod
    def of(
        cls,
        documents: SortedDocuments,
        histogram: Histogram,
        n_wanted: int,
        n_pairs: int,
        *,
        n_threads: int | None,
        block_size: int | None,
        progress: Progress,
    ) -> ExtremeSums:
        """Return both sums; the sum of the largest is the total less the sum of the others."""
        selection = _Selection(documents, histogram, n_threads, block_size, progress)
        low, high = selection.sums_of_smallest(n_wanted, n_pairs - n_wanted)
        return cls(low, selection.total - high)


@dataclass(frozen=True)
class _Rest:
    """What a sum of smallest distances still lacks: the `number` smallest of the `count` distances in a bin."""

    known: float
    number: int = 0
    bin: int = -1
    count: int = 0


class _Selection:
    def __init__(
        self,
        documents: SortedDocuments,
        histogram: Histogram,
        n_threads: int | None,
        block_size: int | None,
        progress: Progress,
    ) -> None:
        self.documents, self.histogram = documents, histogram
        self.options: dict[str, Any] = {"n_threads": n_threads, "progress": progress, "stage": "extreme pairs"}
        self.block_size = block_size
        # The atom lies on the edge of a bin: everything in the bins below it is smaller, everything else larger.
        self.atom_bin = BINS // 2
        self.at_atom = float(self._distances(np.array(documents.atom))) if histogram.at_atom else 0.0
        self.total = float(histogram.sums.sum()) + histogram.at_atom * self.at_atom

    def _distances(self, squared: FloatArray) -> FloatArray:
        return np.sqrt(squared) if self.documents.metric == EUCLIDEAN else squared

    def sums_of_smallest(self, one: int, other: int) -> tuple[float, float]:
        """Return the sums of the `one` and of the `other` smallest distances; one more sweep serves both."""
        rests = self._rest(one), self._rest(other)
        held: dict[int, FloatArray] = {}
        small = [rest.bin for rest in rests if rest.number and rest.count <= HELD]
        if small:
            found = np.concatenate(self._map(collect_bins, small[0], small[-1], 0.0, np.inf))
            bins = np.minimum((found * self.histogram.inverse_width).astype(np.int64), BINS - 1)
            held = {wanted: found[bins == wanted] for wanted in small}
        first, second = (self._complete(rest, held) for rest in rests)
        return first, second

    def _complete(self, rest: _Rest, held: dict[int, FloatArray]) -> float:
        if rest.number == 0:
            return rest.known
        if rest.bin in held:
            return rest.known + self._smallest_of(held[rest.bin], rest.number)
        low, high = rest.bin / self.histogram.inverse_width, (rest.bin + 1) / self.histogram.inverse_width
        # The edges are rounded, so the range is a little wider than the bin; the kernel still tests the bin itself.
        high = self.documents.upper * 1.01 if rest.bin == BINS - 1 else high * (1 + 1e-12)
        return rest.known + self._divided(rest.number, rest.bin, low * (1 - 1e-12), high)

    def _rest(self, number: int) -> _Rest:
        counts, sums = self.histogram.counts, self.histogram.sums
        below = int(counts[: self.atom_bin].sum())
        if number <= below:
            return self._rest_of_bins(number, 0, self.atom_bin, 0.0)
        at_atom = min(number - below, self.histogram.at_atom)
        known = float(sums[: self.atom_bin].sum()) + at_atom * self.at_atom
        return self._rest_of_bins(number - below - at_atom, self.atom_bin, BINS, known)

    def _rest_of_bins(self, number: int, first: int, last: int, known: float) -> _Rest:
        counts, sums = self.histogram.counts[first:last], self.histogram.sums[first:last]
        full, left = _full_parts(counts, number)
        known += float(sums[:full].sum())
        return _Rest(known, left, first + full, int(counts[full])) if left else _Rest(known)

    def _smallest_of(self, squared: FloatArray, number: int) -> float:
        return float(self._distances(np.partition(squared, number - 1)[:number]).sum())

    def _divided(self, number: int, wanted: int, low: float, high: float) -> float:
        """Return the sum of the `number` smallest distances of a bin between `low` and `high`, divided once more."""
        counts, sums = np.zeros(BINS, np.int64), np.zeros(BINS)
        least, most = np.full(BINS, np.inf), np.full(BINS, -np.inf)
        for part in self._map(divide_bin, wanted, low, high):
            counts += part[0]
            sums += part[1]
            np.minimum(least, part[2], out=least)
            np.maximum(most, part[3], out=most)
        full, left = _full_parts(counts, number)
        value = float(sums[:full].sum())
        if left == 0:
            return value
        if most[full] - least[full] <= 1e-13 * most[full]:
            return value + left * float(self._distances(most[full]))
        if counts[full] <= HELD:
            found = np.concatenate(self._map(collect_bins, wanted, wanted, float(least[full]), float(most[full])))
            return value + self._smallest_of(found, left)
        return value + self._divided(left, wanted, float(least[full]), float(most[full]))

    def _map(self, kernel: Any, *wanted: Any) -> list[Any]:
        d = self.documents
        arguments = (d.metric, d.tau, d.atom, BINS, self.histogram.inverse_width, *wanted)
        blocks = d.blocks(block_size=self.block_size)
        return [result for _, result in d.map(kernel, blocks, *arguments, **self.options)]


def _full_parts(counts: IntArray, number: int) -> tuple[int, int]:
    """Return how many parts the `number` smallest fill entirely, and how many are left for the next part."""
    reached = np.cumsum(counts)
    full = int(np.searchsorted(reached, number, side="right"))
    return full, number - (int(reached[full - 1]) if full else 0)
