"""Latent semantic analysis as a transformer: scikit-learn's manners over `latent_semantic_space`."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from doccluster.errors import InputError
from doccluster.geometry.documents import Documents
from doccluster.geometry.projection import SemanticSpace, latent_semantic_space, unit
from doccluster.validation import RandomState, check_matrix, check_positive_int, squared_row_norms

Floats = npt.NDArray[np.float64]


class LatentSemanticAnalysis(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Documents in the few directions in which their rows spread most, the same for any number of threads.

    Parameters
    ----------
    n_components : int, default 100
        The number of directions; fewer come back where the matrix has a lower rank.
    n_power_iterations : int, default 4
        More make the last directions more accurate.
    normalize : bool, default False
        Whether the rows that come back are of length one, as for clustering by the cosine.
    random_state : None, int or numpy Generator
    n_threads : int, optional
        Changes no result.

    Attributes
    ----------
    components_ : float64 array of shape (n_components, n_terms), orthonormal rows
        The largest entry of each is positive.
    singular_values_ : float64 array of shape (n_components,), descending
    explained_variance_, explained_variance_ratio_ : float64 arrays of shape (n_components,)
        The variance of the documents in each direction (before they are made unit), and its share of that of all terms.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Deerwester et al. 1990, Indexing by latent semantic analysis, JASIS 41(6); the decomposition is that of Halko,
    Martinsson & Tropp 2011, SIAM Review 53(2), doi:10.1137/090771806. Like scikit-learn's `TruncatedSVD` it does not
    centre the columns, so sparse rows stay sparse.

    Examples
    --------
    >>> rows = sparse.csr_array([[2.0, 2.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> LatentSemanticAnalysis(2, random_state=0).fit_transform(rows).round(3) + 0.0
    array([[2.828, 0.   ],
           [1.414, 0.   ],
           [0.   , 1.   ]])
    """

    def __init__(
        self,
        n_components: int = 100,
        *,
        n_power_iterations: int = 4,
        normalize: bool = False,
        random_state: RandomState = None,
        n_threads: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.n_power_iterations = n_power_iterations
        self.normalize = normalize
        self.random_state = random_state
        self.n_threads = n_threads

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the directions of a csr or dense matrix.

        Raises
        ------
        InputError
            If a parameter or the matrix cannot be used.
        """
        self._fitted(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Floats:
        """Find the directions and return the coordinates of the rows in them."""
        return self._finished(self._fitted(X))

    def transform(self, X: Any) -> Floats:
        """Return the coordinates of rows, float64 array of shape (n_documents, n_components)."""
        check_is_fitted(self, "components_")
        matrix = check_matrix(X)
        validate_data(self, X, skip_check_array=True, reset=False)
        space = SemanticSpace(self.components_, self.singular_values_)
        return self._finished(space.project(Documents(matrix), n_threads=self.n_threads))

    def inverse_transform(self, X: Any) -> Floats:
        """Return rows over the terms, dense, from coordinates; exact only where all directions were kept."""
        check_is_fitted(self, "components_")
        coordinates = np.asarray(check_matrix(X), dtype=np.float64)
        if coordinates.shape[1] != self.components_.shape[0]:
            raise InputError(
                f"X has {coordinates.shape[1]} columns, expected {self.components_.shape[0]}, one for each component; "
                "give what transform returned."
            )
        rows: Floats = coordinates @ self.components_
        return rows

    def _fitted(self, X: Any) -> Floats:
        matrix = check_matrix(X)
        validate_data(self, X, skip_check_array=True)
        check_positive_int(self.n_power_iterations, "n_power_iterations")
        space = latent_semantic_space(
            Documents(matrix),
            self.n_components,
            n_power_iterations=self.n_power_iterations,
            random_state=self.random_state,
            n_threads=self.n_threads,
        )
        points = space.project(Documents(matrix), n_threads=self.n_threads)
        self.components_, self.singular_values_ = space.components, space.singular_values
        self.explained_variance_: Floats = points.var(axis=0)
        n = matrix.shape[0]
        means = np.asarray(sparse.csr_array(matrix).sum(axis=0, dtype=np.float64)).ravel() / n
        whole = float(squared_row_norms(matrix).sum()) / n - float(means @ means)
        share = np.full_like(self.explained_variance_, np.nan)  # where all documents are alike
        self.explained_variance_ratio_ = np.divide(self.explained_variance_, whole, out=share, where=whole > 0)
        self._n_features_out = self.components_.shape[0]
        return points

    def _finished(self, points: Floats) -> Floats:
        return unit(points) if self.normalize else points

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
