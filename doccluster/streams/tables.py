"""What a store says of a moment, as three tables: documents, stories, lineage; row by row, or whole."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from doccluster.corpus.dates import iso_date
from doccluster.errors import InputError
from doccluster.streams.article import Moment, as_moment, as_text
from doccluster.streams.corrections import names_at
from doccluster.streams.settings import DAY

Table = Mapping[str, Sequence[Any]]
Row = tuple[Any, ...]

DOCUMENT_COLUMNS = (
    *("id", "date", "first_seen", "source", "title", "link", "story", "first_story", "family", "similarity"),
)
STORY_COLUMNS = ("id", "label", "state", "born", "last", "documents", "families", "outlets", "parent")
LINEAGE_COLUMNS = ("when", "event", "story", "other", "documents", "similarity", "reason")

LEAD_LENGTH = 160  # characters of a text that stand for a title that is missing

_DOCUMENTS = """
SELECT d.id, d.published, d.first_seen, d.source, d.title, d.link, m.story_id, d.first_story, f.doc_key AS family,
    d.similarity
FROM membership m JOIN document d USING (doc_id) LEFT JOIN document f ON f.number = d.family
WHERE m.from_batch <= :batch AND (m.to_batch IS NULL OR m.to_batch > :batch) AND (m.from_batch > :since OR EXISTS
    (SELECT 1 FROM document_version v JOIN batch b ON b.batch_id = :since
    WHERE v.doc_id = d.doc_id AND v.seen > b.moment))
ORDER BY d.number
"""
_STORIES = """
SELECT s.story_id, s.parent, s.born, COUNT(*) AS documents, COUNT(DISTINCT d.family) AS families,
    COUNT(DISTINCT NULLIF(d.source, '')) AS outlets, MAX(d.published) AS last,
    (SELECT l.doc_id FROM story_lead l WHERE l.story_id = s.story_id AND l.from_batch <= :batch
        ORDER BY l.from_batch DESC LIMIT 1) AS lead,
    (SELECT e.event FROM lineage e WHERE e.story_id = s.story_id AND e.batch_id <= :batch AND e.event = 'closed')
        AS ended
FROM membership m JOIN story s USING (story_id) JOIN document d USING (doc_id)
WHERE m.from_batch <= :batch AND (m.to_batch IS NULL OR m.to_batch > :batch)
GROUP BY s.story_id ORDER BY ended IS NOT NULL, documents DESC, s.born, s.story_id
"""
_MERGED = """
SELECT s.story_id, s.parent, s.born, e.story_id AS into_story, e.moment
FROM lineage e JOIN story s ON s.story_id = e.other_id
WHERE e.event = 'merged' AND e.batch_id <= :batch AND NOT EXISTS (SELECT 1 FROM lineage later
    WHERE later.other_id = e.other_id AND later.event IN ('merged', 'split') AND later.seq > e.seq
    AND later.batch_id <= :batch)
ORDER BY s.born, s.story_id
"""
_LINEAGE = """
SELECT moment, event, story_id, other_id, n_documents, similarity, reason FROM lineage
WHERE batch_id <= :batch AND batch_id > :since ORDER BY batch_id, seq
"""


@dataclass(frozen=True, eq=False)
class StreamTables:
    """The tables of a stream at one moment.

    Attributes
    ----------
    moment : int or None
        What the stream's clock says, or the last batch up to a moment that was asked for; None for a store without any.
    documents : mapping of column to list
        id, date, first_seen, source, title, link, story, first_story, family, similarity, in the order in which they
        were placed; family is the key of the first document with its text.
    stories : mapping of column to list
        id, label, state, born, last, documents, families, outlets, parent: the open ones, those with most documents
        first, then the closed ones in the same order, then those that have become part of another.
    lineage : mapping of column to list
        when, event, story, other, documents, similarity, reason, in the order in which it happened.
    """

    moment: Moment | None
    documents: Table
    stories: Table
    lineage: Table


def batch_at(connection: sqlite3.Connection, at: str | Moment | None) -> tuple[int, Moment | None]:
    """Return the last batch at a moment (the last of all if None), and its moment; 0 if there is none."""
    moment = at if at is None or isinstance(at, int) else as_moment(iso_date(at))
    if at is not None and moment is None:
        raise InputError(f"at={at!r} is not a moment; give ISO 8601, such as 2026-03-02T08:00:00Z.")
    row = connection.execute(
        "SELECT batch_id, IIF(?1 IS NULL, clock, moment) FROM batch WHERE ?1 IS NULL OR moment <= ?1"
        " ORDER BY batch_id DESC LIMIT 1",
        (moment,),
    ).fetchone()
    return (0, None) if row is None else (int(row[0]), int(row[1]))


def batch_since(connection: sqlite3.Connection, since: str | Moment | None, now: Moment) -> tuple[int, Moment]:
    """Return the last batch that is not new, and its moment (the moment given, if one is); None: a day before `now`."""
    if isinstance(since, str) and since.isdecimal():
        number = int(since) if len(since) < 19 else -1  # more digits than SQLite's numbers have
        row = connection.execute("SELECT batch_id, moment FROM batch WHERE batch_id = ?", (number,)).fetchone()
        if row is not None:
            return int(row[0]), int(row[1])
        if len(since) != 4:  # else it is a year
            raise InputError(f"since={since!r} is not a batch of the store; give a moment or another number.")
    moment = now - DAY if since is None else since if isinstance(since, int) else as_moment(iso_date(since))
    if moment is None:
        raise InputError(f"since={since!r} is neither a moment nor a batch; give for instance 2026-03-02T08:00:00Z.")
    row = connection.execute("SELECT MAX(batch_id) FROM batch WHERE moment <= ?", (moment,)).fetchone()
    return int(row[0] or 0), moment


def read_tables(connection: sqlite3.Connection, *, at: str | Moment | None = None) -> StreamTables:
    """Return the tables of a store as it is, or as it was at a moment."""
    batch, moment = batch_at(connection, at)
    documents, stories, lineage = (
        _columns(names, rows(connection, batch))
        for names, rows in (
            (DOCUMENT_COLUMNS, document_rows),
            (STORY_COLUMNS, story_rows),
            (LINEAGE_COLUMNS, lineage_rows),
        )
    )
    return StreamTables(moment, documents, stories, lineage)


def document_rows(connection: sqlite3.Connection, batch: int, since: int = 0) -> Iterator[Row]:
    """Yield the documents as they were after a batch, in the order in which they were placed.

    `since` leaves out those that have neither moved nor changed after that batch.
    """
    for name, published, first_seen, *rest in connection.execute(_DOCUMENTS, {"batch": batch, "since": since}):
        yield (name, as_text(published), as_text(first_seen), *rest)


def story_rows(connection: sqlite3.Connection, batch: int) -> Iterator[Row]:
    """Yield the stories as they were after a batch: the open ones, the closed ones, then those that were merged."""
    names = names_at(connection, "rename", batch)
    for story, parent, born, documents, families, outlets, last, lead, ended in connection.execute(
        _STORIES, {"batch": batch}
    ):
        label = names.get(story) or label_of(connection, lead)
        yield (story, label, ended or "open", as_text(born), as_text(last), documents, families, outlets, parent)
    for story, parent, born, into, moment in connection.execute(_MERGED, {"batch": batch}):
        yield (story, "", "merged", as_text(born), as_text(moment), 0, 0, 0, into or parent)


def lineage_rows(connection: sqlite3.Connection, batch: int, since: int = 0) -> Iterator[Row]:
    """Yield what has happened up to a batch and after another, in order."""
    for moment, *rest in connection.execute(_LINEAGE, {"batch": batch, "since": since}):
        yield (as_text(moment), *rest)


def _columns(names: Sequence[str], rows: Iterable[Row]) -> Table:
    columns: dict[str, list[Any]] = {name: [] for name in names}
    for row in rows:
        for column, value in zip(columns.values(), row, strict=True):
            column.append(value)
    return columns


def label_of(connection: sqlite3.Connection, doc_id: int | None) -> str:
    """Return the name of a story: the title of the document that names it, else how that begins."""
    row = connection.execute(
        f"SELECT title, SUBSTR(plain(text), 1, {LEAD_LENGTH}) FROM document WHERE doc_id = ?", (doc_id,)
    )
    found = row.fetchone()
    return "" if found is None else " ".join((found[0] or found[1]).split())
