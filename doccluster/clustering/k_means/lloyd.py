"""One start, from means to a fixed point: assign, refill, update, until nothing moves or too little is gained.

Exact labels means: those of a naive Lloyd that stores documents and unit means as float32, computes in float64 in
ascending order of the columns, breaks ties to the lowest index and refills by the same rule.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from doccluster.clustering.k_means.assigner import Assigner
from doccluster.clustering.k_means.document_matrix import DocumentMatrix
from doccluster.clustering.k_means.means import Means, update_means
from doccluster.clustering.k_means.movement import MOST_GROUPS
from doccluster.clustering.k_means.refill import empty_clusters, own_similarities, refill
from doccluster.clustering.k_means.snapshot import Snapshot
from doccluster.clustering.k_means.whole_table import WholeTable, is_small
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
    half_bytes: float = float("inf")
    most_groups: int = MOST_GROUPS
    keep_sums: bool = True
    whole_tables: bool = True
    refine: bool = False


class SparseMeans:
    """Labels and sparse means, iteration after iteration: the way for every matrix."""

    def __init__(self, documents: DocumentMatrix, means: Means, limits: Limits) -> None:
        self.means = means
        self._documents, self._keeps_sums = documents, limits.keep_sums
        self._changed = np.ones(means.n_clusters, np.bool_)
        self._movements: npt.NDArray[np.float64] | None = None
        self._labels: npt.NDArray[np.int32] | None = None
        table, halves = limits.table_bytes, limits.half_bytes
        self._assigner = Assigner(documents, limits.most_groups, table_bytes=table, half_bytes=halves)

    def assign(self) -> npt.NDArray[np.int32]:
        """Return the nearest mean of each document."""
        return self._assigner.assign(self.means, self._changed, self._movements)

    def forget(self, rows: npt.NDArray[np.int64], labels: npt.NDArray[np.int32]) -> None:
        """Take over labels that were changed from outside for these rows."""
        self._assigner.forget(rows, labels)

    def update(self, labels: npt.NDArray[np.int32]) -> float:
        """Make the means those of a labelling and return its objective."""
        if self._labels is not None:
            self._changed = changed_clusters(self._labels, labels, self.means.n_clusters)
        self.means, self._movements = update_means(
            self._documents, labels, self.means, self._changed, keep_sums=self._keeps_sums
        )
        self._labels = labels
        return float(self.means.lengths.sum())

    def snapshot(self, labels: npt.NDArray[np.int32], objective: float, number: int) -> Snapshot:
        """Return the start as far as it has come."""
        return Snapshot(labels, self.means, objective, number)

    def own_similarities(self, labels: npt.NDArray[np.int32]) -> npt.NDArray[np.float64]:
        """Return the float64 similarity of each document to the mean of its cluster."""
        return own_similarities(self._documents, labels, self.means)


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
    k = means.n_clusters
    is_whole = limits.whole_tables and is_small(documents, k, limits.table_bytes)
    steps = WholeTable(documents, means) if is_whole else SparseMeans(documents, means, limits)
    labels = _assigned(documents, steps, k)[0]
    objective, number, converged = -np.inf, 0, False
    while not converged:
        if observe:
            observe(Iteration(number, steps.means, labels.copy()))
        before, objective = objective, steps.update(labels)
        number += 1
        if keep:
            keep(steps.snapshot(labels, objective, number))
        progress("cluster", number, limits.max_iter)
        following, refilled = _assigned(documents, steps, k)
        converged = np.array_equal(labels, following)
        labels = following
        is_last = number >= limits.max_iter or (number > 1 and objective - before < limits.tol * objective)
        if is_last and (not refilled.size or number >= limits.max_iter + LAST_REFILLS):
            break
    last = replace(steps.snapshot(labels, objective, number), converged=converged)
    return drop_empty(documents, last, steps.own_similarities)


def _assigned(
    documents: DocumentMatrix, steps: SparseMeans | WholeTable, n_clusters: int
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """Return the labels after the next assignment, and the documents that empty clusters were given."""
    labels = steps.assign()
    if not empty_clusters(documents, labels, n_clusters).size:
        return labels, np.empty(0, np.int64)
    refilled = refill(documents, labels, steps.means)
    steps.forget(refilled, labels)
    return labels, refilled


def changed_clusters(
    before: npt.NDArray[np.int32], after: npt.NDArray[np.int32], n_clusters: int
) -> npt.NDArray[np.bool_]:
    """Return which clusters a document left or joined."""
    moved = np.flatnonzero(before != after)
    changed = np.zeros(n_clusters, np.bool_)
    changed[before[moved]] = True
    changed[after[moved]] = True
    return changed


def drop_empty(
    documents: DocumentMatrix,
    last: Snapshot,
    similarities: Callable[[npt.NDArray[np.int32]], npt.NDArray[np.float64]] | None = None,
) -> Snapshot:
    """Return the snapshot with clusters that could not be filled dropped, and the objective of its labels.

    `similarities` gives those of documents with some labels to their means, where they are known.
    """
    labels, means = last.labels, last.means
    empty = empty_clusters(documents, labels, means.n_clusters)
    if 0 < empty.size < means.n_clusters:
        means = means.take(np.setdiff1d(np.arange(means.n_clusters), empty))
        labels = Assigner(documents).assign(means, np.ones(means.n_clusters, np.bool_))
        similarities = None
    own = similarities(labels) if similarities else own_similarities(documents, labels, means)
    return replace(last, labels=labels, given=means, objective=float(np.sum(documents.weights * own)))
