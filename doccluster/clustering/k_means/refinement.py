"""Better optima after batch convergence: single-document moves, and chains of moves that may first lose to gain later.

A batch assignment moves a document to the nearest centroid as it stands; it overlooks that the centroids follow. With
the exact gain of a move, documents still move when no batch step would move any, above all in small clusters.

Source: Dhillon, Guan and Kogan, Iterative Clustering of High Dimensional Text Data Augmented by Local Search, ICDM
2002.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from doccluster.base.progress import Progress, silent
from doccluster.clustering.k_means.document_matrix import DocumentMatrix
from doccluster.clustering.k_means.lloyd import Limits, run_start
from doccluster.clustering.k_means.running_means import RunningMeans, Snapshot
from doccluster.kernels.arguments import Csr
from doccluster.kernels.assignment import similarity_rows
from doccluster.kernels.refinement import Clusters, Moves, apply_moves, best_chain, best_moves

LEAST_GAIN = 1e-6  # below it a gain may be rounding of float32 similarities
MOST_MOVES = 4096  # moves of one pass; more are left to the next
MOST_ROUNDS = 200
CHAIN_LENGTH = 40
CHAIN_CELLS = 1_000_000  # products kept during a chain: the documents nearest to a move times the clusters

Labels = npt.NDArray[np.int32]


def refine_start(
    documents: DocumentMatrix,
    start: Snapshot,
    limits: Limits,
    *,
    progress: Progress = silent,
    keep: Callable[[Snapshot], None] | None = None,
) -> Snapshot:
    """Return a start whose objective is at least as high: moves until none gains, then a chain, and again.

    It ends with batch steps, so that the labels are again those of the nearest centroid.
    """
    steps = RunningMeans(documents, start.means, n_head=limits.n_head, most_groups=0)
    labels, objective = start.labels, steps.update(start.labels)
    for number in range(MOST_ROUNDS):
        moves = weigh_moves(steps, labels)
        moved = _bettered(steps, labels, _moved(steps, labels, moves), objective)
        if moved is None:
            moved = _bettered(steps, labels, _chained(steps, labels, moves.gains), objective)
        if moved is None:
            break
        labels, objective = moved
        progress("refine", number + 1, None)
        if keep:
            keep(steps.snapshot(labels, objective, start.n_iter))
    settled = run_start(documents, steps.means, limits)
    better = settled.objective >= start.objective
    return replace(settled, n_iter=start.n_iter + settled.n_iter) if better else start


def weigh_moves(steps: RunningMeans, labels: Labels) -> Moves:
    """Return each document's gain by its best move, where to, and its products with the sums of both clusters."""
    documents, table, clusters = steps.documents, steps.assigner.table, _clusters(steps, labels)

    def one(block: slice) -> Moves:
        weights, usable = documents.weights[block], documents.is_usable[block]
        return Moves(*best_moves(documents.rows(block), table, clusters, weights, usable, labels[block]))

    parts = documents.each_block(one, per_entry=steps.n_clusters)
    return Moves(*map(np.concatenate, zip(*parts, strict=True)))


def _clusters(steps: RunningMeans, labels: Labels) -> Clusters:
    sizes = np.bincount(labels[steps.documents.is_usable], minlength=steps.n_clusters)
    return Clusters(steps.lengths.copy(), sizes)


def _bettered(
    steps: RunningMeans, before: Labels, after: Labels | None, objective: float
) -> tuple[Labels, float] | None:
    """Return the new labels and their objective, or None if it did not rise after all; means follow what is kept."""
    if after is None:
        return None
    found = steps.update(after)
    if found > objective:
        return after, found
    steps.update(before)
    return None


def _moved(steps: RunningMeans, labels: Labels, moves: Moves) -> Labels | None:
    """Return the labels after the moves that gain, best first, or None if there is none."""
    gaining = np.flatnonzero(moves.gains > LEAST_GAIN)
    if not gaining.size:
        return None
    order = gaining[np.argsort(-moves.gains[gaining], kind="stable")][:MOST_MOVES]
    after, documents = labels.copy(), steps.documents
    rows = documents.rows(slice(0, documents.n_documents))
    apply_moves(rows, documents.weights, moves, order, LEAST_GAIN, _clusters(steps, labels), after)
    return after


def _chained(steps: RunningMeans, labels: Labels, gains: npt.NDArray[np.float64]) -> Labels | None:
    """Return the labels after the best beginning of a chain of moves, or None if no beginning gains."""
    movable = np.flatnonzero(np.isfinite(gains))
    nearest = np.argsort(-gains[movable], kind="stable")[: max(2, CHAIN_CELLS // steps.n_clusters)]
    rows = np.sort(movable[nearest])
    if rows.size < 2:
        return None
    some = steps.documents.take(rows)
    products = similarity_rows(some.rows(slice(0, rows.size)), steps.assigner.table)
    products *= steps.lengths
    moves = np.zeros((min(CHAIN_LENGTH, rows.size), 3), np.int64)
    length, gain = best_chain(
        some.rows(slice(0, rows.size)),
        some.weights,
        Csr.of(some.terms_from(0)),
        products,
        _clusters(steps, labels),
        labels[rows],
        moves,
    )
    if gain <= LEAST_GAIN:
        return None
    after = labels.copy()
    after[rows[moves[:length, 0]]] = moves[:length, 2]
    return after
