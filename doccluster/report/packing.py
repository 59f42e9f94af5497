"""Whole numbers as short text in the page: fixed bytes or gaps of ascending ones, in base64."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import numpy as np
import numpy.typing as npt


def packed(values: npt.ArrayLike) -> dict[str, Any]:
    """Return whole numbers >= 0 in 1 to 4 bytes each, little-endian, as the script of the page reads them.

    >>> packed([1, 2, 255]), packed([1, 256])
    ({'width': 1, 'data': 'AQL/'}, {'width': 2, 'data': 'AQAAAQ=='})
    """
    array = np.ascontiguousarray(values, dtype="<u4")
    most = int(array.max(initial=0))
    width = next(width for width in (1, 2, 3, 4) if most < 256**width)
    parts = array.view(np.uint8).reshape(-1, 4)[:, :width]
    return {"width": width, "data": b64encode(parts.tobytes()).decode("ascii")}


def packed_gaps(gaps: npt.NDArray[np.int64]) -> str:
    """Return whole numbers >= 0 below 2^21, the small ones in one byte.

    A byte holds seven bits of the number, the lowest first; its eighth bit says that more follow.

    >>> packed_gaps(np.array([1, 127, 128]))
    'AX+AAQ=='
    """
    n_bytes = 1 + (gaps >= 1 << 7) + (gaps >= 1 << 14)
    ends = np.cumsum(n_bytes)
    text = np.empty(int(ends[-1]) if ends.size else 0, dtype=np.uint8)
    for place in range(3):
        there = n_bytes > place
        more = (n_bytes[there] > place + 1).astype(np.int64) << 7
        text[(ends - n_bytes)[there] + place] = ((gaps[there] >> (7 * place)) & 127) | more
    return b64encode(text.tobytes()).decode("ascii")
