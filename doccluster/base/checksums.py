"""Checksums of texts and matrices: what says that two runs are of the same documents."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np

from doccluster.base.arrays import Matrix


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


def matrix_checksum(matrix: Matrix, **parameters: object) -> str:
    """Return the checksum of a csr or dense matrix and of parameters, of which each needs a faithful repr."""
    arrays = (matrix,) if isinstance(matrix, np.ndarray) else (matrix.indptr, matrix.indices, matrix.data)
    contents = (np.ascontiguousarray(array).view(np.uint8).data for array in arrays)
    return checksum([repr((tuple(matrix.shape), sorted(parameters.items()))), *contents])
