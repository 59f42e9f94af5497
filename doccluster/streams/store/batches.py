"""The state of a stream on disk: written after each batch in one transaction, and read back bit for bit."""

from __future__ import annotations

import json
import sqlite3
import warnings
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from functools import cache
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from doccluster.base.arrays import Integers, SingleFloats
from doccluster.errors import DocclusterWarning, InputError
from doccluster.stories.looking_again import DeskArticle
from doccluster.stories.words import LANGUAGES, function_words
from doccluster.streams.article import N_TO_BELIEVE, Article, Moment, StreamClock
from doccluster.streams.settings import DAY, StreamSettings
from doccluster.streams.store.clusterer import STORY_FIELDS, BatchResult, Clusterer, read_stories
from doccluster.streams.store.corrections import bonds_of, muting
from doccluster.streams.store.database import read_column, transaction

RULE = "1"  # raised with every change of the rule that gives other stories
DESK_FIELDS = ("n_articles", "n_when_linked", "looked_at", "next_term")
_NUMBERED = "SELECT doc_id FROM json_each(?) JOIN document ON number = value ORDER BY doc_id"
ARTICLE = "doc_key, id, published, date, title, plain(text), source, link, guid"  # the columns of an `Article`


@cache
def model_version() -> dict[str, str]:
    """Return the versions of the rule and of the function words, on which the place of an article depends."""
    lists = [sorted(words) for words in function_words().lists]
    digest = blake2b(json.dumps([LANGUAGES, lists]).encode(), digest_size=6).hexdigest()
    return {"rule": RULE, "function words": digest}


def with_model(models: dict[str, dict[str, str]], batch: int) -> str:
    """Return the models of a store by the first batch of each, with the one of this version."""
    return json.dumps({**models, str(batch): model_version()})


def read_meta(connection: sqlite3.Connection) -> dict[str, str]:
    """Return the values that are kept of the store as a whole."""
    return dict(connection.execute("SELECT key, value FROM meta"))


def write_meta(connection: sqlite3.Connection, **values: str | int) -> None:
    """Keep values of the store as a whole."""
    rows = [(key, str(value)) for key, value in values.items()]
    connection.executemany("INSERT INTO meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value", rows)


def settings_of(connection: sqlite3.Connection) -> StreamSettings:
    """Return the settings that a store was made with, the defaults for a new one."""
    return StreamSettings.from_dict(json.loads(read_meta(connection).get("settings", "{}")))


def agreed_settings(connection: sqlite3.Connection, settings: StreamSettings | None) -> StreamSettings:
    """Return the settings of a store, which are the given ones (or the defaults) if it is new.

    From which batch on articles are placed by another model than before is noted in the store, and warned of once.
    """
    meta = read_meta(connection)
    models = json.loads(meta.get("models", "{}"))
    former = models[max(models, key=int)] if models else {}
    changes = [name for name, version in model_version().items() if former.get(name) != version]
    following = last_batch(connection)[0] + 1
    chosen = settings_of(connection) if "settings" in meta else settings or StreamSettings()
    if settings not in (None, chosen):
        raise InputError("the store was made with other settings; leave them out, or begin a new store.")
    if "settings" not in meta or changes:
        with transaction(connection):
            write_meta(
                connection, settings=json.dumps(asdict(chosen), sort_keys=True), models=with_model(models, following)
            )
    if former and changes:
        warnings.warn(
            DocclusterWarning(
                f"the store was filled by another version of doccluster ({', '.join(changes)}): from batch"
                f" {following:,} on articles are placed by this one, those before stay; `doccluster stream rebuild`"
                " places all anew."
            ),
            stacklevel=3,
        )
    return chosen


def waiting_articles(connection: sqlite3.Connection) -> list[Article]:
    """Return the documents that are in no story yet and not muted, in the order of the stream."""
    rows = connection.execute(f"SELECT {ARTICLE} FROM document WHERE batch_id IS NULL ORDER BY published, doc_key")
    waiting, is_muted = [Article(*row) for row in rows], muting(connection)
    return [article for article in waiting if not is_muted(article.title, article.source)]


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
    batch, clock = last_batch(connection)
    if not batch:
        return StreamClock()
    ahead = connection.execute(
        "SELECT moment FROM batch WHERE kind <> 'edit' AND batch_id >"
        " COALESCE((SELECT MAX(batch_id) FROM batch WHERE moment <= ? AND kind <> 'edit'), 0) ORDER BY batch_id",
        (clock + DAY,),
    )
    return StreamClock(clock).moved_by(int(moment) for (moment,) in ahead)


def last_batch(connection: sqlite3.Connection) -> tuple[int, Moment]:
    """Return the number of the last batch, and what the clock of the stream said then; zeros before the first."""
    row = connection.execute("SELECT batch_id, clock FROM batch ORDER BY batch_id DESC LIMIT 1").fetchone()
    return row or (0, 0)


def newest_moment(connection: sqlite3.Connection) -> Moment:
    """Return up to when the articles of a store go: its clock, or where three batches say so, ahead of that."""
    moments = connection.execute(
        "SELECT moment FROM batch WHERE kind <> 'edit' ORDER BY moment DESC LIMIT ?", (N_TO_BELIEVE,)
    ).fetchall()
    clock = last_batch(connection)[1]
    return max(clock, moments[-1][0]) if len(moments) == N_TO_BELIEVE else clock


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
    batch = connection.execute(
        "INSERT INTO batch (moment, kind, n_documents, clock) VALUES (?, ?, ?, ?)",
        (moment, kind, len(result.placements), clusterer.time),
    ).lastrowid
    assert batch is not None
    if result.language:
        for rows in ("story WHERE", "term WHERE", "document WHERE number > 0 AND"):
            table, condition = rows.split(" ", 1)
            connection.execute(f"UPDATE {table} SET language = ? {condition} language = ''", (result.language,))
    _write_stories(connection, result)
    _write_placements(connection, result, batch)
    _write_lineage(connection, result, batch)
    write_links(connection, result.linked.values())
    connection.executemany(
        "UPDATE document SET words = NULL, links = NULL WHERE number = ?", [(number,) for number in result.forgotten]
    )
    connection.executemany(
        "UPDATE story SET (first, last, n_documents, n_families) = (SELECT MIN(d.published), MAX(d.published),"
        " COUNT(*), COUNT(DISTINCT d.family) FROM membership m JOIN document d USING (doc_id)"
        " WHERE m.story_id = story.story_id AND m.to_batch IS NULL) WHERE story_id = ?",
        [(story.id,) for story, state in result.stories.values() if state != "merged"],  # merged ones had those
    )
    connection.executemany(  # which article names a story, from the batch on in which that changed
        "INSERT INTO story_lead SELECT :story, :batch, doc_id FROM document WHERE number = :lead AND doc_id IS NOT"
        " (SELECT doc_id FROM story_lead WHERE story_id = :story ORDER BY from_batch DESC LIMIT 1)",
        [{"story": story.id, "batch": batch, "lead": story.lead} for story, _ in result.stories.values() if story.lead],
    )
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


def _write_placements(connection: sqlite3.Connection, result: BatchResult, batch: int) -> None:
    story_of = {event.numbers[0]: event.story for event in result.events if event.event in ("born", "grew")}
    rows = []
    for new in result.placements:
        number, similarity = new.placed.number, result.similarity.get(new.placed.number)
        places = (number, new.language, new.outlet, new.placed.family, story_of[number], similarity)
        rows.append((batch, *places, new.article.key))
    connection.executemany(
        "UPDATE document SET batch_id = ?, number = ?, language = ?, outlet = ?, family = ?, first_story = ?,"
        " similarity = ?, is_edited = 0 WHERE doc_key = ?",
        rows,
    )
    connection.executemany(
        "INSERT INTO membership SELECT doc_id, first_story, batch_id, NULL FROM document WHERE doc_key = ?",
        [(placement.article.key,) for placement in result.placements],
    )


def write_links(connection: sqlite3.Connection, articles: Iterable[DeskArticle]) -> None:
    """Keep the words of articles that later ones are compared with, and what they have in common with earlier ones."""
    rows = [
        (
            article.terms.astype("<i4").tobytes() + article.counts.tobytes(),
            article.earlier.astype("<i4").tobytes() + article.likeness.astype("<f4").tobytes(),
            article.background,
            article.number,
        )
        for article in articles
    ]
    connection.executemany("UPDATE document SET words = ?, links = ?, background = ? WHERE number = ?", rows)


def words_from_bytes(data: bytes) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int8]]:
    """Return terms and how often each occurs, as `write_links` keeps them; raise ValueError for what it never does."""
    n_terms, n_over = divmod(len(data), 5)
    terms = np.frombuffer(data, dtype="<i4", count=n_terms).astype(np.int32)
    counts = np.frombuffer(data, dtype=np.int8, offset=4 * n_terms).copy()
    is_counted = counts.all() and not (counts == -128).any()
    if n_over or not is_counted or (terms < 0).any() or np.unique(terms).size < n_terms:
        raise ValueError(f"{len(data)} bytes are not the words of an article")
    return terms, counts


def _links_from_bytes(data: bytes) -> tuple[Integers, SingleFloats]:
    n_links, n_over = divmod(len(data), 8)
    earlier = np.frombuffer(data, dtype="<i4", count=n_links).astype(np.int64)
    likeness = np.frombuffer(data, dtype="<f4", offset=4 * n_links).astype(np.float32)
    if n_over or (earlier < 1).any() or not ((likeness > 0) & (likeness < 4)).all():
        raise ValueError(f"{len(data)} bytes are not the links of an article")
    return earlier, likeness


def _write_lineage(connection: sqlite3.Connection, result: BatchResult, batch: int) -> None:
    """Write the events, after each that moves documents (or in its place) a line for each of them, and move those."""
    rows: list[tuple[object, ...]] = []
    for event in result.events:
        is_entry = event.event in ("born", "grew")
        documents = read_column(connection, _NUMBERED, json.dumps(event.numbers))
        if event.event != "moved":
            ends = (event.story, event.other, event.n_documents, event.similarity)
            rows.append((batch, event.when, event.event, *ends, documents[0] if is_entry else None, event.reason))
        if is_entry:
            continue
        connection.executemany(
            "UPDATE membership SET to_batch = :batch"
            " WHERE doc_id = :document AND to_batch IS NULL AND from_batch < :batch",
            [{"batch": batch, "document": document} for document in documents],
        )
        connection.executemany(
            "INSERT INTO membership VALUES (?, ?, ?, NULL) ON CONFLICT DO UPDATE SET story_id = excluded.story_id",
            [(document, event.target, batch) for document in documents],
        )
        ends = (event.target, event.source, 1, event.similarity)
        rows += [(batch, event.when, "moved", *ends, document, event.reason) for document in documents]
    connection.executemany(
        "INSERT INTO lineage (batch_id, moment, event, story_id, other_id, n_documents, similarity, doc_id, reason)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        rows,
    )


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


def restored(connection: sqlite3.Connection) -> Clusterer:
    """Return a clusterer in the state that the last batch left; raise ValueError for what cannot be that."""
    clusterer = Clusterer(settings_of(connection), connection)
    clusterer.bonds = bonds_of(connection)
    meta = read_meta(connection)
    if not last_batch(connection)[0]:
        return clusterer
    if "settings" not in meta:
        raise ValueError("there are no settings")
    clusterer.clock, clusterer.next_number = clock_of(connection), int(meta["next_number"])
    for outlet, languages in json.loads(meta["languages"]).items():
        clusterer.reader.languages[outlet] = Counter(languages)
    for language, values in json.loads(meta["desks"]).items():
        if language not in ("", *LANGUAGES) or min(values.values()) < 0:
            raise ValueError(f"the numbers of {language!r} are none")
        for name in DESK_FIELDS:
            setattr(clusterer.desks[language], name, int(values[name]))
        clusterer.desks[language].make_room()
    for language, number, term, n_articles in connection.execute(
        "SELECT language, number, term, n_articles FROM term ORDER BY language, number"
    ):
        desk = clusterer.desks[language]
        if not number < desk.next_term or n_articles > desk.n_articles:
            raise ValueError(f"the term {number} of {language!r} is not below {desk.next_term}, or counted too often")
        desk.numbers_of_terms[term] = number
        desk.n_with_term[number] = n_articles
    for story in read_stories(connection, "state = 'open'"):
        if story.language not in ("", *LANGUAGES):
            raise ValueError(f"story {story.id} is in no language that there is")
        clusterer.stories[story.id], _ = story, clusterer.desks[story.language]  # its articles can be forgotten
    for number, key, time, language, outlet, family, background, words, links, story_id in connection.execute(
        "SELECT d.number, d.doc_key, d.published, d.language, d.outlet, d.family, d.background, d.words, d.links,"
        " m.story_id FROM document d JOIN membership m ON m.doc_id = d.doc_id AND m.to_batch IS NULL"
        " WHERE d.words IS NOT NULL ORDER BY d.number"
    ):
        place = clusterer.outlets.setdefault(outlet, len(clusterer.outlets))
        terms, counts = words_from_bytes(words)
        if terms.max(initial=-1) >= clusterer.desks[language].next_term:
            raise ValueError(f"document {number} has terms that there are not")
        links_of = _links_from_bytes(links)
        article = DeskArticle(number, time, place, terms, counts, *links_of, float(np.float32(background)))
        article.family, article.story = family, story_id
        clusterer.take_known(language, article, key)
    return clusterer
