"""Documents that are in memory already, or behind a query: tables of many libraries, a Series, any iterable of texts.

A table is known by its methods, so no library is imported that the caller has not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import fields as dataclass_fields
from dataclasses import is_dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from doccluster.base.limited_process import Piece, WorkFailure, doubled
from doccluster.base.named_places import query_in
from doccluster.base.paths import usable_path
from doccluster.base.validation import is_missing
from doccluster.corpus._written_cells import without_placeholder
from doccluster.corpus.columns import SAMPLED_ROWS, Columns, choose_columns, row_draft, value_at
from doccluster.corpus.document import Skipped
from doccluster.corpus.encodings import decode
from doccluster.corpus.formats import found_apart, some_at_a_time
from doccluster.corpus.reader import Draft, Found, ReadFailure, record
from doccluster.corpus.reader_options import ReadOptions
from doccluster.corpus.source_rows import names_in
from doccluster.errors import Argument, DocclusterError, InputError, importing

_BATCH = 4096  # rows held as Python objects at a time

Rows = Iterable[Mapping[str, Any]]


class Records(NamedTuple):
    """A table: its columns, the rows of some of them, and the ids that the rows have if no column holds them."""

    names: Sequence[str]
    rows: Callable[[list[str]], Rows]
    labels: Iterable[str] | None = None
    first_rows: Callable[[], Rows] | None = None  # where a few rows cost less than asking for all


def read_in_memory(source: object, options: ReadOptions) -> Iterator[Draft | Skipped]:
    """Return the documents of a table, or texts. Raises InputError if the source is neither."""
    query = query_in(source)
    if query is not None:
        return _query_apart(*_checked(*query), options)
    table = _table(source)
    if table is not None:
        return _read_table(table, options, keeps_values=True)
    if not isinstance(source, Iterable) or isinstance(source, str | bytes):
        raise InputError(
            f"a source of type {type(source).__name__} cannot be read",
            remedy="give a path, paths, a table (pandas, polars, pyarrow, ...), records or texts",
        )
    if isinstance(source, Mapping):
        return _read_texts(source.items(), has_ids=True)
    items = iter(source)  # what comes one by one may come but once
    first = list(islice(items, 1))
    if first and _as_record(first[0]) is not None:
        return _read_table(_of_records(chain(first, items)), options, keeps_values=True)
    return _read_texts(enumerate(chain(first, items), 1), has_ids=False)


def _table(source: Any) -> Records | None:
    frame = pandas_frame(source)
    if frame is not None:
        return _of_frame(frame)
    kind = type(source)  # a column of a table may have any name, and is an attribute of it too
    if hasattr(kind, "fetchall"):  # a relation of DuckDB, or the cursor of any database
        if source.description is None:
            raise InputError("the cursor has no rows", remedy="execute a query with it first")
        names = [str(column[0]) for column in source.description]
        rows = [row if isinstance(row, Mapping) else dict(zip(names, row, strict=True)) for row in source.fetchall()]
        return Records(names, lambda needed: rows)
    if hasattr(kind, "collect") and hasattr(kind, "collect_schema"):  # a LazyFrame of polars
        names = source.collect_schema().names()
        return Records(
            names,
            lambda needed: source.select(needed).collect().iter_rows(named=True),
            first_rows=lambda: source.head(SAMPLED_ROWS).collect().iter_rows(named=True),
        )
    if hasattr(kind, "iter_rows"):  # polars
        return Records(source.columns, lambda needed: source.select(needed).iter_rows(named=True))
    is_of_pyarrow = hasattr(kind, "to_batches") or hasattr(kind, "to_pylist")
    if hasattr(kind, "schema") and is_of_pyarrow and hasattr(source.schema, "names"):
        return Records(source.schema.names, lambda needed: _batched(source, needed))
    if isinstance(getattr(source, "column_names", None), list):  # a data set of Hugging Face
        return Records(source.column_names, lambda needed: _with_class_names(source, needed))
    if hasattr(kind, "__arrow_c_stream__") and not hasattr(kind, "to_list"):  # any library's, but no column of polars
        return _of_stream(source)
    if isinstance(source, Mapping):
        return _of_mapping(source)
    fields = getattr(getattr(source, "dtype", None), "names", None)  # of a structured array of numpy
    return None if fields is None else _of_mapping({name: source[name] for name in fields})


def _of_stream(source: Any) -> Records | None:
    """Return a table that hands over an Arrow stream; None for one column, whose texts are iterated."""
    with importing("tables as Arrow streams need", "pyarrow", install="pyarrow"):
        import pyarrow as pa
    try:
        return _table(pa.RecordBatchReader.from_stream(source).read_all())
    except pa.ArrowInvalid:  # its schema is that of a single column
        return None if isinstance(source, Iterable) else _table({"text": pa.chunked_array(source).to_pylist()})


def _with_class_names(source: Any, needed: list[str]) -> Rows:
    """Return the rows of a data set of Hugging Face, classes that are numbers by their names."""
    features = getattr(source, "features", None) or {}
    names_of = {name: features[name].names for name in needed if getattr(features.get(name), "names", None)}
    rows = source.select_columns(needed)
    for row in rows.with_format(None) if hasattr(rows, "with_format") else rows:  # else they may be tables of one row
        numbers = {name: row[name] if isinstance(row[name], int) else -1 for name in names_of}
        yield {**row, **{name: names_of[name][n] if n >= 0 else None for name, n in numbers.items()}}


def _of_records(source: Iterable[object]) -> Records:
    records = []
    for number, row in enumerate(source, 1):
        if (as_mapping := _as_record(row)) is None:
            problem = f"record {number} is of type {type(row).__name__}, and the first has columns"
            raise InputError(problem, remedy="give records alone, or texts alone")
        records.append(as_mapping)
    return Records(list(dict.fromkeys(str(name) for row in records for name in row)), lambda needed: records)


def _as_record(row: Any) -> Mapping[str, Any] | None:
    """Return a record as a mapping: of a named tuple, a row of a database or an object with fields too; else None."""
    kind = type(row)
    if hasattr(kind, "keys") and hasattr(kind, "__getitem__"):  # a mapping, or a row of sqlite3
        return row if isinstance(row, Mapping) else dict(row)
    if hasattr(kind, "_asdict"):
        return dict(row._asdict())
    fields = dataclass_fields(kind) if is_dataclass(kind) else getattr(kind, "__attrs_attrs__", ())
    names: Iterable[str] = [item.name for item in fields] or getattr(kind, "model_fields", ())
    return {name: getattr(row, name) for name in names} if names else None


def _of_frame(frame: Any) -> Records:
    names = [str(name) for name in frame.columns]

    def rows(needed: list[str]) -> Rows:
        values = [frame.iloc[:, names.index(name)] for name in needed]  # the first of equal names
        return (dict(zip(needed, row, strict=True)) for row in zip(*values, strict=True))

    return Records(names, rows, names_in(frame.index))


def _batched(source: Any, needed: list[str]) -> Rows:
    """Return the rows of a table, a batch or a data set of pyarrow; of columns with equal names the first counts."""
    if hasattr(source, "column_names"):
        source = source.select([source.column_names.index(name) for name in needed])
        batches = source.to_batches() if hasattr(source, "to_batches") else [source]
    else:
        batches = source.to_batches(needed)
    parts = (batch.slice(start, _BATCH) for batch in batches for start in range(0, batch.num_rows, _BATCH))
    return (row for part in parts for row in part.to_pylist())


def _checked(kind: str, path: Path, query: str) -> tuple[str, Path, str]:
    """Return a query that can be asked. Raises InputError for what is none, or of a file that is not there."""
    if not usable_path(path).is_file():
        raise InputError(f"{str(path)!r} does not exist", remedy="give the file of the database")
    if not re.match(r"\s*(select|with)\b", query, re.IGNORECASE):
        raise InputError(f"{query[:60]!r} is not a query", remedy="write ?SELECT ... FROM ... after the file")
    return kind, path, query


def _query_apart(kind: str, path: Path, query: str, options: ReadOptions) -> Iterator[Found]:
    """Yield the rows that a query finds. Raises InputError where it needs more than it may."""
    task = {"query": [kind, str(path.absolute()), query]}
    try:
        yield from found_apart(f"{__name__}:query_piece", task, b"", path.stat().st_size, options)
    except WorkFailure as error:
        allowance = Argument("max_expanded_size", doubled(options.expanded_size))
        remedy = "check the query, or allow twice as much with ", allowance
        raise InputError(f"{path.name} cannot be queried: it {error}", remedy=remedy) from error


def query_piece(task: dict[str, Any], _: bytes) -> Iterator[Piece]:
    """Yield the rows that a query finds, some at a time, in the process that asks."""
    kind, path, query = task["query"]
    yield from some_at_a_time(_rows_of_query(kind, Path(path), query, ReadOptions(**task["options"])))


def _rows_of_query(kind: str, path: Path, query: str, options: ReadOptions) -> Iterator[Draft | Skipped]:
    """Yield the rows that a query finds in a database, which it cannot change."""
    if kind != "sqlite":
        with importing(f"{path.name} needs", "duckdb", install="duckdb"):
            import duckdb
    try:
        if kind == "sqlite":
            import sqlite3

            opened: Any = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
            opened.text_factory = _utf8
        else:
            opened = duckdb.connect(str(path), read_only=True, config={"enable_external_access": "false"})
        with closing(opened):
            cursor = opened.execute(query)
            names = [str(column[0]) for column in cursor.description]
            first = [dict(zip(names, row, strict=True)) for row in cursor.fetchmany(SAMPLED_ROWS)]
            further_rows = chain.from_iterable(iter(lambda: cursor.fetchmany(SAMPLED_ROWS), []))
            rows = chain(first, (dict(zip(names, row, strict=True)) for row in further_rows))
            yield from _read_table(Records(names, lambda needed: rows, first_rows=lambda: first), options)
    except (DocclusterError, MemoryError):
        raise
    except Exception as error:  # whatever a database raises on a query, or on what is no database
        remedy = "check the query and the file"
        if getattr(error, "sqlite_errorname", "") == "SQLITE_READONLY_ROLLBACK":  # which is not ours to undo
            remedy = "a program was ended while it changed the file; open it once with that program"
        raise InputError(f"{path.name} cannot be queried: {error}", remedy=remedy) from error


def _of_mapping(source: Mapping[str, Any]) -> Records | None:
    """Return a mapping of columns, or scikit-learn's Bunch of texts and targets; None for one of ids to texts."""
    parts = [name for name, part in source.items() if hasattr(part, "column_names")]
    if parts:
        raise InputError("the source holds several data sets", remedy=f"give one of them: {', '.join(map(str, parts))}")
    # what scikit-learn calls a bunch
    if {"data", "target"} <= source.keys():
        target, names = source["target"], source.get("target_names")
        try:
            target = target if names is None else [names[number] for number in target]
        except (IndexError, TypeError) as error:
            raise InputError("a target of the source is not the number of a name in target_names") from error
        source = {"text": source["data"], "class": target}
    columns = {str(name): column for name, column in source.items()}
    if columns and all(isinstance(column, Mapping) for column in columns.values()):  # `to_dict` of pandas
        columns = {name: [*column.values()] for name, column in columns.items()}
    if not columns or any(
        isinstance(values, str | bytes) or not hasattr(values, "__len__") for values in columns.values()
    ):
        return None
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        lengths_shown = ", ".join(f"{name!r} {length:,}" for name, length in lengths.items())
        raise InputError(f"the columns differ in length ({lengths_shown})", remedy="give a value for each document")
    return Records(
        list(columns),
        lambda needed: (
            dict(zip(needed, row, strict=True)) for row in zip(*(columns[name] for name in needed), strict=True)
        ),
    )


def _utf8(cell: bytes) -> str | ReadFailure:
    """Return a cell of SQLite, whose texts may be in any encoding; of one that is not UTF-8, why its row is none."""
    try:
        return cell.decode()
    except UnicodeDecodeError:
        return ReadFailure("undecodable", f"a cell is not UTF-8: {cell[:40]!r}")


def _row_draft(row: Mapping[str, Any], columns: Columns, options: ReadOptions, where: str) -> Draft:
    unreadable = {name: row[name] for name in columns.needed if isinstance(row.get(name), ReadFailure)}
    for name, failure in unreadable.items():
        if name not in columns.keep:
            raise failure
    return row_draft({**row, **dict.fromkeys(unreadable)} if unreadable else row, columns, options, where)


def pandas_frame(source: Any) -> Any:
    """Return the frame or Series of pandas that a source is or holds, as a frame; None of any other."""
    if isinstance(source, Mapping) and {"data", "target"} <= source.keys():
        source = source["data"]
    if not hasattr(type(source), "iloc"):  # a column may be called so, and is an attribute of a frame
        return None
    source = source.compute() if hasattr(type(source), "compute") else source  # of dask
    return source if hasattr(type(source), "columns") else source.to_frame("text")


def _read_table(table: Records, options: ReadOptions, *, keeps_values: bool = False) -> Iterator[Draft | Skipped]:
    names = list(table.names)
    first_rows = table.first_rows() if table.first_rows else table.rows(names)
    columns = choose_columns(names, options, table="the table", first_rows=first_rows)
    needed = list(dict.fromkeys(name if name in names else name.partition(".")[0] for name in columns.needed))
    numbered = zip(table.labels, table.rows(needed), strict=True) if table.labels is not None else None
    for label, row in numbered or ((str(n), row) for n, row in enumerate(table.rows(needed), 1)):
        draft = record(f"row {label}", _row_draft, row, columns, options, f"row {label}")
        if isinstance(draft, Draft):
            draft.has_id = bool(draft.id)
            draft.id = draft.id or label
            if keeps_values:
                draft.values = {names: value_at(row, names[0]) for names in columns.kept_names.items()}
        yield draft


def _read_texts(texts: Iterable[tuple[object, Any]], *, has_ids: bool) -> Iterator[Draft | Skipped]:
    """Return texts as documents, from their ids or numbers and them; None and NaN are empty documents."""
    for name, value in texts:
        value = value.as_py() if hasattr(value, "as_py") else value  # of pyarrow
        if isinstance(value, bytes):
            value = decode(value).text
        if not isinstance(value, str):
            if not is_missing(value):
                raise InputError(f"document {name} is of type {type(value).__name__}", remedy="expected text (str)")
            value = ""
        yield Draft(without_placeholder(value), f"document {name}", id=str(name), has_id=has_ids)
