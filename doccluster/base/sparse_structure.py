"""The parts of a sparse matrix, and whether they fit one another: what is compiled trusts every index.

scipy looks at some row starts and no columns when a csr matrix is built; arrays that are changed later, or come from a
damaged file, are read as they are. One number that points beyond an array ends the process.

As in scipy, the columns and values may be longer than the last row start says; what lies beyond belongs to no row.
"""

from __future__ import annotations

import os
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.arrays import AnyArray, AnyIntegers, Array, CsrArray, Matrix, is_sparse
from doccluster.errors import InputError, MemoryLimitError

MAX_COLUMNS = 2**31 - 1  # kernels number columns in 32 bits
FREE_LINES = 2**23  # rows or columns that a matrix may have however few its values are
LINES_PER_VALUE = 1000  # ... and 1,000 more for each value
BYTES_PER_COLUMN = 32  # what counting, ordering and renumbering columns takes
_AT_ONCE = 1 << 20


class Csr(NamedTuple):
    """The arrays of a csr matrix: row r has the entries from ``indptr[r]`` to ``indptr[r + 1]``.

    A named tuple, since numba hands on its arrays as if they came one by one. Of a transposed matrix these are posting
    lists: ``indptr`` counts by term, and ``indices`` are rows.
    """

    indptr: npt.NDArray[np.int64]
    indices: npt.NDArray[np.int32]
    data: AnyArray

    @classmethod
    def of(cls, matrix: CsrArray) -> Csr:
        """Return the arrays of a scipy matrix, copied only where they are of another type."""
        return cls(matrix.indptr.astype(np.int64, copy=False), matrix.indices.astype(np.int32, copy=False), matrix.data)

    def block(self, rows: slice) -> Csr:
        """Return some neighbouring rows; the entries are not copied."""
        return Csr(self.indptr[rows.start : rows.stop + 1], self.indices, self.data)


def checked_csr(matrix: CsrArray, *, name: str = "X") -> tuple[sparse.csr_array, bool]:
    """Return any sparse matrix as a csr array whose every index is sound, and whether it is in canonical form.

    Canonical form: the columns of each row ascend and none is repeated. The values of a csr matrix are not copied.
    """
    if len(matrix.shape) != 2:
        raise wrong_dimensions(len(matrix.shape), name)
    check_shape(matrix.shape, name)
    if np.ma.is_masked(getattr(matrix, "data", None)):
        raise masked(name)
    try:
        rows = _looked_at(matrix)
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise InputError(
            f"is not a valid sparse matrix ({error})", argument=name, remedy="it is damaged, make it again"
        ) from error
    if rows.format != "csr":
        check_sparsity((rows.shape[0], 0), rows.nnz, name)  # else the row starts alone may take all memory
        rows = rows.tocsr()
    return rows, bool(rows.has_canonical_format)


def _looked_at(matrix: CsrArray) -> CsrArray:
    """Return a csr, csc or coo array over the arrays of a matrix, of which scipy has looked at every index.

    It does so when a coo array is made, and of others in `check_format`. Raises ValueError if the parts do not fit.
    """
    if matrix.format in ("csr", "csc", "bsr"):
        starts = _whole(matrix.indptr)
        if (starts[1:] < starts[:-1]).any():  # scipy looks at that only where there are values
            raise ValueError("its starts descend")
        kind = getattr(sparse, f"{matrix.format}_array")
        compressed = kind((matrix.data, _whole(matrix.indices), starts), shape=matrix.shape)
        compressed.check_format()
        return compressed if matrix.format != "bsr" else compressed.tocoo()
    if matrix.format == "lil":
        lengths = [list(map(len, lists)) for lists in (matrix.rows, matrix.data)]
        if lengths[0] != lengths[1] or len(lengths[0]) != matrix.shape[0]:
            raise ValueError("its lists of columns and of values differ in length")
    if matrix.format == "dia":
        matrix = sparse.dia_array((matrix.data, matrix.offsets), shape=matrix.shape)
    entries = matrix.tocoo()
    return sparse.coo_array((entries.data, (_whole(entries.row), _whole(entries.col))), shape=matrix.shape)


def _whole(indices: object) -> AnyIntegers:
    array = np.asarray(indices)
    if array.dtype.kind not in "iu":  # scipy would cut off what is behind the point
        raise ValueError(f"its indices are {array.dtype}, not whole numbers")
    return array


def with_values(matrix: CsrArray, values: Array) -> CsrArray:
    """Return a csr array with other values in the places of the entries of `matrix`."""
    return sparse.csr_array((values, matrix.indices, matrix.indptr), shape=matrix.shape)


def document_frequencies(matrix: Matrix) -> npt.NDArray[np.int64]:
    """Return how many entries each column of a csr or dense matrix has, int64 array of shape (n_columns,).

    >>> document_frequencies(sparse.csr_array([[1.0, 2.0, 0.0], [0.0, 3.0, 0.0]])).tolist()
    [1, 2, 0]
    """
    if not is_sparse(matrix):
        return np.asarray(np.count_nonzero(matrix, axis=0), np.int64)
    n_columns = matrix.shape[1]
    counts = np.zeros(n_columns, np.int64)
    step = max(_AT_ONCE, n_columns)  # numpy would copy all indices at once to a wider type
    for first in range(0, len(matrix.indices), step):
        counts += np.bincount(matrix.indices[first : first + step], minlength=n_columns)
    return counts


def wrong_dimensions(n_dimensions: int, name: str) -> InputError:
    """Return the error for an array that is not a table."""
    return InputError(
        f"has {n_dimensions} dimension(s), expected 2: Reshape your data to (n_documents, n_terms)",
        argument=name,
    )


def check_shape(shape: tuple[int, ...], name: str) -> None:
    """Raise InputError when columns cannot be numbered, MemoryLimitError when they cannot be counted here."""
    n_rows, n_columns = shape
    if n_rows < 0 or n_columns < 0:
        raise InputError(
            f"has shape {tuple(shape)}", argument=name, remedy="it is damaged, make it again with sizes >= 0"
        )
    if n_columns > MAX_COLUMNS:
        raise InputError(
            f"has {n_columns:,} columns, more than {MAX_COLUMNS:,}",
            argument=name,
            remedy="leave out those without values",
        )
    memory = _memory_of_machine()
    if memory is not None and n_columns * BYTES_PER_COLUMN > memory:
        raise MemoryLimitError(
            f"has {n_columns:,} columns, and counting them takes {n_columns * BYTES_PER_COLUMN:,} "
            f"bytes of this machine's {memory:,}",
            argument=name,
            remedy="leave out the columns without values",
        )


def check_sparsity(shape: tuple[int, ...], n_values: int, name: str) -> None:
    """Raise InputError for a matrix with far too many rows or columns for its values, which only damage explains."""
    for size, lines in zip(shape, ("rows", "columns"), strict=True):
        if size > FREE_LINES + LINES_PER_VALUE * n_values:
            raise InputError(
                f"announces {size:,} {lines} but holds {n_values:,} values",
                argument=name,
                remedy=f"it is damaged, or has to be saved again without the {lines} that have none",
            )


def _memory_of_machine() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # not on Windows
        return None


def masked(name: str) -> InputError:
    """Return the error for values that are hidden."""
    return InputError(f"{name} has masked values", remedy="fill them in or leave those documents out")
