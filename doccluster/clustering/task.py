"""What an algorithm is given, and what it gives back: the same for all of them, and for any estimator.

An estimator is a dataclass of its parameters, each written once: from the fields come the signature (scikit-learn's
`get_params` and `clone` read it), the checks, the docstring, what run.json may hold, and the tables of the docs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.parameter_fields import parameter
from doccluster.base.progress import Progress, silent
from doccluster.base.validation import RandomState, compact_indices
from doccluster.clustering.linear_rule import LinearRule
from doccluster.errors import DocclusterError, InputError
from doccluster.geometry import Documents
from doccluster.geometry.documents import count_distinct_rows
from doccluster.vectors.meaning import Meaning

STARTS = 10  # of an algorithm that makes several, by default


class SmoothedRows(NamedTuple):
    """Dense unit rows, each moved towards its neighbours, and the graph of those.

    `moved_once` are the rows after one step of smoothing, for counting clusters: more steps blur small ones.
    """

    points: Any
    graph: Any  # NeighbourGraph or JoinedGraph
    moved_once: Any = None


@dataclass(frozen=True, eq=False)
class ClusteringTask:
    """Documents to be clustered, and how."""

    documents: Documents
    counts: Any | None = None  # csr array of the same shape, or None: how often each term occurs, where that is known
    n_clusters: int = 8
    seed: int = 0
    # what the algorithm's own `options` name; a value of None is left out
    options: Mapping[str, Any] = field(default_factory=dict)
    n_threads: int | None = None  # changes no result
    progress: Progress = silent
    meaning: Meaning | None = None  # the documents in a second space, for algorithms that take both
    smoothed: SmoothedRows | None = None  # the rows as an algorithm smooths them that does, where that was done already
    # of shape (n_documents,): clusters 0..n_clusters-1 to begin from, for algorithms that can; -1 for a document that
    # is in none
    start: npt.NDArray[np.int64] | None = None
    term_factors: npt.NDArray[np.float64] | None = None  # that rows and counts hold already, see `DocumentVectors`

    @property
    def rows(self) -> Any:
        """The unit rows, csr or dense array of shape (n_documents, n_terms)."""
        return self.documents.unit


@dataclass(frozen=True, eq=False)
class ClusteringResult:
    """A partition of documents."""

    labels: npt.NDArray[np.integer[Any]]  # of shape (n_documents,): from 0 on; a number may be that of no document
    # csr or dense array of shape (n_clusters, n_terms), or None: unit directions of the sums of the rows of each
    # cluster, where the algorithm has them
    centroids: Any | None = None
    rule: LinearRule | None = None  # which cluster a new document belongs to; None: the one with the nearest centroid
    # of shape (n_documents,): labels of the starts of which the best was gone on with, that one first: how stable the
    # clusters are
    starts: tuple[npt.NDArray[np.integer[Any]], ...] = ()
    # which steps were not done, and why, a sentence each: no fault, but a reader of the results should know
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()  # what else differs from the settings, a sentence each, of which the caller is warned
    interrupted: bool = False  # whether a person stopped the work, and this is the best until then
    from_start: bool = False  # whether it began from the clusters of the task


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
    estimator: Any, task: ClusteringTask, decide: Decide | None = None, *, matrix: Any = None
) -> ClusteringResult:
    """Fit an estimator and return its clusters; `decide` makes the rule for new documents of it.

    It is fitted to the unit rows of the task, or to another `matrix` of the same documents.
    Never more clusters than distinct rows are asked for. An estimator that takes no number of threads gets one, since
    its sums would else depend on how many there are.

    Raises InputError if the estimator refuses an option.
    """
    from threadpoolctl import threadpool_limits

    matrix = compact_indices(task.rows if matrix is None else matrix)
    parameters = estimator.get_params(deep=False)
    settings = {
        "n_clusters": min(task.n_clusters, count_distinct_rows(matrix)),
        "random_state": task.seed,
        "n_threads": task.n_threads,
        "progress": task.progress,
        "n_init": STARTS,
        **{name: value for name, value in task.options.items() if value is not None},
    }
    task.progress("cluster", 0)
    try:
        estimator.set_params(**{name: value for name, value in settings.items() if name in parameters})
        with threadpool_limits(None if "n_threads" in parameters else 1):
            estimator.fit(matrix)
    except DocclusterError:
        raise
    except (TypeError, ValueError) as error:
        raise InputError(f"{type(estimator).__name__} refuses its options: {error}") from error
    return ClusteringResult(labels_of(estimator, matrix), rule=None if decide is None else decide(estimator))


def labels_of(fitted: Any, matrix: Any) -> npt.NDArray[np.int64]:
    """Return the labels of the rows that an estimator was fitted to."""
    labels = fitted.labels_ if hasattr(fitted, "labels_") else fitted.predict(matrix)
    return np.asarray(labels, dtype=np.int64)


def nearest_mean(fitted: Any) -> LinearRule:
    """Return the rule of k-means: the nearest mean, which is the highest x . m - |m|^2 / 2."""
    means = np.asarray(fitted.cluster_centers_, dtype=np.float64)
    offsets = -0.5 * np.einsum("ij,ij->i", means, means)
    return LinearRule(sparse.csr_array(means.T), offsets, np.arange(offsets.size, dtype=np.int64))


def most_probable_direction(fitted: Any) -> LinearRule:
    """Return the rule of a von Mises-Fisher mixture: the highest kappa mu . x + log C(kappa) + log weight."""
    from doccluster.clustering.mixtures.vmf_functions import log_normalizer

    kappas = np.ascontiguousarray(fitted.concentrations_, dtype=np.float64)
    with np.errstate(divide="ignore"):
        offsets = log_normalizer(int(fitted.n_features_in_), kappas) + np.log(fitted.weights_)
    directions = sparse.csr_array(fitted.means_).astype(np.float64)
    weights = sparse.csr_array((sparse.diags_array(kappas) @ directions).T)
    return LinearRule(weights, offsets, np.arange(offsets.size, dtype=np.int64))
