"""Is a store sound? Its file and tables, its references, what it keeps of the stream, and that its history is whole."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing

from doccluster.streams.check_contents import CONTENTS, Finding
from doccluster.streams.check_rules import RULES
from doccluster.streams.schema import VERSION, make_tables

_SCHEMA = "SELECT type, name FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY type, name"
_COLUMNS = {
    "table": 'SELECT name, type, "notnull", pk FROM pragma_table_info(?)',
    "index": "SELECT name FROM pragma_index_info(?)",
}


def check_store(connection: sqlite3.Connection) -> list[Finding]:
    """Return the faults of the file, tables, references and rows, and where the lineage does not give the rest."""
    found = _findings("integrity", _file_findings, connection) + _findings("tables", _table_findings, connection)
    if found:  # what is said of rows would only follow from that
        return found
    found = _findings("reference", _reference_findings, connection)
    for name, query in RULES:
        found += _findings(name, lambda one, name=name, query=query: _rows(one, name, query), connection)  # type: ignore[misc]
    for name, look in CONTENTS.items():
        found += _findings(name, look, connection)
    return found


def _findings(
    name: str, look: Callable[[sqlite3.Connection], Iterator[Finding]], connection: sqlite3.Connection
) -> list[Finding]:
    """Return the findings of one look; what it cannot read is a finding too."""
    found = []
    try:
        for one in look(connection):
            found.append(one)  # stays, also where the next one cannot be read
    except Exception as error:  # noqa: BLE001  no list of what damaged rows raise is ever complete
        found.append(Finding(name, f"it cannot be read: {' '.join(str(error).split()) or type(error).__name__}"))
    return found


def _file_findings(connection: sqlite3.Connection) -> Iterator[Finding]:
    for (said,) in connection.execute("PRAGMA integrity_check"):
        if said != "ok":
            yield Finding("integrity", " ".join(str(said).split()))


def _table_findings(connection: sqlite3.Connection) -> Iterator[Finding]:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version < VERSION:
        yield Finding("tables", f"they are of version {version}; `doccluster stream upgrade` makes them {VERSION}")
        return
    with closing(sqlite3.connect(":memory:")) as fresh:
        make_tables(fresh)
        wanted = _shape(fresh)
    there = _shape(connection)
    for one in sorted({*wanted, *there}):
        if one not in there:
            yield Finding("tables", f"there is no {one}")
        elif one not in wanted:
            yield Finding("tables", f"the {one} is not one of a store")
        elif there[one] != wanted[one]:
            yield Finding("tables", f"the {one} has other columns")
    for name in (one.partition(" ")[2] for one in wanted if one in there and one.startswith("table ")):
        for _ in connection.execute(f"SELECT * FROM {name}"):  # reads every text, which has to be one
            pass


def _shape(connection: sqlite3.Connection) -> dict[str, list[tuple[object, ...]]]:
    return {
        f"{kind} {name}": connection.execute(_COLUMNS[kind], (name,)).fetchall() if kind in _COLUMNS else []
        for kind, name in connection.execute(_SCHEMA).fetchall()
    }


def _reference_findings(connection: sqlite3.Connection) -> Iterator[Finding]:
    for table, row, other, _ in connection.execute("PRAGMA foreign_key_check"):
        where = "a row" if row is None else f"row {row}"
        yield Finding("reference", f"{where} of {table} refers to nothing in {other}")


def _rows(connection: sqlite3.Connection, name: str, query: str) -> Iterator[Finding]:
    for (detail,) in connection.execute(query):
        yield Finding(name, str(detail))
