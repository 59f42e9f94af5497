"""What a store keeps for how long: texts go by age, what stories are made of stays."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from doccluster.streams.article import BEGINNING, Moment
from doccluster.streams.settings import DAY
from doccluster.streams.store.batches import read_meta, write_meta
from doccluster.streams.store.database import transaction

# placed long ago, in a story that has ended
_DONE_WITH = (
    "published < ? AND doc_id IN (SELECT doc_id FROM membership JOIN story USING (story_id)"
    " WHERE to_batch IS NULL AND state = 'closed')"
)
# what is kept of a text: where there is no title, the beginning names a story and tells whether an entry is known
_KEPT = f"CASE WHEN title = '' THEN SUBSTR(plain(text), 1, {BEGINNING}) ELSE '' END"


@dataclass(frozen=True)
class Pruned:
    """What was deleted from a store, and how many bytes its file had before and has after that."""

    n_texts: int
    n_versions: int
    n_fetches: int
    n_bytes_before: int
    n_bytes_after: int


def keep_for(connection: sqlite3.Connection, seconds: int) -> None:
    """Note in a store that every poll prunes what is older than this many seconds; 0 ends that."""
    with transaction(connection):
        write_meta(connection, retention=seconds)


def prune_by_policy(connection: sqlite3.Connection, clock: Moment) -> None:
    """Delete what is older than the store is to keep it, once a day; the file stays as large as it is."""
    meta = read_meta(connection)
    seconds, day = int(meta.get("retention", 0)), clock // DAY
    if seconds and int(meta.get("pruned_day", -1)) < day:
        prune(connection, clock - seconds, is_shrunk=False)
        with transaction(connection):
            write_meta(connection, pruned_day=day)


def prune(connection: sqlite3.Connection, before: Moment, *, is_shrunk: bool = True) -> Pruned:
    """Delete what is older than `before` and not needed, and give the room back to the file system if `is_shrunk`.

    Texts and earlier versions of articles go, once their stories have ended; of one without a title the beginning
    stays. Requests of feeds go. Articles stay with their keys, so that they are known when they are met again.
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
    if is_shrunk:
        connection.execute("VACUUM")
    return Pruned(texts.rowcount, versions.rowcount, fetches.rowcount, n_bytes, _size(connection))


def _size(connection: sqlite3.Connection) -> int:
    (n_pages,), (n_bytes,) = (connection.execute(f"PRAGMA {name}").fetchone() for name in ("page_count", "page_size"))
    return int(n_pages) * int(n_bytes)
