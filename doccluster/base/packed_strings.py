"""Lists of strings as two plain arrays: they go into npz files without pickle, and millions take little memory."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise
from typing import Any, TypeVar, overload

import numpy as np
import numpy.typing as npt

from doccluster.base.arrays import AnyIntegers, Array, Integers
from doccluster.errors import SchemaError

Item = TypeVar("Item")

AT_A_TIME = 20_000  # strings that are made together


def pack_strings(strings: Iterable[str]) -> tuple[npt.NDArray[np.uint8], Integers]:
    """Return the strings one after the other in UTF-8, uint8, and where each ends, int64 of shape (n_strings,).

    >>> pack_strings(["ab", "", "é"])
    (array([ 97,  98, 195, 169], dtype=uint8), array([2, 2, 4]))
    """
    texts, pieces, sizes = iter(strings), [], [np.empty(0, np.int64)]
    while encoded := [text.encode("utf-8", "surrogatepass") for text in islice(texts, AT_A_TIME)]:
        pieces.append(b"".join(encoded))
        sizes.append(np.fromiter(map(len, encoded), dtype=np.int64, count=len(encoded)))
    return np.frombuffer(bytearray().join(pieces), dtype=np.uint8), np.cumsum(np.concatenate(sizes), dtype=np.int64)


def unpack_strings(characters: npt.NDArray[np.uint8], ends: Integers) -> list[str]:
    """Return the strings that `pack_strings` packed.

    >>> unpack_strings(*pack_strings(["ab", "", "é"]))
    ['ab', '', 'é']
    """
    characters, places = np.asarray(characters), np.asarray(ends)
    if characters.dtype != np.uint8 or places.dtype != np.int64:
        raise SchemaError(
            "the packed strings are damaged: they are not characters and ends", remedy="write the file again"
        )
    text = characters.tobytes()
    if places.ndim != 1 or (places.size and (places[-1] != len(text) or (np.diff(places, prepend=0) < 0).any())):
        raise SchemaError(
            "the packed strings are damaged: their ends do not fit the characters", remedy="write the file again"
        )
    bounds = pairwise([0, *places.tolist()])
    try:
        return [text[start:end].decode("utf-8", "surrogatepass") for start, end in bounds]
    except UnicodeDecodeError as error:
        raise SchemaError("the packed strings are damaged: not UTF-8", remedy="write the file again") from error


class MadeItems(Sequence[Item]):
    """A sequence that makes an item when it is read; a slice is a list."""

    @overload
    def __getitem__(self, place: int) -> Item: ...

    @overload
    def __getitem__(self, place: slice) -> list[Item]: ...

    def __getitem__(self, place: int | slice) -> Item | list[Item]:
        if isinstance(place, slice):
            return self._items(np.arange(len(self))[place])
        return self._item(range(len(self))[place])

    @abstractmethod
    def _item(self, place: int, /) -> Item:
        """Return the item at a place from 0 on."""

    def _items(self, places: Integers) -> list[Item]:
        return [self._item(place) for place in places.tolist()]


class PackedStrings(MadeItems[str]):
    """Strings in two arrays instead of an object for each; a string is made when it is looked at.

    >>> names = PackedStrings.of(["ab", "", "é"])
    >>> names[2], names[:2], len(names), names == ("ab", "", "é")
    ('é', ['ab', ''], 3, True)
    """

    __hash__ = None  # type: ignore[assignment]  # like a list, it is equal to what has the same items

    def __init__(self, characters: npt.NDArray[np.uint8], ends: Integers) -> None:
        self.characters, self.ends = characters, ends

    @classmethod
    def of(cls, strings: Iterable[str]) -> PackedStrings:
        """Return strings packed."""
        return cls(*pack_strings(strings))

    @classmethod
    def joined(cls, parts: Sequence[PackedStrings]) -> PackedStrings:
        """Return the strings of several, one after the other."""
        before = np.cumsum([0, *(part.characters.size for part in parts)])
        ends = [part.ends + start for part, start in zip(parts, before.tolist(), strict=False)]
        nothing = np.empty(0, np.uint8), np.empty(0, np.int64)
        return cls(np.concatenate([nothing[0], *(p.characters for p in parts)]), np.concatenate([nothing[1], *ends]))

    def encoded(self) -> Iterator[bytes]:
        """Yield each string in UTF-8."""
        start = 0
        for first in range(0, len(self), AT_A_TIME):
            ends = self.ends[first : first + AT_A_TIME].tolist()
            text, base = self.characters[start : ends[-1]].tobytes(), start
            for end in ends:
                yield text[start - base : end - base]
                start = end

    def __len__(self) -> int:
        return int(self.ends.size)

    def _item(self, row: int) -> str:
        start = int(self.ends[row - 1]) if row else 0
        return self.characters[start : int(self.ends[row])].tobytes().decode("utf-8", "surrogatepass")

    def __iter__(self) -> Iterator[str]:
        return (text.decode("utf-8", "surrogatepass") for text in self.encoded())

    def __eq__(self, other: object) -> bool:
        return _same_items(self, other)


class CodedColumn(MadeItems[Item]):
    """A value for each document, where many have the same: a number for each, and each value once.

    `codes` of shape (n_rows,): which value each row has; by default row i has value i.

    >>> sources = CodedColumn.of(["wire", "wire", "desk"])
    >>> sources[1], sources.take(np.array([2, 0])) == ("desk", "wire"), sources.codes.tolist()
    ('wire', True, [0, 0, 1])
    """

    __hash__ = None  # type: ignore[assignment]  # like a list, it is equal to what has the same items

    def __init__(self, values: Sequence[Item], codes: Array | None = None) -> None:
        self.values, self._codes = values, codes

    @classmethod
    def of(cls, items: Sequence[object]) -> CodedColumn[Any]:
        """Return a column of items, those that come again once; strings are packed."""
        numbers: dict[Any, int] = {}
        codes = np.fromiter((numbers.setdefault(item, len(numbers)) for item in items), np.int32, len(items))
        values: Any = tuple(numbers)
        if all(isinstance(value, str) for value in values):
            values = PackedStrings.of(values)
        return cls(values, None if len(numbers) == len(items) else codes)

    @classmethod
    def joined(cls, parts: Sequence[CodedColumn[Any]]) -> CodedColumn[Any]:
        """Return the rows of several columns, one after the other."""
        values: Any
        if all(isinstance(part.values, PackedStrings) for part in parts):
            values = PackedStrings.joined([part.values for part in parts])  # type: ignore[misc]
        else:
            values = tuple(value for part in parts for value in part.values)
        if all(part.is_plain for part in parts):
            return cls(values)
        before = np.cumsum([0, *(len(part.values) for part in parts)])
        kind = np.int32 if before[-1] < 2**31 else np.int64
        codes = [(part.codes + start).astype(kind) for part, start in zip(parts, before.tolist(), strict=False)]
        return cls(values, np.concatenate(codes))

    @property
    def is_plain(self) -> bool:
        """Whether row i has value i."""
        return self._codes is None

    @property
    def codes(self) -> Array:
        """Which value each row has."""
        return np.arange(len(self.values)) if self._codes is None else self._codes

    def take(self, rows: AnyIntegers) -> CodedColumn[Item]:
        """Return the items of some rows, in this order; no value is copied."""
        if rows.size == len(self) and np.array_equal(rows, np.arange(rows.size)):
            return self
        kind = np.int32 if len(self.values) < 2**31 else np.int64
        return CodedColumn(self.values, rows.astype(kind) if self._codes is None else self._codes[rows])

    def __len__(self) -> int:
        return len(self.values) if self._codes is None else int(self._codes.size)

    def _item(self, row: int) -> Item:
        return self.values[row if self._codes is None else int(self._codes[row])]

    def __iter__(self) -> Iterator[Item]:
        if self._codes is None:
            return iter(self.values)
        values = list(self.values) if len(self.values) <= AT_A_TIME else self.values
        return (values[code] for part in _pieces(self._codes) for code in part.tolist())

    def __eq__(self, other: object) -> bool:
        return _same_items(self, other)


def _pieces(numbers: Array) -> Iterator[Array]:
    return (numbers[first : first + AT_A_TIME] for first in range(0, numbers.size, AT_A_TIME))


def _same_items(items: Sequence[object], compared: object) -> bool:
    if not isinstance(compared, Sequence) or isinstance(compared, str) or len(items) != len(compared):
        return False
    return all(a == b for a, b in zip(items, compared, strict=True))
