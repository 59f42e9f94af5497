"""Documents as the iterations read them: float32 unit rows, columns renumbered so that the commonest terms come first.

Made once per fit and shared by all starts. The renumbering puts the hot part of the table of means in one place and is
undone when centroids are handed out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.sparse_structure import document_frequencies
from doccluster.blocks import Item, Result, row_blocks, share_blocks
from doccluster.clustering.k_means.sweep import RowArrays
from doccluster.geometry.documents import as_documents

BLOCK_ROWS = 2048
MIXER = np.uint64(0x9E3779B97F4A7C15)  # an odd number whose products spread over all bits
SERIAL_WORK = 4_000_000  # multiplications below which starting threads costs more than it gains


@dataclass(frozen=True, eq=False)
class DocumentMatrix:
    """Documents by terms, terms in descending order of document frequency, or as given (`as_given`)."""

    values: npt.NDArray[np.float32]  # of shape (n_entries,)
    columns: npt.NDArray[np.int32]  # of shape (n_entries,)
    starts: npt.NDArray[np.int64]  # of shape (n_documents + 1,)
    original: npt.NDArray[np.int32]  # of shape (n_columns,)
    weights: npt.NDArray[np.float64]  # of shape (n_documents,)
    n_threads: int = 1

    @property
    def n_documents(self) -> int:
        """The number of rows."""
        return int(self.starts.size - 1)

    @property
    def n_columns(self) -> int:
        """The number of columns."""
        return int(self.original.size)

    @property
    def n_entries(self) -> int:
        """The number of values."""
        return int(self.values.size)

    @property
    def usable(self) -> npt.NDArray[np.int64]:
        """The rows with a direction and a weight, ascending."""
        return np.flatnonzero(self.is_usable)

    @cached_property
    def is_usable(self) -> npt.NDArray[np.bool_]:
        """Whether each row has a direction and a weight: only such rows found or keep a cluster."""
        has_value = np.diff(self.starts) > 0
        if not np.all(self.values):
            has_value[has_value] = np.logical_or.reduceat(self.values != 0, self.starts[:-1][has_value])
        return has_value & (self.weights > 0)

    @cached_property
    def digests(self) -> npt.NDArray[np.uint64]:
        """A number for each row that only equal rows share, -0 being 0; uint64 array of shape (n_documents,)."""

        def one(block: slice) -> npt.NDArray[np.uint64]:
            starts = self.starts[block.start : block.stop + 1]
            values, columns = (part[starts[0] : starts[-1]] for part in (self.values, self.columns))
            mixed = (columns.astype(np.uint64) << np.uint64(32) | values.view(np.uint32)) * MIXER
            mixed = np.append(np.where(values != 0, (mixed ^ mixed >> np.uint64(29)) * MIXER, 0), np.uint64(0))
            return np.where(np.diff(starts) > 0, np.add.reduceat(mixed, starts[:-1] - starts[0]), np.uint64(0))

        return np.concatenate(self.each_block(one, per_entry=10.0))

    def take(self, rows: npt.NDArray[np.int64]) -> DocumentMatrix:
        """Return some of the documents, in the same columns."""
        sizes = self.starts[rows + 1] - self.starts[rows]
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        positions = np.repeat(self.starts[rows] - starts[:-1], sizes) + np.arange(starts[-1])
        return replace(
            self,
            values=self.values[positions],
            columns=self.columns[positions],
            starts=starts,
            weights=self.weights[rows],
        )

    def whole(self) -> DocumentMatrix:
        """Return all of them: what draws from documents elsewhere fetches them."""
        return self

    def to_csr(self) -> sparse.csr_array:
        """Return the rows as they are, not copied."""
        return sparse.csr_array((self.values, self.columns, self.starts), shape=(self.n_documents, self.n_columns))

    def blocks(self) -> list[slice]:
        """Return the blocks of rows that kernels are given, the same for every number of threads."""
        return row_blocks(self.n_documents, BLOCK_ROWS)

    def threads_for(self, multiplications: float) -> int:
        """Return how many threads work of this size is worth."""
        return self.n_threads if multiplications > SERIAL_WORK else 1

    def rows(self, block: slice) -> RowArrays:
        """Return a block of rows as kernels take it."""
        return RowArrays(self.values, self.columns, self.starts[block.start : block.stop + 1], self.original)

    @cached_property
    def frequencies(self) -> npt.NDArray[np.int64]:
        """How many entries each column has."""
        return np.bincount(self.columns, minlength=self.n_columns)

    @cached_property
    def dense(self) -> npt.NDArray[np.float32] | None:
        """The values as a table of documents by terms, not copied; None where a row lacks a value, as in most text."""
        if self.values.size != self.n_documents * self.n_columns:
            return None
        return self.values.reshape(self.n_documents, self.n_columns)

    @cached_property
    def has_exact_sums(self) -> bool:
        """Whether the sum of any rows is exact in float64, so that it does not depend on their order.

        float32 values are whole multiples of the last place of the smallest; float64 counts 2^53 of them without loss.
        """
        if not self.values.size or not np.all(self.weights == 1):
            return False
        magnitudes = np.abs(self.values) if self.values.min() < 0 else self.values
        smallest = float(np.min(magnitudes, where=magnitudes > 0, initial=np.inf))
        last_place = 0.0 if smallest == np.inf else float(np.spacing(np.float32(smallest)))
        return bool(self.frequencies.max() * float(magnitudes.max()) < 2.0**53 * last_place)

    def terms_from(self, first: int) -> sparse.csr_array:
        """Return the terms from a column on as rows of documents, ascending."""
        rows = self.values, self.columns, self.starts
        if first > 0:
            entries = np.flatnonzero(self.columns >= first)
            starts = np.searchsorted(entries, self.starts)
            rows = self.values[entries], self.columns[entries] - np.int32(first), starts
        shape = (self.n_documents, self.n_columns - first)
        return sparse.csr_array(sparse.csr_array(rows, shape=shape).T.tocsr())

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        """Threads that live as long as the documents: an iteration is too short to start them again for each step."""
        return ThreadPoolExecutor(max_workers=self.n_threads, thread_name_prefix="doccluster")

    def share(
        self, function: Callable[[Item], Result], blocks: Sequence[Item], *, multiplications: float
    ) -> list[Result]:
        """Return `function(block)` for each of any blocks, in threads if that many multiplications are worth them."""
        n_threads = self.threads_for(multiplications)
        return share_blocks(function, blocks, n_threads=n_threads, pool=self._pool if n_threads > 1 else None)

    def each_block(
        self, function: Callable[[slice], Result], *, per_entry: float, blocks: list[slice] | None = None
    ) -> list[Result]:
        """Return `function(block)` for each block of rows, all of them by default."""
        blocks = self.blocks() if blocks is None else blocks
        return self.share(function, blocks, multiplications=self.values.size * per_entry)


def frequency_order(frequencies: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
    """Return the columns in descending order of document frequency, lower columns first among equals."""
    return np.argsort(-frequencies, kind="stable").astype(np.int32)


def reorder(
    matrix: Any,
    order: npt.NDArray[np.int32],
    scale: npt.NDArray[np.float64],
    *,
    weights: npt.NDArray[np.float64] | None = None,
    n_threads: int = 1,
) -> DocumentMatrix:
    """Return the rows of a csr or dense `matrix` times `scale`, with column `order[c]` renumbered `c`."""
    n_documents = matrix.shape[0]
    if weights is None:
        weights = np.ones(n_documents)
    one, values, columns, starts = (_from_sparse if sparse.issparse(matrix) else _from_dense)(matrix, order, scale)
    workers = n_threads if values.size > SERIAL_WORK // 100 else 1
    share_blocks(one, row_blocks(n_documents, BLOCK_ROWS), n_threads=workers)
    return DocumentMatrix(values, columns, starts, order, weights, n_threads)


def as_given(
    given: Any, *, weights: npt.NDArray[np.float64] | None = None, n_threads: int = 1
) -> tuple[DocumentMatrix, bool]:
    """Return the documents with their columns as they are, and whether rows had to be normalised.

    Enough where the order of the columns does not count: for a small table of means that is dense, and for what visits
    few documents, such as drawing seeds. Unit float32 csr rows are not copied.
    """
    documents = as_documents(given)
    matrix, scaled = documents.in_range, not documents.has_unit_rows
    order = np.arange(matrix.shape[1], dtype=np.int32)
    if not documents.is_sparse:
        return reorder(matrix, order, documents.unit_scale, weights=weights, n_threads=n_threads), scaled
    values = matrix.data if not scaled else matrix.data * np.repeat(documents.unit_scale, np.diff(matrix.indptr))
    parts = values.astype(np.float32, copy=False), matrix.indices.astype(np.int32, copy=False)
    starts = matrix.indptr.astype(np.int64)
    weights = np.ones(matrix.shape[0]) if weights is None else weights
    return DocumentMatrix(*parts, starts, order, weights, n_threads), scaled


def _from_sparse(
    matrix: sparse.csr_array, order: npt.NDArray[np.int32], scale: npt.NDArray[np.float64]
) -> tuple[Callable[[slice], None], Any, Any, Any]:
    """Return arrays for the renumbered rows and the function that fills a block of them."""
    rank = np.empty(order.size, np.int32)
    rank[order] = np.arange(order.size, dtype=np.int32)
    starts = matrix.indptr.astype(np.int64)
    values, columns = np.empty(matrix.nnz, np.float32), np.empty(matrix.nnz, np.int32)

    def one(block: slice) -> None:
        here = slice(starts[block.start], starts[block.stop])
        begins = starts[block.start : block.stop + 1] - here.start
        scaled = (matrix.data[here] * np.repeat(scale[block], np.diff(begins))).astype(np.float32)
        rows = sparse.csr_array((scaled, rank[matrix.indices[here]], begins), shape=(begins.size - 1, order.size))
        rows.sort_indices()
        values[here], columns[here] = rows.data, rows.indices

    return one, values, columns, starts


def _from_dense(
    matrix: npt.NDArray[Any], order: npt.NDArray[np.int32], scale: npt.NDArray[np.float64]
) -> tuple[Callable[[slice], None], Any, Any, Any]:
    """Return arrays for the non-zero values of the renumbered rows and the function that fills a block of them."""
    if np.count_nonzero(matrix) == matrix.size:
        return _without_zeros(matrix, order, scale)
    starts = np.concatenate([[0], np.cumsum(np.count_nonzero(matrix, axis=1))]).astype(np.int64)
    values, columns = np.empty(starts[-1], np.float32), np.empty(starts[-1], np.int32)

    def one(block: slice) -> None:
        rows, here = matrix[block][:, order], slice(starts[block.start], starts[block.stop])
        places, columns[here] = np.nonzero(rows)
        values[here] = rows[rows != 0] * scale[block][places]

    return one, values, columns, starts


def _without_zeros(
    matrix: npt.NDArray[Any], order: npt.NDArray[np.int32], scale: npt.NDArray[np.float64]
) -> tuple[Callable[[slice], None], Any, Any, Any]:
    """Return the same for a table without zeros, of which every row has every column."""
    n_documents, n_columns = matrix.shape
    table = np.empty((n_documents, n_columns), np.float32)
    is_in_place = np.array_equal(order, np.arange(n_columns))

    def one(block: slice) -> None:
        rows = matrix[block] if is_in_place else matrix[block][:, order]
        table[block] = rows * scale[block, None]

    columns = np.tile(np.arange(n_columns, dtype=np.int32), n_documents)
    return one, table.ravel(), columns, np.arange(n_documents + 1, dtype=np.int64) * n_columns


def prepare(
    given: Any, *, weights: npt.NDArray[np.float64] | None = None, n_threads: int = 1
) -> tuple[DocumentMatrix, bool]:
    """Return documents ready for the iterations, and whether rows had to be normalised.

    Raises InputError if what was given did not come through the door before, and is not a finite numeric matrix.
    """
    documents = as_documents(given)
    order = frequency_order(document_frequencies(documents.in_range))
    ready = reorder(documents.in_range, order, documents.unit_scale, weights=weights, n_threads=n_threads)
    return ready, not documents.has_unit_rows
