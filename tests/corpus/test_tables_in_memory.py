"""Tables of other libraries, and what a query finds, are read as a csv of the same rows."""

from __future__ import annotations

import contextlib
import csv
import dataclasses
import sqlite3
import subprocess
import sys
from collections import deque, namedtuple

import numpy as np
import pytest
from click.testing import CliRunner

from doccluster.cli.main import commands
from doccluster.corpus import read_corpus
from doccluster.errors import InputError, NothingUsable
from doccluster.vectors import vectorize

COLUMNS = {
    "id": ["a", "b", "c"],
    "title": ["Oil", None, "Wheat"],
    "body": ["prices rise", "rain in the north", "a poor harvest"],
    "topic": ["trade", "weather", "trade"],
    "unused": [1.5, 2.5, None],
}


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    path = tmp_path_factory.mktemp("table") / "news.csv"
    rows = zip(*([cell or "" for cell in column] for column in COLUMNS.values()), strict=True)
    lines = [",".join(COLUMNS), *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return read_corpus(path)


def test_one_cell_that_is_not_utf_8_is_one_bad_row_and_not_the_end_of_a_query(tmp_path):
    with contextlib.closing(sqlite3.connect(tmp_path / "news.db")) as database:
        database.execute("CREATE TABLE news (id TEXT, body TEXT, other TEXT)")
        database.executemany(
            "INSERT INTO news VALUES (?, CAST(? AS TEXT), CAST(? AS TEXT))",
            [
                ("a", b"The ferry sails again", b"x"),
                ("b", "Fähre".encode("latin-1"), b"x"),
                ("c", "Die Fähre fährt".encode(), b"x"),
            ],
        )
        database.execute("UPDATE news SET other = CAST(X'FF' AS TEXT) WHERE id = 'c'")  # in a column that is not read
        database.commit()
    corpus = read_corpus(f"sqlite:///{tmp_path}/news.db?SELECT id, body, other FROM news")
    assert corpus.ids == ("a", "c")
    assert [(one.source, one.reason) for one in corpus.skipped] == [("row 2", "undecodable")]
    assert "not UTF-8" in corpus.skipped[0].detail


def assert_same(found, expected):
    assert (found.ids, found.texts, found.labels) == (expected.ids, expected.texts, expected.labels)
    assert found.metadata["title"].tolist() == expected.metadata["title"].tolist()
    assert found.skipped == expected.skipped


class Cursor:
    """A cursor as PEP 249 has it."""

    description = tuple((name, None) for name in COLUMNS)

    def fetchall(self):
        return list(zip(*COLUMNS.values(), strict=True))


def rows_of_sqlite(row_factory=sqlite3.Row):
    database = sqlite3.connect(":memory:")
    database.row_factory = row_factory
    database.execute(f"CREATE TABLE news ({', '.join(COLUMNS)})")
    database.executemany("INSERT INTO news VALUES (?, ?, ?, ?, ?)", zip(*COLUMNS.values(), strict=True))
    return database.execute("SELECT * FROM news")


class Stream:
    """What has nothing but an Arrow stream."""

    def __init__(self, data):
        self.data = data

    def __arrow_c_stream__(self, requested_schema=None):
        return self.data.__arrow_c_stream__(requested_schema)


class FormattedDataset:
    """A data set of Hugging Face, whose rows are tables of polars until it is asked for rows without a format."""

    def __init__(self):
        self.column_names = [*COLUMNS]

    with_format = select_columns = lambda self, names: self if names else records_of_columns()

    def __iter__(self):
        raise AssertionError("rows were taken as tables")


def records_of_columns():
    return [dict(zip(COLUMNS, row, strict=True)) for row in zip(*COLUMNS.values(), strict=True)]


def records():
    """Records one by one, of the kinds that programs have."""
    rows = records_of_columns()
    note = dataclasses.make_dataclass("Note", COLUMNS)
    named = namedtuple("named", COLUMNS)
    model = type(
        "Model", (), {"model_fields": dict.fromkeys(COLUMNS), "__init__": lambda self, **of: vars(self).update(of)}
    )
    table = [",".join(COLUMNS), *(",".join("" if cell is None else str(cell) for cell in row.values()) for row in rows)]
    yield "generator of dicts", lambda: (row for row in rows)
    yield "deque", lambda: deque(rows)
    yield "reader of csv", lambda: csv.DictReader(table)
    yield "dataclasses", lambda: [note(**row) for row in rows]
    yield "named tuples", lambda: (named(**row) for row in rows)
    yield "models", lambda: [model(**row) for row in rows]
    yield "rows of sqlite", lambda: rows_of_sqlite().fetchall()
    yield "cursor of rows", rows_of_sqlite
    yield "cursor of dicts", lambda: rows_of_sqlite(lambda cursor, row: dict(zip(COLUMNS, row, strict=True)))
    yield "structured array", lambda: pytest.importorskip("pandas").DataFrame(COLUMNS).to_records(index=False)


def tables():
    yield from records()
    rows = records_of_columns()
    yield "mapping of columns", lambda: COLUMNS
    yield "mapping of mappings", lambda: {name: dict(enumerate(column)) for name, column in COLUMNS.items()}
    yield "list of mappings", lambda: rows
    yield "cursor", Cursor
    yield "pandas", lambda: pytest.importorskip("pandas").DataFrame(COLUMNS)
    yield "polars", lambda: pytest.importorskip("polars").DataFrame(COLUMNS)
    yield "lazy polars", lambda: pytest.importorskip("polars").LazyFrame(COLUMNS)
    yield "pyarrow", lambda: pytest.importorskip("pyarrow").table(COLUMNS)
    yield "batch of pyarrow", lambda: pytest.importorskip("pyarrow").table(COLUMNS).to_batches()[0]
    yield (
        "pyarrow data set",
        lambda: pytest.importorskip("pyarrow.dataset").dataset(pytest.importorskip("pyarrow").table(COLUMNS)),
    )
    yield "duckdb", lambda: pytest.importorskip("duckdb").from_arrow(pytest.importorskip("pyarrow").table(COLUMNS))
    yield "reader of pyarrow", lambda: pytest.importorskip("pyarrow").table(COLUMNS).to_reader()
    yield "Arrow stream", lambda: Stream(pytest.importorskip("pyarrow").table(COLUMNS))
    yield "datasets", lambda: pytest.importorskip("datasets").Dataset.from_dict(COLUMNS)
    yield "formatted data set", FormattedDataset


@pytest.mark.parametrize(("name", "made"), list(tables()), ids=[name for name, _ in tables()])
def test_a_table_of_any_library_is_read_by_its_columns(expected, name, made):
    assert_same(read_corpus(made()), expected)


def test_records_of_several_kinds_are_refused_and_so_is_a_cursor_without_a_query():
    with pytest.raises(InputError, match="record 2 is of type str, and the first has columns"):
        read_corpus(iter([{"text": "oil prices"}, "wheat harvest"]))
    with pytest.raises(InputError, match="the cursor has no rows"):
        read_corpus(sqlite3.connect(":memory:").cursor())


def test_texts_come_one_by_one_as_before_and_a_column_as_a_stream_too():
    assert read_corpus(text for text in ("oil prices", "wheat harvest")).ids == ("1", "2")
    column = pytest.importorskip("pyarrow").chunked_array([["oil prices", "wheat harvest"]])
    assert read_corpus(Stream(column)).texts == read_corpus(column).texts == ("oil prices", "wheat harvest")


def test_classes_that_are_numbers_with_names_are_read_by_their_names():
    class Dataset:
        def __init__(self):
            self.column_names = ["text", "label"]
            self.features = {"text": object(), "label": type("ClassLabel", (), {"names": ["grain", "crude"]})()}

        def select_columns(self, names):
            rows = [{"text": "oil prices", "label": 1}, {"text": "wheat", "label": 0}, {"text": "sea", "label": -1}]
            return [{name: row[name] for name in names} for row in rows]

    assert read_corpus(Dataset(), label_columns="label").labels["label"] == (("crude",), ("grain",), ())


@pytest.mark.parametrize(
    "name", ["iloc", "columns", "fetchall", "schema", "column_names", "collect", "read", "feed", "texts"]
)
def test_a_frame_is_a_frame_whatever_its_columns_are_called(name):
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    data = {name: ["x", "y"], "text": ["oil prices", "wheat harvest"]}
    for table in (pandas.DataFrame(data), pyarrow.table(data), pytest.importorskip("polars").DataFrame(data)):
        assert read_corpus(table).texts == ("oil prices", "wheat harvest")
    series = pandas.Series(["oil prices"], index=[name])
    assert (read_corpus(series).ids, vectorize(series).n_documents) == ((name,), 1)


def test_of_columns_with_equal_names_the_first_is_read():
    pyarrow = pytest.importorskip("pyarrow")
    corpus = read_corpus(pyarrow.table([["oil prices"], ["market"]], names=["text", "text"]))
    assert list(corpus.texts) == ["oil prices"]


def test_a_target_that_has_no_name_is_refused():
    with pytest.raises(InputError, match="a target of the source is not the number of a name in target_names"):
        read_corpus({"data": ["oil prices"], "target": [3], "target_names": ["news"]})


def test_a_column_named_by_half_a_character_is_kept_with_its_escape():
    corpus = read_corpus([{"text": "oil prices", "\ud800": "x"}])
    assert corpus.to_pandas()["\\ud800"].tolist() == ["x"]


@pytest.fixture
def news(tmp_path, monkeypatch):
    """A database news.db in the current folder."""
    monkeypatch.chdir(tmp_path)
    with contextlib.closing(sqlite3.connect("news.db")) as database:
        database.execute(f"CREATE TABLE news ({', '.join(COLUMNS)})")
        rows = list(zip(*COLUMNS.values(), strict=True))
        database.executemany(f"INSERT INTO news VALUES ({', '.join('?' * len(COLUMNS))})", rows)
        database.commit()


def test_what_a_query_finds_is_read_and_nothing_can_be_changed(news, tmp_path, expected):
    assert_same(read_corpus("sqlite:///news.db?SELECT * FROM news"), expected)
    address = f"sqlite:///{tmp_path}/news.db?SELECT id, title, body, topic FROM news WHERE body != 'https://a.org'"
    assert_same(read_corpus(address), expected)
    with pytest.raises(NothingUsable):
        read_corpus("sqlite:///news.db?SELECT * FROM news WHERE id = 'z'")
    for query, told in (
        ("DELETE FROM news", "is not a query"),
        ("WITH old AS (SELECT 1) DELETE FROM news", "readonly"),
        ("SELECT * FROM olds", "no such table"),
    ):
        with pytest.raises(InputError, match=told):
            read_corpus(f"sqlite:///news.db?{query}")
    with pytest.raises(InputError, match="does not exist"):
        read_corpus("sqlite:///other.db?SELECT 1")
    assert len(read_corpus("sqlite:///news.db?SELECT * FROM news")) == 3


def test_a_file_of_duckdb_is_asked_too_and_reaches_no_other_file(tmp_path, monkeypatch, expected):
    duckdb = pytest.importorskip("duckdb")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other.csv").write_text("id,body\nx,a text\n", encoding="utf-8")
    with duckdb.connect("news.duckdb") as database:
        database.execute("CREATE TABLE news (id TEXT, title TEXT, body TEXT, topic TEXT, unused DOUBLE)")
        database.executemany("INSERT INTO news VALUES (?, ?, ?, ?, ?)", list(zip(*COLUMNS.values(), strict=True)))
    for address in ("duckdb:///news.duckdb", f"duckdb:///{tmp_path}/news.duckdb"):
        assert_same(read_corpus(f"{address}?SELECT * FROM news ORDER BY id"), expected)
    for query, told in (
        ("DELETE FROM news", "is not a query"),
        ("SELECT * FROM olds", "olds does not exist"),
        ("SELECT * FROM 'other.csv'", "cannot be queried"),
        ("SELECT 1 AS body; DELETE FROM news", "read-only"),
    ):
        with pytest.raises(InputError, match=told):
            read_corpus(f"duckdb:///news.duckdb?{query}")
    made = CliRunner().invoke(
        commands, ["run", "duckdb:///news.duckdb?SELECT * FROM news", "-o", "out", "-k", "2", "--no-report"]
    )
    assert made.exit_code == 0, made.output
    (tmp_path / "text.duckdb").write_text("no database", encoding="utf-8")
    with pytest.raises(InputError, match=r"text\.duckdb cannot be queried"):
        read_corpus("duckdb:///text.duckdb?SELECT 1 AS body")


def test_commands_take_a_query_and_a_run_of_one_is_made_again(news, tmp_path, monkeypatch):
    query = "sqlite:///news.db?SELECT * FROM news WHERE body NOT LIKE 'https://%'"
    seen = CliRunner().invoke(commands, ["inspect", query])
    assert seen.output.startswith("  documents  3\n")
    made = CliRunner().invoke(commands, ["run", query, "-o", "out", "-k", "2", "--no-report"])
    assert made.exit_code == 0
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    again = CliRunner().invoke(commands, ["rerun", "../out"])
    assert "the same labels for 3 documents" in again.output  # after the file that is read


def test_a_bunch_of_scikit_learn_has_its_targets_as_classes():
    from sklearn.utils import Bunch

    bunch = Bunch(data=["oil prices", b"wheat harvest"], target=np.array([1, 0]), target_names=["grain", "crude"])
    corpus = read_corpus(bunch)
    assert corpus.texts == ("oil prices", "wheat harvest")
    assert corpus.labels["class"] == (("crude",), ("grain",))


def test_what_is_no_table_is_refused_in_a_sentence():
    with pytest.raises(InputError, match=r"differ in length \('text' 2, 'id' 1\)"):
        read_corpus({"text": ["a b", "c d"], "id": ["1"]})
    with pytest.raises(InputError, match="the table has no column that reads like a text"):
        read_corpus({"x": [1], "y": [2]})
    parts = {"train": type("Part", (), {"column_names": ["text"]})()}
    with pytest.raises(InputError, match="give one of them: train"):
        read_corpus(parts)
    assert read_corpus({"one": "a text", "two": None}).ids == ("one",)


def test_texts_that_can_be_collected_are_no_lazy_frame():
    class Collected(list):
        def collect(self):
            raise AssertionError

    assert read_corpus(Collected(["rye bread", "sea boats"])).texts == ("rye bread", "sea boats")


def test_a_database_that_was_left_half_changed_says_what_to_do_and_stays_as_it_is(tmp_path):
    path = tmp_path / "news.db"
    change = (
        "import os, sqlite3\n"
        f"database = sqlite3.connect({str(path)!r}, isolation_level=None)\n"
        "database.execute('CREATE TABLE news (text TEXT)')\n"
        "database.execute('PRAGMA cache_size = 2')\n"
        "database.execute('BEGIN')\n"
        "database.executemany('INSERT INTO news VALUES (?)', [('a text ' * 200,)] * 500)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    assert subprocess.run([sys.executable, "-c", change], check=False).returncode != 0
    before = path.read_bytes()
    with pytest.raises(InputError, match="was ended while it changed the file; open it once with that program"):
        read_corpus(f"sqlite:///{path}?SELECT text FROM news")
    assert path.read_bytes() == before
