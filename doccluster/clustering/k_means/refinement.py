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

from doccluster.clustering.k_means.document_matrix import DocumentMatrix
from doccluster.clustering.k_means.lloyd import Limits, changed_clusters, run_start
from doccluster.clustering.k_means.mean_table import MeanTable, best_head
from doccluster.clustering.k_means.means import Means, update_means
from doccluster.clustering.k_means.seeding import InvertedIndex
from doccluster.clustering.k_means.snapshot import Snapshot
from doccluster.kernels.assignment import similarity_rows
from doccluster.kernels.refinement import Clusters, Moves, apply_moves, best_chain, best_moves
from doccluster.progress import Progress, silent

LEAST_GAIN = 1e-6  # below it a gain may be rounding of float32 similarities
MOST_MOVES = 4096  # moves of one pass; more are left to the next
MOST_ROUNDS = 200
CHAIN_LENGTH = 40
CHAIN_CELLS = 1_000_000  # products kept during a chain: the documents nearest to a move times the clusters

Labelling = tuple[npt.NDArray[np.int32], Means]


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
    k = start.means.n_clusters
    everything = np.ones(k, np.bool_)
    means, _ = update_means(documents, start.labels, start.means, everything, keep_sums=limits.keep_sums)
    labels = start.labels
    for number in range(MOST_ROUNDS):
        table = _table(documents, means, limits)
        moves = weigh_moves(documents, labels, means, table)
        moved = _moved(documents, labels, means, moves)
        if moved is None:
            moved = _chained(documents, labels, means, table, moves.gains)
        if moved is None:
            break
        labels, means = moved
        progress("refine", number + 1, None)
        if keep:
            keep(replace(start, labels=labels, given=means, objective=float(means.lengths.sum())))
    settled = run_start(documents, means, limits)
    better = settled.objective >= start.objective
    return replace(settled, n_iter=start.n_iter + settled.n_iter) if better else start


def weigh_moves(documents: DocumentMatrix, labels: npt.NDArray[np.int32], means: Means, table: MeanTable) -> Moves:
    """Return each document's gain by its best move, where to, and its products with the sums of both clusters."""
    clusters = _clusters(documents, labels, means)

    def one(block: slice) -> Moves:
        weights, usable = documents.weights[block], documents.is_usable[block]
        return Moves(*best_moves(documents.rows(block), table.arrays, clusters, weights, usable, labels[block]))

    parts = documents.each_block(one, per_entry=means.n_clusters)
    return Moves(*map(np.concatenate, zip(*parts, strict=True)))


def _clusters(documents: DocumentMatrix, labels: npt.NDArray[np.int32], means: Means) -> Clusters:
    sizes = np.bincount(labels[documents.is_usable], minlength=means.n_clusters)
    return Clusters(means.lengths.copy(), sizes)


def _moved(
    documents: DocumentMatrix,
    labels: npt.NDArray[np.int32],
    means: Means,
    moves: Moves,
) -> Labelling | None:
    """Return the labelling after the moves that gain, best first, or None if there is none."""
    gaining = np.flatnonzero(moves.gains > LEAST_GAIN)
    if not gaining.size:
        return None
    order = gaining[np.argsort(-moves.gains[gaining], kind="stable")][:MOST_MOVES]
    after = labels.copy()
    rows = documents.rows(slice(0, documents.n_documents))
    apply_moves(rows, documents.weights, moves, order, LEAST_GAIN, _clusters(documents, labels, means), after)
    return _with_means(documents, labels, after, means)


def _chained(
    documents: DocumentMatrix,
    labels: npt.NDArray[np.int32],
    means: Means,
    table: MeanTable,
    gains: npt.NDArray[np.float64],
) -> Labelling | None:
    """Return the labelling after the best beginning of a chain of moves, or None if no beginning gains."""
    movable = np.flatnonzero(np.isfinite(gains))
    nearest = np.argsort(-gains[movable], kind="stable")[: max(2, CHAIN_CELLS // means.n_clusters)]
    rows = np.sort(movable[nearest])
    if rows.size < 2:
        return None
    some = documents.take(rows)
    products = similarity_rows(some.rows(slice(0, rows.size)), table.arrays)
    products *= means.lengths
    index = InvertedIndex.of(some)
    moves = np.zeros((min(CHAIN_LENGTH, rows.size), 3), np.int64)
    length, gain = best_chain(
        some.rows(slice(0, rows.size)),
        some.weights,
        (index.starts, index.rows, index.values),
        products,
        _clusters(documents, labels, means),
        labels[rows],
        moves,
    )
    if gain <= LEAST_GAIN:
        return None
    after = labels.copy()
    after[rows[moves[:length, 0]]] = moves[:length, 2]
    return _with_means(documents, labels, after, means)


def _with_means(
    documents: DocumentMatrix, before: npt.NDArray[np.int32], after: npt.NDArray[np.int32], means: Means
) -> Labelling | None:
    """Return the new labels and their means, or None if the objective did not rise after all."""
    changed = changed_clusters(before, after, means.n_clusters)
    updated, _ = update_means(documents, after, means, changed, keep_sums=means.summed is not None)
    return (after, updated) if updated.lengths.sum() > means.lengths.sum() else None


def _table(documents: DocumentMatrix, means: Means, limits: Limits) -> MeanTable:
    n_head = best_head(means, documents.frequencies, max_bytes=limits.table_bytes)
    return MeanTable(means, n_head)
