"""Copies found as articles come in: for every prefix of a stream the families are those of `find_near_duplicates`.

Shingles are numbers of 64 bits that do not depend on the corpus, and their order is that of the numbers, so the order
never changes and the index can grow. Two sets of shingles with a Jaccard index >= t share one of their first
n - ceil(t n) + 1 shingles in any common order (Chaudhuri, Ganti & Kaushik 2006), so nothing is missed, and every
candidate is compared exactly.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from doccluster.corpus.duplicates import words_of
from doccluster.kernels.shingling import count_shared, mix_shingles
from doccluster.streams.article import Moment
from doccluster.streams.prefix_index import PrefixIndex
from doccluster.streams.words import plain_words, word_codes

Shingles = npt.NDArray[np.uint64]

LONG = 50  # words; shorter texts are compared among themselves, by shorter shingles and a higher threshold


class ShingleIndex:
    """The articles of a window of time, and which of them a new one is a near-copy of.

    Parameters
    ----------
    threshold : float in (0, 1]
        The least Jaccard index of two sets of shingles.
    n_words : int
        Words in a shingle; a text with fewer words is one shingle.
    window : float
        The greatest time between two copies.
    """

    def __init__(self, *, threshold: float = 0.8, n_words: int = 5, window: float = math.inf) -> None:
        self.threshold = threshold
        self.n_words = n_words
        self.window = window
        self._prefixes = PrefixIndex()
        self._sets: dict[int, Shingles] = {}
        self._times: dict[int, tuple[Moment, Moment]] = {}  # when it was published, and came in

    def __len__(self) -> int:
        return len(self._sets)

    def add(self, number: int, time: Moment, shingles: Shingles, *, arrived: Moment) -> list[int]:
        """Add an article that came in some time after it was published.

        Return the earlier ones that it is a near-copy of, in ascending order.
        """
        if shingles.size == 0:
            return []
        candidates = self._prefixes.find(self._prefix(shingles))
        near = (other for other in candidates if abs(self._times[other][0] - time) <= self.window)
        found = sorted(other for other in near if self._are_similar(self._sets[other], shingles))
        self.restore(number, time, shingles, arrived=arrived)
        return found

    def restore(self, number: int, time: Moment, shingles: Shingles, *, arrived: Moment) -> None:
        """Add an article without looking for what it is a copy of."""
        self._prefixes.add(number, self._prefix(shingles))
        self._sets[number], self._times[number] = shingles, (time, arrived)

    def shingles_of(self, number: int) -> Shingles | None:
        """Return the shingles of an article of the window."""
        return self._sets.get(number)

    def forget_before(self, time: Moment) -> list[int]:
        """Leave out the articles that came in before `time`; return their numbers."""
        old = sorted(number for number, (_, arrived) in self._times.items() if arrived < time)
        for number in old:
            del self._sets[number], self._times[number]
        if old:
            self._prefixes.forget(old)
        return old

    def _prefix(self, shingles: Shingles) -> Shingles:
        return shingles[: shingles.size - int(np.ceil(self.threshold * shingles.size - 1e-9)) + 1]

    def _are_similar(self, one: Shingles, other: Shingles) -> bool:
        small, large = sorted((one.size, other.size))
        if small < self.threshold * large - 1e-9:
            return False
        shared = int(count_shared(one, other))
        return shared / (one.size + other.size - shared) >= self.threshold - 1e-12


def shingles_of(text: str, n_words: int) -> Shingles:
    """Return the shingles of a text: sorted, distinct uint64; empty for a text without a word.

    >>> a, b = shingles_of("The price of wheat rose.", 3), shingles_of("the PRICE of wheat, rose", 3)
    >>> a.size, bool((a == b).all())
    (3, True)
    """
    codes = codes_of(text)
    return mix_shingles(codes, n_words) if codes.size else codes


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


def codes_of(text: str) -> Shingles:
    """Return the numbers of the words that `words_of` returns."""
    words = plain_words(text)
    return word_codes(words_of(text) if words is None else words)


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
