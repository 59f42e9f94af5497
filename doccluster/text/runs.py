"""The fast counter: runs of word characters, found and counted by a compiled loop over the bytes of many documents."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.errors import InputError
from doccluster.kernels.text_loops import (
    ARENA_USED,
    COUNTED,
    DOCUMENT,
    FIRST,
    KEPT,
    N_TOKENS,
    PADDING,
    PLACE,
    absorb_tokens,
    copy_tokens,
    count_runs,
    fill_slots,
    mark_gaps,
    mark_gaps_beyond_ascii,
)
from doccluster.text.analysis import Analysis
from doccluster.text.counters import CountedBlock

_FIRST_CAPACITY = 1 << 13  # distinct tokens; doubled when they are more
_BYTES_PER_TOKEN = 16
_MOST_BYTES = int(np.iinfo(np.int32).max)


class RunCounter:
    """Counts runs of at least so many word characters; the tokens are exactly those of `re` on the prepared text.

    Text that is not ASCII is prepared by Python and read as UTF-8; what is a word character is asked of `re` once.
    """

    def __init__(self, analysis: Analysis, *, capacity: int = _FIRST_CAPACITY) -> None:
        if analysis.run_length is None:
            raise InputError("this analysis does not cut text into runs of word characters.")
        self._shortest = analysis.run_length
        self._prepare = analysis.prepare
        self._lowers = analysis.lowers
        self._state = np.zeros(7, dtype=np.int64)
        self._state[COUNTED] = 1
        self._slots = np.full(2 * capacity, -1, dtype=np.int32)
        self._entries = np.empty((capacity, 4), dtype=np.uint64)
        self._sizes = np.empty(capacity, dtype=np.int32)
        self._starts = np.empty(capacity, dtype=np.int64)
        self._arena = np.empty(capacity * _BYTES_PER_TOKEN, dtype=np.uint8)

    @property
    def n_tokens(self) -> int:
        """How many distinct tokens were met."""
        return int(self._state[N_TOKENS])

    def count(self, documents: Sequence[str]) -> CountedBlock:
        """Return the counts of `documents`; tokens not met before get the next numbers."""
        text, ends, is_ascii = self._encode(documents)
        folded, gaps = np.empty_like(text), np.empty_like(text)
        mark_gaps(text, self._lowers, folded, gaps)
        if not is_ascii:
            mark_gaps_beyond_ascii(folded, word_characters(), int(ends[-1]), gaps)
        fixed = (folded, gaps, ends, is_ascii, self._shortest)
        most = text.size // (self._shortest + 1) + 1
        columns, counts = np.empty(most, dtype=np.int32), np.empty(most, dtype=np.int32)
        lengths = np.empty(ends.size, dtype=np.int32)
        self._state[[DOCUMENT, PLACE, KEPT, FIRST]] = 0
        while not count_runs(*fixed, *self._tokens(), columns, counts, lengths, self._state):
            self._grow()
        kept = int(self._state[KEPT])
        return CountedBlock(lengths, columns[:kept], counts[:kept])

    def absorb(self, other: RunCounter) -> npt.NDArray[np.int32]:
        """Take over the tokens of another counter, and return the number here of each of its numbers."""
        while self.n_tokens + other.n_tokens > self._sizes.size or (
            self._state[ARENA_USED] + other._state[ARENA_USED] > self._arena.size
        ):
            self._grow()
        numbers = np.empty(other.n_tokens, dtype=np.int32)
        absorb_tokens(*self._tokens(), *other._tokens()[1:], self._state, numbers)
        return numbers

    def sorted_forms(self) -> tuple[list[str], npt.NDArray[np.int32]]:
        """Return the tokens in the order of their characters, and the place of each number in that order."""
        # Read from the other end, eight bytes compare like text; and UTF-8 sorts like the characters it stands for.
        low, high = self._entries[: self.n_tokens, :2].T.byteswap()
        order = np.lexsort((high, low))
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
            encoded = [
                document.encode() if document.isascii() else prepare(document).encode("utf-8", "surrogatepass")
                for document in documents
            ]
        else:
            encoded = [prepare(document).encode("utf-8", "surrogatepass") for document in documents]
        ends = np.cumsum(np.fromiter(map(len, encoded), dtype=np.int64, count=len(encoded)) + 1) - 1
        joined = b"\n".join([*encoded, bytes(PADDING)])
        if len(joined) > _MOST_BYTES:
            raise InputError(f"a document of {len(joined)} bytes is too long; split documents of more than 2 GB.")
        return np.frombuffer(joined, dtype=np.uint8), ends, joined.isascii()

    def _tokens(self) -> tuple[npt.NDArray[Any], ...]:
        return self._slots, self._entries, self._sizes, self._starts, self._arena

    def _grow(self) -> None:
        for name in ("_entries", "_sizes", "_starts", "_arena"):
            old = getattr(self, name)
            larger = np.empty((2 * old.shape[0], *old.shape[1:]), dtype=old.dtype)
            larger[: old.shape[0]] = old
            setattr(self, name, larger)
        self._slots = np.full(2 * self._sizes.size, -1, dtype=np.int32)
        fill_slots(self._slots, self._entries, self.n_tokens)


@lru_cache(maxsize=1)
def word_characters() -> npt.NDArray[np.uint8]:
    r"""Return whether each code point is a word character (``\w``) of this Python, uint8 array of shape (0x110000,)."""
    table = np.zeros(0x110000, dtype=np.uint8)
    for plane in range(0, table.size, 0x10000):
        characters = np.arange(plane, plane + 0x10000, dtype="<u4").tobytes().decode("utf-32-le", "surrogatepass")
        for run in re.finditer(r"\w+", characters):
            table[plane + run.start() : plane + run.end()] = 1
    return table
