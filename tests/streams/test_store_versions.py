"""Stores of other versions are refused and stay what they are; another model than a store's is noted in it."""

from __future__ import annotations

import json
import sqlite3

import pytest

from doccluster.errors import DocclusterWarning, SchemaError
from doccluster.streams import StoryStream
from doccluster.streams.store import batches as store
from doccluster.streams.store.access import open_to_read
from doccluster.streams.store.database import OLDEST, VERSION


@pytest.mark.parametrize(("version", "age"), [(VERSION + 1, "a newer"), (OLDEST - 1, "an older")])
def test_a_store_of_another_version_is_refused_and_not_changed(version, age, tmp_path):
    path = tmp_path / "news.db"
    StoryStream(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {version}")
    connection.close()
    before = path.read_bytes()
    for use in (StoryStream, open_to_read):
        with pytest.raises(SchemaError, match=f"written by {age} doccluster"):
            use(path)
    assert path.read_bytes() == before


def test_another_model_than_that_of_the_store_is_warned_of_once_and_noted(tmp_path, monkeypatch, recwarn):
    path = tmp_path / "news.db"
    for day in (1, 2):
        with StoryStream(path) as stream:
            stream.replay([(f"2026-03-0{day}", f"The ferry runs aground, day {day}", f"Ferry {day}")])
    assert len(recwarn) == 0
    now = store.model_version()
    other = {**now, "rule": "0"}
    monkeypatch.setattr(store, "model_version", lambda: other)
    with pytest.warns(DocclusterWarning, match=r"another version of doccluster \(rule\): from batch 3 on"):
        StoryStream(path).close()
    with StoryStream(path) as stream:
        assert stream.check() == []
        assert json.loads(store.read_meta(stream._connection)["models"]) == {"1": now, "3": other}
    assert len(recwarn) == 0
