"""One estimator for partitions that agree with people: smoothed rows, spherical k-means, a mixture on the counts.

Documents are compared in the space of latent semantic analysis, each moved towards its nearest neighbours, and the
result is settled by a multinomial mixture on the counts. On raw counts that agrees more with human classes than
spherical k-means of the tf-idf rows, whose objective it does not reach (docs/evidence/quality.md).
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import ClusterMixin
from sklearn.utils.metaestimators import available_if

from doccluster.base.parameter_fields import described_by, parameter
from doccluster.base.validation import check_matrix, in_form_of_content, unit_rows
from doccluster.clustering.centroid_estimator import MatrixEstimator, sum_directions
from doccluster.clustering.guidance import grow_clusters, guides_of
from doccluster.clustering.k_means.assign import assign_to_centroids
from doccluster.clustering.smoothed.document_clusters import DocumentParameters, DocumentWork
from doccluster.clustering.smoothed.document_spaces import WeighedRows, holds_counts, shared_term_rows, weighted_rows
from doccluster.errors import DocclusterWarning, InputError
from doccluster.geometry import Documents
from doccluster.vectors.document_vectors import as_vectors
from doccluster.vectors.letters import Letters

KEPT_SINGLE = "Terms of one document kept their weight: without them too few documents would differ."


@dataclass(kw_only=True, eq=False, repr=False)
class GuidedParameters(DocumentParameters):
    """The parameters of `DocumentClustering`."""

    topics: Any = parameter(
        None,
        "What you know: clusters 0, 1, ... grow from words and examples of these topics, the others are free. Words "
        "are columns of `X` or names of terms, examples are rows of `X`.",
        type="sequence of Topic",
    )


@described_by(GuidedParameters)
class DocumentClustering(ClusterMixin, GuidedParameters, MatrixEstimator):
    """Clusters of documents from term counts (or tf-idf rows), smoothed and refined.

    Notes
    -----
    Of counts, a term that occurs in one document weighs nothing in the rows, as it makes no document like another;
    the mixture counts it. Where fewer than `n_clusters` documents would then differ such terms keep their weight, and
    `notes_` says so. Settling may leave a cluster empty, which `notes_` says too.

    Attributes
    ----------
    labels_ : int64 array of shape (n_documents,)
    centroids_ : csr array (dense for a dense `X`) of shape (n_clusters, n_terms), unit rows
        Directions of the sums of the tf-idf rows of each cluster.
    mixture_ : Multinomials or None
        The settled mixture; None where `X` did not hold counts.
    topics_ : int64 array of shape (n_clusters,)
        The topic that each cluster is, or is a part of; -1 for a free one. There are fewer clusters than `n_clusters`
        where examples of topics use up more free clusters than there are topics.
    n_iter_ : int
        Iterations of the best start of spherical k-means.
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

    def fit(self, X: Any, y: Any = None, *, letters: Any = None, terms: Sequence[str] | None = None) -> Self:
        """Cluster documents.

        Parameters
        ----------
        X : array or csr array of shape (n_documents, n_terms)
            Counts (whole numbers >= 0), or weighted rows.
        letters : Letters or csr array of shape (n_documents, n_runs), optional
            Short documents by the runs of letters in them, as `vectorize` has them: a second view of neighbours and
            directions where `X` is sparse and rows are smoothed. Labels are settled by `X` alone.
        terms : sequence of str, optional
            The names of the columns, by which topics may name words; those of a data frame by default. A word is the
            whole name of a term; `notes_` says which words are none.

        Raises
        ------
        InputError
            If a parameter or `X` cannot be used, there are fewer documents than clusters or fewer clusters than topics,
            a row or column of a topic is not there, or a row is an example of two topics.
        KeyboardInterrupt
            On Ctrl-C, with the best labels until then as attributes, where there are any.

        Warns
        -----
        DocclusterWarning
            If there are fewer distinct rows than clusters.
        """
        matrix = self._matrix_to_fit(X)
        counts = sparse.csr_array(matrix) if holds_counts(matrix) else None
        if counts is None:
            weighed = WeighedRows(unit_rows(in_form_of_content(matrix), warn=False), None, keeps_single=False)
        else:
            weighed = shared_term_rows(counts, self.n_clusters, n_threads=self.n_threads)
        rows, self._factors = weighed.rows, weighed.factors
        letters = _checked_letters(letters, rows.shape[0])
        fit = DocumentWork(as_vectors(Documents(rows), counts=counts, letters=letters), self).run()
        self.labels_, self.mixture_, self.n_iter_ = fit.labels, fit.mixture, fit.n_iter
        self.topics_ = np.full(self.n_clusters, -1)
        self.notes_ = (*fit.left_out, *((KEPT_SINGLE,) if weighed.keeps_single else ()))
        if self.topics is not None:
            self._grow(rows, counts, rows if fit.points is None else fit.points, terms)
        if counts is None:
            rows = unit_rows(matrix, warn=False)  # in the form that was given
        self.centroids_ = sum_directions(rows, self.labels_, self.topics_.size)
        for note in fit.notes:
            warnings.warn(note, DocclusterWarning, stacklevel=2)
        if fit.interrupted:
            raise KeyboardInterrupt
        return self

    def _grow(self, rows: Any, counts: Any, points: Any, terms: Sequence[str] | None) -> None:
        """Grow the clusters of topics."""
        if len(self.topics) > self.n_clusters:
            problem = f"there are {len(self.topics):,} topics, more than clusters"
            raise InputError(problem, argument="n_clusters", received=self.n_clusters, remedy="give one for each topic")
        names = getattr(self, "feature_names_in_", None) if terms is None else terms
        guides, notes = guides_of(self.topics, self._rows, rows.shape, names)
        grown = grow_clusters(rows, counts, points, self.labels_, self.n_clusters, guides, n_threads=self.n_threads)
        self.labels_, self.mixture_, self.topics_ = grown.labels, grown.mixture, grown.topics
        self.notes_ = (*self.notes_, *notes)

    def predict(self, X: Any) -> npt.NDArray[np.int64]:
        """Return the cluster of each document: the most probable in the mixture, else that of the nearest centroid."""
        matrix = self._new_documents(X).matrix
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
        assert self.mixture_ is not None  # else the method is not there
        return self.mixture_.posteriors(sparse.csr_array(self._new_documents(X).matrix))

    def fit_predict(
        self, X: Any, y: Any = None, *, letters: Any = None, terms: Sequence[str] | None = None
    ) -> npt.NDArray[np.int64]:
        """Cluster documents and return their labels; the arguments are those of `fit`."""
        labels: npt.NDArray[np.int64] = self.fit(X, letters=letters, terms=terms).labels_
        return labels

    def _rows(self, matrix: Any) -> Any:
        """Return unit rows, tf-idf of the fitted collection where the matrix holds counts."""
        if self._factors is None or not holds_counts(matrix):
            return unit_rows(matrix, warn=False)
        return weighted_rows(matrix, self._factors, n_threads=self.n_threads)


def _checked_letters(letters: Any, n_documents: int) -> Letters | None:
    """Return letters as they were given, a matrix with the full weight. Raises InputError if they cannot be used."""
    if letters is None:
        return None
    given = letters if isinstance(letters, Letters) else Letters(letters)
    matrix = check_matrix(given.rows, name="letters")
    rows = unit_rows(sparse.csr_array(matrix), warn=False)
    if rows.shape[0] != n_documents:
        raise InputError(
            f"has {rows.shape[0]:,} rows for {n_documents:,} documents", argument="letters", remedy="give one for each"
        )
    return replace(given, rows=rows)
