"""Lists of strings as two plain arrays, so that they go into npz files without pickle."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from doccluster.errors import SchemaError


def pack_strings(strings: Iterable[str]) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """Return the strings one after the other in UTF-8, uint8, and where each ends, int64 of shape (n_strings,).

    >>> pack_strings(["ab", "", "é"])
    (array([ 97,  98, 195, 169], dtype=uint8), array([2, 2, 4]))
    """
    encoded = [text.encode("utf-8", "surrogatepass") for text in strings]
    ends = np.cumsum(np.fromiter(map(len, encoded), dtype=np.int64, count=len(encoded)), dtype=np.int64)
    return np.frombuffer(b"".join(encoded), dtype=np.uint8).copy(), ends


def unpack_strings(characters: npt.NDArray[np.uint8], ends: npt.NDArray[np.int64]) -> list[str]:
    """Return the strings that `pack_strings` packed.

    Raises
    ------
    SchemaError
        If the arrays do not fit together.

    >>> unpack_strings(*pack_strings(["ab", "", "é"]))
    ['ab', '', 'é']
    """
    characters, places = np.asarray(characters), np.asarray(ends)
    if characters.dtype != np.uint8 or places.dtype != np.int64:
        raise SchemaError(
            "the packed strings are damaged: they are not characters and ends", remedy="write the file again"
        )
    text = characters.tobytes()
    if places.ndim != 1 or (places.size and (places[-1] != len(text) or (np.diff(places, prepend=0) < 0).any())):
        raise SchemaError(
            "the packed strings are damaged: their ends do not fit the characters", remedy="write the file again"
        )
    bounds = pairwise([0, *places.tolist()])
    try:
        return [text[start:end].decode("utf-8", "surrogatepass") for start, end in bounds]
    except UnicodeDecodeError as error:
        raise SchemaError("the packed strings are damaged: not UTF-8", remedy="write the file again") from error
