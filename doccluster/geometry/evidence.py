"""What sums and one reading of the matrix say of a partition, in O(nnz k); each value is made when it is first needed.

`ClusterEvidence` reads the documents; `ClusterCentres` and `PairSums` follow from its sums.

Two kinds of centre exist and are never mixed: the mean mu_i of a cluster (everything Euclidean) and its centroid c_i,
the unit vector along the sum (Sharma & Sharma's measures and the objective of spherical k-means).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from doccluster.base.arrays import CsrArray, Floats, Integers, Matrix
from doccluster.base.blocks import map_blocks
from doccluster.base.progress import Progress, silent
from doccluster.base.validation import check_choice, squared_row_norms
from doccluster.errors import InputError
from doccluster.geometry.documents import as_documents
from doccluster.geometry.partition import Partition
from doccluster.geometry.products import (
    ClusterNorms,
    Readings,
    SimilarityPass,
    count_close,
    documents_together,
    gather_readings,
    groups_by_cluster,
    known_of_clusters,
    read_group,
)
from doccluster.geometry.sums import ClusterSums, cluster_order, cluster_sums, count_presence

# Up to this many clusters the k x k tables of the reading (two, 8 bytes a cell) come with the first reading;
# beyond it they are made in a reading of their own, when a measure asks for them.
TABLES_UP_TO = 1000


class ClusterEvidence:
    """The geometry of clusters: sums, norms, centres, and the similarities of documents to them.

    Parameters
    ----------
    documents : Documents, or a csr or dense array of shape (n_documents, n_terms)
        Documents as rows. Under ``cosine`` the length of a row is ignored; under the Euclidean metrics rows are taken
        as they are (as exactly unit where all are unit or zero within rounding).
    partition : Partition
        The clusters.
    metric : {"cosine", "euclidean", "sqeuclidean"}
        The distance of pairs of documents that silhouette, block weights and their like are about.
    n_threads : int, optional
        Threads of the two readings; None means all. No value depends on it.

    Raises
    ------
    InputError
        If the numbers of rows and labels differ, or the matrix or the metric cannot be used.

    Examples
    --------
    >>> geometry = ClusterEvidence([[1, 0], [1, 0], [0, 1]], Partition.from_labels([0, 0, 1]))
    >>> geometry.sum_norms
    array([2., 1.])
    """

    def __init__(
        self,
        documents: object,
        partition: Partition,
        *,
        metric: str = "cosine",
        n_threads: int | None = None,
        progress: Progress = silent,
    ) -> None:
        self.documents = as_documents(documents)
        self.rows = self.documents.under(metric)
        self.partition = partition
        self.metric = metric
        if self.rows.n_documents != self.partition.n_documents:
            raise InputError(
                f"there are {self.rows.n_documents} document vectors and {self.partition.n_documents} labels",
                remedy="give one label per row",
            )
        self.n_threads = n_threads
        self.progress = progress

    @cached_property
    def centres(self) -> ClusterCentres:
        """Means, centroids and scatter of the clusters, from the sums of rows."""
        return ClusterCentres(self)

    @cached_property
    def pairs(self) -> PairSums:
        """Sums over pairs of documents, from the sums of rows."""
        return PairSums(self)

    @property
    def geometry(self) -> ClusterEvidence:
        """Itself, so that a measure may ask any evidence for its geometry."""
        return self

    @property
    def n_documents(self) -> int:
        """The number of documents n."""
        return self.partition.n_documents

    @property
    def n_clusters(self) -> int:
        """The number of clusters k."""
        return self.partition.n_clusters

    @property
    def sizes(self) -> Integers:
        """The number of documents of each cluster, int64 array of shape (k,)."""
        return self.partition.sizes

    @property
    def labels(self) -> Integers:
        """The cluster of each document, int64 array of shape (n,)."""
        return self.partition.labels

    @property
    def tau(self) -> float:
        """The share of the squared norms below which a squared distance is zero."""
        return self.rows.tau

    @property
    def n_inner_pairs(self) -> int:
        """The number of pairs of documents in one cluster."""
        return sum(int(size) * (int(size) - 1) // 2 for size in self.sizes)

    @property
    def n_pairs(self) -> int:
        """The number of pairs of documents M = n (n - 1) / 2."""
        return self.n_documents * (self.n_documents - 1) // 2

    @property
    def n_outer_pairs(self) -> int:
        """The number of pairs of documents in two clusters."""
        return self.n_pairs - self.n_inner_pairs

    @cached_property
    def zero_rows(self) -> Integers:
        """The number of documents without any term in each cluster, int64 array of shape (k,)."""
        return np.bincount(self.labels[self.rows.squared_norms == 0], minlength=self.n_clusters).astype(np.int64)

    @cached_property
    def norm_totals(self) -> Floats:
        """The sum of squared norms of the rows of each cluster, array of shape (k,)."""
        return self.total_of(self.rows.squared_norms)

    def total_of(self, values: Floats) -> Floats:
        """Return the sum over each cluster of one value per document, array of shape (k,)."""
        return np.bincount(self.labels, weights=values, minlength=self.n_clusters).astype(np.float64)

    @cached_property
    def cluster_sums(self) -> ClusterSums:
        """Sums of rows by cluster."""
        return cluster_sums(self.rows, self.partition, n_threads=self.n_threads)

    @cached_property
    def support(self) -> CsrArray:
        """How many documents of each cluster have each term, float64 csr array of shape (k, n_terms)."""
        return count_presence(self.rows.matrix, self.labels, self.n_clusters)

    def documents_together(self, lists: Sequence[Integers]) -> list[Integers]:
        """Return for each list of terms in how many documents each two of them occur together, arrays (T, T)."""
        return documents_together(self.rows.matrix, lists, n_threads=self.n_threads)

    def count_close(self, chosen: Sequence[Integers], least: float) -> list[Integers]:
        """Return for some documents of each cluster how many of the cluster have at least this cosine to each."""
        rows = self.documents.unit
        return count_close(rows, self.labels, [rows[members] for members in chosen], least)

    @cached_property
    def squares(self) -> Any:
        """The sums of the squared weights of each cluster, in the form of `sums`; a reading of its own."""
        return cluster_sums(self.rows, self.partition, squared=True, n_threads=self.n_threads).sums

    @property
    def sums(self) -> Any:
        """The sum s_i of the rows of each cluster, float64 array (csr if the matrix is) of shape (k, n_terms)."""
        return self.cluster_sums.sums

    @cached_property
    def sum_norms(self) -> Floats:
        """The length of each sum, array of shape (k,)."""
        return np.sqrt(self.cluster_sums.squared_norms)

    @cached_property
    def similarities(self) -> SimilarityPass:
        """The similarities of each document to clusters (and, for k <= 1000, those of each pair of clusters)."""
        return self._read(with_tables=self.n_clusters <= TABLES_UP_TO)

    @cached_property
    def _tables(self) -> SimilarityPass:
        have = self.similarities.adherence is not None
        return self.similarities if have else self._read(with_tables=True)

    def _read(self, *, with_tables: bool) -> SimilarityPass:
        """Read the matrix once and return what it says; O(nnz k) time, O(block k + n) memory besides the tables."""
        groups = groups_by_cluster(self.partition, at_once=with_tables or not self.rows.is_sparse)
        norms = known_of_clusters(self.rows.squared_norms, self.partition, self.cluster_sums)
        readings = self._readings(groups, norms, with_tables=with_tables)
        return gather_readings(groups, readings, self.partition, with_tables=with_tables, progress=self.progress)

    def _readings(self, groups: list[Integers], norms: ClusterNorms, *, with_tables: bool) -> Iterator[Readings]:
        """Yield what each group of rows says."""
        rows, sums = self.rows, self.cluster_sums

        def read(group: Integers) -> Readings:
            return read_group(group, rows, self.labels, sums, norms, metric=self.metric, with_tables=with_tables)

        return map_blocks(read, groups, n_threads=self.n_threads)

    @property
    def adherence(self) -> Floats:
        """The largest cosine of a document of cluster p to centroid q, array of shape (k, k)."""
        return np.asarray(self._tables.adherence)

    @property
    def distance_sums(self) -> Floats:
        """The summed Euclidean distances of the documents of cluster i to mean j, array of shape (k, k)."""
        return np.asarray(self._tables.distance_sums)


@dataclass(frozen=True, eq=False)
class ClusterCentres:
    """The centres of clusters, and how far clusters scatter about them; all of it follows from the sums of rows."""

    evidence: ClusterEvidence

    @cached_property
    def term_squares(self) -> Floats:
        """The sum over documents of the squared weight of each term, array of shape (n_terms,)."""
        return np.asarray(self.evidence.squares.sum(axis=0), dtype=np.float64).ravel()

    @cached_property
    def variance_norms(self) -> Floats:
        """The length of the vector of population variances of the terms in each cluster, array of shape (k,)."""
        mean_squares = self._over_sizes(self.evidence.squares)
        variances = mean_squares - self.means * self.means
        is_more_than_rounding = variances > self.evidence.tau * mean_squares
        return np.sqrt(squared_row_norms(variances * is_more_than_rounding))

    @property
    def means(self) -> Any:
        """The mean mu_i of each cluster, float64 array (csr if the matrix is) of shape (k, n_terms)."""
        return self._over_sizes(self.evidence.sums)

    def _over_sizes(self, sums: CsrArray) -> Matrix:
        if not self.evidence.rows.is_sparse:
            return sums / self.evidence.sizes[:, None]
        values = sums.data / np.repeat(self.evidence.sizes, np.diff(sums.indptr))
        return sparse.csr_array((values, sums.indices, sums.indptr), shape=sums.shape)

    @property
    def mean_norms(self) -> Floats:
        """The squared length of each mean mu_i, array of shape (k,)."""
        return np.asarray(self.evidence.cluster_sums.squared_norms / self.evidence.sizes.astype(np.float64) ** 2)

    @cached_property
    def mean_distances(self) -> Floats:
        """The Euclidean distances of the means of the clusters, array of shape (k, k) with zero diagonal."""
        sizes = self.evidence.sizes.astype(np.float64)
        norms = self.mean_norms[:, None] + self.mean_norms[None, :]
        squared = norms - 2 * self.evidence.cluster_sums.gram / np.outer(sizes, sizes)
        squared[squared <= self.evidence.tau * norms] = 0.0
        np.fill_diagonal(squared, 0.0)
        return np.asarray(np.sqrt(squared))

    @cached_property
    def centroid_similarity(self) -> Floats:
        """The cosines of the centroids c_p.c_q, array of shape (k, k); nan for a cluster without any term."""
        norms = np.where(self.evidence.sum_norms > 0, self.evidence.sum_norms, np.nan)
        return np.asarray(np.clip(self.evidence.cluster_sums.gram / np.outer(norms, norms), -1.0, 1.0))

    @cached_property
    def distances(self) -> Floats:
        """The distances of the centres in this metric, array (k, k): Euclidean of the means, or 1 minus the cosine."""
        if self.evidence.metric == "euclidean":
            return self.mean_distances
        if self.evidence.metric == "sqeuclidean":
            return np.square(self.mean_distances)
        distances = 1.0 - np.nan_to_num(self.centroid_similarity, nan=0.0)
        distances[distances <= self.evidence.tau] = 0.0
        np.fill_diagonal(distances, 0.0)
        return np.asarray(distances)

    @cached_property
    def distance_sums(self) -> Floats:
        """The distances of the documents of cluster i to centre j in this metric, summed; array of shape (k, k)."""
        if self.evidence.metric == "euclidean":
            return self.evidence.distance_sums
        sizes = self.evidence.sizes.astype(np.float64)
        if self.evidence.metric == "sqeuclidean":
            return np.asarray(self.rss_clusters[:, None] + sizes[:, None] * np.square(self.mean_distances))
        norms = np.where(self.evidence.sum_norms > 0, self.evidence.sum_norms, np.inf)
        distances = sizes[:, None] - self.evidence.cluster_sums.gram / norms
        distances[distances <= self.evidence.tau * sizes[:, None]] = 0.0
        return np.asarray(distances)

    @cached_property
    def rss_clusters(self) -> Floats:
        """The sum of squared distances to the mean in each cluster, array of shape (k,); IIR Eq. 16.7."""
        sizes, totals = self.evidence.sizes, self.evidence.norm_totals
        rss = totals - self.evidence.cluster_sums.squared_norms / sizes
        # what is left of sums that cancel is rounding, not scatter
        return np.where((rss <= self.evidence.tau * totals) | (sizes == 1), 0.0, rss)

    @cached_property
    def rss(self) -> float:
        """The sum of squared distances of documents to the mean of their cluster, tr S_W."""
        return float(self.rss_clusters.sum())

    @cached_property
    def bgss(self) -> float:
        """The scatter between clusters, tr S_B: sum n_i |mu_i - mu|^2."""
        if self.evidence.n_clusters == 1:
            return 0.0
        sums = self.evidence.cluster_sums
        of_clusters = float((sums.squared_norms / self.evidence.sizes).sum())
        between = of_clusters - sums.total_squared / self.evidence.n_documents
        return between if between > self.evidence.tau * float(self.evidence.norm_totals.sum()) else 0.0

    @cached_property
    def principal_dimension(self) -> int:
        """The term with the largest sum over all documents; ties to the lowest index. Sharma & Sharma, Def. 4."""
        total = self.evidence.cluster_sums.total
        largest = float(total.max())
        slack = self.evidence.rows.slack
        slack = slack * max(1.0, abs(largest)) if slack > 1e-12 else 1e-12  # sums this near are equal but for rounding
        return int(np.flatnonzero(total >= largest - slack)[0])

    @cached_property
    def principal_lengths(self) -> Floats:
        """The range, zeros included, of the principal dimension in each cluster, array of shape (k,)."""
        rows, column = self.evidence.rows, self.principal_dimension
        entries = rows.matrix[:, [column]]
        values = np.asarray(entries.toarray() if rows.is_sparse else entries).ravel() * rows.scale
        order, starts = cluster_order(self.evidence.partition)
        ordered = values[order]
        return np.maximum.reduceat(ordered, starts[:-1]) - np.minimum.reduceat(ordered, starts[:-1])


@dataclass(frozen=True, eq=False)
class PairSums:
    """Distances of pairs of documents, summed by cluster: they follow from the sums of rows.

    Not so under Euclidean distance, where each raises InputError.
    """

    evidence: ClusterEvidence

    @cached_property
    def block_weights(self) -> Floats:
        """The distances of all ordered pairs of documents summed by pair of clusters, W(C_i, C_j), array (k, k)."""
        self._need_linear_metric("block weights")
        evidence, gram = self.evidence, self.evidence.cluster_sums.gram
        sizes, totals = evidence.sizes.astype(np.float64), evidence.norm_totals
        if evidence.metric == "cosine":
            scale = np.outer(sizes, sizes)
            weights = scale - gram
            weights[np.diag_indices(evidence.n_clusters)] -= evidence.zero_rows  # at distance 0 from themselves
        else:
            scale = np.outer(sizes, totals) + np.outer(totals, sizes)
            weights = scale - 2 * gram
        weights[(weights <= evidence.tau * scale)] = 0.0
        weights[sizes == 1, sizes == 1] = 0.0
        return weights

    @cached_property
    def cluster_weights(self) -> tuple[Floats, Floats]:
        """W(C_i, C_i) and W(C_i, V), two arrays of shape (k,): the block weights without a k x k table."""
        self._need_linear_metric("block weights")
        evidence, n = self.evidence, self.evidence.n_documents
        sizes, totals = evidence.sizes.astype(np.float64), evidence.norm_totals
        inner, outer = evidence.cluster_sums.squared_norms, evidence.cluster_sums.products_with_total
        if evidence.metric == "cosine":
            bounds = sizes**2, sizes * n
            inside, to_all = bounds[0] - inner - evidence.zero_rows, bounds[1] - outer - evidence.zero_rows
        else:
            bounds = 2 * sizes * totals, sizes * float(totals.sum()) + n * totals
            inside, to_all = bounds[0] - 2 * inner, bounds[1] - 2 * outer
        inside = np.where((inside <= evidence.tau * bounds[0]) | (sizes == 1), 0.0, inside)
        return inside, np.where(to_all <= evidence.tau * bounds[1], 0.0, to_all)

    @property
    def silhouette_parts(self) -> tuple[Floats, Floats]:
        """The mean distance to the own and to the nearest other cluster, two arrays of shape (n,); Eq. 17.26."""
        self._need_linear_metric("silhouette")
        return self.evidence.similarities.cohesion, self.evidence.similarities.separation

    def _need_linear_metric(self, what: str) -> None:
        if self.evidence.metric == "euclidean":
            raise InputError(
                f"{what} in Euclidean distance cannot be computed from sums", remedy="use PairwiseDistances"
            )


MIN_SQUARE = 1e-12  # of a sum whose rows cancel
NAMES = ("i1", "i2", "e1", "g1", "h1", "h2")
SMALLEST_IS_BEST = ("e1", "g1")


def criterion_value(criterion: str, evidence: ClusterEvidence) -> float:
    """Return a criterion of a partition, as it is defined: E1 and G1 are best where they are smallest.

    With n_r the size of cluster r, D_r the sum of its rows and D the sum of all; rows are unit, and a row without
    values counts in no cluster:

        I1 = sum |D_r|^2 / n_r            (largest)   mean cosine of all pairs of a cluster, times its size
        I2 = sum |D_r|                    (largest)   the objective of spherical k-means
        E1 = sum n_r D_r.D / |D_r|        (smallest)  cosine of the clusters with the whole collection
        G1 = sum D_r.(D - D_r) / |D_r|^2  (smallest)  what a cluster shares with the others over what it holds together
        H1 = I1 / E1, H2 = I2 / E1        (largest)

    Source: Zhao & Karypis 2004, "Empirical and theoretical comparisons of selected criterion functions for document
    clustering", Machine Learning 55, doi:10.1023/B:MACH.0000027785.44527.d6.

    A cluster without direction adds as little to E1 as one that nearly cancels.

    `criterion`: the objective of spherical k-means is I2. `evidence`: under the cosine.

    >>> from doccluster.geometry.partition import Partition
    >>> rows = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])
    >>> evidence = ClusterEvidence(rows, Partition.from_labels([0, 0, 1]))
    >>> round(criterion_value("i2", evidence), 4), round(criterion_value("i1", evidence), 4)
    (2.7889, 2.6)
    """
    name = check_choice(criterion, NAMES, "criterion")
    if name in ("h1", "h2"):
        return criterion_value(f"i{name[1]}", evidence) / max(criterion_value("e1", evidence), MIN_SQUARE)
    filled = evidence.sizes.astype(np.float64) - evidence.zero_rows
    squares, products = evidence.cluster_sums.squared_norms, evidence.cluster_sums.products_with_total
    if name == "i1":
        return float((squares / np.maximum(filled, 1.0)).sum())
    if name == "i2":
        return float(np.sqrt(squares).sum())
    bounded = np.maximum(squares, MIN_SQUARE)
    if name == "e1":
        return float((np.maximum(filled, 1.0) * products / np.sqrt(bounded)).sum())
    return float(((products - bounded) / bounded)[filled > 0].sum())
