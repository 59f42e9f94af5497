"""A moment of a stream for other programs: as three csv files, or record by record."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from doccluster.base.csv_files import write_csv_rows
from doccluster.base.new_folder import check_folder, writing
from doccluster.base.unfinished import unfinished_folder
from doccluster.errors import InputError
from doccluster.streams.article import Moment
from doccluster.streams.tables import (
    DOCUMENT_COLUMNS,
    LINEAGE_COLUMNS,
    STORY_COLUMNS,
    Row,
    batch_at,
    batch_since,
    document_rows,
    lineage_rows,
    story_rows,
)

# columns, what yields rows, and the column whose values are counted
_TABLES = {
    "documents.csv": (DOCUMENT_COLUMNS, document_rows, "source"),
    "stories.csv": (STORY_COLUMNS, story_rows, "state"),
    "lineage.csv": (LINEAGE_COLUMNS, lineage_rows, "event"),
}
FILES = tuple(_TABLES)


@dataclass(frozen=True)
class Exported:
    """What was written: the files, how many documents, and how many stories in each state."""

    files: list[Path]
    n_documents: int
    states: Counter[str]


def check_export(folder: Path, *, overwrite: bool) -> None:
    """Raise InputError, before any work is done, if an export cannot be written to `folder`."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file; choose another output, the name of a folder.")
    there = [name for name in FILES if (folder / name).exists()]
    if there and not overwrite:
        raise InputError(f"{folder / there[0]} already exists; choose another output, or give --overwrite.")
    check_folder(folder.absolute().parent, name=folder)


def write_export(
    connection: sqlite3.Connection, folder: Path, *, at: str | Moment | None = None, overwrite: bool = False
) -> Exported:
    """Write the tables as csv files, each whole or not at all; other files there stay.

    Rows are written as they are read, so that the export of a large store takes no more memory than that of a small
    one.

    Raises InputError if there is an earlier export and `overwrite` is not given, it cannot be written, or `at` is not a
    moment.
    """
    check_export(folder, overwrite=overwrite)
    batch, _ = batch_at(connection, at)
    counts: dict[str, Counter[str]] = {name: Counter() for name in FILES}
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with unfinished_folder(folder.absolute()) as beside:
            for name, (names, rows, kind) in _TABLES.items():
                counted = _counted(rows(connection, batch), counts[name], names.index(kind))
                write_csv_rows(names, counted, beside / name)
            for name in FILES:
                (beside / name).replace(folder / name)
    return Exported([folder / name for name in FILES], counts["documents.csv"].total(), counts["stories.csv"])


def records(
    connection: sqlite3.Connection, *, at: str | Moment | None = None
) -> dict[str, Iterator[dict[str, object]]]:
    """Return the rows of each table, by its name, as mappings of column to value that are read one by one.

    Raises InputError if `at` is not a moment.
    """
    batch, _ = batch_at(connection, at)
    return {Path(name).stem: _named(names, rows(connection, batch)) for name, (names, rows, _) in _TABLES.items()}


def changes(connection: sqlite3.Connection, since: str | Moment) -> Iterator[dict[str, object]]:
    """Yield what has changed after a batch or moment, each row with the name of its table.

    First comes the batch up to which it is told, to be given as `since` the next time.

    Raises InputError if `since` is neither.
    """
    batch, moment = batch_at(connection, None)
    first, _ = batch_since(connection, since, moment or 0)
    yield {"table": "batch", "batch": batch}
    grown = {name for row in lineage_rows(connection, batch, first) for name in row[2:4]}
    rows = {
        "documents": (DOCUMENT_COLUMNS, document_rows(connection, batch, first)),
        "stories": (STORY_COLUMNS, (row for row in story_rows(connection, batch) if row[0] in grown)),
        "lineage": (LINEAGE_COLUMNS, lineage_rows(connection, batch, first)),
    }
    for table, (names, found) in rows.items():
        yield from ({"table": table, **one} for one in _named(names, found))


def events_after(connection: sqlite3.Connection, batch: int) -> Iterator[dict[str, object]]:
    """Yield what has happened to stories after a batch, each with the name of the story; of moves the story alone."""
    last, _ = batch_at(connection, None)
    labels = {row[0]: row[1] for row in story_rows(connection, last)}
    for one in _named(LINEAGE_COLUMNS, lineage_rows(connection, last, batch)):
        if one["event"] != "moved":
            yield {**one, "label": labels.get(str(one["story"]), "")}


def _named(names: Sequence[str], rows: Iterable[Row]) -> Iterator[dict[str, object]]:
    return (dict(zip(names, row, strict=True)) for row in rows)


def _counted(rows: Iterable[Row], counts: Counter[str], place: int) -> Iterator[Row]:
    for row in rows:
        counts[row[place]] += 1
        yield row
