"""One estimator for partitions that agree with people: smoothed rows, spherical k-means, a mixture on the counts.

Documents are compared in the space of latent semantic analysis, each moved towards its nearest neighbours, and the
result is settled by a multinomial mixture on the counts. On raw counts that agrees more with human classes than
spherical k-means of the tf-idf rows, whose objective it does not reach (docs/explanation/quality.md).
"""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from doccluster.clustering.assign import assign_to_centroids
from doccluster.clustering.candidates import Candidate, candidate_points, most_neighbors, usable_candidates
from doccluster.clustering.centroid_estimator import sum_directions
from doccluster.clustering.consensus import co_association_rows
from doccluster.clustering.document_spaces import DocumentSpaces, holds_counts, tfidf_factors, weighted_rows
from doccluster.clustering.ensemble import Ensemble
from doccluster.clustering.label_stability import LabelStability, measure_stability
from doccluster.clustering.multinomial import Multinomials, settle_labels
from doccluster.clustering.spherical import SphericalParameters, spherical_k_means
from doccluster.errors import DocclusterWarning, InputError
from doccluster.progress import Progress, silent
from doccluster.validation import RandomState, as_generator, check_matrix, check_n_clusters, unit_rows

QUALITIES = ("fast", "default", "best")
Labels = npt.NDArray[np.int64]


class DocumentClustering(ClusterMixin, BaseEstimator):
    """Clusters of documents from their counts of terms (or tf-idf rows), smoothed and settled.

    Parameters
    ----------
    n_clusters : int, default 8
    quality : {'default', 'fast', 'best'}, default 'default'
        'default' smooths the rows over the graph of their nearest neighbours before spherical k-means; 'fast' is
        spherical k-means of the tf-idf rows; 'best' is the consensus of a dozen different partitions, in some ten times
        the time. All are settled by a multinomial mixture where `X` holds counts.
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
    candidates_ : tuple of str
        The names of the partitions that went into the consensus; empty but for 'best'.
    candidate_labels_ : int64 array of shape (n_candidates, n_documents)
    stability_ : LabelStability or None
        How far documents and clusters come back in the candidates; None but for 'best'.
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

        Warns
        -----
        DocclusterWarning
            If there are fewer distinct rows than clusters.
        """
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32])
        matrix = check_matrix(X)
        k = check_n_clusters(self.n_clusters, matrix.shape[0])
        if self.quality not in QUALITIES:
            raise InputError(
                "is not known", argument="quality", received=self.quality, expected=f"one of {', '.join(QUALITIES)}"
            )
        if not 0 <= self.mixing <= 1:
            raise InputError("is not a share", argument="mixing", received=self.mixing, expected="a number from 0 to 1")
        rng = as_generator(self.random_state)
        progress = self.progress or silent
        counts = sparse.csr_array(matrix) if holds_counts(matrix) else None
        self._factors = None if counts is None else tfidf_factors(counts)
        rows = self._rows(matrix)
        self._warnings: dict[str, None] = {}  # each once, though a dozen fits may say it
        refused = self._no_graph(rows) if self.quality != "fast" else None
        notes = [f"The rows were not smoothed: {refused}."] if refused else []
        if counts is None:
            notes.append("The labels were not settled: the matrix does not hold counts.")
        if self.quality == "best":
            labels, runs = self._consensus(rows, counts, k, rng, progress, has_graph=refused is None)
        else:
            points = rows if refused or self.quality == "fast" else self._smoothed(rows, rng, progress)
            labels, runs = self._spherical(points, k, rng, progress), {}
        self.labels_, self.mixture_ = self._settled(counts, labels, k, progress)
        self.candidates_ = tuple(runs)
        self.candidate_labels_ = np.array(list(runs.values()), dtype=np.int64).reshape(len(runs), matrix.shape[0])
        self.stability_: LabelStability | None = (
            measure_stability(self.labels_, list(runs.values()), n_clusters=k) if runs else None
        )
        self.centroids_ = sum_directions(rows, self.labels_, k)
        self.notes_ = tuple(notes)
        for note in self._warnings:
            warnings.warn(note, DocclusterWarning, stacklevel=2)
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
        return weighted_rows(matrix, self._factors, n_threads=self.n_threads)

    def _spherical(
        self, points: Any, k: int, rng: np.random.Generator, progress: Progress, *, refine: bool = False
    ) -> Labels:
        parameters = SphericalParameters(
            k, n_init=self.n_init, refine=refine, random_state=rng, n_threads=self.n_threads, progress=progress
        )
        found = spherical_k_means(points, parameters)
        self._warnings |= dict.fromkeys(found.notes)
        return found.labels.astype(np.int64)

    def _settled(self, counts: Any, labels: Labels, k: int, progress: Progress) -> tuple[Labels, Multinomials | None]:
        """Return the labels and the mixture where expectation maximisation ends; without counts the labels as given."""
        if counts is None:
            return labels, None
        settled = settle_labels(counts, labels, k, n_threads=self.n_threads, progress=progress)
        return settled.labels.astype(np.int64), settled.parameters

    def _consensus(
        self, rows: Any, counts: Any, k: int, rng: np.random.Generator, progress: Progress, *, has_graph: bool
    ) -> tuple[Labels, dict[str, Labels]]:
        """Return the consensus of the candidates that can be made, and their labels by name."""
        candidates = usable_candidates(has_counts=counts is not None, has_graph=has_graph)
        sizes = {"n_components": self.n_components, "n_neighbors": self.n_neighbors}
        made: dict[tuple[str, int], DocumentSpaces] = {}
        runs = {}
        for number, candidate in enumerate(candidates):
            progress("candidates", number, len(candidates))
            weights = (candidate.term, candidate.idf)
            if weights not in made:
                made.clear()  # candidates of the same weights follow one another; only one space is held
                made[weights] = self._spaces(rows, counts, candidate, rng, progress)
            points = candidate_points(candidate, made[weights], **sizes, mixing=self.mixing)
            labels = self._spherical(points, k, rng, progress, refine=candidate.refine)
            runs[candidate.name] = self._settled(counts, labels, k, progress)[0]
        progress("candidates", len(candidates), len(candidates))
        joined = co_association_rows(Ensemble.from_labels(list(runs.values())))
        return self._spherical(joined, k, rng, progress), runs

    def _spaces(
        self, rows: Any, counts: Any, candidate: Candidate, rng: np.random.Generator, progress: Progress
    ) -> DocumentSpaces:
        """Return the spaces of the weights of a candidate."""
        if not candidate.is_tfidf:
            assert self._factors is not None  # such candidates are made of counts alone
            factors = np.power(self._factors, candidate.idf, dtype=np.float32)
            rows = weighted_rows(counts, factors, weighting=candidate.weighting, n_threads=self.n_threads)
        return DocumentSpaces(
            rows,
            n_components=self.n_components,
            n_neighbors=most_neighbors(candidate, self.n_neighbors),
            rng=rng,
            n_threads=self.n_threads,
            progress=progress,
        )

    def _no_graph(self, rows: Any) -> str | None:
        if not sparse.issparse(rows):
            return "they are dense"
        return "they have negative values" if rows.nnz and rows.data.min() < 0 else None

    def _smoothed(self, rows: Any, rng: np.random.Generator, progress: Progress) -> Any:
        """Return dense unit rows, each moved towards its neighbours."""
        spaces = DocumentSpaces(
            rows,
            n_components=self.n_components,
            n_neighbors=self.n_neighbors,
            rng=rng,
            n_threads=self.n_threads,
            progress=progress,
        )
        return spaces.smoothed(self.n_components, self.n_neighbors, mixing=self.mixing)
