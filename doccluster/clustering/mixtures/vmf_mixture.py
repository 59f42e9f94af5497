"""The estimator of mixtures of von Mises-Fisher distributions: scikit-learn's manners over the steps of `_vmf_steps`.

Where spherical k-means gives each document a cluster, the mixture gives it a probability for each, and each cluster a
concentration of its own: tight stories and loose topics can stand side by side.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from doccluster.base.arrays import AnyIntegers, Flags, Floats, Integers, Matrix, MatrixLike, Reals
from doccluster.base.blocks import resolve_threads
from doccluster.base.parameter_fields import described_by, parameter
from doccluster.base.progress import checked_progress
from doccluster.base.validation import (
    MAX_STARTS,
    RandomState,
    as_generator,
    check_positive_int,
    unit_rows,
)
from doccluster.clustering.centroid_estimator import MatrixEstimator
from doccluster.clustering.mixtures._vmf_steps import (
    Expectation,
    MixtureParameters,
    UnitRows,
    check_mixture_init,
    expect,
    expect_labels,
    maximize,
    seed_labels,
    unit_blocks,
)
from doccluster.clustering.mixtures.vmf_functions import MAX_CONCENTRATION, VmfRows, spawn_entropy
from doccluster.clustering.task import SeededParameters
from doccluster.errors import DocclusterWarning, InputError, NothingUsable


@dataclass(frozen=True, eq=False)
class MixtureFit:
    """One start of expectation maximisation, at its end."""

    parameters: MixtureParameters
    expectation: Expectation  # of those parameters
    # the log-likelihood of the parameters before each iteration and at the end; it never falls
    history: tuple[float, ...]
    converged: bool


@dataclass(kw_only=True, eq=False, repr=False)
class VmfParameters(SeededParameters):
    """The parameters of `VonMisesFisherMixture`."""

    assignment: str = parameter(
        "soft",
        "Whether a document counts in each cluster by its probability (the likelihood of the mixture grows), or wholly "
        "in the most probable one (the classification likelihood grows).",
        choices=("soft", "hard"),
    )
    concentration: str | float = parameter(
        "shared",
        "One concentration for all clusters, one for each, or this number for all, not estimated.",
        choices=("shared", "free"),
        low=0,
        high=MAX_CONCENTRATION,
    )
    init: str | npt.ArrayLike = parameter(
        "k-means",
        "Labels of spherical k-means, of the nearest of random documents, or given labels 0..n_clusters-1.",
        type="{'k-means', 'random'} or int array of shape (n_documents,)",
    )
    n_init: int = parameter(
        10, "Number of starts; the one with the highest likelihood is kept.", low=1, high=MAX_STARTS
    )
    max_iter: int = parameter(100, "The most iterations in one start.", low=1)
    tol: float = parameter(
        1e-4, "A start ends when the log-likelihood per document gains less than this, in nats.", low=0
    )
    max_concentration: float = parameter(
        MAX_CONCENTRATION,
        "The bound of the concentrations, which grow without end where all documents of a cluster are equal.",
        above=0,
        high=MAX_CONCENTRATION,
    )


@described_by(VmfParameters)
class VonMisesFisherMixture(ClusterMixin, VmfParameters, MatrixEstimator):
    """Mixture of von Mises-Fisher distributions on the unit sphere, fitted by expectation maximisation.

    Attributes
    ----------
    labels_ : int32 array of shape (n_documents,)
        The most probable cluster. A document without terms has the weights as its probabilities.
    weights_, concentrations_ : float64 arrays of shape (n_clusters,)
    means_ : array of shape (n_clusters, n_terms), unit rows; csr if `X` was sparse
    at_bound_ : bool array of shape (n_clusters,)
        Clusters whose concentration ran to its bound; a warning names them.
    entropies_ : float64 array of shape (n_documents,)
        Entropy of the cluster probabilities of each document, in nats, 0..log n_clusters; nan without terms.
    log_likelihood_ : float
        Of the documents that have terms; of the classification, if `assignment` is 'hard'.
    history_ : tuple of float
        The log-likelihood before each iteration and at the end.
    n_iter_ : int
    converged_ : bool

    Notes
    -----
    Banerjee, Dhillon, Ghosh and Sra, Clustering on the Unit Hypersphere using von Mises-Fisher Distributions, JMLR
    6:1345-1382, 2005. The equation for the concentration is solved to rounding (Sra 2012; Hornik and Gruen 2014), and
    the normaliser holds in any dimension. In many dimensions the probabilities of free concentrations are close to 0
    and 1 ('soft' then behaves as 'hard'): log densities grow with the dimension, so small differences decide.

    Examples
    --------
    >>> rows = [[1.0, 0.0, 0.0], [0.8, 0.6, 0.0], [0.0, 0.0, 1.0], [0.0, 0.6, 0.8]]
    >>> found = VonMisesFisherMixture(2, concentration="shared", random_state=0).fit(rows)
    >>> bool(found.labels_[0] == found.labels_[1] != found.labels_[2])
    True
    """

    def fit(self, X: MatrixLike, y: object = None) -> Self:
        """Fit the mixture to the rows of `X`, csr or dense; rows that are not unit are normalised in a copy.

        Raises
        ------
        InputError
            If a parameter or the matrix cannot be used.
        NothingUsable
            If no row has a non-zero value.

        Warns
        -----
        DocclusterWarning
            If rows were normalised, a concentration ran to its bound, or a cluster lost all its documents.
        """
        matrix = self._matrix_to_fit(X)
        if matrix.shape[1] < 2:
            raise InputError(
                "X has n_features=1: 1 feature(s) give no direction", remedy="the minimum of 2 is required"
            )
        check_mixture_init(self.init, matrix.shape[0], self.n_clusters)
        rows, n_clusters = unit_rows(matrix), int(self.n_clusters)
        documents = unit_blocks(rows, n_clusters)
        if all(block.is_empty.all() for block in documents):
            raise NothingUsable("X has no row with a non-zero value", remedy="there is nothing to fit")
        self._store(self._best_start(rows, documents, n_clusters), matrix)
        return self

    def _best_start(self, rows: Matrix, documents: list[UnitRows], n_clusters: int) -> MixtureFit:
        generator = as_generator(self.random_state)
        n_starts = self.n_init if isinstance(self.init, str) else 1

        def run_start(number: int) -> MixtureFit:
            labels = seed_labels(rows, n_clusters, self.init, generator, self.n_threads)
            return self._run(documents, labels, n_clusters, f"start {number} of {n_starts}")

        return max(map(run_start, range(1, n_starts + 1)), key=lambda fit: fit.history[-1])  # the first among equals

    def _run(self, documents: list[UnitRows], labels: AnyIntegers, n_clusters: int, stage: str) -> MixtureFit:
        """Return the end of one start: maximise, expect, until the gain is below `tol`."""
        report, threads = checked_progress(self.progress), resolve_threads(self.n_threads)
        steps: dict[str, Any] = {
            "concentration_rule": self.concentration,
            "largest": self.max_concentration,
            "dtype": documents[0].given_type,
        }
        how: dict[str, Any] = {"is_hard": self.assignment == "hard", "n_threads": threads}
        parameters = maximize(expect_labels(documents, labels, n_clusters, n_threads=threads), before=None, **steps)
        expectation = expect(documents, parameters, **how)
        history = [expectation.log_likelihood]
        least_gain = self.tol * documents[-1].places.stop
        for iteration in range(self.max_iter):
            report(stage, iteration, self.max_iter)
            following = maximize(expectation, before=parameters, **steps)
            expected = expect(documents, following, **how)
            gain = expected.log_likelihood - history[-1]
            if gain <= 0:  # at the top to rounding: keep the better side
                return MixtureFit(parameters, expectation, tuple(history), True)
            parameters, expectation = following, expected
            history.append(expected.log_likelihood)
            if gain < least_gain:
                return MixtureFit(parameters, expectation, tuple(history), True)
        return MixtureFit(parameters, expectation, tuple(history), False)

    def _store(self, fit: MixtureFit, matrix: Matrix) -> None:
        self._parameters = fit.parameters
        self.weights_ = fit.parameters.weights
        self.concentrations_ = fit.parameters.kappas
        means = np.ascontiguousarray(fit.parameters.means.T, dtype=matrix.dtype)
        self.means_ = sparse.csr_array(means) if sparse.issparse(matrix) else means
        self.labels_ = self._labels(fit.expectation.labels)
        self.entropies_ = fit.expectation.entropies
        self.log_likelihood_ = fit.history[-1]
        self.history_ = fit.history
        self.n_iter_ = len(fit.history) - 1
        self.converged_ = fit.converged
        estimated = isinstance(self.concentration, str)
        self.at_bound_ = (self.concentrations_ >= self.max_concentration) & estimated & (self.weights_ > 0)
        self._warn_of_degenerate_clusters()

    def _warn_of_degenerate_clusters(self) -> None:
        if self.at_bound_.any():
            _warn(
                f"the concentration of {_named(self.at_bound_)} ran to its bound {self.max_concentration:g}, because "
                "all its documents are equal; use concentration='shared', or fold duplicates."
            )
        lost = self.weights_ == 0
        if lost.any():
            _warn(f"{_named(lost)} lost all its documents; choose fewer clusters, or more starts.")

    def _labels(self, labels: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
        """Return the labels with those of empty rows set to the cluster of the largest weight."""
        return np.where(labels >= 0, labels, np.int32(np.argmax(self.weights_))).astype(np.int32)

    def predict(self, X: MatrixLike) -> npt.NDArray[np.int32]:
        """Return the most probable cluster of each row, the lowest on ties."""
        return self._labels(self._expected(X).labels)

    def predict_proba(self, X: MatrixLike) -> Floats:
        """Return the probability of each cluster for each row, array of shape (n_documents, n_clusters)."""
        documents = self._documents(X)
        shares = np.empty((documents[-1].places.stop, self.weights_.size))
        expect(documents, self._parameters, with_sums=False, shares=shares)
        shares[np.concatenate([block.is_empty for block in documents])] = self.weights_
        return shares

    def score_samples(self, X: MatrixLike) -> Floats:
        """Return the log density of each row under the mixture; nan for rows without values."""
        return self._expected(X).log_densities

    def score(self, X: MatrixLike, y: object = None) -> float:
        """Return the mean log density of the rows that have values."""
        densities = self.score_samples(X)
        return float(np.nanmean(densities)) if np.isfinite(densities).any() else float("nan")

    @property
    def n_parameters_(self) -> int:
        """The number of free parameters: directions, concentrations that were estimated, and weights."""
        check_is_fitted(self, "means_")
        k, n_terms = self.weights_.size, int(self.n_features_in_)
        estimated = {"free": k, "shared": 1}.get(self.concentration, 0) if isinstance(self.concentration, str) else 0
        return k * (n_terms - 1) + estimated + k - 1

    def bic(self, X: MatrixLike) -> float:
        """Return the Bayesian information criterion on `X`; lower is better (Schwarz 1978)."""
        densities = self.score_samples(X)
        n_usable = int(np.isfinite(densities).sum())
        return float(-2 * np.nansum(densities) + self.n_parameters_ * np.log(max(n_usable, 1)))

    def aic(self, X: MatrixLike) -> float:
        """Return Akaike's information criterion on `X`; lower is better (Akaike 1974)."""
        return float(-2 * np.nansum(self.score_samples(X)) + 2 * self.n_parameters_)

    def icl(self, X: MatrixLike) -> float:
        """Return the integrated completed likelihood on `X` as BIC plus twice the entropy (Biernacki et al. 2000)."""
        return self.bic(X) + 2 * float(np.nansum(self.entropy(X)))

    def entropy(self, X: MatrixLike) -> Floats:
        """Return the entropy of the cluster probabilities of each row, in nats; nan for rows without values."""
        return self._expected(X).entropies

    def sample(self, n_samples: int = 1, random_state: RandomState = None) -> tuple[Reals, Integers]:
        """Return rows drawn from the fitted mixture, dense, and the cluster of each.

        The rows are directions of the sphere, with negative numbers: they are not texts.
        """
        check_is_fitted(self, "means_")
        generator = as_generator(self.random_state if random_state is None else random_state)
        n_rows = check_positive_int(n_samples, "n_samples")
        labels = generator.choice(self.weights_.size, size=n_rows, p=self.weights_).astype(np.int64, copy=False)
        rows = VmfRows(
            np.ascontiguousarray(self._parameters.means.T),
            self.concentrations_,
            labels,
            entropy=spawn_entropy(generator),
            dtype=self.means_.dtype,
        )
        return rows.draw(n_threads=self.n_threads), labels

    def _documents(self, X: MatrixLike) -> list[UnitRows]:
        return unit_blocks(unit_rows(self._new_documents(X).matrix, warn=False), self.weights_.size)

    def _expected(self, X: MatrixLike) -> Expectation:
        return expect(self._documents(X), self._parameters, with_sums=False, n_threads=resolve_threads(self.n_threads))


def _named(chosen: Flags) -> str:
    numbers = np.flatnonzero(chosen).tolist()
    shown = ", ".join(map(str, numbers[:5])) + (", ..." if len(numbers) > 5 else "")
    return f"cluster {shown}" if len(numbers) == 1 else f"{len(numbers)} clusters ({shown})"


def _warn(message: str) -> None:
    warnings.warn(message, DocclusterWarning, stacklevel=5)
