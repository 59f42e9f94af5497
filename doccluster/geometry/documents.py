"""Documents as a matrix that was checked: once, at the door, and never again below it.

What takes `Documents` relies on sound indices, finite values and rows in canonical form; the type is the proof. What
many ask of the same rows (their lengths, unit rows, the rows as a metric sees them) is computed when it is first asked
for, and kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.choices import METRICS
from doccluster.base.digests import matrix_checksum
from doccluster.base.short_repr import ShortRepr
from doccluster.base.validation import (
    UNIT_TOLERANCE,
    check_choice,
    check_matrix,
    squared_row_norms,
    unit_rows,
    within_range,
)
from doccluster.geometry.rows import Rows, TermMatrix

Floats = npt.NDArray[np.float64]


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
    def is_zero(self) -> npt.NDArray[np.bool_]:
        """Whether each row has no value but zero, bool array of shape (n_documents,)."""
        zero: npt.NDArray[np.bool_] = self._squared_in_range == 0
        return zero

    @cached_property
    def unit_scale(self) -> Floats:
        """What makes each row of `in_range` unit: 1 for all where all are, 0 for a zero row; shape (n_documents,)."""
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

    def take(self, rows: npt.NDArray[np.integer[Any]]) -> Documents:
        """Return some of the documents, in this order; rows of a checked matrix need no check."""
        return Documents(self.matrix[rows])


def as_documents(source: Any, *, name: str = "X") -> Documents:
    """Return the given rows as documents: the door. Documents pass unchanged.

    Parameters
    ----------
    source : Documents, DocumentVectors, or a csr or dense matrix of shape (n_documents, n_terms)
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
    if isinstance(source, Documents):
        return source
    carried = getattr(source, "documents", None)  # of DocumentVectors
    return carried if isinstance(carried, Documents) else Documents(check_matrix(source, name=name))


def count_distinct_rows(matrix: Any) -> int:
    """Return the number of different rows of a csr or dense array: no clustering has more clusters that differ.

    >>> count_distinct_rows(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]))
    2
    """
    if not sparse.issparse(matrix):
        return len({row.tobytes() for row in np.asarray(matrix)})
    ends = zip(matrix.indptr[:-1].tolist(), matrix.indptr[1:].tolist(), strict=True)
    return len({(matrix.indices[a:b].tobytes(), matrix.data[a:b].tobytes()) for a, b in ends})
