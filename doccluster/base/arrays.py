"""Types of arrays and matrices by what they hold, written once."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from scipy import sparse

Floats: TypeAlias = npt.NDArray[np.float64]
SingleFloats: TypeAlias = npt.NDArray[np.float32]
Integers: TypeAlias = npt.NDArray[np.int64]
Flags: TypeAlias = npt.NDArray[np.bool_]
Labels: TypeAlias = npt.NDArray[np.int64]  # the number of the cluster of each document

Csr: TypeAlias = "sparse.csr_array"  # by rows: a document, or a cluster, in each
Csc: TypeAlias = "sparse.csc_array"  # by columns
