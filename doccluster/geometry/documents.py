"""Documents as a matrix that was checked: once, at the door, and never again below it.

What takes `Documents` relies on sound indices, finite values and rows in canonical form; the type is the proof. What
many ask of the same rows (their lengths, unit rows, the rows as a metric sees them) is computed when it is first asked
for, and kept.

As a metric sees them, rows are either *unit* (then each is scaled by 1 over its true length in float64, so that its
squared norm is exactly 1, or 0 for a document without terms) or taken as they are. So float32 rows that are unit within
rounding behave as exactly unit, and copies of a document are at distance exactly zero (docs/explanation/numerics.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.arrays import AnyIntegers, Flags, Floats, Integers, Matrix, is_sparse
from doccluster.base.checksums import matrix_checksum
from doccluster.base.choices import METRICS
from doccluster.base.plain_values import ShortRepr
from doccluster.base.sparse_structure import Csr
from doccluster.base.validation import (
    UNIT_TOLERANCE,
    check_choice,
    check_matrix,
    squared_row_norms,
    unit_rows,
    within_range,
)

STEP_BITS = 30  # 2^31 values of 30 bits sum to 61 bits
MIN_EXPONENT = -450  # smaller values have squares that vanish


class TermMatrix:
    """A csr or dense matrix of documents and terms, and its shape."""

    matrix: Any

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""
        return int(self.matrix.shape[0]), int(self.matrix.shape[1])

    @property
    def n_documents(self) -> int:
        """The number of rows."""
        return self.shape[0]

    @property
    def n_terms(self) -> int:
        """The number of columns."""
        return self.shape[1]

    @property
    def is_sparse(self) -> bool:
        """Whether the matrix is a csr array."""
        return bool(sparse.issparse(self.matrix))


@dataclass(frozen=True, eq=False)
class Rows(TermMatrix):
    """Documents as rows, and the length by which each counts."""

    # csr array or dense array of shape (n_documents, n_terms), float32 or float64: the rows as they were given; under
    # the cosine, rows of extreme size scaled (`validation.within_range`)
    matrix: Any
    # of shape (n_documents,): what each row is multiplied by: 1 over its length where rows are unit (0 for a zero row),
    # else 1
    scale: Floats
    # of shape (n_documents,): squared lengths after scaling: exactly 1 or 0 where rows are unit
    squared_norms: Floats
    is_unit: bool  # whether rows count as unit

    @classmethod
    def of_directions(cls, matrix: Matrix, true_norms: Floats) -> Rows:
        """Return rows as the cosine sees them: unit, whatever their squared lengths `true_norms` are."""
        zero = true_norms == 0
        scale = np.divide(1.0, np.sqrt(true_norms), out=np.zeros_like(true_norms), where=~zero)
        return cls(matrix, scale, np.where(zero, 0.0, 1.0), True)

    @classmethod
    def of_points(cls, matrix: Matrix, true_norms: Floats) -> Rows:
        """Return rows as the Euclidean metrics see them: as they are, or exactly unit where all of them are unit or
        zero within rounding."""
        tolerance = UNIT_TOLERANCE if matrix.dtype == np.float32 else 1e-9
        if np.all((true_norms == 0) | (np.abs(true_norms - 1) <= 2 * tolerance)):
            return cls.of_directions(matrix, true_norms)
        return cls(matrix, np.ones(len(true_norms)), true_norms, False)

    @classmethod
    def as_they_are(cls, matrix: Matrix) -> Rows:
        """Return rows to be summed alone: of any length, unscaled, their squared lengths not computed (nan)."""
        return cls(matrix, np.ones(matrix.shape[0]), np.full(matrix.shape[0], np.nan), False)

    @property
    def tau(self) -> float:
        """The share of the squared norms below which a squared distance is zero."""
        return 1e-11 if self.matrix.dtype == np.float32 else 1e-14

    @property
    def slack(self) -> float:
        """The largest difference of two similarities that count as equal."""
        return 1e-6 if self.matrix.dtype == np.float32 else 1e-12

    @property
    def grid(self) -> float:
        """The grid on which squared distances are compared by the measures of pair order."""
        return 1e-6 if self.matrix.dtype == np.float32 else 1e-10

    @cached_property
    def _exponents(self) -> npt.NDArray[np.int32]:
        """The power of two above the largest value of each term; 2 for all where rows are unit."""
        if self.is_unit:
            return np.ones(self.n_terms, np.int32)
        largest = abs(self.matrix).max(axis=0)
        largest = (largest.toarray() if self.is_sparse else largest).astype(np.float64)
        return np.asarray(np.clip(np.frexp(largest)[1], MIN_EXPONENT, None), np.int32)

    @cached_property
    def steps(self) -> Floats:
        """What sums of each term count in: 2^30 steps are above every value, float64 array of shape (n_terms,)."""
        if self.is_unit:  # one number, which travels as such
            return np.broadcast_to(2.0 ** (1 - STEP_BITS), (self.n_terms,))
        return np.ldexp(1.0, self._exponents - STEP_BITS)

    @cached_property
    def squared_steps(self) -> Floats:
        """What sums of squares of each term count in."""
        return np.ldexp(1.0, 2 * self._exponents - STEP_BITS)

    @cached_property
    def arrays(self) -> Csr:
        """The csr arrays as kernels take them: one signature, so that they are compiled once for each type of data."""
        return Csr.of(self.matrix)

    def dense_block(self, rows: Integers) -> Floats:
        """Return some scaled rows of a dense matrix in float64."""
        return np.asarray(self.matrix[rows].astype(np.float64) * self.scale[rows, None])


@dataclass(frozen=True, eq=False, repr=False)
class Documents(TermMatrix, ShortRepr):
    """Documents as rows of a checked matrix. `as_documents` makes them; the arrays never change afterwards.

    Attributes
    ----------
    matrix : csr array or dense array of shape (n_documents, n_terms), float32 or float64
        Finite values; the columns of each row ascend without repetition.
    """

    matrix: Any

    @cached_property
    def squared_norms(self) -> Floats:
        """The squared length of each row as it is, float64 array of shape (n_documents,)."""
        return squared_row_norms(self.matrix)

    @cached_property
    def in_range(self) -> Any:
        """The matrix with rows of extreme size brought into range (`validation.within_range`): for the cosine."""
        return within_range(self.matrix)

    @cached_property
    def has_unit_rows(self) -> bool:
        """Whether all rows are of length one or zero, within `UNIT_TOLERANCE`."""
        if self.in_range is not self.matrix:
            return False
        lengths = np.sqrt(self.squared_norms)
        return bool(np.all((lengths == 0) | (np.abs(lengths - 1) <= UNIT_TOLERANCE)))

    @property
    def is_zero(self) -> Flags:
        """Whether each row has no value but zero, bool array of shape (n_documents,)."""
        return np.asarray(self._squared_in_range == 0)

    @cached_property
    def unit_scale(self) -> Floats:
        """The factor that makes each row of `in_range` unit, shape (n_documents,); 0 for a zero row."""
        if self.has_unit_rows:
            return np.ones(self.n_documents)
        lengths = np.sqrt(self._squared_in_range)
        return np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)

    @cached_property
    def unit(self) -> Any:
        """The normalised rows (zero rows stay zero), in the type of the matrix; the matrix itself where they are."""
        return self.matrix if self.has_unit_rows else unit_rows(self.matrix, warn=False)

    @property
    def _squared_in_range(self) -> Floats:
        return self.squared_norms if self.in_range is self.matrix else squared_row_norms(self.in_range)

    @cached_property
    def _directions(self) -> Rows:
        return Rows.of_directions(self.in_range, self._squared_in_range)

    @cached_property
    def _points(self) -> Rows:
        return Rows.of_points(self.matrix, self.squared_norms)

    def under(self, metric: str) -> Rows:
        """Return the rows as a metric sees them: their directions under the cosine, else the rows as they are.

        Raises
        ------
        InputError
            If the metric is unknown.
        """
        check_choice(metric, METRICS, "metric")
        return self._directions if metric == "cosine" else self._points

    @cached_property
    def digest(self) -> str:
        """The checksum of the matrix: equal for equal arrays of one type."""
        return matrix_checksum(self.matrix)

    @cached_property
    def n_distinct(self) -> int:
        """The number of different rows: no clustering has more clusters that differ."""
        return count_distinct_rows(self.matrix)

    def take(self, rows: AnyIntegers) -> Documents:
        """Return some of the documents, in this order; rows of a checked matrix need no check."""
        return Documents(self.matrix[rows])


def as_documents(matrix: object, *, name: str = "X") -> Documents:
    """Return the given rows as documents: the door. Documents pass unchanged.

    Parameters
    ----------
    matrix : Documents, DocumentVectors, or a csr or dense matrix of shape (n_documents, n_terms)
    name : str
        What an error calls it.

    Raises
    ------
    InputError
        If it is not two-dimensional, not numeric, not finite, or the parts of a sparse matrix do not fit.
    NothingUsable
        If it has no row or no column.

    Examples
    --------
    >>> documents = as_documents([[3.0, 4.0], [0.0, 0.0]])
    >>> documents.unit.round(6).tolist(), as_documents(documents) is documents
    ([[0.6, 0.8], [0.0, 0.0]], True)
    """
    if isinstance(matrix, Documents):
        return matrix
    carried = getattr(matrix, "documents", None)  # of DocumentVectors
    return carried if isinstance(carried, Documents) else Documents(check_matrix(matrix, name=name))


def count_distinct_rows(matrix: Matrix) -> int:
    """Return the number of different rows of a csr or dense array: no clustering has more clusters that differ.

    >>> count_distinct_rows(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]))
    2
    """
    if not is_sparse(matrix):
        return len({row.tobytes() for row in np.asarray(matrix)})
    ends = zip(matrix.indptr[:-1].tolist(), matrix.indptr[1:].tolist(), strict=True)
    return len({(matrix.indices[a:b].tobytes(), matrix.data[a:b].tobytes()) for a, b in ends})
