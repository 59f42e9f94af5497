"""What is known of documents whose texts lie on disk, in columns of arrays: no object for each document.

Rows of a table travel from where they are read as such columns, and stay so in the corpus.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.corpus.assembly import clean_line, fields_of, labels_of, padded
from doccluster.corpus.document import Skipped
from doccluster.corpus.draft import Draft
from doccluster.corpus.unique_names import UniqueNames
from doccluster.packed_strings import CodedColumn, PackedStrings

Columns = Mapping[str, CodedColumn[Any]]


@dataclass(frozen=True, eq=False)
class StoredRows:
    """Documents one after the other, in columns.

    Attributes
    ----------
    numbers : int64 array of shape (n_documents,)
        Which text each has.
    names : CodedColumn of str
        The ids that they would have if no other document had them.
    where : CodedColumn of str, or None
        The places for a person; None where these are the names.
    metadata, labels : mapping of str to CodedColumn
        In the order in which the columns come up first.
    skipped : tuple of (int, Skipped)
        What gave no document, and how many documents came before.
    """

    numbers: npt.NDArray[np.int64]
    names: CodedColumn[str]
    where: CodedColumn[str] | None
    metadata: Columns
    labels: Columns
    skipped: tuple[tuple[int, Skipped], ...] = ()

    def __len__(self) -> int:
        return int(self.numbers.size)


class RowCollector:
    """Takes in drafts one by one; `rows` returns them as columns."""

    def __init__(self) -> None:
        self._numbers: list[int] = []
        self._names: list[str] = []
        self._where: list[str] = []
        self._metadata: dict[str, list[Any]] = {}
        self._labels: dict[str, list[Any]] = {}
        self._skipped: list[tuple[int, Skipped]] = []

    def __len__(self) -> int:
        return len(self._numbers)

    def add(self, draft: Draft, number: int, file_name: str | None) -> None:
        """Take in a document."""
        before = len(self._numbers)
        self._numbers.append(number)
        self._names.append(clean_line(draft.id) or clean_line(draft.where))
        self._where.append(draft.where)
        for column, value in fields_of(draft, file_name).items():
            padded(self._metadata, column, before, "").append(value)
        for column, own in labels_of(draft).items():
            padded(self._labels, column, before, ()).append(own)

    def skip(self, skipped: Skipped) -> None:
        """Note that something gave no document."""
        self._skipped.append((len(self), skipped))

    def rows(self) -> StoredRows:
        """Return the documents so far."""

        def coded(columns: dict[str, list[Any]], missing: Any) -> dict[str, CodedColumn[Any]]:
            return {name: CodedColumn.of(padded(columns, name, len(self), missing)) for name in columns}

        return StoredRows(
            np.array(self._numbers, np.int64),
            CodedColumn.of(self._names),
            None if self._where == self._names else CodedColumn.of(self._where),
            coded(self._metadata, ""),
            coded(self._labels, ()),
            tuple(self._skipped),
        )


def joined_columns(parts: Sequence[tuple[int, Columns]], missing: Any) -> dict[str, CodedColumn[Any]]:
    """Join the columns of several parts, of `n_rows` rows each; a part may lack columns that others have."""
    found = {}
    for name in dict.fromkeys(name for _, columns in parts for name in columns):
        nothing = CodedColumn.of([missing])
        own = [columns.get(name, nothing.take(np.zeros(n, np.int32))) for n, columns in parts]
        found[name] = CodedColumn.joined(own)
    return found


def unique_names(names: CodedColumn[str], separator: str = "#") -> tuple[CodedColumn[str], dict[int, str]]:
    """Return the names, each of them once, as `UniqueNames` makes them, and by place those that had to change.

    Only names that come again are looked at one by one, and those that a changed one could be.

    Examples
    --------
    >>> found, changed = unique_names(CodedColumn.of(["a", "b", "a", "a#2"]))
    >>> list(found), changed
    (['a', 'b', 'a#2', 'a#2#2'], {2: 'a#2', 3: 'a#2#2'})
    """
    again = _come_again(names)
    if not again.any():
        return names, {}
    may_change = again | np.fromiter((separator in name for name in names), np.bool_, len(names))
    taken, changed = UniqueNames(separator), {}
    for place in np.flatnonzero(may_change).tolist():
        wanted = names[place]
        chosen = taken.take(wanted)
        if chosen != wanted:
            changed[place] = chosen
    places = np.fromiter(changed, np.int64, len(changed))
    codes = names.codes.astype(np.int64)
    codes[places] = len(names.values) + np.arange(places.size)
    values = PackedStrings.joined([_packed(names.values), PackedStrings.of(changed.values())])
    return CodedColumn(values, codes), changed


def _packed(strings: Sequence[str]) -> PackedStrings:
    return strings if isinstance(strings, PackedStrings) else PackedStrings.of(strings)


def _come_again(names: CodedColumn[str]) -> npt.NDArray[np.bool_]:
    """Return which names come more than once; by hashes of 64 bits, of which two that agree are compared in full."""
    hashes = np.fromiter(map(hash, names), np.int64, len(names))
    order = np.argsort(hashes, kind="stable")
    same = np.diff(hashes[order]) == 0
    found = np.zeros(len(names), np.bool_)
    found[order[1:][same]] = True
    found[order[:-1][same]] = True
    return found
