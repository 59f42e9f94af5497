"""PairwiseDistances: all pairs of documents met once, in blocks, never kept; evidence where sums do not suffice.

One sweep gives the block weights, extremes and per-document means of Euclidean distance (silhouette, Dunn, Hubert and
the rest) and the ends of the C-index; the measures of pair order have counts of their own. Memory is bounded by
`max_memory` whatever the number of documents, and `estimate_seconds` says beforehand what a sweep costs.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.sizes import parse_size
from doccluster.base.sparse_structure import document_frequencies
from doccluster.geometry.documents import as_documents
from doccluster.geometry.evidence import ClusterEvidence
from doccluster.measures.extreme_sums import WIDTH, SortedOut, edges_around
from doccluster.measures.order_counts import COUNTED_KEYS, OrderCounts, count_order, number_of_keys
from doccluster.measures.pair_sweep import PairSweep, run_sweep, sampled_parts, sweep
from doccluster.measures.sorted_documents import SortedDocuments, common_terms, largest_squared
from doccluster.validation import RandomState

SECONDS_PER_POSTING = 1.2e-9  # one product through the inverted index
SECONDS_PER_LINE_CELL = 1.5e-10  # one product with a dense line of a common term
SECONDS_PER_DENSE_PRODUCT = 1e-10
SECONDS_PER_PAIR = 5e-9  # distance, sums and histogram of one pair
SECONDS_PER_DISTANCE = 3e-9  # the distance of one pair alone
SECONDS_PER_COUNT = 1.2e-8  # one pair added to a table of distances
SECONDS_PER_SORTED_KEY = 1.4e-8  # one pair of the larger kind, sorted in its block and compared
SECONDS_PER_COLLECTED_KEY = 1.2e-7  # one pair of the smaller kind, sorted and summed with all others


def estimate_seconds(matrix: Any) -> float:
    """Return about how many seconds one sweep over all pairs of rows takes one processor."""
    checked = as_documents(matrix).matrix
    return _products(checked, _documents_with(checked)) + _pairs(checked) * SECONDS_PER_PAIR


def estimate_order_seconds(geometry: ClusterEvidence) -> float:
    """Return about how many seconds one processor takes to count in which order all comparisons of pairs come out."""
    rows = geometry.rows
    distances = _products(rows.matrix, _documents_with(rows.matrix)) + geometry.n_pairs * SECONDS_PER_DISTANCE
    is_counted = number_of_keys(largest_squared(rows, geometry.metric), rows.grid) <= COUNTED_KEYS
    if is_counted:
        return float(distances + geometry.n_pairs * SECONDS_PER_COUNT)
    smaller = min(geometry.n_inner_pairs, geometry.n_outer_pairs)
    return float(2 * distances + geometry.n_pairs * SECONDS_PER_SORTED_KEY + smaller * SECONDS_PER_COLLECTED_KEY)


def _pairs(matrix: Any) -> float:
    return float(matrix.shape[0]) ** 2 / 2


def _documents_with(matrix: Any) -> npt.NDArray[np.float64]:
    """Return how many rows have each term, array of shape (n_terms,); nothing of a dense matrix."""
    return document_frequencies(matrix).astype(np.float64) if sparse.issparse(matrix) else np.empty(0)


def _products(matrix: Any, met: npt.NDArray[np.float64]) -> float:
    """Return the seconds for the products of all pairs of rows; `met` says how many rows have each term."""
    n = matrix.shape[0]
    if not sparse.issparse(matrix):
        return float(_pairs(matrix) * matrix.shape[1] * SECONDS_PER_DENSE_PRODUCT)
    common = common_terms(met, n, matrix.dtype.itemsize)
    cells = met[common].sum() * n / 2
    rare = met.copy()
    rare[common] = 0
    return float(rare @ rare / 2 * SECONDS_PER_POSTING + cells * SECONDS_PER_LINE_CELL)


FloatArray = npt.NDArray[np.float64]

MAX_MEMORY = 512 * 2**20  # working memory by default, besides the matrix and its sorted copy


class PairwiseDistances:
    """Distances of all pairs of documents, summed, compared and counted.

    Parameters
    ----------
    geometry : ClusterEvidence
        The same documents, clusters and metric; what sums give under cosine is taken from it.
    max_memory : int or str, optional
        Bound on working memory besides the matrix and its sorted copy ("2G"); 512 MiB by default. Where the tables of
        documents by clusters do not fit, each pair is met twice; where k x k tables do not fit, the measures that
        need them say so, as do those that sort pairs which do not fit.
    """

    def __init__(self, geometry: ClusterEvidence, *, max_memory: int | str | None = None) -> None:
        self.geometry = geometry
        self._memory = MAX_MEMORY if max_memory is None else parse_size(max_memory)

    def estimate_seconds(self, *, of_order: bool = False) -> float:
        """Return about how long a sweep takes one processor, or counting the order of pairs (Gamma, G+, tau)."""
        return estimate_order_seconds(self.geometry) if of_order else estimate_seconds(self.geometry.documents)

    @cached_property
    def documents(self) -> SortedDocuments:
        """The documents sorted by cluster."""
        return SortedDocuments(self.geometry)

    @cached_property
    def sweep(self) -> PairSweep:
        """What one sweep over all pairs says; all measures share it."""
        return sweep(self.geometry, self.documents, memory=self._memory)

    # --- sums ------------------------------------------------------------------------------------------------------

    @property
    def is_linear(self) -> bool:
        """Whether sums of distances follow from sums of rows, so that no sweep is needed for them."""
        return self.geometry.metric != "euclidean"

    @property
    def block_weights(self) -> FloatArray:
        """W(C_i, C_j): distances of ordered pairs summed by pair of clusters, array of shape (k, k)."""
        return self.geometry.block_weights if self.is_linear else self.sweep.table("weights")

    @property
    def cluster_weights(self) -> tuple[FloatArray, FloatArray]:
        """W(C_i, C_i) and W(C_i, V), two arrays of shape (k,)."""
        return self.geometry.cluster_weights if self.is_linear else self.sweep.cluster_weights

    @property
    def silhouette_parts(self) -> tuple[FloatArray, FloatArray]:
        """Mean distance to the own and to the nearest other cluster, two arrays of shape (n,)."""
        return self.geometry.silhouette_parts if self.is_linear else self.sweep.silhouette_parts

    def sampled_silhouette_parts(
        self, n_sampled: int, random_state: RandomState
    ) -> tuple[npt.NDArray[np.int64], FloatArray, FloatArray]:
        """Return a sample of documents (row numbers, ascending) and their mean distances to own and next cluster."""
        return sampled_parts(self.geometry, self.documents, n_sampled, random_state)

    @property
    def sum_of_weights(self) -> float:
        """The sum of the distances of all M pairs."""
        return float(self.cluster_weights[1].sum()) / 2

    @property
    def sum_of_squared_weights(self) -> float:
        """The sum of the squared distances of all M pairs."""
        return self.sweep.sum_of_squares

    @property
    def zero_distance_pairs(self) -> int:
        """The number of pairs at distance 0."""
        return self.sweep.zero_distance_pairs

    # --- extremes --------------------------------------------------------------------------------------------------

    @property
    def least_between(self) -> float:
        """The least distance of two documents of different clusters; inf if there is one cluster."""
        return float(self._distance(self.sweep.least_between))

    @property
    def largest_within(self) -> float:
        """The largest distance of two documents of one cluster; 0 if no cluster has two."""
        return float(self._distance(self.sweep.largest_within))

    @property
    def least_squared_between(self) -> float:
        """The least squared Euclidean distance of two documents of different clusters, in any metric."""
        least, geometry = self.sweep.least_between, self.geometry
        if geometry.metric != "cosine":
            return least
        zero = geometry.zero_rows
        if np.count_nonzero(zero) > 1:
            return 0.0  # two documents without terms, in different clusters
        # A document without terms is at squared distance 1 from every unit row.
        touches = zero.any() and int((geometry.sizes - zero).sum() - (geometry.sizes - zero)[zero > 0].sum()) > 0
        return min(2 * least, 1.0) if touches else 2 * least

    @property
    def block_least(self) -> FloatArray:
        """The least distance between two clusters, array of shape (k, k), inf on the diagonal."""
        return np.asarray(self._distance(self.sweep.table("least")))

    @property
    def block_largest(self) -> FloatArray:
        """The largest distance within a cluster or between two, array of shape (k, k)."""
        return np.asarray(self._distance(self.sweep.table("largest")))

    @property
    def hausdorff(self) -> FloatArray:
        """The Hausdorff distances max(max_x min_y, max_y min_x) of the clusters, array of shape (k, k)."""
        return np.asarray(self._distance(self.sweep.table("hausdorff")))

    def _distance(self, squared: Any) -> Any:
        return np.sqrt(squared) if self.geometry.metric == "euclidean" else squared

    @cached_property
    def extreme_sums(self) -> tuple[float, float]:
        """W_min and W_max: the sums of the N_in smallest and of the N_in largest distances."""
        geometry, found = self.geometry, self.sweep.extremes
        wanted, width = (geometry.n_inner_pairs, geometry.n_outer_pairs), WIDTH
        while True:
            sums = [found.sum_of_smallest(line, number, self.documents) for line, number in enumerate(wanted)]
            if sums[0] is not None and sums[1] is not None:
                return sums[0], self.sum_of_weights - sums[1]
            width *= 4  # the sample misjudged an end: look again in wider ranges
            found = self._look_again(edges_around(self.documents, wanted, geometry.n_pairs, width=width))

    def _look_again(self, edges: FloatArray) -> SortedOut:
        found = SortedOut(edges)
        for _, result in run_sweep(self.documents, edges, each_pair_once=True):
            found.add(result.counts, result.below, result.inside, result.at_atom)
        return found

    # --- order -----------------------------------------------------------------------------------------------------

    @cached_property
    def order_counts(self) -> OrderCounts:
        """s+ and s-: pairs of pairs, one within and one between clusters, in the right and in the wrong order."""
        return count_order(self.geometry, self.documents, memory=self._memory)

    # --- correlation with the partition ----------------------------------------------------------------------------

    @property
    def weight_deviation(self) -> float:
        """The population standard deviation of the M distances; exactly 0 where they are equal within rounding."""
        pairs = self.geometry.n_pairs
        mean_square, square_mean = self.sum_of_squared_weights / pairs, (self.sum_of_weights / pairs) ** 2
        variance = mean_square - square_mean
        return math.sqrt(variance) if variance > 1e-12 * mean_square else 0.0
