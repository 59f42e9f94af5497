"""One start, from means to a fixed point: assign, refill, update, until nothing moves or too little is gained.

Exact labels means: those of a naive Lloyd that stores documents and unit means as float32, computes in float64 in
ascending order of the columns, breaks ties to the lowest index and refills by the same rule.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from doccluster.clustering.document_matrix import DocumentMatrix
from doccluster.clustering.means import Means, MeanTable, mean_table, update_means
from doccluster.clustering.refill import empty_clusters, own_similarities, refill
from doccluster.kernels.assignment import assign_rows
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
    algorithm: str = "auto"


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A start as far as it has come: labels, the means they belong to, and the objective of the last update."""

    labels: npt.NDArray[np.int32]
    means: Means
    objective: float
    n_iter: int
    converged: bool = False


class Assigner:
    """Labels under means that change little from one iteration to the next."""

    def __init__(self, documents: DocumentMatrix, limits: Limits) -> None:
        self._documents = documents
        self._limits = limits
        self._table: MeanTable | None = None
        n = documents.n_documents
        self._similarity = np.empty(n, np.float32)
        self._others = np.empty(n, np.float32)

    def assign(self, means: Means, changed: npt.NDArray[np.bool_]) -> npt.NDArray[np.int32]:
        """Return the nearest mean of each document."""
        table = self._layout(means, changed)
        documents = self._documents
        labels = np.empty(documents.n_documents, np.int32)

        def one(block: slice) -> None:
            assign_rows(
                documents.values,
                documents.columns,
                documents.starts[block.start : block.stop + 1],
                documents.original,
                *table.arrays,
                means.n_clusters,
                labels[block],
                self._similarity[block],
                self._others[block],
            )

        documents.each_block(one, per_entry=means.n_clusters)
        return labels

    def _layout(self, means: Means, changed: npt.NDArray[np.bool_]) -> MeanTable:
        if self._table is None or changed.sum() > means.n_clusters // 2:
            self._table = None  # the old table goes before the new one comes
            self._table = mean_table(self._documents, means, max_bytes=self._limits.table_bytes)
        else:
            self._table.replace(means, changed)
        return self._table


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
    assigner = Assigner(documents, limits)
    changed = np.ones(means.n_clusters, np.bool_)
    labels = assigner.assign(means, changed)
    refilled = refill(documents, labels, means)
    objective, number = -np.inf, 0
    while changed.any():
        if observe:
            observe(Iteration(number, means, labels.copy()))
        means, _ = update_means(documents, labels, means, changed)
        gain, objective = float(means.lengths.sum()) - objective, float(means.lengths.sum())
        number += 1
        if keep:
            keep(Snapshot(labels, means, objective, number))
        progress("cluster", number, limits.max_iter)
        following = assigner.assign(means, changed)
        refilled = refill(documents, following, means)
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
        labels = Assigner(documents, Limits()).assign(means, np.ones(means.n_clusters, np.bool_))
    objective = float(np.sum(documents.weights * own_similarities(documents, labels, means)))
    return replace(last, labels=labels, means=means, objective=objective)
