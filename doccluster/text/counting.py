"""Documents -> how often each distinct token occurs in each document, block by block.

A counter numbers the tokens it meets: any analyzer's in Python, runs of word characters by a compiled loop over the
bytes of many documents at once. Each thread has a counter of its own, so the numbers of a block mean something only
together with the counter that made it. What comes after works on distinct tokens, never on occurrences.
"""

from __future__ import annotations

import itertools
import operator
import queue
import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from doccluster.base.arrays import Integers
from doccluster.base.blocks import map_blocks, resolve_threads
from doccluster.base.compiled import jit
from doccluster.base.validation import is_missing
from doccluster.errors import Argument, InputError
from doccluster.text.analysis import Analysis
from doccluster.text.scripts import combining_marks

# What is kept of each token in one entry: its first 16 bytes, its hash, and its last place in the output.
LOW, HIGH, HASH, SEEN = range(4)
# Where the counting loop stands, in its `state`.
EDGE, DOCUMENT, KEPT, FIRST, N_TOKENS, N_PLACED, COUNTED = range(7)
PADDING = 16  # zero bytes after the text: eight can be read twice at any place

# numba turns a sum of signed and unsigned numbers into a float, so all arithmetic on keys is unsigned.
_ONE = np.uint64(1)
_TOP_BITS = np.uint64(0x8080808080808080)
_MIX_LOW = np.uint64(0x9E3779B97F4A7C15)
_MIX_HIGH = np.uint64(0xC2B2AE3D27D4EB4F)
_MIX_TAIL = np.uint64(0x100000001B3)
_FIRST_BYTES = np.array([(1 << 8 * size) - 1 for size in range(9)], dtype=np.uint64)  # masks for the first 0..8 bytes


class TokenTable(NamedTuple):
    """The tokens met so far, as a hash table, and the bytes of all of them."""

    slots: npt.NDArray[np.int32]  # numbers of tokens, -1 where empty; a power of two
    entries: npt.NDArray[np.uint64]  # (n, 4), of each token: LOW, HIGH, HASH, SEEN
    starts: Integers  # (n + 1,), of each token, in the arena
    arena: npt.NDArray[np.uint8]  # the bytes of all tokens, each followed by a line break


@jit(inner=True)
def eight_bytes(array, place):
    """Return the eight bytes that begin at any place of a uint8 array as one number, the first byte lowest."""
    first = np.uint64(place)  # unsigned: no place is counted from the end, so that this is one load
    word = np.uint64(array[first])
    word |= np.uint64(array[first + np.uint64(1)]) << np.uint64(8)
    word |= np.uint64(array[first + np.uint64(2)]) << np.uint64(16)
    word |= np.uint64(array[first + np.uint64(3)]) << np.uint64(24)
    word |= np.uint64(array[first + np.uint64(4)]) << np.uint64(32)
    word |= np.uint64(array[first + np.uint64(5)]) << np.uint64(40)
    word |= np.uint64(array[first + np.uint64(6)]) << np.uint64(48)
    return word | (np.uint64(array[first + np.uint64(7)]) << np.uint64(56))


@jit
def find_words(text, lowers, is_word, words, edges):
    """Write the words of a text in UTF-8 into `words`, zeros between them, and their two ends, in turn, into `edges`.

    Returns how many edges there are. lowers: whether letters of ASCII are lowered (the others are already); is_word:
    which characters are parts of words, by code point, empty when all are ASCII.
    """
    step = np.uint8(32) if lowers else np.uint8(0)
    for place in range(text.size):  # what is beyond ASCII counts as part of a word here
        byte = text[place]
        is_upper = np.uint8(byte - np.uint8(65)) < np.uint8(26)
        is_letter = np.uint8((byte | np.uint8(32)) - np.uint8(97)) < np.uint8(26)
        is_digit = np.uint8(byte - np.uint8(48)) < np.uint8(10)
        in_word = is_letter | is_digit | (byte == np.uint8(95)) | (byte > np.uint8(127))
        words[place] = (byte + step * np.uint8(is_upper)) * np.uint8(in_word)
    place = np.int64(0)
    while is_word.size and place < text.size - PADDING:
        if eight_bytes(text, place) & _TOP_BITS == 0:
            place += 8
            continue
        lead = np.int64(text[place])
        width = 1 + (lead >= 0xC0) + (lead >= 0xE0) + (lead >= 0xF0)
        point = lead & (0xFF >> (width + 1))
        for following in range(place + 1, place + width):
            point = point << 6 | np.int64(text[following]) & 0x3F
        if width > 1 and not is_word[point]:
            words[place : place + width] = 0
        place += width
    n_edges = 0
    before = np.uint8(0)
    for place in range(text.size):  # without a branch, which no processor foresees
        here = words[place]
        edges[n_edges] = place
        n_edges += (here == 0) != (before == 0)
        before = here
    return n_edges


@jit(inner=True)
def count_characters(words, begin, end):
    """Return how many characters a word has: bytes that continue one do not count."""
    n_characters = 0
    for place in range(begin, end):
        n_characters += (words[place] & np.uint8(0xC0)) != np.uint8(0x80)
    return n_characters


@jit(inner=True)
def hash_word(words, begin, end, low, high):
    """Return the hash of a word whose first 16 bytes are `low` and `high`."""
    code = low * _MIX_LOW ^ high * _MIX_HIGH
    for place in range(begin + 16, end):
        code = (code ^ np.uint64(words[place])) * _MIX_TAIL
    return (code ^ (code >> np.uint64(32))) * _MIX_LOW >> np.uint64(16)


@jit(inner=True)
def same_rest(arena, start, end, words, begin, size):
    """Return whether `arena[start:end]`, a token, is the word of `size` bytes; their first 16 bytes agree."""
    if end - start != size:
        return False
    for offset in range(16, size):  # noqa: SIM110 - numba compiles the loop, not a generator
        if arena[start + offset] != words[begin + offset]:
            return False
    return True


@jit(inner=True)
def fill_slots(tokens, first, n_tokens):
    """Put the tokens from `first` on into empty slots."""
    slots, entries, _, _ = tokens
    mask = np.uint64(slots.size - 1)
    for token in range(first, n_tokens):
        slot = entries[token, HASH] & mask
        while slots[slot] >= 0:
            slot = (slot + _ONE) & mask
        slots[slot] = token


@jit(inner=True)
def write_token(tokens, token, words, begin, size):
    """Write the bytes of a new token, the last one, into the arena; returns whether there was room."""
    _, entries, starts, arena = tokens
    start = starts[token]
    if token == entries.shape[0] or start + size >= arena.size:
        return False
    for offset in range(size):
        arena[start + offset] = words[begin + offset]
    arena[start + size] = 10
    starts[token + 1] = start + size + 1
    return True


@jit
def count_words(words, edges, ends, shortest, tokens, counted_tokens, state):
    """Count the words of at least `shortest` characters of each document; returns whether all were counted.

    `words`: bytes of all documents and `PADDING` zeros. `edges`: where words begin and end, in turn. `ends`: where each
    document ends. `counted_tokens`: room for columns, counts and lengths, as of `CountedBlock`. `state`: where the loop
    stands; for a new text those before N_TOKENS are zero, and COUNTED is 1 before the first. N_PLACED: how many tokens
    are in slots, none after these were made anew.
    """
    slots, entries, starts, arena = tokens
    columns, counts, lengths = counted_tokens
    document, n_entries, first, n_tokens = state[DOCUMENT], state[KEPT], state[FIRST], state[N_TOKENS]
    # Places go on from one text to the next, so that those of earlier texts are below all of this one.
    counted = state[COUNTED]
    mask = np.uint64(slots.size - 1)
    fill_slots(tokens, state[N_PLACED], n_tokens)
    for edge in range(state[EDGE], edges.size, 2):
        begin, end = np.int64(edges[edge]), np.int64(edges[edge + 1])
        size = end - begin
        low = eight_bytes(words, begin) & _FIRST_BYTES[min(size, 8)]
        high = eight_bytes(words, begin + 8) & _FIRST_BYTES[min(max(size - 8, 0), 8)]
        is_ascii = (low | high) & _TOP_BITS == 0 and size <= 16
        n_characters = size if is_ascii or size >= 4 * shortest else count_characters(words, begin, end)
        if n_characters < shortest:
            continue
        code = hash_word(words, begin, end, low, high)
        slot = code & mask
        token = np.int64(slots[slot])
        # a token of fewer than 16 bytes is all in its key, and no token holds a zero byte
        while token >= 0 and not (
            entries[token, LOW] == low
            and entries[token, HIGH] == high
            and (size < 16 or same_rest(arena, starts[token], starts[token + 1] - 1, words, begin, size))
        ):
            slot = (slot + _ONE) & mask
            token = np.int64(slots[slot])
        while begin > ends[document]:
            lengths[document] = n_entries - first
            first = n_entries
            document += 1
        if token < 0:
            token = n_tokens
            if not write_token(tokens, token, words, begin, size):
                state[EDGE], state[DOCUMENT], state[KEPT], state[FIRST] = edge, document, n_entries, first
                state[N_TOKENS] = state[N_PLACED] = n_tokens
                return False
            slots[slot] = token
            entries[token, LOW], entries[token, HIGH], entries[token, HASH], entries[token, SEEN] = low, high, code, 0
            n_tokens += 1
        # Whether the document had the token before cannot be foreseen either, so there is no branch on it.
        last_place = np.int64(entries[token, SEEN]) - counted
        is_new = last_place < first
        where = n_entries if is_new else last_place
        columns[n_entries] = token
        counts[n_entries] = 0
        counts[where] += 1
        entries[token, SEEN] = counted + where
        n_entries += is_new
    lengths[document:] = 0
    lengths[document] = n_entries - first
    state[KEPT], state[COUNTED] = n_entries, counted + n_entries
    state[N_TOKENS] = state[N_PLACED] = n_tokens
    return True


BLOCK_CHARACTERS = 1 << 19
FEW_CHARACTERS = 1 << 17  # that Python counts in a tenth of the time that the loops take to compile
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
        tokens = counter._tokens.arena[: counter._tokens.starts[counter.n_tokens]]
        text = np.concatenate([tokens, np.zeros(PADDING, dtype=np.uint8)])
        text.flags.writeable = False  # as `_encode` makes it, so that one version of the loop is compiled
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

    def _count(self, text: npt.NDArray[np.uint8], ends: Integers) -> CountedBlock:
        if self._words.size < text.size:
            self._make_room(text.size)
        highest = text.max()
        n_planes = 0 if highest < 128 else 1 if highest < _FIRST_OF_FOUR else 17
        is_word = word_characters(n_planes, with_marks=self._with_marks)
        words = self._words[: text.size]
        edges = self._edges[: find_words(text, self._lowers, is_word, words, self._edges)]
        lengths = np.empty(ends.size, dtype=np.int32)
        counted = self._columns, self._counts, lengths
        self._state[[EDGE, DOCUMENT, KEPT, FIRST]] = 0
        while not count_words(words, edges, ends, self._shortest, self._tokens, counted, self._state):
            self._grow()
        n_entries = int(self._state[KEPT])
        return CountedBlock(lengths, self._columns[:n_entries].copy(), self._counts[:n_entries].copy())

    def _encode(self, documents: Sequence[str]) -> tuple[npt.NDArray[np.uint8], Integers]:
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
    r"""Return whether each code point is a word character (``\w``, perhaps with marks of letters) of this Python."""
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
    """The counters of one job, lent to the threads a block at a time: one of an analyzer, of words one a thread."""

    def __init__(self, analysis: Analysis, *, n_threads: int | None = None) -> None:
        self.counters: list[AnalyzerCounter] | list[RunCounter]
        if analysis.run_length is None:
            self.counters = [AnalyzerCounter(analysis.analyze)]
        else:
            self.counters = [RunCounter(analysis) for _ in range(resolve_threads(n_threads))]
        self._analysis = analysis
        self._free = queue.SimpleQueue[int]()
        for number in range(len(self.counters)):
            self._free.put(number)

    def count(self, documents: Iterable[object]) -> Iterator[CountedBlock]:
        """Return the counts of `documents` in blocks, in order; those of a few documents are made by Python alone."""
        blocks = text_blocks(documents, BLOCK_CHARACTERS, takes_others=self._analysis.takes_others)
        first_two = list(itertools.islice(blocks, 2))
        if len(first_two) == 1 and sum(map(operator.length_hint, first_two[0])) <= FEW_CHARACTERS:
            self.counters = [AnalyzerCounter(self._analysis.analyze)]
        return map_blocks(self._count_block, itertools.chain(first_two, blocks), n_threads=len(self.counters))

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


def text_blocks(
    documents: Iterable[object], block_characters: int, *, takes_others: bool = False
) -> Iterator[list[str]]:
    """Yield lists of consecutive documents of about `block_characters` characters; missing documents become empty.

    `takes_others`: as for `as_text`.
    """
    if isinstance(documents, str | bytes):
        raise InputError("one string was given where an iterable of documents is expected", remedy="put it into a list")
    if not isinstance(documents, Iterable):
        raise InputError(
            f"documents is {type(documents).__name__}, expected an iterable of strings", remedy="give a list"
        )
    block: list[str] = []
    size = 0
    for number, document in enumerate(documents):
        block.append(as_text(document, number, takes_others=takes_others))
        size += operator.length_hint(block[-1], 1)
        if size >= block_characters:
            yield block
            block, size = [], 0
    if block:
        yield block


def as_text(document: Any, number: int, *, takes_others: bool = False) -> str:
    """Return `document` as a string: missing values (None, NaN, NA) are empty, bytes are read as UTF-8.

    What is something else, such as a list of tokens, is refused, unless it goes to a function that `takes_others`.
    """
    if isinstance(document, str):
        return str(document)
    if is_missing(document):
        return ""
    if isinstance(document, bytes):
        try:
            return document.decode("utf-8")
        except UnicodeDecodeError as error:
            raise InputError(f"document {number} is not UTF-8 ({error.reason})", remedy="decode it first") from error
    if takes_others:
        return document  # type: ignore[no-any-return]
    raise InputError(
        f"document {number} is {type(document).__name__}, expected a string; None and NaN are empty",
        remedy=("of lists of tokens, give an ", Argument("analyzer"), " that takes them"),
    )
