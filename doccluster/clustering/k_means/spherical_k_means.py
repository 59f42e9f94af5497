"""The estimator: scikit-learn's manners over the plain functions of this folder."""

from __future__ import annotations

import warnings
from typing import Self

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from doccluster.base.arrays import Floats, MatrixLike, SingleFloats
from doccluster.base.parameter_fields import described_by
from doccluster.base.plain_values import parse_size
from doccluster.base.sparse_structure import document_frequencies
from doccluster.base.validation import check_n_clusters
from doccluster.clustering.centroid_estimator import MatrixEstimator
from doccluster.clustering.k_means.assign import centroid_similarities, nearest_centroids
from doccluster.clustering.k_means.memory_plan import MemoryPlan
from doccluster.clustering.k_means.spherical import FitInterrupted, SphericalParameters, spherical_k_means
from doccluster.clustering.k_means.unit_documents import check_weights
from doccluster.errors import Argument, DocclusterWarning, MemoryLimitError
from doccluster.geometry import as_documents


@described_by(SphericalParameters)
class SphericalKMeans(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, SphericalParameters, MatrixEstimator
):
    """Spherical k-means: unit documents, unit centroids, maximising the sum of cosines to the own centroid.

    The signature and attributes are those of scikit-learn's KMeans. Labels are exact: those of a naive Lloyd with
    float32 documents and means and float64 arithmetic, lowest index on ties, for any number of threads.

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
    history_ : tuple of float
        Its objective after each iteration; empty where Ctrl-C ended it.
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

    def fit(self, X: MatrixLike, y: object = None, sample_weight: npt.ArrayLike | None = None) -> Self:
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
        documents = as_documents(X)
        validate_data(self, X, skip_check_array=True)
        self.interrupted_ = False
        try:
            fit = spherical_k_means(documents, self, sample_weight=sample_weight)
        except FitInterrupted as stopped:
            fit = stopped.best_start()
        self.labels_, self.centroids_ = fit.labels, fit.centroids
        self.objective_, self.inertia_, self.n_iter_ = fit.objective, fit.inertia, fit.n_iter
        self.history_ = fit.history
        self._n_features_out, self.interrupted_ = fit.centroids.shape[0], fit.interrupted
        if fit.interrupted:
            raise FitInterrupted(fit)
        for note in fit.notes:
            warnings.warn(note, DocclusterWarning, stacklevel=2)
        return self

    def plan_memory(self, X: MatrixLike) -> MemoryPlan:
        """Plan the memory of `fit` beyond `X`, and how it keeps within `max_memory`.

        Raises
        ------
        MemoryLimitError
            If the smallest plan does not fit; the message names the smallest `max_memory` that would do.
        """
        documents = as_documents(X)
        check_n_clusters(self.n_clusters, documents.n_documents)
        self.check()
        return self.plan_for(document_frequencies(documents.matrix), documents.n_documents)

    @property
    def cluster_centers_(self) -> SingleFloats:
        """The centroids as a dense array; refused above `max_memory`."""
        check_is_fitted(self, "centroids_")
        n_bytes = 4 * self.centroids_.shape[0] * self.centroids_.shape[1]
        if self.max_memory is not None and n_bytes > parse_size(self.max_memory):
            raise MemoryLimitError(
                (f"cluster_centers_ would take {n_bytes:,} bytes, above ", Argument("max_memory", self.max_memory)),
                remedy="use centroids_, the same rows kept sparse",
            )
        return np.asarray(self.centroids_.toarray())

    def predict(self, X: MatrixLike) -> npt.NDArray[np.int32]:
        """Return the nearest centroid of each row, lowest index on ties."""
        return nearest_centroids(self._new_documents(X), self.centroids_, n_threads=self.n_threads)

    def transform(self, X: MatrixLike) -> Floats:
        """Return 1 - cosine of each row to each centroid, array of shape (n_documents, n_clusters), 0..2."""
        return 1.0 - centroid_similarities(self._new_documents(X), self.centroids_, n_threads=self.n_threads)

    def fit_predict(
        self, X: MatrixLike, y: object = None, sample_weight: npt.ArrayLike | None = None
    ) -> npt.NDArray[np.int32]:
        """Return the labels of `fit`."""
        return self.fit(X, sample_weight=sample_weight).labels_

    def score(self, X: MatrixLike, y: object = None, sample_weight: npt.ArrayLike | None = None) -> float:
        """Return the objective on `X`: the sum of weights times cosine to the nearest centroid."""
        documents = self._new_documents(X)
        weights = check_weights(sample_weight, documents.n_documents)
        nearest = centroid_similarities(documents, self.centroids_, n_threads=self.n_threads).max(axis=1)
        return float(np.sum(weights * nearest))
