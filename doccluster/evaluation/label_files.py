"""Labels in files: a csv table with ids, or one label per line; and how files of the two kinds are brought together."""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from doccluster.errors import InputError

FORMS = "a csv file with a header (id, then one label column, or the column you name) or a file with one label per line"
MISSING = frozenset({"nan", "NaN", "None", "<NA>"})  # what numpy, pandas and Python write where there is no label
PREFERRED = ("cluster", "label", "class")  # the column of a wider table, if none is named; ours call it cluster


@dataclass(frozen=True)
class LabelFile:
    """What a file says: the id of each document (None where there is one label per line) and columns of labels."""

    path: str
    ids: tuple[str, ...] | None
    columns: Mapping[str, tuple[str, ...]]

    @property
    def n_documents(self) -> int:
        """The number of documents."""
        return len(next(iter(self.columns.values())))


def read_labels(path: str | os.PathLike[str], *, columns: Sequence[str] = ()) -> LabelFile:
    """Return the labels in a file.

    Parameters
    ----------
    path : path
        A csv (or tab-separated) table with a header whose first column is ``id``, or one label per line; UTF-8.
    columns : sequence of str
        The label columns of a table; by default its only one, or the one called cluster, label or class.

    Raises
    ------
    InputError
        If the file cannot be read or is of neither form, a column is unknown, or an id comes twice.
    """
    place = Path(path)
    try:
        text = place.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InputError(f"{place} cannot be read: {reason}; give {FORMS}, in UTF-8.") from error
    lines = text.splitlines()
    if not lines:
        raise InputError(f"{place} is empty; give {FORMS}.")
    delimiter = "\t" if "\t" in lines[0] else ","
    header = [name.strip() for name in next(csv.reader([lines[0]], delimiter=delimiter))]
    if len(header) > 1 and header[0].lower() == "id":
        return _read_table(str(place), text, delimiter, header, columns)
    if len(header) > 1 and all(line.count(delimiter) == lines[0].count(delimiter) for line in lines):
        raise InputError(f"{place} is a table whose first column is {header[0]!r}, not 'id'; give {FORMS}.")
    if columns:
        raise InputError(f"{place} has no header, so no column {columns[0]!r}; give {FORMS}.")
    return LabelFile(str(place), None, {place.stem: tuple(map(_label, lines))})


def _label(cell: str) -> str:
    """Return the label in a cell or line; a missing one is empty, never the word nan."""
    text = cell.strip()
    return "" if text in MISSING else text


def _read_table(path: str, text: str, delimiter: str, header: list[str], wanted: Sequence[str]) -> LabelFile:
    names = _label_columns(path, header, wanted)
    rows = [row for row in csv.reader(text.splitlines(keepends=True), delimiter=delimiter) if row][1:]
    if not rows:
        raise InputError(f"{path} has a header and no document; give {FORMS}.")
    short = next((number for number, row in enumerate(rows, start=2) if len(row) != len(header)), None)
    if short is not None:
        cells = len(rows[short - 2])
        raise InputError(f"{path}, record {short}: {cells} cells under a header of {len(header)}; give {FORMS}.")
    ids = tuple(row[0].strip() for row in rows)
    if len(set(ids)) < len(ids):
        twice = next(name for number, name in enumerate(ids) if name in ids[:number])
        raise InputError(f"{path} has the id {twice!r} more than once; give each document one line.")
    places = {name: header.index(name) for name in names}
    return LabelFile(path, ids, {name: tuple(_label(row[place]) for row in rows) for name, place in places.items()})


def _label_columns(path: str, header: list[str], wanted: Sequence[str]) -> list[str]:
    others = header[1:]
    unknown = [name for name in wanted if name not in others]
    if unknown:
        raise InputError(f"{path} has no column {', '.join(map(repr, unknown))}; it has {', '.join(others)}.")
    if wanted:
        return list(wanted)
    if len(others) == 1:
        return others
    preferred = [name for name in PREFERRED if name in others]
    if not preferred:
        raise InputError(f"{path} has {len(others)} columns beside id ({', '.join(others)}); name the one meant.")
    return preferred[:1]


def rows_of(
    found: LabelFile, other_ids: Sequence[str] | None, n_others: int, name: str, *, may_lack: bool = False
) -> npt.NDArray[np.int64]:
    """Return, for each document of `found`, its row in another file: by id where both have ids, else by order.

    Parameters
    ----------
    found : LabelFile
    other_ids : sequence of str, or None
    n_others : int
        The number of documents of the other file.
    name : str
        What the other file is called in messages.
    may_lack : bool
        Whether the other file may lack ids of `found`: their row is -1.

    Raises
    ------
    InputError
        If ids of `found` are missing in the other file, or numbers of documents differ where order must do.
    """
    if found.ids is not None and other_ids is not None:
        place = {each: row for row, each in enumerate(other_ids)}
        rows = np.array([place.get(each, -1) for each in found.ids], np.int64)
        n_missing = int(np.count_nonzero(rows < 0))
        if n_missing == 0 or (may_lack and n_missing < rows.size):
            return rows
        if n_missing < rows.size or n_others != rows.size:
            example = found.ids[int(np.argmin(rows))]
            raise InputError(
                f"{name} lacks {n_missing:,} of the {rows.size:,} ids of {found.path}, for instance {example!r}; "
                "give files with the same ids."
            )
    if n_others != found.n_documents:
        raise InputError(
            f"{found.path} has {found.n_documents:,} labels and {name} has {n_others:,} documents; give one label per "
            "document, or an id column in both."
        )
    return np.arange(n_others)
