"""What an algorithm is given, and what it gives back: the same for all of them, and for any estimator.

An estimator is a dataclass of its parameters, each written once: from the fields come the signature (scikit-learn's
`get_params` and `clone` read it), the checks, the docstring, what run.json may hold, and the tables of the docs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.arrays import AnyIntegers, CsrArray, Flags, Floats, Integers, Matrix, is_sparse
from doccluster.base.blocks import library_threads, map_blocks, row_blocks
from doccluster.base.parameter_fields import parameter
from doccluster.base.place import Place
from doccluster.base.plain_values import ShortRepr
from doccluster.base.progress import Progress, silent
from doccluster.base.validation import RandomState, compact_indices
from doccluster.errors import DocclusterError, InputError
from doccluster.geometry.documents import count_distinct_rows

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from doccluster.geometry import Documents
    from doccluster.geometry.neighbours import JoinedGraph, NeighbourGraph
    from doccluster.vectors import DocumentVectors

BLOCK_ROWS = 2048
N_MEMBERSHIPS = 3  # clusters of a document whose probabilities are kept
MAX_TABLE = 2**23  # weights that are laid out for many rows, the zeros too: 64 MiB
TERMS_PER_ENTRY = 8  # of the rows, for which that is worth it
STEP = 2.0**-24  # of scaled counts: sums of up to half a billion are then exact in float64, and so in any order


@dataclass(frozen=True, eq=False, repr=False)
class LinearRule(ShortRepr):
    r"""The cluster of a document x is that of the highest score x . w + b, the first on ties.

    So decide k-means (w the mean, b = -|w|^2 / 2), a mixture of von Mises-Fisher distributions (kappa mu and the
    logarithm of weight and normaliser) and a mixture of multinomials (the odds of the terms, the logarithm of the
    weight).
    """

    weights: CsrArray  # csr array of shape (n_terms, n_scores)
    offsets: Floats  # of shape (n_scores,): minus infinity for a cluster that nothing goes to
    # of shape (n_scores,): the cluster that each score is for: its own, or with others one that an editor merged
    clusters: Integers
    on_counts: bool = False  # whether x are the counts of the terms, or the unit rows
    max_length: float = np.inf  # rows of a larger sum are scaled to it first; infinity for none

    def labels(self, matrix: Matrix, *, n_threads: int | None = None) -> Integers:
        """Return the cluster of each row, int64 array of shape (n_documents,)."""

        def decide(block: slice) -> Integers:
            return np.asarray(self.clusters[self.scores(matrix[block]).argmax(axis=1)])

        parts = map_blocks(decide, row_blocks(matrix.shape[0], BLOCK_ROWS), n_threads=n_threads)
        return np.concatenate(list(parts))

    def scores(self, matrix: Matrix) -> Floats:
        """Return the scores of each row, float64 array of shape (n_documents, n_scores)."""
        rows = capped(matrix, self.max_length) if np.isfinite(self.max_length) else matrix
        n_weights = self.weights.shape[0] * self.weights.shape[1]
        is_many = is_sparse(rows) and TERMS_PER_ENTRY * rows.nnz >= self.weights.shape[0]
        products = rows @ (self._table if is_many and n_weights <= MAX_TABLE else self.weights)
        return np.asarray((products.toarray() if is_sparse(products) else products) + self.offsets)

    def memberships(self, matrix: Matrix, n_clusters: int) -> CsrArray:
        """Return the probability of the likeliest clusters of each row, where the scores are log-posteriors.

        csr array of shape (n_rows, n_clusters) with the three largest entries of each row, none for one without terms.
        Probabilities of clusters that an editor merged are added.
        """
        n_scores, n_largest = self.clusters.size, min(N_MEMBERSHIPS, n_clusters)
        of_cluster = sparse.csr_array((np.ones(n_scores), (np.arange(n_scores), self.clusters)), (n_scores, n_clusters))

        def largest(block: slice) -> CsrArray:
            rows = matrix[block]
            has_terms = np.asarray(abs(rows).sum(axis=1)).ravel() > 0
            scores = self.scores(rows)[has_terms]
            shares = np.exp(scores - scores.max(axis=1, keepdims=True)) @ of_cluster
            shares /= shares.sum(axis=1, keepdims=True)
            columns = np.sort(np.argpartition(-shares, n_largest - 1, axis=1)[:, :n_largest], axis=1)
            starts = np.concatenate([[0], np.cumsum(has_terms * n_largest)])
            values = np.take_along_axis(shares, columns, axis=1)
            return sparse.csr_array((values.ravel(), columns.ravel(), starts), shape=(has_terms.size, n_clusters))

        blocks = row_blocks(matrix.shape[0], BLOCK_ROWS)
        return sparse.csr_array(sparse.vstack(list(map_blocks(largest, blocks)), format="csr"))

    @cached_property
    def _table(self) -> Floats:
        """The weights with their zeros: products take the same steps, faster, as long as there are few of them."""
        return np.asarray(self.weights.toarray())

    def renumbered(self, numbers: Integers) -> LinearRule:
        """Return the rule with new numbers for clusters, by their old ones; one that becomes -1 is left out."""
        clusters = numbers[self.clusters]
        columns = np.flatnonzero(clusters >= 0)
        weights = sparse.csr_array(self.weights[:, columns])
        weights.sort_indices()
        return replace(self, weights=weights, offsets=self.offsets[columns], clusters=clusters[columns])


def decide(
    rule: LinearRule | None, rows: Matrix, counts: CsrArray | None, centroids: Matrix, *, n_threads: int | None = None
) -> Integers:
    """Return the cluster of each new document by a rule, without one that of the nearest centroid.

    Raises InputError if the rule is on counts, and there are none.
    """
    if rule is None:
        from doccluster.clustering.k_means.assign import (
            assign_to_centroids,  # brings in numba, which reading a rule need not
        )

        return assign_to_centroids(rows, centroids, n_threads=n_threads).labels.astype(np.int64)
    if not rule.on_counts:
        return rule.labels(rows, n_threads=n_threads)
    if counts is None:
        raise InputError(
            "the clusters were made by counts of terms, and the matrix holds other values", remedy="give counts"
        )
    return rule.labels(counts, n_threads=n_threads)


def capped(matrix: Matrix, max_length: float) -> CsrArray:
    """Return rows in float64, those of a larger sum than `max_length` scaled to that sum, in whole steps."""
    rows = sparse.csr_array(matrix, dtype=np.float64)
    sums = np.asarray(rows.sum(axis=1)).ravel()
    scale = np.minimum(1.0, np.divide(max_length, sums, out=np.ones_like(sums), where=sums > 0))
    if (scale == 1.0).all():
        return rows
    scaled = np.repeat(scale < 1.0, np.diff(rows.indptr))
    data = rows.data * np.repeat(scale, np.diff(rows.indptr))
    data = np.where(scaled, np.rint(data / STEP) * STEP, data)
    return sparse.csr_array((data, rows.indices, rows.indptr), shape=rows.shape)


# share of the documents of a run that are nearer than this to the rest of their cluster: one in ten would be called new
SHARE_BELOW = 0.1


def leave_one_out_similarity(labels: Integers, similarity: Floats) -> Floats:
    r"""Return the cosine of each document to the centroid of the other documents of its cluster.

    The sum s of the unit vectors of a cluster has the length L, which is the sum of the cosines of the members to the
    centroid s / L. Without the document x it is s - x, and with c the cosine of x to the centroid

    .. math:: \cos(x, s - x) = \frac{c L - 1}{\sqrt{L^2 - 2 c L + 1}}

    so that no vector is needed.

    `labels` of shape (n_documents,): clusters 0..k-1. `similarity` of shape (n_documents,): the cosine of each document
    to the centroid of its cluster, the normalised sum of its members.

    Returned: float64 array of shape (n_documents,): nan for the only document of a cluster.

    Two documents at 60 degrees are each at 30 degrees from their centroid.

    >>> leave_one_out_similarity(np.array([0, 0]), np.cos(np.radians([30.0, 30.0]))).round(3)
    array([0.5, 0.5])
    """
    length = np.bincount(labels, weights=similarity)[labels]
    is_alone = np.bincount(labels)[labels] == 1
    squared_rest = length * length - 2 * similarity * length + 1
    with np.errstate(invalid="ignore", divide="ignore"):
        cosine = (similarity * length - 1) / np.sqrt(np.maximum(squared_rest, 0))
    return np.where(is_alone | (squared_rest <= 0), np.nan, np.clip(cosine, -1.0, 1.0))


def learn_threshold(
    labels: npt.ArrayLike,
    similarity: npt.ArrayLike,
    *,
    counted: Flags | None = None,
) -> float | None:
    """Return the cosine below which a new document fits no cluster: a low quantile of `leave_one_out_similarity`.

    `counted` are the documents of which the quantile is taken, all by default. None if each of them is alone in its
    cluster.

    >>> learn_threshold(np.array([0, 0, 1]), np.cos(np.radians([30.0, 30.0, 0.0])))
    0.5
    """
    usual = leave_one_out_similarity(np.asarray(labels), np.asarray(similarity, dtype=np.float64))
    usual = usual[~np.isnan(usual) & (True if counted is None else counted)]
    return round(float(np.quantile(usual, SHARE_BELOW)), 6) if usual.size else None


Parameters = TypeVar("Parameters")
STARTS = 10  # of an algorithm that makes several, by default


class SmoothedRows(NamedTuple):
    """Dense unit rows, each moved towards its neighbours, and the graph of those.

    `moved_once` are the rows after one step of smoothing, for counting clusters: more steps blur small ones.
    """

    points: Matrix
    graph: NeighbourGraph | JoinedGraph
    moved_once: Matrix | None = None


@dataclass(frozen=True, eq=False)
class ClusteringTask:
    """Documents to be clustered, and how."""

    vectors: DocumentVectors
    n_clusters: int = 8
    seed: int = 0
    # what the algorithm's own `options` name; a value of None is left out
    options: Mapping[str, Any] = field(default_factory=dict)
    n_threads: int | None = None  # changes no result
    progress: Progress = silent
    smoothed: SmoothedRows | None = None  # the rows as an algorithm smooths them that does, where that was done already
    # of shape (n_documents,): clusters 0..n_clusters-1 to begin from, for algorithms that can; -1 for a document that
    # is in none
    start: Integers | None = None
    place: Place | None = None  # where the documents lie and are worked on; in memory, by threads, by default
    # what does there as `spherical_k_means` does in memory: returns the fit of documents with its parameters
    fit_spherical: Callable[[Documents, Any], Any] | None = None

    @property
    def rows(self) -> Matrix:
        """The unit rows, csr or dense array of shape (n_documents, n_terms)."""
        return self.vectors.documents.unit

    @property
    def chosen_options(self) -> dict[str, Any]:
        """The options that have a value."""
        return {name: value for name, value in self.options.items() if value is not None}

    def parameters(self, kind: Callable[..., Parameters], **fixed: object) -> Parameters:
        """Return the parameters of an algorithm as the task sets them."""
        of_task = {"random_state": self.seed, "n_threads": self.n_threads, "progress": self.progress}
        return kind(n_clusters=self.n_clusters, **of_task, **fixed, **self.chosen_options)


@dataclass(frozen=True, eq=False)
class ClusteringResult:
    """A partition of documents."""

    labels: AnyIntegers  # of shape (n_documents,): from 0 on; a number may be that of no document
    # csr or dense array of shape (n_clusters, n_terms), or None: unit directions of the sums of the rows of each
    # cluster, where the algorithm has them
    centroids: CsrArray | None = None
    rule: LinearRule | None = None  # which cluster a new document belongs to; None: the one with the nearest centroid
    # of shape (n_documents,): labels of the starts of which the best was gone on with, that one first: how stable the
    # clusters are
    starts: tuple[AnyIntegers, ...] = ()
    # which steps were not done, and why, a sentence each: no fault, but a reader of the results should know
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()  # what else differs from the settings, a sentence each, of which the caller is warned
    interrupted: bool = False  # whether a person stopped the work, and this is the best until then
    from_start: bool = False  # whether it began from the clusters of the task
    # of shape (n_documents, any): the rows in which the clusters were found, where not the task's
    points: Matrix | None = None


@dataclass(eq=False, repr=False)
class ClusteringParameters:
    """What every estimator takes."""

    n_clusters: int = parameter(8, "The number of clusters.", low=1)
    _: KW_ONLY
    n_threads: int | None = parameter(
        None, "The number of threads, all processors by default; the result does not depend on it.", type="int"
    )
    progress: Progress | None = parameter(
        None, "Called with the stage, the work done and the total.", type="callable ``(stage, done, total)``"
    )


@dataclass(kw_only=True, eq=False, repr=False)
class SeededParameters(ClusteringParameters):
    """What every estimator takes that makes random choices."""

    random_state: RandomState = parameter(None, "The seed.", type="int, numpy Generator or RandomState")


Decide = Callable[[Any], LinearRule]


def fit_estimator(
    estimator: BaseEstimator, task: ClusteringTask, decide: Decide | None = None, *, matrix: Matrix | None = None
) -> ClusteringResult:
    """Fit an estimator and return its clusters; `decide` makes the rule for new documents of it.

    It is fitted to the unit rows of the task, or to another `matrix` of the same documents.
    Never more clusters than distinct rows are asked for. An estimator that takes no number of threads gets one, since
    its sums would else depend on how many there are.

    Raises InputError if the estimator refuses an option.
    """
    matrix = compact_indices(task.rows if matrix is None else matrix)
    parameters = estimator.get_params(deep=False)
    settings = {
        "n_clusters": min(task.n_clusters, count_distinct_rows(matrix)),
        "random_state": task.seed,
        "n_threads": task.n_threads,
        "progress": task.progress,
        "n_init": STARTS,
        **task.chosen_options,
    }
    task.progress("cluster", 0)
    try:
        # of the settings an estimator gets those that it knows
        estimator.set_params(**{name: value for name, value in settings.items() if name in parameters})
        with library_threads(None if "n_threads" in parameters else 1):
            estimator.fit(matrix)
    except DocclusterError:
        raise
    except (TypeError, ValueError) as error:
        raise InputError(f"{type(estimator).__name__} refuses its options: {error}") from error
    labels = np.asarray(estimator.labels_ if hasattr(estimator, "labels_") else estimator.predict(matrix), np.int64)
    return ClusteringResult(labels, rule=None if decide is None else decide(estimator))


def nearest_mean(fitted: BaseEstimator) -> LinearRule:
    """Return the rule of k-means: the nearest mean, which is the highest x . m - |m|^2 / 2."""
    means = np.asarray(fitted.cluster_centers_, dtype=np.float64)
    offsets = -0.5 * np.einsum("ij,ij->i", means, means)
    return LinearRule(sparse.csr_array(means.T), offsets, np.arange(offsets.size, dtype=np.int64))


def most_probable_direction(fitted: BaseEstimator) -> LinearRule:
    """Return the rule of a von Mises-Fisher mixture: the highest kappa mu . x + log C(kappa) + log weight."""
    from doccluster.clustering.mixtures.vmf_functions import log_normalizer

    kappas = np.ascontiguousarray(fitted.concentrations_, dtype=np.float64)
    with np.errstate(divide="ignore"):
        offsets = log_normalizer(int(fitted.n_features_in_), kappas) + np.log(fitted.weights_)
    directions = sparse.csr_array(fitted.means_).astype(np.float64)
    weights = sparse.csr_array((sparse.diags_array(kappas) @ directions).T)
    return LinearRule(weights, offsets, np.arange(offsets.size, dtype=np.int64))
