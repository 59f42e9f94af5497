"""Which centroid is nearest to each document, and which is next: for `predict`, `transform` and new documents."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.blocks import resolve_threads, row_blocks, share_blocks
from doccluster.clustering.document_matrix import (
    BLOCK_ROWS,
    SERIAL_WORK,
    document_frequencies,
    frequency_order,
    reorder,
    sparse_rows,
    unit_scale,
)
from doccluster.clustering.mean_table import MeanTable, best_head
from doccluster.clustering.means import means_of_matrix
from doccluster.clustering.seeding import unit_rows_of
from doccluster.errors import InputError
from doccluster.kernels.assignment import assign_rows, nearest_two_rows, similarity_rows
from doccluster.short_repr import ShortRepr
from doccluster.validation import check_matrix, within_range


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
    sweep = _Sweep(matrix, centroids, n_threads)
    labels, runner_up = np.empty(sweep.n_documents, np.int32), np.full(sweep.n_documents, -1, np.int32)
    similarity, runner_up_similarity = np.empty(sweep.n_documents), np.full(sweep.n_documents, np.nan)
    sweep.run(nearest_two_rows, labels, similarity, runner_up, runner_up_similarity)
    return Assignment(labels, similarity, runner_up, runner_up_similarity)


def nearest_centroids(matrix: Any, centroids: Any, *, n_threads: int | None = None) -> npt.NDArray[np.int32]:
    """Return the labels of `assign_to_centroids` alone, a few times faster."""
    sweep = _Sweep(matrix, centroids, n_threads)
    labels = np.empty(sweep.n_documents, np.int32)
    lower, no_bounds = np.empty(sweep.n_documents, np.float32), np.empty((sweep.n_documents, 0), np.float32)
    sweep.run(assign_labels, labels, lower, no_bounds)
    return labels


def centroid_similarities(matrix: Any, centroids: Any, *, n_threads: int | None = None) -> npt.NDArray[np.float64]:
    """Return the cosine of each document to each centroid, float64 array of shape (n_documents, n_clusters)."""
    sweep = _Sweep(matrix, centroids, n_threads)
    similarities = np.empty((sweep.n_documents, sweep.n_clusters))
    sweep.run(similarity_rows, similarities)
    return similarities


def assign_labels(rows: Any, table: Any, *outputs: npt.NDArray[Any]) -> None:
    """Call the kernel that assigns, without groups of lanes."""
    assign_rows(rows, table, np.arange(outputs[0].size), 1, *outputs)


class _Sweep:
    """Documents and the table of the centroids, for kernels that visit each document once."""

    def __init__(self, matrix: Any, centroids: Any, n_threads: int | None) -> None:
        self._rows = within_range(check_matrix(matrix, name="X"))
        centres = unit_rows_of(sparse_rows(within_range(check_matrix(centroids, name="centroids"))))
        if centres.shape[1] != self._rows.shape[1]:
            raise InputError(
                f"X has {self._rows.shape[1]} features, but the centroids have {centres.shape[1]}",
                remedy="use the vectorizer that the centroids were made with",
            )
        self.n_documents, self.n_clusters = self._rows.shape[0], centres.shape[0]
        frequencies = document_frequencies(self._rows)
        self._order = frequency_order(frequencies)
        self._scale, _ = unit_scale(self._rows)
        means = means_of_matrix(centres, self._order)
        self._table = MeanTable(means, best_head(means, frequencies[self._order]))
        self._n_entries = int(frequencies.sum())
        self._n_threads = resolve_threads(n_threads)

    def run(self, kernel: Callable[..., Any], *outputs: npt.NDArray[Any]) -> None:
        """Call the kernel for each block of rows, renumbered as the table wants them, with views of the outputs."""

        def one(block: slice) -> None:
            documents = reorder(_rows(self._rows, block), self._order, self._scale[block])
            rows = documents.rows(slice(0, documents.n_documents))
            kernel(rows, self._table.arrays, *(output[block] for output in outputs))

        workers = self._n_threads if self._n_entries * self.n_clusters > SERIAL_WORK else 1
        share_blocks(one, row_blocks(self.n_documents, BLOCK_ROWS), n_threads=workers)


def _rows(rows: Any, block: slice) -> Any:
    """Return a block of rows of a csr or dense matrix as views of the same arrays."""
    if not sparse.issparse(rows):
        return rows[block]
    starts = rows.indptr[block.start : block.stop + 1]
    entries = slice(starts[0], starts[-1])
    shape = (block.stop - block.start, rows.shape[1])
    return sparse.csr_array((rows.data[entries], rows.indices[entries], starts - starts[0]), shape=shape)
