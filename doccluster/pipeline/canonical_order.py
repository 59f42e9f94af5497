"""The order in which documents are clustered: that of their content, so that the order of the input decides nothing.

Seeds are drawn by place, sums are rounded in their order and ties go to the lowest place; all of that is settled here,
once, by sorting the rows. Documents with equal rows are as good as each other wherever they stand.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse


def canonical_order(matrix: Any, counts: Any | None = None) -> npt.NDArray[np.int64]:
    """Return the rows ordered by a digest of their content, equal ones by that of their counts where there are some.

    What is equal in both keeps the order of the input.

    Examples
    --------
    >>> rows = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])
    >>> shuffled = np.array([2, 0, 1])
    >>> bool(np.array_equal(rows[canonical_order(rows)], rows[shuffled][canonical_order(rows[shuffled])]))
    True
    """
    digests = row_digests(matrix)
    if counts is not None:
        digests = [own + of_counts for own, of_counts in zip(digests, row_digests(counts), strict=True)]
    return np.argsort(np.array(digests), kind="stable")


def row_digests(matrix: Any) -> list[bytes]:
    """Return a digest of the content of each row, the same for whichever form and place the row has."""
    if not sparse.issparse(matrix):
        return [_digest(np.ascontiguousarray(row).tobytes()) for row in np.asarray(matrix)]
    columns = matrix.indices.astype(np.int64, copy=False)
    ends = zip(matrix.indptr[:-1].tolist(), matrix.indptr[1:].tolist(), strict=True)
    return [_digest(columns[a:b].tobytes() + matrix.data[a:b].tobytes()) for a, b in ends]


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=16).digest()
