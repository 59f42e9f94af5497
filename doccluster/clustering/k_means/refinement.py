"""Better optima after batch convergence: moves of single documents, whose centroids follow at once.

A batch assignment moves a document to the nearest centroid as it stands; it overlooks that the centroids follow. With
the exact gain of a move, documents still move when no batch step would move any, above all in small clusters.

Source: Dhillon, Guan and Kogan, Iterative Clustering of High Dimensional Text Data Augmented by Local Search, ICDM
2002 (their first variation).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse

from doccluster.base.progress import Progress, silent
from doccluster.clustering.k_means.lloyd import Limits, Snapshot, run_start
from doccluster.clustering.k_means.lloyd_steps import LloydSteps
from doccluster.clustering.k_means.unit_documents import UnitDocuments
from doccluster.geometry.criterion_moves import refine_by_moves

MOST_ROUNDS = 20  # of moves and batch steps in turn


def refine_start(
    documents: UnitDocuments,
    start: Snapshot,
    limits: Limits,
    begin: Callable[..., LloydSteps],
    *,
    progress: Progress = silent,
) -> Snapshot:
    """Return a start whose objective is at least as high: moves until none gains, then batch steps, and again.

    `begin` returns the steps that begin at means and `labels`.
    """
    matrix = documents.matrix
    weighted = matrix.data * np.repeat(documents.weights, np.diff(matrix.indptr))  # I2 of these is the objective
    rows = sparse.csr_array((weighted, matrix.indices.copy(), matrix.indptr.copy()), shape=matrix.shape)
    rows.eliminate_zeros()
    best = start
    for number in range(MOST_ROUNDS):
        n_clusters = best.means.shape[0]
        labels = refine_by_moves("i2", rows, best.labels, n_clusters, rng=np.random.default_rng(number))
        progress("refine", number + 1, None)
        if np.array_equal(labels, best.labels):
            break
        steps = begin(best.means, labels=labels.astype(np.int32))
        settled = run_start(steps, limits, resume_from=(best.n_iter, -np.inf))
        if settled.objective <= best.objective:
            break
        best = settled
    return best
