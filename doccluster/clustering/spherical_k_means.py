"""The estimator: scikit-learn's manners over the plain functions of this folder."""

from __future__ import annotations

import sys
import warnings
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from doccluster.blocks import resolve_threads
from doccluster.clustering.assign import centroid_similarities, nearest_centroids
from doccluster.clustering.document_matrix import DocumentMatrix, document_frequencies, prepare
from doccluster.clustering.lloyd import Limits, Snapshot
from doccluster.clustering.memory import MemoryPlan, plan_memory, size_of
from doccluster.clustering.seeding import Init, affordable_seeding, check_init, default_trials
from doccluster.clustering.starts import BestStart, draw_starts
from doccluster.errors import DocclusterWarning, InputError, MemoryLimitError, NothingUsable
from doccluster.progress import Progress, silent
from doccluster.sizes import parse_size
from doccluster.validation import (
    RandomState,
    as_generator,
    check_matrix,
    check_n_clusters,
    check_positive_int,
)

DEFAULT_STARTS = 10  # restarts chosen by the objective are worth more than any seeding, and cheap
LARGEST_WEIGHT = 1e100  # the squares of sums of weights are taken in float64, where they would overflow or vanish


class SphericalKMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):
    """Spherical k-means: unit documents, unit centroids, the sum of cosines to the own centroid as large as it gets.

    The signature and attributes are those of scikit-learn's KMeans. Labels are exact: those of a naive Lloyd with
    float32 documents and means and float64 arithmetic, lowest index on ties, for any number of threads.

    Parameters
    ----------
    n_clusters : int, default 8
    init : {'k-means++', 'random', 'subsample'}, matrix of shape (n_clusters, n_terms), or callable
        Greedy k-means++ in cosine form, random documents, the centroids of a clustered sample of one document in ten,
        centroids (dense or sparse, made unit), or a function ``(X, n_clusters, random_state)`` that returns such.
    n_init : int or 'auto', default 10
        Number of starts; the one with the highest objective is kept. Given centroids are started from once.
    max_iter : int, default 300
    tol : float, default 1e-4
        A start ends when an iteration gains less than this share of the objective; 0 goes on until nothing moves.
    random_state : int, numpy Generator or RandomState, optional
    n_threads : int, optional
        All processors by default; the result does not depend on it.
    algorithm : {'auto', 'lloyd', 'pruned'}, default 'auto'
        Whether an assignment skips what cannot have changed: where a sample says it pays, never, or always. The labels
        are the same.
    refine : bool, default False
        After the batch steps of each start, move single documents and chains of documents while that raises the
        objective (Dhillon, Guan and Kogan 2002); slower, and better optima.
    max_memory : str or int, optional
        The most that the fit may hold beyond `X`, such as '2G'. Dense table, bounds, threads and the documents that
        seeds are drawn from are cut to fit; what cannot fit is refused before it begins (`plan_memory` tells).
    progress : callable ``(stage, done, total)``, optional
    verbose : int, default 0
        With 1 the memory plan is printed before the fit begins.

    Attributes
    ----------
    labels_ : int32 array of shape (n_documents,)
        A document without terms gets the lowest label: it is at cosine 0 from every centroid.
    centroids_ : float32 csr array of shape (n_clusters, n_terms), unit rows
    cluster_centers_ : dense array of the same shape, made on demand
    objective_ : float
        Sum of weights times cosine to the own centroid.
    inertia_ : float
        Sum of weights times (1 - cosine) over the documents that have terms.
    n_iter_ : int
        Iterations of the best start.
    interrupted_ : bool
        Whether Ctrl-C ended the fit; the attributes are then those of the best start so far.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Source: Dhillon and Modha, Concept Decompositions for Large Sparse Text Data Using Clustering, Machine Learning
    42:143-175, 2001, doi:10.1023/A:1007612920971.

    Examples
    --------
    >>> found = SphericalKMeans(2, random_state=0).fit([[1.0, 0.0], [0.6, 0.8], [0.0, -1.0]])
    >>> found.labels_[0] == found.labels_[1] != found.labels_[2]
    np.True_
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Init = "k-means++",
        n_init: int | str = DEFAULT_STARTS,
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: RandomState = None,
        n_threads: int | None = None,
        max_memory: str | int | None = None,
        algorithm: str = "auto",
        refine: bool = False,
        progress: Progress | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_threads = n_threads
        self.max_memory = max_memory
        self.algorithm = algorithm
        self.refine = refine
        self.progress = progress
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, sample_weight: npt.ArrayLike | None = None) -> Self:
        """Cluster the rows of `X`, csr or dense; rows that are not unit are normalised in a copy, with a warning.

        Raises
        ------
        InputError
            If a parameter or the matrix cannot be used.
        NothingUsable
            If no row has a non-zero value.
        KeyboardInterrupt
            On Ctrl-C; from the first iteration on the estimator is fitted with the best start so far.

        Warns
        -----
        DocclusterWarning
            If rows were normalised, or there are fewer distinct rows than clusters.
        """
        given, X = X, check_matrix(X)
        validate_data(self, given, skip_check_array=True)
        n_clusters, n_starts = check_n_clusters(self.n_clusters, X.shape[0]), self._check_parameters()
        plan = self._plan(X, n_clusters, n_starts)
        if self.verbose:
            sys.stderr.write(f"{plan}\n")
        documents, scaled = prepare(X, weights=_weights(sample_weight, X.shape[0]), n_threads=plan.n_threads)
        if not documents.is_usable.any():
            raise NothingUsable("X has no row with a non-zero value and a weight; there is nothing to cluster.")
        if scaled:
            _warn("X has rows that are not of unit length; a normalised copy is used (the cosine ignores length).")
        limits = Limits(
            self.max_iter,
            self.tol,
            table_bytes=plan.head_bytes,
            change_bytes=plan.change_bytes,
            most_groups=plan.n_groups,
            keep_sums=plan.keeps_sums,
            algorithm=self.algorithm,
            refine=self.refine,
        )
        generator = as_generator(self.random_state)
        progress = self.progress or silent
        best = BestStart(documents, limits)
        starts = draw_starts(
            documents,
            n_clusters,
            self.init,
            n_starts,
            generator,
            X,
            seed_documents=plan.seed_documents,
            progress=progress,
        )
        self.interrupted_ = False
        try:
            self._store(documents, best.run(starts, progress=progress))
        except KeyboardInterrupt:
            so_far = best.so_far()
            if so_far is not None:
                self._store(documents, so_far)
                self.interrupted_ = True
            raise
        if self.centroids_.shape[0] < n_clusters:
            _warn(
                f"n_clusters={n_clusters} is above the number of distinct rows; "
                f"{self.centroids_.shape[0]} clusters are returned."
            )
        return self

    def plan_memory(self, X: Any) -> MemoryPlan:
        """Return what `fit` will hold in memory beyond `X`, and how it keeps within `max_memory`.

        Raises
        ------
        MemoryLimitError
            If the smallest plan does not fit; the message names the smallest `max_memory` that would do.
        """
        X = check_matrix(X)
        return self._plan(X, check_n_clusters(self.n_clusters, X.shape[0]), self._check_parameters())

    def _plan(self, X: Any, n_clusters: int, n_starts: int) -> MemoryPlan:
        frequencies = document_frequencies(X)
        size = size_of(
            frequencies,
            n_documents=X.shape[0],
            n_clusters=n_clusters,
            n_threads=resolve_threads(self.n_threads),
            n_starts=n_starts,
            n_candidates=default_trials(n_clusters),
            draws_from_index=isinstance(self.init, str) and self.init != "random",
            prunes=self.algorithm != "lloyd",
        )
        affordable, _ = affordable_seeding(frequencies, X.shape[0], n_clusters)
        return plan_memory(size, None if self.max_memory is None else parse_size(self.max_memory), affordable)

    def _check_parameters(self) -> int:
        """Return the number of starts, or raise InputError."""
        check_init(self.init)
        check_positive_int(self.max_iter, "max_iter")
        if self.algorithm not in ("auto", "lloyd", "pruned"):
            raise InputError(f"algorithm={self.algorithm!r} is not known; use 'auto', 'lloyd' or 'pruned'.")
        if not isinstance(self.tol, int | float | np.number) or not self.tol >= 0:
            raise InputError(f"tol={self.tol!r} is not a share of the objective; give a number >= 0.")
        if not isinstance(self.init, str) and not callable(self.init):
            return 1
        return DEFAULT_STARTS if self.n_init == "auto" else check_positive_int(self.n_init, "n_init")

    def _store(self, documents: DocumentMatrix, found: Snapshot) -> None:
        self.labels_ = found.labels
        self.centroids_ = found.means.to_csr(documents.original)
        self.objective_ = found.objective
        self.inertia_ = float(np.sum(documents.weights[documents.is_usable])) - found.objective
        self.n_iter_ = found.n_iter
        self._n_features_out = self.centroids_.shape[0]

    @property
    def cluster_centers_(self) -> npt.NDArray[np.float32]:
        """The centroids as a dense array; refused above `max_memory`."""
        check_is_fitted(self, "centroids_")
        n_bytes = 4 * self.centroids_.shape[0] * self.centroids_.shape[1]
        if self.max_memory is not None and n_bytes > parse_size(self.max_memory):
            raise MemoryLimitError(
                f"cluster_centers_ would take {n_bytes:,} bytes, above max_memory={self.max_memory!r}; "
                "use centroids_, the same rows kept sparse."
            )
        dense: npt.NDArray[np.float32] = self.centroids_.toarray()
        return dense

    def predict(self, X: Any) -> npt.NDArray[np.int32]:
        """Return the nearest centroid of each row, lowest index on ties."""
        return nearest_centroids(self._checked(X), self.centroids_, n_threads=self.n_threads)

    def transform(self, X: Any) -> npt.NDArray[np.float64]:
        """Return 1 - cosine of each row to each centroid, array of shape (n_documents, n_clusters), 0..2."""
        return 1.0 - centroid_similarities(self._checked(X), self.centroids_, n_threads=self.n_threads)

    def fit_predict(self, X: Any, y: Any = None, sample_weight: npt.ArrayLike | None = None) -> npt.NDArray[np.int32]:
        """Return the labels of `fit`."""
        return self.fit(X, sample_weight=sample_weight).labels_

    def score(self, X: Any, y: Any = None, sample_weight: npt.ArrayLike | None = None) -> float:
        """Return the objective on `X`: the sum of weights times cosine to the nearest centroid."""
        X = self._checked(X)
        weights = _weights(sample_weight, X.shape[0])
        nearest = centroid_similarities(X, self.centroids_, n_threads=self.n_threads).max(axis=1)
        return float(np.sum(weights * nearest))

    def _checked(self, X: Any) -> Any:
        check_is_fitted(self, "centroids_")
        matrix = check_matrix(X)
        validate_data(self, X, skip_check_array=True, reset=False)
        return matrix

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _weights(sample_weight: npt.ArrayLike | None, n_documents: int) -> npt.NDArray[np.float64]:
    """Return one weight for each document, or raise InputError."""
    if sample_weight is None:
        return np.ones(n_documents)
    try:
        weights = np.asarray(sample_weight, np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"sample_weight is not numeric ({error}); give numbers >= 0.") from error
    if weights.ndim == 0:
        weights = np.full(n_documents, float(weights))
    if weights.shape != (n_documents,):
        raise InputError(f"sample_weight has shape {weights.shape}, expected ({n_documents},): one for each row of X.")
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise InputError("sample_weight has negative or non-finite values; give numbers >= 0.")
    if np.any((weights > 0) & ((weights < 1 / LARGEST_WEIGHT) | (weights > LARGEST_WEIGHT))):
        raise InputError("sample_weight has positive values outside 1e-100..1e100; divide all weights by the largest.")
    return weights


def _warn(message: str) -> None:
    warnings.warn(message, DocclusterWarning, stacklevel=3)
