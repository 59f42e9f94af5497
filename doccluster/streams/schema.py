"""The tables of a store."""

from __future__ import annotations

import sqlite3

from doccluster.errors import SchemaError

APPLICATION = 0x646F6363  # "docc": marks a SQLite file as a store
VERSION = 8
OLDEST = 6  # stores from this version on can be brought up to date
# what makes the tables of an older version those of this one; `upgrading` fills them
UPGRADE = """
DROP INDEX document_vectors;
DROP INDEX document_shingles;
DROP INDEX story_living;
ALTER TABLE document DROP COLUMN vectors;
ALTER TABLE document DROP COLUMN shingles;
ALTER TABLE document DROP COLUMN in_sums;
ALTER TABLE document DROP COLUMN margin;
ALTER TABLE document ADD COLUMN outlet TEXT NOT NULL DEFAULT '';
ALTER TABLE document ADD COLUMN words BLOB;
ALTER TABLE document ADD COLUMN links BLOB;
ALTER TABLE document ADD COLUMN background REAL NOT NULL DEFAULT 0;
ALTER TABLE story DROP COLUMN split_checked;
ALTER TABLE story DROP COLUMN is_forgotten;
ALTER TABLE lineage ADD COLUMN reason TEXT NOT NULL DEFAULT '';
DROP TABLE term;
CREATE TABLE term (
    language TEXT NOT NULL, number INTEGER NOT NULL, term TEXT NOT NULL, n_articles INTEGER NOT NULL,
    PRIMARY KEY (language, number)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX term_words ON term (language, term);
CREATE INDEX document_words ON document (number) WHERE words IS NOT NULL;
CREATE INDEX document_outlet ON document (outlet, number) WHERE number IS NOT NULL;
CREATE INDEX story_state ON story (state);
"""

TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

-- one clustering of what had come in: the moments at which the partition changed
CREATE TABLE batch (
    batch_id INTEGER PRIMARY KEY, moment INTEGER NOT NULL, kind TEXT NOT NULL, n_documents INTEGER NOT NULL,
    clock INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE feed (
    feed_id INTEGER PRIMARY KEY, url TEXT NOT NULL UNIQUE, title TEXT NOT NULL, category TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('active', 'failing', 'gone')), etag TEXT NOT NULL, last_modified TEXT NOT NULL,
    body_hash TEXT NOT NULL, interval_s INTEGER NOT NULL, next_poll_at INTEGER NOT NULL, failures INTEGER NOT NULL,
    redirect_to TEXT NOT NULL, redirect_seen INTEGER NOT NULL, last_ok_at INTEGER NOT NULL,
    last_full_at INTEGER NOT NULL, last_asked_at INTEGER NOT NULL, reason TEXT NOT NULL
) STRICT;
CREATE TABLE feed_alias (url TEXT PRIMARY KEY, feed_id INTEGER NOT NULL REFERENCES feed) STRICT, WITHOUT ROWID;
CREATE TABLE fetch (
    fetch_id INTEGER PRIMARY KEY, feed_id INTEGER NOT NULL REFERENCES feed, at INTEGER NOT NULL, url TEXT NOT NULL,
    status INTEGER NOT NULL, n_bytes INTEGER NOT NULL, reason TEXT NOT NULL, n_entries INTEGER NOT NULL,
    n_new INTEGER NOT NULL
) STRICT;

CREATE TABLE document (
    doc_id INTEGER PRIMARY KEY, doc_key TEXT NOT NULL UNIQUE, id TEXT NOT NULL, published INTEGER NOT NULL,
    date TEXT NOT NULL, first_seen INTEGER NOT NULL, batch_id INTEGER REFERENCES batch, number INTEGER,
    language TEXT NOT NULL, source TEXT NOT NULL, link TEXT NOT NULL, guid TEXT NOT NULL, title TEXT NOT NULL,
    text ANY NOT NULL, text_hash TEXT NOT NULL, n_versions INTEGER NOT NULL, family INTEGER, first_story TEXT,
    similarity REAL, is_edited INTEGER NOT NULL DEFAULT 0, outlet TEXT NOT NULL DEFAULT '', words BLOB, links BLOB,
    background REAL NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX document_waiting ON document (published, doc_key) WHERE batch_id IS NULL;
CREATE INDEX document_number ON document (number) WHERE number IS NOT NULL;
CREATE INDEX document_family ON document (family);
CREATE INDEX document_words ON document (number) WHERE words IS NOT NULL;
CREATE INDEX document_outlet ON document (outlet, number) WHERE number IS NOT NULL;
CREATE INDEX document_edited ON document (number) WHERE is_edited = 1;

CREATE TABLE document_version (
    doc_id INTEGER NOT NULL REFERENCES document, version INTEGER NOT NULL, seen INTEGER NOT NULL, title TEXT NOT NULL,
    text ANY NOT NULL, text_hash TEXT NOT NULL, PRIMARY KEY (doc_id, version)
) STRICT, WITHOUT ROWID;

-- where a document was met: the same article in several feeds is one document
CREATE TABLE sighting (
    source TEXT NOT NULL, guid TEXT NOT NULL, doc_id INTEGER NOT NULL REFERENCES document, first_seen INTEGER NOT NULL,
    PRIMARY KEY (source, guid)
) STRICT, WITHOUT ROWID;
CREATE INDEX sighting_document ON sighting (doc_id);

CREATE TABLE story (
    story_id TEXT PRIMARY KEY, founder TEXT NOT NULL, born INTEGER NOT NULL, first INTEGER NOT NULL,
    last INTEGER NOT NULL, language TEXT NOT NULL, parent TEXT NOT NULL,
    lead INTEGER NOT NULL, led_at INTEGER NOT NULL, n_documents INTEGER NOT NULL, n_families INTEGER NOT NULL,
    changed INTEGER NOT NULL, state TEXT NOT NULL CHECK (state IN ('open', 'closed', 'merged')),
    touched INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX story_state ON story (state);
-- the document that names a story, from a batch on
CREATE TABLE story_lead (
    story_id TEXT NOT NULL REFERENCES story, from_batch INTEGER NOT NULL REFERENCES batch,
    doc_id INTEGER NOT NULL REFERENCES document, PRIMARY KEY (story_id, from_batch)
) STRICT, WITHOUT ROWID;

-- the partition at every batch: a document is in the story of the row whose batches hold it
CREATE TABLE membership (
    doc_id INTEGER NOT NULL REFERENCES document, story_id TEXT NOT NULL REFERENCES story,
    from_batch INTEGER NOT NULL REFERENCES batch, to_batch INTEGER REFERENCES batch, PRIMARY KEY (doc_id, from_batch)
) STRICT, WITHOUT ROWID;
CREATE INDEX membership_story ON membership (story_id, to_batch);

CREATE TABLE lineage (
    seq INTEGER PRIMARY KEY, batch_id INTEGER NOT NULL REFERENCES batch, moment INTEGER NOT NULL,
    event TEXT NOT NULL, story_id TEXT NOT NULL REFERENCES story, other_id TEXT NOT NULL, n_documents INTEGER NOT NULL,
    similarity REAL NOT NULL, doc_id INTEGER REFERENCES document, reason TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX lineage_batch ON lineage (batch_id);
CREATE INDEX lineage_story ON lineage (story_id);

-- what an editor has said, in lists of doc_id, and in which batch it was taken back; see `corrections`
CREATE TABLE correction (
    batch_id INTEGER PRIMARY KEY REFERENCES batch, verb TEXT NOT NULL, documents TEXT NOT NULL, together TEXT NOT NULL,
    apart TEXT NOT NULL, text TEXT NOT NULL, undone INTEGER REFERENCES batch
) STRICT;

CREATE TABLE term (
    language TEXT NOT NULL, number INTEGER NOT NULL, term TEXT NOT NULL, n_articles INTEGER NOT NULL,
    PRIMARY KEY (language, number)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX term_words ON term (language, term);
"""


def version_of(connection: sqlite3.Connection, name: str, *, oldest: int = VERSION) -> int:
    """Return the version of the tables of a file, 0 for an empty one.

    Raises SchemaError if the file belongs to another program, to a newer version of this one, or to one before
    `oldest`.
    """
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
    if version > VERSION:
        raise SchemaError(
            f"{name} was written by a newer doccluster (tables {version}, this one knows {VERSION}); update doccluster."
        )
    if version < oldest:
        remedy = "fill a new store" if version < OLDEST else "`doccluster stream upgrade` brings it up to date"
        raise SchemaError(
            f"{name} was written by an older doccluster (tables {version}, this one knows {VERSION}); {remedy}."
        )
    return int(version)


def make_tables(connection: sqlite3.Connection) -> None:
    """Make the tables in an empty file; the caller commits."""
    _execute_all(connection, TABLES)
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {VERSION}")


def upgrade_tables(connection: sqlite3.Connection) -> int:
    """Bring the tables of a store up to date, inside a transaction of the caller; return the version they had."""
    (before,) = connection.execute("PRAGMA user_version").fetchone()
    if before == VERSION:
        return VERSION
    has_meaning = connection.execute("SELECT 1 FROM pragma_table_info('document') WHERE name = 'meaning'").fetchone()
    if has_meaning:
        connection.execute("ALTER TABLE document DROP COLUMN meaning")
    _execute_all(connection, UPGRADE)
    connection.execute(f"PRAGMA user_version = {VERSION}")
    return int(before)


def _execute_all(connection: sqlite3.Connection, statements: str) -> None:
    for statement in statements.split(";\n"):
        if statement.strip():
            connection.execute(statement)
