"""Articles into the store: each is new, known, seen elsewhere, or edited; none is ever counted twice."""

from __future__ import annotations

import sqlite3
from dataclasses import asdict, replace

from doccluster.stories.words import MAX_CHARACTERS, outlet_of
from doccluster.streams.article import BEGINNING, Article, Moment, document_key, text_hash
from doccluster.streams.store.database import packed, read_column

SAME_WITHIN = 30 * 86400  # seconds between two entries of one address that can be versions of one article
YOUNG = 86400  # seconds from its date on in which an article that is edited is filed anew
MIN_SHARED = 0.5  # Jaccard index of the words of two titles that can be of one article
_OF_GUID = """
SELECT doc_id FROM sighting s JOIN document d USING (doc_id) WHERE s.source = ? AND s.guid = NULLIF(?, '')
    AND (d.link = NULLIF(?, '') OR d.title = NULLIF(?, ''))
"""
_NEW = """
INSERT INTO document (doc_key, id, published, date, first_seen, language, source, link, guid, title, text, text_hash,
    n_versions, outlet)
VALUES (:key, :id, :time, :date, :now, '', :source, :link, :guid, :title, :text, :hash, 1, :outlet) RETURNING doc_id
"""


def take_in(connection: sqlite3.Connection, article: Article, now: Moment) -> str:
    """Put an article into the store, inside a transaction of the caller; return what became of it.

    That is new, known, elsewhere (known from another source) or edited.

    An entry is known by its guid within its source, then by its key (of its link, else its guid, else its words). A
    known guid with another link and another title is another article.
    """
    documents = read_column(connection, _OF_GUID, article.source, article.guid, article.link, article.title)
    if not documents:
        documents = _documents_of_key(connection, article)
        if documents and not _can_be_version(connection, documents[0], article):
            # another article had its link before
            key = document_key(link="", guid="", source="", title=article.title, text=article.text)
            article = replace(article, key=key)
            documents = _documents_of_key(connection, article)
    if documents:
        is_elsewhere = _sight(connection, article, documents[0], now)
        is_edited = not is_elsewhere and _edit(connection, article, documents[0], now)
        return "elsewhere" if is_elsewhere else "edited" if is_edited else "known"
    (document,) = connection.execute(
        _NEW,
        asdict(article)
        | {"now": now, "text": packed(article.text), "hash": text_hash(article.title, article.text)}
        | {"outlet": outlet_of(article.source)},
    ).fetchone()
    _sight(connection, article, document, now)
    return "new"


def _documents_of_key(connection: sqlite3.Connection, article: Article) -> list[int]:
    return read_column(connection, "SELECT doc_id FROM document WHERE doc_key = ?", article.key)


def _can_be_version(connection: sqlite3.Connection, document: int, article: Article) -> bool:
    """Return whether an article of the key of a document is that one: the same text, or near in time and title."""
    title, text, published, full_hash = connection.execute(
        "SELECT title, plain(text), published, text_hash FROM document WHERE doc_id = ?", (document,)
    ).fetchone()
    if full_hash == text_hash(article.title, article.text):
        return True
    pair = (title, article.title) if title and article.title else (text[:BEGINNING], article.text[:BEGINNING])
    return abs(article.time - published) <= SAME_WITHIN and _shared(*pair) >= MIN_SHARED


def _shared(text: str, other_text: str) -> float:
    """Return the Jaccard index of the words of two texts."""
    here, there = set(text.casefold().split()), set(other_text.casefold().split())
    return len(here & there) / max(1, len(here | there))


def _sight(connection: sqlite3.Connection, article: Article, document: int, now: Moment) -> bool:
    """Record where an article was met; return whether its document is known from other sources only."""
    guid = article.guid or article.key
    sources = read_column(connection, "SELECT source FROM sighting WHERE doc_id = ?", document)
    # where the guid was another document's, that one stays known by its key
    connection.execute(
        "UPDATE OR REPLACE sighting SET guid = (SELECT doc_key FROM document d WHERE d.doc_id = sighting.doc_id)"
        " WHERE source = ? AND guid = ? AND doc_id <> ?",
        (article.source, guid, document),
    )
    connection.execute(
        "INSERT INTO sighting VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING", (article.source, guid, document, now)
    )
    return bool(sources) and article.source not in sources


def _edit(connection: sqlite3.Connection, article: Article, document: int, now: Moment) -> bool:
    """Keep the former text of a document as a version, if the new one differs; return whether it does."""
    title, text, former_hash, n_versions, published = connection.execute(
        "SELECT title, plain(text), text_hash, n_versions, published FROM document WHERE doc_id = ?", (document,)
    ).fetchone()
    new_hash = text_hash(article.title, article.text)
    # an older state is a copy, such as from a feed that lags behind another
    earlier = read_column(connection, "SELECT text_hash FROM document_version WHERE doc_id = ?", document)
    if new_hash in (former_hash, *earlier):
        return False
    connection.execute(
        "INSERT INTO document_version VALUES (?, ?, ?, ?, ?, ?)",
        (document, n_versions, now, title, packed(text), former_hash),
    )
    before, after = f"{title}\n{text[:MAX_CHARACTERS]}", f"{article.title}\n{article.text[:MAX_CHARACTERS]}"
    is_edited = now <= published + YOUNG and _shared(before, after) < MIN_SHARED
    connection.execute(
        "UPDATE document SET title = ?, text = ?, text_hash = ?, n_versions = ?, is_edited = is_edited | ?"
        " WHERE doc_id = ?",
        (article.title, packed(article.text), new_hash, n_versions + 1, is_edited, document),
    )
    connection.execute(  # what an outlet repeats is read anew
        "INSERT INTO meta VALUES ('n_edits', '1') ON CONFLICT DO UPDATE SET value = CAST(value AS INTEGER) + 1"
    )
    return True
