"""A block of documents as files: rows of a table in a scratch folder, mapped from disk when they are read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.base.blocks import row_blocks, write_arrays
from doccluster.base.place import ArrayFile, CsrFiles, FilePlace, csr_over
from doccluster.base.sparse_structure import checked_csr
from doccluster.geometry.documents import Documents, Rows

TABLE_ROWS = 2**13  # of a table, in a block


@dataclass(frozen=True)
class MatrixBlock:
    """Consecutive documents of a collection, as unit rows.

    Attributes
    ----------
    table : CsrFiles or ArrayFile
        Where the rows lie, perhaps among others; every worker sees the same folder.
    start : int
        The place of its first row in the table.
    first : int
        The place of its first document in the collection.
    n_rows, n_columns, n_entries : int
    """

    table: CsrFiles | ArrayFile
    start: int
    first: int
    n_rows: int
    n_columns: int
    n_entries: int

    @property
    def matrix(self) -> Any:
        """The unit rows, csr array of shape (n_rows, n_columns) over the files; dense ones with every column."""
        shape = self.n_rows, self.n_columns
        if isinstance(self.table, ArrayFile):
            columns = np.tile(np.arange(self.n_columns, dtype=np.int32), self.n_rows)
            return csr_over(self._dense.ravel(), columns, np.arange(self.n_rows + 1) * self.n_columns, shape)
        data, indices, whole_starts = self.table.arrays
        starts = whole_starts[self.start : self.start + self.n_rows + 1]
        here = slice(int(starts[0]), int(starts[-1]))
        return csr_over(data[here], indices[here], starts - starts[0], shape)

    @property
    def documents(self) -> Documents:
        """The rows as documents; they were checked before they were written."""
        return Documents(self.matrix)

    @property
    def rows(self) -> Rows:
        """The rows as they are summed: unit, none of them scaled again; dense where the table is."""
        scale = np.ones(self.n_rows)
        return Rows(self._dense if isinstance(self.table, ArrayFile) else self.matrix, scale, scale, True)

    @property
    def places(self) -> slice:
        """The places of its documents in the collection."""
        return slice(self.first, self.first + self.n_rows)

    @property
    def _dense(self) -> npt.NDArray[Any]:
        assert isinstance(self.table, ArrayFile)  # who calls has looked
        return self.table.open()[self.start : self.start + self.n_rows]


def blocks_of_table(place: FilePlace, rows: Any) -> list[MatrixBlock]:
    """Return unit rows, dense or csr, as blocks; they are written to files of a place unless they lie there."""
    rows = place.keep(rows)
    table, (n_rows, width) = place.files_of(rows), rows.shape
    starts = np.arange(n_rows + 1) * width if isinstance(table, ArrayFile) else rows.indptr
    return [
        MatrixBlock(
            table=table,
            start=block.start,
            first=block.start,
            n_rows=block.stop - block.start,
            n_columns=width,
            n_entries=int(starts[block.stop] - starts[block.start]),
        )
        for block in row_blocks(n_rows, TABLE_ROWS)
    ]


def write_block(folder: str | Path, matrix: Any, *, first: int = 0) -> MatrixBlock:
    """Return rows as a block, written to `folder` whole or not at all.

    Parameters
    ----------
    folder : path
        What is there already was written by the same call on a worker that ended, and stays.
    matrix : csr array of shape (n_rows, n_columns), float32, unit rows
    first : int
        The place of the first row in the collection.

    Raises
    ------
    InputError
        If the rows cannot be used, or there is no room, or no right to write.
    """
    matrix = checked_csr(matrix, name="matrix")[0]
    arrays = {
        "data.npy": matrix.data.astype(np.float32, copy=False),
        "indices.npy": matrix.indices.astype(np.int32, copy=False),
        "starts.npy": matrix.indptr.astype(np.int64, copy=False),
    }
    write_arrays(Path(folder), arrays)
    n_rows, n_columns = matrix.shape
    return MatrixBlock(CsrFiles(str(folder), n_columns), 0, first, n_rows, n_columns, int(matrix.indptr[-1]))
