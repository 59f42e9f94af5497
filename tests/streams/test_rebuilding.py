"""Stores whose stories are made anew: the same by the same model, and by another one with the ids that stay."""

from __future__ import annotations

import json
import random
import shutil
from collections import Counter
from pathlib import Path

import pytest

from doccluster.stories import likeness
from doccluster.streams import StoryStream
from doccluster.streams.store.access import changing, reading
from doccluster.streams.store.upkeep import rebuilt
from experiments.streams.labelled import newsroom
from experiments.streams.replaying import judge
from tests.cli.conftest import doccluster  # noqa: F401  a fixture
from tests.streams.test_corrections import living, partition
from tests.streams.test_replay import NOW, QUICK, dump, made_rows, written
from tests.streams.test_upkeep import late_rows

MIDDLE = 1_773_000_000
SAMPLE = Path(__file__).resolve().parents[2] / "corpora" / "samples" / "newsroom"


@pytest.fixture(scope="module")
def corrected(tmp_path_factory):
    """A store with stories that merged, split and ended, and corrections of which one was taken back."""
    rows = [row for row in made_rows(160, seed=5) if row["date"].startswith("2026")]
    path = tmp_path_factory.mktemp("corrected") / "news.db"
    with StoryStream(path, settings=QUICK) as stream:
        stream.replay(written(rows[:100], path.with_name("a.jsonl")), now=NOW)
        one, other, third = sorted(living(stream))[:3]
        stream.correct("merge", one, other)
        names = sorted(partition(stream)[third])
        stream.correct("move", next(name for name in (one, other) if name in partition(stream)), documents=names[:1])
        stream.replay(written(rows[100:], path.with_name("b.jsonl")), now=NOW)
        stream.correct("mute", text="outlet=outlet 3")
        stream.undo()
    return path


@pytest.fixture
def store(corrected, tmp_path):
    """A copy of it, which the test may change."""
    return Path(shutil.copyfile(corrected, tmp_path / "news.db"))


def make_anew(path):
    with changing(path) as connection, rebuilt(connection) as (copy, lost):
        copy.backup(connection)
    return lost


def stories_of(path):
    with StoryStream(path) as stream:
        assert stream.check() == []
        return partition(stream)


def by_bar(monkeypatch, times):
    """Another rule: its bars are so many times as high."""
    for name in ("BAR", "MIN_BAR"):
        monkeypatch.setattr(likeness, name, getattr(likeness, name) * times)


def test_a_store_that_is_made_anew_by_the_same_model_is_the_same_byte_by_byte(store):
    before = dump(store)
    assert {"edit", "replay"} <= {line.split("'")[1] for line in before if line.startswith('INSERT INTO "batch"')}
    assert make_anew(store) == []
    assert dump(store) == before


@pytest.mark.parametrize("change", [0.25, 2.0, 4.0])
def test_by_another_model_an_id_stays_where_most_of_its_documents_do(store, monkeypatch, change):
    before = stories_of(store)
    by_bar(monkeypatch, change)
    make_anew(store)
    after = stories_of(store)
    assert set(map(frozenset, after.values())) != set(map(frozenset, before.values()))
    n_kept = 0
    for name, own in after.items():
        shared = Counter({former: len(own & docs) for former, docs in before.items()})
        heirs = [former for former, n in shared.items() if 2 * n > len(before[former])]
        most = max((shared[former] for former in heirs), default=0)
        assert (name in heirs and shared[name] == most) if heirs else name not in before
        n_kept += bool(heirs)
    assert n_kept >= 5


def test_corrections_hold_by_another_model_too(store, monkeypatch):
    with StoryStream(store) as stream:
        rows = stream._connection.execute("SELECT documents, together FROM correction WHERE verb = 'merge'").fetchall()
        ids = dict(stream._connection.execute("SELECT doc_id, id FROM document"))
    ((documents, together),) = rows
    by_bar(monkeypatch, 10.0)
    assert make_anew(store) == []
    where = {name: story for story, own in stories_of(store).items() for name in own}
    assert where[ids[json.loads(documents)[0]]] == where[ids[json.loads(together)[0]]]


def test_articles_whose_texts_were_deleted_stay_together(store, monkeypatch):
    with StoryStream(store) as stream:
        stream.replay(written(late_rows(), store.with_name("late.jsonl")), now=NOW)
        assert stream.prune(MIDDLE).n_texts > 20
        pruned = {name for (name,) in stream._connection.execute("SELECT id FROM document WHERE text = ''")}
    before = stories_of(store)
    by_bar(monkeypatch, 10.0)
    make_anew(store)
    after = {name: story for story, own in stories_of(store).items() for name in own}
    sizes = Counter(after.values())
    assert sum(sizes[after[name]] == 1 for name in after.keys() - pruned) > 20
    together = [own & pruned for own in before.values() if len(own & pruned) > 1]
    assert len(together) >= 2
    # a part of a story can come too late for the rest, once that has ended
    assert all(3 * max(Counter(after[name] for name in own).values()) >= 2 * len(own) for own in together)


def test_a_pruned_store_is_sound_after_it_is_made_anew_by_the_same_model(store):
    with StoryStream(store) as stream:
        stream.replay(written(late_rows(), store.with_name("late.jsonl")), now=NOW)
        assert stream.prune(MIDDLE).n_texts > 20
    make_anew(store)
    stories_of(store)


def newsroom_rows():
    rows = [json.loads(line) for line in (SAMPLE / "articles.jsonl").read_text(encoding="utf-8").splitlines()]
    return sorted(rows, key=lambda row: row["date"])


def test_the_order_of_import_does_not_matter(tmp_path):
    rows, sample = newsroom_rows(), newsroom()
    parts_of_time = [rows[start : start + 30] for start in range(0, len(rows), 30)]
    orders = {"in order": [rows[:88], rows[88:]], "late": [rows[88:], rows[:88]]}
    orders |= {"shuffled": random.Random(0).sample(parts_of_time, len(parts_of_time))}
    found, scores = {}, {}
    for name, parts in orders.items():
        path = tmp_path / f"{name}.db"
        with StoryStream(path) as stream:
            done = [stream.replay(written(part, tmp_path / "part.jsonl"), now=NOW) for part in parts]
        assert any(one.n_changed for one in done) == (name != "in order")
        assert all((one.n_late > 0) == (one.n_changed is not None) for one in done)
        with StoryStream(path) as stream:
            assert stream.check() == []
            found[name] = partition(stream)
        story_of = {doc: story for story, own in found[name].items() for doc in own}
        scores[name] = judge(story_of, sample, frozenset(sample.story_of.values()))["bcubed_f"]
    assert max(scores.values()) - min(scores.values()) <= 0.02, scores
    same = [set(map(frozenset, one.values())) for one in found.values()]
    assert all(one == same[0] for one in same), "document by document"


def test_older_articles_that_come_later_leave_ids_and_corrections(tmp_path):
    rows = newsroom_rows()
    with StoryStream(tmp_path / "news.db") as stream:
        stream.replay(written(rows[60:], tmp_path / "new.jsonl"), now=NOW)
        one, other = sorted(living(stream), key=lambda name: -len(partition(stream)[name]))[:2]
        own, merged = partition(stream)[one], partition(stream)[other]
        stream.correct("merge", one, other)
        before = partition(stream)
        done = stream.replay(written(rows[:60], tmp_path / "old.jsonl"), now=NOW)
        after = partition(stream)
        assert (done.n_late, done.lost, stream.check()) == (60, (), [])
    assert merged <= after[one]
    assert 2 * len(own & after[one]) > len(own)  # what was in it by mistake can go where its story has come in by now
    for name, docs in after.items():  # fragments became one story: it has the id of one of them
        heirs = [former for former, earlier in before.items() if 2 * len(docs & earlier) > len(earlier)]
        assert name in heirs if heirs else name not in before


def test_a_replay_that_was_stopped_before_stories_were_built_again_builds_them_when_repeated(tmp_path, monkeypatch):
    rows = newsroom_rows()[:80]
    old, new = written(rows[:40], tmp_path / "old.jsonl"), written(rows[40:], tmp_path / "new.jsonl")

    def stop(stories, known):
        raise KeyboardInterrupt

    for name in ("once", "twice"):
        with StoryStream(tmp_path / f"{name}.db") as stream:
            stream.replay(new, now=NOW)
            if name == "twice":
                with monkeypatch.context() as patched:
                    patched.setattr(StoryStream, "_rebuild", stop)
                    with pytest.raises(KeyboardInterrupt):
                        stream.replay(old, now=NOW)
                assert stream.check() == []
        with StoryStream(tmp_path / f"{name}.db") as stream:
            done = stream.replay(old, now=NOW)
            assert (done.n_new, done.n_late) == (40 * (name == "once"), 40)
            assert stream.replay(old, now=NOW).n_late == 0
    assert [line for line in dump(tmp_path / "twice.db") if '"sighting"' not in line] == [
        line for line in dump(tmp_path / "once.db") if '"sighting"' not in line
    ]


def test_one_line_says_that_stories_were_built_again(doccluster, tmp_path):  # noqa: F811
    rows = newsroom_rows()[:40]
    for place, part in enumerate((rows[20:], rows[:20])):
        source = written(part, tmp_path / f"{place}.jsonl")
        told = doccluster("stream", "replay", source, "--store", tmp_path / "news.db").out
        assert ("20 articles are older than the store's last; stories were built again" in told) == (place == 1)


def test_a_correction_is_made_again_behind_articles_that_were_ahead_of_the_clock(tmp_path):
    path = tmp_path / "news.db"
    with StoryStream(path) as stream:
        stream.replay([("2026-03-02T08:00:00Z", "Ferry runs aground off Skerrow"), ("2026-03-20", "Orchestra on tour")])
        one, other = sorted(living(stream))
        stream.correct("merge", one, other)
        before = partition(stream)
    assert make_anew(path) == []
    assert stories_of(path) == before


def test_the_difference_is_shown_before_it_is_written(doccluster, store, monkeypatch):  # noqa: F811
    by_bar(monkeypatch, 3.0)
    before = dump(store)
    told = json.loads(doccluster("stream", "rebuild", "--store", store, "--json").out)
    assert (told["is_written"], dump(store) == before) == (False, True)
    assert sum(told["counts"].values()) > told["counts"]["stayed"] > 0
    with reading(store) as connection, rebuilt(connection) as (copy, _):
        wanted = list(copy.iterdump())
    done = doccluster("stream", "rebuild", "--store", store, "--write")
    assert (done.code, "is rebuilt" in done.out) == (0, True)
    assert sorted(dump(store)) == sorted(wanted)
    again = json.loads(doccluster("stream", "rebuild", "--store", store, "--json").out)
    assert again["counts"]["stayed"] == sum(again["counts"].values())


def test_a_check_that_finds_wrong_stories_names_what_makes_them_anew(doccluster, store):  # noqa: F811
    before = dump(store)
    with changing(store) as connection:
        connection.execute("UPDATE story SET n_documents = n_documents + 1")
    told = doccluster("stream", "check", "--store", store)
    assert (told.code, "stream rebuild --write" in told.out) == (1, True)
    assert doccluster("stream", "rebuild", "--store", store, "--write").code == 0
    assert dump(store) == before
