"""How common each term is, frozen by day: what an article weighs is settled when it comes in, and stays so."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from doccluster.streams.article_terms import MOST_CHARACTERS, ArticleTerms

DAY = 86400
NAMES = 2.0  # by which a name or a number weighs more than another word
WARM = 2000  # articles; until this many are counted, every batch settles the frequencies
HALVED_ABOVE = 400_000  # articles; then every count is halved, so that old terms are forgotten and memory is bounded


@dataclass(frozen=True, slots=True)
class WeightedTerms:
    """An article as a vector, of length 1 or without an entry.

    Attributes
    ----------
    ids : int32 array of shape (n_terms,)
        The number of each term, in the order of the article.
    values : float32 array of shape (n_terms,)
    meaning : float32 array of shape (n_dimensions,), optional
        What the article means beside its words, in a stream with an encoder; see `article_meaning`.
    """

    ids: npt.NDArray[np.int32]
    values: npt.NDArray[np.float32]
    meaning: npt.NDArray[np.float32] | None = None

    def to_bytes(self) -> bytes:
        """Return the vector as bytes; `from_bytes` gives the same vector back, bit for bit."""
        return self.ids.astype("<i4").tobytes() + self.values.astype("<f4").tobytes()

    @classmethod
    def from_bytes(cls, data: bytes, *, n_terms: int, meaning: bytes | None = None) -> WeightedTerms:
        """Undo `to_bytes`; raise ValueError for what it never returns.

        `n_terms` is above the numbers of all terms: arrays are indexed by them, in machine code too. `meaning` is what
        `meaning_as_bytes` returned.
        """
        size, rest = divmod(len(data), 8)
        if rest:
            raise ValueError(f"a vector of {len(data)} bytes, which is not 8 for each term")
        ids = np.frombuffer(data, dtype="<i4", count=size).astype(np.int32)
        values = np.frombuffer(data, dtype="<f4", offset=4 * size).astype(np.float32)
        if size and not (ids.min() >= 0 and ids.max() < n_terms and values.min() >= 0 and values.max() < 2):
            raise ValueError("a vector of terms, or with values, that there are not")
        return cls(ids, values, None if meaning is None else np.frombuffer(meaning, dtype="<f2").astype(np.float32))

    def meaning_as_bytes(self) -> bytes | None:
        """Return the meaning in half precision, which holds it bit for bit; None without one."""
        return None if self.meaning is None else self.meaning.astype("<f2").tobytes()


class TermFrequencies:
    """Numbers terms, and counts in how many articles each occurs.

    Weights are (1 + ln tf) ln((N + 10) / (df + 1)), 0 at least, and twice that for names and numbers: a word of every
    article says nothing, whether or not it is on a list of function words. N and df are as they were settled last: at
    the first batch of a day, or by every batch while fewer than `WARM` articles are counted. N counts the articles of
    the same language.
    """

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self.next_number = 0
        self.settled_day = -1
        self.n_settled: Counter[str] = Counter()
        self._settled = np.zeros(1 << 12, dtype=np.int64)
        self._pending: dict[int, npt.NDArray[np.int32]] = {}  # by the number of the article
        self._n_pending: Counter[str] = Counter()
        # what is not stored yet: new terms, settled counts that have changed, and whether any has
        self.fresh: list[str] = []
        self.changed: set[int] = set()
        self.has_settled = self.has_halved = False

    def begin_batch(self, day: int) -> None:
        """Settle what has been counted, if a new day has begun or few articles are known yet."""
        if day != self.settled_day or self.n_settled.total() < WARM:
            self._settle(day)

    def count(self, article: ArticleTerms, number: int) -> npt.NDArray[np.int32]:
        """Return the numbers of the terms of an article, which counts from the next settling on."""
        ids = self._numbers_of(article)
        self.add_pending(number, ids, article.language)
        return ids

    def count_again(self, article: ArticleTerms, number: int) -> npt.NDArray[np.int32]:
        """Return the numbers of the terms that an article has now; it counts with them unless it is settled."""
        ids = self._numbers_of(article)
        if number in self._pending:
            self._pending[number] = ids
        return ids

    def _numbers_of(self, article: ArticleTerms) -> npt.NDArray[np.int32]:
        numbers = self.numbers
        found = list(map(numbers.get, article.terms))
        if None in found:
            fresh = [term for term, number in zip(article.terms, found, strict=True) if number is None]
            numbers.update(zip(fresh, range(self.next_number, self.next_number + len(fresh)), strict=True))
            self.next_number += len(fresh)
            self.fresh += fresh
            found = list(map(numbers.get, article.terms))
        return np.array(found, dtype=np.int32)

    def add_pending(self, number: int, ids: npt.NDArray[np.int32], language: str) -> None:
        """Count an article whose terms have numbers."""
        self._pending[number] = ids
        self._n_pending[language] += 1

    def weigh(
        self, article: ArticleTerms, ids: npt.NDArray[np.int32], meaning: npt.NDArray[np.float32] | None = None
    ) -> WeightedTerms:
        """Return an article as a vector, by the settled frequencies."""
        self._make_room()
        rarity = np.maximum(np.log((self.n_settled[article.language] + 10) / (self._settled[ids] + 1)), 0.0)
        values = _DAMPED[np.minimum(article.counts, _DAMPED.size - 1)] * rarity
        values[article.is_name] *= NAMES
        length = math.sqrt(np.einsum("i,i->", values, values))
        return WeightedTerms(ids, (values / (length or 1.0)).astype(np.float32), meaning)

    def settled_counts(self, numbers: Sequence[int]) -> list[int]:
        """Return the settled counts of terms."""
        self._make_room()
        return [int(self._settled[number]) for number in numbers]

    def restore(self, terms: Sequence[tuple[int, str, int]], n_settled: Counter[str], day: int, following: int) -> None:
        """Take over terms (number, term, settled count) as they were stored.

        Raises ValueError if a number is not between 0 and `following`, or that is more than there can be.
        """
        if following > np.iinfo(np.int32).max or any(not 0 <= number < following for number, _, _ in terms):
            raise ValueError(f"terms whose numbers are not between 0 and {following}")
        self.numbers = {term: number for number, term, _ in terms}
        self.next_number, self.settled_day, self.n_settled = following, day, n_settled
        self._make_room()
        for number, _, count in terms:
            self._settled[number] = count

    def _settle(self, day: int) -> None:
        self.settled_day, self.has_settled = day, True
        self._make_room()
        if not self._pending:
            return
        ids, counts = np.unique(np.concatenate(list(self._pending.values())), return_counts=True)
        self._settled[ids] += counts
        self.changed.update(ids.tolist())
        self.n_settled += self._n_pending
        self._pending, self._n_pending = {}, Counter()
        if self.n_settled.total() > HALVED_ABOVE:
            self._halve()

    def _halve(self) -> None:
        self._settled >>= 1
        for language in self.n_settled:
            self.n_settled[language] //= 2
        self.numbers = {term: number for term, number in self.numbers.items() if self._settled[number] > 0}
        self.fresh = [term for term in self.fresh if term in self.numbers]
        self.changed = set(self.numbers.values())
        self.has_halved = True

    def clear_changes(self) -> None:
        """Take note that all has been stored."""
        self.fresh, self.changed = [], set()
        self.has_settled = self.has_halved = False

    def _make_room(self) -> None:
        if self._settled.size < self.next_number:
            larger = np.zeros(2 * self.next_number, dtype=np.int64)
            larger[: self._settled.size] = self._settled
            self._settled = larger


_DAMPED = np.concatenate([[0.0], 1 + np.log(np.arange(1, 2 * MOST_CHARACTERS))])  # 1 + ln tf
