"""The two counters of tokens: any analyzer's, numbered in Python, and runs of word characters, by a compiled loop.

The fast one finds and counts them over the bytes of many documents at once.
"""

from __future__ import annotations

import re
from array import array
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from doccluster.errors import InputError
from doccluster.text.analysis import Analysis
from doccluster.text.counted_rows import count_distinct
from doccluster.text.scripts import combining_marks
from doccluster.text.token_tables import (
    ARENA_USED,
    COUNTED,
    DOCUMENT,
    FIRST,
    KEPT,
    N_TOKENS,
    PADDING,
    PENDING,
    PIECE,
    PLACE,
    CountedTokens,
    CountingRoom,
    TokenTable,
    Wording,
)
from doccluster.text.word_runs import absorb_tokens, copy_tokens, count_runs, fill_slots

_FIRST_CAPACITY = 1 << 15  # distinct tokens; doubled when they are more
_BYTES_PER_TOKEN = 16
_MOST_BYTES = int(np.iinfo(np.int32).max)
_FIRST_OF_FOUR = 0xF0  # the least byte that begins a character beyond the first plane of Unicode
_ALL_PLANES = 17
_NO_CHARACTERS = np.empty(0, dtype=np.uint8)


@dataclass
class CountedBlock:
    """The counts of consecutive documents, row after row.

    Attributes
    ----------
    lengths : int32 array of shape (n_documents,)
        How many entries each document has.
    columns, counts : int32 arrays of shape (sum of lengths,)
        The token (a number of `counter`, later a column of the matrix) and how often it occurs.
    counter : int
        Which counter numbered the tokens.
    """

    lengths: npt.NDArray[np.int32]
    columns: npt.NDArray[np.int32]
    counts: npt.NDArray[np.int32]
    counter: int = 0


class AnalyzerCounter:
    """The general counter: any function from a document to a list of written forms."""

    def __init__(self, analyze: Callable[[str], Sequence[str]]) -> None:
        self._analyze = analyze
        self._numbers: defaultdict[str, int] = defaultdict()
        self._numbers.default_factory = self._numbers.__len__

    def count(self, documents: Sequence[str]) -> CountedBlock:
        """Return the counts of `documents`; new written forms get the next numbers."""
        occurrences, ends = array("i"), array("q")
        number_of = self._numbers.__getitem__
        for document in documents:
            occurrences.extend(map(number_of, self._analyze(document)))
            ends.append(len(occurrences))
        seen = np.full(len(self._numbers), -1, dtype=np.int32)
        columns = np.frombuffer(occurrences, dtype=np.int32).copy() if occurrences else np.empty(0, dtype=np.int32)
        counts = np.empty_like(columns)
        lengths = np.empty(len(documents), dtype=np.int32)
        kept = count_distinct(columns, np.frombuffer(ends, dtype=np.int64), seen, counts, lengths)
        return CountedBlock(lengths, columns[:kept], counts[:kept])

    def sorted_forms(self) -> tuple[list[str], npt.NDArray[np.int32]]:
        """Return the written forms in the order of their characters, and the place of each number in that order.

        Raises InputError if the caller's analyzer returned something that is not a string.
        """
        strange = next((form for form in self._numbers if not isinstance(form, str)), None)
        if strange is not None:
            raise InputError(
                f"the analyzer returned {strange!r}", remedy="it must return a list of strings for each document"
            )
        forms = sorted(self._numbers)
        rank = np.empty(len(forms), dtype=np.int32)
        rank[np.fromiter(map(self._numbers.__getitem__, forms), dtype=np.intp, count=len(forms))] = np.arange(
            len(forms)
        )
        return forms, rank


class RunCounter:
    """Counts runs of at least `least` word characters; the tokens are exactly those of `re` on the prepared text.

    Text that is not ASCII is prepared by Python and read as UTF-8; what is a word character is asked of `re` once.
    """

    def __init__(self, analysis: Analysis, *, capacity: int = _FIRST_CAPACITY) -> None:
        if analysis.run_length is None:
            raise InputError("this analysis does not cut text into runs of word characters.")
        self._shortest = analysis.run_length
        self._prepare = analysis.prepare
        self._with_marks = analysis.keeps_marks
        self._lowers = analysis.lowers
        self._state = np.zeros(8, dtype=np.int64)
        self._state[COUNTED] = 1
        self._slots = np.full(2 * capacity, -1, dtype=np.int32)
        self._entries = np.empty((capacity, 4), dtype=np.uint64)
        self._sizes = np.empty(capacity, dtype=np.int32)
        self._starts = np.empty(capacity, dtype=np.int64)
        self._arena = np.empty(capacity * _BYTES_PER_TOKEN, dtype=np.uint8)
        self._edges = np.empty(PIECE + 1, dtype=np.int32)
        self._keys = np.empty((PIECE // 2 + 1, 4), dtype=np.uint64)
        self._folded, self._gaps = np.empty(0, dtype=np.uint8), np.empty(0, dtype=np.uint8)
        self._columns, self._counts = np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int32)

    @property
    def n_tokens(self) -> int:
        """How many distinct tokens were met."""
        return int(self._state[N_TOKENS])

    def count(self, documents: Sequence[str]) -> CountedBlock:
        """Return the counts of `documents`; tokens not met before get the next numbers."""
        text, ends, is_ascii = self._encode(documents)
        self._make_room(text.size)
        is_word = _NO_CHARACTERS
        if not is_ascii:
            n_planes = 1 if text.max() < _FIRST_OF_FOUR else _ALL_PLANES
            is_word = word_characters(n_planes, with_marks=self._with_marks)
        wording = Wording(self._lowers, is_word, self._shortest)
        room = CountingRoom(self._folded[: text.size], self._gaps[: text.size], self._edges, self._keys)
        lengths = np.empty(ends.size, dtype=np.int32)
        counted = CountedTokens(self._columns, self._counts, lengths)
        self._state[[DOCUMENT, PLACE, KEPT, FIRST]] = 0
        self._state[PENDING] = -1
        while not count_runs(text, ends, wording, self._tokens(), room, counted, self._state):
            self._grow()
        kept = int(self._state[KEPT])
        return CountedBlock(lengths, self._columns[:kept].copy(), self._counts[:kept].copy())

    def absorb(self, other: RunCounter) -> npt.NDArray[np.int32]:
        """Take over the tokens of another counter, and return the number here of each of its numbers."""
        while self.n_tokens + other.n_tokens > self._sizes.size or (
            self._state[ARENA_USED] + other._state[ARENA_USED] > self._arena.size
        ):
            self._grow()
        numbers = np.empty(other.n_tokens, dtype=np.int32)
        absorb_tokens(self._tokens(), other._tokens(), self._state, numbers)
        return numbers

    def sorted_forms(self) -> tuple[list[str], npt.NDArray[np.int32]]:
        """Return the tokens in the order of their characters, and the place of each number in that order."""
        # Read from the other end, eight bytes compare like text; and UTF-8 sorts like the characters it stands for.
        low, high = self._entries[: self.n_tokens, :2].T.byteswap()
        order = _order_of_pairs(low, high)
        self._sort_long_tokens(order, low, high)
        text = np.empty(int(self._state[ARENA_USED]), dtype=np.uint8)
        copy_tokens(order, self._sizes, self._starts, self._arena, text)
        rank = np.empty(order.size, dtype=np.int32)
        rank[order] = np.arange(order.size, dtype=np.int32)
        return text.tobytes().decode("utf-8", "surrogatepass").split("\n")[:-1], rank

    def _sort_long_tokens(
        self, order: npt.NDArray[np.intp], low: npt.NDArray[np.uint64], high: npt.NDArray[np.uint64]
    ) -> None:
        """Put tokens that share their first 16 bytes into order, in place."""
        same = (low[order[1:]] == low[order[:-1]]) & (high[order[1:]] == high[order[:-1]])
        edges = np.flatnonzero(np.diff(same.astype(np.int8), prepend=0, append=0))
        for start, stop in zip(edges[0::2].tolist(), (edges[1::2] + 1).tolist(), strict=True):
            order[start:stop] = sorted(order[start:stop].tolist(), key=self._token_bytes)

    def _token_bytes(self, token: int) -> bytes:
        start = int(self._starts[token])
        return self._arena[start : start + int(self._sizes[token])].tobytes()

    def _encode(self, documents: Sequence[str]) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64], bool]:
        """Return the documents in UTF-8, each with a line break after it, where each ends, and whether all is ASCII."""
        prepare = self._prepare
        if self._lowers:  # the compiled loop lowers ASCII itself
            pieces = [text if text.isascii() else _bytes_as_characters(prepare(text)) for text in documents]
        else:
            pieces = [text if text.isascii() else _bytes_as_characters(text) for text in map(prepare, documents)]
        ends = np.cumsum(np.fromiter(map(len, pieces), dtype=np.int64, count=len(pieces)) + 1) - 1
        pieces.append("\0" * PADDING)
        joined = "\n".join(pieces).encode("latin-1")
        if len(joined) > _MOST_BYTES:
            raise InputError(
                f"a document of {len(joined)} bytes is too long", remedy="split documents of more than 2 GB"
            )
        return np.frombuffer(joined, dtype=np.uint8), ends, joined.isascii()

    def _make_room(self, n_bytes: int) -> None:
        """Make room to count a text of `size` bytes; it is kept, since touching fresh memory takes time."""
        if self._folded.size < n_bytes:
            most = n_bytes // (self._shortest + 1) + 1
            self._folded, self._gaps = np.empty(n_bytes, dtype=np.uint8), np.empty(n_bytes, dtype=np.uint8)
            self._columns, self._counts = np.empty(most, dtype=np.int32), np.empty(most, dtype=np.int32)

    def _tokens(self) -> TokenTable:
        return TokenTable(self._slots, self._entries, self._sizes, self._starts, self._arena)

    def _grow(self) -> None:
        for name in ("_entries", "_sizes", "_starts", "_arena"):
            old = getattr(self, name)
            larger = np.empty((2 * old.shape[0], *old.shape[1:]), dtype=old.dtype)
            larger[: old.shape[0]] = old
            setattr(self, name, larger)
        self._slots = np.full(2 * self._sizes.size, -1, dtype=np.int32)
        fill_slots(self._slots, self._entries, self.n_tokens)


def _bytes_as_characters(text: str) -> str:
    """Return the bytes of a text in UTF-8, each as a character: so documents are joined and encoded at once."""
    return text.encode("utf-8", "surrogatepass").decode("latin-1")


def _order_of_pairs(first: npt.NDArray[np.uint64], second: npt.NDArray[np.uint64]) -> npt.NDArray[np.intp]:
    """Return the order by `first`, then by `second`: one quick sort, and a second one of those that tie."""
    order = np.argsort(first)
    in_order = first[order]
    like_next = in_order[1:] == in_order[:-1]
    ties = np.zeros(order.size, dtype=bool)
    ties[1:] |= like_next
    ties[:-1] |= like_next
    tied = order[ties]
    order[ties] = tied[np.lexsort((second[tied], first[tied]))]
    return order


@lru_cache(maxsize=4)
def word_characters(n_planes: int, *, with_marks: bool = False) -> npt.NDArray[np.uint8]:
    r"""Return whether each code point of the first planes is a word character (``\w``) of this Python, uint8.

    `with_marks` adds the marks that are written with a letter, which ``\w`` leaves out.
    """
    table = np.zeros(n_planes * 0x10000, dtype=np.uint8)
    for plane in range(0, table.size, 0x10000):
        characters = np.arange(plane, plane + 0x10000, dtype="<u4").tobytes().decode("utf-32-le", "surrogatepass")
        for run in re.finditer(r"\w+", characters):
            table[plane + run.start() : plane + run.end()] = 1
    if with_marks:
        marks = np.fromiter(map(ord, combining_marks()), dtype=np.int64)
        table[marks[marks < table.size]] = 1
    return table
