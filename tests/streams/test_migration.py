"""Stores of older versions become stores of this one, or stay what they are."""

from __future__ import annotations

import json
import pathlib
import sqlite3

import pytest

from doccluster.errors import DocclusterWarning, SchemaError
from doccluster.streams import StoryStream, model, schema, store
from doccluster.streams.check import check_store
from doccluster.streams.database import open_to_read, reading
from doccluster.streams.tables import read_tables
from tests.streams.test_replay import dump

VERSION_1 = pathlib.Path(__file__).with_name("store_of_version_1.sql")


@pytest.fixture
def old_store(tmp_path):
    path = tmp_path / "old.db"
    with sqlite3.connect(path) as connection:
        connection.executescript(VERSION_1.read_text(encoding="utf-8"))
    connection.close()
    return path


def pragma(path, name):
    with sqlite3.connect(path) as connection:
        (value,) = connection.execute(f"PRAGMA {name}").fetchone()
    connection.close()
    return value


def columns_of(path):
    """The columns of every table and the statement of every index, without what white space makes different."""
    with sqlite3.connect(path) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        columns = {name: connection.execute(f"PRAGMA table_info({name})").fetchall() for name in sorted(tables)}
        indexes = connection.execute(
            "SELECT name, sql FROM sqlite_schema WHERE type = 'index' ORDER BY name"
        ).fetchall()
    connection.close()
    return columns, indexes


def test_every_version_but_this_one_has_a_migration():
    assert sorted(schema.MIGRATIONS) == list(range(1, schema.VERSION))


def test_a_store_of_version_1_becomes_one_of_this_version_with_its_history(old_store, tmp_path):
    StoryStream(tmp_path / "new.db").close()
    with StoryStream(old_store) as stream:
        assert stream.check() == []
        tables = stream.tables()
        then = stream.tables(at=1772442000)
        done = stream.replay([("2026-03-02T11:00:00Z", "Rates stay unchanged, says the bank", "Rates stay")])
        assert stream.check() == []
    assert pragma(old_store, "user_version") == schema.VERSION
    assert columns_of(old_store) == columns_of(tmp_path / "new.db")
    assert tables.documents["story"] == ["sxc472ol", "sxc472ol", "upy6qhzi", "sxc472ol"]
    assert then.documents["story"] == ["sxc472ol", "ag4he3bz", "upy6qhzi"]
    assert tables.lineage["event"].count("moved") == 1
    assert done.n_new == 1


def test_a_store_of_an_older_version_is_read_as_one_of_this_version_and_stays_as_it_was(old_store):
    before = old_store.read_bytes()
    with reading(old_store) as connection:
        tables = read_tables(connection)
        assert check_store(connection) == []
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            connection.execute("DELETE FROM lineage")
    assert old_store.read_bytes() == before
    with StoryStream(old_store) as stream:
        upgraded = stream.tables()
    assert (tables.documents, tables.stories, tables.lineage) == (
        *(upgraded.documents, upgraded.stories),
        upgraded.lineage,
    )


def test_a_migration_that_fails_leaves_the_store_as_it_was(old_store, monkeypatch):
    before = dump(old_store)

    def fail(connection):
        connection.execute("DELETE FROM lineage")
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setitem(schema.MIGRATIONS, 1, fail)
    with pytest.raises(Exception, match="disk I/O error"):
        StoryStream(old_store)
    assert dump(old_store) == before
    assert pragma(old_store, "user_version") == 1
    monkeypatch.undo()
    with StoryStream(old_store) as stream:
        assert stream.check() == []


def test_a_store_of_a_newer_version_is_refused_and_not_changed(old_store):
    with sqlite3.connect(old_store) as connection:
        connection.execute(f"PRAGMA user_version = {schema.VERSION + 1}")
    connection.close()
    before = old_store.read_bytes()
    for use in (StoryStream, open_to_read):
        with pytest.raises(SchemaError, match="newer doccluster"):
            use(old_store)
    assert old_store.read_bytes() == before


def test_another_model_than_that_of_the_store_is_warned_of_once_and_noted(tmp_path, monkeypatch, recwarn):
    path = tmp_path / "news.db"
    for day in (1, 2):
        with StoryStream(path) as stream:
            stream.replay([(f"2026-03-0{day}", f"The ferry runs aground, day {day}", f"Ferry {day}")])
    assert len(recwarn) == 0
    now = model.model_version()
    other = {**now, "weights": "000000000000"}
    monkeypatch.setattr(store, "model_version", lambda: other)
    monkeypatch.setattr(model, "model_version", lambda: other)
    with pytest.warns(DocclusterWarning, match=r"another version of doccluster \(weights\): from batch 3 on"):
        StoryStream(path).close()
    with StoryStream(path) as stream:
        assert stream.check() == []
        assert json.loads(store.read_meta(stream._connection)["models"]) == {"1": now, "3": other}
    assert len(recwarn) == 0
