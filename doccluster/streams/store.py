"""The state of a stream on disk: written after each batch in one transaction; `restoring` reads it back."""

from __future__ import annotations

import json
import sqlite3
import warnings
from collections.abc import Iterable

from doccluster.errors import DocclusterWarning, InputError
from doccluster.stories.looking_again import DeskArticle
from doccluster.streams.article import Article, Moment
from doccluster.streams.changes import BatchResult, Turn
from doccluster.streams.clock import N_TO_BELIEVE, StreamClock
from doccluster.streams.clusterer import Clusterer
from doccluster.streams.corrections import muting
from doccluster.streams.database import transaction
from doccluster.streams.kept_words import links_as_bytes, words_as_bytes
from doccluster.streams.model import differences, model_version
from doccluster.streams.settings import DAY, StreamSettings
from doccluster.streams.story import STORY_FIELDS

DESK_FIELDS = ("n_articles", "n_when_linked", "looked_at", "next_term")
ARTICLE = "doc_key, id, published, date, title, plain(text), source, link, guid"  # the columns of an `Article`


def read_meta(connection: sqlite3.Connection) -> dict[str, str]:
    """Return the settings of the store as a whole."""
    return dict(connection.execute("SELECT key, value FROM meta"))


def write_meta(connection: sqlite3.Connection, **values: str | int) -> None:
    """Keep values of the store as a whole."""
    rows = [(key, str(value)) for key, value in values.items()]
    connection.executemany("INSERT INTO meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value", rows)


def settings_of(connection: sqlite3.Connection) -> StreamSettings | None:
    """Return the settings that a store was made with, None for a new one."""
    kept = read_meta(connection).get("settings")
    return None if kept is None else StreamSettings.from_dict(json.loads(kept))


def agreed_settings(connection: sqlite3.Connection, settings: StreamSettings | None) -> StreamSettings:
    """Return the settings of a store, which are the given ones (or the defaults) if it is new.

    Raises InputError if it was made with others than those given.
    """
    kept = settings_of(connection)
    if kept is None:
        chosen = settings or StreamSettings()
        with transaction(connection):
            write_meta(connection, settings=json.dumps(chosen.to_dict(), sort_keys=True), models=with_model({}, 1))
        return chosen
    if settings is not None and settings != kept:
        raise InputError("the store was made with other settings; leave them out, or begin a new store.")
    _note_model(connection)
    return kept


def _note_model(connection: sqlite3.Connection) -> None:
    """Note in the store from which batch on articles are placed by another model than before, and warn of that once."""
    last = last_batch(connection)
    following = 1 if last is None else last[0] + 1
    models = json.loads(read_meta(connection).get("models", "{}"))
    former = models[max(models, key=int)] if models else None
    other = "" if former is None else differences(former)
    if former is not None and not other:
        return
    with transaction(connection):
        write_meta(connection, models=with_model(models, following))
    if other:
        warnings.warn(
            DocclusterWarning(
                f"the store was filled by another version of doccluster ({other}): from batch {following:,} on articles"
                " are placed by this one, those before stay; `doccluster stream rebuild` places all anew."
            ),
            stacklevel=4,
        )


def with_model(models: dict[str, dict[str, str]], batch: int) -> str:
    """Return the models of a store by the first batch of each, with the one of this version."""
    return json.dumps({**models, str(batch): model_version()})


def waiting_articles(connection: sqlite3.Connection) -> list[Article]:
    """Return the documents that are in no story yet and not muted, in the order of the stream."""
    rows = connection.execute(f"SELECT {ARTICLE} FROM document WHERE batch_id IS NULL ORDER BY published, doc_key")
    waiting, is_muted = [Article(*row) for row in rows], muting(connection)
    return [one for one in waiting if not is_muted(one.title, one.source)]


def all_articles(connection: sqlite3.Connection) -> list[Article]:
    """Return the documents that are in stories, in the order of the stream."""
    rows = connection.execute(f"SELECT {ARTICLE} FROM document WHERE number IS NOT NULL ORDER BY published, doc_key")
    return [Article(*row) for row in rows]


def edited_articles(connection: sqlite3.Connection) -> list[tuple[int, Article]]:
    """Return the placed documents that are to be filed anew, with their numbers; each only once."""
    rows = connection.execute(
        f"SELECT number, {ARTICLE} FROM document WHERE is_edited = 1 AND number > 0 ORDER BY number"
    ).fetchall()
    if rows:
        connection.execute("UPDATE document SET is_edited = 0 WHERE is_edited = 1 AND number > 0")
    return [(number, Article(*values)) for number, *values in rows]


def clock_of(connection: sqlite3.Connection) -> StreamClock:
    """Return the clock of the stream as the last batch left it."""
    row = connection.execute("SELECT clock FROM batch ORDER BY batch_id DESC LIMIT 1").fetchone()
    if row is None:
        return StreamClock()
    ahead = connection.execute(
        "SELECT moment FROM batch WHERE kind <> 'edit' AND batch_id >"
        " COALESCE((SELECT MAX(batch_id) FROM batch WHERE moment <= ? AND kind <> 'edit'), 0) ORDER BY batch_id",
        (row[0] + DAY,),
    )
    return StreamClock(int(row[0])).moved_by(int(moment) for (moment,) in ahead)


def last_batch(connection: sqlite3.Connection) -> tuple[int, Moment] | None:
    """Return the number of the last batch, and what the clock of the stream said then."""
    row = connection.execute("SELECT batch_id, clock FROM batch ORDER BY batch_id DESC LIMIT 1").fetchone()
    return None if row is None else (int(row[0]), int(row[1]))


def newest_moment(connection: sqlite3.Connection) -> Moment | None:
    """Return up to when the articles of a store go: its clock, or where three batches say so, ahead of that.

    None for a store without any batch.
    """
    last = last_batch(connection)
    moments = connection.execute(
        "SELECT moment FROM batch WHERE kind <> 'edit' ORDER BY moment DESC LIMIT ?", (N_TO_BELIEVE,)
    ).fetchall()
    if last is None:
        return None
    return max(last[1], moments[-1][0]) if len(moments) == N_TO_BELIEVE else last[1]


def events_since(connection: sqlite3.Connection, batch: int) -> tuple[int, dict[str, int]]:
    """Return how many batches there were after one, and how often what happened to stories in them."""
    (n_batches,) = connection.execute("SELECT COUNT(*) FROM batch WHERE batch_id > ?", (batch,)).fetchone()
    counts = connection.execute(
        "SELECT event, COUNT(*) FROM lineage WHERE batch_id > ? GROUP BY event ORDER BY event", (batch,)
    )
    return int(n_batches), dict(counts.fetchall())


def write_batch(
    connection: sqlite3.Connection, clusterer: Clusterer, result: BatchResult, moment: Moment, kind: str
) -> int:
    """Write all that a batch has changed, inside a transaction of the caller; return the number of the batch."""
    row = connection.execute(
        "INSERT INTO batch (moment, kind, n_documents, clock) VALUES (?, ?, ?, ?)",
        (moment, kind, len(result.placements), clusterer.time),
    )
    batch = row.lastrowid
    assert batch is not None
    _write_stories(connection, result)
    _write_placements(connection, result, batch)
    _write_lineage(connection, result, batch)
    write_links(connection, result.linked.values())
    connection.executemany(
        "UPDATE document SET words = NULL, links = NULL WHERE number = ?", [(number,) for number in result.forgotten]
    )
    _count_documents(connection, result)
    _write_leads(connection, result, batch)
    write_desks(connection, clusterer)
    return batch


def _write_stories(connection: sqlite3.Connection, result: BatchResult) -> None:
    names = ("story_id", "state", *STORY_FIELDS)
    changes = ", ".join(f"{name} = excluded.{name}" for name in names[1:])
    columns, marks = ", ".join(names), ", ".join("?" * len(names))
    connection.executemany(
        f"INSERT INTO story ({columns}, first, last, n_documents, n_families) VALUES ({marks}, 0, 0, 0, 0)"
        f" ON CONFLICT DO UPDATE SET {changes}",
        [
            (story.id, state, *(getattr(story, name) for name in STORY_FIELDS))
            for story, state in result.stories.values()
        ],
    )


def _count_documents(connection: sqlite3.Connection, result: BatchResult) -> None:
    """Keep how many documents the stories have that have changed, and between which moments; merged ones had those."""
    connection.executemany(
        "UPDATE story SET (first, last, n_documents, n_families) = (SELECT MIN(d.published), MAX(d.published),"
        " COUNT(*), COUNT(DISTINCT d.family) FROM membership m JOIN document d USING (doc_id)"
        " WHERE m.story_id = ?1 AND m.to_batch IS NULL) WHERE story_id = ?1",
        [(story.id,) for story, state in result.stories.values() if state != "merged"],
    )


def _write_leads(connection: sqlite3.Connection, result: BatchResult, batch: int) -> None:
    """Keep which article names a story, from the batch on in which that changed."""
    connection.executemany(
        "INSERT INTO story_lead SELECT ?1, ?2, doc_id FROM document WHERE number = ?3 AND doc_id IS NOT"
        " (SELECT doc_id FROM story_lead WHERE story_id = ?1 ORDER BY from_batch DESC LIMIT 1)",
        [(story.id, batch, story.lead) for story, _ in result.stories.values() if story.lead],
    )


def _write_placements(connection: sqlite3.Connection, result: BatchResult, batch: int) -> None:
    first_story = {event.number: event.story for event in result.events if event.number}
    connection.executemany(
        "UPDATE document SET batch_id = ?, number = ?, language = ?, outlet = ?, family = ?, first_story = ?,"
        " similarity = ?, is_edited = 0 WHERE doc_key = ?",
        [
            (
                batch,
                one.placed.number,
                one.language,
                one.outlet,
                one.placed.family,
                first_story[one.placed.number],
                one.similarity,
                one.article.key,
            )
            for one in result.placements
        ],
    )
    connection.executemany(
        "INSERT INTO membership SELECT doc_id, ?, ?, NULL FROM document WHERE doc_key = ?",
        [(first_story[one.placed.number], batch, one.article.key) for one in result.placements],
    )


def write_links(connection: sqlite3.Connection, articles: Iterable[DeskArticle]) -> None:
    """Keep the words of articles that later ones are compared with, and what they have in common with earlier ones."""
    connection.executemany(
        "UPDATE document SET words = ?, links = ?, background = ? WHERE number = ?",
        [(words_as_bytes(one), links_as_bytes(one), one.background, one.number) for one in articles],
    )


def _write_lineage(connection: sqlite3.Connection, result: BatchResult, batch: int) -> None:
    """Write the events, after each that moves documents (or in its place) a line for each of them, and move those."""
    turns = iter(result.turns)
    rows: list[tuple[object, ...]] = []
    for event in result.events:
        about = (event.story, event.other, event.n_documents, event.similarity)
        if event.event != "moved":
            rows.append((batch, event.when, event.event, *about, event.number or None, None, event.reason))
        if event.event in ("merged", "split", "moved"):
            turn = next(turns)
            ends = turn.target, turn.source, 1, event.similarity, None
            moved = _move(connection, turn, batch)
            rows += [(batch, event.when, "moved", *ends, doc_id, event.reason) for doc_id in moved]
    connection.executemany(
        "INSERT INTO lineage (batch_id, moment, event, story_id, other_id, n_documents, similarity, doc_id, reason)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, COALESCE(?9, (SELECT doc_id FROM document WHERE number = ?8)), ?10)",
        rows,
    )


def _move(connection: sqlite3.Connection, turn: Turn, batch: int) -> list[int]:
    """Move documents from a story to another; return which."""
    rows = connection.execute(
        "SELECT m.doc_id, m.from_batch FROM json_each(?) JOIN document d ON d.number = value"
        " JOIN membership m ON m.doc_id = d.doc_id AND m.to_batch IS NULL ORDER BY m.doc_id",
        (json.dumps(turn.numbers),),
    ).fetchall()
    again = [(turn.target, doc_id, batch) for doc_id, since in rows if since == batch]
    connection.executemany("UPDATE membership SET story_id = ? WHERE doc_id = ? AND from_batch = ?", again)
    earlier = [doc_id for doc_id, since in rows if since != batch]
    connection.executemany(
        "UPDATE membership SET to_batch = ? WHERE doc_id = ? AND to_batch IS NULL", [(batch, one) for one in earlier]
    )
    connection.executemany(
        "INSERT INTO membership VALUES (?, ?, ?, NULL)", [(one, turn.target, batch) for one in earlier]
    )
    return [doc_id for doc_id, _ in rows]


def write_desks(connection: sqlite3.Connection, clusterer: Clusterer) -> None:
    """Keep the terms of each language, in how many articles they occur, and what else a batch goes on from."""
    for language, desk in sorted(clusterer.desks.items()):
        numbers = desk.numbers_of_terms
        fresh = [(language, numbers[word], word, int(desk.n_with_term[numbers[word]])) for word in desk.fresh_terms]
        connection.executemany("INSERT INTO term VALUES (?, ?, ?, ?)", fresh)
        changed = sorted(desk.changed_terms - {number for _, number, *_ in fresh})
        connection.executemany(
            "UPDATE term SET n_articles = ? WHERE language = ? AND number = ?",
            [(int(desk.n_with_term[number]), language, number) for number in changed],
        )
        if desk.has_halved:
            connection.execute(
                "DELETE FROM term WHERE language = ? AND number NOT IN (SELECT value FROM json_each(?))",
                (language, json.dumps(sorted(numbers.values()))),
            )
        desk.fresh_terms, desk.changed_terms, desk.has_halved = [], set(), False
    desks = {
        language: {name: getattr(desk, name) for name in DESK_FIELDS} for language, desk in clusterer.desks.items()
    }
    write_meta(
        connection,
        next_number=clusterer.next_number,
        desks=json.dumps(desks, sort_keys=True),
        languages=json.dumps(clusterer.reader.languages, sort_keys=True),
    )
