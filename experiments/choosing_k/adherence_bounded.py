"""Adherence as an objective: as many clusters as a bound on their overlap allows.

Sharma & Sharma remark that adherence can serve as an objective when bounds on it are given; how to reach it is left
open, and this search is ours. It is a heuristic: it finds a partition within the bounds, not provably the largest.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from doccluster.clustering import assign_to_centroids
from doccluster.clustering.centroid_estimator import check_columns
from doccluster.clustering.k_means.spherical import SphericalFit, SphericalParameters, spherical_k_means
from doccluster.errors import Argument, DocclusterWarning, InputError
from doccluster.geometry import ClusterEvidence, Documents, as_documents
from doccluster.measures import get_measure
from doccluster.partition import Partition
from doccluster.validation import RandomState, as_generator, check_matrix, check_positive_int, row_norms, unit_rows


@dataclass(frozen=True, eq=False)
class Step:
    """One partition that the search looked at.

    Attributes
    ----------
    n_clusters : int
    max_adherence, min_adherence : float
        Over pairs of clusters; nan for one cluster.
    smallest : int
        The size of the smallest cluster.
    objective : float
        The sum of cosines to the own centroid.
    is_feasible : bool
        Whether it keeps all bounds.
    """

    n_clusters: int
    max_adherence: float
    min_adherence: float
    smallest: int
    objective: float
    is_feasible: bool


class AdherenceBoundedKMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):
    """The largest number of clusters found whose largest adherence stays under a bound.

    Adherence of cluster p to cluster q is the largest cosine of a document of p with the centroid of q (Sharma &
    Sharma, Eq. 2). The search first splits, again and again, the cluster with the smallest share of coherent documents
    and lets spherical k-means converge from there, up to `max_clusters`; then it merges, again and again, the two
    clusters with the largest adherence, and converges. Of all partitions met that keep the bounds, it returns the one
    with the most clusters (the highest objective on ties). One cluster has no pair and always keeps them.

    Parameters
    ----------
    max_adherence : float, default 0.5
        The upper bound on the adherence of every ordered pair of clusters.
    min_adherence : float, optional
        A lower bound on the same, to keep clusters from drifting apart into outliers.
    min_size : int, default 2
        The least number of documents of a cluster.
    max_clusters : int, default 50
        Where splitting ends.
    n_init : int, default 5
        Starts of every split into two.
    random_state : int, numpy Generator or RandomState, optional
    n_threads : int, optional

    Attributes
    ----------
    labels_ : int32 array of shape (n_documents,)
    n_clusters_ : int
    centroids_ : csr array of shape (n_clusters_, n_terms), unit rows
    adherence_ : float64 array of shape (n_clusters_, n_clusters_)
        The adherence reached; the diagonal is the best own cosine.
    max_adherence_, min_adherence_ : float
        Its extremes off the diagonal; nan for one cluster.
    objective_ : float
        The sum of cosines to the own centroid.
    path_ : tuple of Step
        Every partition the search looked at.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.repeat(np.eye(3), 4, axis=0) + 0.05
    >>> AdherenceBoundedKMeans(random_state=0).fit(rows / np.linalg.norm(rows, axis=1, keepdims=True)).n_clusters_
    3
    """

    def __init__(
        self,
        max_adherence: float = 0.5,
        *,
        min_adherence: float | None = None,
        min_size: int = 2,
        max_clusters: int = 50,
        n_init: int = 5,
        random_state: RandomState = None,
        n_threads: int | None = None,
    ) -> None:
        self.max_adherence = max_adherence
        self.min_adherence = min_adherence
        self.min_size = min_size
        self.max_clusters = max_clusters
        self.n_init = n_init
        self.random_state = random_state
        self.n_threads = n_threads

    def fit(self, X: Any, y: Any = None) -> Self:
        """Search for the partition with the most clusters within the bounds.

        Raises
        ------
        InputError
            If a bound or the matrix cannot be used.
        """
        given, matrix = X, check_matrix(X)
        validate_data(self, given, skip_check_array=True)
        self._check_parameters()
        matrix = unit_rows(matrix)
        search = _Search(matrix, self, as_generator(self.random_state))
        search.split_upwards()
        search.merge_downwards()
        self._store(matrix, search)
        return self

    def _check_parameters(self) -> None:
        for name in ("min_size", "max_clusters", "n_init"):
            check_positive_int(getattr(self, name), name)
        if not 0 < self.max_adherence <= 1:
            raise InputError(
                argument="max_adherence", received=self.max_adherence, expected="a cosine above 0 and at most 1"
            )
        if self.min_adherence is not None and not -1 <= self.min_adherence < self.max_adherence:
            raise InputError(
                ("is not between -1 and ", Argument("max_adherence", self.max_adherence)),
                argument="min_adherence",
                received=self.min_adherence,
            )

    def _store(self, matrix: Any, search: _Search) -> None:
        evidence = search.evidence(search.best)
        self.labels_ = search.best.labels.astype(np.int32)
        self.n_clusters_ = search.best.n_clusters
        self.centroids_ = search.centroids(search.best)
        self.adherence_ = evidence.adherence
        off = self.adherence_[~np.eye(self.n_clusters_, dtype=bool)]
        self.max_adherence_ = float(np.max(off)) if off.size else float("nan")
        self.min_adherence_ = float(np.min(off)) if off.size else float("nan")
        self.objective_ = float(evidence.sum_norms.sum())
        self.path_ = tuple(search.path)
        self._n_features_out = self.n_clusters_

    def predict(self, X: Any) -> npt.NDArray[np.int32]:
        """Return the nearest cluster of each row, lowest index on ties."""
        return assign_to_centroids(self._checked(X), self.centroids_, n_threads=self.n_threads).labels.astype(np.int32)

    def transform(self, X: Any) -> npt.NDArray[np.float64]:
        """Return 1 - cosine to each centroid, float64 array of shape (n_documents, n_clusters_)."""
        products = self._checked(X).astype(np.float64, copy=False) @ self.centroids_.T.astype(np.float64)
        return 1.0 - np.asarray(products.toarray() if sparse.issparse(products) else products)

    def fit_predict(self, X: Any, y: Any = None) -> npt.NDArray[np.int32]:
        """Return the labels of `fit`."""
        return self.fit(X).labels_

    def _checked(self, X: Any) -> Any:
        check_is_fitted(self)
        matrix = check_matrix(X)
        check_columns(self, X)
        return unit_rows(matrix)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = []
        return tags


class _Search:
    """The partitions met so far, the best of them, and the two moves between them."""

    def __init__(self, matrix: Any, bounds: AdherenceBoundedKMeans, rng: np.random.Generator) -> None:
        self.matrix, self.bounds, self.rng = matrix, bounds, rng
        self._documents = as_documents(matrix)
        self._known: ClusterEvidence | None = None
        self.current = Partition.from_labels(np.zeros(matrix.shape[0], dtype=np.int64))
        self.best, self.best_key = self.current, (0, 0.0)
        self.path: list[Step] = []
        self._look(self.current)

    def evidence(self, partition: Partition) -> ClusterEvidence:
        """Return the values of a partition; that of the partition asked for last is kept."""
        if self._known is None or self._known.partition is not partition:
            self._known = ClusterEvidence(self._documents, partition, n_threads=self.bounds.n_threads)
        return self._known

    def centroids(self, partition: Partition) -> sparse.csr_array:
        return unit_rows(sparse.csr_array(self.evidence(partition).sums), warn=False)

    def split_upwards(self) -> None:
        """Split the least coherent cluster and converge, until `max_clusters` or until nothing can be split."""
        limit = min(self.bounds.max_clusters, self.matrix.shape[0] // self.bounds.min_size)
        while self.current.n_clusters < limit:
            grown = self._split()
            if grown is None:
                return
            self._look(grown)

    def merge_downwards(self) -> None:
        """Merge the two clusters with the largest adherence and converge, down to the best number found so far."""
        while self.current.n_clusters - 1 > self.best.n_clusters:
            table = self.evidence(self.current).adherence.copy()
            np.fill_diagonal(table, -np.inf)
            table = np.where(np.isnan(table), -np.inf, table)
            first, second = np.unravel_index(int(np.argmax(table)), table.shape)
            labels = np.where(self.current.labels == second, first, self.current.labels)
            self._look(self._converge(self.centroids(Partition.from_labels(labels))))

    def _split(self) -> Partition | None:
        shares = get_measure("coherence").compute(self.evidence(self.current)).per_cluster
        assert shares is not None  # coherence has one value per cluster
        for cluster in np.lexsort((-self.current.sizes, shares)):
            rows = self.current.members(int(cluster))
            if rows.size < 2 * self.bounds.min_size:
                continue
            halves = self._halve(self.matrix[rows])
            if halves is None:
                continue
            kept = np.delete(np.arange(self.current.n_clusters), cluster)
            grown = self._converge(sparse.csr_array(sparse.vstack([self.centroids(self.current)[kept], halves])))
            if grown.n_clusters > self.current.n_clusters:
                return grown
        return None

    def _halve(self, rows: Any) -> sparse.csr_array | None:
        filled = int((row_norms(rows) > 0).sum())
        together = float(np.linalg.norm(np.asarray(rows.sum(axis=0), dtype=np.float64)))
        if filled < 2 or together >= filled * (1 - 1e-6):
            return None  # copies of one document, or nothing but empty ones, cannot be split
        seed = int(self.rng.integers(2**31))
        return self._fit(
            Documents(rows), SphericalParameters(2, n_init=self.bounds.n_init, random_state=seed)
        ).centroids

    def _converge(self, centroids: sparse.csr_array) -> Partition:
        begun = SphericalParameters(centroids.shape[0], init=centroids, n_init=1, random_state=0)
        return Partition.from_labels(self._fit(self._documents, begun).labels)

    def _fit(self, documents: Documents, parameters: SphericalParameters) -> SphericalFit:
        found = spherical_k_means(documents, replace(parameters, n_threads=self.bounds.n_threads))
        for note in found.notes:
            warnings.warn(note, DocclusterWarning, stacklevel=2)
        return found

    def _look(self, partition: Partition) -> None:
        evidence = self.evidence(partition)
        off = evidence.adherence[~np.eye(partition.n_clusters, dtype=bool)]
        highest, lowest = (float(np.max(off)), float(np.min(off))) if off.size else (float("nan"), float("nan"))
        objective = float(evidence.sum_norms.sum())
        feasible = off.size == 0 or (
            highest <= self.bounds.max_adherence
            and (self.bounds.min_adherence is None or lowest >= self.bounds.min_adherence)
            and int(partition.sizes.min()) >= self.bounds.min_size
        )
        self.path.append(
            Step(partition.n_clusters, highest, lowest, int(partition.sizes.min()), objective, bool(feasible))
        )
        self.current = partition
        if feasible and (partition.n_clusters, objective) > self.best_key:
            self.best, self.best_key = partition, (partition.n_clusters, objective)
