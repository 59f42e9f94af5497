"""One sweep over all pairs of documents, and what it leaves: sums, extremes, and pairs in two narrow ranges.

While the tables documents x clusters fit in memory each pair is visited once and counted for both. Otherwise each
row is met with all others and reduced at once: twice the work, memory O(n).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.base.sizes import format_size
from doccluster.errors import NotComputable
from doccluster.geometry.evidence import ClusterEvidence
from doccluster.kernels.pairwise import SweptRows, sweep_rows
from doccluster.measures.extreme_sums import SortedOut, edges_around
from doccluster.measures.sorted_documents import SortedDocuments
from doccluster.validation import RandomState, as_generator, check_positive_int

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


@dataclass(eq=False)
class PairSweep:
    """What a sweep leaves; extremes are of squared (or cosine) distances.

    Attributes
    ----------
    cluster_weights : W(C_i, C_i) and W(C_i, V), arrays of shape (k,)
    silhouette_parts : mean distance to the own and to the nearest other cluster, arrays of shape (n,)
    least_between, largest_within : extremes over all pairs between, and within, clusters
    sum_of_squares : the squared distances of all pairs, summed
    zero_distance_pairs : pairs at distance 0
    extremes : SortedOut, what was found around the ends that the C-index compares with
    tables : k x k arrays ``weights``, ``least``, ``largest``, ``hausdorff``; empty if they did not fit
    """

    cluster_weights: tuple[FloatArray, FloatArray]
    silhouette_parts: tuple[FloatArray, FloatArray]
    least_between: float
    largest_within: float
    sum_of_squares: float
    zero_distance_pairs: int
    extremes: SortedOut
    tables: dict[str, FloatArray] = field(default_factory=dict)
    tables_need: int = 0

    def table(self, name: str) -> FloatArray:
        """Return a k x k table, or raise NotComputable if it did not fit in memory."""
        if name not in self.tables:
            raise NotComputable(
                f"the tables of pairs of clusters need {format_size(self.tables_need)}; raise max_memory above it"
            )
        return self.tables[name]


def sweep(geometry: ClusterEvidence, documents: SortedDocuments, *, memory: int) -> PairSweep:
    """Meet all pairs of documents and return what they leave."""
    gathered = _Gathering(geometry, documents, memory)
    wanted = (geometry.n_inner_pairs, geometry.n_outer_pairs)
    edges = edges_around(documents, wanted, geometry.n_pairs)
    for places, result in run_sweep(documents, edges, each_pair_once=gathered.each_pair_once):
        gathered.add(places, result)
        gathered.extremes.add(result.counts, result.below, result.inside, result.at_atom)
    gathered.extremes.edges = edges
    return gathered.finish()


def run_sweep(
    documents: SortedDocuments, edges: FloatArray, *, each_pair_once: bool
) -> Iterator[tuple[IntArray, SweptRows]]:
    """Yield what the kernel says of each block of rows."""
    given: dict[str, Any] = {"stage": "pairs", "later_only": each_pair_once}
    return documents.map(sweep_rows, documents.blocks(), each_pair_once, True, edges, **given)


class _Gathering:
    """The tables of a sweep while blocks come in, in order."""

    def __init__(self, geometry: ClusterEvidence, documents: SortedDocuments, memory: int) -> None:
        n, k = geometry.n_documents, geometry.n_clusters
        self.documents, self.sizes = documents, geometry.sizes.astype(np.float64)
        self.each_pair_once = 2 * 8 * n * k <= memory // 2
        self.tables_need = 4 * 8 * k * k
        self.with_tables = self.tables_need <= memory // 2
        if self.each_pair_once:
            self.sums, self.nearest = np.zeros((k, n)), np.full((k, n), np.inf)
        cells = (k, k) if self.with_tables else (0, 0)
        self.weights, self.farthest = np.zeros(cells), np.zeros(cells)
        self.least, self.largest = np.full(cells, np.inf), np.full(cells, -1.0)
        self.own, self.to_all = np.zeros(k), np.zeros(k)
        self.cohesion, self.separation = np.zeros(n), np.zeros(n)
        self.least_between, self.largest_within = np.inf, 0.0
        self.extremes = SortedOut()
        self.at_zero, self.power = 0, 0.0

    def add(self, places: IntArray, swept: SweptRows) -> None:
        """Take in what the kernel says of a block."""
        met = slice(int(self.documents.labels[places[0]]), int(self.documents.labels[places[-1]]) + 1)
        self.least_between = min(self.least_between, float(swept.smallest.min()))
        within = swept.largest[np.arange(len(swept.largest)), np.arange(met.start, met.stop)]
        self.largest_within = max(self.largest_within, float(within.max()))
        self.at_zero, self.power = self.at_zero + swept.at_zero, self.power + swept.power
        if self.with_tables:
            np.minimum(self.least[met], swept.smallest, out=self.least[met])
            np.maximum(self.largest[met], swept.largest, out=self.largest[met])
        if self.each_pair_once:
            self.sums[:, places] += swept.sums.T
            self.sums[met] += swept.column_sums
            self.nearest[:, places] = np.minimum(self.nearest[:, places], swept.nearest.T)
            np.minimum(self.nearest[met], swept.column_nearest, out=self.nearest[met])
        else:
            self._reduce(places, swept.sums, swept.nearest)

    def _reduce(self, places: IntArray, sums: FloatArray, nearest: FloatArray) -> None:
        """Reduce complete rows (documents x clusters) to what is kept of them."""
        labels = self.documents.labels[places]
        self.cohesion[places], self.separation[places] = mean_distances(sums, labels, self.sizes)
        self.own += np.bincount(labels, weights=sums[np.arange(len(labels)), labels], minlength=len(self.sizes))
        self.to_all += np.bincount(labels, weights=sums.sum(axis=1), minlength=len(self.sizes))
        if self.with_tables:
            np.add.at(self.weights, labels, sums)
            np.maximum.at(self.farthest, labels, nearest)

    def finish(self) -> PairSweep:
        """Return the result of all blocks."""
        if self.each_pair_once:
            for places in self.documents.blocks():
                self._reduce(places, self.sums[:, places].T, self.nearest[:, places].T)
            del self.sums, self.nearest
        else:  # every pair was met twice
            self.at_zero, self.power = self.at_zero // 2, self.power / 2
        order = self.documents.order
        cohesion, separation = np.empty_like(self.cohesion), np.empty_like(self.separation)
        cohesion[order], separation[order] = self.cohesion, self.separation
        return PairSweep(
            (self.own, self.to_all),
            (cohesion, separation),
            self.least_between,
            self.largest_within,
            self.power,
            self.at_zero,
            self.extremes,
            self._finished_tables(),
            2 * self.tables_need,
        )

    def _finished_tables(self) -> dict[str, FloatArray]:
        if not self.with_tables:
            return {}
        np.fill_diagonal(self.farthest, 0.0)
        largest = np.maximum(self.largest, self.largest.T)
        return {
            "weights": (self.weights + self.weights.T) / 2,
            "least": np.minimum(self.least, self.least.T),
            "largest": np.maximum(largest, 0.0),
            "hausdorff": np.maximum(self.farthest, self.farthest.T),
        }


def mean_distances(sums: FloatArray, labels: IntArray, sizes: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the mean distance to the own and to the nearest other cluster, from sums (documents x clusters)."""
    at = np.arange(len(labels))
    own = sums[at, labels] / np.maximum(sizes[labels] - 1, 1)
    means = sums / sizes
    means[at, labels] = np.inf
    return own, means.min(axis=1)


def sampled_parts(
    geometry: ClusterEvidence, documents: SortedDocuments, n_sampled: int, random_state: RandomState
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return sampled documents (rows), and their exact mean distances to the own and the nearest other cluster."""
    number = min(check_positive_int(n_sampled, "sample"), documents.n)
    chosen = np.sort(as_generator(random_state).choice(documents.n, size=number, replace=False))
    size = len(documents.blocks()[0])
    blocks = [chosen[first : first + size] for first in range(0, number, size)]
    labels, sizes = documents.labels, geometry.sizes.astype(np.float64)
    given: dict[str, Any] = {"stage": "sampled documents", "later_only": False}
    swept = documents.map(sweep_rows, blocks, False, False, np.empty((0, 2)), **given)
    parts = [mean_distances(result.sums, labels[places], sizes) for places, result in swept]
    cohesion, separation = (np.concatenate(part) for part in zip(*parts, strict=True))
    return documents.order[chosen], cohesion, separation
