"""Documents -> how often each distinct token occurs in each document, block by block.

A counter numbers the tokens it meets: any analyzer's in Python, runs of word characters by a compiled loop over the
bytes of many documents at once. Each thread has a counter of its own, so the numbers of a block mean something only
together with the counter that made it. What comes after works on distinct tokens, never on occurrences.
"""

from __future__ import annotations

import queue
import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from doccluster.base.blocks import map_blocks, resolve_threads
from doccluster.base.validation import is_missing
from doccluster.errors import InputError
from doccluster.text._word_runs import (
    COUNTED,
    DOCUMENT,
    EDGE,
    FIRST,
    KEPT,
    N_PLACED,
    N_TOKENS,
    PADDING,
    CountedTokens,
    TokenTable,
    count_words,
    find_words,
)
from doccluster.text.analysis import Analysis
from doccluster.text.scripts import combining_marks

BLOCK_CHARACTERS = 1 << 19
_FIRST_CAPACITY = 1 << 15  # distinct tokens; doubled when they are more
_BYTES_PER_TOKEN = 16
_MAX_BYTES = int(np.iinfo(np.int32).max)
_FIRST_OF_FOUR = 0xF0  # the least byte that begins a character beyond the first plane of Unicode


@dataclass
class CountedBlock:
    """The counts of consecutive documents, row after row."""

    lengths: npt.NDArray[np.int32]  # of shape (n_documents,): how many entries each document has
    columns: npt.NDArray[np.int32]  # of shape (sum of lengths,): tokens, by their numbers; later columns of the matrix
    counts: npt.NDArray[np.int32]  # how often each occurs
    counter: int = 0  # which counter numbered the tokens


class AnalyzerCounter:
    """The general counter: any function from a document to a list of written forms."""

    def __init__(self, analyze: Callable[[str], Sequence[str]]) -> None:
        self._analyze = analyze
        self._numbers: defaultdict[str, int] = defaultdict()
        self._numbers.default_factory = self._numbers.__len__

    def count(self, documents: Sequence[str]) -> CountedBlock:
        """Return the counts of `documents`; new written forms get the next numbers."""
        lengths, columns, counts = array("i"), array("i"), array("i")
        for document in documents:
            counter = Counter(map(self._numbers.__getitem__, self._analyze(document)))
            lengths.append(len(counter))
            columns.extend(counter)
            counts.extend(counter.values())
        return CountedBlock(np.array(lengths, np.int32), np.array(columns, np.int32), np.array(counts, np.int32))

    def sorted_forms(self) -> tuple[list[str], npt.NDArray[np.int32]]:
        """Return the written forms in the order of their characters, and the place of each number in that order."""
        strange = next((form for form in self._numbers if not isinstance(form, str)), None)
        if strange is not None:
            raise InputError(
                f"the analyzer returned {strange!r}", remedy="it must return a list of strings for each document"
            )
        forms = list(self._numbers)
        order = sorted(range(len(forms)), key=forms.__getitem__)
        return [forms[number] for number in order], _places(np.array(order, dtype=np.intp))


class RunCounter:
    """Counts runs of at least `least` word characters; the tokens are exactly those of `re` on the prepared text."""

    def __init__(self, analysis: Analysis, *, capacity: int = _FIRST_CAPACITY) -> None:
        if analysis.run_length is None:
            raise InputError("this analysis does not cut text into runs of word characters.")
        self._shortest = analysis.run_length
        self._prepare = analysis.prepare
        self._with_marks = analysis.keeps_marks
        self._lowers = analysis.lowers
        self._state = np.zeros(7, dtype=np.int64)
        self._state[COUNTED] = 1
        self._tokens = TokenTable(
            slots=np.full(2 * capacity, -1, dtype=np.int32),
            entries=np.empty((capacity, 4), dtype=np.uint64),
            starts=np.zeros(capacity + 1, dtype=np.int64),
            arena=np.empty(capacity * _BYTES_PER_TOKEN, dtype=np.uint8),
        )
        self._make_room(0)

    @property
    def n_tokens(self) -> int:
        """How many distinct tokens were met."""
        return int(self._state[N_TOKENS])

    def count(self, documents: Sequence[str]) -> CountedBlock:
        """Return the counts of `documents`; tokens not met before get the next numbers."""
        return self._count(*self._encode(documents))

    def absorb(self, counter: RunCounter) -> npt.NDArray[np.int32]:
        """Take over the tokens of another counter, and return the number here of each of its numbers."""
        tokens = counter._arena()
        text = np.concatenate([tokens, np.zeros(PADDING, dtype=np.uint8)])
        return self._count(text, np.array([tokens.size])).columns  # each is there once, in the order of the numbers

    def sorted_forms(self) -> tuple[list[str], npt.NDArray[np.int32]]:
        """Return the tokens in the order of their characters, and the place of each number in that order."""
        _, entries, starts, arena = self._tokens
        # Read from the other end, eight bytes compare like text; and UTF-8 sorts like the characters it stands for.
        keys = entries[: self.n_tokens, :2].T.byteswap()
        order = np.lexsort(keys[::-1])
        same = (keys[:, order[1:]] == keys[:, order[:-1]]).all(axis=0)
        tied = np.zeros(order.size, dtype=bool)  # they share their first 16 bytes
        tied[1:] |= same
        tied[:-1] |= same
        order[tied] = sorted(order[tied].tolist(), key=lambda token: arena[starts[token] : starts[token + 1]].tobytes())
        sizes = starts[order + 1] - starts[order]
        shifts = np.repeat(starts[order] - (np.cumsum(sizes) - sizes), sizes)
        text = arena[shifts + np.arange(shifts.size)].tobytes().decode("utf-8", "surrogatepass")
        return text.split("\n")[:-1], _places(order)

    def _count(self, text: npt.NDArray[np.uint8], ends: npt.NDArray[np.int64]) -> CountedBlock:
        if self._words.size < text.size:
            self._make_room(text.size)
        highest = text.max()
        n_planes = 0 if highest < 128 else 1 if highest < _FIRST_OF_FOUR else 17
        is_word = word_characters(n_planes, with_marks=self._with_marks)
        words = self._words[: text.size]
        edges = self._edges[: find_words(text, self._lowers, is_word, words, self._edges)]
        lengths = np.empty(ends.size, dtype=np.int32)
        counted = CountedTokens(self._columns, self._counts, lengths)
        self._state[[EDGE, DOCUMENT, KEPT, FIRST]] = 0
        while not count_words(words, edges, ends, self._shortest, self._tokens, counted, self._state):
            self._grow()
        n_entries = int(self._state[KEPT])
        return CountedBlock(lengths, self._columns[:n_entries].copy(), self._counts[:n_entries].copy())

    def _arena(self) -> npt.NDArray[np.uint8]:
        return self._tokens.arena[: self._tokens.starts[self.n_tokens]]

    def _encode(self, documents: Sequence[str]) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
        """Return the documents in UTF-8, each with a line break after it, and where each ends."""
        prepare = self._prepare
        if self._lowers:  # the compiled loop lowers ASCII itself
            pieces = [text if text.isascii() else _bytes_as_characters(prepare(text)) for text in documents]
        else:
            pieces = [text if text.isascii() else _bytes_as_characters(text) for text in map(prepare, documents)]
        ends = np.cumsum(np.fromiter(map(len, pieces), dtype=np.int64, count=len(pieces)) + 1) - 1
        pieces.append("\0" * PADDING)
        joined = "\n".join(pieces).encode("latin-1")
        if len(joined) > _MAX_BYTES:
            raise InputError(
                f"a document of {len(joined)} bytes is too long", remedy="split documents of more than 2 GB"
            )
        return np.frombuffer(joined, dtype=np.uint8), ends

    def _make_room(self, n_bytes: int) -> None:
        """Make room to count a text of `n_bytes`; it is kept, since touching fresh memory takes time."""
        max_tokens = n_bytes // (self._shortest + 1) + 1
        self._words, self._edges = np.empty(n_bytes, dtype=np.uint8), np.empty(n_bytes + 1, dtype=np.int32)
        self._columns, self._counts = np.empty(max_tokens, dtype=np.int32), np.empty(max_tokens, dtype=np.int32)

    def _grow(self) -> None:
        """Make room for twice as many tokens, whose slots the loop fills again."""
        slots, *parts = self._tokens
        larger = [np.concatenate([part, np.empty_like(part)]) for part in parts]
        self._tokens = TokenTable(np.full(2 * slots.size, -1, dtype=np.int32), *larger)
        self._state[N_PLACED] = 0


def _places(order: npt.NDArray[np.intp]) -> npt.NDArray[np.int32]:
    """Return the place of each number in an order of all."""
    places = np.empty(order.size, dtype=np.int32)
    places[order] = np.arange(order.size, dtype=np.int32)
    return places


def _bytes_as_characters(text: str) -> str:
    """Return the bytes of a text in UTF-8, each as a character: so documents are joined and encoded at once."""
    return text.encode("utf-8", "surrogatepass").decode("latin-1")


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


class CounterPool:
    """The counters of one job, lent to the threads one block at a time.

    Any analyzer has one counter, since Python threads would only wait for each other; runs of words one a thread.
    """

    def __init__(self, analysis: Analysis, *, n_threads: int | None = None) -> None:
        threads = resolve_threads(n_threads)
        self.counters: list[AnalyzerCounter] | list[RunCounter]
        if analysis.run_length is None:
            self.counters = [AnalyzerCounter(analysis.analyze)]
        else:
            self.counters = [RunCounter(analysis) for _ in range(threads)]
        self._free: queue.SimpleQueue[int] = queue.SimpleQueue()
        for number in range(len(self.counters)):
            self._free.put(number)

    def count(self, documents: Iterable[object], *, block_characters: int = BLOCK_CHARACTERS) -> Iterator[CountedBlock]:
        """Yield the counts of `documents` in blocks of about `block_characters`, in order."""
        blocks = text_blocks(documents, block_characters)
        yield from map_blocks(self._count_block, blocks, n_threads=len(self.counters))

    def sorted_forms(self) -> tuple[list[str], list[npt.NDArray[np.int32]]]:
        """Return all written forms in order, and each counter's numbers as places in it; the counters are used up."""
        first, *further = self.counters
        numbers = [first.absorb(counter) for counter in further]  # type: ignore[union-attr, arg-type]
        forms, rank = first.sorted_forms()
        self.counters = []
        return forms, [rank, *(rank[of_other] for of_other in numbers)]

    def _count_block(self, documents: Sequence[str]) -> CountedBlock:
        number = self._free.get()
        try:
            block = self.counters[number].count(documents)
        finally:
            self._free.put(number)
        block.counter = number
        return block


def text_blocks(documents: Iterable[object], block_characters: int) -> Iterator[list[str]]:
    """Yield lists of consecutive documents of about `block_characters` characters; missing documents become empty."""
    if isinstance(documents, str | bytes):
        raise InputError("one string was given where an iterable of documents is expected", remedy="put it into a list")
    if not isinstance(documents, Iterable):
        raise InputError(
            f"documents is {type(documents).__name__}, expected an iterable of strings", remedy="give a list"
        )
    block: list[str] = []
    size = 0
    for number, document in enumerate(documents):
        block.append(as_text(document, number))
        size += len(block[-1])
        if size >= block_characters:
            yield block
            block, size = [], 0
    if block:
        yield block


def as_text(document: object, number: int) -> str:
    """Return `document` as a string: missing values (None, NaN, NA) are empty, bytes are read as UTF-8."""
    if isinstance(document, str):
        return str(document)
    if is_missing(document):
        return ""
    if isinstance(document, bytes):
        try:
            return document.decode("utf-8")
        except UnicodeDecodeError as error:
            raise InputError(f"document {number} is not UTF-8 ({error.reason})", remedy="decode it first") from error
    raise InputError(
        f"document {number} is {type(document).__name__}, expected a string", remedy="None and NaN are empty"
    )
