"""The estimator of mixtures of multinomials: scikit-learn's manners over the steps of `multinomial`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import ClusterMixin

from doccluster.base.arrays import CsrArray, Floats, Integers, Matrix, MatrixLike
from doccluster.base.blocks import map_blocks, row_blocks
from doccluster.base.parameter_fields import described_by, parameter
from doccluster.base.progress import checked_progress
from doccluster.base.validation import MAX_STARTS, as_generator
from doccluster.clustering.centroid_estimator import MatrixEstimator
from doccluster.clustering.mixtures._vmf_steps import check_mixture_init, seed_labels
from doccluster.clustering.mixtures.multinomial import BLOCK_ROWS, Multinomials, SettledMixture, settle_labels
from doccluster.clustering.smoothed.document_spaces import shared_term_rows
from doccluster.clustering.task import (
    ClusteringResult,
    ClusteringTask,
    LinearRule,
    SeededParameters,
    capped,
    fit_estimator,
)
from doccluster.errors import InputError, NothingUsable

WITHOUT_COUNTS = "The mixture was fitted to weights of terms: the matrix holds no counts."


@dataclass(kw_only=True, eq=False, repr=False)
class MultinomialParameters(SeededParameters):
    """The parameters of `MultinomialMixture`."""

    assignment: str = parameter(
        "hard",
        "Whether a document counts wholly in its most probable cluster, or in each by its probability.",
        choices=("hard", "soft"),
    )
    smoothing: float = parameter(
        0.5,
        "The share of the whole collection in the distribution of each cluster (Jelinek-Mercer).",
        above=0,
        below=1,
    )
    max_length: float = parameter(
        200.0, "Documents of more terms count as this many, else long ones are too sure of their cluster.", above=0
    )
    init: str | npt.ArrayLike = parameter(
        "k-means",
        "Labels of spherical k-means of the tf-idf rows, of the nearest of random documents, or given labels "
        "0..n_clusters-1.",
        type="{'k-means', 'random'} or int array of shape (n_documents,)",
    )
    n_init: int = parameter(
        10,
        "Starts; the one of the highest likelihood is kept. Given labels are started from once.",
        low=1,
        high=MAX_STARTS,
    )
    max_iter: int = parameter(50, "The most iterations in one start.", low=1)
    tol: float = parameter(1e-3, "A start ends when no larger share of the labels changes.", low=0, high=1)


@described_by(MultinomialParameters)
class MultinomialMixture(ClusterMixin, MultinomialParameters, MatrixEstimator):
    """Mixture of multinomials over the counts of terms, fitted by expectation maximisation.

    Attributes
    ----------
    labels_ : int64 array of shape (n_documents,)
        The most probable cluster, the lowest on ties; that of the largest weight for a document without terms.
    weights_ : float64 array of shape (n_clusters,)
    mixture_ : Multinomials
    log_likelihood_ : float
        Of the documents over that of the distribution of the whole collection, in nats; of the classification, if
        `assignment` is 'hard'.
    n_iter_ : int
    converged_ : bool
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Nigam, McCallum, Thrun & Mitchell 2000, Text classification from labeled and unlabeled documents using EM, Machine
    Learning 39, doi:10.1023/A:1007692713085; Zhong & Ghosh 2005, Generative model-based document clustering, Knowledge
    and Information Systems 8, doi:10.1007/s10115-004-0194-1.

    Examples
    --------
    >>> counts = [[3, 1, 0, 0], [2, 2, 0, 0], [0, 0, 1, 4], [0, 0, 2, 2]]
    >>> found = MultinomialMixture(2, random_state=0).fit(counts)
    >>> bool(found.labels_[0] == found.labels_[1] != found.labels_[2] == found.labels_[3])
    True
    """

    def fit(self, X: MatrixLike, y: object = None) -> Self:
        """Fit the mixture to counts, csr or dense, values >= 0.

        Raises
        ------
        InputError
            If a parameter or the matrix cannot be used.
        NothingUsable
            If no document has a term.

        Warns
        -----
        DocclusterWarning
            If there are fewer distinct documents than clusters.
        """
        matrix = self._matrix_to_fit(X)
        check_mixture_init(self.init, matrix.shape[0], self.n_clusters)
        counts = _non_negative(matrix)
        if not counts.count_nonzero():
            raise NothingUsable("X has no document with a term; there is nothing to fit.")
        value, best = self._best_start(counts, int(self.n_clusters))
        self.mixture_, self.labels_ = best.parameters, best.labels
        self.weights_ = best.parameters.weights
        self.log_likelihood_, self.n_iter_, self.converged_ = value, best.n_iter, best.converged
        return self

    def _best_start(self, counts: CsrArray, k: int) -> tuple[float, SettledMixture]:
        rng = as_generator(self.random_state)
        progress = checked_progress(self.progress)
        n_starts = self.n_init if isinstance(self.init, str) else 1
        rows = shared_term_rows(counts, k, n_threads=self.n_threads).rows

        def run_start(number: int) -> tuple[float, SettledMixture]:
            progress("start", number, n_starts)
            settled = settle_labels(
                counts,
                seed_labels(rows, k, self.init, rng, self.n_threads),
                k,
                smoothing=self.smoothing,
                max_length=self.max_length,
                max_iter=self.max_iter,
                tol=self.tol,
                soft=self.assignment == "soft",
                n_threads=self.n_threads,
            )
            return float(self._of_documents(counts, settled.parameters).sum()), settled

        best = max(map(run_start, range(n_starts)), key=itemgetter(0))  # the first among equals
        progress("start", n_starts, n_starts)
        return best

    def _of_documents(self, counts: CsrArray, parameters: Multinomials) -> Floats:
        """Return the log-likelihood of each document over that of the collection's own distribution."""
        lengths = np.asarray(capped(counts, parameters.max_length).sum(axis=1)).ravel()

        def block(part: slice) -> Floats:
            scores = parameters.scores(counts[part])
            largest: Floats = scores.max(axis=1)
            if self.assignment == "hard":
                return largest
            return np.asarray(largest + np.log(np.exp(scores - largest[:, None]).sum(axis=1)))

        parts = map_blocks(block, row_blocks(counts.shape[0], BLOCK_ROWS), n_threads=self.n_threads)
        return np.asarray(np.concatenate(list(parts)) + lengths * np.log(parameters.smoothing))

    def predict(self, X: MatrixLike) -> Integers:
        """Return the most probable cluster of each document, the lowest on ties."""
        counts = _non_negative(self._new_documents(X).matrix)
        return self.mixture_.rule.labels(counts, n_threads=self.n_threads)

    def predict_proba(self, X: MatrixLike) -> Floats:
        """Return the probability of each cluster for each document, array of shape (n_documents, n_clusters)."""
        counts = _non_negative(self._new_documents(X).matrix)
        return self.mixture_.posteriors(counts)

    def score(self, X: MatrixLike, y: object = None) -> float:
        """Return the mean log-likelihood of the documents over that of the collection's distribution, in nats."""
        counts = _non_negative(self._new_documents(X).matrix)
        return float(self._of_documents(counts, self.mixture_).mean())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags


def _non_negative(matrix: Matrix) -> CsrArray:
    counts = sparse.csr_array(matrix)
    if counts.nnz and counts.data.min() < 0:
        raise InputError("Negative values in data passed to X: a mixture of multinomials needs counts of terms >= 0.")
    return counts


def find_multinomials(task: ClusteringTask) -> ClusteringResult:
    """Return the clusters of a mixture of the counts, or of the weighted rows where there are none."""
    has_counts = task.vectors.counts is not None

    def most_probable(fitted: MultinomialMixture) -> LinearRule:
        rule: LinearRule = fitted.mixture_.rule
        return replace(rule, on_counts=has_counts)

    result = fit_estimator(MultinomialMixture(2), task, most_probable, matrix=task.vectors.counts)
    return result if has_counts else replace(result, left_out=(WITHOUT_COUNTS,))
