"""Types of arrays and matrices by what they hold, written once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from scipy import sparse

Floats: TypeAlias = npt.NDArray[np.float64]
SingleFloats: TypeAlias = npt.NDArray[np.float32]
Reals: TypeAlias = npt.NDArray[np.floating[Any]]  # float32 or float64
Integers: TypeAlias = npt.NDArray[np.int64]
AnyIntegers: TypeAlias = npt.NDArray[np.integer[Any]]  # of any width: labels as they come
Array: TypeAlias = npt.NDArray[np.generic]  # of any kind
AnyArray: TypeAlias = npt.NDArray[Any]  # of a kind that only its file or its maker says, to compute with
Flags: TypeAlias = npt.NDArray[np.bool_]
Labels: TypeAlias = npt.NDArray[np.int64]  # the number of the cluster of each document

DType: TypeAlias = np.dtype[Any]
CsrArray: TypeAlias = "sparse.csr_array"  # by rows: a document, or a cluster, in each
CscArray: TypeAlias = "sparse.csc_array"  # by columns
Matrix: TypeAlias = "CsrArray | Reals"  # rows, sparse or dense
MatrixLike: TypeAlias = "CsrArray | npt.ArrayLike"  # what can be read as one: lists, tables, sparse matrices too


def is_sparse(matrix: object) -> TypeGuard[CsrArray]:
    """Return whether a matrix is one of scipy's sparse ones."""
    from scipy import sparse

    return bool(sparse.issparse(matrix))
