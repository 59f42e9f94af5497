"""Weights learned from labels: kept in the store, used from then on, and kept by a rebuild."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from doccluster.errors import InputError
from doccluster.streams import StoryStream, learning
from doccluster.streams.database import changing
from doccluster.streams.joining import shipped_coefficients
from doccluster.streams.learning import learn_weights
from doccluster.streams.retention import keep_for, prune_by_policy
from doccluster.streams.settings import DAY, StreamSettings
from doccluster.streams.store import read_meta, weights_of
from tests.cli.conftest import doccluster  # noqa: F401  a fixture
from tests.streams.test_stream_commands import FEEDS

NEWSROOM = FEEDS.parent


def labels(path, stories):
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("id", "story"))
        rows.writerows(stories.items())
    return path


@pytest.fixture
def truth():
    lines = (NEWSROOM / "articles.jsonl").read_text(encoding="utf-8").splitlines()
    return {row["id"]: row["story"] for row in map(json.loads, lines)}


def test_a_store_learns_from_labels_and_goes_by_them(doccluster, tmp_path, truth):  # noqa: F811
    path = tmp_path / "news.db"
    with StoryStream(path) as stream:
        stream.replay(NEWSROOM / "articles.jsonl")
    file = labels(tmp_path / "labels.csv", truth)
    said = json.loads(doccluster("stream", "learn", file, "--store", path, "--json").out)
    assert said["n_documents"] == len(truth)
    assert said["right_after"] > said["right_before"]
    with changing(path) as connection:
        assert not np.array_equal(weights_of(connection), shipped_coefficients())
    assert doccluster("stream", "rebuild", "--store", path, "--write").code == 0
    with StoryStream(path) as stream:
        assert stream.check() == []
        tables = stream.tables()
    with changing(path) as connection:
        assert not np.array_equal(weights_of(connection), shipped_coefficients())
    assert len(tables.documents["id"]) == len(truth)


def test_weights_that_are_worse_are_not_kept(tmp_path, truth, monkeypatch):
    path = tmp_path / "news.db"
    with StoryStream(path) as stream:
        stream.replay(NEWSROOM / "articles.jsonl")
    monkeypatch.setattr(learning, "fit", lambda *_, toward, **__: -toward)
    with changing(path) as connection:
        said = learn_weights(connection, labels(tmp_path / "labels.csv", truth))
        assert said.right_after < said.right_before
        assert not said.is_kept
        assert np.array_equal(weights_of(connection), shipped_coefficients())


def test_too_few_labels_and_files_of_another_kind_are_refused(tmp_path, truth):
    path = tmp_path / "news.db"
    with StoryStream(path) as stream:
        stream.replay(NEWSROOM / "articles.jsonl")
    few = labels(tmp_path / "few.csv", dict(list(truth.items())[:5]))
    (tmp_path / "other.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    with changing(path) as connection:
        for file, said in ((few, "labels 5 documents"), (tmp_path / "other.csv", "columns"), (tmp_path / "no", "read")):
            with pytest.raises(InputError, match=said):
                learn_weights(connection, file)


def test_what_a_store_is_to_keep_is_pruned_once_a_day(tmp_path):
    path = tmp_path / "news.db"
    quick = StreamSettings(close_after_least=DAY, close_after_most=3 * DAY, resume_within=5 * DAY, copy_window=4 * DAY)
    with StoryStream(path, settings=quick) as stream:
        stream.replay(NEWSROOM / "articles.jsonl")
        clock = stream.tables().moment
    with changing(path) as connection:
        keep_for(connection, 10 * DAY)
        for day in (0, 0, 30):
            prune_by_policy(connection, clock + day * DAY)
        (left,) = connection.execute("SELECT COUNT(*) FROM document WHERE text <> ''").fetchone()
        assert 0 < left < 176
        assert int(read_meta(connection)["pruned_day"]) == (clock + 30 * DAY) // DAY
    with StoryStream(path) as stream:
        assert stream.check() == []
