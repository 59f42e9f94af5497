"""Families of copies, found as articles come in: on every prefix of a stream those of `find_near_duplicates`."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from doccluster.corpus.duplicates import ShingleIndex, Shingles, mix_shingles
from doccluster.streams.article import Moment

LONG = 50  # words; shorter texts are compared among themselves, by shorter shingles and a higher threshold


def shingles_from_bytes(data: bytes) -> tuple[bool, Shingles]:
    """Return whether an article is a long one, and its shingles, of what `shingles_as_bytes` returned.

    Raises ValueError if it never returns that.
    """
    mark, rest = data[:1], len(data) - 1
    if mark not in (b"\0", b"\1") or rest < 8 or rest % 8:
        raise ValueError(f"shingles of {len(data)} bytes that are not a mark and 8 for each")
    shingles = np.frombuffer(data, dtype="<u8", offset=1).astype(np.uint64)
    if (shingles[1:] <= shingles[:-1]).any():
        raise ValueError("shingles that do not rise")
    return mark == b"\1", shingles


class Families:
    """Families of copies: the connected parts of the pairs; a family is named by the first of its articles."""

    def __init__(self, window: float = math.inf) -> None:
        self._long = ShingleIndex(threshold=0.8, n_words=5, window=window)
        self._short = ShingleIndex(threshold=0.9, n_words=3, window=window)
        self._family: dict[int, int] = {}

    def add(self, number: int, time: Moment, codes: Shingles, *, arrived: Moment) -> tuple[int, list[int]]:
        """Add an article, given as `codes_of` its text.

        Return the number of its family, and the families that it joins to that one.
        """
        if codes.size == 0:  # a copy of nothing
            return number, []
        index = self._long if codes.size >= LONG else self._short
        copies = index.add(number, time, mix_shingles(codes, index.n_words), arrived=arrived)
        families = sorted({self._family[other] for other in copies})
        family = families[0] if families else number
        self._family[number] = family
        for other in families[1:]:
            self._rename(other, family)
        return family, families[1:]

    def restore(
        self, number: int, time: Moment, shingles: Shingles, family: int, *, is_long: bool, arrived: Moment
    ) -> None:
        """Add an article whose family is known."""
        (self._long if is_long else self._short).restore(number, time, shingles, arrived=arrived)
        self._family[number] = family

    def shingles_as_bytes(self, number: int) -> bytes | None:
        """Return the shingles of an article of the window, after a byte that says whether it is a long one."""
        for mark, index in ((b"\0", self._short), (b"\1", self._long)):
            shingles = index.shingles_of(number)
            if shingles is not None:
                return mark + shingles.astype("<u8").tobytes()
        return None

    def forget_before(self, time: Moment) -> None:
        """Leave out the articles that came in before `time`."""
        for index in (self._long, self._short):
            for number in index.forget_before(time):
                del self._family[number]

    def _rename(self, old: int, new: int) -> None:
        for number, family in self._family.items():
            if family == old:
                self._family[number] = new

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return iter(self._family.items())
