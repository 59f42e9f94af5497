"""Targets: stores of streams, damaged byte by byte and row by row, given to everything that opens one.

`python -m tests.fuzz store store-rows` prints how many ended how: "sound" (nothing in it has changed), "found" (by
`stream check`), "unseen" (a byte has changed in what nothing else in the store repeats, such as a source). What is not
found otherwise, or ends in a traceback, is a failure.
"""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from doccluster.corpus.dates import as_moment
from doccluster.errors import DocclusterError, InputError
from doccluster.report.page import render_front_page
from doccluster.streams import StoryStream, StreamSettings
from doccluster.streams.article import as_text
from doccluster.streams.page.front_page import front_page
from doccluster.streams.polling._fetching import Reachable
from doccluster.streams.polling.poller import PollOptions
from doccluster.streams.settings import DAY, HOUR
from doccluster.streams.store.access import back_up, changing, check_store, reading
from doccluster.streams.store.diff import compare_sides, read_sides
from doccluster.streams.store.tables import records
from doccluster.streams.store.upkeep import prune
from experiments.news_stream import make_news_stream
from tests.fuzz.campaign import Target, check_sentence, scratch_folder
from tests.fuzz.mutate import LONGEST

BEGINS, NOW = 1_772_400_000, 1_790_000_000
_ADDRESS = "http://127.0.0.1/feed"


@cache
def _folder() -> Path:
    return scratch_folder()


TOPICS = (
    "ferry Skerrow harbour aground passengers captain tide rescue hull",
    "bank interest rates inflation governor percent bonds mortgage savings",
    "orchestra tour conductor Bergmann violin concert season hall tickets",
)


@cache
def small_store() -> bytes:
    """Return a store of a few short articles, some of them copies, so small that mutations see all of it."""
    draw, path = random.Random(0), _folder() / "small.db"
    settings = StreamSettings(half_life=DAY / 2, look_every=HOUR)
    articles = [
        (as_text(BEGINS + hour * HOUR), " ".join(draw.choices(TOPICS[hour // 30].split(), k=9)), f"number {hour}")
        for hour in range(0, 90, 6)
    ]
    articles.insert(0, (as_text(BEGINS - 40 * DAY), "a story that ended long before", "the first"))
    with StoryStream(path, settings=settings) as stream:
        stream.replay([*articles, (articles[-1][0], articles[-1][1], articles[-1][2] + " again")], now=NOW)
        stream.poll(_ADDRESS, options=_unreachable(BEGINS + 90 * HOUR))
        assert stream.check() == []
        assert {"open", "closed"} == set(stream.tables().stories["state"])
    _pack(path)
    assert path.stat().st_size <= LONGEST
    return path.read_bytes()


@cache
def turning_store() -> bytes:
    """Return a store with merges, splits, closed stories, copies and edits, and a feed that was refused."""
    path = _folder() / "turning.db"
    corpus = make_news_stream(6, merges=1, splits=1, days=3, n_topics=2, random_state=1).to_corpus()
    with StoryStream(path) as stream:
        stream.replay(corpus, now=NOW)
        late = max(stream.tables().documents["date"])
        after = as_text((as_moment(late) or 0) + 9 * DAY)
        stream.replay([(late, corpus.texts[-1] + " Agency", "a copy"), (after, "words of its own", "")], now=NOW)
        stream.poll(_ADDRESS, options=_unreachable((as_moment(after) or 0) + 2 * DAY))
        stream.cluster((as_moment(after) or 0) + 2 * DAY, is_sure=True)
        assert stream.check() == []
        assert {"open", "closed", "merged"} == set(stream.tables().stories["state"])
    _pack(path)
    return path.read_bytes()


def _pack(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("PRAGMA page_size = 512")
        connection.execute("VACUUM")


@dataclass(frozen=True)
class _Clock:
    moment: int

    def now(self) -> float:
        return self.moment

    def sleep(self, seconds: float) -> None:
        raise AssertionError("nothing is asked that would have to wait")


def _unreachable(moment: int = NOW) -> PollOptions:
    """Return options by which the one address is refused, so that no connection is opened."""
    return PollOptions(reach=Reachable(resolve=lambda host, port: ["127.0.0.1"]), clock=_Clock(moment))


def _replay(path: Path) -> None:
    with StoryStream(path) as stream:
        tables = stream.tables()
        moment = max([*tables.documents["date"], "2026-03-02T08:00:00Z"])
        articles = [(moment, "The ferry ran aground off the harbour", "Ferry"), (moment, "Wheat harvest fails", "")]
        stream.replay(articles, now=NOW)


def _poll(path: Path) -> None:
    with StoryStream(path) as stream:
        stream.poll(_ADDRESS, options=_unreachable(), force=True)


def _prune(path: Path) -> None:
    with changing(path) as connection:
        prune(connection, NOW)


def _export(path: Path) -> None:
    with reading(path) as connection:
        for at in (None, "2026-03-03", "2024-01-03"):
            for rows in records(connection, at=at).values():
                list(rows)


def _report(path: Path) -> None:
    with reading(path) as connection:
        render_front_page(front_page(connection))


def _diff(path: Path) -> None:
    compare_sides(*read_sides(f"{path}@2026-03-03", path))


def _back_up(path: Path) -> None:
    copy = path.with_name("copy.db")
    copy.unlink(missing_ok=True)
    with reading(path) as connection:
        back_up(connection, copy)


USES: tuple[Callable[[Path], None], ...] = (_export, _report, _diff, _back_up, _poll, _prune, _replay)


def is_found(path: Path) -> bool:
    """Return whether `stream check` says that a store is not sound, or not a store."""
    try:
        with reading(path) as connection:
            return bool(check_store(connection))
    except InputError as error:
        check_sentence(error)
        return True


def use(path: Path) -> int:
    """Do everything with copies of a store; return how often it was refused."""
    n_refused = 0
    for one in USES:
        copy = path.with_name("used.db")
        for suffix in ("", "-journal", "-wal", "-shm"):
            Path(f"{copy}{suffix}").unlink(missing_ok=True)
        shutil.copy(path, copy)
        try:
            one(copy)
        except DocclusterError as error:
            check_sentence(error)
            n_refused += 1
    return n_refused


@cache
def _contents_of(data: bytes) -> list[str] | None:
    path = _folder() / "good.db"
    path.write_bytes(data)
    return _contents(path)


def _changed(path: Path, before: bytes) -> bool:
    return _contents(path) != _contents_of(before)


def _contents(path: Path) -> list[str] | None:
    try:
        with closing(sqlite3.connect(path)) as connection:
            return list(connection.iterdump())
    except (sqlite3.Error, TypeError):  # `iterdump` joins what may be None
        return None


def read_store(data: bytes) -> str:
    """Use a store of these bytes."""
    path = _folder() / "store.db"
    path.write_bytes(data)
    found = is_found(path)
    use(path)
    if found:
        return "found"
    return "unseen" if _changed(path, small_store()) else "sound"


# --- row by row -----------------------------------------------------------------------------------------------------

# what the store does not say twice, or only through what is not kept: any other value is as good
_FREE = {
    "batch": {"kind", "moment", "clock", "n_documents"},
    "document": {"id", "date", "first_seen", "similarity", "source", "link", "guid", "published", "title"}
    | {"outlet", "background"},
    "document_version": {"seen"},
    "feed": None,
    "feed_alias": None,
    "fetch": None,
    "lineage": {"similarity", "moment", "seq", "reason"},
    "story_lead": {"from_batch"},
    "sighting": {"source", "guid", "first_seen"},
    "story": {"changed", "led_at", "last", "first", "n_families", "born", "touched"},
    "term": None,
}
# what another row has is as good here: who named a story in between, the hash of a text that is no longer kept, words
# and links of another article
_SWAPPED = {"document": {"text_hash", "words", "links"}, "story_lead": {"doc_id"}}
_VALUES = ("open", "", -1, 0, 1, 2**31, 2**62, -(2**63), 1e308, None, b"\0\0\0\0\0", "nan", "[]", "{}", "9" * 30)


def _drop_a_table(connection: sqlite3.Connection, draw: random.Random) -> str:
    rows = connection.execute("SELECT type, name FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name").fetchall()
    kind, name = draw.choice(rows)
    connection.execute(f"DROP {kind} {name}")
    return f"DROP {kind} {name}"


def _tables(connection: sqlite3.Connection) -> list[str]:
    rows = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").fetchall()
    return [name for (name,) in rows if connection.execute(f"SELECT COUNT(*) FROM {name}").fetchone()[0]]


def _a_row(connection: sqlite3.Connection, table: str, draw: random.Random) -> tuple[str, list[object]]:
    """Return what names one row of a table: a condition and its values."""
    names = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
    row = draw.choice(connection.execute(f"SELECT * FROM {table}").fetchall())
    return " AND ".join(f"{name} IS ?" for name in names), list(row)


def _delete_a_row(connection: sqlite3.Connection, draw: random.Random) -> str:
    table = draw.choice([one for one in _tables(connection) if _FREE.get(one, ()) is not None])
    where, values = _a_row(connection, table, draw)
    if table == "story_lead":  # who named a story in between is said nowhere else
        where = "from_batch = (SELECT MIN(from_batch) FROM story_lead l WHERE l.story_id = story_lead.story_id)"
        where, values = f"story_id = ? AND {where}", values[:1]
    if table == "meta" and values[0] == "models":  # a store from before models were noted has none
        where = "key = 'settings'"
        values = []
    connection.execute(f"DELETE FROM {table} WHERE {where}", values)
    return f"DELETE FROM {table} {values}"


def _delete_rows(connection: sqlite3.Connection, draw: random.Random) -> str:
    table = draw.choice([one for one in _tables(connection) if _FREE.get(one, ()) is not None])
    connection.execute(f"DELETE FROM {table}")
    return f"DELETE FROM {table}"


def _change_a_value(connection: sqlite3.Connection, draw: random.Random) -> str:
    table = draw.choice([one for one in _tables(connection) if _FREE.get(one, ()) is not None])
    free = _FREE.get(table) or set()
    columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})") if row[1] not in free]
    where, values = _a_row(connection, table, draw)
    column, value = draw.choice(columns), draw.choice(_VALUES)
    connection.execute(f"UPDATE {table} SET {column} = ? WHERE {where}", [value, *values])
    return f"UPDATE {table} SET {column} = {value!r} {values}"


def _swap_values(connection: sqlite3.Connection, draw: random.Random) -> str:
    """Give a row the value of another."""
    table = draw.choice([one for one in _tables(connection) if _FREE.get(one, ()) is not None])
    free = (_FREE.get(table) or set()) | _SWAPPED.get(table, set())
    columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})") if row[1] not in free]
    where, values = _a_row(connection, table, draw)
    column = draw.choice(columns)
    ((other,),) = draw.sample(connection.execute(f"SELECT {column} FROM {table}").fetchall(), 1)
    connection.execute(f"UPDATE {table} SET {column} = ? WHERE {where}", [other, *values])
    return f"UPDATE {table} SET {column} = {other!r} {values}"


def _damage_a_blob(connection: sqlite3.Connection, draw: random.Random) -> str:
    column = draw.choice(("words", "links"))
    rows = connection.execute(f"SELECT doc_id, {column} FROM document WHERE LENGTH({column}) > 20").fetchall()
    doc_id, data = draw.choice(rows)
    cut = bytearray(data)
    if draw.random() < 0.5:
        del cut[draw.choice((6, draw.randrange(len(cut)) // 40 * 40 + 7)) :]
    else:  # a term that there is not, a likeness that is no number
        place = 0
        cut[place : place + 8] = b"\xff" * 8
    connection.execute(f"UPDATE document SET {column} = ? WHERE doc_id = ?", (bytes(cut), doc_id))
    return f"{column} of {doc_id}: {len(data)} bytes to {len(cut)}"


WAYS = (_drop_a_table, _delete_a_row, _delete_rows, _change_a_value, _change_a_value, _swap_values, _damage_a_blob)


def read_rows(data: bytes) -> str:
    """Use a store in which rows were changed, as the bytes decide."""
    draw = random.Random(data)
    path = _folder() / "rows.db"
    path.write_bytes(turning_store())
    done = []
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        for _ in range(draw.choice((1, 1, 1, 2, 3))):
            try:
                done.append(draw.choice(WAYS)(connection, draw))
            except (sqlite3.Error, OverflowError, IndexError):  # the schema does not let it happen
                continue
    found = is_found(path)
    use(path)
    if not _changed(path, turning_store()):
        return "sound"
    assert found, f"{'; '.join(done):.600} is not found"
    return "found"


STORES: tuple[Target, ...] = (
    Target("store", lambda: [small_store()], read_store, (b"\0" * 8, b"CREATE TABLE "), in_place=True, apart=True),
    Target("store-rows", lambda: [b"seed"], read_rows, apart=True),
)
