"""The checksum by which two runs say that they had the same texts, matrix or labels: SHA-256 over parts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np


def checksum(parts: Iterable[str | bytes | memoryview]) -> str:
    """Return the SHA-256 of texts and bytes, as hexadecimal digits; where one part ends and the next begins counts.

    >>> checksum(["ab", "c"]) == checksum(["a", "bc"])
    False
    """
    digest = hashlib.sha256()
    for part in parts:
        content = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        size = content.nbytes if isinstance(content, memoryview) else len(content)
        digest.update(size.to_bytes(8, "little"))
        digest.update(content)
    return digest.hexdigest()


def matrix_checksum(matrix: Any, **parameters: Any) -> str:
    """Return the checksum of a csr or dense matrix and of parameters, of which each needs a faithful repr."""
    return checksum([repr((tuple(matrix.shape), sorted(parameters.items()))), *_contents(matrix)])


def _contents(matrix: Any) -> Iterator[memoryview]:
    arrays = (matrix,) if isinstance(matrix, np.ndarray) else (matrix.indptr, matrix.indices, matrix.data)
    for array in arrays:
        yield np.ascontiguousarray(array).view(np.uint8).data
