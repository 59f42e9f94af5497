"""The documents as the evidence objects read them: arrays ready for the kernels, the length of every row settled once.

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

from doccluster.choices import METRICS
from doccluster.errors import InputError
from doccluster.validation import UNIT_TOLERANCE, check_matrix, squared_row_norms, within_range


@dataclass(frozen=True, eq=False)
class Rows:
    """Documents as rows, and the length by which each counts.

    Attributes
    ----------
    matrix : csr array or dense array of shape (n_documents, n_terms), float32 or float64
        The rows as they were given; under the cosine, rows of extreme size scaled (`validation.within_range`).
    scale : float64 array of shape (n_documents,)
        What each row is multiplied by: 1 over its length where rows are unit (0 for a zero row), else 1.
    squared_norms : float64 array of shape (n_documents,)
        Squared lengths after scaling: exactly 1 or 0 where rows are unit.
    is_unit : bool
        Whether rows count as unit.
    """

    matrix: Any
    scale: npt.NDArray[np.float64]
    squared_norms: npt.NDArray[np.float64]
    is_unit: bool

    @classmethod
    def from_matrix(cls, matrix: Any, *, metric: str = "cosine") -> Rows:
        """Return the rows of `matrix` (sparse or dense) as `metric` sees them.

        The cosine ignores length, so its rows are unit whatever they were; the Euclidean metrics take rows as they
        are, and as exactly unit where all of them are unit or zero within rounding.

        Raises
        ------
        InputError
            If the metric is unknown, or the matrix is not finite or not two-dimensional.
        """
        if metric not in METRICS:
            raise InputError(f"metric={metric!r} is not one of {', '.join(METRICS)}; choose one of them.")
        checked = check_matrix(matrix)
        if metric == "cosine":
            checked = within_range(checked)
        true_norms = squared_row_norms(checked)
        zero = true_norms == 0
        tolerance = UNIT_TOLERANCE if checked.dtype == np.float32 else 1e-9
        if metric != "cosine" and not np.all(zero | (np.abs(true_norms - 1) <= 2 * tolerance)):
            return cls(checked, np.ones(len(true_norms)), true_norms, False)
        scale = np.divide(1.0, np.sqrt(true_norms), out=np.zeros_like(true_norms), where=~zero)
        return cls(checked, scale, np.where(zero, 0.0, 1.0), True)

    @property
    def n_documents(self) -> int:
        """The number of rows."""
        return int(self.matrix.shape[0])

    @property
    def n_terms(self) -> int:
        """The number of columns."""
        return int(self.matrix.shape[1])

    @property
    def is_sparse(self) -> bool:
        """Whether the matrix is a csr array."""
        return bool(sparse.issparse(self.matrix))

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
    def arrays(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[Any]]:
        """The csr arrays (indptr int64, indices int32, data): one signature, so kernels compile once per data type."""
        m = self.matrix
        return m.indptr.astype(np.int64, copy=False), m.indices.astype(np.int32, copy=False), m.data

    def dense_block(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Return some scaled rows of a dense matrix in float64."""
        return np.asarray(self.matrix[rows].astype(np.float64) * self.scale[rows, None])
