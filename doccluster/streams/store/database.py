"""The tables of a store (``schema.sql``), and what statements need to write and read their rows."""

from __future__ import annotations

import re
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from typing import Any

from doccluster.errors import SchemaError

APPLICATION = 0x646F6363  # "docc": marks a SQLite file as a store
VERSION = 9
OLDEST = 6  # stores from this version on can be brought up to date
WORDS_SINCE = 8  # stores from this version on keep the words of articles, and count terms by language

# what a column holds
_KINDS = {
    "STRING": "TEXT NOT NULL",
    "COUNT": "INTEGER NOT NULL CHECK ({0} >= 0)",
    # seconds since 1970, of a date with a year of four digits
    "MOMENT": "INTEGER NOT NULL CHECK ({0} BETWEEN -62135596800 AND 253370764800)",
    "LIKENESS": "REAL CHECK ({0} BETWEEN -4 AND 4)",  # centring can bring the likeness of two texts above 1
}
_COMMON = """
SELECT name FROM pragma_table_info(:table, 'main') INTERSECT SELECT name FROM pragma_table_info(:table, 'former')
"""
_NAMES = "SELECT name FROM {}.sqlite_schema WHERE type = 'table'"
_COLUMN = re.compile(rf"(\w+) ({'|'.join(_KINDS)})\b")
_SCHEMA = resources.files("doccluster.streams.store").joinpath("schema.sql").read_text("utf-8")
TABLES = _COLUMN.sub(lambda column: f"{column[1]} {_KINDS[column[2]].format(column[1])}", _SCHEMA)


def version_of(connection: sqlite3.Connection, name: str, *, oldest: int = VERSION) -> int:
    """Return the version of the tables of a file, 0 for an empty one."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (n_tables,) = connection.execute("SELECT COUNT(*) FROM sqlite_schema").fetchone()
    if n_tables == 0 and application == 0:
        return 0
    if version < 1 and application == APPLICATION:
        raise SchemaError(f"{name} is damaged: its tables have no version; go back to a copy of it.")
    if application != APPLICATION:
        raise SchemaError(
            f"{name} is a SQLite file of another program, not a store of doccluster; choose another name."
        )
    if not oldest <= version <= VERSION:
        age, remedy = "an older", "`doccluster stream upgrade` brings it up to date"
        if version > VERSION:
            age, remedy = "a newer", "update doccluster"
        elif version < OLDEST:
            remedy = "fill a new store"
        raise SchemaError(
            f"{name} was written by {age} doccluster (tables {version}, this one knows {VERSION}); {remedy}."
        )
    return int(version)


def make_tables(connection: sqlite3.Connection) -> None:
    """Make the tables in an empty file; the caller commits."""
    for statement in TABLES.split(";\n"):
        if statement.strip():
            connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {VERSION}")


def remake_tables(connection: sqlite3.Connection) -> None:
    """Make the tables of a store anew, and fill them with the rows of the attached `former`; the caller commits."""
    (before,) = connection.execute("PRAGMA former.user_version").fetchone()
    for table in read_column(connection, _NAMES.format("former")):
        connection.execute(f"DROP TABLE main.{table}")
    make_tables(connection)
    for table in read_column(connection, _NAMES.format("main")):
        columns = ", ".join(name for (name,) in connection.execute(_COMMON, {"table": table}))
        if table != "term" or before >= WORDS_SINCE:
            connection.execute(f"INSERT INTO main.{table} ({columns}) SELECT {columns} FROM former.{table}")


def shape_of(connection: sqlite3.Connection) -> dict[str, str]:
    """Return the statements that made tables and indexes, by kind and name."""
    return dict(connection.execute("SELECT type || ' ' || name, sql FROM sqlite_schema WHERE sql IS NOT NULL"))


LONG = 400  # characters of a text from which on it is kept compressed
MAX_BYTES = 1 << 26  # of a text, whatever a stranger's store says


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Let all that is written inside be there together, or not at all."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if connection.in_transaction:  # SQLite itself has ended it where the file is damaged or the disk is full
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def read_column(connection: sqlite3.Connection, statement: str, *values: object) -> list[Any]:
    """Return the first column of what a statement finds."""
    return [row[0] for row in connection.execute(statement, values)]


def packed(text: str) -> str | bytes:
    """Return a text as the store keeps it: a long one compressed, which `plain(text)` in a statement undoes."""
    return text if len(text) < LONG else zlib.compress(text.encode("utf-8", "surrogatepass"))


def read_texts(connection: sqlite3.Connection) -> None:
    """Let statements read the texts of a store."""
    connection.create_function("plain", 1, _plain, deterministic=True)


def _plain(packed_text: str | bytes) -> str:
    if isinstance(packed_text, str):
        return packed_text
    return zlib.decompressobj().decompress(packed_text, MAX_BYTES).decode("utf-8", "surrogatepass")
