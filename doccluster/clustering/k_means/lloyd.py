"""One start, from means to a fixed point: assign, refill, update, until nothing moves or too little is gained.

Exact labels means: those of a naive Lloyd that stores documents and unit means as float32, computes in float64 in
ascending order of the columns, breaks ties to the lowest index and refills by the same rule.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.progress import Progress, silent
from doccluster.clustering.k_means.assigner import MOST_GROUPS, Assigner
from doccluster.clustering.k_means.document_matrix import DocumentMatrix
from doccluster.clustering.k_means.refill import empty_clusters, refill
from doccluster.clustering.k_means.running_means import RunningMeans, Snapshot

LAST_REFILLS = 3  # how often the labels after the last update may leave a cluster empty before it is left as it is


@dataclass(frozen=True, eq=False)
class Iteration:
    """What an observer is shown after each assignment: the means it used and the labels, refilled, it found."""

    number: int
    means: sparse.csr_array
    labels: npt.NDArray[np.int32]


Observer = Callable[[Iteration], None]


@dataclass(frozen=True)
class Limits:
    """When a start ends, and how many terms and groups of clusters may have a place of their own in memory."""

    max_iter: int = 300
    tol: float = 1e-4
    n_head: int | None = None
    most_groups: int = MOST_GROUPS
    refine: bool = False


def run_start(
    documents: DocumentMatrix,
    means: sparse.csr_array,
    limits: Limits,
    *,
    progress: Progress = silent,
    observe: Observer | None = None,
    keep: Callable[[Snapshot], None] | None = None,
) -> Snapshot:
    """Return the start that begins at `means`, its labels those of its means.

    `keep` is given a snapshot after every iteration, so that an interruption loses nothing.
    """
    steps = RunningMeans(documents, means, n_head=limits.n_head, most_groups=limits.most_groups)
    labels = _assigned(steps)[0]
    objective, number, converged = -np.inf, 0, False
    while not converged:
        if observe:
            observe(Iteration(number, steps.means, labels.copy()))
        before, objective = objective, steps.update(labels)
        number += 1
        if keep:
            keep(steps.snapshot(labels, objective, number))
        progress("cluster", number, limits.max_iter)
        following, refilled = _assigned(steps)
        converged = np.array_equal(labels, following)
        labels = following
        is_last = number >= limits.max_iter or (number > 1 and objective - before < limits.tol * objective)
        if is_last and (not refilled.size or number >= limits.max_iter + LAST_REFILLS):
            break
    last = replace(steps.snapshot(labels, objective, number), converged=converged)
    return drop_empty(documents, last, steps.assigner)


def _assigned(steps: RunningMeans) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """Return the labels after the next assignment, and the documents that empty clusters were given."""
    labels = steps.assign()
    refilled = refill(steps.assigner, labels)
    if refilled.size:
        steps.assigner.forget(refilled, labels)
    return labels, refilled


def drop_empty(documents: DocumentMatrix, last: Snapshot, assigner: Assigner | None = None) -> Snapshot:
    """Return the snapshot with clusters that could not be filled dropped, and the objective of its labels.

    `assigner` has the table of its means, where there is one.
    """
    labels, means = last.labels, last.means
    empty = empty_clusters(documents, labels, means.shape[0])
    if 0 < empty.size < means.shape[0]:
        means = sparse.csr_array(means[np.setdiff1d(np.arange(means.shape[0]), empty)])
        assigner = Assigner(documents, means, most_groups=0)
        labels = assigner.assign()
    assigner = assigner or Assigner(documents, means, most_groups=0)
    own = assigner.own_similarities(labels)
    return replace(last, labels=labels, given=means, objective=float(np.sum(documents.weights * own)))
