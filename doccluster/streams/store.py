"""The state of a stream on disk: written after each batch in one transaction; `restoring` reads it back."""

from __future__ import annotations

import json
import sqlite3
import warnings
from dataclasses import asdict

import numpy as np

from doccluster.errors import DocclusterWarning, InputError
from doccluster.streams.article import Article, Moment
from doccluster.streams.changes import BatchResult
from doccluster.streams.clock import N_TO_BELIEVE, StreamClock
from doccluster.streams.clusterer import Clusterer
from doccluster.streams.corrections import muting
from doccluster.streams.database import transaction
from doccluster.streams.joining import Floats, shipped_coefficients
from doccluster.streams.model import differences, model_version
from doccluster.streams.settings import DAY, StreamSettings
from doccluster.streams.story import STORY_FIELDS

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


def weights_of(connection: sqlite3.Connection) -> Floats:
    """Return the weights of the join of a store: its own, if it has learned some, else those that are shipped."""
    kept = read_meta(connection).get("weights")
    own = [] if kept is None else json.loads(kept)  # of an older version without the last ones
    return np.array([*own, *shipped_coefficients()[len(own) :]], dtype=np.float64)


def agreed_settings(connection: sqlite3.Connection, settings: StreamSettings | None) -> StreamSettings:
    """Return the settings of a store, which are the given ones (or the defaults) if it is new.

    Raises InputError if it was made with others than those given.
    """
    kept = settings_of(connection)
    if kept is None:
        chosen = settings or StreamSettings()
        with transaction(connection):
            write_meta(connection, settings=json.dumps(chosen.to_dict(), sort_keys=True), models=_with_model({}, 1))
        return chosen
    if settings is not None and settings != kept:
        raise InputError(
            "the store was made with other settings, or another pace; leave them out, or begin a new store."
        )
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
        write_meta(connection, models=_with_model(models, following))
    if other:
        warnings.warn(
            DocclusterWarning(
                f"the store was filled by another version of doccluster ({other}): from batch {following:,} on articles"
                " are placed by this one, those before stay; `doccluster stream rebuild` places all anew."
            ),
            stacklevel=4,
        )


def _with_model(models: dict[str, dict[str, str]], batch: int) -> str:
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


def edited_articles(connection: sqlite3.Connection) -> list[tuple[int, str, Article]]:
    """Return the placed documents that are to be filed anew, with their numbers and stories; each only once."""
    rows = connection.execute(
        f"SELECT number, story_id, {ARTICLE} FROM document"
        " JOIN membership USING (doc_id) WHERE is_edited = 1 AND number > 0 AND to_batch IS NULL ORDER BY number"
    ).fetchall()
    if rows:
        connection.execute("UPDATE document SET is_edited = 0 WHERE is_edited = 1 AND number > 0")
    return [(number, story, Article(*values)) for number, story, *values in rows]


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
    _write_stories(connection, result, batch)
    _write_placements(connection, clusterer, result, batch)
    _write_leads(connection, result, batch)
    connection.executemany(
        "UPDATE document SET family = ? WHERE family = ?", [(new, old) for old, new in result.joined_families]
    )
    _write_lineage(connection, result, batch)
    connection.executemany("UPDATE document SET in_sums = 0 WHERE number = ?", [(one,) for one in result.left])
    connection.executemany(
        "UPDATE document SET vectors = ?, meaning = ? WHERE number = ?",
        [(one.to_bytes(), one.meaning_as_bytes(), number) for one, number in result.read_again],
    )
    has_settled = clusterer.frequencies.has_settled
    _write_terms(connection, clusterer, batch)
    _let_go(connection, clusterer, result, has_settled=has_settled)
    return batch


def _write_stories(connection: sqlite3.Connection, result: BatchResult, batch: int) -> None:
    states = {id(story): "open" for story in result.touched.values()}
    states.update({id(story): state for story, state in result.ended.values()})
    stories = [*result.touched.values(), *(story for story, _ in result.ended.values())]
    names = ("story_id", "state", "is_forgotten", *STORY_FIELDS)
    changes = ", ".join(f"{name} = excluded.{name}" for name in names[1:])
    columns, marks = ", ".join(names), ", ".join("?" * len(names))
    connection.executemany(
        f"INSERT INTO story ({columns}) VALUES ({marks}) ON CONFLICT DO UPDATE SET {changes}",
        [(one.id, states[id(one)], 0, *(getattr(one, name) for name in STORY_FIELDS)) for one in stories],
    )


def _write_leads(connection: sqlite3.Connection, result: BatchResult, batch: int) -> None:
    """Keep which article names a story, from the batch on in which that changed."""
    stories = [*result.touched.values(), *(story for story, _ in result.ended.values())]
    connection.executemany(
        "INSERT INTO story_lead SELECT ?1, ?2, doc_id FROM document WHERE number = ?3 AND doc_id IS NOT"
        " (SELECT doc_id FROM story_lead WHERE story_id = ?1 ORDER BY from_batch DESC LIMIT 1)",
        [(one.id, batch, one.lead) for one in stories if one.lead],
    )


def _write_placements(connection: sqlite3.Connection, clusterer: Clusterer, result: BatchResult, batch: int) -> None:
    connection.executemany(
        "UPDATE document SET batch_id = ?, number = ?, language = ?, family = ?, first_story = ?, in_sums = ?,"
        " similarity = ?, margin = ?, vectors = ?, meaning = ?, shingles = ?, is_edited = 0 WHERE doc_key = ?",
        [
            (
                batch,
                one.number,
                one.language,
                one.family,
                one.story,
                int(one.is_in_sums),
                one.similarity,
                one.margin,
                one.vectors.to_bytes(),
                one.vectors.meaning_as_bytes(),
                clusterer.families.shingles_as_bytes(one.number),
                one.article.key,
            )
            for one in result.placements
        ],
    )
    connection.executemany(
        "INSERT INTO membership SELECT doc_id, ?, ?, NULL FROM document WHERE doc_key = ?",
        [(one.story, batch, one.article.key) for one in result.placements],
    )


def _write_lineage(connection: sqlite3.Connection, result: BatchResult, batch: int) -> None:
    """Write the events, after each that moves documents (or in its place) a line for each of them, and move those."""
    moves = iter(result.moves)
    rows: list[tuple[object, ...]] = []
    for event in result.events:
        about = (event.story, event.other, event.n_documents, event.similarity)
        if event.event != "moved":
            rows.append((batch, event.when, event.event, *about, event.number or None, None))
        if event.event in ("merged", "split", "moved"):
            old, new, families = next(moves)
            moved = _move(connection, old, None if event.event == "merged" else families, new, batch)
            rows += [(batch, event.when, "moved", new, old, 1, event.similarity, None, doc_id) for doc_id in moved]
    connection.executemany(
        "INSERT INTO lineage (batch_id, moment, event, story_id, other_id, n_documents, similarity, doc_id)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, COALESCE(?9, (SELECT doc_id FROM document WHERE number = ?8)))",
        rows,
    )


def _move(connection: sqlite3.Connection, old: str, families: list[int] | None, new: str, batch: int) -> list[int]:
    """Move documents from a story to another: those of some families, or all; return which."""
    rows = connection.execute(
        "SELECT m.doc_id, d.family, m.from_batch FROM membership m JOIN document d USING (doc_id)"
        " WHERE m.story_id = ? AND m.to_batch IS NULL ORDER BY m.doc_id",
        (old,),
    ).fetchall()
    wanted = None if families is None else set(families)
    moved = [(doc_id, since) for doc_id, family, since in rows if wanted is None or family in wanted]
    again = [(new, doc_id, batch) for doc_id, since in moved if since == batch]
    connection.executemany("UPDATE membership SET story_id = ? WHERE doc_id = ? AND from_batch = ?", again)
    earlier = [doc_id for doc_id, since in moved if since != batch]
    connection.executemany(
        "UPDATE membership SET to_batch = ? WHERE doc_id = ? AND to_batch IS NULL", [(batch, one) for one in earlier]
    )
    connection.executemany("INSERT INTO membership VALUES (?, ?, ?, NULL)", [(one, new, batch) for one in earlier])
    return [doc_id for doc_id, _ in moved]


def _write_terms(connection: sqlite3.Connection, clusterer: Clusterer, batch: int) -> None:
    frequencies = clusterer.frequencies
    fresh = [frequencies.numbers[term] for term in frequencies.fresh]
    counts = frequencies.settled_counts(fresh)
    connection.executemany(
        "INSERT INTO term VALUES (?, ?, ?)", list(zip(fresh, frequencies.fresh, counts, strict=True))
    )
    if frequencies.has_settled:
        changed = sorted(frequencies.changed.difference(fresh))
        counts = frequencies.settled_counts(changed)
        connection.executemany("UPDATE term SET settled = ? WHERE number = ?", list(zip(counts, changed, strict=True)))
        if frequencies.has_halved:
            known = [(number,) for number in frequencies.numbers.values()]
            connection.execute("CREATE TEMPORARY TABLE living (number INTEGER PRIMARY KEY)")
            connection.executemany("INSERT INTO living VALUES (?)", known)
            connection.execute("DELETE FROM term WHERE number NOT IN (SELECT number FROM living)")
            connection.execute("DROP TABLE living")
        write_meta(
            connection,
            settled_day=frequencies.settled_day,
            settled_batch=batch,
            n_settled=json.dumps(frequencies.n_settled, sort_keys=True),
        )
    frequencies.clear_changes()
    scales = {language: asdict(one) for language, one in sorted(clusterer.stories.scales.items())}
    following = {"next_term": frequencies.next_number, "next_number": clusterer.next_number}
    write_meta(connection, **following, scales=json.dumps(scales))


def _let_go(connection: sqlite3.Connection, clusterer: Clusterer, result: BatchResult, *, has_settled: bool) -> None:
    """Empty what no later batch will ask for."""
    connection.executemany("UPDATE story SET is_forgotten = 1 WHERE story_id = ?", [(one,) for one in result.forgotten])
    connection.execute("UPDATE story SET is_forgotten = 1 WHERE state = 'merged' AND is_forgotten = 0")
    connection.executemany(
        "UPDATE document SET vectors = NULL, meaning = NULL, in_sums = 0 WHERE vectors IS NOT NULL AND doc_id IN"
        " (SELECT doc_id FROM membership WHERE story_id = ? AND to_batch IS NULL)",
        [(one,) for one in result.forgotten],
    )
    if has_settled:  # what is not in the sums is kept only until its terms are counted
        connection.execute(
            "UPDATE document SET vectors = NULL, meaning = NULL WHERE vectors IS NOT NULL AND in_sums = 0"
        )
    if result.copies_from is not None:
        connection.execute(
            "UPDATE document SET shingles = NULL WHERE shingles IS NOT NULL"
            " AND batch_id <= (SELECT MAX(batch_id) FROM batch WHERE clock < ?)",
            (result.copies_from,),
        )
