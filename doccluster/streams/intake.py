"""Articles into the store: each is new, known, seen elsewhere, or edited; none is ever counted twice."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from doccluster.stories.cleaning import outlet_of
from doccluster.stories.words import MOST_CHARACTERS
from doccluster.streams.article import BEGINNING, Article, Moment, document_key, text_hash
from doccluster.streams.database import packed

SAME_WITHIN = 30 * 86400  # seconds between two entries of one address that can be versions of one article
YOUNG = 86400  # seconds from its date on in which an article that is edited is filed anew
LEAST_SHARED = 0.5  # Jaccard index of the words of two titles that can be of one article


@dataclass(frozen=True)
class Intake:
    """What became of an article: new, known, elsewhere (known from another source) or edited; and its document."""

    outcome: str
    doc_id: int


def take_in(connection: sqlite3.Connection, article: Article, seen: Moment) -> Intake:
    """Put an article into the store, inside a transaction of the caller.

    An entry is known by its guid within its source, then by its key (of its link, else its guid, else its words). A
    known guid with another link and another title is another article.
    """
    known = _by_guid(connection, article)
    if known is None:
        known = connection.execute("SELECT doc_id FROM document WHERE doc_key = ?", (article.key,)).fetchone()
        if known is not None and not _can_be_version(connection, known[0], article):
            article = _renamed(article)
            known = connection.execute("SELECT doc_id FROM document WHERE doc_key = ?", (article.key,)).fetchone()
    if known is None:
        doc_id = _insert(connection, article, seen)
        _sight(connection, article, doc_id, seen)
        return Intake("new", doc_id)
    doc_id = int(known[0])
    is_elsewhere = _sight(connection, article, doc_id, seen)
    if is_elsewhere:
        return Intake("elsewhere", doc_id)
    return Intake("edited" if _edit(connection, article, doc_id, seen) else "known", doc_id)


def _by_guid(connection: sqlite3.Connection, article: Article) -> tuple[int] | None:
    if not article.guid:
        return None
    row = connection.execute(
        "SELECT d.doc_id, d.link, d.title FROM sighting s JOIN document d USING (doc_id)"
        " WHERE s.source = ? AND s.guid = ?",
        (article.source, article.guid),
    ).fetchone()
    if row is None:
        return None
    is_same = (article.link and article.link == row[1]) or (article.title and article.title == row[2])
    return (int(row[0]),) if is_same else None


def _can_be_version(connection: sqlite3.Connection, doc_id: int, article: Article) -> bool:
    """Return whether an article with the key of a document is that document: the same text, or near in time and title.

    Where one of the two has no title, the beginnings of the texts are compared.
    """
    title, text, published, known_hash = connection.execute(
        "SELECT title, plain(text), published, text_hash FROM document WHERE doc_id = ?", (doc_id,)
    ).fetchone()
    if known_hash == text_hash(article.title, article.text):
        return True
    pair = (title, article.title) if title and article.title else (text[:BEGINNING], article.text[:BEGINNING])
    return abs(article.time - published) <= SAME_WITHIN and _shared(*pair) >= LEAST_SHARED


def _shared(one: str, other: str) -> float:
    """Return the Jaccard index of the words of two texts."""
    here, there = (set(text.casefold().split()) for text in (one, other))
    return len(here & there) / max(1, len(here | there))


def _renamed(article: Article) -> Article:
    """Return an article whose link another article had before, under the key of its words."""
    key = document_key(link="", guid="", source="", title=article.title, text=article.text)
    return Article(key, *(getattr(article, name) for name in Article.__slots__[1:]))


def _insert(connection: sqlite3.Connection, article: Article, seen: Moment) -> int:
    row = connection.execute(
        "INSERT INTO document (doc_key, id, published, date, first_seen, language, source, link, guid, title, text,"
        " text_hash, n_versions, outlet) VALUES (?, ?, ?, ?, ?, '', ?, ?, ?, ?, ?, ?, 1, ?)",
        (
            article.key,
            article.id,
            article.time,
            article.date,
            seen,
            article.source,
            article.link,
            article.guid,
            article.title,
            packed(article.text),
            text_hash(article.title, article.text),
            outlet_of(article.source),
        ),
    )
    assert row.lastrowid is not None
    return row.lastrowid


def _sight(connection: sqlite3.Connection, article: Article, doc_id: int, seen: Moment) -> bool:
    """Record where an article was met; return whether its document is known from other sources only."""
    guid = article.guid or article.key
    places = connection.execute("SELECT source FROM sighting WHERE doc_id = ?", (doc_id,)).fetchall()
    # where the guid was another document's, that one stays known by its key
    connection.execute(
        "UPDATE OR REPLACE sighting SET guid = (SELECT doc_key FROM document d WHERE d.doc_id = sighting.doc_id)"
        " WHERE source = ? AND guid = ? AND doc_id <> ?",
        (article.source, guid, doc_id),
    )
    connection.execute(
        "INSERT INTO sighting VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING", (article.source, guid, doc_id, seen)
    )
    return bool(places) and (article.source,) not in places


def _edit(connection: sqlite3.Connection, article: Article, doc_id: int, seen: Moment) -> bool:
    """Keep the former text of a document as a version, if the new one differs; return whether it does.

    A young one that shares less than half of its words with what it was is filed anew by the next batch.
    """
    new_hash = text_hash(article.title, article.text)
    title, text, old_hash, n_versions, published = connection.execute(
        "SELECT title, plain(text), text_hash, n_versions, published FROM document WHERE doc_id = ?", (doc_id,)
    ).fetchone()
    if new_hash == old_hash:
        return False
    earlier = connection.execute(
        "SELECT 1 FROM document_version WHERE doc_id = ? AND text_hash = ?", (doc_id, new_hash)
    ).fetchone()
    if earlier is not None:  # a copy of an older state, such as a feed that lags behind another
        return False
    connection.execute(
        "INSERT INTO document_version VALUES (?, ?, ?, ?, ?, ?)",
        (doc_id, n_versions, seen, title, packed(text), old_hash),
    )
    before, after = (
        f"{one}\n{other[:MOST_CHARACTERS]}" for one, other in ((title, text), (article.title, article.text))
    )
    is_edited = seen <= published + YOUNG and _shared(before, after) < LEAST_SHARED
    connection.execute(
        "UPDATE document SET title = ?, text = ?, text_hash = ?, n_versions = ?, is_edited = is_edited | ?"
        " WHERE doc_id = ?",
        (article.title, packed(article.text), new_hash, n_versions + 1, is_edited, doc_id),
    )
    connection.execute(  # what an outlet repeats is read anew
        "INSERT INTO meta VALUES ('n_edits', '1') ON CONFLICT DO UPDATE SET value = CAST(value AS INTEGER) + 1"
    )
    return True
