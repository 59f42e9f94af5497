"""A block of documents as files: plain arrays in a folder of their own, mapped from disk when they are read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.blocks import open_array, row_blocks, write_arrays
from doccluster.base.executors import ArrayFile, CsrFiles, csr_over, opened
from doccluster.base.sparse_structure import checked_csr
from doccluster.errors import InputError
from doccluster.geometry.documents import Documents, Rows

COUNTS = "counts.npy"
TABLE_ROWS = 2**13  # of a table, in a block


@dataclass(frozen=True)
class MatrixBlock:
    """Consecutive documents of a collection, as unit rows.

    Attributes
    ----------
    folder : str
        Where its arrays lie; every worker sees the same folder.
    first : int
        The place of its first document in the collection.
    n_rows, n_columns, n_entries : int
    """

    folder: str
    first: int
    n_rows: int
    n_columns: int
    n_entries: int

    @property
    def matrix(self) -> Any:
        """The unit rows, csr array of shape (n_rows, n_columns) over the files."""
        return self._csr("data.npy")

    @property
    def counts(self) -> Any | None:
        """How often each term occurs, in the places of the entries of `matrix`; None where that was not written."""
        return self._csr(COUNTS) if (Path(self.folder) / COUNTS).is_file() else None

    @property
    def documents(self) -> Documents:
        """The rows as documents; they were checked before they were written."""
        return Documents(self.matrix)

    @property
    def rows(self) -> Rows:
        """The rows as they are summed: unit, none of them scaled again."""
        scale = np.ones(self.n_rows)
        return Rows(self.matrix, scale, scale, True)

    @property
    def places(self) -> slice:
        """The places of its documents in the collection."""
        return slice(self.first, self.first + self.n_rows)

    def _csr(self, values: str) -> Any:
        data, indices, starts = (self._open(name) for name in (values, "indices.npy", "starts.npy"))
        return csr_over(data, indices, starts, (self.n_rows, self.n_columns))

    def _open(self, name: str) -> npt.NDArray[Any]:
        return open_array(Path(self.folder) / name)


@dataclass(frozen=True)
class TableBlock(MatrixBlock):
    """Consecutive rows of a table that lies whole in files, dense or csr; its folder is only a name."""

    table: ArrayFile | CsrFiles

    @property
    def matrix(self) -> Any:
        """The rows, csr array of shape (n_rows, n_columns) over the files, with every column where they are dense."""
        whole = opened(self.table)
        if sparse.issparse(whole):
            starts = whole.indptr[self.first : self.first + self.n_rows + 1]
            here = slice(int(starts[0]), int(starts[-1]))
            return csr_over(whole.data[here], whole.indices[here], starts - starts[0], (self.n_rows, self.n_columns))
        columns = np.tile(np.arange(self.n_columns, dtype=np.int32), self.n_rows)
        starts = np.arange(self.n_rows + 1, dtype=np.int64) * self.n_columns
        return csr_over(whole[self.places].ravel(), columns, starts, (self.n_rows, self.n_columns))

    @property
    def counts(self) -> Any | None:
        """None: a table has none."""
        return None

    @property
    def rows(self) -> Rows:
        """The rows as they are summed, dense where the table is."""
        whole, scale = opened(self.table), np.ones(self.n_rows)
        return super().rows if sparse.issparse(whole) else Rows(whole[self.places], scale, scale, True)


def blocks_of_table(table: ArrayFile | CsrFiles) -> list[TableBlock]:
    """Return the rows of a table in files as blocks."""
    whole = opened(table)
    blocks, width = [], whole.shape[1]
    for rows in row_blocks(whole.shape[0], TABLE_ROWS):
        size = rows.stop - rows.start
        is_sparse = sparse.issparse(whole)
        n_entries = int(whole.indptr[rows.stop] - whole.indptr[rows.start]) if is_sparse else size * width
        blocks.append(TableBlock(f"{table}-{rows.start}", rows.start, size, width, n_entries, table))
    return blocks


def in_their_places(
    blocks: Sequence[MatrixBlock], results: Iterable[Mapping[str, npt.NDArray[Any]]]
) -> dict[str, npt.NDArray[Any]]:
    """Return the results for the documents of each block, by name, as arrays of all documents; copied as it comes."""
    n_documents, whole = sum(block.n_rows for block in blocks), dict[str, npt.NDArray[Any]]()
    for block, columns in zip(blocks, results, strict=True):
        for name, values in columns.items():
            whole.setdefault(name, np.empty(n_documents, values.dtype))[block.places] = values
    return whole


def write_block(folder: str | Path, matrix: Any, *, first: int = 0, counts: Any | None = None) -> MatrixBlock:
    """Return rows as a block, written to `folder` whole or not at all.

    Parameters
    ----------
    folder : path
        What is there already was written by the same call on a worker that ended, and stays.
    matrix : csr array of shape (n_rows, n_columns), float32, unit rows
    first : int
        The place of the first row in the collection.
    counts : csr array, optional
        Other values in the places of the entries.

    Raises
    ------
    InputError
        If the rows or the counts cannot be used, or there is no room, or no right to write.
    """
    matrix = checked_csr(matrix, name="matrix")[0]
    arrays = {
        "data.npy": matrix.data.astype(np.float32, copy=False),
        "indices.npy": matrix.indices.astype(np.int32, copy=False),
        "starts.npy": matrix.indptr.astype(np.int64, copy=False),
    }
    if counts is not None:
        counts = checked_csr(counts, name="counts")[0]
        if counts.nnz != matrix.nnz:
            raise InputError(
                f"has {counts.nnz:,} entries", argument="counts", expected=f"{matrix.nnz:,}, as the rows have"
            )
        arrays[COUNTS] = counts.data.astype(np.float32, copy=False)
    write_arrays(Path(folder), arrays)
    return MatrixBlock(str(folder), first, matrix.shape[0], matrix.shape[1], int(matrix.indptr[-1]))
