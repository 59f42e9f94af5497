"""Documents -> how often each distinct token occurs in each document, block by block.

A counter numbers the tokens it meets; each thread has a counter of its own, so the numbers of a block mean something
only together with the counter that made it. What comes after works on distinct tokens, never on occurrences.
"""

from __future__ import annotations

import queue
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from doccluster.blocks import map_blocks, resolve_threads
from doccluster.errors import InputError
from doccluster.text.analysis import Analysis
from doccluster.text.counters import AnalyzerCounter, CountedBlock, Counter

BLOCK_CHARACTERS = 1 << 22


class CounterPool:
    """The counters of one job, lent to the threads one block at a time."""

    def __init__(self, analysis: Analysis, *, n_threads: int | None = None) -> None:
        if analysis.run_length is None:  # Python code: more threads would only wait for each other
            self.n_threads = 1
            self.counters: list[Counter] = [AnalyzerCounter(analysis.analyze)]
        else:
            self.n_threads = resolve_threads(n_threads)
            self.counters = [AnalyzerCounter(analysis.analyze) for _ in range(self.n_threads)]
        self._free: queue.SimpleQueue[int] = queue.SimpleQueue()
        for number in range(len(self.counters)):
            self._free.put(number)

    def count(self, documents: Iterable[Any], *, block_characters: int = BLOCK_CHARACTERS) -> Iterator[CountedBlock]:
        """Yield the counts of `documents` in blocks of about `block_characters`, in order."""
        yield from map_blocks(self._count_block, text_blocks(documents, block_characters), n_threads=self.n_threads)

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

    Raises
    ------
    InputError
        If `documents` is one string, is not iterable, or holds something that is neither text nor missing.
    """
    if isinstance(documents, str | bytes):
        raise InputError("one string was given where an iterable of documents is expected; put it into a list.")
    if not isinstance(documents, Iterable):
        raise InputError(f"documents is {type(documents).__name__}, expected an iterable of strings; give a list.")
    block: list[str] = []
    size = 0
    for number, document in enumerate(documents):
        text = document if type(document) is str else as_text(document, number)
        block.append(text)
        size += len(text) + 1
        if size >= block_characters:
            yield block
            block, size = [], 0
    if block:
        yield block


def as_text(document: Any, number: int) -> str:
    """Return `document` as a string: missing values (None, NaN, NA) are empty, bytes are read as UTF-8."""
    if isinstance(document, str):
        return str(document)
    if document is None or type(document).__name__ in ("NAType", "NaTType"):
        return ""
    if isinstance(document, float | np.floating) and np.isnan(document):
        return ""
    if isinstance(document, bytes):
        try:
            return document.decode("utf-8")
        except UnicodeDecodeError as error:
            raise InputError(f"document {number} is not UTF-8 ({error.reason}); decode it first.") from error
    raise InputError(f"document {number} is {type(document).__name__}, expected a string; None and NaN are empty.")
