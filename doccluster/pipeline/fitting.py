"""The third stage: a partition of the documents that have terms, clusters in order of size."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.clustering.algorithms import Algorithm
from doccluster.clustering.linear_rule import LinearRule
from doccluster.clustering.task import Found, Task
from doccluster.errors import DocclusterWarning
from doccluster.evaluation import score
from doccluster.geometry.sums import sums_by_label
from doccluster.partition import Partition
from doccluster.validation import check_n_clusters, unit_rows


@dataclass(frozen=True, eq=False)
class Fit:
    """A partition, its unit centroids, and whether a person stopped the work before it was done.

    `rule` says which cluster a new document belongs to (None: the one with the nearest centroid). `stability` is the
    mean adjusted Rand index of the best start with the others, None without any. `left_out` says in sentences which
    steps were not done. `candidates` are the labels of the partitions that went into a consensus, int32 array of shape
    (n_candidates, n_documents), None without any. `from_start` says whether the clusters of the task were begun from.
    """

    partition: Partition
    centroids: Any
    rule: LinearRule | None
    interrupted: bool
    stability: float | None
    left_out: tuple[str, ...] = ()
    candidates: npt.NDArray[np.int32] | None = None
    from_start: bool = False


def fit_clusters(algorithm: Algorithm, task: Task) -> Fit:
    """Run an algorithm; on Ctrl-C the best result so far comes back, where there is one.

    Raises InputError if there are more clusters than documents, or an option is unknown. Raises KeyboardInterrupt if
    the work was stopped before there was anything to keep.
    """
    check_n_clusters(task.n_clusters, task.rows.shape[0])
    algorithm.check_options(task.options)
    return fit_of(algorithm.find_clusters(task), task.rows)


def fit_of(found: Found, rows: Any) -> Fit:
    """Return the result for some rows as a fit: clusters in order of size, each with its centroid."""
    for note in found.notes:
        warnings.warn(note, DocclusterWarning, stacklevel=3)
    partition, order = largest_first(found.labels)
    centroids = centroids_of(rows, partition) if found.centroids is None else found.centroids[order]
    rule = None if found.rule is None else found.rule.renumbered(new_numbers(order, int(found.rule.clusters.max()) + 1))
    agreements = [score("adjusted_rand", other, truth=found.starts[0]).value for other in found.starts[1:]]
    stability = float(np.mean(agreements)) if agreements else None
    candidates = np.array(list(found.candidates.values()), dtype=np.int32) if found.candidates else None
    told = found.interrupted, stability, found.left_out, candidates, found.from_start
    return Fit(partition, centroids, rule, *told)


def in_input_order(fit: Fit, order: npt.NDArray[np.int64]) -> Fit:
    """Return the fit of rows ``order`` of the input as one of the input: the label of each row where it stood."""
    labels = np.empty_like(fit.partition.labels)
    labels[order] = fit.partition.labels
    candidates = None if fit.candidates is None else fit.candidates[:, np.argsort(order)]
    return replace(fit, partition=replace(fit.partition, labels=labels), candidates=candidates)


def largest_first(labels: Any) -> tuple[Partition, npt.NDArray[np.int64]]:
    """Return the partition with its clusters numbered by size, largest first, and the numbers they had before."""
    kept, codes, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    order = np.argsort(-sizes, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    return Partition(rank[codes].astype(np.int64), tuple(range(kept.size))), kept[order].astype(np.int64)


def new_numbers(order: npt.NDArray[np.int64], n_before: int) -> npt.NDArray[np.int64]:
    """Return the new number of each old one, where `order` names the old ones that stay; -1 for the others."""
    numbers = np.full(n_before, -1, dtype=np.int64)
    numbers[order] = np.arange(order.size)
    return numbers


def centroids_of(rows: Any, partition: Partition) -> Any:
    """Return the unit directions of the sums of the rows of each cluster, csr where the rows are."""
    sums = sums_by_label(rows, partition.labels, partition.n_clusters)
    return unit_rows(sums, warn=False).astype(rows.dtype)
