"""Formats that may unpack to far more than they take, or break what reads them, are read in a process of their own.

What a file may take there grows with `max_expanded_size`; the same process answers queries of databases.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import asdict, fields, replace
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any

from doccluster.base.limited_process import Piece, TooCostly, WorkFailure, doubled, pieces_of_work
from doccluster.corpus.dates import iso_date
from doccluster.corpus.document import Skipped
from doccluster.corpus.draft import Draft, Found, ReadFailure, guarded
from doccluster.corpus.input_file import InputFile, counted_stream
from doccluster.corpus.reader_options import ReadOptions
from doccluster.errors import Argument, InputError

DOCUMENTS_AT_A_TIME = 500
TIMES_EXPANDED = 20  # of its size: what the texts of a part may have, and with 8 rows for each byte its items


def read_apart(file: InputFile, options: ReadOptions) -> Iterator[Found]:
    """Yield what a file holds; raise ReadFailure where it needs more than it may, or breaks its reader."""
    body = b"" if file.local is not None else file.read(options.allowance.memory)
    size = file.local.stat().st_size if file.local is not None else len(body)
    task = {"format": file.format, "name": file.name, "place": str(file.place), "encoding": file.encoding}
    task |= {"local": None if file.local is None else str(file.local.absolute())}
    try:
        yield from _found_apart("read_piece", task, body, size, options)
    except TooCostly as error:
        remedy = f"--max-expanded-size {doubled(options.expanded_size)} allows twice as much"
        raise ReadFailure("too-costly", f"it {error}; {remedy}") from error
    except WorkFailure as error:
        raise ReadFailure("broken-file", f"it {error}") from error


def query_apart(kind: str, path: Path, query: str, options: ReadOptions) -> Iterator[Found]:
    """Yield the rows that a query finds. Raises InputError where it needs more than it may."""
    task = {"query": [kind, str(path.absolute()), query]}
    try:
        yield from _found_apart("query_piece", task, b"", path.stat().st_size, options)
    except WorkFailure as error:
        allowance = Argument("max_expanded_size", doubled(options.expanded_size))
        remedy = "check the query, or allow twice as much with ", allowance
        raise InputError(f"{path.name} cannot be queried: it {error}", remedy=remedy) from error


def _found_apart(function: str, task: Any, body: bytes, size: int, options: ReadOptions) -> Iterator[Found]:
    """Yield what a function of this module finds in the process, as long as it is in proportion to a size in bytes."""
    allowance = options.allowance
    task |= {"options": asdict(replace(options, labels_file=None))}
    allowed = replace(allowance, memory=allowance.memory + size)
    characters, most_rows = allowance.memory + TIMES_EXPANDED * size, max(allowance.n_items, 8 * size)
    failure: list[str] = []
    for rows, _ in pieces_of_work(f"{__name__}:{function}", task, body, allowance=allowed):
        most_rows -= len(rows)
        characters -= sum(len(row["text"]) + sum(map(len, row["extra"].values())) for row in rows if "text" in row)
        if most_rows < 0 or characters < 0:
            raise TooCostly(f"unpacks to too {'many' if most_rows < 0 else 'long'} documents for its {size:,} bytes")
        for row in rows:
            if "failure" in row:
                failure = row["failure"]
            elif "text" in row:
                row["labels"] = {name: tuple(values) for name, values in row["labels"].items()}
                yield Draft(**row | {"text_columns": tuple(row["text_columns"])})
            else:
                yield Skipped(**row)
    if failure:
        raise ReadFailure(*failure)


def read_piece(task: dict[str, Any], body: bytes) -> Iterator[Piece]:
    """Yield the documents of a file, some at a time, in the process that reads it."""
    from doccluster.corpus.formats import FORMATS

    options = ReadOptions(**task["options"])
    local = None if task["local"] is None else Path(task["local"])
    with io.BytesIO(body) if local is None else local.open("rb") as source:
        place, stream = PurePosixPath(task["place"]), counted_stream(source)
        file = InputFile(task["name"], place, stream, local=local, encoding=task["encoding"], format=task["format"])
        try:
            yield from _some_at_a_time(guarded(FORMATS[file.format].read(file, options), "broken-file"))
        except ReadFailure as failure:
            if isinstance(failure.__cause__, MemoryError | TooCostly):
                raise failure.__cause__ from failure
            yield [{"failure": [failure.reason, failure.detail]}], b""


def query_piece(task: dict[str, Any], _: bytes) -> Iterator[Piece]:
    """Yield the rows that a query finds, some at a time, in the process that asks."""
    from doccluster.corpus.frames import rows_of_query

    kind, path, query = task["query"]
    yield from _some_at_a_time(rows_of_query(kind, Path(path), query, ReadOptions(**task["options"])))


def _some_at_a_time(items: Iterator[Found]) -> Iterator[Piece]:
    while batch := list(islice(items, DOCUMENTS_AT_A_TIME)):
        yield [{field.name: _as_json(getattr(item, field.name)) for field in fields(item)} for item in batch], b""


def _as_json(value: Any) -> Any:
    """Return the value of a field of a document; a moment is written as a date."""
    return value if isinstance(value, str | int | float | dict | tuple) else iso_date(value)
