"""The commands of `stream`."""

from __future__ import annotations

import csv
import json
import pathlib
import sqlite3
import subprocess
import sys

import pytest

from doccluster.base.text_table import csv_text, write_csv_rows
from doccluster.cli.console import print_json_lists
from doccluster.streams.polling.poller import Polled
from doccluster.streams.store.access import reading
from doccluster.streams.store.tables import DOCUMENT_COLUMNS, read_tables, rows_of
from doccluster.streams.stream_command import _print_polled
from tests.cli.conftest import doccluster  # noqa: F401  a fixture
from tests.streams.conftest import FEEDS

ROOT = pathlib.Path(__file__).resolve().parents[2]


def rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_an_export_has_every_document_in_a_story(doccluster, store, tmp_path):  # noqa: F811
    done = doccluster("stream", "export", "--store", store, "-o", tmp_path / "out")
    assert done.code == 0
    documents, stories = rows(tmp_path / "out" / "documents.csv"), rows(tmp_path / "out" / "stories.csv")
    assert len(documents) == 176
    assert {row["story"] for row in documents} == {row["id"] for row in stories if row["state"] != "merged"}
    assert sum(int(row["documents"]) for row in stories) == 176
    assert {row["event"] for row in rows(tmp_path / "out" / "lineage.csv")} >= {"born", "grew", "closed"}


def test_an_export_is_written_row_by_row_with_the_bytes_of_the_whole_tables(doccluster, store, tmp_path):  # noqa: F811
    with reading(store) as connection:
        tables = read_tables(connection)
        consumed = []
        rows_seen = (consumed.append(row) or [*row.values()] for row in rows_of(connection, "documents", 10**9))
        target = tmp_path / "some.csv"
        with pytest.raises(sqlite3.InterfaceError, match="enough"):
            write_csv_rows(DOCUMENT_COLUMNS, stopped_after(rows_seen, 100), target)
    assert len(consumed) == 100  # what had been read by then was written
    assert target.read_text(encoding="utf-8") == "".join(
        csv_text(tables.documents).splitlines(keepends=True)[: 1 + 100]
    )
    doccluster("stream", "export", "--store", store, "-o", tmp_path / "out")
    for name in ("documents", "stories", "lineage"):
        written = (tmp_path / "out" / f"{name}.csv").read_text(encoding="utf-8")
        assert written == csv_text(getattr(tables, name))


def test_the_tables_are_printed_as_json_record_by_record_and_what_is_empty_too(doccluster, store, tmp_path):  # noqa: F811
    with reading(store) as connection:
        tables = read_tables(connection)
    out = tmp_path / "out"
    expected = {"files": [str(out / f"{name}.csv") for name in ("documents", "stories", "lineage")]}
    for name in ("documents", "stories", "lineage"):
        table = getattr(tables, name)
        expected[name] = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
    done = doccluster("stream", "export", "--store", store, "--json", "-o", out)
    assert done.out == json.dumps(expected, indent=2, ensure_ascii=False) + "\n"
    before = {name: [] for name in ("documents", "stories", "lineage")}
    nothing = doccluster("stream", "export", "--store", store, "--json", "-o", out, "--overwrite", "--at", "1999-01-01")
    assert nothing.out == json.dumps({"files": expected["files"], **before}, indent=2) + "\n"


def test_a_record_is_printed_before_the_next_one_is_read(capsys):
    printed = []

    def items():
        for number in range(3):
            printed.append(capsys.readouterr().out)
            yield {"number": number}

    print_json_lists({"one": 1}, {"items": items()})
    printed.append(capsys.readouterr().out)
    assert json.loads("".join(printed)) == {"one": 1, "items": [{"number": number} for number in range(3)]}
    assert [part.count("number") for part in printed] == [0, 1, 1, 1]


def stopped_after(rows, n):
    for number, row in enumerate(rows, 1):
        yield row
        if number == n:
            raise sqlite3.InterfaceError("enough")


def test_the_same_articles_in_an_empty_store_give_the_same_bytes(doccluster, store, tmp_path):  # noqa: F811
    done = doccluster("stream", "replay", FEEDS, "--store", tmp_path / "again.db", "--batch", "6h")
    assert done.code == 0, done.err
    assert "176 articles, 176 new" in done.out
    doccluster("stream", "export", "--store", store, "-o", tmp_path / "a")
    doccluster("stream", "export", "--store", tmp_path / "again.db", "-o", tmp_path / "b")
    for name in ("documents.csv", "stories.csv", "lineage.csv"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_an_export_at_an_earlier_moment_has_fewer_documents(doccluster, store, tmp_path):  # noqa: F811
    options = ("stream", "export", "--store", store, "--json", "--overwrite", "-o", tmp_path / "out")
    then = json.loads(doccluster(*options, "--at", "2026-03-10").out)
    now = json.loads(doccluster(*options).out)
    assert 0 < len(then["documents"]) < len(now["documents"]) == 176
    assert {row["state"] for row in then["stories"]} <= {"open", "closed", "merged"}


def test_an_export_is_not_overwritten_unasked(doccluster, store, tmp_path):  # noqa: F811
    doccluster("stream", "export", "--store", store, "-o", tmp_path / "out")
    done = doccluster("stream", "export", "--store", store, "-o", tmp_path / "out")
    assert (done.code, "--overwrite" in done.err) == (2, True)


def test_check_says_that_a_store_is_sound_and_when_it_is_not(doccluster, store):  # noqa: F811
    done = doccluster("stream", "check", "--store", store)
    assert (done.code, "is sound" in done.out) == (0, True)
    connection = sqlite3.connect(store)
    connection.execute("DELETE FROM membership WHERE doc_id = 1")
    connection.commit()
    connection.close()
    done = doccluster("stream", "check", "--store", store, "--json")
    assert done.code == 1
    assert {"lineage"} == {one["check"] for one in json.loads(done.out)["findings"]}


def test_replay_as_json_says_what_has_happened(doccluster, tmp_path):  # noqa: F811
    done = doccluster("stream", "replay", FEEDS, "--store", tmp_path / "news.db", "--json")
    told = json.loads(done.out)
    assert told["n_new"] == 176
    assert told["events"]["born"] + told["events"]["grew"] == 176


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("replay", "nosuch.xml", "--store", "a.db"), "nosuch.xml"),
        (("replay", str(FEEDS), "--store", "a.db", "--batch", "soon"), "is not a time"),
        (("export", "--store", "nosuch.db", "-o", "out"), "there is no store"),
        (("check", "--store", "nosuch.db"), "there is no store"),
    ],
)
def test_what_cannot_be_used_is_refused_in_a_sentence(doccluster, tmp_path, monkeypatch, arguments, says):  # noqa: F811
    monkeypatch.chdir(tmp_path)
    done = doccluster("stream", *arguments)
    assert done.code == 2
    assert says in done.err
    assert "Traceback" not in done.err


LEAN = """
import sys
from doccluster.cli.main import main
for call in (("replay", sys.argv[1]), ("report", "-o", sys.argv[3]), ("rebuild",)):
    try:
        main(["stream", *call, "--store", sys.argv[2]])
    except SystemExit as stopped:
        assert not stopped.code
print(sorted({"pandas", "sklearn"} & sys.modules.keys()))
"""


def test_stream_commands_do_not_load_what_costs_more_than_they_do(tmp_path):
    command = [sys.executable, "-c", LEAN, FEEDS, tmp_path / "news.db", tmp_path / "page.html"]
    told = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout
    assert told.splitlines()[-1] == "[]"


@pytest.mark.parametrize("proxy", ["", "http://127.0.0.1:3128"])
def test_a_proxy_that_is_not_used_is_said_where_a_feed_is_not_reached(proxy, monkeypatch, capsys):
    monkeypatch.setenv("HTTPS_PROXY", proxy)
    monkeypatch.delenv("http_proxy", raising=False)
    monkeypatch.delenv("https_proxy", raising=False)
    done = Polled(n_feeds=1, n_due=1, n_failed=1, failures=[("https://a.example/", "unknown-host", "a.example")])
    _print_polled(done, "x.db", as_json=False)
    assert ("HTTPS_PROXY names one, which poll does not use" in capsys.readouterr().out) == bool(proxy)
