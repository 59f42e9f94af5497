"""A SQLite file opened safely: our own tables, one writer, and nothing in it trusted more than it must be."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from doccluster.errors import InputError, SchemaError
from doccluster.file_names import usable_path
from doccluster.streams.schema import VERSION, make_tables, migrate, version_of

try:
    import fcntl
except ImportError:  # Windows: SQLite's own lock is all there is
    fcntl = None  # type: ignore[assignment]

BUSY_SECONDS = 30
# before it, two connections to one file could lose a write-ahead log that was being reset (sqlite.org/wal.html)
SAFE_LOG = (3, 51, 3)
MEMORY = ":memory:"


def open_to_write(path: Path | None) -> tuple[sqlite3.Connection, int | None]:
    """Return a connection to a store, made if it is not there, and the lock that this process holds on it.

    Raises
    ------
    InputError
        If the file cannot be opened, or another process writes to it.
    SchemaError
        If it is not a store, or one of a newer version.
    """
    if path is None:
        connection = _connect(MEMORY)
        _prepare(connection, MEMORY)
        return connection, None
    lock = _locked(path)
    try:
        with _described(path):
            connection = _connect(f"{path.resolve().as_uri()}?mode=rwc")
            _prepare(connection, str(path))
    except BaseException:
        _unlock(lock)
        raise
    return connection, lock


def open_to_read(path: Path, *, any_version: bool = False) -> sqlite3.Connection:
    """Return a connection that can change nothing; the store may be one that a stranger gave.

    `any_version` lets older tables pass, for what only copies them.
    """
    _check_is_there(path)
    with _described(path):
        connection = _connect(f"{path.resolve().as_uri()}?mode=ro")
        connection.execute("PRAGMA query_only = ON")
        version = version_of(connection, str(path))
    if version == 0:
        raise InputError(f"{path} is empty; fill it with `doccluster stream poll` or `stream replay`.")
    if version < VERSION and not any_version:
        raise SchemaError(f"{path} is a store of an older version; `doccluster stream poll` or `replay` brings it up.")
    return connection


@contextmanager
def reading(path: Path, *, any_version: bool = False) -> Iterator[sqlite3.Connection]:
    """Open a store to read one state of it; errors of SQLite come out as sentences."""
    connection = open_to_read(path, any_version=any_version)
    with closing(connection), _described(path):
        connection.execute("BEGIN")  # all that is read is of one moment, whoever writes meanwhile
        yield connection


@contextmanager
def changing(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a store that is there to write to it; errors of SQLite come out as sentences."""
    _check_is_there(path)
    connection, lock = open_to_write(path)
    try:
        with _described(path):
            yield connection
    finally:
        close(connection, lock)


def _check_is_there(path: Path) -> None:
    if not path.is_file():
        raise InputError(f"there is no store {path}; make one with `doccluster stream poll` or `stream replay`.")


def close(connection: sqlite3.Connection, lock: int | None) -> None:
    """Close a store and let go of its lock."""
    connection.close()
    _unlock(lock)


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Let all that is written inside be there together, or not at all."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def back_up(connection: sqlite3.Connection, path: Path) -> None:
    """Write a copy of a store as it is at this moment, also while another process writes to it."""
    with closing(sqlite3.connect(path)) as copy:
        connection.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")  # so that it can be read where nothing can be written beside it


def _connect(name: str) -> sqlite3.Connection:
    connection = sqlite3.connect(name, uri=name != MEMORY, isolation_level=None, timeout=BUSY_SECONDS)
    for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "foreign_keys = ON"):
        connection.execute(f"PRAGMA {pragma}")
    return connection


def _prepare(connection: sqlite3.Connection, name: str) -> None:
    version = version_of(connection, name)
    if name != MEMORY:
        connection.execute("PRAGMA synchronous = FULL")
        log = "WAL" if sqlite3.sqlite_version_info >= SAFE_LOG else "TRUNCATE"
        connection.execute(f"PRAGMA journal_mode = {log}")
    if version == VERSION:
        return
    with transaction(connection):
        if version == 0:
            make_tables(connection)
        else:
            migrate(connection, version)


@contextmanager
def _described(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise InputError(f"{path} cannot be used as a store: {error}; choose another file.") from error


def _locked(path: Path) -> int | None:
    """Return a lock on the store that lives as long as this process, or until it is let go."""
    usable_path(path)
    if not path.absolute().parent.is_dir():
        raise InputError(f"{path} cannot be written: there is no folder {path.parent}; choose another store.")
    if path.is_dir():
        raise InputError(f"{path} is a folder; choose another store, the name of a file.")
    if fcntl is None:
        return None
    try:
        lock = os.open(f"{path}.lock", os.O_CREAT | os.O_RDWR | getattr(os, "O_NOFOLLOW", 0), 0o600)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}; choose another store.") from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(lock)
        raise InputError(f"another process writes to {path}; wait until it has ended.") from error
    except OSError:  # a file system without locks: SQLite's own is all there is
        pass
    return lock


def _unlock(lock: int | None) -> None:
    if lock is not None:
        with suppress(OSError):
            os.close(lock)
