"""The upkeep of a store: its stories made anew, old texts deleted, and its tables brought up to date.

Stories are made anew of the documents of a store, by the model of today, with the ids that they had. An upgrade makes a
copy first; articles, stories, their lineage and what an editor has said stay as they are, and the last articles, with
which later ones are compared, are read again.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from doccluster.base.plain_values import format_size
from doccluster.base.progress import LOOPS
from doccluster.errors import InputError
from doccluster.stories.looking_again import KEPT
from doccluster.stories.words import outlet_of
from doccluster.streams.article import BEGINNING, Article, Moment, story_id, text_hash
from doccluster.streams.settings import DAY, StreamSettings
from doccluster.streams.store.access import back_up, changing, check_is_there, copied, described
from doccluster.streams.store.batches import (
    ARTICLE,
    clock_of,
    last_batch,
    read_meta,
    settings_of,
    with_model,
    write_batch,
    write_desks,
    write_links,
    write_meta,
)
from doccluster.streams.store.clusterer import BatchResult, Clusterer
from doccluster.streams.store.corrections import ALL_BATCHES, Correction, apply, bonds_of, keep
from doccluster.streams.store.database import OLDEST, VERSION, WORDS_SINCE, remake_tables, transaction, version_of

# what clustering has made of the documents, in an order in which it can go
_CLUSTERING = ("correction", "membership", "lineage", "story_lead", "story", "term", "batch")
_UNPLACED = """
UPDATE document SET batch_id = NULL, number = NULL, language = '', family = NULL, first_story = NULL,
    similarity = NULL, words = NULL, links = NULL, background = 0, is_edited = 0
"""
_ARTICLE = f"SELECT {ARTICLE} FROM document WHERE doc_id = ?"
_IDS = (
    *(("story", "story_id"), ("story", "parent"), ("story_lead", "story_id"), ("membership", "story_id")),
    *(("lineage", "story_id"), ("lineage", "other_id"), ("document", "first_story")),
)
# what came in late goes where it would have gone in time; a correction stays behind all that it knew
_IN_TIME = """
SELECT batch_id, moment, kind, clock FROM batch
ORDER BY CASE kind WHEN 'edit' THEN MAX(moment) OVER (ORDER BY batch_id) ELSE moment END, batch_id
"""
_STORIES = "SELECT doc_id, story_id FROM membership WHERE from_batch <= :at AND IFNULL(to_batch, :at + 1) > :at"


@contextmanager
def rebuilt(connection: sqlite3.Connection, batch: int = ALL_BATCHES) -> Iterator[tuple[sqlite3.Connection, list[str]]]:
    """Yield a copy of a store whose stories are made anew, batch by batch, and the corrections that it cannot follow.

    The batches are in the order of their moments, so that it does not matter in which order an archive was imported.
    The corrections that hold are made again where they were made. Articles whose texts were deleted stay with those of
    their story. A story takes over the id of an earlier one that gives most of its own documents to it, and more than
    any other does; ids are those of the stories after a batch.
    """
    with closing(copied(connection)) as copy:
        with transaction(copy):
            copy.execute("PRAGMA defer_foreign_keys = ON")
            copy.execute(_UNPLACED)
            for table in _CLUSTERING:
                copy.execute(f"DELETE FROM {table}")
            stays = "'settings', 'confirmed', 'retention', 'n_edits'"
            copy.execute(f"DELETE FROM meta WHERE key NOT IN ({stays})")
            write_meta(copy, models=with_model({}, 1))
            lost = _place_again(connection, copy)
            _keep_ids(connection, copy, batch)
        yield copy, lost


def _place_again(former: sqlite3.Connection, copy: sqlite3.Connection) -> list[str]:
    """Place the documents of a store into its copy; return the corrections that this cannot follow."""
    lost = []
    clusterer = Clusterer(settings_of(former), copy)
    corrections = {row[0]: row[1:] for row in former.execute("SELECT * FROM correction")}
    rows = former.execute(
        "SELECT doc_key, story_id, title, plain(text), text_hash FROM document JOIN membership USING (doc_id)"
        " WHERE to_batch IS NULL AND number IS NOT NULL"
    )
    # articles whose texts were deleted
    mates = {key: story for key, story, title, text, full_hash in rows if text_hash(title, text) != full_hash}
    rows = former.execute(
        "SELECT batch_id, doc_id FROM document WHERE batch_id IS NOT NULL ORDER BY batch_id, published, doc_key"
    )
    documents = {batch: [document for _, document in group] for batch, group in groupby(rows, key=itemgetter(0))}
    order = former.execute(_IN_TIME).fetchall()
    numbers = {batch: number for number, (batch, *_) in enumerate(order, 1)}
    for batch, moment, kind, clock in LOOPS.over(order):
        result = BatchResult()
        *values, undone = corrections.get(batch, (None,))
        correction = Correction.of_row(*values) if values else None
        if correction is not None and undone is None:
            try:
                apply(copy, clusterer, correction, result)
            except InputError as error:
                lost.append(f"{correction.verb} in batch {batch:,}: {error}")
        elif kind != "edit":
            articles = [
                Article(*former.execute(_ARTICLE, (document,)).fetchone()) for document in documents.get(batch, ())
            ]
            result = clusterer.run_batch(articles, moment, is_sure=moment == clock, mates=mates)
        write_batch(copy, clusterer, result, moment, kind)
        if correction is not None:
            keep(copy, numbers[batch], correction, numbers.get(undone))
            clusterer.bonds = bonds_of(copy)
    return lost


def _keep_ids(former: sqlite3.Connection, copy: sqlite3.Connection, at: int) -> None:
    """Give the new stories the ids of those that they go on from; one of an id that was another's gets a new one."""
    before, after = (dict(one.execute(_STORIES, {"at": batch})) for one, batch in ((former, at), (copy, ALL_BATCHES)))
    sizes = Counter(before.values())
    shared = Counter((before[document], after[document]) for document in after if document in before)
    founders = {name: fields for name, *fields in former.execute("SELECT story_id, founder, born FROM story")}
    heirs: dict[str, str] = {}
    for (name, new), count in sorted(shared.items(), key=lambda pair: (-pair[1], pair[0])):
        if new not in heirs and 2 * count > sizes[name]:
            heirs[new] = name
    in_use, names = {*founders, *heirs.values()}, {}
    for name, founder, born in copy.execute("SELECT story_id, founder, born FROM story ORDER BY story_id").fetchall():
        names[name] = heirs.get(name, name)
        if name in heirs:
            copy.execute("UPDATE story SET founder = ?, born = ? WHERE story_id = ?", (*founders[heirs[name]], name))
        elif name in in_use and (name in heirs.values() or name in sizes):
            while names[name] in in_use:
                names[name] = story_id(founder, attempt=born)
                born -= names[name] in in_use
            copy.execute("UPDATE story SET born = ? WHERE story_id = ?", (born, name))
            in_use.add(names[name])
    copy.execute("CREATE TEMPORARY TABLE renamed (former TEXT PRIMARY KEY, name TEXT)")
    copy.executemany("INSERT INTO renamed VALUES (?, '~' || ?)", [pair for pair in names.items() if pair[0] != pair[1]])
    for table, column in _IDS:  # two may change their names with one another
        copy.execute(
            f"UPDATE {table} SET {column} = (SELECT name FROM renamed WHERE former = {column})"
            f" WHERE {column} IN (SELECT former FROM renamed)"
        )
    for table, column in _IDS:
        copy.execute(f"UPDATE {table} SET {column} = SUBSTR({column}, 2) WHERE {column} LIKE '~%'")
    copy.execute("DROP TABLE renamed")


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


_PACE = {"join": 0.45, "close_after_least": 864_000}  # the default of the versions before
ARTICLES_A_SECOND = 1_000  # that are read again, about
# what the versions before `WORDS_SINCE` knew of the words, and of the weights of the join
_GONE = (
    *("weights", "encoder", "scales", "n_settled", "settled_day", "settled_batch", "next_term"),
    "remade_without_texts",
)
_LAST = f"""
SELECT number, family, story_id, {ARTICLE} FROM document JOIN membership USING (doc_id)
WHERE number IS NOT NULL AND to_batch IS NULL ORDER BY published DESC, number DESC LIMIT {KEPT}
"""


@dataclass(frozen=True)
class Upgraded:
    """What an upgrade has done."""

    before: int  # the versions of the tables
    after: int
    backup: str = ""  # the copy of the store as it was; "" where nothing was to do
    n_articles: int = 0  # all of them
    n_read: int = 0  # how many were read again
    gone: tuple[str, ...] = ()  # sentences on what the store does not have any more


def needs_of(path: Path) -> str:
    """Return in words what time and room the upgrade of a store needs; "" where it is up to date."""
    check_is_there(path)
    with described(path), closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as connection:
        if version_of(connection, str(path), oldest=OLDEST) in (0, VERSION):
            return ""
    n_bytes = path.stat().st_size
    seconds = 2 + KEPT / ARTICLES_A_SECOND + n_bytes / 50e6
    return f"{format_size(n_bytes)} for a copy of the store, as much again while it works, and about {seconds:.0f} s"


def upgrade(path: Path) -> Upgraded:
    """Bring a store up to date. Raises InputError if there is no room for the copy, or a file of its name."""
    with changing(path, oldest=OLDEST) as connection:
        before = version_of(connection, str(path), oldest=OLDEST)
        if before == VERSION:
            return Upgraded(before, VERSION)
        backup, n_read = _copy_of(path, connection, before), 0
        gone: tuple[str, ...] = ()
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute("ATTACH ? AS former", (f"{backup.resolve().as_uri()}?mode=ro",))
        with transaction(connection):
            remake_tables(connection)
            if before < WORDS_SINCE:
                gone, n_read = _forget(connection), _read_again(connection)
        (n_articles,) = connection.execute("SELECT COUNT(*) FROM document WHERE number IS NOT NULL").fetchone()
        return Upgraded(before, VERSION, str(backup), n_articles, n_read, gone)


def _copy_of(path: Path, connection: sqlite3.Connection, version: int) -> Path:
    backup = path.with_name(f"{path.stem}-version-{version}{path.suffix}")
    needed, free = 2 * path.stat().st_size, shutil.disk_usage(path.absolute().parent).free
    if backup.exists():
        raise InputError(f"{backup} already exists, where the copy of the store is to be; move it away.")
    if free < needed:
        raise InputError(f"the upgrade needs {format_size(needed)} beside {path}, and {format_size(free)} are free.")
    back_up(connection, backup)
    return backup


def _forget(connection: sqlite3.Connection) -> tuple[str, ...]:
    """Let go of what only the versions before had; return sentences on what a person may miss."""
    meta = read_meta(connection)
    gone = []
    if "weights" in meta:
        gone.append("the weights that it had learned: the rule of today has none")
    if "encoder" in meta:
        name = json.loads(meta["encoder"])["name"]
        gone.append(f"the meaning of articles by the encoder {name}: stories go by words alone")
    settings = json.loads(meta.get("settings", "{}"))
    if any(settings.get(name, usual) != usual for name, usual in _PACE.items()):
        gone.append("its pace: how long a story waits follows how many articles there are")
    connection.execute("DELETE FROM meta WHERE key IN (SELECT value FROM json_each(?))", (json.dumps(_GONE),))
    if "settings" in meta:
        models = with_model(json.loads(meta.get("models", "{}")), last_batch(connection)[0] + 1)
        write_meta(connection, models=models, settings=json.dumps(asdict(StreamSettings()), sort_keys=True))
    return tuple(gone)


def _read_again(connection: sqlite3.Connection) -> int:
    """Read the last articles, so that later ones can be compared with them; return how many."""
    meta = read_meta(connection)
    if "next_number" not in meta:
        return 0
    connection.create_function("outlet_of", 1, outlet_of, deterministic=True)
    connection.execute("UPDATE document SET outlet = outlet_of(source)")
    clusterer = Clusterer(StreamSettings(), connection)
    clusterer.clock, clusterer.next_number = clock_of(connection), int(meta["next_number"])
    rows = connection.execute(_LAST).fetchall()[::-1]
    linked = clusterer.add_known([(number, family, story, Article(*values)) for number, family, story, *values in rows])
    connection.executemany(
        "UPDATE document SET language = ? WHERE number = ?",
        [(language, number) for language, desk in clusterer.desks.items() for number in desk.articles],
    )
    write_links(connection, linked.values())
    write_desks(connection, clusterer)
    return len(linked)
