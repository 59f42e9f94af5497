"""A start of a small matrix: sums and means of all clusters as whole tables that follow the documents that move.

A matrix is small if its tables stay near the processor; then it is cheaper to go through them once in each iteration
than to keep sparse means. Where sums are not exact, those of changed clusters are added up again, members ascending.
Means and labels are those of the sparse way. Rows without zeros are multiplied by a library of linear algebra; what its
rounding leaves open is decided by our own sweep.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from doccluster.blocks import row_blocks
from doccluster.clustering.k_means.dense_rows import rows_left_open
from doccluster.clustering.k_means.document_matrix import BLOCK_ROWS, DocumentMatrix
from doccluster.clustering.k_means.mean_table import table_width
from doccluster.clustering.k_means.means import Means, update_means
from doccluster.clustering.k_means.movement import chords_of, padded_groups
from doccluster.clustering.k_means.snapshot import Snapshot
from doccluster.kernels.accumulation import CANCELLED
from doccluster.kernels.assignment import HIGHEST, LOWEST, Bounds, LaneTable, assign_rows
from doccluster.kernels.bounds import Chords, rows_in_question
from doccluster.kernels.simd.lanes import LINE, aligned_zeros
from doccluster.kernels.whole_table import (
    add_dense_rows,
    add_rows,
    move_rows,
    own_products,
    renew_means,
    square_sums,
)

MOST_CELLS = 2**21  # of each table, 8 MiB of means and 16 MiB of sums
MOST_ENTRIES = 4_000_000  # of the matrix: the first sums are made by one thread
BLOCK_CELLS = 2**18  # of a table that a thread goes through at a time
CELL_WORK = 4  # what a cell costs, in multiplications


def table_cells(n_columns: int, n_entries: int, n_clusters: int) -> int:
    """Return the cells of each whole table, 0 where the matrix is too large for them."""
    cells = n_columns * table_width(n_clusters)
    return cells if cells <= MOST_CELLS and n_entries <= MOST_ENTRIES else 0


def is_small(documents: DocumentMatrix, n_clusters: int, most_bytes: float) -> bool:
    """Return whether whole tables are the way: few cells, and means within `most_bytes`."""
    cells = table_cells(documents.n_columns, documents.values.size, n_clusters)
    return 0 < 4 * cells <= most_bytes


class WholeTable:
    """Labels and means of a small matrix, iteration after iteration."""

    def __init__(self, documents: DocumentMatrix, means: Means) -> None:
        k, n = means.n_clusters, documents.n_documents
        self._documents, self._n_clusters = documents, k
        self._rows = documents.rows(slice(0, n))
        self._head = aligned_zeros((documents.n_columns, table_width(k)), np.float32)
        for cluster in range(k):
            entries = slice(means.starts[cluster], means.stops[cluster])
            self._head[means.rows.columns[entries], cluster] = means.rows.values[entries]
        self._sums = aligned_zeros(self._head.shape, np.float64)
        no_tail = np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0, np.float32)
        self._table = LaneTable(self._head, *no_tail, k)
        self._summed = np.full(n, -1, np.int32)
        self._weights, self._lengths = np.zeros(k), np.full(k, np.nan)
        self._dense = documents.dense
        upper = np.full((n, padded_groups(k, LINE)), HIGHEST, np.float32)
        self._bounds = Bounds(np.zeros(n, np.int32), np.full(n, LOWEST, np.float32), upper)
        self._chords: Chords | None = None
        self._n_updates = 0

    def assign(self) -> npt.NDArray[np.int32]:
        """Return the nearest mean of each document; documents whose bounds tell that it is the same are skipped."""
        n, bounds = self._documents.n_documents, self._bounds
        rows = np.arange(n) if self._chords is None else rows_in_question(self._chords, bounds)

        def one(block: slice) -> None:
            which = rows[block]
            if self._dense is not None:
                which = rows_left_open(self._dense, self._head, which, self._n_clusters, bounds)
            assign_rows(self._rows, self._table, which, LINE, bounds)

        entries = self._documents.values.size * rows.size / n
        blocks = row_blocks(rows.size, BLOCK_ROWS)
        self._documents.share(one, blocks, multiplications=entries * self._head.shape[1])
        labels: npt.NDArray[np.int32] = bounds.labels.copy()
        return labels

    def forget(self, rows: npt.NDArray[np.int64], labels: npt.NDArray[np.int32]) -> None:
        """Take over labels that were changed from outside for these rows."""
        self._bounds.forget(rows, labels)

    def update(self, labels: npt.NDArray[np.int32]) -> float:
        """Make the means those of a labelling and return its objective.

        A cluster whose members have no direction together keeps its old mean.
        """
        k, width = self._n_clusters, self._head.shape[1]
        has_moved = np.zeros(k, np.bool_)
        if self._documents.has_exact_sums:
            move_rows(self._rows, self._summed, labels, self._sums, self._weights, has_moved)
        else:
            moved = np.flatnonzero(self._summed != labels)
            has_moved[labels[moved]] = True
            has_moved[self._summed[moved][self._summed[moved] >= 0]] = True
            self._weights[has_moved] = 0
            self._sums[:, :k][:, has_moved] = 0
            given = labels, self._documents.weights, has_moved, self._sums, self._weights
            if self._dense is None:
                add_rows(self._rows, *given)
            else:
                add_dense_rows(self._dense, *given)
        self._summed[:] = labels
        squared = self._over_terms(lambda terms, squared: square_sums(self._sums[terms], squared))
        self._lengths = np.sqrt(squared[:k])
        has_sum = self._lengths > CANCELLED * self._weights
        lengths, is_new = np.ones(width), np.zeros(width, np.bool_)
        is_new[:k] = has_moved & has_sum
        lengths[:k][is_new[:k]] = self._lengths[is_new[:k]]
        chords = self._over_terms(
            lambda terms, squared: renew_means(self._sums[terms], lengths, is_new, self._head[terms], squared)
        )
        self._chords = chords_of(np.sqrt(chords), is_new, self._bounds.upper.shape[1])
        self._n_updates += 1
        return float(self._lengths.sum())

    def _over_terms(self, add_squares: Callable[[slice, npt.NDArray[np.float64]], None]) -> npt.NDArray[np.float64]:
        """Return for each lane what a function adds up over the terms, whatever the number of threads."""
        width = self._head.shape[1]

        def one(terms: slice) -> npt.NDArray[np.float64]:
            squared = np.zeros(width)
            add_squares(terms, squared)
            return squared

        blocks = row_blocks(self._head.shape[0], BLOCK_CELLS // width)
        found = self._documents.share(one, blocks, multiplications=CELL_WORK * self._head.size)
        return np.asarray(np.sum(found, axis=0))

    @property
    def bounds(self) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """A lower bound on each document's similarity to its own mean, upper bounds on the others of each line."""
        return self._bounds.lower, self._bounds.upper

    @property
    def means(self) -> Means:
        """The means as sparse rows, terms ascending."""
        rows = np.ascontiguousarray(self._head[:, : self._n_clusters].T)
        lanes, columns = np.nonzero(rows)
        edges = np.concatenate([[0], np.cumsum(np.bincount(lanes, minlength=self._n_clusters))])
        found = Means.of_arrays(rows[rows != 0], columns.astype(np.int32), edges, self._documents.n_columns)
        found.lengths[:] = self._lengths
        return found

    def snapshot(self, labels: npt.NDArray[np.int32], objective: float, number: int) -> Snapshot:
        """Return the start as far as it has come; its means are made when they are asked for."""
        made_after = self._n_updates

        def means() -> Means:
            """Read the means from the table; after later updates, which replaced them there, make them again."""
            if self._n_updates == made_after:
                return self.means
            everything = np.ones(self._n_clusters, np.bool_)
            return update_means(self._documents, labels, self.means, everything, keep_sums=False)[0]

        return Snapshot(labels, means, objective, number)

    def own_similarities(self, labels: npt.NDArray[np.int32]) -> npt.NDArray[np.float64]:
        """Return the float64 similarity of each document to the mean of its cluster."""
        products = np.empty(labels.size)
        own_products(self._rows, self._head, labels, products)
        return products
