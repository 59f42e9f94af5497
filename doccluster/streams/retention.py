"""What a store keeps for how long: texts go by age, what stories are made of stays."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from doccluster.streams.article import Moment
from doccluster.streams.database import transaction
from doccluster.streams.intake import BEGINNING

# placed long ago, and no batch will ask for its words: not in the sums of a story, nor where copies are looked for
_DONE_WITH = "published < ? AND batch_id IS NOT NULL AND vectors IS NULL AND shingles IS NULL"
# what is kept of a text: where there is no title, the beginning names a story and tells whether an entry is known
_KEPT = f"CASE WHEN title = '' THEN SUBSTR(text, 1, {BEGINNING}) ELSE '' END"


@dataclass(frozen=True)
class Pruned:
    """What was deleted from a store, and how many bytes its file had before and has after that."""

    n_texts: int
    n_versions: int
    n_fetches: int
    n_bytes_before: int
    n_bytes_after: int


def prune(connection: sqlite3.Connection, before: Moment) -> Pruned:
    """Delete what is older than `before` and not needed, and give the room back to the file system.

    Texts and earlier versions go of articles that were published before, once their stories have ended for good; of an
    article without a title the beginning stays. Requests of feeds go that were made before. Everything else stays:
    articles with their keys, so that they are known when they are met again, and every story with its lineage.
    """
    n_bytes = _size(connection)
    with transaction(connection):
        versions = connection.execute(
            f"DELETE FROM document_version WHERE doc_id IN (SELECT doc_id FROM document WHERE {_DONE_WITH})", (before,)
        )
        texts = connection.execute(
            f"UPDATE document SET text = {_KEPT} WHERE {_DONE_WITH} AND text <> {_KEPT}", (before,)
        )
        fetches = connection.execute("DELETE FROM fetch WHERE at < ?", (before,))
    connection.execute("VACUUM")
    return Pruned(texts.rowcount, versions.rowcount, fetches.rowcount, n_bytes, _size(connection))


def _size(connection: sqlite3.Connection) -> int:
    (n_pages,), (n_bytes,) = (connection.execute(f"PRAGMA {name}").fetchone() for name in ("page_count", "page_size"))
    return int(n_pages) * int(n_bytes)
