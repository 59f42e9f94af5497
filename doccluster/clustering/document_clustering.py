"""One estimator for partitions that agree with people: smoothed rows, spherical k-means, a mixture on the counts.

Documents are compared in the space of latent semantic analysis, each moved towards its nearest neighbours, and the
result is settled by a multinomial mixture on the counts. On raw counts that agrees more with human classes than
spherical k-means of the tf-idf rows, whose objective it does not reach (docs/explanation/quality.md).
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from doccluster.clustering.assign import assign_to_centroids
from doccluster.clustering.multinomial import settle_labels
from doccluster.clustering.spherical_k_means import SphericalKMeans
from doccluster.errors import InputError
from doccluster.geometry import latent_semantic_space, nearest_neighbours, smoothed_rows
from doccluster.progress import Progress, silent
from doccluster.validation import RandomState, as_generator, check_matrix, check_n_clusters, unit_rows
from doccluster.vectors.weighting import collection_weights, parse_weighting, weigh_rows

QUALITIES = ("fast", "default")
LARGEST_COUNT = 2**24  # whole numbers up to it are exact in float32


class DocumentClustering(ClusterMixin, BaseEstimator):
    """Clusters of documents from their counts of terms (or tf-idf rows), smoothed and settled.

    Parameters
    ----------
    n_clusters : int, default 8
    quality : {'default', 'fast'}, default 'default'
        'default' smooths the rows over the graph of their nearest neighbours before spherical k-means; 'fast' is
        spherical k-means of the tf-idf rows. Both are settled by a multinomial mixture where `X` holds counts.
    n_init : int, default 10
        Starts of spherical k-means; the best is kept.
    n_components : int, default 100
        Dimensions of latent semantic analysis.
    n_neighbors : int, default 10
        Neighbours of each document in the graph; near-copies are folded first.
    mixing : float in 0..1, default 0.5
        How far a document is moved towards its neighbours.
    random_state : None, int or numpy Generator
    n_threads : int, optional
        Changes no result.
    progress : callable, optional
        Called with the stage, the work done and the total.

    Attributes
    ----------
    labels_ : int64 array of shape (n_documents,)
    centroids_ : csr array (dense for a dense `X`) of shape (n_clusters, n_terms), unit rows
        Directions of the sums of the tf-idf rows of each cluster.
    mixture_ : Multinomials or None
        The settled mixture; None where `X` did not hold counts.
    notes_ : tuple of str
        What was left out, and why.
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> counts = np.array([[3, 1, 0, 0], [2, 2, 0, 0], [0, 0, 1, 4], [0, 0, 2, 2]])
    >>> found = DocumentClustering(2, random_state=0).fit_predict(counts)
    >>> bool(found[0] == found[1] != found[2] == found[3])
    True

    See Also
    --------
    SphericalKMeans : The plain algorithm of the papers.
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        quality: str = "default",
        n_init: int = 10,
        n_components: int = 100,
        n_neighbors: int = 10,
        mixing: float = 0.5,
        random_state: RandomState = None,
        n_threads: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.quality = quality
        self.n_init = n_init
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.mixing = mixing
        self.random_state = random_state
        self.n_threads = n_threads
        self.progress = progress

    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster documents.

        Parameters
        ----------
        X : array or csr array of shape (n_documents, n_terms)
            Counts (whole numbers >= 0), or weighted rows.

        Raises
        ------
        InputError
            If a parameter or `X` cannot be used, or there are fewer documents than clusters.
        """
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32])
        matrix = check_matrix(X)
        k = check_n_clusters(self.n_clusters, matrix.shape[0])
        if self.quality not in QUALITIES:
            raise InputError(f"quality={self.quality!r} is not known; choose one of {', '.join(QUALITIES)}.")
        if not 0 <= self.mixing <= 1:
            raise InputError(f"mixing={self.mixing!r} is not a share; give a number from 0 to 1.")
        rng = as_generator(self.random_state)
        progress = self.progress or silent
        counts = sparse.csr_array(matrix) if holds_counts(matrix) else None
        self._factors = None if counts is None else tfidf_factors(counts)
        rows = self._rows(matrix)
        notes = []
        points = rows
        if self.quality == "default":
            reason = self._no_graph(rows)
            if reason:
                notes.append(f"The rows were not smoothed: {reason}.")
            else:
                points = self._smoothed(rows, rng, progress)
        model = SphericalKMeans(k, n_init=self.n_init, random_state=rng, n_threads=self.n_threads, progress=progress)
        labels = model.fit(points).labels_.astype(np.int64)
        self.mixture_ = None
        if counts is None:
            notes.append("The labels were not settled: the matrix does not hold counts.")
        else:
            settled = settle_labels(counts, labels, k, n_threads=self.n_threads, progress=progress)
            labels, self.mixture_ = settled.labels, settled.parameters
        self.labels_ = labels
        self.centroids_ = _centroids(rows, labels, k)
        self.notes_ = tuple(notes)
        return self

    def predict(self, X: Any) -> npt.NDArray[np.int64]:
        """Return the cluster of each document: the most probable in the mixture, else that of the nearest centroid."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        matrix = check_matrix(X)
        if self.mixture_ is not None and holds_counts(matrix):
            labels: npt.NDArray[np.int64] = self.mixture_.scores(sparse.csr_array(matrix)).argmax(axis=1)
            return labels
        assigned = assign_to_centroids(self._rows(matrix), self.centroids_, n_threads=self.n_threads)
        return assigned.labels.astype(np.int64)

    @available_if(lambda model: getattr(model, "mixture_", None) is not None)
    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Return the probability of each cluster in the mixture, of shape (n_documents, n_clusters).

        Only a model that was fitted to counts has this method.
        """
        check_is_fitted(self)
        assert self.mixture_ is not None  # else the method is not there
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        return self.mixture_.posteriors(sparse.csr_array(check_matrix(X)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _rows(self, matrix: Any) -> Any:
        """Return unit rows, tf-idf of the fitted collection where the matrix holds counts."""
        if self._factors is None or not holds_counts(matrix):
            return unit_rows(matrix, warn=False)
        rows = sparse.csr_array(matrix, dtype=np.float32, copy=True)
        weigh_rows(rows, self._factors, weighting=parse_weighting("tfidf"), n_threads=self.n_threads)
        return rows

    def _no_graph(self, rows: Any) -> str | None:
        if not sparse.issparse(rows):
            return "they are dense"
        return "they have negative values" if rows.nnz and rows.data.min() < 0 else None

    def _smoothed(self, rows: Any, rng: np.random.Generator, progress: Progress) -> Any:
        """Return dense unit rows, each moved towards its neighbours; copies share one place."""
        progress("neighbours", 0)
        graph = nearest_neighbours(rows, self.n_neighbors, n_threads=self.n_threads)
        progress("project", 0)
        space = latent_semantic_space(rows, self.n_components, random_state=rng, n_threads=self.n_threads)
        points = space.project(rows[graph.first], n_threads=self.n_threads)
        return smoothed_rows(points, graph.symmetric(), mixing=self.mixing)[graph.families].astype(np.float32)


def holds_counts(matrix: Any) -> bool:
    """Return whether all values are whole numbers from 0 up."""
    values = matrix.data if sparse.issparse(matrix) else matrix
    return bool(values.size == 0 or (values.min() >= 0 and values.max() <= LARGEST_COUNT and (values % 1 == 0).all()))


def tfidf_factors(counts: Any) -> npt.NDArray[np.float32]:
    """Return the weight of each term, idf as `TfidfVectorizer` takes it; 0 for terms of at most one document.

    Such a term makes no document like another.
    """
    frequency = np.bincount(counts.indices[counts.data > 0], minlength=counts.shape[1])
    factors = collection_weights(
        frequency, counts.shape[0], weighting=parse_weighting("tfidf"), dtype=np.dtype(np.float32)
    )
    assert factors is not None  # this weighting has them
    return np.where(frequency > 1, factors, 0).astype(np.float32) if (frequency > 1).any() else factors


def _centroids(rows: Any, labels: npt.NDArray[np.int64], k: int) -> Any:
    """Return the unit directions of the sums of the rows of each cluster; zero for a cluster without documents."""
    n = labels.size
    membership = sparse.csr_array((np.ones(n), (labels, np.arange(n))), shape=(k, n))
    sums = membership @ rows.astype(np.float64)
    return unit_rows(sums, warn=False).astype(np.float32)
