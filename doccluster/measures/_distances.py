"""PairwiseDistances: all pairs of documents met in blocks, never kept; evidence where sums do not suffice.

One sweep gives the sums, extremes and per-document means of distances; the C-index and the measures of pair order take
two sweeps of their own each. `estimate_seconds` says beforehand what they cost.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.arrays import CscArray, CsrArray, Floats, Integers
from doccluster.base.blocks import map_blocks
from doccluster.base.plain_values import format_size, parse_size
from doccluster.base.sparse_structure import document_frequencies
from doccluster.base.validation import RandomState, as_generator, check_positive_int
from doccluster.errors import NotComputable
from doccluster.geometry.evidence import ClusterEvidence
from doccluster.geometry.sums import cluster_order

MAX_MEMORY = 512 * 2**20  # working memory by default, besides the matrix and its sorted copy
N_BINS = 2**16  # in which distances are counted before the bins where the extreme ones end are looked at
FINEST_STEP = 2.0**-60  # of the largest distance: keys fit in 64 bits, and float64 resolves no more of it
MIN_KEYS = 2**16  # different distances within clusters that are held, however little memory there is
BYTES_PER_KEY = 32  # a distance within clusters while it is collected, sorted and counted

SECONDS_PER_POSTING = 5e-9  # one product of two entries of a term
SECONDS_PER_DENSE_PRODUCT = 1e-10
SECONDS_PER_PAIR = 1e-7  # what five sweeps do with one pair besides its product


@dataclass(frozen=True)
class OrderCounts:
    """Comparisons of a pair within with a pair between clusters: s+ closer, s- farther, the rest ties."""

    s_plus: int
    s_minus: int


@dataclass(frozen=True, eq=False)
class PairSweep:
    """Results of a sweep over the pairs of some documents or all; extremes are of squared (or cosine) distances."""

    cluster_weights: tuple[Floats, Floats]  # W(C_i, C_i) and W(C_i, V), (k,)
    silhouette_parts: tuple[Floats, Floats]  # mean distance to the own and the nearest other cluster, (n,)
    least_between: float
    largest_within: float
    sum_of_squares: float
    tables: dict[str, Floats]  # (k, k): weights, least, largest, hausdorff; none if they did not fit


class PairwiseDistances:
    """Distances of all pairs of documents, summed, compared and counted.

    `geometry`: the same documents, clusters and metric; what sums give under cosine is taken from it. `max_memory`: the
    bound on working memory besides the matrix and its sorted copy ("2G"), 512 MiB by default. Where k x k tables do not
    fit, the measures that need them say so, as do those that sort pairs which do not fit.
    """

    def __init__(self, geometry: ClusterEvidence, *, max_memory: int | str | None = None) -> None:
        self.geometry = geometry
        self._memory = MAX_MEMORY if max_memory is None else parse_size(max_memory)

    def estimate_seconds(self) -> float:
        """Return about how long all measures of pairs, with five sweeps, take one processor."""
        matrix, n = self.geometry.rows.matrix, float(self.geometry.n_documents)
        products, n_common = 0.0, matrix.shape[1]
        if sparse.issparse(matrix):
            met = document_frequencies(matrix)
            common, rare = split_terms(met, len(self.geometry.labels))
            products, n_common = float(np.square(met[rare], dtype=np.float64).sum()), common.size
        dense = n * n * n_common * SECONDS_PER_DENSE_PRODUCT
        return 5 * (products * SECONDS_PER_POSTING + float(dense)) + self.geometry.n_pairs * SECONDS_PER_PAIR

    @cached_property
    def documents(self) -> SortedDocuments:
        """The documents sorted by cluster."""
        return SortedDocuments(self.geometry)

    @cached_property
    def sweep(self) -> PairSweep:
        """What one sweep over all pairs says; all measures share it."""
        with_tables = 4 * 8 * self.geometry.n_clusters**2 <= self._memory // 2
        return self._swept(np.arange(self.documents.n), with_tables=with_tables)

    def _swept(self, places: Integers, *, with_tables: bool) -> PairSweep:
        """Return sums, extremes and tables of the distances of some places (or all) to all, block by block."""
        d, k = self.documents, self.geometry.n_clusters
        sizes, firsts = self.geometry.sizes.astype(np.float64), d.starts[:-1]
        to_own, to_all, ends, squares = np.zeros(k), np.zeros(k), np.array([np.inf, 0.0]), 0.0
        tables = {"weights": np.zeros((k, k)), "least": np.full((k, k), np.inf)} if with_tables else {}
        tables |= {name: np.zeros((k, k)) for name in ("largest", "hausdorff") if with_tables}
        parts = []

        def reduced(places: Integers, squared: Floats) -> tuple[Any, ...]:
            distance, labels, at = d.distance(squared), d.labels[places], np.arange(places.size)
            sums = np.add.reduceat(distance, firsts, axis=1)
            largest = np.maximum.reduceat(squared, firsts, axis=1)
            least = np.minimum.reduceat(squared, firsts, axis=1)
            least[at, labels] = np.inf  # the own cluster is no other
            return labels, sums, least, largest, float(np.vdot(distance, distance))

        for labels, sums, least, largest, power in d.map(reduced, places, stage="pairs"):
            at = np.arange(labels.size)
            parts.append(_mean_distances(sums, labels, sizes))
            to_own += np.bincount(labels, weights=sums[at, labels], minlength=k)
            to_all += np.bincount(labels, weights=sums.sum(axis=1), minlength=k)
            ends = np.array([min(ends[0], least.min()), max(ends[1], largest[at, labels].max())])
            squares += power
            if with_tables:
                first = np.flatnonzero(np.diff(labels, prepend=-1))  # of each cluster in this block
                met = labels[first]
                tables["weights"][met] += np.add.reduceat(sums, first, axis=0)
                tables["least"][met] = np.minimum(tables["least"][met], np.minimum.reduceat(least, first, axis=0))
                for name, values in (("largest", largest), ("hausdorff", least)):
                    tables[name][met] = np.maximum(tables[name][met], np.maximum.reduceat(values, first, axis=0))
        if with_tables:
            np.fill_diagonal(tables["hausdorff"], 0.0)
            tables["hausdorff"] = np.maximum(tables["hausdorff"], tables["hausdorff"].T)
        cohesion, separation = (np.concatenate(part) for part in zip(*parts, strict=True))
        # every pair was met from both sides
        extremes = float(ends[0]), float(ends[1])
        return PairSweep((to_own, to_all), (cohesion, separation), *extremes, squares / 2, tables)

    def _table(self, name: str) -> Floats:
        """Return a k x k table of the sweep, or raise NotComputable if it did not fit in memory."""
        if name not in self.sweep.tables:
            needed = format_size(2 * 4 * 8 * self.geometry.n_clusters**2)
            raise NotComputable(f"the tables of pairs of clusters need {needed}; raise max_memory above it")
        return self.sweep.tables[name]

    # --- sums ------------------------------------------------------------------------------------------------------

    @property
    def is_linear(self) -> bool:
        """Whether sums of distances follow from sums of rows, so that no sweep is needed for them."""
        return self.geometry.metric != "euclidean"

    @property
    def pairs(self) -> PairwiseDistances:
        """Itself, so that a measure may ask any evidence for its pairs."""
        return self

    @property
    def block_weights(self) -> Floats:
        """W(C_i, C_j): distances of ordered pairs summed by pair of clusters, array of shape (k, k)."""
        return self.geometry.pairs.block_weights if self.is_linear else self._table("weights")

    @property
    def cluster_weights(self) -> tuple[Floats, Floats]:
        """W(C_i, C_i) and W(C_i, V), two arrays of shape (k,)."""
        return self.geometry.pairs.cluster_weights if self.is_linear else self.sweep.cluster_weights

    @cached_property
    def silhouette_parts(self) -> tuple[Floats, Floats]:
        """Mean distance to the own and to the nearest other cluster, two arrays of shape (n,)."""
        if self.is_linear:
            return self.geometry.pairs.silhouette_parts
        rank = np.argsort(self.documents.order)
        cohesion, separation = self.sweep.silhouette_parts
        return cohesion[rank], separation[rank]

    def sampled_silhouette_parts(self, n_sampled: int, random_state: RandomState) -> tuple[Integers, Floats, Floats]:
        """Return a sample of documents (row numbers) and their exact mean distances to own and next cluster."""
        n = self.documents.n
        number = min(check_positive_int(n_sampled, "sample"), n)
        chosen = np.sort(as_generator(random_state).choice(n, size=number, replace=False))
        return self.documents.order[chosen], *self._swept(chosen, with_tables=False).silhouette_parts

    @property
    def sum_of_weights(self) -> float:
        """The sum of the distances of all M pairs."""
        return float(self.cluster_weights[1].sum()) / 2

    @property
    def sum_of_squared_weights(self) -> float:
        """The sum of the squared distances of all M pairs."""
        return self.sweep.sum_of_squares

    @property
    def weight_deviation(self) -> float:
        """The population standard deviation of the M distances; exactly 0 where they are equal within rounding."""
        pairs = self.geometry.n_pairs
        mean_square, square_mean = self.sum_of_squared_weights / pairs, (self.sum_of_weights / pairs) ** 2
        variance = mean_square - square_mean
        return math.sqrt(variance) if variance > 1e-12 * mean_square else 0.0

    # --- extremes --------------------------------------------------------------------------------------------------

    @property
    def least_between(self) -> float:
        """The least distance of two documents of different clusters; inf if there is one cluster."""
        return float(self.documents.distance(self.sweep.least_between))

    @property
    def largest_within(self) -> float:
        """The largest distance of two documents of one cluster; 0 if no cluster has two."""
        return float(self.documents.distance(self.sweep.largest_within))

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
    def block_least(self) -> Floats:
        """The least distance between two clusters, array of shape (k, k), inf on the diagonal."""
        return np.asarray(self.documents.distance(self._table("least")))

    @property
    def block_largest(self) -> Floats:
        """The largest distance within a cluster or between two, array of shape (k, k)."""
        return np.asarray(self.documents.distance(self._table("largest")))

    @property
    def hausdorff(self) -> Floats:
        """The Hausdorff distances max(max_x min_y, max_y min_x) of the clusters, array of shape (k, k)."""
        return np.asarray(self.documents.distance(self._table("hausdorff")))

    @cached_property
    def extreme_sums(self) -> tuple[float, float]:
        """W_min and W_max: the sums of the N_in smallest and of the N_in largest distances.

        Distances are counted and summed in bins; then those of the two bins in which the extreme ones end are sorted.
        """
        d, scale = self.documents, N_BINS / self.documents.upper
        counts, sums = np.zeros(N_BINS, np.int64), np.zeros(N_BINS)

        def bins_of(squared: Floats) -> npt.NDArray[np.int32]:
            return np.minimum(squared * scale, N_BINS - 1).astype(np.int32)

        def binned(squared: Floats) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
            bins = bins_of(squared)
            return np.bincount(bins, minlength=N_BINS), np.bincount(bins, d.distance(squared), minlength=N_BINS)

        for bin_counts, bin_sums in d.map_pairs(binned, "all", stage="extremes"):
            counts += bin_counts
            sums += bin_sums
        n_smallest = (self.geometry.n_inner_pairs, self.geometry.n_outer_pairs)
        # the bin in which the N-th smallest distance lies: all below it count whole, within it the smallest ones
        ends = [int(np.searchsorted(np.cumsum(counts), number)) for number in n_smallest]

        def at_ends(squared: Floats) -> list[tuple[Floats, Integers]]:
            bins = bins_of(squared)
            return [np.unique(squared[bins == end], return_counts=True) for end in ends]

        distances_at_ends = zip(*d.map_pairs(at_ends, "all", stage="extremes"), strict=True)
        totals = []
        for number, end, parts in zip(n_smallest, ends, distances_at_ends, strict=True):
            values, copies = _merged(parts)
            n_missing = number - int(counts[:end].sum())
            n_copies = np.clip(n_missing - (np.cumsum(copies) - copies), 0, copies)
            totals.append(float(sums[:end].sum() + (d.distance(values) * n_copies).sum()))
        # the N_in largest are all but the N_out smallest
        return totals[0], self.sum_of_weights - totals[1]

    # --- order -----------------------------------------------------------------------------------------------------

    @cached_property
    def order_counts(self) -> OrderCounts:
        """s+ and s-: pairs of pairs, one within and one between clusters, in the right and in the wrong order.

        Squared distances are compared in whole steps of the grid, so ties, which count for neither, are exact.

        Raises NotComputable if the different distances within clusters do not fit in memory.
        """
        geometry, d = self.geometry, self.documents
        if geometry.n_inner_pairs == 0 or geometry.n_outer_pairs == 0:
            return OrderCounts(0, 0)
        steps = 1.0 / max(geometry.rows.grid, d.upper * FINEST_STEP)

        def keys_of(squared: Floats) -> Integers:
            return (squared * steps + 0.5).astype(np.int64)

        def tallied(squared: Floats) -> tuple[Integers, Integers]:
            return np.unique(keys_of(squared), return_counts=True)

        parts, n_keys = [], 0
        for part in d.map_pairs(tallied, "within", stage="order of pairs"):
            parts.append(part)
            n_keys += part[0].size
            if n_keys > max(MIN_KEYS, self._memory // BYTES_PER_KEY):
                needed = format_size(geometry.n_inner_pairs * BYTES_PER_KEY)
                raise NotComputable(f"the pairs to be sorted need up to {needed}; raise max_memory above it")
        keys, copies = _merged(parts)
        below, copies = np.concatenate([[0], np.cumsum(copies)]), np.append(copies, 0)

        def compared(squared: Floats) -> tuple[int, int]:
            outer_keys = np.sort(keys_of(squared))  # in order, the search stays near where it was
            place = np.searchsorted(keys, outer_keys)
            equal = keys[np.minimum(place, keys.size - 1)] == outer_keys
            return int(below[place].sum()), int(copies[place[equal]].sum())

        closer, ties = zip(*d.map_pairs(compared, "between", stage="order of pairs"), strict=True)
        plus = sum(closer)
        return OrderCounts(plus, geometry.n_inner_pairs * geometry.n_outer_pairs - plus - sum(ties))


def _mean_distances(sums: Floats, labels: Integers, sizes: Floats) -> tuple[Floats, Floats]:
    """Return the mean distance to the own and to the nearest other cluster, from sums (documents x clusters)."""
    at = np.arange(len(labels))
    to_own = sums[at, labels] / np.maximum(sizes[labels] - 1, 1)
    means = sums / sizes
    means[at, labels] = np.inf
    return to_own, means.min(axis=1)


def _merged(parts: Iterable[tuple[npt.NDArray[Any], Integers]]) -> tuple[npt.NDArray[Any], Integers]:
    """Return the distinct values of parts, ascending, and how often each occurs."""
    values, counts = (np.concatenate(part) for part in zip(*parts, strict=True))
    distinct, place = np.unique(values, return_inverse=True)
    return distinct, np.bincount(place, weights=counts, minlength=distinct.size).astype(np.int64)


Result = TypeVar("Result")

BLOCK_CELLS = 2**18  # distances that a thread holds at a time: 2 MiB, some of them several times
COMMON_SHARE = 0.05  # a term of more documents than this is multiplied as a dense column
PARTS = 8  # of the documents: those of a part are met with the documents from its first one on
COMMON_BYTES = 64 * 2**20  # of all dense columns


class SortedDocuments:
    """Rows sorted by cluster, so that a cluster is a range of places.

    `order` of shape (n,): the row of the document at each place. `starts` of shape (k + 1,): the first place of each
    cluster. `labels` of shape (n,): the cluster of each place, ascending. `upper`: a bound on every squared (or cosine)
    distance.
    """

    def __init__(self, geometry: ClusterEvidence) -> None:
        rows = geometry.rows
        self._metric, self._tau = geometry.metric, rows.tau
        self._n_threads, self._progress = geometry.n_threads, geometry.progress
        self.order, self.starts = cluster_order(geometry.partition)
        self.labels = geometry.labels[self.order]
        self._norms = rows.squared_norms[self.order]
        self._rare: CsrArray | None = None
        if rows.is_sparse:
            matrix = sparse.csr_array(rows.matrix)
            common, rare = split_terms(document_frequencies(matrix), self.n)
            scaled = sparse.csr_array(sparse.diags_array(rows.scale) @ matrix.astype(np.float64))[self.order]
            self._common, self._rare = scaled[:, common].toarray(), scaled[:, rare]
        else:
            self._common = rows.dense_block(self.order)
        largest = 4.0 if rows.is_unit else 4.0 * float(rows.squared_norms.max()) or 1.0
        self.upper = 2.0 if self._metric == "cosine" else largest

    @property
    def n(self) -> int:
        """The number of documents."""
        return int(self.order.size)

    def squared(self, places: Integers, first: int = 0, by_term: CscArray | None = None) -> Floats:
        """Return the squared (or cosine) distances of some documents to those from `first` on; 0 within rounding.

        Documents without a common term are at exactly the same distance where rows are unit: their product is 0.
        """
        distances: Floats = self._common[places] @ self._common[first:].T
        if self._rare is not None:
            distances += (self._rare[places] @ by_term).toarray()
        if self._metric == "cosine":
            np.subtract(1.0, distances, out=distances)
            distances[distances <= self._tau] = 0.0
        else:
            scale = self._norms[places, None] + self._norms[first:]
            np.subtract(scale, 2.0 * distances, out=distances)
            distances[distances <= self._tau * scale] = 0.0
        distances[np.arange(places.size), places - first] = 0.0  # also of a document without terms
        return distances

    def distance(self, squared: Any) -> Any:
        """Return the distances in the metric."""
        return np.sqrt(squared) if self._metric == "euclidean" else squared

    def map(
        self, function: Callable[[Integers, Floats], Result], places: Integers, *, stage: str, first: int = 0
    ) -> Iterator[Result]:
        """Yield ``function(places, squared)`` of each block of places, in their order, and tell how far it is."""
        by_term = None if self._rare is None else sparse.csr_array(self._rare[first:].T)
        size = max(1, BLOCK_CELLS // (self.n - first))
        blocks = [places[begin : begin + size] for begin in range(0, places.size, size)]
        results = map_blocks(
            lambda block: function(block, self.squared(block, first, by_term)), blocks, n_threads=self._n_threads
        )
        for block, result in zip(blocks, results, strict=True):
            yield result
            self._progress(stage, int(block[-1]) + 1, self.n)

    def map_pairs(self, function: Callable[[Floats], Result], kinds: str, *, stage: str) -> Iterator[Result]:
        """Yield `function` of the squared distances of the pairs ``"within"`` or ``"between"`` clusters, or ``"all"``.

        Each pair comes once, with the block of its first document; documents before the part of a block are not met.
        """
        parts = np.unique(np.linspace(0, self.n, PARTS + 1).astype(np.int64)).tolist()
        for first, end_of_part in itertools.pairwise(parts):

            def later(places: Integers, squared: Floats, first: int = first) -> Result:
                lines = []
                for place, line in zip((places - first).tolist(), squared, strict=True):
                    end = self.starts[self.labels[place + first] + 1] - first  # of its cluster, whose others come next
                    begin = end if kinds == "between" else place + 1
                    lines.append(line[begin : end if kinds == "within" else None])
                return function(np.concatenate(lines))

            yield from self.map(later, np.arange(first, end_of_part), stage=stage, first=first)


def split_terms(met: Integers, n: int) -> tuple[Integers, Integers]:
    """Return the columns that are multiplied densely, those of many of the `n` documents, and the others."""
    common = np.flatnonzero(met > COMMON_SHARE * n)
    common = common[np.argsort(-met[common], kind="stable")][: COMMON_BYTES // (8 * n)]
    is_rare = met > 0
    is_rare[common] = False
    return np.sort(common), np.flatnonzero(is_rare)
