"""What estimators share: how they take matrices, and centroids that are the directions of the sums of documents."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from doccluster.base.arrays import AnyIntegers, Integers, Matrix, MatrixLike
from doccluster.base.parameter_fields import check_parameters
from doccluster.base.validation import check_matrix, check_n_clusters, unit_rows
from doccluster.clustering.k_means.assign import nearest_centroids
from doccluster.errors import InputError
from doccluster.geometry import Documents, as_documents
from doccluster.geometry.sums import sums_by_label


class MatrixEstimator(BaseEstimator):
    """Base of estimators that take csr and dense matrices."""

    n_clusters: int

    def _matrix_to_fit(self, X: MatrixLike) -> Matrix:
        """Return a checked matrix that has as many rows as clusters, once the parameters are checked too."""
        matrix = check_matrix(X)
        validate_data(self, X, skip_check_array=True)
        check_n_clusters(self.n_clusters, matrix.shape[0])
        check_parameters(self)
        return matrix

    def _new_documents(self, X: MatrixLike) -> Documents:
        """Return a checked matrix; raises InputError when it has other columns than were fitted."""
        check_is_fitted(self, "labels_")
        documents = as_documents(X)
        try:
            validate_data(self, X, skip_check_array=True, reset=False)
        except (TypeError, ValueError) as error:
            remedy = f"use the vectorizer that {type(self).__name__} was fitted with"
            raise InputError(" ".join(str(error).split()).rstrip("."), remedy=remedy) from error
        return documents

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class CentroidEstimator(ClusterMixin, MatrixEstimator):
    """Base of estimators with `labels_` and `centroids_`: new documents go to the nearest centroid."""

    n_threads: int | None

    def fit(self, X: MatrixLike, y: object = None) -> Self:
        """Cluster the rows of `X`, csr or dense; rows that are not unit are normalised in a copy, with a warning.

        Raises
        ------
        InputError
            If a parameter or the matrix cannot be used.
        MemoryLimitError
            If what is held does not fit into `max_memory`, where the estimator has such a parameter.
        NothingUsable
            If no row has a non-zero value, where that leaves nothing to cluster.

        Warns
        -----
        DocclusterWarning
            If rows were normalised, or fewer clusters are returned, since there are too few distinct rows.
        """
        rows = unit_rows(self._matrix_to_fit(X))
        self.labels_, n_found = self._cluster(rows, int(self.n_clusters))
        self.centroids_ = sum_directions(rows, self.labels_, n_found)
        return self

    @abstractmethod
    def _cluster(self, rows: Matrix, n_clusters: int) -> tuple[Integers, int]:
        """Return the labels of unit rows, and how many clusters there are; what else was learned is kept."""

    def predict(self, X: MatrixLike) -> Integers:
        """Return the nearest centroid of each row, lowest index on ties.

        For the documents of the fit that need not be their label, which other things than centroids decide.
        """
        return nearest_centroids(self._new_documents(X), self.centroids_, n_threads=self.n_threads).astype(np.int64)


def sum_directions(rows: Matrix, labels: AnyIntegers, n_clusters: int) -> Matrix:
    """Return the unit directions of the sums of the rows of each cluster; zero for a cluster without documents.

    `rows`: csr or dense array of shape (n_documents, n_terms). `labels`: int array of shape (n_documents,),
    0..n_clusters-1.

    Returned: float32 array (csr if `rows` is) of shape (n_clusters, n_terms).
    """
    return unit_rows(sums_by_label(rows, labels, n_clusters), warn=False).astype(np.float32)
