"""The parts of a sparse matrix, and whether they fit one another: what is compiled trusts every index.

scipy looks at row starts and columns when a matrix is built, and only at some of them; arrays that are changed later,
or come from a damaged file, are read as they are. One number that points beyond an array ends the process.

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

    Canonical form: the columns of each row ascend and none is repeated. A csr matrix keeps its arrays.
    """
    if len(matrix.shape) != 2:
        raise wrong_dimensions(len(matrix.shape), name)
    check_shape(matrix.shape, name)
    try:
        if matrix.format != "csr":
            matrix = _before_conversion(matrix, name).tocsr()
        is_canonical = _check_lines(matrix, name)
        rows = sparse.csr_array(_signed(matrix))
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise _damaged(f"is not a valid sparse matrix ({error})", name) from error
    rows.has_canonical_format = is_canonical
    return rows, is_canonical


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


def _before_conversion(matrix: CsrArray, name: str) -> CsrArray:
    """Return a matrix whose conversion to csr is safe, and worth the memory of its row starts."""
    if matrix.format == "csc":
        _check_lines(matrix, name)
        n_values = int(matrix.indptr[-1])
    else:
        if matrix.format == "lil":
            _check_lists(matrix, name)
        if np.ma.is_masked(getattr(matrix, "data", None)):
            raise masked(name)
        if matrix.format == "bsr":
            _check_blocks(matrix)
        if matrix.format == "dia" and len(matrix.offsets) != len(matrix.data):
            raise ValueError(f"{len(matrix.data)} diagonals and {len(matrix.offsets)} offsets")
        matrix = matrix.tocoo()  # done in numpy, which looks at every index
        n_values = _check_coordinates(matrix, name)
    check_sparsity((matrix.shape[0], 0), n_values, name)
    return matrix


def _check_blocks(matrix: CsrArray) -> None:
    """Raise ValueError if the starts of block rows do not fit the blocks; conversion repeats rows by their steps."""
    starts = np.asarray(matrix.indptr, dtype=np.int64)
    n_blocks = min(len(matrix.indices), len(matrix.data))
    if starts.size == 0 or starts[0] != 0 or (np.diff(starts) < 0).any() or starts[-1] > n_blocks:
        raise ValueError(f"the starts of its block rows do not fit its {n_blocks} blocks")


def _check_lines(matrix: CsrArray, name: str) -> bool:
    """Check a csr or csc matrix; returns whether the indices within each line ascend without repetition."""
    lines, cross = ("row", "column") if matrix.format == "csr" else ("column", "row")
    n_lines, width = matrix.shape if matrix.format == "csr" else matrix.shape[::-1]
    indices = _integers(matrix.indices, f"the {cross} numbers of {name}")
    n_values = _values(matrix.data, 1, name).size
    if indices.size != n_values:
        raise _damaged(f"has {n_values:,} values but {indices.size:,} {cross} numbers", name)
    starts = _check_starts(matrix.indptr, n_lines, indices.size, lines, name)
    indices = indices[: starts[-1]]
    if not _ascends(indices, starts):
        _check_range(indices, width, cross, name)
        return False
    filled = np.flatnonzero(starts[1:] > starts[:-1])  # where indices ascend, the first and last of a line bound them
    _check_range(indices[starts[filled]], width, cross, name)
    _check_range(indices[starts[filled + 1] - 1], width, cross, name)
    return True


def _check_starts(value: object, n_lines: int, n_indices: int, lines: str, name: str) -> AnyIntegers:
    starts = _integers(value, f"the {lines} starts of {name}")
    if starts.size != n_lines + 1:
        raise InputError(
            f"has {n_lines:,} {lines}s and {starts.size:,} {lines} starts, expected one more", argument=name
        )
    if starts[0] != 0 or np.any(starts[1:] < starts[:-1]) or starts[-1] > n_indices:
        raise _damaged(f"has {lines} starts that do not rise from 0 to its {n_indices:,} values", name)
    return starts


def _ascends(indices: AnyIntegers, starts: AnyIntegers) -> bool:
    """Return whether each index is above the one before it, except at the start of a line."""
    for begin in range(0, max(indices.size - 1, 0), _AT_ONCE):
        part = indices[begin : begin + _AT_ONCE + 1]
        is_above = part[1:] > part[:-1]
        bounds = np.searchsorted(starts, [begin + 1, begin + part.size])
        is_above[starts[bounds[0] : bounds[1]] - (begin + 1)] = True
        if not is_above.all():
            return False
    return True


def _check_range(indices: AnyIntegers, width: int, cross: str, name: str) -> None:
    if indices.size == 0:
        return
    least, greatest = int(indices.min()), int(indices.max())
    if least < 0 or greatest >= width:
        raise _damaged(
            f"names {cross} {least if least < 0 else greatest}, but has {width:,} {cross}s, counted from 0", name
        )


def _check_coordinates(matrix: CsrArray, name: str) -> int:
    n_values = _values(matrix.data, 1, name).size
    for numbers, width, cross in ((matrix.row, matrix.shape[0], "row"), (matrix.col, matrix.shape[1], "column")):
        indices = _integers(numbers, f"the {cross} numbers of {name}")
        if indices.size != n_values:
            raise _damaged(f"has {n_values:,} values but {indices.size:,} {cross} numbers", name)
        _check_range(indices, width, cross, name)
    return n_values


def _check_lists(matrix: CsrArray, name: str) -> None:
    lengths = [list(map(len, lists)) for lists in (matrix.rows, matrix.data)]
    if lengths[0] != lengths[1] or len(lengths[0]) != matrix.shape[0]:
        raise InputError(
            f"{name} has lists of columns and of values that differ in length", remedy="it is damaged, make it again"
        )


def _integers(value: object, what: str) -> AnyIntegers:
    array = np.asarray(value)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise InputError(f"{what} are {array.dtype} of {array.ndim} dimension(s), expected a vector of integers.")
    return array


def _values(value: object, n_dimensions: int, name: str) -> Array:
    if np.ma.is_masked(value):
        raise masked(name)
    array = np.asarray(value)
    if array.ndim != n_dimensions:
        raise _damaged(f"has values of {array.ndim} dimension(s), expected {n_dimensions}", name)
    return array


def _damaged(problem: str, name: str) -> InputError:
    return InputError(problem, argument=name, remedy="it is damaged, make it again")


def masked(name: str) -> InputError:
    """Return the error for values that are hidden."""
    return InputError(f"{name} has masked values", remedy="fill them in or leave those documents out")


def _signed(matrix: CsrArray) -> CsrArray:
    """Return a checked csr matrix with index arrays of the two types that scipy computes with."""
    if all(array.dtype.type in (np.int32, np.int64) for array in (matrix.indices, matrix.indptr)):
        return matrix
    parts = matrix.data, np.asarray(matrix.indices, np.int64), np.asarray(matrix.indptr, np.int64)
    return sparse.csr_array(parts, shape=matrix.shape)
