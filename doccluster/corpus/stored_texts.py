"""Texts that lie on disk: written in blocks while a corpus is read, and looked up by their place afterwards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from doccluster.base.arrays import Integers
from doccluster.base.blocks import allow_open_files, open_array, row_blocks, write_arrays
from doccluster.base.packed_strings import MadeItems, pack_strings

BLOCK_CHARACTERS = 16 * 2**20
AT_A_TIME = 1000  # texts that are read together


@dataclass(frozen=True)
class TextBlock:
    """Consecutive texts in a folder of their own, of which some may have been left out since."""

    folder: str
    n_texts: int  # how many were written
    n_bytes: int

    def take(self, rows: Integers) -> list[str]:
        """Return some of the texts."""
        characters, ends = (open_array(Path(self.folder) / f"{name}.npy") for name in ("characters", "ends"))
        starts = np.concatenate([[0], ends[:-1]])
        bounds = zip(starts[rows].tolist(), ends[rows].tolist(), strict=True)
        return [characters[start:end].tobytes().decode("utf-8") for start, end in bounds]


class TextWriter:
    """Writes texts to a folder, in blocks of about `size` characters."""

    def __init__(self, folder: Path, name: str, *, characters: int = BLOCK_CHARACTERS) -> None:
        self.blocks: list[TextBlock] = []
        self._folder, self._name, self._limit = folder, name, characters
        self._texts: list[str] = []
        self._size = self._n_written = 0

    def add(self, text: str) -> int:
        """Take a text and return its number among those of this writer."""
        number = self._n_written + len(self._texts)
        self._texts.append(text)
        self._size += len(text)
        if self._size >= self._limit:
            self.flush()
        return number

    def flush(self) -> None:
        """Write what was taken since the last block."""
        if not self._texts:
            return
        characters, ends = pack_strings(self._texts)
        folder = self._folder / f"{self._name}-{len(self.blocks)}"
        lengths = np.fromiter(map(len, self._texts), np.int64, len(self._texts))
        write_arrays(folder, {"characters.npy": characters, "ends.npy": ends, "lengths.npy": lengths})
        self.blocks.append(TextBlock(str(folder), len(self._texts), int(characters.nbytes)))
        self._n_written += len(self._texts)
        self._texts, self._size = [], 0


@dataclass(frozen=True, eq=False)
class TextRows:
    """The texts of one block that are documents of a corpus."""

    block: TextBlock
    rows: Integers
    first: int  # the place of the first of them in the corpus

    @property
    def texts(self) -> list[str]:
        """The texts."""
        return self.block.take(self.rows)


class StoredTexts(MadeItems[str]):
    """The texts of a corpus, read from disk on demand; `numbers`: which of those in all blocks each document has."""

    def __init__(self, blocks: Sequence[TextBlock], numbers: Integers) -> None:
        self._ends = np.cumsum([block.n_texts for block in blocks]).astype(np.int64)
        self._blocks, self._numbers = list(blocks), numbers
        self._open: dict[int, tuple[Any, Any]] = {}

    def hold(self) -> StoredTexts:
        """Map all files now, so that texts can be looked up when their folder is gone; return self."""
        allow_open_files(2 * len(self._blocks))  # a mapped file counts as open
        for at in range(len(self._blocks)):
            self._mapped(at)
        return self

    def let_go(self) -> None:
        """Unmap the files, whose pages count as memory; they are mapped again when they are needed."""
        self._open.clear()

    @cached_property
    def lengths(self) -> Integers:
        """The number of characters of each text."""
        lengths_of_blocks = [open_array(Path(block.folder) / "lengths.npy") for block in self._blocks]
        return np.asarray(np.concatenate(lengths_of_blocks)[self._numbers])

    @property
    def blocks(self) -> list[TextRows]:
        """The documents in their order, those that follow one another in a block together."""
        return [TextRows(self._blocks[at], rows, first) for at, rows, first in self._runs(self._numbers)]

    def _runs(self, numbers: Integers) -> Iterator[tuple[int, Integers, int]]:
        """Yield the number of a block, the rows in it that follow one another, and the place of the first of them."""
        at = np.searchsorted(self._ends, numbers, side="right")
        edges = np.flatnonzero(np.diff(at, prepend=-1, append=-1))
        for first, last in pairwise(edges.tolist()):
            number = int(at[first])
            start = int(self._ends[number]) - self._blocks[number].n_texts
            yield number, numbers[first:last] - start, first

    def _encoded(self, at: int, rows: Integers) -> Iterator[memoryview]:
        """Yield the texts of some rows of a block in UTF-8."""
        characters, ends = self._mapped(at)
        starts, whole = np.where(rows > 0, ends[rows - 1], 0), memoryview(characters)
        return (whole[start:end] for start, end in zip(starts.tolist(), ends[rows].tolist(), strict=True))

    def __len__(self) -> int:
        return int(self._numbers.size)

    def _item(self, place: int) -> str:
        return self.take(np.array([place]))[0]

    def take(self, places: Integers) -> list[str]:
        """Return the texts at some places."""
        order = np.argsort(self._numbers[places], kind="stable")  # those of one block together
        texts = [""] * order.size
        for at, rows, first in self._runs(self._numbers[places][order]):
            for place, text in zip(order[first:].tolist(), self._encoded(at, rows), strict=False):
                texts[place] = str(text, "utf-8")
        return texts

    _items = take

    def _mapped(self, at: int) -> tuple[Any, Any]:
        if at not in self._open:
            folder = Path(self._blocks[at].folder)
            self._open[at] = open_array(folder / "characters.npy"), open_array(folder / "ends.npy")
        return self._open[at]

    def encoded(self) -> Iterator[bytes]:
        """Yield each text in UTF-8."""
        for at, rows, _ in self._runs(self._numbers):
            yield from map(bytes, self._encoded(at, rows))

    def __iter__(self) -> Iterator[str]:
        return (text.decode("utf-8") for text in self.encoded())


class PickedTexts(MadeItems[str]):
    """Some texts of a corpus in an order of their own, none of them copied.

    >>> list(PickedTexts(("a", "b", "c"), [2, 0])), PickedTexts("abc", [2, 0, 1])[::2]
    (['c', 'a'], ['c', 'b'])
    """

    def __init__(self, texts: Sequence[str], rows: Sequence[int] | Integers) -> None:
        self._texts, self._rows = texts, np.asarray(rows, np.int64)

    @property
    def lengths(self) -> Integers:
        """The number of characters of each text."""
        return np.asarray(text_lengths(self._texts)[self._rows])

    def __len__(self) -> int:
        return len(self._rows)

    def _item(self, row: int) -> str:
        return self._texts[int(self._rows[row])]

    def _items(self, places: Integers) -> list[str]:
        return texts_at(self._texts, self._rows[places])

    def __iter__(self) -> Iterator[str]:
        for block in row_blocks(len(self), AT_A_TIME):
            yield from self[block]


def texts_at(texts: Sequence[str], places: Integers) -> list[str]:
    """Return some of the texts; those on disk are looked up together.

    >>> texts_at(("a", "b", "c"), np.array([2, 0]))
    ['c', 'a']
    """
    if isinstance(texts, PickedTexts):
        return texts_at(texts._texts, texts._rows[places])
    together = getattr(texts, "take", None)
    texts_found: list[str] = [texts[place] for place in places.tolist()] if together is None else together(places)
    return texts_found


def text_lengths(texts: Sequence[str]) -> Integers:
    """Return the number of characters of each text, without reading those that lie on disk.

    >>> text_lengths(PickedTexts(("a", "bcd"), [1, 1, 0])).tolist()
    [3, 3, 1]
    """
    lengths = getattr(texts, "lengths", None)
    return np.fromiter(map(len, texts), np.int64, len(texts)) if lengths is None else lengths
