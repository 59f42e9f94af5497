"""Replays: the same articles give the same bytes, in one go, in parts, or after being killed at any commit."""

from __future__ import annotations

import json
import pathlib
import random
import sqlite3
from contextlib import closing

import pytest

from doccluster.errors import DocclusterWarning, InputError, SchemaError
from doccluster.streams import StoryStream, StreamSettings
from doccluster.streams.polling.parsing import entries_of
from doccluster.streams.settings import DAY, HOUR, parse_duration
from doccluster.streams.store.access import back_up, check_store, described, open_to_read, reading
from doccluster.streams.store.database import read_texts
from experiments.news_stream import make_news_stream

ROOT = pathlib.Path(__file__).resolve().parents[2]
FEEDS = ROOT / "corpora" / "samples" / "newsroom" / "feeds"
ARTICLES = ROOT / "corpora" / "samples" / "newsroom" / "articles.jsonl"

TOPICS = [
    "ferry Skerrow harbour aground passengers captain tide rescue hull salvage",
    "bank interest rates inflation governor percent bonds mortgage savings crown",
    "orchestra tour conductor Bergmann violin concert season hall tickets symphony",
    "wheat harvest drought farmers grain silo export bushel ministry subsidy",
    "viaduct Hollin bearing engineers crack closure traffic inspection deck girder",
]


def made_rows(n_rows, *, seed=0):
    """Dated articles on five topics that overlap in time, with copies, and some without a believable date."""
    rng = random.Random(seed)
    rows = []
    for number in range(n_rows):
        topic = rng.choice(TOPICS).split()
        words = rng.choices(topic, k=30) + rng.choices([f"filler{one}" for one in range(400)], k=30)
        text = " ".join(words)
        if rows and rng.random() < 0.25:
            text = rng.choice(rows)["text"] + " Agency"
        day, hour = divmod(number * 3, 24)
        date = f"2026-{3 + day // 28:02}-{1 + day % 28:02}T{hour:02}:{rng.randrange(60):02}:00Z"
        if rng.random() < 0.03:
            date = rng.choice(["0001-01-01T00:00:00Z", "2090-01-01", ""])
        title = " ".join(rng.sample(topic, 4))
        rows.append({"id": f"a{number}", "date": date, "source": f"outlet {number % 7}", "title": title, "text": text})
    return rows


def written(rows, path):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def dump(path):
    with sqlite3.connect(path) as connection:
        lines = list(connection.iterdump())
    connection.close()
    return lines


QUICK = StreamSettings(half_life=DAY / 2, look_every=HOUR)
NOW = 1_790_000_000


@pytest.fixture(scope="module")
def replayed_at_once(tmp_path_factory):
    """Rows of some days, and what a store of them holds that one process has filled."""
    folder = tmp_path_factory.mktemp("once")
    rows = [row for row in made_rows(120, seed=3) if row["date"].startswith("2026")]
    with StoryStream(folder / "once.db", settings=QUICK) as stream:
        done = stream.replay(written(rows, folder / "all.jsonl"), now=NOW)
    assert {"born", "grew", "merged"} <= set(done.events)
    return rows, dump(folder / "once.db")


@pytest.mark.parametrize("n_parts", [2, 9])
def test_days_replayed_by_several_processes_make_the_store_of_one_process(replayed_at_once, tmp_path, n_parts):
    rows, expected = replayed_at_once
    days = sorted({row["date"][:10] for row in rows})
    for part in range(n_parts):
        own = [row for row in rows if days.index(row["date"][:10]) * n_parts // len(days) == part]
        with StoryStream(tmp_path / "parts.db", settings=QUICK if part == 0 else None) as stream:
            stream.replay(written(own, tmp_path / f"{part}.jsonl"), now=NOW)
    assert dump(tmp_path / "parts.db") == expected


KILLED = """
import os, signal, sys
import doccluster.streams.store.database as database
import doccluster.streams.article as replay
import doccluster.streams.stream as stories
n_left = 0
replay.ARTICLES_PER_COMMIT = 1
commit = database.transaction

class Dying:
    def __init__(self, connection):
        self.inner = commit(connection)
    def __enter__(self):
        return self.inner.__enter__()
    def __exit__(self, *error):
        global n_left
        n_left -= 1
        if n_left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        done = self.inner.__exit__(*error)
        n_left -= 1
        if n_left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return done

from doccluster.streams import StoryStream
with StoryStream() as one:  # loads what every copy of this process would have to load
    one.replay(sys.argv[2], now=1790000000, batch=21600)
stories.transaction = Dying
for kill in range(1, 1000):
    child = os.fork()
    if child == 0:
        n_left = kill
        with StoryStream(f"{sys.argv[1]}/{kill}.db") as one:
            one.replay(sys.argv[2], now=1790000000, batch=21600)
        os._exit(0)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0:
        break
    print(kill)
"""


def test_a_replay_that_is_killed_before_or_after_each_commit_and_repeated_ends_like_the_undisturbed_one(
    copies, tmp_path
):
    source = written([row for row in made_rows(20, seed=5) if row["date"][:4] == "2026"], tmp_path / "all.jsonl")
    with StoryStream(tmp_path / "once.db") as stream:
        done = stream.replay(source, now=NOW, batch=21600)
    kills = copies.run(KILLED, tmp_path, source).stdout.split()
    assert kills == [str(kill) for kill in range(1, len(kills) + 1)]
    assert len(kills) >= 2 * done.n_batches >= 20
    undisturbed = dump(tmp_path / "once.db")
    for kill in kills:
        store = tmp_path / f"{kill}.db"
        with StoryStream(store) as stream:
            assert stream.check() == []
            stream.replay(source, now=NOW, batch=21600)
        assert dump(store) == undisturbed


def test_an_interrupted_replay_can_go_on_in_the_same_process(tmp_path):
    source = written(made_rows(60), tmp_path / "all.jsonl")

    def interrupt(stage, done, total=None):
        if done > 30:
            raise KeyboardInterrupt

    with StoryStream(tmp_path / "once.db") as stream:
        stream.replay(source, now=NOW)
    with StoryStream(tmp_path / "twice.db") as stream:
        with pytest.raises(KeyboardInterrupt):
            stream.replay(source, now=NOW, progress=interrupt)
        assert stream.check() == []
        stream.replay(source, now=NOW)
    assert dump(tmp_path / "twice.db") == dump(tmp_path / "once.db")


def test_an_earlier_moment_is_what_the_store_was_then(tmp_path):
    rows = [row for row in made_rows(130, seed=7) if row["date"][:4] == "2026"]
    middle = "2026-03-12T00:00:00Z"
    with StoryStream(tmp_path / "half.db", settings=QUICK) as stream:
        stream.replay(written([row for row in rows if row["date"] < middle], tmp_path / "half.jsonl"), now=NOW)
        then = stream.tables()
    with StoryStream(tmp_path / "all.db", settings=QUICK) as stream:
        stream.replay(written(rows, tmp_path / "all.jsonl"), now=NOW)
        at, now = stream.tables(at=middle), stream.tables()
    assert at.documents == then.documents
    assert at.stories == then.stories
    assert at.lineage == then.lineage
    assert len(now.documents["id"]) > len(at.documents["id"])


@pytest.fixture(scope="module")
def turning(tmp_path_factory):
    """A store whose stories merge and split."""
    path = tmp_path_factory.mktemp("turning") / "news.db"
    made = make_news_stream(12, merges=3, splits=3, days=5, n_topics=2, random_state=1)
    with StoryStream(path) as stream:
        done = stream.replay(made.to_corpus(), now=NOW)
        assert stream.check() == []
    assert {"merged", "split", "moved"} <= set(done.events)
    return path


def test_the_lineage_alone_gives_the_story_of_every_document_at_any_moment(turning):
    with sqlite3.connect(turning) as connection:
        batches = [batch for (batch,) in connection.execute("SELECT batch_id FROM batch ORDER BY batch_id")]
        for batch in batches[:: len(batches) // 7]:
            membership = dict(
                connection.execute(
                    "SELECT doc_id, story_id FROM membership WHERE from_batch <= :at AND IFNULL(to_batch, 9e9) > :at",
                    {"at": batch},
                )
            )
            folded = {}
            for event, story, other, doc_id in connection.execute(
                "SELECT event, story_id, other_id, doc_id FROM lineage WHERE batch_id <= ? ORDER BY seq", (batch,)
            ):
                if event in ("born", "grew", "moved"):
                    assert folded.get(doc_id) == (other if event == "moved" else None)
                    folded[doc_id] = story
            assert folded == membership
    connection.close()


def test_a_merge_and_a_split_have_a_line_for_each_document_they_move(turning):
    with sqlite3.connect(turning) as connection:
        lines = connection.execute("SELECT event, story_id, other_id, n_documents FROM lineage ORDER BY seq").fetchall()
    connection.close()
    n_turns = 0
    for place, (event, story, other, n_documents) in enumerate(lines):
        if event in ("merged", "split"):
            moved = lines[place + 1 : place + 1 + n_documents]
            pair = (story, other) if event == "merged" else (other, story)
            assert moved == [("moved", *pair, 1)] * n_documents
            n_turns += 1
    assert n_turns >= 2


def test_each_article_that_goes_to_another_story_has_a_reason(turning):
    with sqlite3.connect(turning) as connection:
        reasons = connection.execute(
            "SELECT reason FROM lineage WHERE event IN ('merged', 'split', 'moved')"
        ).fetchall()
        others = connection.execute("SELECT reason FROM lineage WHERE event IN ('born', 'grew', 'closed')").fetchall()
    connection.close()
    assert all("like the articles there" in reason for (reason,) in reasons)
    assert not any(reason for (reason,) in others)


def test_impossible_dates_take_the_place_of_their_neighbour():
    texts = [("2026-03-02T08:00:00Z", "ferry aground"), ("2050-01-01", "bank rates"), ("0001-01-01", "wheat harvest")]
    stream = StoryStream()
    stream.replay(texts, now=NOW)
    assert set(stream.tables().documents["date"]) == {"2026-03-02T08:00:00Z"}


def test_a_stream_reads_dates_as_every_reader_does(tmp_path):
    rows = [f"{date},ferry {TOPICS[0]} {n}" for n, date in enumerate(("03/04/2026 10:00", "13/04/2026 PM", "soon"))]
    (tmp_path / "a.csv").write_text("date,text\n" + "\n".join([*rows, "14/04/2026 3:00 PM,ferry"]) + "\n")
    with StoryStream() as stream:
        with pytest.warns(DocclusterWarning, match=r"2 of 4 dates were read, 2 could not be read"):
            stream.replay(tmp_path / "a.csv")
        stream.replay([("Fri, 17 Apr 2026 10:00:00 +0200", "the viaduct", "Crack")])
        known = stream.tables().documents
    assert {"2026-04-03T10:00:00Z", "2026-04-14T15:00:00Z", "2026-04-17T08:00:00Z"} <= set(known["date"])


def test_a_polled_feed_has_the_dates_of_a_feed_in_a_file():
    items = "".join(
        f"<item><title>{n} ferry</title><pubDate>{date}</pubDate></item>"
        for n, date in enumerate(
            ("2019/11/15 10:00:00", "Sat, 28 Mar 2020 15:21:12 IST", "Mon, 03 Jul 2023 12:15:00 CEST")
        )
    )
    entries, _ = entries_of(f"<rss version='2.0'><channel><title>a</title>{items}</channel></rss>".encode())
    assert [one["date"] for one in entries] == ["2019-11-15T10:00:00", "2020-03-28", "2023-07-03T10:15:00+00:00"]


def test_a_copy_counts_once_in_its_story_and_as_coverage():
    stream = StoryStream()
    text = " ".join(f"word{number}" for number in range(80))
    stream.replay([("2026-03-02T08:00:00Z", text), ("2026-03-03T08:00:00Z", text + " Agency")], now=NOW)
    stories = stream.tables().stories
    assert (stories["documents"], stories["families"]) == ([2], [1])


def test_nothing_is_counted_twice_however_often_it_is_replayed(tmp_path):
    with StoryStream(tmp_path / "news.db") as stream:
        first = stream.replay(FEEDS)
    before = dump(tmp_path / "news.db")
    with StoryStream(tmp_path / "news.db") as stream:
        again = stream.replay(FEEDS)
        other = stream.replay(ARTICLES)
    assert first.n_new > 100
    assert (again.n_new, again.n_batches, other.n_new) == (0, 0, 0)
    after = dump(tmp_path / "news.db")
    assert [line for line in after if '"sighting"' not in line] == [line for line in before if '"sighting"' not in line]


def test_check_finds_what_was_tampered_with(tmp_path):
    path = tmp_path / "news.db"
    with StoryStream(path) as stream:
        stream.replay(written(made_rows(40), tmp_path / "all.jsonl"), now=NOW)
    for tampering, check in [
        ("DELETE FROM membership WHERE doc_id = 3", "lineage"),
        ("UPDATE lineage SET n_documents = 2 WHERE seq = 1", "integrity"),
        ("UPDATE lineage SET doc_id = 3 WHERE doc_id = 2", "lineage"),
        ("UPDATE lineage SET event = 'resumed' WHERE doc_id = 4", "integrity"),
        ("UPDATE document SET first_story = 'nosuch' WHERE doc_id = 2", "placed"),
        ("DELETE FROM sighting WHERE doc_id = 5", "sighting"),
        ("DELETE FROM story WHERE story_id = (SELECT story_id FROM membership WHERE doc_id = 1)", "reference"),
    ]:
        copy = tmp_path / "copy.db"
        connection = open_to_read(path)
        back_up(connection, copy)
        connection.close()
        with sqlite3.connect(copy) as changed:
            read_texts(changed)
            changed.execute("PRAGMA ignore_check_constraints = ON")
            changed.execute(tampering)
            changed.execute("PRAGMA ignore_check_constraints = OFF")
            assert check in {one.check for one in check_store(changed)}
        changed.close()
        copy.unlink()


def test_files_that_are_no_stores_are_refused(tmp_path):
    (tmp_path / "text.db").write_text("not a database at all, but long enough to look at " * 20)
    with pytest.raises(InputError, match="cannot be used as a store"):
        StoryStream(tmp_path / "text.db")
    other = sqlite3.connect(tmp_path / "other.db")
    other.execute("CREATE TABLE t (a)")
    other.commit()
    other.close()
    with pytest.raises(SchemaError, match="another program"):
        StoryStream(tmp_path / "other.db")
    StoryStream(tmp_path / "new.db").close()
    newer = sqlite3.connect(tmp_path / "new.db")
    newer.execute("PRAGMA user_version = 99")
    newer.close()
    with pytest.raises(SchemaError, match="newer doccluster"):
        StoryStream(tmp_path / "new.db")


def test_a_full_disk_is_not_blamed_on_the_file(tmp_path):
    path = tmp_path / "news.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (a)")
        connection.execute("PRAGMA max_page_count = 2")  # as a disk that has no more room
        with pytest.raises(InputError, match="disk is full; free some space and try again"), described(path):
            connection.execute("INSERT INTO t VALUES (zeroblob(100000))")


def test_two_writers_at_once_are_refused(tmp_path):
    with StoryStream(tmp_path / "news.db"), pytest.raises(InputError, match="another process"):
        StoryStream(tmp_path / "news.db")
    StoryStream(tmp_path / "news.db").close()


def test_a_store_keeps_the_settings_it_was_made_with(tmp_path):
    with StoryStream(tmp_path / "news.db", settings=QUICK) as stream:
        assert stream.settings == QUICK
    with StoryStream(tmp_path / "news.db") as stream:
        assert stream.settings == QUICK
    with pytest.raises(InputError, match="other settings"):
        StoryStream(tmp_path / "news.db", settings=StreamSettings(half_life=DAY))


def test_a_backup_is_a_sound_store(tmp_path):
    with StoryStream(tmp_path / "news.db") as stream:
        stream.replay(written(made_rows(50), tmp_path / "all.jsonl"), now=NOW)
        stream.back_up(tmp_path / "copy.db")
    assert dump(tmp_path / "copy.db") == dump(tmp_path / "news.db")


@pytest.mark.parametrize("text", ["", "h", "1", "0h", "1.5h", "-1h", "1y"])
def test_times_that_are_none_are_refused(text):
    with pytest.raises(InputError, match="is not a time"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("given", "says"),
    [([("soon", "text")], "is not a date"), ([("2026-03-02", "text"), ("2026",)], "is not a dated text")],
)
def test_tuples_that_are_no_dated_texts_are_refused(given, says):
    with pytest.raises(InputError, match=says):
        StoryStream().replay(given)


@pytest.mark.parametrize("value", [0, -1.0, float("nan"), "soon", True])
def test_settings_that_are_no_times_are_refused(value):
    with pytest.raises(InputError, match="look_every"):
        StreamSettings(look_every=value)


SHORT = [  # titles alone, in too few words to tell their language, before a text that tells it
    ("2026-03-02T08:00:00Z", "Ferry runs aground off Skerrow, all passengers safe", ""),
    ("2026-03-02T09:00:00Z", "All passengers safe after ferry runs aground off Skerrow harbour", ""),
    ("2026-03-02T10:00:00Z", "The ferry that ran aground off Skerrow was on its way to the harbour of the islands", ""),
    ("2026-03-02T11:00:00Z", "Ferry aground off Skerrow: passengers safe", ""),
]


@pytest.mark.parametrize("n_together", [1, 2, 4])
def test_articles_too_short_to_tell_their_language_are_in_that_of_the_stream(tmp_path, n_together):
    path = tmp_path / "news.db"
    for begin in range(0, len(SHORT), n_together):  # as the store is opened again each time
        with StoryStream(path) as stream:
            stream.replay(SHORT[begin : begin + n_together], now=NOW)
    with reading(path) as connection:
        assert check_store(connection) == []
        assert connection.execute("SELECT DISTINCT language FROM document").fetchall() == [("english",)]
        assert connection.execute("SELECT DISTINCT language FROM story").fetchall() == [("english",)]
        assert connection.execute("SELECT COUNT(*) FROM story WHERE state = 'open'").fetchone() == (1,)
