"""Mixtures of multinomials over the counts of terms: the two steps of expectation maximisation, hard and soft.

Sources: Nigam, McCallum, Thrun & Mitchell 2000, "Text classification from labeled and unlabeled documents using EM",
Machine Learning 39; Zhong & Ghosh 2005, "Generative model-based document clustering", Knowledge and Information Systems
8; the smoothing of the shares is that of Jelinek and Mercer (Zhai & Lafferty 2004, TOIS 22(2), section 3).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from doccluster.base.arrays import AnyIntegers, CsrArray, Floats, Labels, Matrix
from doccluster.base.blocks import resolve_threads, row_blocks, share_blocks
from doccluster.base.place import Place
from doccluster.base.progress import Progress, silent
from doccluster.base.sparse_structure import with_values
from doccluster.clustering.task import LinearRule, capped

BLOCK_ROWS = 2048
FILE_ROWS = 2**13  # of documents in files, at a time
MAX_LENGTH, SMOOTHING, MAX_ITER, TOL = 200.0, 0.5, 20, 1e-3
MIN_POSTERIOR = 1e-4  # smaller posterior probabilities do not count in the next step


@dataclass(frozen=True, eq=False)
class Multinomials:
    """The parameters of a mixture."""

    # of shape (n_clusters,): the share of the documents in each cluster; 0 for a cluster without documents
    weights: Floats
    # csr array of shape (n_terms, n_clusters): log(theta_ct / (smoothing background_t)): 0, and not stored, for a term
    # that a cluster has not
    odds: CsrArray
    # the share of the collection in theta_ct = (1 - smoothing) share of t in c + smoothing background_t
    smoothing: float
    max_length: float  # counts of longer documents are scaled to this sum

    @property
    def n_clusters(self) -> int:
        """The number of clusters, those without documents included."""
        return int(self.weights.size)

    @cached_property
    def rule(self) -> LinearRule:
        """Which cluster a document belongs to: the most probable one."""
        with np.errstate(divide="ignore"):
            prior = np.log(self.weights)
        clusters = np.arange(self.n_clusters, dtype=np.int64)
        return LinearRule(self.odds, prior, clusters, on_counts=True, max_length=self.max_length)

    def scores(self, counts: CsrArray) -> Floats:
        """Return log(weight_c) + sum_t x_t log(theta_ct / background_t), but for a constant of each document.

        Shape (n_documents, n_clusters); it is the log-posterior but for a constant of each document.
        """
        return self.rule.scores(counts)

    def posteriors(self, counts: CsrArray) -> Floats:
        """Return the probability of each cluster for each document, of shape (n_documents, n_clusters)."""
        scores = self.scores(counts)
        shares: Floats = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        return shares


@dataclass(frozen=True, eq=False)
class SettledMixture:
    """Where expectation maximisation ended: its parameters, the labels under them, and how many rounds it took.

    The labels are those of the most probable clusters under these parameters, so predicting the same documents again
    gives them back.
    """

    parameters: Multinomials
    labels: Labels
    n_iter: int
    converged: bool


def settle_labels(
    counts: CsrArray,
    labels: AnyIntegers,
    n_clusters: int,
    *,
    smoothing: float = SMOOTHING,
    max_length: float = MAX_LENGTH,
    max_iter: int = MAX_ITER,
    tol: float = TOL,
    soft: bool = False,
    n_threads: int | None = None,
    progress: Progress = silent,
) -> SettledMixture:
    """Return a partition moved from given labels to the nearest optimum of a multinomial mixture.

    `counts`: csr array of shape (n_documents, n_terms), values >= 0. `labels`: int array of shape (n_documents,),
    0..n_clusters-1. `smoothing`, `max_length`, `max_iter`, `tol`: as for `MultinomialMixture`. `soft`: whether a
    document counts in every cluster by its probability, or wholly in the most probable.
    """
    rows = capped(counts, max_length)
    background = np.asarray(rows.sum(axis=0)).ravel()

    def fit(shares: object) -> Multinomials:
        return maximize(rows, shares, background, smoothing, max_length)

    def label(parameters: Multinomials) -> tuple[Labels, CsrArray]:
        return expect(rows, replace(parameters, max_length=np.inf), soft=soft, n_threads=n_threads)

    first_partition = np.asarray(labels, dtype=np.int64), one_hot(labels, n_clusters)
    return settle(fit, label, first_partition, max_iter=max_iter, tol=tol, progress=progress)


def settle_in_files(
    place: Place, counts: CsrArray, labels: Labels, n_clusters: int, *, progress: Progress = silent
) -> SettledMixture:
    """Return `settle_labels` of counts in files of a place, of which none is held.

    A round sends the parameters out and brings sums of counts back. Counts, also those that are scaled to the greatest
    length, are whole numbers of small steps, so the sums and the rule made of them are those of `settle_labels` bit for
    bit.
    """
    blocks = row_blocks(counts.shape[0], FILE_ROWS)
    background: list[Floats] = []  # the same in each round

    def fit(labels: Labels) -> Multinomials:
        sums = place.add(sum_counts, blocks, counts, labels, n_clusters)
        if not background:
            background.append(np.asarray(sums.sum(axis=1)).ravel())
        weights = np.bincount(labels, minlength=n_clusters) / labels.size
        return multinomials_of(sums, weights, background[0], SMOOTHING, MAX_LENGTH)

    def label(parameters: Multinomials) -> tuple[Labels, Labels]:
        next_labels = np.concatenate(list(place.map(most_probable, blocks, counts, parameters)))
        return next_labels, next_labels

    return settle(fit, label, (labels, labels), max_iter=MAX_ITER, tol=TOL, progress=progress)


def sum_counts(block: slice, counts: CsrArray, labels: Labels, n_clusters: int) -> CsrArray:
    """Return the sums of the capped counts of some documents by cluster, csr array of shape (n_terms, n_clusters)."""
    return sparse.csr_array(capped(counts[block], MAX_LENGTH).T @ one_hot(labels[block], n_clusters))


def most_probable(block: slice, counts: CsrArray, parameters: Multinomials) -> Labels:
    """Return the most probable cluster of each of some documents, the lowest on ties."""
    return parameters.rule.labels(counts[block], n_threads=1)


def settle(
    fit: Callable[[Any], Multinomials],
    label: Callable[[Multinomials], tuple[Labels, CsrArray]],
    first_partition: tuple[Labels, CsrArray],
    *,
    max_iter: int,
    tol: float,
    progress: Progress,
) -> SettledMixture:
    """Return where fitting and labelling in turn end, wherever that is done.

    `label` returns labels and what `fit` makes of them the next parameters; `first_partition` are such.
    """
    (now, shares), number = first_partition, 0
    while True:
        number += 1
        parameters = fit(shares)
        next_labels, shares = label(parameters)
        settled = bool(np.count_nonzero(next_labels != now) <= tol * now.size)
        now = next_labels
        progress("settle", number, max_iter)
        if settled or number >= max_iter:
            return SettledMixture(parameters, now, number, settled)


def maximize(rows: CsrArray, shares: CsrArray, background: Floats, smoothing: float, max_length: float) -> Multinomials:
    """Return the parameters that fit the shares of the documents in the clusters.

    `rows`: csr array of shape (n_documents, n_terms), capped counts. `shares`: csr array of shape (n_documents,
    n_clusters), rows of sum 1. `background`: float64 array of shape (n_terms,), the sums of the columns of `rows`.
    """
    sums = sparse.csr_array(rows.T @ shares)  # (n_terms, n_clusters)
    weights = np.asarray(shares.sum(axis=0)).ravel() / rows.shape[0]
    return multinomials_of(sums, weights, background, smoothing, max_length)


def multinomials_of(
    sums: CsrArray, weights: Floats, background: Floats, smoothing: float, max_length: float
) -> Multinomials:
    """Return the parameters that fit sums of counts by cluster, csr array of shape (n_terms, n_clusters)."""
    totals = np.asarray(sums.sum(axis=0)).ravel()
    terms = np.repeat(np.arange(sums.shape[0]), np.diff(sums.indptr))
    ratio = sums.data / totals[sums.indices] * (background.sum() / background[terms])
    odds = with_values(sums, np.log1p((1.0 - smoothing) / smoothing * ratio))
    return Multinomials(weights, odds, smoothing, max_length)


def expect(
    rows: Matrix, parameters: Multinomials, *, soft: bool, n_threads: int | None = None
) -> tuple[Labels, CsrArray]:
    """Return the most probable cluster of each document (the lowest on ties), and the shares that count next."""

    def block(part: slice) -> tuple[Labels, CsrArray]:
        if not soft:
            labels: Labels = parameters.scores(rows[part]).argmax(axis=1)
            return labels, one_hot(labels, parameters.n_clusters)
        posteriors = parameters.posteriors(rows[part])
        posteriors[posteriors < MIN_POSTERIOR] = 0.0
        posteriors /= posteriors.sum(axis=1, keepdims=True)
        return posteriors.argmax(axis=1), sparse.csr_array(posteriors)

    parts = share_blocks(block, row_blocks(rows.shape[0], BLOCK_ROWS), n_threads=resolve_threads(n_threads))
    labels = np.concatenate([labels for labels, _ in parts])
    return labels, sparse.csr_array(sparse.vstack([shares for _, shares in parts], format="csr"))


def one_hot(labels: AnyIntegers, n_clusters: int) -> CsrArray:
    """Return the membership of documents in clusters, csr array of shape (n_documents, n_clusters)."""
    n = labels.size
    return sparse.csr_array((np.ones(n), np.asarray(labels), np.arange(n + 1)), shape=(n, n_clusters))
