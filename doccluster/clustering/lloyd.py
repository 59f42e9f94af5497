"""One start, from means to a fixed point: assign, refill, update, until nothing moves or too little is gained.

Exact labels means: those of a naive Lloyd that stores documents and unit means as float32, computes in float64 in
ascending order of the columns, breaks ties to the lowest index and refills by the same rule.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from doccluster.clustering.assigner import Assigner
from doccluster.clustering.document_matrix import DocumentMatrix
from doccluster.clustering.lanes import MOST_GROUPS
from doccluster.clustering.means import Means, update_means
from doccluster.clustering.refill import empty_clusters, own_similarities, refill
from doccluster.progress import Progress, silent

LAST_REFILLS = 3  # how often the labels after the last update may leave a cluster empty before it is left as it is


@dataclass(frozen=True, eq=False)
class Iteration:
    """What an observer is shown after each assignment: the means it used and the labels, refilled, it found."""

    number: int
    means: Means
    labels: npt.NDArray[np.int32]


Observer = Callable[[Iteration], None]


@dataclass(frozen=True)
class Limits:
    """When a start ends, and how much memory its table of means may take."""

    max_iter: int = 300
    tol: float = 1e-4
    table_bytes: float = float("inf")
    change_bytes: float = float("inf")
    most_groups: int = MOST_GROUPS
    keep_sums: bool = True
    algorithm: str = "auto"
    refine: bool = False


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A start as far as it has come: labels, the means they belong to, and the objective of the last update."""

    labels: npt.NDArray[np.int32]
    means: Means
    objective: float
    n_iter: int
    converged: bool = False


def run_start(
    documents: DocumentMatrix,
    means: Means,
    limits: Limits,
    *,
    progress: Progress = silent,
    observe: Observer | None = None,
    keep: Callable[[Snapshot], None] | None = None,
) -> Snapshot:
    """Return the start that begins at `means`, its labels those of its means.

    `keep` is given a snapshot after every iteration, so that an interruption loses nothing.
    """
    assigner = Assigner(
        documents,
        algorithm=limits.algorithm,
        table_bytes=limits.table_bytes,
        change_bytes=limits.change_bytes,
        most_groups=limits.most_groups,
    )
    changed = np.ones(means.n_clusters, np.bool_)
    labels = assigner.assign(means, changed)
    refilled = refill(documents, labels, means)
    assigner.forget(refilled, labels)
    objective, number = -np.inf, 0
    while changed.any():
        if observe:
            observe(Iteration(number, means, labels.copy()))
        means, movements = update_means(documents, labels, means, changed, keep_sums=limits.keep_sums)
        gain, objective = float(means.lengths.sum()) - objective, float(means.lengths.sum())
        number += 1
        if keep:
            keep(Snapshot(labels, means, objective, number))
        progress("cluster", number, limits.max_iter)
        following = assigner.assign(means, changed, movements)
        refilled = refill(documents, following, means)
        assigner.forget(refilled, following)
        changed = changed_clusters(labels, following, means.n_clusters)
        labels = following
        is_last = number >= limits.max_iter or (number > 1 and gain < limits.tol * objective)
        if is_last and (not refilled.size or number >= limits.max_iter + LAST_REFILLS):
            break
    return drop_empty(documents, Snapshot(labels, means, objective, number, converged=not changed.any()))


def changed_clusters(
    before: npt.NDArray[np.int32], after: npt.NDArray[np.int32], n_clusters: int
) -> npt.NDArray[np.bool_]:
    """Return which clusters a document left or joined."""
    moved = np.flatnonzero(before != after)
    changed = np.zeros(n_clusters, np.bool_)
    changed[before[moved]] = True
    changed[after[moved]] = True
    return changed


def drop_empty(documents: DocumentMatrix, last: Snapshot) -> Snapshot:
    """Return the snapshot with clusters that could not be filled dropped, and the objective of its labels."""
    labels, means = last.labels, last.means
    empty = empty_clusters(documents, labels, means.n_clusters)
    if 0 < empty.size < means.n_clusters:
        means = means.take(np.setdiff1d(np.arange(means.n_clusters), empty))
        labels = Assigner(documents, algorithm="lloyd").assign(means, np.ones(means.n_clusters, np.bool_))
    objective = float(np.sum(documents.weights * own_similarities(documents, labels, means)))
    return replace(last, labels=labels, means=means, objective=objective)
