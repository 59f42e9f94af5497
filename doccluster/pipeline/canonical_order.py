"""The order in which documents are clustered: that of their content, so that the order of the input decides nothing.

Seeds are drawn by place, sums are rounded in their order and ties go to the lowest place; all of that is settled here,
once, by sorting the rows. Documents with equal rows are as good as each other wherever they stand.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.blocks import entry_blocks
from doccluster.vectors import DocumentVectors

DIGEST_BYTES = 16


def canonical_order(matrix: Any, *others: Any) -> npt.NDArray[np.int64]:
    """Return the rows ordered by a digest of their content, equal ones by that of their rows in others (None for none).

    What is equal in both keeps the order of the input.

    Examples
    --------
    >>> rows = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])
    >>> shuffled = np.array([2, 0, 1])
    >>> bool(np.array_equal(rows[canonical_order(rows)], rows[shuffled][canonical_order(rows[shuffled])]))
    True
    """
    return np.argsort(row_digests(matrix, *others), kind="stable")


def order_of(vectors: DocumentVectors) -> npt.NDArray[np.int64]:
    """Return the order of documents by their words, then counts, then meaning."""
    meaning = None if vectors.meaning is None else vectors.meaning.rows
    return canonical_order(vectors.matrix, vectors.counts, meaning)


def row_digests(matrix: Any, *others: Any) -> npt.NDArray[np.bytes_]:
    """Return a digest of the content of each row, and behind it those of its rows in other matrices (None for none).

    It is the same for whichever form and place the row has; array of shape (n_rows,), of 16 bytes for each matrix.
    """
    found = [b"".join(map(_digest, _contents(one))) for one in (matrix, *others) if one is not None]
    parts = [np.frombuffer(digests, np.uint8).reshape(-1, DIGEST_BYTES) for digests in found]
    together = np.ascontiguousarray(np.concatenate(parts, axis=1))
    return together.view(f"S{together.shape[1]}").ravel()


def _contents(matrix: Any) -> Iterator[bytes]:
    if not sparse.issparse(matrix):
        yield from (np.ascontiguousarray(row).tobytes() for row in np.asarray(matrix))
        return
    for rows in entry_blocks(matrix.indptr):
        starts = matrix.indptr[rows.start : rows.stop + 1]
        columns = matrix.indices[starts[0] : starts[-1]].astype(np.int64)
        data = matrix.data[starts[0] : starts[-1]]
        for first, end in itertools.pairwise((starts - starts[0]).tolist()):
            yield columns[first:end].tobytes() + data[first:end].tobytes()


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=DIGEST_BYTES).digest()
