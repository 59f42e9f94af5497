"""A store of an older version brought up to date: a copy first, then its tables, then the words of its last articles.

Articles, stories, their lineage and what an editor has said stay as they are. Later articles are compared with the last
ones, so these are read again.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path

from doccluster.base.plain_values import format_size
from doccluster.errors import InputError
from doccluster.stories.cleaning import outlet_of
from doccluster.stories.looking_again import KEPT
from doccluster.streams.article import Article
from doccluster.streams.settings import StreamSettings
from doccluster.streams.store.batches import (
    ARTICLE,
    clock_of,
    last_batch,
    read_meta,
    with_model,
    write_desks,
    write_links,
    write_meta,
)
from doccluster.streams.store.clusterer import Clusterer
from doccluster.streams.store.database import back_up, changing, check_is_there, described, transaction
from doccluster.streams.store.schema import OLDEST, VERSION, WORDS_SINCE, remake_tables, version_of

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
    """Bring a store up to date.

    Raises InputError if there is no room for the copy, or a file of its name is there.
    """
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
