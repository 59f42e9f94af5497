"""Documents -> how often each distinct token occurs in each document, block by block.

A counter numbers the tokens it meets; each thread has a counter of its own, so the numbers of a block mean something
only together with the counter that made it. What comes after works on distinct tokens, never on occurrences.
"""

from __future__ import annotations

import queue
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.blocks import map_blocks, resolve_threads
from doccluster.errors import InputError
from doccluster.text.analysis import Analysis
from doccluster.text.counters import AnalyzerCounter, CountedBlock, RunCounter
from doccluster.validation import is_missing

BLOCK_CHARACTERS = 1 << 19
_CHUNK = 64


class CounterPool:
    """The counters of one job, lent to the threads one block at a time.

    Any analyzer has one counter, since Python threads would only wait for each other; runs of word characters have one
    for each thread.
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

    def count(self, documents: Iterable[Any], *, block_characters: int = BLOCK_CHARACTERS) -> Iterator[CountedBlock]:
        """Yield the counts of `documents` in blocks of about `block_characters`, in order."""
        blocks = text_blocks(documents, block_characters)
        yield from map_blocks(self._count_block, blocks, n_threads=len(self.counters))

    def sorted_forms(self) -> tuple[list[str], list[npt.NDArray[np.int32]]]:
        """Return all written forms in the order of their characters, and each counter's numbers as places in it.

        The counters are used up.
        """
        first, *others = self.counters
        numbers = [first.absorb(other) for other in others]  # type: ignore[union-attr, arg-type]
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


def text_blocks(documents: Iterable[Any], block_characters: int) -> Iterator[list[str]]:
    """Yield lists of consecutive documents of about `block_characters` characters; missing documents become empty.

    Raises InputError if `documents` is one string, is not iterable, or holds something that is neither text nor
    missing.
    """
    if isinstance(documents, str | bytes):
        raise InputError("one string was given where an iterable of documents is expected", remedy="put it into a list")
    if not isinstance(documents, Iterable):
        raise InputError(
            f"documents is {type(documents).__name__}, expected an iterable of strings", remedy="give a list"
        )
    number = 0
    block: list[str] = []
    size = 0
    rest = iter(documents)
    while chunk := list(islice(rest, _CHUNK)):
        if set(map(type, chunk)) != {str}:
            chunk = [as_text(document, number + place) for place, document in enumerate(chunk)]
        number += len(chunk)
        block += chunk
        size += sum(map(len, chunk))
        if size >= block_characters:
            yield from [block] if size < 2 * block_characters else _cut(block, block_characters)
            block, size = [], 0
    if block:
        yield block


def _cut(documents: list[str], block_characters: int) -> Iterator[list[str]]:
    """Yield the documents in lists of no more characters than two blocks, or of one document."""
    size, start = 0, 0
    for place, document in enumerate(documents):
        size += len(document)
        if size >= 2 * block_characters:
            yield documents[start : place + 1]
            size, start = 0, place + 1
    if start < len(documents):
        yield documents[start:]


def as_text(document: Any, number: int) -> str:
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
