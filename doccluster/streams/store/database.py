"""A SQLite file opened safely: our own tables, one writer, and nothing in it trusted more than it must be."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from doccluster.base.paths import usable_path
from doccluster.errors import DocclusterError, InputError, SchemaError
from doccluster.streams.store.schema import VERSION, make_tables, version_of

try:
    import fcntl
except ImportError:  # Windows: SQLite's own lock is all there is
    fcntl = None  # type: ignore[assignment]

BUSY_SECONDS = 30
LONG = 400  # characters of a text from which on it is kept compressed
MOST_BYTES = 1 << 26  # of a text, whatever a stranger's store says
# before it, two connections to one file could lose a write-ahead log that was being reset (sqlite.org/wal.html)
SAFE_LOG = (3, 51, 3)
MEMORY = ":memory:"
# no database at all, or what is wrong is the disk, the folder, or another process
_NOT_THE_STORE = frozenset(
    (
        sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_PERM, sqlite3.SQLITE_NOMEM,
    )
)  # fmt: skip
_NOT_WRITTEN = frozenset(
    (sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR_WRITE)
)

# a reader may not undo what is half done, or not write beside the store
_NOTHING_WRITTEN = frozenset((sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR))


def open_to_write(path: Path | None, *, oldest: int = VERSION) -> tuple[sqlite3.Connection, int | None]:
    """Return a connection to a store, made if it is not there, and the lock that this process holds on it.

    Raises InputError if the file cannot be opened, or another process writes to it. Raises SchemaError if it is not a
    store, or one of another version, from `oldest` on.
    """
    if path is None:
        connection = _connect(MEMORY)
        _prepare(connection, MEMORY)
        return connection, None
    lock = _locked(path)
    try:
        with described(path):
            connection = _connect(f"{path.resolve().as_uri()}?mode=rwc")
            _prepare(connection, str(path), oldest)
    except BaseException:
        _unlock(lock)
        raise
    return connection, lock


def open_to_read(path: Path) -> sqlite3.Connection:
    """Return a connection that can change nothing; the store may be one that a stranger gave."""
    check_is_there(path)
    with described(path):
        connection = _connect_to_read(path)
        connection.execute("PRAGMA query_only = ON")
        version = version_of(connection, str(path))
    if version == 0:
        raise InputError(f"{path} is empty; fill it with `doccluster stream poll` or `stream replay`.")
    return connection


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a store to read one state of it; what goes wrong inside because it is damaged comes out as a sentence."""
    connection = open_to_read(path)
    with closing(connection), described(path, connection):
        connection.execute("BEGIN")  # all that is read is of one moment, whatever is written meanwhile
        yield connection


@contextmanager
def changing(path: Path, *, oldest: int = VERSION) -> Iterator[sqlite3.Connection]:
    """Open a store that is there, of version `oldest` at least, to write to it; errors come out as in `reading`."""
    check_is_there(path)
    connection, lock = open_to_write(path, oldest=oldest)
    try:
        with described(path, connection):
            yield connection
    finally:
        close(connection, lock)


def check_is_there(path: Path) -> None:
    """Raise InputError if there is no store."""
    if not path.is_file():
        raise InputError(f"there is no store {path}; make one with `doccluster stream poll` or `stream replay`.")


def close(connection: sqlite3.Connection, lock: int | None) -> None:
    """Close a store and release its lock."""
    connection.close()
    _unlock(lock)


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


def copied(connection: sqlite3.Connection) -> sqlite3.Connection:
    """Return a copy of a store as it is at this moment, in a file of SQLite's own, which is gone when it is closed."""
    copy = _connect("")
    connection.backup(copy)
    return copy


def back_up(connection: sqlite3.Connection, path: Path) -> None:
    """Write a copy of a store as it is at this moment, also while another process writes to it."""
    try:
        with closing(sqlite3.connect(path)) as copy:
            connection.backup(copy)
            # so that it can be read where nothing can be written beside it
            copy.execute("PRAGMA journal_mode = DELETE")
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorcode", 0) not in _NOT_WRITTEN:
            raise
        raise InputError(
            f"the copy {path.name} cannot be written: {error}", remedy="free some space, or choose another place"
        ) from error


def packed(text: str) -> str | bytes:
    """Return a text as the store keeps it: a long one compressed, which `plain(text)` in a statement undoes."""
    return text if len(text) < LONG else zlib.compress(text.encode("utf-8", "surrogatepass"))


def read_texts(connection: sqlite3.Connection) -> None:
    """Let statements read the texts of a store."""
    connection.create_function("plain", 1, _plain, deterministic=True)


def _plain(packed_text: str | bytes) -> str:
    if isinstance(packed_text, str):
        return packed_text
    return zlib.decompressobj().decompress(packed_text, MOST_BYTES).decode("utf-8", "surrogatepass")


def _connect(name: str) -> sqlite3.Connection:
    connection = sqlite3.connect(name, uri=name.startswith("file:"), isolation_level=None, timeout=BUSY_SECONDS)
    read_texts(connection)
    for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "foreign_keys = ON"):
        connection.execute(f"PRAGMA {pragma}")
    return connection


def _connect_to_read(path: Path) -> sqlite3.Connection:
    """Return a connection to the last whole state; what a killed writer left half done is undone, there or in a
    copy.
    """
    try:
        with ExitStack() as stack:
            # where CHECKs are to be looked at too, not read-only, which it is all the same where it has to be
            connection = stack.enter_context(closing(_connect(f"{path.resolve().as_uri()}?mode=rw")))
            connection.execute("SELECT COUNT(*) FROM sqlite_schema").fetchone()  # the first look undoes it
            stack.pop_all()
            return connection
    except sqlite3.OperationalError as error:
        problem = error
        if getattr(error, "sqlite_errorcode", 0) & 0xFF not in _NOTHING_WRITTEN:
            raise
    try:
        with tempfile.TemporaryDirectory() as folder:
            for end in ("", "-journal", "-wal"):
                if Path(f"{path}{end}").exists():
                    shutil.copyfile(f"{path}{end}", Path(folder, f"store{end}"))
            with closing(_connect(str(Path(folder, "store")))) as mended:
                return copied(mended)
    except OSError as error:
        raise InputError(
            f"{path} cannot be read as it is ({problem}), and not copied either ({error.strerror}); run a verb that"
            " writes to it once, such as `doccluster stream upgrade`, as one who may change it."
        ) from error


def _prepare(connection: sqlite3.Connection, name: str, oldest: int = VERSION) -> None:
    version = version_of(connection, name, oldest=oldest)
    if name != MEMORY:
        connection.execute("PRAGMA synchronous = FULL")
        log = "WAL" if sqlite3.sqlite_version_info >= SAFE_LOG else "TRUNCATE"
        connection.execute(f"PRAGMA journal_mode = {log}")
    if version == 0:
        with transaction(connection):
            make_tables(connection)


@contextmanager
def described(path: Path, connection: sqlite3.Connection | None = None) -> Iterator[None]:
    """Let what goes wrong inside because of a store come out as an error that says what to do.

    Errors other than SQLite's are blamed on the store only where a check of `connection` finds it damaged.
    """
    try:
        yield
    except DocclusterError:
        raise
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in _NOT_THE_STORE:
            raise InputError(f"{path} cannot be used as a store: {error}; choose another file.") from error
        raise _damaged(path, str(error)) from error
    except UnicodeDecodeError as error:  # of a name in the schema, which SQLite repeats in a message
        raise _damaged(path, "it holds text that is not UTF-8") from error
    except Exception as error:
        from doccluster.streams.store.check import check_store  # which reads a store as others do

        findings = [] if connection is None else check_store(connection)
        if not findings:
            raise
        raise _damaged(path, f"{findings[0].check}, {findings[0].detail}") from error


def _damaged(path: Path, problem: str) -> SchemaError:
    sentence = " ".join(problem.split())
    return SchemaError(
        f"{path} is damaged: {sentence:.300}; `doccluster stream check` lists what is wrong, and a copy that"
        " `doccluster stream backup` made can take its place."
    )


def _locked(path: Path) -> int | None:
    """Return a lock on the store that lives as long as this process, or until it is released."""
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
