"""Sums of the smallest and of the largest distances, exact, in bounded memory: what the C-index compares with.

A first sweep has counted and summed all distances in bins; only the bin in which the wanted number of pairs runs out
is looked at again. A bin too full to be held is divided until it is not, or until all its distances are equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.kernels.pairwise import EUCLIDEAN, collect_bin, divide_bin
from doccluster.measures.pair_sweep import BINS, Histogram
from doccluster.measures.sorted_documents import SortedDocuments
from doccluster.progress import Progress

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
        return cls(selection.sum_of_smallest(n_wanted), selection.total - selection.sum_of_smallest(n_pairs - n_wanted))


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
        self.total = float(histogram.sums.sum()) + histogram.at_atom * self._atom_distance()

    def _atom_distance(self) -> float:
        if self.histogram.at_atom == 0:
            return 0.0
        return float(self._distances(np.array(self.documents.atom)))

    def _distances(self, squared: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return np.sqrt(squared) if self.documents.metric == EUCLIDEAN else squared

    def sum_of_smallest(self, number: int) -> float:
        """Return the sum of the `number` smallest distances."""
        counts, sums = self.histogram.counts, self.histogram.sums
        below = int(counts[: self.atom_bin].sum())
        if number <= below:
            return self._within_bins(number, 0, self.atom_bin)
        at_atom = min(number - below, self.histogram.at_atom)
        value = float(sums[: self.atom_bin].sum()) + at_atom * self._atom_distance()
        rest = number - below - at_atom
        return value + (self._within_bins(rest, self.atom_bin, BINS) if rest else 0.0)

    def _within_bins(self, number: int, first: int, last: int) -> float:
        counts, sums = self.histogram.counts[first:last], self.histogram.sums[first:last]
        reached = np.cumsum(counts)
        full = int(np.searchsorted(reached, number, side="right"))
        value = float(sums[:full].sum())
        rest = number - (int(reached[full - 1]) if full else 0)
        if rest == 0:
            return value
        return value + self._within_one_bin(rest, first + full, int(counts[full]), 0.0, np.inf)

    def _within_one_bin(self, number: int, wanted: int, count: int, low: float, high: float) -> float:
        """Return the sum of the `number` smallest of the `count` distances of a bin between `low` and `high`."""
        if count <= HELD:
            parts = self._map(collect_bin, wanted, low, high)
            chosen = np.partition(np.concatenate(parts), number - 1)[:number]
            return float(self._distances(chosen).sum())
        low, high = max(low, wanted / self.histogram.inverse_width), min(high, self._edge(wanted + 1))
        counts, sums = np.zeros(BINS, np.int64), np.zeros(BINS)
        least, most = np.full(BINS, np.inf), np.full(BINS, -np.inf)
        # The edges are rounded, so the range is a little wider than the bin; the kernel still tests the bin itself.
        for part in self._map(divide_bin, wanted, low * (1 - 1e-12), high * (1 + 1e-12)):
            counts += part[0]
            sums += part[1]
            np.minimum(least, part[2], out=least)
            np.maximum(most, part[3], out=most)
        reached = np.cumsum(counts)
        full = int(np.searchsorted(reached, number, side="right"))
        value, rest = float(sums[:full].sum()), number - (int(reached[full - 1]) if full else 0)
        if rest == 0:
            return value
        if most[full] - least[full] <= 1e-13 * most[full]:
            return value + rest * float(self._distances(most[full]))
        return value + self._within_one_bin(rest, wanted, int(counts[full]), float(least[full]), float(most[full]))

    def _edge(self, wanted: int) -> float:
        return self.documents.upper * 1.01 if wanted >= BINS else wanted / self.histogram.inverse_width

    def _map(self, kernel: Any, wanted: int, low: float, high: float) -> list[Any]:
        d = self.documents
        arguments = (d.metric, d.tau, d.atom, BINS, self.histogram.inverse_width, wanted, low, high)
        blocks = d.blocks(block_size=self.block_size)
        return [result for _, result in d.map(kernel, blocks, *arguments, **self.options)]
