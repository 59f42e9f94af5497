"""ClusterEvidence: what sums and one reading of the matrix say of a partition, in O(nnz k), each made when asked for.

Two kinds of centre exist and are never mixed: the mean mu_i of a cluster (everything Euclidean) and its centroid c_i,
the unit vector along the sum (Sharma & Sharma's measures and the objective of spherical k-means).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.progress import Progress, silent
from doccluster.base.validation import squared_row_norms
from doccluster.errors import InputError
from doccluster.geometry.cooccurrence import count_close, documents_together
from doccluster.geometry.documents import as_documents
from doccluster.geometry.partition import Partition
from doccluster.geometry.products import SimilarityPass, read_similarities
from doccluster.geometry.sums import ClusterSums, cluster_order, cluster_sums, count_presence

FloatArray = npt.NDArray[np.float64]

# Up to this many clusters the k x k tables of the reading (two, 8 bytes a cell) come with the first reading;
# beyond it they are made in a reading of their own, when a measure asks for them.
TABLES_UP_TO = 2048


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
        documents: Any,
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

    # --- sizes and lengths ---------------------------------------------------------------------------------------

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
    def sizes(self) -> npt.NDArray[np.int64]:
        """The number of documents of each cluster, int64 array of shape (k,)."""
        return self.partition.sizes

    @property
    def labels(self) -> npt.NDArray[np.int64]:
        """The cluster of each document, int64 array of shape (n,)."""
        return self.partition.labels

    @property
    def tau(self) -> float:
        """The share of the squared norms below which a squared distance is zero."""
        return self.rows.tau

    @property
    def n_zero_rows(self) -> int:
        """The number of documents without any term."""
        return int(np.count_nonzero(self.rows.squared_norms == 0))

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
    def zero_rows(self) -> npt.NDArray[np.int64]:
        """The number of documents without any term in each cluster, int64 array of shape (k,)."""
        return np.bincount(self.labels[self.rows.squared_norms == 0], minlength=self.n_clusters).astype(np.int64)

    @cached_property
    def norm_totals(self) -> FloatArray:
        """The sum of squared norms of the rows of each cluster, array of shape (k,)."""
        return self.total_of(self.rows.squared_norms)

    def total_of(self, values: FloatArray) -> FloatArray:
        """Return the sum over each cluster of one value per document, array of shape (k,)."""
        return np.bincount(self.labels, weights=values, minlength=self.n_clusters).astype(np.float64)

    # --- first reading: sums --------------------------------------------------------------------------------------

    @cached_property
    def cluster_sums(self) -> ClusterSums:
        """Sums of rows by cluster."""
        return cluster_sums(self.rows, self.partition, n_threads=self.n_threads)

    @cached_property
    def support(self) -> Any:
        """How many documents of each cluster have each term, float64 csr array of shape (k, n_terms)."""
        return count_presence(self.rows.matrix, self.labels, self.n_clusters)

    def documents_together(self, lists: Sequence[npt.NDArray[np.int64]]) -> list[npt.NDArray[np.int64]]:
        """Return for each list of terms in how many documents each two of them occur together, arrays (T, T)."""
        return documents_together(self.rows.matrix, lists, n_threads=self.n_threads)

    def count_close(self, chosen: Sequence[npt.NDArray[np.int64]], least: float) -> list[npt.NDArray[np.int64]]:
        """Return for some documents of each cluster how many of the cluster have at least this cosine to each."""
        rows = self.documents.unit
        return count_close(rows, self.labels, [rows[members] for members in chosen], least)

    @cached_property
    def squares(self) -> Any:
        """The sums of the squared weights of each cluster, in the form of `sums`; a reading of its own."""
        return cluster_sums(self.rows, self.partition, squared=True, n_threads=self.n_threads).sums

    @cached_property
    def term_squares(self) -> FloatArray:
        """The sum over documents of the squared weight of each term, array of shape (n_terms,)."""
        return np.asarray(self.squares.sum(axis=0), dtype=np.float64).ravel()

    @cached_property
    def variance_norms(self) -> FloatArray:
        """The length of the vector of population variances of the terms in each cluster, array of shape (k,)."""
        mean_squares = self._over_sizes(self.squares)
        variances = mean_squares - self.means * self.means
        return np.sqrt(squared_row_norms(variances * (variances > self.tau * mean_squares)))  # the others are rounding

    @property
    def sums(self) -> Any:
        """The sum s_i of the rows of each cluster, float64 array (csr if the matrix is) of shape (k, n_terms)."""
        return self.cluster_sums.sums

    @property
    def means(self) -> Any:
        """The mean mu_i of each cluster, float64 array (csr if the matrix is) of shape (k, n_terms)."""
        return self._over_sizes(self.sums)

    def _over_sizes(self, sums: Any) -> Any:
        if not self.rows.is_sparse:
            return sums / self.sizes[:, None]
        values = sums.data / np.repeat(self.sizes, np.diff(sums.indptr))
        return sparse.csr_array((values, sums.indices, sums.indptr), shape=sums.shape)

    @cached_property
    def sum_norms(self) -> FloatArray:
        """The length of each sum, array of shape (k,)."""
        return np.sqrt(self.cluster_sums.squared_norms)

    @property
    def sum_gram(self) -> FloatArray:
        """The products s_i.s_j, array of shape (k, k)."""
        return self.cluster_sums.gram

    @cached_property
    def products_with_total(self) -> FloatArray:
        """The products of each sum with the sum of all rows, array of shape (k,)."""
        return np.asarray(self.sums @ self.cluster_sums.total).ravel()

    @cached_property
    def grand_norm(self) -> float:
        """The squared length of the sum of all rows."""
        return self.cluster_sums.total_squared

    @property
    def mean_norms(self) -> FloatArray:
        """The squared length of each mean mu_i, array of shape (k,)."""
        return np.asarray(self.cluster_sums.squared_norms / self.sizes.astype(np.float64) ** 2)

    @cached_property
    def mean_distances(self) -> FloatArray:
        """The Euclidean distances of the means of the clusters, array of shape (k, k) with zero diagonal."""
        sizes = self.sizes.astype(np.float64)
        norms = self.mean_norms[:, None] + self.mean_norms[None, :]
        squared = norms - 2 * self.sum_gram / np.outer(sizes, sizes)
        squared[squared <= self.tau * norms] = 0.0
        np.fill_diagonal(squared, 0.0)
        return np.asarray(np.sqrt(squared))

    @cached_property
    def centroid_similarity(self) -> FloatArray:
        """The cosines of the centroids c_p.c_q, array of shape (k, k); nan for a cluster without any term."""
        norms = np.where(self.sum_norms > 0, self.sum_norms, np.nan)
        return np.asarray(np.clip(self.sum_gram / np.outer(norms, norms), -1.0, 1.0))

    @cached_property
    def centre_distances(self) -> FloatArray:
        """The distances of the centres in this metric, array (k, k): Euclidean of the means, or 1 minus the cosine."""
        if self.metric == "euclidean":
            return self.mean_distances
        if self.metric == "sqeuclidean":
            return np.square(self.mean_distances)
        distances = 1.0 - np.nan_to_num(self.centroid_similarity, nan=0.0)
        distances[distances <= self.tau] = 0.0
        np.fill_diagonal(distances, 0.0)
        return np.asarray(distances)

    @cached_property
    def rss_clusters(self) -> FloatArray:
        """The sum of squared distances to the mean in each cluster, array of shape (k,); IIR Eq. 16.7."""
        rss = self.norm_totals - self.cluster_sums.squared_norms / self.sizes
        return np.where((rss <= self.tau * self.norm_totals) | (self.sizes == 1), 0.0, rss)

    @cached_property
    def rss(self) -> float:
        """The sum of squared distances of documents to the mean of their cluster, tr S_W."""
        return float(self.rss_clusters.sum())

    @cached_property
    def bgss(self) -> float:
        """The scatter between clusters, tr S_B: sum n_i |mu_i - mu|^2."""
        if self.n_clusters == 1:
            return 0.0
        between = float((self.cluster_sums.squared_norms / self.sizes).sum()) - self.grand_norm / self.n_documents
        return between if between > self.tau * float(self.norm_totals.sum()) else 0.0

    @cached_property
    def principal_dimension(self) -> int:
        """The term with the largest sum over all documents; ties to the lowest index. Sharma & Sharma, Def. 4."""
        total = self.cluster_sums.total
        largest = float(total.max())
        slack = self.rows.slack * max(1.0, abs(largest)) if self.rows.slack > 1e-12 else 1e-12
        return int(np.flatnonzero(total >= largest - slack)[0])

    @cached_property
    def principal_lengths(self) -> FloatArray:
        """The range, zeros included, of the principal dimension in each cluster, array of shape (k,)."""
        rows, column = self.rows, self.principal_dimension
        entries = rows.matrix[:, [column]]
        values = np.asarray(entries.toarray() if rows.is_sparse else entries).ravel() * rows.scale
        order, starts = cluster_order(self.partition)
        ordered = values[order]
        return np.maximum.reduceat(ordered, starts[:-1]) - np.minimum.reduceat(ordered, starts[:-1])

    # --- second reading: every document against every cluster ------------------------------------------------------

    @cached_property
    def similarities(self) -> SimilarityPass:
        """What one reading says of each document (and, for k <= 2048, of each pair of clusters)."""
        return self._read(with_tables=self.n_clusters <= TABLES_UP_TO)

    @cached_property
    def _tables(self) -> SimilarityPass:
        have = self.similarities.adherence is not None
        return self.similarities if have else self._read(with_tables=True)

    def _read(self, *, with_tables: bool) -> SimilarityPass:
        return read_similarities(
            self.rows,
            self.partition,
            self.cluster_sums,
            metric=self.metric,
            with_tables=with_tables,
            n_threads=self.n_threads,
            progress=self.progress,
        )

    @property
    def adherence(self) -> FloatArray:
        """The largest cosine of a document of cluster p to centroid q, array of shape (k, k)."""
        return np.asarray(self._tables.adherence)

    @property
    def distance_sums(self) -> FloatArray:
        """The summed Euclidean distances of the documents of cluster i to mean j, array of shape (k, k)."""
        return np.asarray(self._tables.distance_sums)

    @cached_property
    def centre_distance_sums(self) -> FloatArray:
        """The distances of the documents of cluster i to centre j in this metric, summed; array of shape (k, k)."""
        if self.metric == "euclidean":
            return self.distance_sums
        sizes = self.sizes.astype(np.float64)
        if self.metric == "sqeuclidean":
            return np.asarray(self.rss_clusters[:, None] + sizes[:, None] * np.square(self.mean_distances))
        norms = np.where(self.sum_norms > 0, self.sum_norms, np.inf)
        distances = sizes[:, None] - self.sum_gram / norms
        distances[distances <= self.tau * sizes[:, None]] = 0.0
        return np.asarray(distances)

    # --- pairs of documents, from sums (cosine and squared Euclidean) ----------------------------------------------

    @cached_property
    def block_weights(self) -> FloatArray:
        """The distances of all ordered pairs of documents summed by pair of clusters, W(C_i, C_j), array (k, k)."""
        sizes = self.sizes.astype(np.float64)
        self._need_linear_metric("block weights")
        if self.metric == "cosine":
            scale = np.outer(sizes, sizes)
            weights = scale - self.sum_gram
            weights[np.diag_indices(self.n_clusters)] -= self.zero_rows
        else:
            scale = np.outer(sizes, self.norm_totals) + np.outer(self.norm_totals, sizes)
            weights = scale - 2 * self.sum_gram
        weights[(weights <= self.tau * scale)] = 0.0
        weights[sizes == 1, sizes == 1] = 0.0
        return weights

    @cached_property
    def cluster_weights(self) -> tuple[FloatArray, FloatArray]:
        """W(C_i, C_i) and W(C_i, V), two arrays of shape (k,): the block weights without a k x k table."""
        self._need_linear_metric("block weights")
        sizes = self.sizes.astype(np.float64)
        inner = self.cluster_sums.squared_norms
        outer = self.products_with_total
        if self.metric == "cosine":
            inside, to_all = sizes**2 - inner - self.zero_rows, sizes * self.n_documents - outer - self.zero_rows
            bounds = sizes**2, sizes * self.n_documents
        else:
            total = float(self.norm_totals.sum())
            bounds = 2 * sizes * self.norm_totals, sizes * total + self.n_documents * self.norm_totals
            inside, to_all = bounds[0] - 2 * inner, bounds[1] - 2 * outer
        inside = np.where((inside <= self.tau * bounds[0]) | (sizes == 1), 0.0, inside)
        return inside, np.where(to_all <= self.tau * bounds[1], 0.0, to_all)

    @property
    def silhouette_parts(self) -> tuple[FloatArray, FloatArray]:
        """The mean distance to the own and to the nearest other cluster, two arrays of shape (n,); Eq. 17.26."""
        self._need_linear_metric("silhouette")
        return self.similarities.cohesion, self.similarities.separation

    def _need_linear_metric(self, what: str) -> None:
        if self.metric == "euclidean":
            raise InputError(
                f"{what} in Euclidean distance cannot be computed from sums", remedy="use PairwiseDistances"
            )
