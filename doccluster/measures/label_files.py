"""Labels in files: a table with ids, JSON records, or one label per line; and how files of these kinds are joined."""

from __future__ import annotations

import csv
import io
import json
import os
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from doccluster.base.arrays import Integers
from doccluster.base.text_table import in_one_line
from doccluster.corpus.columns import has_text_column
from doccluster.corpus.opening import read_whole
from doccluster.corpus.reader import ReadFailure
from doccluster.corpus.reader_options import ReadOptions
from doccluster.errors import DocclusterWarning, InputError

FORMS = (
    "a table with a header (id, then one label column, or the column you name), JSON records with an id, or a file "
    "with one label per line"
)
DELIMITERS = ("\t", ",", ";", " ")  # what may part the cells of a table, in the order they are tried
MISSING = frozenset({"nan", "NaN", "None", "<NA>"})  # what numpy, pandas and Python write where there is no label
PREFERRED = ("cluster", "label", "class")  # the column of a wider table, if none is named; ours call it cluster


@dataclass(frozen=True)
class ForeignLabels:
    """The labels in a file: columns of labels, and the id of each document (None where there is one label per line).

    A label is a text, empty where it is missing; JSON records may have a list of several.
    """

    path: str
    ids: Sequence[str] | None
    columns: Mapping[str, Sequence[Any]]

    @property
    def n_documents(self) -> int:
        """The number of documents."""
        return len(next(iter(self.columns.values())))


def read_labels(
    path: str | os.PathLike[str], *, columns: Sequence[str] = (), label_separator: str | None = None
) -> ForeignLabels:
    """Return the labels in a file, of the `columns` (by default the only one, or that called cluster, label or class).

    It is a table whose first column is ``id``, its cells separated by commas, semicolons, tabs or blanks; JSON records,
    read like a corpus; or one label per line. A line with the `label_separator` is not a line of a table. Raises
    InputError if it cannot be read or is none of these, a column is unknown, or an id comes twice.
    """
    place = Path(path)
    try:
        text = read_whole(place).decode("utf-8-sig").replace("\0", "").replace("\r\n", "\n").replace("\r", "\n")
    except ReadFailure as error:
        raise InputError(f"{place} cannot be read: {error.detail}", remedy=f"give {FORMS}, in UTF-8") from error
    except UnicodeDecodeError as error:
        raise InputError(
            f"{place} is not text in UTF-8: the character at byte {error.start} is not valid",
            remedy=f"give {FORMS}, in UTF-8",
        ) from error
    # a table says what it is by its header; of what is left, JSON is told by its first record
    lines = text.removesuffix("\n").split("\n")
    if not text.strip():
        raise InputError(f"{place} is empty", remedy=f"give {FORMS}")
    for delimiter in DELIMITERS:
        header = _header(text, delimiter)
        if len(header) > 1 and header[0].lower() == "id":
            return _read_table(str(place), text, delimiter, header, columns)
    record = _first_record(text, lines)
    if record is not None:
        return _read_records(place, record, columns, label_separator)
    _check_is_no_table(place, text, lines, label_separator)
    if columns:
        raise InputError(f"{place} has no header, so no column {columns[0]!r}", remedy=f"give {FORMS}")
    return ForeignLabels(str(place), None, {place.stem: tuple(map(_label, lines))})


def _header(text: str, delimiter: str) -> list[str]:
    """Return the names in the first record of a table, which may go over several lines."""
    try:
        return [in_one_line(name.strip()) for name in next(_cells(text, delimiter), [])]
    except csv.Error:
        return []


def _cells(text: str, delimiter: str) -> Iterator[list[str]]:
    """Yield the cells of each record; blanks part cells in runs, and at the ends of a line they part nothing."""
    if delimiter == " ":
        text = "\n".join(line.rstrip() for line in text.split("\n"))
    # strict: a quote that is never closed must not swallow the documents after it
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True, strict=True)


def _first_record(text: str, lines: Sequence[str]) -> Mapping[str, object] | None:
    """Return the first record of a file of JSON (empty where records lie deeper); None where the file is no JSON."""
    first = next(line for line in lines if line.strip())
    for part in (first, text) if first.lstrip().startswith(("{", "[")) else ():
        try:
            content = json.loads(part)
        except (ValueError, RecursionError):
            continue
        if isinstance(content, dict):
            return content if part is first else {}
        if isinstance(content, list) and content and isinstance(content[0], dict):
            return content[0]
    return None


def _read_records(
    place: Path, record: Mapping[str, object], columns: Sequence[str], label_separator: str | None
) -> ForeignLabels:
    """Return the labels of JSON records, with the ids that `read_corpus`, and so a run, gives their documents."""
    from doccluster.corpus import read_corpus

    names = list(columns) or [name for name in PREFERRED if name in record][:1]
    if not names:
        there = f"; the first has {', '.join(record)}" if record else ""
        raise InputError(
            f"{place} holds JSON records{there}", remedy="name the column of labels (--truth-column or --column)"
        )
    options: dict[str, Any] = {"label_columns": names, "label_separator": label_separator}
    if record and not has_text_column(record, ReadOptions()):
        options["text_column"] = names[0]  # records of labels alone
    corpus = read_corpus(place, **options)
    return ForeignLabels(str(place), corpus.ids, {name: tuple(map(_of_record, corpus.labels[name])) for name in names})


def _of_record(labels: tuple[str, ...]) -> object:
    present = [label for label in map(_label, labels) if label]
    return present if len(present) > 1 else "".join(present)


def _check_is_no_table(place: Path, text: str, lines: list[str], label_separator: str | None) -> None:
    """Raise InputError if the lines are a table without ids: then all of them, or all records, have as many cells."""
    for delimiter in DELIMITERS:
        if delimiter == label_separator or delimiter not in lines[0].strip():
            continue
        if delimiter == " " and (len(lines) == 1 or len(set(lines)) < len(lines)):
            continue  # a label may be of several words, but then some documents share it
        lengths = {len(line.split()) if delimiter == " " else line.count(delimiter) for line in lines}
        if len(lengths) == 1 or (delimiter != " " and _are_records(text, delimiter)):
            name = lines[0].split(None if delimiter == " " else delimiter)[0].strip()[:60]
            raise InputError(f"{place} is a table whose first column is {name!r}, not 'id'", remedy=f"give {FORMS}")


def _are_records(text: str, delimiter: str) -> bool:
    """Return whether all records of a table have as many cells, at least two; quoted cells may hold line breaks."""
    try:
        lengths = {len(row) for row in _cells(text, delimiter) if row}
    except csv.Error:
        return False
    return len(lengths) == 1 and lengths.pop() > 1


def _label(cell: str) -> str:
    """Return the label in a cell or line; a missing one is empty, never the word nan."""
    text = cell.strip()
    return "" if text in MISSING else text


def _read_table(path: str, text: str, delimiter: str, header: list[str], columns: Sequence[str]) -> ForeignLabels:
    names = _label_columns(path, header, columns)
    try:
        rows = [row for row in _cells(text, delimiter) if row][1:]
    except csv.Error as error:
        raise InputError(f"{path} cannot be read as a table: {error}", remedy="look at its quotes") from error
    if not rows:
        raise InputError(f"{path} has a header and no document", remedy=f"give {FORMS}")
    short = next((number for number, row in enumerate(rows, start=2) if len(row) != len(header)), None)
    if short is not None:
        cells = len(rows[short - 2])
        raise InputError(
            f"{path}, record {short}: {cells} cells under a header of {len(header)}", remedy=f"give {FORMS}"
        )
    ids = tuple(row[0].strip() for row in rows)
    if len(set(ids)) < len(ids):
        twice, _ = Counter(ids).most_common(1)[0]
        raise InputError(f"{path} has the id {twice!r} more than once", remedy="give each document one line")
    places = {name: header.index(name) for name in names}
    return ForeignLabels(path, ids, {name: tuple(_label(row[place]) for row in rows) for name, place in places.items()})


def _label_columns(path: str, header: list[str], columns: Sequence[str]) -> list[str]:
    label_columns = header[1:]
    unknown = [name for name in columns if name not in label_columns]
    if unknown:
        raise InputError(
            f"{path} has no column {', '.join(map(repr, unknown))}", remedy=f"it has {', '.join(label_columns)}"
        )
    if columns:
        return list(columns)
    if len(label_columns) == 1:
        return label_columns
    preferred = [name for name in PREFERRED if name in label_columns]
    if not preferred:
        raise InputError(
            f"{path} has {len(label_columns)} columns besides id ({', '.join(label_columns)})",
            remedy="name the one to use",
        )
    return preferred[:1]


def rows_of(
    labels: ForeignLabels, other_ids: Sequence[str] | None, n_others: int, name: str, *, may_lack: bool = False
) -> Integers:
    """Return, for each document of `labels`, its row in another file, which messages call `name`; int64 array.

    Documents are joined by id where both have ids, else by order, with a warning where one has ids. Ids that only
    number the documents from 1 on count as none, unless they are those of `labels`. The other file `may_lack` ids:
    their row is -1. Raises InputError if ids are missing otherwise, or numbers of documents differ where order must do.
    """
    if labels.ids is not None and other_ids is not None:
        place = {each: row for row, each in enumerate(other_ids)}
        rows = np.array([place.get(each, -1) for each in labels.ids], np.int64)
        n_missing = int(np.count_nonzero(rows < 0))
        if n_missing == 0 or (may_lack and n_missing < rows.size):
            return rows
        if n_missing < rows.size or not _only_number(other_ids):
            example = labels.ids[int(np.argmin(rows))]
            raise InputError(
                f"{name} lacks {n_missing:,} of the {rows.size:,} ids of {labels.path}, for instance {example!r}",
                remedy="give files with the same ids",
            )
        other_ids = None  # they only number the documents, so the order says as much
    if n_others != labels.n_documents:
        raise InputError(
            f"{labels.path} has {labels.n_documents:,} labels and {name} has {n_others:,} documents",
            remedy="give one label per document, or an id column in both",
        )
    if labels.ids is not None and not _only_number(labels.ids):
        _warn_of_order(name, labels.path)
    elif labels.ids is None and other_ids is not None and not _only_number(other_ids):
        _warn_of_order(labels.path, name)
    return np.arange(n_others)


def _only_number(ids: Sequence[str]) -> bool:
    """Return whether ids are 1, 2, 3 ...: they say no more than the order does."""
    return all(each == str(number) for number, each in enumerate(ids, start=1))


def _warn_of_order(without: str, with_ids: str) -> None:
    warnings.warn(
        f"{without} has no ids and {with_ids} has; their documents are joined by order, line by line. If the order "
        "differs, all scores are wrong: give ids in both to be sure.",
        DocclusterWarning,
        stacklevel=3,
    )
