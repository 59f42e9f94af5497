"""The documents as a metric sees them: arrays ready for the kernels, the length of every row settled once.

Rows are either *unit* (then each is scaled by 1 over its true length in float64, so that its squared norm is exactly 1,
or 0 for a document without terms) or taken as they are. So float32 rows that are unit within rounding behave as exactly
unit, and copies of a document are at distance exactly zero (docs/explanation/numerics.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.compiled.arguments import Csr
from doccluster.base.validation import UNIT_TOLERANCE

STEP_BITS = 30  # 2^31 values of 30 bits sum to 61 bits
LEAST_EXPONENT = -450  # smaller values have squares that vanish


class TermMatrix:
    """What a csr or dense matrix of documents and terms says of its size."""

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
    scale: npt.NDArray[np.float64]
    # of shape (n_documents,): squared lengths after scaling: exactly 1 or 0 where rows are unit
    squared_norms: npt.NDArray[np.float64]
    is_unit: bool  # whether rows count as unit

    @classmethod
    def of_directions(cls, matrix: Any, true_norms: npt.NDArray[np.float64]) -> Rows:
        """Return rows as the cosine sees them: unit, whatever their squared lengths `true_norms` are."""
        zero = true_norms == 0
        scale = np.divide(1.0, np.sqrt(true_norms), out=np.zeros_like(true_norms), where=~zero)
        return cls(matrix, scale, np.where(zero, 0.0, 1.0), True)

    @classmethod
    def of_points(cls, matrix: Any, true_norms: npt.NDArray[np.float64]) -> Rows:
        """Return rows as the Euclidean metrics see them: as they are, or exactly unit where all of them are unit or
        zero within rounding."""
        tolerance = UNIT_TOLERANCE if matrix.dtype == np.float32 else 1e-9
        if np.all((true_norms == 0) | (np.abs(true_norms - 1) <= 2 * tolerance)):
            return cls.of_directions(matrix, true_norms)
        return cls(matrix, np.ones(len(true_norms)), true_norms, False)

    @classmethod
    def as_they_are(cls, matrix: Any) -> Rows:
        """Return rows to be summed alone: of any length, unscaled, their squared lengths not computed (nan)."""
        return cls(matrix, np.ones(matrix.shape[0]), np.full(matrix.shape[0], np.nan), False)

    @property
    def tau(self) -> float:
        """The share of the squared norms below which a squared distance is zero."""
        return 1e-11 if self.matrix.dtype == np.float32 else 1e-14

    @property
    def slack(self) -> float:
        """What two similarities may differ by and still count as equal."""
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
        return np.asarray(np.clip(np.frexp(largest)[1], LEAST_EXPONENT, None), np.int32)

    @cached_property
    def steps(self) -> npt.NDArray[np.float64]:
        """What sums of each term count in: 2^30 steps are above every value, float64 array of shape (n_terms,)."""
        if self.is_unit:  # one number, which travels as such
            return np.broadcast_to(2.0 ** (1 - STEP_BITS), (self.n_terms,))
        return np.ldexp(1.0, self._exponents - STEP_BITS)

    @cached_property
    def squared_steps(self) -> npt.NDArray[np.float64]:
        """What sums of squares of each term count in."""
        return np.ldexp(1.0, 2 * self._exponents - STEP_BITS)

    @cached_property
    def arrays(self) -> Csr:
        """The csr arrays as kernels take them: one signature, so that they are compiled once for each type of data."""
        return Csr.of(self.matrix)

    def dense_block(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Return some scaled rows of a dense matrix in float64."""
        return np.asarray(self.matrix[rows].astype(np.float64) * self.scale[rows, None])
