"""The third stage: a partition of the documents that have terms, clusters in order of size."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.clustering.spherical import FitInterrupted, SphericalParameters, spherical_k_means
from doccluster.errors import DocclusterWarning, InputError
from doccluster.evaluation import score
from doccluster.partition import Partition
from doccluster.progress import Progress
from doccluster.validation import check_matrix, check_n_clusters


@dataclass(frozen=True, eq=False)
class Fit:
    """A partition, its unit centroids, and whether a person stopped the work before it was done.

    `stability` is the mean adjusted Rand index of the partition with those of the other starts, None without any.
    """

    partition: Partition
    centroids: Any
    interrupted: bool
    n_iterations: int
    stability: float | None


def fit_clusters(
    matrix: Any,
    *,
    n_clusters: int | str,
    seed: int,
    options: Mapping[str, Any],
    n_threads: int | None,
    progress: Progress,
) -> Fit:
    """Return the best of the starts; on Ctrl-C the best so far.

    Raises
    ------
    InputError
        If there are more clusters than documents, or an option is unknown.
    KeyboardInterrupt
        If the work was stopped before there was anything to keep.
    """
    k = check_n_clusters(n_clusters, matrix.shape[0])
    settings = {name: value for name, value in options.items() if value is not None}
    try:
        parameters = SphericalParameters(k, random_state=seed, n_threads=n_threads, progress=progress, **settings)
    except TypeError as error:
        raise InputError(f"the clustering has an option that is not known: {error}.") from error
    interrupted = False
    try:
        found = spherical_k_means(check_matrix(matrix), parameters)
    except FitInterrupted as stopped:
        if stopped.so_far is None:
            raise
        found, interrupted = stopped.so_far, True
    for note in found.notes:
        warnings.warn(note, DocclusterWarning, stacklevel=2)
    partition, centroids = largest_first(found.labels, found.centroids)
    agreements = [score("adjusted_rand", other, truth=found.labels).value for other in found.other_labels]
    stability = float(np.mean(agreements)) if agreements else None
    return Fit(partition, centroids, interrupted, found.n_iter, stability)


def in_input_order(fit: Fit, order: npt.NDArray[np.int64]) -> Fit:
    """Return the fit of rows ``order`` of the input as one of the input: the label of each row where it stood."""
    labels = np.empty_like(fit.partition.labels)
    labels[order] = fit.partition.labels
    return replace(fit, partition=replace(fit.partition, labels=labels))


def largest_first(labels: Any, centroids: Any) -> tuple[Partition, Any]:
    """Return the partition with its clusters numbered by size, largest first, and the centroids in that order."""
    kept, codes, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    order = np.argsort(-sizes, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    return Partition(rank[codes].astype(np.int64), tuple(range(kept.size))), centroids[kept[order]]
