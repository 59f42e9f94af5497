"""How many numbers the vectors of this package hold, and arrays that begin where a cache line does."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

LINE_BYTES = 64
LINE = 16  # float32 lanes of a cache line
OCTET = 8  # groups of a vector of bounds


def aligned_zeros(shape: tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Return an array of zeros that begins where a cache line does; so does each row of whole lines then.

    A line of the table that lies across two of the cache costs two reads.
    """
    kind = np.dtype(dtype)
    n_bytes = kind.itemsize * int(np.prod(shape))
    store = np.zeros(n_bytes + LINE_BYTES, np.uint8)
    offset = -store.ctypes.data % LINE_BYTES
    return store[offset : offset + n_bytes].view(kind).reshape(shape)
