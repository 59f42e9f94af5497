"""A store opened safely, to read or to change it, and checked: SQLite looks at its file, tables and references.

There is one writer, and nothing in a store is trusted more than it must be; the rest of the check is what only this
program knows.
"""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from doccluster.base.paths import locked, usable_path
from doccluster.errors import DocclusterError, InputError, SchemaError
from doccluster.streams.article import BEGINNING, document_key, story_id, text_hash
from doccluster.streams.store.batches import read_meta, restored
from doccluster.streams.store.database import VERSION, make_tables, read_texts, shape_of, transaction, version_of

BUSY_SECONDS = 30
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
    """Return a connection to a store, made if it is not there, and the lock that this process holds on it."""
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


def _connect(name: str) -> sqlite3.Connection:
    connection = sqlite3.connect(name, uri=name.startswith("file:"), isolation_level=None, timeout=BUSY_SECONDS)
    read_texts(connection)
    for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "foreign_keys = ON"):
        connection.execute(f"PRAGMA {pragma}")
    return connection


def _connect_to_read(path: Path) -> sqlite3.Connection:
    """Return a connection to the last whole state; what a killed writer left is undone, there or in a copy."""
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
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in _NOT_THE_STORE:
            remedy = "free some space and try again" if code == sqlite3.SQLITE_FULL else "choose another file"
            raise InputError(f"{path} cannot be used as a store: {error}; {remedy}.") from error
        raise _damaged(path, str(error)) from error
    except UnicodeDecodeError as error:  # of a name in the schema, which SQLite repeats in a message
        raise _damaged(path, "it holds text that is not UTF-8") from error
    except Exception as error:
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
    try:
        return locked(Path(f"{path}.lock"))
    except BlockingIOError as error:
        raise InputError(f"another process writes to {path}; wait until it has ended.") from error
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}; choose another store.") from error


def _unlock(lock: int | None) -> None:
    if lock is not None:
        with suppress(OSError):
            os.close(lock)


# a query of what is wrong, or what yields it
Look = str | Callable[[sqlite3.Connection], Iterator[str]]
_INTEGRITY = "SELECT integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok'"
_REFERENCE = """
SELECT IIF("rowid" IS NULL, 'a row', 'row ' || "rowid") || ' of ' || "table" || ' refers to nothing in ' || parent
FROM pragma_foreign_key_check
"""
_RULES = {
    "placed": "SELECT 'document ' || doc_id || ' was placed, and is in no story, or in another than its lineage begins"
    " with' FROM document d WHERE number IS NOT NULL AND NOT EXISTS (SELECT 1 FROM lineage e WHERE e.doc_id = d.doc_id"
    " AND e.event IN ('born', 'grew') AND e.story_id = d.first_story AND e.batch_id = d.batch_id)",
    "sighting": "SELECT 'document ' || doc_id || ' was never met' FROM document"
    " WHERE doc_id NOT IN (SELECT doc_id FROM sighting)",
    "family": "SELECT 'document ' || doc_id || ' is of a family that there is not' FROM document d WHERE number > 0"
    " AND family NOT IN (SELECT number FROM document f WHERE f.number = f.family)",
    "version": "SELECT 'document ' || doc_id || ' has not the versions that it should have' FROM document d WHERE"
    " (SELECT COUNT(*) FROM document_version v WHERE v.doc_id = d.doc_id AND v.version < d.n_versions)"
    " NOT IN (n_versions - 1, IIF(number IS NULL, n_versions - 1, 0))",  # of old ones they are deleted
    "lead": "SELECT 'story ' || story_id || ' is not named by the article that is said to' FROM story s"
    " WHERE (state <> 'merged' OR lead <> 0) AND NOT EXISTS (SELECT 1 FROM document d WHERE d.number = s.lead AND"
    " d.doc_id = (SELECT l.doc_id FROM story_lead l WHERE l.story_id = s.story_id ORDER BY l.from_batch DESC LIMIT 1))"
    " UNION SELECT 'story ' || m.story_id || ' has no name in batch ' || m.from_batch FROM membership m WHERE NOT"
    " EXISTS (SELECT 1 FROM story_lead l WHERE l.story_id = m.story_id AND l.from_batch <= m.from_batch)"
    " UNION SELECT 'story ' || story_id || ' is named by an article that was not in it' FROM story_lead l"
    " WHERE NOT EXISTS (SELECT 1 FROM membership m WHERE m.doc_id = l.doc_id AND m.story_id = l.story_id"
    " AND m.from_batch <= l.from_batch AND (m.to_batch IS NULL OR m.to_batch > l.from_batch))",
    "lineage": "SELECT 'story ' || story_id || ' is ' || state || ', by its lineage it is not' FROM story s"
    " WHERE (state <> 'merged' AND (state = 'closed') <> (SELECT COUNT(*) FROM lineage e WHERE e.event = 'closed'"
    " AND e.story_id = s.story_id)) OR (state <> 'merged') <> (SELECT COALESCE(SUM(IIF(event = 'merged', -1, 1)), 0)"
    " FROM lineage e WHERE (e.event = 'born' AND e.story_id = s.story_id)"
    " OR (e.event IN ('split', 'merged') AND e.other_id = s.story_id)) UNION SELECT 'line ' || seq || ' names a story"
    " that there is not' FROM lineage WHERE other_id <> '' AND other_id NOT IN (SELECT story_id FROM story)",
    "feed": "SELECT 'feed ' || feed_id || ' leaves out hours or days that there are not' FROM feed"
    " WHERE NOT (json_valid(skip_hours) AND json_valid(skip_days))",
    "correction": "SELECT 'correction ' || batch_id || ' names documents that there are not' FROM correction c WHERE"
    " EXISTS (SELECT 1 FROM (SELECT value FROM json_each(c.documents) UNION SELECT value FROM json_each(c.together)"
    " UNION SELECT value FROM json_each(c.apart)) WHERE value NOT IN (SELECT doc_id FROM document WHERE number > 0))",
}
_META = frozenset(
    (
        *("settings", "next_number", "desks", "languages", "models", "confirmed", "n_edits", "late", "untold"),
        *("retention", "pruned_day"),
    )
)
_HASH = re.compile("[0-9a-f]{20}")
_TEXTS = """
SELECT doc_id, n_versions, number IS NOT NULL, doc_key, source, link, guid, title, plain(text), text_hash FROM document
"""
_VERSIONS = "SELECT doc_id, version, title, plain(text), text_hash FROM document_version"
# the lineage, folded from the start, gives the membership at every batch
_HISTORY = """
WITH placed AS (SELECT doc_id, batch_id, seq, event, story_id, other_id,
    LAG(story_id, 1, '') OVER (PARTITION BY doc_id ORDER BY batch_id, seq) AS former FROM lineage WHERE doc_id > 0),
folded AS (SELECT doc_id, story_id, batch_id, LEAD(batch_id) OVER (PARTITION BY doc_id ORDER BY batch_id)
    FROM (SELECT doc_id, story_id, batch_id, MAX(seq) FROM placed GROUP BY doc_id, batch_id)),
there AS (SELECT doc_id, story_id, from_batch, to_batch FROM membership)
SELECT 'document ' || doc_id || ' is in ' || IIF(former = '', 'no story', former) || ' when it has ' || event
FROM placed WHERE former <> other_id
UNION SELECT 'document ' || doc_id || ' was not in the stories, or not as long, as by its lineage'
FROM (SELECT * FROM (SELECT * FROM folded EXCEPT SELECT * FROM there)
    UNION SELECT * FROM (SELECT * FROM there EXCEPT SELECT * FROM folded))
UNION SELECT 'story ' || story_id || ' has not the ' || n_documents || ' documents of its row' FROM story s
WHERE state <> 'merged'
    AND n_documents <> (SELECT COUNT(*) FROM membership m WHERE m.story_id = s.story_id AND m.to_batch IS NULL)
UNION SELECT 'story ' || story_id || ' has documents, and has ended in another or is not there' FROM there
WHERE to_batch IS NULL AND story_id NOT IN (SELECT story_id FROM story WHERE state <> 'merged')
"""


@dataclass(frozen=True)
class Finding:
    """Something wrong with a store: which check found it, and what."""

    check: str
    detail: str


def check_store(connection: sqlite3.Connection) -> list[Finding]:
    """Return the faults of a store: of its file and tables, else of references, rows, texts and its history."""
    findings = _findings("integrity", _INTEGRITY, connection) + _findings("tables", _table_faults, connection)
    if findings:  # what is said of rows would only follow from that
        return findings
    looks: list[tuple[str, Look]] = [("reference", _REFERENCE), ("text", _text_faults), ("memory", _memory_faults)]
    looks += [("lineage", _HISTORY), *_RULES.items()]
    return [finding for name, look in looks for finding in _findings(name, look, connection)]


def _findings(name: str, look: Look, connection: sqlite3.Connection) -> list[Finding]:
    """Return the findings of one look; what it cannot read is a finding too."""
    findings = []
    try:
        for fault in look(connection) if callable(look) else (row[0] for row in connection.execute(look)):
            findings.append(Finding(name, " ".join(fault.split())))  # stays, also where the next one cannot be read
    except Exception as error:  # noqa: BLE001  no list of what damaged rows raise is ever complete
        findings.append(Finding(name, f"it cannot be read: {' '.join(str(error).split()) or type(error).__name__}"))
    return findings


def _table_faults(connection: sqlite3.Connection) -> Iterator[str]:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version < VERSION:
        yield f"they are of version {version}; `doccluster stream upgrade` makes them {VERSION}"
        return
    with closing(sqlite3.connect(":memory:")) as fresh:
        make_tables(fresh)
        expected = shape_of(fresh)
    there = shape_of(connection)
    yield from (
        f"the {name} is not as in a store" for name in expected | there if expected.get(name) != there.get(name)
    )
    for name in expected.keys() & there.keys():
        if name.startswith("table "):
            for _ in connection.execute(f"SELECT * FROM {name.removeprefix('table ')}"):
                pass  # reads every text, which has to be one


def _text_faults(connection: sqlite3.Connection) -> Iterator[str]:
    firsts: dict[int, tuple[str, str]] = {}
    for doc_id, version, title, text, kept_hash in connection.execute(_VERSIONS):
        if version == 1:
            firsts[doc_id] = (title, text)
        if text_hash(title, text) != kept_hash:
            yield f"version {version} of document {doc_id} has not the text that it came with"
    for doc_id, n_versions, is_placed, key, source, link, guid, title, text, kept_hash in connection.execute(_TEXTS):
        is_whole = text_hash(title, text) == kept_hash
        is_cut = not text or (not title and len(text) <= BEGINNING)
        if not is_whole and not (is_placed and is_cut and _HASH.fullmatch(kept_hash)):
            yield f"document {doc_id} has not the text that it came with"
        first = firsts.get(doc_id) if n_versions > 1 else (title, text) if is_whole else None
        if first is not None and key not in (
            document_key(link=link, guid=guid, source=source, title=first[0], text=first[1]),
            document_key(link="", guid="", source="", title=first[0], text=first[1]),  # its link was another's
        ):
            yield f"document {doc_id} has a key that is not its own"
    keys = {key for (key,) in connection.execute("SELECT doc_key FROM document")}
    for name, founder, born in connection.execute("SELECT story_id, founder, born FROM story"):
        if founder not in keys or name not in (story_id(founder), story_id(founder, born)):
            yield f"story {name} has an id that is not of a founder"


def _memory_faults(connection: sqlite3.Connection) -> Iterator[str]:
    """Yield what a batch cannot go on from; where it cannot be read, the error says why."""
    for key in sorted(read_meta(connection).keys() - _META):
        yield f"{key!r} is nothing that is kept"
    n_placed = restored(connection).next_number - 1
    (n_numbers, highest) = connection.execute("SELECT COUNT(DISTINCT number), MAX(number) FROM document").fetchone()
    if not n_placed == n_numbers == (highest or 0):
        yield f"the next number is {n_placed + 1}, with {n_numbers} documents placed"
