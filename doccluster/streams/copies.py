"""Families of copies, found as articles come in: near-copies, and texts of two outlets that begin alike.

Near-copies are, on every prefix of a stream, those of `find_near_duplicates`. A summary that a feed has of a wire text
is too short for that; but it is the beginning of what another outlet prints as a whole.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from doccluster.corpus.duplicates import ShingleIndex, Shingles, codes_of, mix_shingles
from doccluster.streams.article import Moment

LONG = 50  # words; shorter texts are compared among themselves, by shorter shingles and a higher threshold
BEGINNING = 20  # words of a text, without its title
LEAST_BEGINNING = 12  # words: less may be the same by chance, or a note of the outlet


def codes_of_article(title: str, text: str) -> tuple[Shingles, Shingles]:
    """Return the codes of the words of an article, and of those its text begins with; none if it has less than 12."""
    codes, n_title = codes_of(f"{title}\n{text}"), codes_of(title).size
    begins = codes[n_title : n_title + BEGINNING]
    return codes, begins if begins.size >= LEAST_BEGINNING else begins[:0]


def shingles_from_bytes(data: bytes) -> tuple[bool, Shingles, Shingles]:
    """Undo `shingles_as_bytes`: return whether an article is a long one, its shingles, and those of its beginning.

    Raises ValueError if it never returned that.
    """
    mark, n_begins, rest = data[:1], int.from_bytes(data[1:2]), len(data) - 2
    if mark not in (b"\0", b"\1") or rest < 8 * (n_begins + 1) or rest % 8:
        raise ValueError(f"shingles of {len(data)} bytes that are not two marks and 8 for each")
    shingles = np.frombuffer(data, dtype="<u8", offset=2).astype(np.uint64)
    begins, shingles = shingles[:n_begins], shingles[n_begins:]
    if any((one[1:] <= one[:-1]).any() for one in (begins, shingles)):
        raise ValueError("shingles that do not rise")
    return mark == b"\1", shingles, begins


class Families:
    """Families of copies: the connected parts of the pairs; a family is named by the first of its articles."""

    def __init__(self, window: float = math.inf) -> None:
        self._long = ShingleIndex(threshold=0.8, n_words=5, window=window)
        self._short = ShingleIndex(threshold=0.9, n_words=3, window=window)
        self._begins = ShingleIndex(threshold=0.7, n_words=3, window=window)  # up to three words before a summary
        self._outlets: dict[int, str] = {}
        self._family: dict[int, int] = {}

    def add(
        self, number: int, time: Moment, codes: tuple[Shingles, Shingles], *, arrived: Moment, outlet: str = ""
    ) -> tuple[int, list[int]]:
        """Add an article, given as `codes_of_article` returns it; outlets without a name have no beginnings in common.

        Return the number of its family, and the families that it joins to that one.
        """
        every, begins = codes
        if every.size == 0:  # a copy of nothing
            return number, []
        index = self._long if every.size >= LONG else self._short
        copies = index.add(number, time, mix_shingles(every, index.n_words), arrived=arrived)
        alike = self._begins.add(number, time, mix_shingles(begins, self._begins.n_words), arrived=arrived)
        copies += [other for other in alike if outlet and self._outlets[other] not in ("", outlet)]
        families = sorted({self._family[other] for other in copies})
        family = families[0] if families else number
        self._family[number], self._outlets[number] = family, outlet
        for other in families[1:]:
            self._rename(other, family)
        return family, families[1:]

    def restore(self, number: int, time: Moment, data: bytes, family: int, *, outlet: str, arrived: Moment) -> None:
        """Add an article whose family and shingles are known."""
        is_long, shingles, begins = shingles_from_bytes(data)
        (self._long if is_long else self._short).restore(number, time, shingles, arrived=arrived)
        if begins.size:
            self._begins.restore(number, time, begins, arrived=arrived)
        self._family[number], self._outlets[number] = family, outlet

    def shingles_as_bytes(self, number: int) -> bytes | None:
        """Return the shingles of an article of the window.

        Before them are a byte that says whether it is a long one, and the shingles of its beginning after their number.
        """
        begins = self._begins.shingles_of(number)
        first = np.zeros(0, dtype="<u8") if begins is None else begins.astype("<u8")
        for mark, index in ((0, self._short), (1, self._long)):
            shingles = index.shingles_of(number)
            if shingles is not None:
                return bytes((mark, first.size)) + first.tobytes() + shingles.astype("<u8").tobytes()
        return None

    def forget_before(self, time: Moment) -> None:
        """Leave out the articles that came in before `time`."""
        self._begins.forget_before(time)
        for index in (self._long, self._short):
            for number in index.forget_before(time):
                del self._family[number], self._outlets[number]

    def _rename(self, old: int, new: int) -> None:
        for number, family in self._family.items():
            if family == old:
                self._family[number] = new

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return iter(self._family.items())
