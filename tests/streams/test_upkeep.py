"""Stores over time: old texts go, copies are made while others write, and what stays is as it was."""

from __future__ import annotations

import json
import pathlib
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from doccluster.errors import InputError, SchemaError
from doccluster.streams import StoryStream
from doccluster.streams.store import access
from doccluster.streams.store.access import back_up, check_store, open_to_read, reading
from doccluster.streams.store.database import read_texts
from tests.cli.conftest import doccluster  # noqa: F401  a fixture
from tests.streams.test_replay import NOW, QUICK, ROOT, dump, made_rows, written

MIDDLE = 1_773_000_000  # 2026-03-08


def late_rows():
    """Articles of a time when all stories have ended: as many as it takes to believe that it has come."""
    text = " ".join(f"orchestra{number} island{number} tour{number}" for number in range(30))
    return [
        {
            "id": f"late{day}",
            "date": f"2026-06-{day}",
            "title": f"Orchestra {day}",
            "text": f"{text} {day}",
            "source": "x",
        }
        for day in (18, 19, 20)
    ]


def texts_of(connection):
    return dict(connection.execute("SELECT doc_id, plain(text) FROM document"))


@pytest.mark.parametrize("is_titled", [True, False])
def test_pruning_deletes_old_texts_and_changes_no_story(tmp_path, is_titled):
    rows = made_rows(260) + late_rows()  # stories end
    rows = rows if is_titled else [{**row, "title": ""} for row in rows]
    source = written(rows, tmp_path / "all.jsonl")
    with StoryStream(tmp_path / "news.db", settings=QUICK) as stream:
        stream.replay(source, now=NOW)
        before = stream.tables()
        done = stream.prune(MIDDLE)
        assert stream.check() == []
        after = stream.tables()
        assert (after.documents, after.stories, after.lineage) == (before.documents, before.stories, before.lineage)
        again = stream.replay(source, now=NOW)
    assert (again.n_new, again.n_edited) == (0, 0)
    with reading(tmp_path / "news.db") as connection:
        lengths = connection.execute("SELECT published >= ?, LENGTH(plain(text)) FROM document", (MIDDLE,)).fetchall()
    kept = {is_new: min(length for one, length in lengths if one == is_new) for is_new in (0, 1)}
    n_shorter = sum(length <= 300 for _, length in lengths)
    assert done.n_texts == n_shorter > 20
    assert (kept[0], kept[1] > 300) == (0 if is_titled else 300, True)
    assert done.n_bytes_after < done.n_bytes_before


def test_pruning_leaves_what_waits_and_what_a_story_still_needs(tmp_path):
    with StoryStream(tmp_path / "news.db") as stream:
        stream.replay(written(made_rows(60), tmp_path / "all.jsonl"), now=NOW)
        stream._connection.execute(
            "UPDATE document SET batch_id = NULL, number = NULL, family = NULL,"
            " first_story = NULL, words = NULL, links = NULL WHERE doc_id = 7"
        )
        before = texts_of(stream._connection)
        assert stream.prune(NOW).n_texts == 0
        assert texts_of(stream._connection) == before


def test_pruning_deletes_earlier_versions_and_requests_of_that_age(tmp_path):
    text = "The harbour of Skerrow stays shut while divers look at the hull of the ferry"
    with StoryStream(tmp_path / "news.db", settings=QUICK) as stream:
        for day, ending in ((1, ""), (1, " again"), (28, " and again")):
            one = {"id": f"a{day}", "date": f"2026-03-{day:02}", "title": f"Ferry {day}", "text": text + ending}
            stream.replay(written([one], tmp_path / "one.jsonl"), now=NOW)
        stream.replay(written(late_rows(), tmp_path / "late.jsonl"), now=NOW)
        insert = (
            "INSERT INTO feed VALUES (1, 'u', '', '', 'active', '', '', '', 1, 1, 0, '', 0, 0, 0, 0, '', '[]', '[]')"
        )
        stream._connection.execute(insert)
        for at in (MIDDLE - 1, MIDDLE):
            stream._connection.execute("INSERT INTO fetch VALUES (NULL, 1, ?, 'u', 200, 1, '', 1, 1)", (at,))
        done = stream.prune(MIDDLE)
    assert (done.n_texts, done.n_versions, done.n_fetches) == (1, 1, 1)


WRITER = """
import sys
import doccluster.streams.article as replay
import doccluster.streams.stream as stream
replay.ARTICLES_PER_COMMIT = 1
with stream.StoryStream(sys.argv[1]) as one:
    print("begins", flush=True)
    one.replay(sys.argv[2], now=1790000000)
"""


def test_copies_made_while_another_process_writes_are_sound(tmp_path):
    store, source = tmp_path / "news.db", written(made_rows(60), tmp_path / "all.jsonl")
    writer = subprocess.Popen([sys.executable, "-c", WRITER, store, source], cwd=ROOT, stdout=subprocess.PIPE)
    assert writer.stdout.readline() == b"begins\n"
    sizes = []
    while writer.poll() is None:
        copy = tmp_path / f"{len(sizes)}.db"
        connection = open_to_read(store)
        back_up(connection, copy)
        connection.close()
        with reading(copy) as copied:
            assert check_store(copied) == []
            sizes.append(copied.execute("SELECT COUNT(*) FROM document").fetchone()[0])
        copy.unlink()
    writer.stdout.close()
    assert writer.returncode == 0
    assert sizes == sorted(sizes)
    assert any(0 < size < 60 for size in sizes)


KILLED = """
import os, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute(f"PRAGMA journal_mode = {sys.argv[2]}")
connection.execute("PRAGMA cache_size = 2")  # so that pages are written before the end
connection.execute("BEGIN IMMEDIATE")
connection.execute("UPDATE document SET title = 'half done', text = zeroblob(20000)")
os.kill(os.getpid(), 9)
"""


def kill_a_writer_of(store, journal):
    """Kill a writer of a store inside a transaction; return the files that are there then, by name."""
    assert subprocess.run([sys.executable, "-c", KILLED, store, journal], check=False).returncode == -9
    files = {path.name: path.read_bytes() for path in store.parent.glob("news.db*")}
    assert len(files["news.db-wal" if journal == "WAL" else "news.db-journal"]) > 10_000
    return files


READING = (["check"], ["list"], ["find", "ferry"], ["export", "-o", "out"], ["backup", "-o", "copy.db"], ["rebuild"])


@pytest.mark.parametrize("journal", ["TRUNCATE", "WAL"])
@pytest.mark.parametrize("verb", READING, ids=lambda verb: verb[0])
def test_a_store_whose_writer_was_killed_is_read_as_it_was(doccluster, store, journal, verb, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.chdir(tmp_path)
    with reading(store) as connection:
        before = texts_of(connection)
    kill_a_writer_of(store, journal)
    assert doccluster("stream", *verb, "--store", store).code == 0
    with reading(store) as connection:
        assert texts_of(connection) == before
        assert check_store(connection) == []


def not_opened(name):
    error = sqlite3.OperationalError("unable to open database file")
    error.sqlite_errorcode = sqlite3.SQLITE_CANTOPEN
    raise error


@pytest.mark.parametrize("journal", ["TRUNCATE", "WAL"])
def test_where_nothing_can_be_written_a_copy_of_the_store_is_read(store, journal, monkeypatch):
    with reading(store) as connection:
        before = texts_of(connection)
    files = kill_a_writer_of(store, journal)
    connect = access._connect
    monkeypatch.setattr(access, "_connect", lambda name: (not_opened if "mode=" in name else connect)(name))
    with reading(store) as connection:
        assert texts_of(connection) == before
        assert check_store(connection) == []
    assert files == {path.name: path.read_bytes() for path in store.parent.glob("news.db*")}


def test_a_store_that_cannot_be_copied_either_is_refused_with_what_to_do(store, monkeypatch):
    monkeypatch.setattr(access, "_connect", not_opened)
    monkeypatch.setattr(access.tempfile, "tempdir", str(store.parent / "missing"))
    with pytest.raises(InputError, match=r"not copied either .*; run a verb that writes to it once") as caught:
        open_to_read(store)
    assert str(store) in str(caught.value)


@pytest.fixture
def older(tmp_path):
    """A store of version 7: a pace of its own, learned weights, a name and a merge of an editor."""
    path = tmp_path / "older.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript((ROOT / "tests" / "samples" / "store-version-7.sql").read_text(encoding="utf-8"))
    return path


def membership_of(path):
    with closing(sqlite3.connect(path)) as connection:
        tables = ("membership", "story_lead", "correction", "batch")
        stories = connection.execute("SELECT story_id, founder, born, first, last, n_documents, state FROM story")
        lineage = connection.execute(
            "SELECT seq, batch_id, event, story_id, other_id, doc_id FROM lineage ORDER BY seq"
        )
        rows = {name: connection.execute(f"SELECT * FROM {name} ORDER BY 1, 2, 3").fetchall() for name in tables}
        return rows | {"story": sorted(stories.fetchall()), "lineage": lineage.fetchall()}


@pytest.mark.parametrize("verb", [["check"], ["list"], ["export", "-o", "out"], ["rebuild"]])
def test_a_store_of_an_older_version_names_its_upgrade_and_stays_as_it_is(doccluster, older, verb):  # noqa: F811
    before = older.read_bytes()
    said = doccluster("stream", *verb, "--store", older)
    assert (said.code, "`doccluster stream upgrade` brings it up to date" in said.err) == (2, True)
    assert older.read_bytes() == before


def test_an_upgrade_leaves_stories_as_they_were_and_a_copy_of_the_store(doccluster, older):  # noqa: F811
    before, bytes_before = membership_of(older), older.read_bytes()
    done = doccluster("stream", "upgrade", "--store", older)
    assert done.code == 0, done.err
    for words in ("for a copy of the store", "7 -> 9", "14 articles stay", "weights that it had learned", "its pace"):
        assert words in done.out
    backup = older.with_name("older-version-7.db")
    assert membership_of(backup) == before
    assert membership_of(older) == before
    with closing(sqlite3.connect(backup)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (7,)
    assert len(bytes_before) > 0
    assert doccluster("stream", "check", "--store", older).code == 0
    again = doccluster("stream", "upgrade", "--store", older)
    assert (again.code, "as they were" in again.out) == (0, True)


def test_a_store_goes_on_after_its_upgrade(doccluster, older, tmp_path):  # noqa: F811
    assert doccluster("stream", "upgrade", "--store", older).code == 0
    with StoryStream(older) as stream:
        documents = stream.tables().documents
        title, story = documents["title"][-1], documents["story"][-1]
        late = max(documents["date"])
        stream.replay(
            written([{"id": "n", "date": late, "title": title, "text": title, "source": "x"}], tmp_path / "n")
        )
        after = stream.tables().documents
        assert after["story"][after["id"].index("n")] == story
        assert stream.check() == []
        assert "The quay" in stream.tables().stories["label"]


def test_a_store_whose_tables_had_fewer_columns_is_the_same_after_its_upgrade(doccluster, store):  # noqa: F811
    before = dump(store)
    with closing(sqlite3.connect(store)) as connection:
        for column in ("skip_hours", "skip_days"):
            connection.execute(f"ALTER TABLE feed DROP COLUMN {column}")
        connection.execute("PRAGMA user_version = 8")
    done = doccluster("stream", "upgrade", "--store", store)
    assert (done.code, "8 -> 9" in done.out, "0 articles were read again" in done.out) == (0, True, True)
    assert dump(store) == before
    assert doccluster("stream", "check", "--store", store).code == 0


def test_an_upgrade_that_would_write_over_a_file_is_refused(doccluster, older):  # noqa: F811
    older.with_name("older-version-7.db").write_text("mine")
    before = older.read_bytes()
    said = doccluster("stream", "upgrade", "--store", older)
    assert (said.code, "already exists" in said.err) == (2, True)
    assert older.read_bytes() == before


def test_a_disk_that_is_full_is_not_blamed_on_the_store(tmp_path):
    resource = pytest.importorskip("resource")
    with StoryStream(tmp_path / "news.db") as stream:
        stream.replay([("2026-03-02", f"Ferry {number} sails to Skerrow {number}", "") for number in range(20)])
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (8192, limits[1]))
        try:
            with pytest.raises(InputError, match=r"the copy .*copy.db cannot be written.*free some space"):
                stream.back_up(tmp_path / "copy.db")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert stream.check() == []


def test_the_verb_backup_writes_a_store_that_is_the_same(doccluster, store, tmp_path):  # noqa: F811
    done = doccluster("stream", "backup", "--store", store, "-o", tmp_path / "copy.db")
    assert (done.code, "copy.db" in done.out) == (0, True)
    assert dump(tmp_path / "copy.db") == dump(store)
    again = doccluster("stream", "backup", "--store", store, "-o", tmp_path / "copy.db")
    assert (again.code, "--overwrite" in again.err) == (2, True)
    again = doccluster("stream", "backup", "--store", store, "-o", tmp_path / "copy.db", "--overwrite", "--json")
    assert json.loads(again.out)["n_bytes"] == (tmp_path / "copy.db").stat().st_size
    (tmp_path / "link.db").symlink_to(store)
    for same in (store, tmp_path / "link.db"):  # whoever writes to the store would go on in a file that has no name
        itself = doccluster("stream", "backup", "--store", store, "-o", same, "--overwrite")
        assert (itself.code, "is the store itself" in itself.err) == (2, True)


def test_the_verb_prune_says_what_it_deleted_and_the_store_stays_sound(doccluster, store, tmp_path):  # noqa: F811
    late = {"title": "Wheat", "text": "Wheat prices rose", "source": "wire"}
    later = [late | {"id": f"late{day}", "date": f"2026-06-{day}"} for day in (18, 19, 20)]
    doccluster("stream", "replay", written(later, tmp_path / "late.jsonl"), "--store", store)
    prune = ("stream", "prune", "--store", store, "--older-than")
    doccluster("stream", "export", "--store", store, "-o", tmp_path / "before")
    assert json.loads(doccluster(*prune, "52w", "--json").out)["n_texts"] == 0
    assert json.loads(doccluster(*prune, "4w", "--json").out)["n_texts"] > 100
    assert "0 texts" in doccluster(*prune, "4w").out
    assert "polls delete" not in doccluster(*prune, "4w").out
    assert "polls delete what is older than 4w, once a day" in doccluster(*prune, "4w", "--keep").out
    assert doccluster("stream", "check", "--store", store).code == 0
    doccluster("stream", "export", "--store", store, "-o", tmp_path / "after")
    for name in ("documents.csv", "stories.csv", "lineage.csv"):
        assert (tmp_path / "before" / name).read_bytes() == (tmp_path / "after" / name).read_bytes()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("prune", "--store", "nosuch.db", "--older-than", "1d"), "there is no store"),
        (("prune", "--store", "nosuch.db", "--older-than", "soon"), "is not a time"),
        (("prune", "--store", "nosuch.db"), "--older-than"),
        (("backup", "--store", "nosuch.db", "-o", "copy.db"), "there is no store"),
    ],
)
def test_upkeep_of_what_is_no_store_is_refused_in_a_sentence(doccluster, tmp_path, monkeypatch, arguments, says):  # noqa: F811
    monkeypatch.chdir(tmp_path)
    done = doccluster("stream", *arguments)
    assert done.code == 2
    assert says in done.err
    assert "Traceback" not in done.err
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """A store of sixty articles on several subjects, each of a language; tests damage copies of it."""
    path = tmp_path_factory.mktemp("sound") / "news.db"
    with StoryStream(path) as stream:
        stream.replay(written(made_rows(60), path.with_name("all.jsonl")), now=NOW)
        stream.replay([("2026-03-20", "It was the first of the ships that had been lost in the storm", "")], now=NOW)
        assert stream.check() == []
        assert stream._connection.execute("SELECT COUNT(*) FROM story WHERE language = ''").fetchone() == (0,)
        assert stream._connection.execute("SELECT COUNT(words) FROM document WHERE doc_id = 7").fetchone() == (1,)
    return path


@pytest.mark.parametrize(
    ("damage", "check"),
    [
        ("DROP TABLE story_lead", "tables"),
        ("UPDATE meta SET value = 'open' WHERE key = 'next_number'", "memory"),
        ("UPDATE document SET words = SUBSTR(words, 1, 7) WHERE doc_id = 7", "memory"),
        ("UPDATE document SET links = X'0001' WHERE doc_id = 7", "memory"),
        ("UPDATE term SET n_articles = -1 WHERE number = 3", "integrity"),
        ("UPDATE term SET number = 99999 WHERE number = 3", "memory"),
        ("UPDATE document SET family = 99 WHERE doc_id = 7", "integrity"),
        ("UPDATE membership SET story_id = 'nowhere' WHERE doc_id = 7", "reference"),
        ("UPDATE story SET state = '' WHERE state = 'open'", "integrity"),
        ("UPDATE story SET language = 'nowhere' WHERE state = 'open'", "memory"),
        ("UPDATE document SET text_hash = 7, words = NULL, links = NULL WHERE doc_id = 7", "text"),
    ],
)
def test_a_damage_is_found_and_named_and_using_the_store_ends_in_a_sentence(sound, tmp_path, damage, check):
    path = pathlib.Path(shutil.copyfile(sound, tmp_path / "news.db"))
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        read_texts(connection)
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute(damage)
        connection.execute("PRAGMA ignore_check_constraints = OFF")
        assert check in {one.check for one in check_store(connection)}
    if check in ("tables", "memory"):
        with pytest.raises(
            SchemaError, match=r"is damaged: .*; `doccluster stream check` lists .* `doccluster stream backup`"
        ):
            StoryStream(path).replay([("2026-05-01", "Orchestra tours the islands")], now=NOW)
