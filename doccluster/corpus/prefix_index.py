"""Which articles have a shingle in their prefix: millions of pairs in little memory, found in sorted arrays."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import numpy.typing as npt

MOST_RECENT = 1 << 15  # pairs that a dictionary holds before they are sorted in; more where the arrays are long


class PrefixIndex:
    """Pairs of a shingle and the number of an article, by shingle.

    The latest pairs are in a dictionary, the others in sorted arrays, where a pair takes 16 bytes instead of a hundred.

    >>> index = PrefixIndex()
    >>> index.add(1, np.array([3, 5], dtype=np.uint64))
    >>> index.add(2, np.array([5, 8], dtype=np.uint64))
    >>> sorted(index.find(np.array([5], dtype=np.uint64)))
    [1, 2]
    """

    def __init__(self) -> None:
        self._shingles = np.zeros(0, dtype=np.uint64)
        self._numbers = np.zeros(0, dtype=np.int64)
        # the number of the only article with a shingle, as most are, or the numbers of several
        self._recent: dict[int, int | list[int]] = {}

    def add(self, number: int, prefix: npt.NDArray[np.uint64]) -> None:
        """Add the distinct shingles of an article's prefix."""
        recent = self._recent
        for key in prefix.tolist():
            held = recent.setdefault(key, number)
            if isinstance(held, list):
                held.append(number)
            elif held != number:
                recent[key] = [held, number]
        if len(recent) > max(MOST_RECENT, self._shingles.size // 8):
            self._sort_in()

    def find(self, prefix: npt.NDArray[np.uint64]) -> set[int]:
        """Return the numbers of the articles that have a shingle of a prefix in their own."""
        found: set[int] = set()
        for held in map(self._recent.get, prefix.tolist()):
            if isinstance(held, list):
                found.update(held)
            elif held is not None:
                found.add(held)
        if self._shingles.size:
            begins = np.searchsorted(self._shingles, prefix)
            is_held = self._shingles[np.minimum(begins, self._shingles.size - 1)] == prefix
            if is_held.any():
                ends = np.searchsorted(self._shingles, prefix[is_held], side="right")
                for begin, end in zip(begins[is_held].tolist(), ends.tolist(), strict=True):
                    found.update(self._numbers[begin:end].tolist())
        return found

    def forget(self, numbers: Collection[int]) -> None:
        """Leave out articles."""
        self._sort_in()
        stay = ~np.isin(self._numbers, np.array(sorted(numbers), dtype=np.int64))
        self._shingles, self._numbers = self._shingles[stay], self._numbers[stay]

    def _sort_in(self) -> None:
        pairs = [
            (key, one) for key, held in self._recent.items() for one in (held if isinstance(held, list) else (held,))
        ]
        if not pairs:
            return
        shingles = np.array([key for key, _ in pairs], dtype=np.uint64)
        numbers = np.array([number for _, number in pairs], dtype=np.int64)
        order = np.argsort(shingles, kind="stable")
        places = np.searchsorted(self._shingles, shingles[order], side="right")
        self._shingles = np.insert(self._shingles, places, shingles[order])
        self._numbers = np.insert(self._numbers, places, numbers[order])
        self._recent = {}
