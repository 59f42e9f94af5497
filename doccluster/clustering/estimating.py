"""Any estimator of scikit-learn's kind as an algorithm of the table: what it is given, and what it returns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.validation import compact_indices
from doccluster.clustering.linear_rule import LinearRule
from doccluster.clustering.task import STARTS, ClusteringResult, ClusteringTask
from doccluster.errors import DocclusterError, InputError
from doccluster.geometry.documents import count_distinct_rows

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
