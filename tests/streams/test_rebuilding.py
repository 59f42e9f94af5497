"""Stores whose stories are made anew: the same by the same model, and by another one with the ids that stay."""

from __future__ import annotations

import json
import random
from collections import Counter
from itertools import groupby
from pathlib import Path

import pytest

from doccluster.streams import StoryStream, clusterer
from doccluster.streams import store as store_module
from doccluster.streams.database import changing, reading
from doccluster.streams.joining import FEATURES
from doccluster.streams.rebuilding import rebuilt
from tests.cli.conftest import doccluster  # noqa: F401  a fixture
from tests.streams.test_corrections import living, partition
from tests.streams.test_replay import NOW, QUICK, dump, made_rows, written

MIDDLE = 1_773_000_000
SAMPLE = Path(__file__).resolve().parents[2] / "corpora" / "samples" / "newsroom"


@pytest.fixture
def store(tmp_path):
    """A store with stories that merged, split and ended, and corrections of which one was taken back."""
    rows = [row for row in made_rows(240, seed=5) if row["date"].startswith("2026")]
    path = tmp_path / "news.db"
    with StoryStream(path, settings=QUICK) as stream:
        stream.replay(written(rows[:150], tmp_path / "a.jsonl"), now=NOW)
        one, other, third = sorted(living(stream))[:3]
        stream.correct("merge", one, other)
        names = sorted(partition(stream)[third])
        stream.correct("move", next(name for name in (one, other) if name in partition(stream)), documents=names[:1])
        stream.replay(written(rows[150:], tmp_path / "b.jsonl"), now=NOW)
        stream.correct("mute", text="outlet=outlet 3")
        stream.undo()
    return path


def make_anew(path):
    with changing(path) as connection, rebuilt(connection) as (copy, lost):
        copy.backup(connection)
    return lost


def stories_of(path):
    with StoryStream(path) as stream:
        assert stream.check() == []
        return partition(stream)


def by_weight(monkeypatch, **changes):
    """Another model: some weights are others."""
    weights = clusterer.shipped_coefficients().copy()
    for name, value in changes.items():
        weights[FEATURES.index(name)] += value
    for module in (clusterer, store_module):
        monkeypatch.setattr(module, "shipped_coefficients", lambda: weights)


def test_a_store_that_is_made_anew_by_the_same_model_is_the_same_byte_by_byte(store):
    before = dump(store)
    assert {"edit", "replay"} <= {line.split("'")[1] for line in before if line.startswith('INSERT INTO "batch"')}
    assert make_anew(store) == []
    assert dump(store) == before


@pytest.mark.parametrize("change", [1.5, -1.5, -4.0])
def test_by_another_model_an_id_stays_where_most_of_its_documents_do(store, monkeypatch, change):
    before = stories_of(store)
    by_weight(monkeypatch, one=change)
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
    by_weight(monkeypatch, one=-4.0)
    assert make_anew(store) == []
    where = {name: story for story, own in stories_of(store).items() for name in own}
    assert where[ids[json.loads(documents)[0]]] == where[ids[json.loads(together)[0]]]


def test_articles_whose_texts_were_deleted_stay_together(store, monkeypatch):
    with StoryStream(store) as stream:
        assert stream.prune(MIDDLE).n_texts > 20
        pruned = {name for (name,) in stream._connection.execute("SELECT id FROM document WHERE text = ''")}
    before = stories_of(store)
    by_weight(monkeypatch, one=-4.0)
    make_anew(store)
    after = {name: story for story, own in stories_of(store).items() for name in own}
    sizes = Counter(after.values())
    assert sum(sizes[after[name]] == 1 for name in after.keys() - pruned) > 20
    whole = [own for own in before.values() if len(own) > 1 and own <= pruned]
    assert len(whole) >= 2
    # a part of a story can come too late for the rest, once that has ended
    assert all(3 * max(Counter(after[name] for name in own).values()) >= 2 * len(own) for own in whole)


def test_a_pruned_store_is_sound_after_it_is_made_anew_by_the_same_model(store):
    with StoryStream(store) as stream:
        assert stream.prune(MIDDLE).n_texts > 20
    make_anew(store)
    stories_of(store)


def test_the_order_of_import_does_not_matter_once_a_store_is_made_anew(tmp_path):
    rows = [json.loads(line) for line in (SAMPLE / "articles.jsonl").read_text(encoding="utf-8").splitlines()]
    rows.sort(key=lambda row: row["date"])
    days = [list(own) for _, own in groupby(rows, key=lambda row: row["date"][:10])]
    shuffled = random.Random(0).sample(days, len(days))
    orders = {"in order": [rows], "late": [rows[88:], rows[:88]], "shuffled": shuffled}
    found = {}
    for name, parts in orders.items():
        path = tmp_path / f"{name}.db"
        with StoryStream(path) as stream:
            late = [stream.replay(written(part, tmp_path / "part.jsonl"), now=NOW).n_late for part in parts]
            before = partition(stream)
        assert (sum(late) > 30) == (name != "in order")
        assert make_anew(path) == []
        found[name] = set(map(frozenset, before.values())), set(map(frozenset, stories_of(path).values()))
    in_order = found["in order"][1]
    assert found["in order"][0] == in_order
    assert found["late"][0] != in_order != found["shuffled"][0]
    assert found["late"][1] == found["shuffled"][1] == in_order


def test_a_correction_is_made_again_behind_articles_that_were_ahead_of_the_clock(tmp_path):
    path = tmp_path / "news.db"
    with StoryStream(path) as stream:
        stream.replay([("2026-03-02T08:00:00Z", "Ferry runs aground off Skerrow"), ("2026-03-20", "Ferry is afloat")])
        one, other = sorted(living(stream))
        stream.correct("merge", one, other)
        before = partition(stream)
    assert make_anew(path) == []
    assert stories_of(path) == before


def test_the_difference_is_shown_before_it_is_written(doccluster, store, monkeypatch):  # noqa: F811
    by_weight(monkeypatch, one=-2.0)
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
