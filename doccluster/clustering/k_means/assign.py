"""Which centroid is nearest to each document, and which is next: for `predict`, `transform` and new documents."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.blocks import Result, resolve_threads, row_blocks, share_blocks
from doccluster.clustering.k_means.dense_rows import rows_left_open
from doccluster.clustering.k_means.document_matrix import (
    BLOCK_ROWS,
    SERIAL_WORK,
    frequency_order,
    reorder,
)
from doccluster.clustering.k_means.mean_table import head_length, lane_table
from doccluster.clustering.k_means.means import means_of_matrix
from doccluster.clustering.k_means.seeding import unit_rows_of
from doccluster.errors import InputError
from doccluster.geometry.documents import as_documents
from doccluster.kernels.assignment import Bounds, LaneTable, RowArrays, assign_rows, place_rows, similarity_rows
from doccluster.short_repr import ShortRepr
from doccluster.sparse_structure import document_frequencies


@dataclass(frozen=True, eq=False, repr=False)
class Assignment(ShortRepr):
    """The nearest centroid of each document and the one after it.

    Attributes
    ----------
    labels : int32 array of shape (n_documents,)
    similarity : float64 array of shape (n_documents,)
        Cosine to the nearest centroid, -1..1; 0 for a document without terms.
    runner_up : int32 array of shape (n_documents,)
        The second nearest centroid, -1 when there is only one.
    runner_up_similarity : float64 array of shape (n_documents,)
        Cosine to it; nan when there is only one.
    """

    labels: npt.NDArray[np.int32]
    similarity: npt.NDArray[np.float64]
    runner_up: npt.NDArray[np.int32]
    runner_up_similarity: npt.NDArray[np.float64]


def assign_to_centroids(matrix: Any, centroids: Any, *, n_threads: int | None = None) -> Assignment:
    """Return the nearest and the second nearest centroid of each document by cosine, lowest index on ties.

    Parameters
    ----------
    matrix : csr or dense matrix of shape (n_documents, n_terms)
        Rows need not be unit.
    centroids : csr or dense matrix of shape (n_clusters, n_terms)
        Rows need not be unit; a zero row is at cosine 0 from everything.
    n_threads : int, optional
        All processors by default; the result does not depend on it.

    Raises
    ------
    InputError
        If a matrix is not finite and numeric, or they differ in their number of columns.

    Examples
    --------
    >>> assign_to_centroids([[1.0, 0.1], [0.0, 2.0]], [[1.0, 0.0], [0.0, 1.0]]).labels
    array([0, 1], dtype=int32)
    """
    return place_documents(matrix, centroids, n_threads=n_threads)[0]


def place_documents(
    matrix: Any, centroids: Any, labels: npt.NDArray[np.integer[Any]] | None = None, *, n_threads: int | None = None
) -> tuple[Assignment, npt.NDArray[np.float64]]:
    """Return `assign_to_centroids`, and of the same sweep the cosine of each document to the centroid in `labels`.

    Without `labels` that is the nearest one.
    """
    sweep = _Sweep(matrix, centroids, n_threads)
    # a copy, since kernels are compiled for arrays that can be written, and labels may not be one
    given = np.empty(0, np.int64) if labels is None else labels.astype(np.int64)

    def place(rows: Any, block: slice) -> tuple[npt.NDArray[Any], ...]:
        placed: tuple[npt.NDArray[Any], ...] = place_rows(rows, sweep.table, given[block])
        return placed

    found, similarity, runner_up, runner_up_similarity, own = map(np.concatenate, zip(*sweep.run(place), strict=True))
    return Assignment(found, similarity, runner_up, runner_up_similarity), own


def nearest_centroids(matrix: Any, centroids: Any, *, n_threads: int | None = None) -> npt.NDArray[np.int32]:
    """Return the labels of `assign_to_centroids` alone, a few times faster."""
    sweep = _Sweep(matrix, centroids, n_threads)
    if sweep.is_full:
        return np.concatenate(sweep.each_block(sweep.label_full_rows))
    return np.concatenate(sweep.run(lambda rows, block: assign_labels(rows, sweep.table)))


def assign_labels(rows: RowArrays, table: LaneTable) -> npt.NDArray[np.int32]:
    """Return the nearest cluster of each row of a block."""
    n_rows, n_columns = rows.starts.size - 1, rows.original.size
    which, head = np.arange(n_rows), table.head
    bounds = labels_only(n_rows)
    if rows.values.size == n_rows * n_columns and head.shape[0] == n_columns:
        which = rows_left_open(rows.values.reshape(n_rows, n_columns), head, which, table.n_clusters, bounds)
    assign_rows(rows, table, which, 1, bounds)
    labels: npt.NDArray[np.int32] = bounds.labels
    return labels


def labels_only(n_rows: int) -> Bounds:
    """Return room for the labels of `n` rows, and for no bounds on what is farther away."""
    return Bounds(np.empty(n_rows, np.int32), np.empty(n_rows, np.float32), np.empty((n_rows, 0), np.float32))


def centroid_similarities(matrix: Any, centroids: Any, *, n_threads: int | None = None) -> npt.NDArray[np.float64]:
    """Return the cosine of each document to each centroid, float64 array of shape (n_documents, n_clusters)."""
    sweep = _Sweep(matrix, centroids, n_threads)
    return np.concatenate(sweep.run(lambda rows, block: similarity_rows(rows, sweep.table)))


class _Sweep:
    """Documents and the table of the centroids, for kernels that visit each document once."""

    def __init__(self, matrix: Any, centroids: Any, n_threads: int | None) -> None:
        self._documents = as_documents(matrix)
        centres = unit_rows_of(as_documents(centroids, name="centroids"))
        if centres.shape[1] != self._documents.n_terms:
            raise InputError(
                f"X has {self._documents.n_terms} features, but the centroids have {centres.shape[1]}",
                remedy="use the vectorizer that the centroids were made with",
            )
        rows = self._documents.in_range
        self.is_full, (n_rows, n_terms) = self._documents.is_full, rows.shape
        frequencies = np.full(n_terms, n_rows, np.int64) if self.is_full else document_frequencies(rows)
        self._order = frequency_order(frequencies)
        n_head = head_length(frequencies[self._order], centres.shape[0])
        self.table = lane_table(means_of_matrix(centres, self._order), n_head)
        self._work = int(frequencies.sum()) * centres.shape[0]
        self._n_threads = resolve_threads(n_threads)

    def run(self, function: Callable[[Any, slice], Result]) -> list[Result]:
        """Return the results of the function for blocks of rows, renumbered as the table wants them."""
        rows, scale = self._documents.in_range, self._documents.unit_scale

        def one(block: slice) -> Result:
            documents = reorder(_rows(rows, block), self._order, scale[block])
            return function(documents.rows(slice(0, documents.n_documents)), block)

        return self.each_block(one)

    def each_block(self, function: Callable[[slice], Result]) -> list[Result]:
        """Return the results of the function for blocks of rows."""
        workers = self._n_threads if self._work > SERIAL_WORK else 1
        return share_blocks(function, row_blocks(self._documents.n_documents, BLOCK_ROWS), n_threads=workers)

    def label_full_rows(self, block: slice) -> npt.NDArray[np.int32]:
        """Return the labels of a block of rows without zeros; only rows that a product leaves open are laid out."""
        documents, table = self._documents, self.table
        scaled = documents.in_range[block]
        if not documents.has_unit_rows:
            scaled = scaled * documents.unit_scale[block, None]
        rows = np.ascontiguousarray(scaled, dtype=np.float32)
        bounds = labels_only(len(rows))
        left = rows_left_open(rows, table.head, np.arange(len(rows)), table.n_clusters, bounds)
        if left.size:
            documents_left = reorder(rows[left], self._order, np.ones(left.size))
            bounds.labels[left] = assign_labels(documents_left.rows(slice(0, left.size)), table)
        labels: npt.NDArray[np.int32] = bounds.labels
        return labels


def _rows(rows: Any, block: slice) -> Any:
    """Return a block of rows of a csr or dense matrix as views of the same arrays."""
    if not sparse.issparse(rows):
        return rows[block]
    starts = rows.indptr[block.start : block.stop + 1]
    entries = slice(starts[0], starts[-1])
    shape = (block.stop - block.start, rows.shape[1])
    return sparse.csr_array((rows.data[entries], rows.indices[entries], starts - starts[0]), shape=shape)
