"""A corpus of documents whose texts lie on disk, put together from what was read elsewhere.

What is known of the documents is in columns of arrays, with no object for each: rows of a table travel so from where
they are read, and stay so in the corpus.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.corpus.assembly import CorpusBuilder, UniqueNames, clean_line, fields_of, labels_of, padded, renamed
from doccluster.corpus.document import Corpus, Skipped
from doccluster.corpus.draft import Draft
from doccluster.corpus.input_file import InputFile
from doccluster.corpus.stored_texts import StoredTexts, TextBlock
from doccluster.packed_strings import CodedColumn, PackedStrings

Columns = Mapping[str, CodedColumn[Any]]
ROWS_AT_ONCE = 50_000


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


@dataclass(slots=True)
class StoredDraft(Draft):
    """A document whose text lies on disk: its number among the texts of the part, or why it is none."""

    number: int = -1
    refusal: tuple[str, str] | None = None


class StoredBuilder(CorpusBuilder):
    """Builds a corpus of documents whose texts lie on disk."""

    def __init__(self, *, max_length: int) -> None:
        super().__init__(max_length=max_length)
        self.blocks: dict[int, list[TextBlock]] = {}  # of each part
        self.part = 0  # whose documents come now
        self._groups: list[tuple[int, StoredRows]] = []  # with their parts
        self._n_grouped = 0
        self._few = RowCollector()  # documents that came one by one, of the part `_few_of`
        self._few_of = 0

    def __len__(self) -> int:
        return self._n_grouped + len(self._few)

    def add(self, draft: Draft, *, file: InputFile | None = None) -> bool:
        """Take one document in and return true, or list why not."""
        assert isinstance(draft, StoredDraft)  # what parts hold
        if draft.refusal is not None:
            self.skip(draft.where, *draft.refusal)
            return False
        if self._few_of != self.part or len(self._few) >= ROWS_AT_ONCE:
            self._end_few()
        self._few_of = self.part
        self._note_place(draft, len(self), file)
        self._few.add(draft, draft.number, None if file is None else file.name)
        return True

    def add_rows(self, rows: StoredRows) -> None:
        """Take in documents of the part that come now."""
        self._end_few()
        before = len(self)
        for after, one in rows.skipped:
            self.skip(one.source, one.reason, one.detail)
            self._skipped_after[-1] = before + after
        self._groups.append((self.part, rows))
        self._n_grouped += len(rows)

    def _end_few(self) -> None:
        if len(self._few):
            rows, self._few = self._few.rows(), RowCollector()
            self._groups.append((self._few_of, rows))
            self._n_grouped += len(rows)

    def build(self, *, stripped_html: bool = False) -> Corpus:
        """Return the corpus, its texts read from disk when they are asked for."""
        if not len(self):
            return super().build()  # which says why
        self._end_few()
        groups = [rows for _, rows in self._groups]
        ids = self._unique_ids(groups)
        labels = joined_columns([(len(rows), rows.labels) for rows in groups], ())
        metadata = joined_columns([(len(rows), rows.metadata) for rows in groups], "")
        if "class" not in labels and any(found := self._folder_classes()):
            labels["class"] = CodedColumn.of(found)
        numbers = self._text_numbers()
        left_out = self._leave_out_companions(ids)
        if left_out:
            kept = np.setdiff1d(np.arange(len(self)), list(left_out))
            ids, numbers = ids.take(kept), numbers[kept]
            labels, metadata = (
                {name: column.take(kept) for name, column in columns.items()} for columns in (labels, metadata)
            )
        texts = StoredTexts([block for part in sorted(self.blocks) for block in self.blocks[part]], numbers)
        return Corpus(ids, texts, labels, metadata, tuple(self.skipped), stripped_html=stripped_html)

    def _unique_ids(self, groups: Sequence[StoredRows]) -> CodedColumn[str]:
        """Return the ids, and list the documents that could not have the one they asked for where they were read."""
        wanted = CodedColumn.joined([rows.names for rows in groups])
        ids, changed = unique_names(wanted)
        where = CodedColumn.joined([rows.where or rows.names for rows in groups]) if changed else wanted
        listed = [(after, 0, one) for after, one in zip(self._skipped_after, self.skipped, strict=True)]
        listed += [(place, 1, renamed(where[place], wanted[place], chosen)) for place, chosen in changed.items()]
        self.skipped = [one for _, _, one in sorted(listed, key=lambda one: one[:2])]
        return ids

    def _text_numbers(self) -> npt.NDArray[np.int64]:
        """Return the number of the text of each document among those of all parts."""
        parts = sorted(self.blocks)
        sizes = [sum(block.n_texts for block in self.blocks[part]) for part in parts]
        before = dict(zip(parts, np.cumsum([0, *sizes[:-1]]).tolist(), strict=True))
        return np.concatenate([rows.numbers + before[part] for part, rows in self._groups])
