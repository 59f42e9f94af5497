"""The one place where what a user gives is checked and converted; below it the code trusts.

Two invariants are made here: rows are unit or zero, and labels are 0..k-1 without gaps.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.arrays import AnyArray, Array, DType, Floats, Matrix, MatrixLike, is_sparse
from doccluster.base.blocks import BLOCK_ENTRIES, entry_blocks
from doccluster.base.sparse_structure import checked_csr, masked, with_values, wrong_dimensions
from doccluster.errors import Argument, DocclusterWarning, InputError, NothingUsable, NotNumeric

RandomState = None | int | np.random.Generator | np.random.RandomState

EXPONENTS = 60  # rows with a largest value outside 2^-60..2^60 are brought into it, which float32 can hold too
MAX_STARTS = 10_000
UNIT_TOLERANCE = 1e-5  # float32 rows normalised elsewhere are off by a few 1e-7


def is_missing(value: object) -> bool:
    """Return whether a value is missing: None, NaN, or a missing value of pandas.

    >>> [is_missing(value) for value in (None, float("nan"), 0.0, "")]
    [True, True, False, False]
    """
    if isinstance(value, float | np.floating | Decimal):
        return bool(value != value)
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def as_generator(random_state: RandomState) -> np.random.Generator:
    """Return the generator meant by `random_state` (None, a seed, a Generator or a legacy RandomState)."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**31 - 1, size=4))
    if random_state is None or (isinstance(random_state, int | np.integer) and int(random_state) >= 0):
        return np.random.default_rng(random_state)
    raise InputError(
        "is not a seed",
        argument="random_state",
        received=random_state,
        expected="None, an integer >= 0 or a numpy Generator",
    )


def check_matrix(matrix: MatrixLike, *, name: str = "X") -> Any:
    """Return `matrix` as a csr array in canonical form or as a dense 2-D array, float32 or float64, all values finite.

    The caller's arrays are never changed: what has to be converted is copied. Raises InputError or NothingUsable.
    """
    if np.ma.is_masked(matrix):
        raise masked(name)
    if hasattr(type(matrix), "iloc") and hasattr(getattr(matrix, "sparse", None), "to_coo"):
        # one whose columns are all sparse, with gaps that are zeros
        frame: Any = matrix
        matrix = frame.sparse.to_coo() if all(kind.fill_value == 0 for kind in frame.dtypes) else frame
    is_csr = sparse.issparse(matrix)
    result, is_canonical = checked_csr(matrix, name=name) if is_csr else (_dense(matrix, name), True)
    result = _as_float(result, name)
    n_rows, n_columns = result.shape
    if n_rows == 0 or n_columns == 0:
        raise NothingUsable(
            f"Found array with {n_rows} sample(s) and {n_columns} feature(s) (shape=({n_rows}, {n_columns})) while a "
            f"minimum of 1 is required in {name}."
        )
    _check_finite(result.data if is_csr else result, name)
    if not is_canonical:
        result = result.copy()
        result.sum_duplicates()
        _check_finite(result.data, name)  # two large values may add up to infinity
    return result


def _dense(matrix: Matrix, name: str) -> Array:
    try:
        result = np.asarray(matrix)
    except (ValueError, OverflowError, RecursionError) as error:
        raise InputError(f"cannot be read as a matrix: {error}", argument=name) from error
    if result.dtype.kind in "US":
        raise NotNumeric("is not numeric, it holds text", argument=name, remedy="turn documents into vectors first")
    if result.ndim != 2:
        raise wrong_dimensions(result.ndim, name)
    return result


def _check_finite(values: AnyArray, name: str) -> None:
    pieces = np.array_split(values, -(-values.size // BLOCK_ENTRIES) or 1)
    if not all(np.isfinite(piece).all() for piece in pieces):
        raise InputError("contains NaN or infinity", argument=name, remedy="remove or replace those values")


def _as_float(matrix: Matrix, name: str) -> Any:
    if matrix.dtype.kind == "c":
        raise InputError(f"{name} is complex. Complex data not supported: give real numbers.")
    target = matrix.dtype if matrix.dtype in (np.float32, np.float64) else np.float64
    try:
        with np.errstate(over="ignore"):  # what is too large becomes infinite, which is refused
            return matrix.astype(target, copy=False)
    except TypeError as error:
        raise NotNumeric(f"is not numeric: {error}", argument=name) from error
    except (ValueError, OverflowError) as error:
        raise InputError(f"is not numeric: {error}", argument=name) from error


def compact_indices(matrix: Matrix) -> Matrix:
    """Return a csr array with 32-bit index arrays where they suffice; scikit-learn's estimators take no others."""
    if not is_sparse(matrix) or max(matrix.nnz, *matrix.shape) >= 2**31:
        return matrix
    indices, indptr = (array.astype(np.int32, copy=False) for array in (matrix.indices, matrix.indptr))
    compact = sparse.csr_array(matrix.shape, dtype=matrix.dtype)
    compact.data, compact.indices, compact.indptr = matrix.data, indices, indptr
    return compact


def in_form_of_content(matrix: Any) -> Any:
    """Return weighted rows as csr where at least half of their values are zero, else dense, whichever they are now.

    So the same rows are clustered alike: the former are terms, the latter embeddings, which are dense in less memory.
    """
    values = matrix.data if sparse.issparse(matrix) else matrix
    is_full = 2 * np.count_nonzero(values) > np.prod(matrix.shape)
    return matrix.toarray() if is_full and sparse.issparse(matrix) else matrix if is_full else sparse.csr_array(matrix)


def row_norms(matrix: Matrix) -> Floats:
    """Return the Euclidean length of each row, accumulated in float64."""
    return np.sqrt(squared_row_norms(matrix))


def squared_row_norms(matrix: Matrix) -> Floats:
    """Return the squared Euclidean length of each row, accumulated in float64."""
    if not is_sparse(matrix):
        norms: Floats = np.einsum("ij,ij->i", matrix, matrix, dtype=np.float64)
        return norms
    sums = np.zeros(matrix.shape[0])
    for rows in entry_blocks(matrix.indptr):  # the squares of all entries would take twice the matrix
        starts = matrix.indptr[rows.start : rows.stop + 1]
        filled = np.flatnonzero(np.diff(starts))
        if filled.size:
            squares = np.square(matrix.data[starts[0] : starts[-1]], dtype=np.float64)
            sums[rows][filled] = np.add.reduceat(squares, starts[filled] - starts[0])
    return sums


def within_range(matrix: Matrix) -> Any:
    """Return a checked matrix, rows whose squares would overflow or vanish scaled by powers of two to about one."""
    if matrix.dtype != np.float64:
        return matrix
    exponents = np.frexp(_largest_values(matrix))[1]
    if np.all(np.abs(exponents) <= EXPONENTS):
        return matrix
    shifts = np.where(np.abs(exponents) <= EXPONENTS, 0, -exponents)
    if not is_sparse(matrix):
        return np.ldexp(matrix, shifts[:, None])
    data = np.ldexp(matrix.data, np.repeat(shifts, np.diff(matrix.indptr)))
    return with_values(matrix, data)


def _largest_values(matrix: Matrix) -> Floats:
    """Return the largest absolute value of each row; scipy's own would sum repeated columns in place."""
    largest = np.zeros(matrix.shape[0])
    if not is_sparse(matrix):
        np.maximum(matrix.max(axis=1), -matrix.min(axis=1), out=largest)
        return largest
    filled = np.flatnonzero(np.diff(matrix.indptr))
    if filled.size:
        starts = matrix.indptr[filled]
        highest, lowest = np.maximum.reduceat(matrix.data, starts), np.minimum.reduceat(matrix.data, starts)
        largest[filled] = np.maximum(highest, -lowest)
    return largest


def unit_rows(matrix: Matrix, *, warn: bool = True) -> Any:
    """Return `matrix` with rows of length one (zero rows stay zero); a copy, with one warning, if they were not."""
    original, matrix = matrix, within_range(matrix)
    norms = row_norms(matrix)
    zero = norms == 0
    if matrix is original and np.all(zero | (np.abs(norms - 1) <= UNIT_TOLERANCE)):
        return matrix
    if warn:
        warnings.warn(
            "X has rows that are not of unit length; a normalised copy is used (the cosine ignores length).",
            DocclusterWarning,
            stacklevel=3,
        )
    scale = np.divide(1.0, norms, out=np.zeros_like(norms), where=~zero)
    if sparse.issparse(matrix):
        data = (matrix.data * np.repeat(scale, np.diff(matrix.indptr))).astype(matrix.dtype)
        return with_values(matrix, data)
    return (matrix * scale[:, None]).astype(matrix.dtype)


def check_choice(value: object, choices: Iterable[str], name: str) -> str:
    """Return `value` if it is one of `choices`, or raise InputError."""
    allowed = list(choices)
    if value not in allowed:
        raise InputError("is not known", argument=name, received=value, expected=f"one of {', '.join(allowed)}")
    return str(value)


def check_float_type(dtype: npt.DTypeLike) -> DType:
    """Return float32 or float64 as a dtype, or raise InputError."""
    try:
        result: DType = np.dtype(dtype)
    except TypeError as error:
        raise InputError("is not a type", argument="dtype", received=dtype, expected="float32 or float64") from error
    if result not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise InputError("is not supported", argument="dtype", received=result, expected="float32 or float64")
    return result


def check_positive_int(value: object, name: str) -> int:
    """Return `value` as an int >= 1, or raise InputError."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer) or value < 1:
        raise InputError(
            "is not a positive whole number", argument=name, received=value, remedy=("give ", Argument(name), " >= 1")
        )
    return int(value)


def check_n_init(n_init: object) -> int:
    """Return a number of starts between 1 and `MAX_STARTS`, or raise InputError."""
    number = check_positive_int(n_init, "n_init")
    if number > MAX_STARTS:
        raise InputError(
            "is more starts than any run comes to the end of",
            argument="n_init",
            received=number,
            remedy=("give ", Argument("n_init"), f" <= {MAX_STARTS:,}"),
        )
    return number


def check_n_clusters(n_clusters: object, n_documents: int) -> int:
    """Return `n_clusters` as an int between 1 and `n_documents`, or raise InputError."""
    number = check_positive_int(n_clusters, "n_clusters")
    if number > n_documents:
        raise InputError(
            ("exceeds the number of documents (", Argument("n_samples", n_documents), ")"),
            argument="n_clusters",
            received=number,
            remedy=("choose ", Argument("n_clusters"), f" <= {n_documents}"),
        )
    return number
