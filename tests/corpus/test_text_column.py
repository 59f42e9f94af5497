"""The column of the text: the usual names decide, unless another column has many times their prose."""

from __future__ import annotations

import json
import sqlite3

import pandas as pd
import pytest
from click.testing import CliRunner

from doccluster import inspect, run
from doccluster.cli.main import commands
from doccluster.corpus import read_corpus
from doccluster.errors import InputError

LONG = [
    f"Speech {n} goes on about the harbour, the ferry and the wall at some length, and then it ends." for n in range(8)
]
TITLES = [f"{n % 3}. Order of the day" for n in range(8)]
WORDS = ["harbour", "ferry", "wall", "storm", "boat", "crew", "strike", "stone", "council", "budget"]
SHORT = [f"{WORDS[n]} {WORDS[n + 2]} today" for n in range(8)]
LINKS = [f"https://a.example/{'path/' * 40}{n}" for n in range(8)]
JSON = [json.dumps({"name": "Some words of a text that is long enough to be one", "n": n}) for n in range(8)]
PYTHON = [str([{"id": n, "name": "Animation of the words of a story"}] * 3) for n in range(8)]
HASHES = [f"{n:064x}" for n in range(8)]
NAMES = [f"Ann Writer, Bert Author, Cora Clerk, Dora Scribe and {n} others of the town" for n in range(8)]
NUMBERS = ["[0.12, 0.5, -1.25, 3.5e-05, 0.25, 0.125, 7.5, 8.5, 9.5]"] * 8
NOTICE = ["All rights are reserved by the publisher; nothing may be copied without a word of permission."] * 8

TABLES = {  # the columns, and the one that holds the text
    "debates": ({"speechID": range(8), "title": TITLES, "member_name": SHORT, "speech": LONG}, "speech"),
    "films": ({"Title": SHORT, "Release Year": range(8), "Genre": TITLES, "Wiki Page": LINKS, "Plot": LONG}, "Plot"),
    "reviews": ({"Title": SHORT, "Review Text": LONG, "Rating": range(8), "Department Name": TITLES}, "Review Text"),
    "short messages": ({"v1": ["ham", "spam"] * 4, "v2": LONG}, "v2"),
    "complaints": ({"Product": TITLES, "Consumer complaint narrative": LONG}, "Consumer complaint narrative"),
    "talks": ({"title": SHORT, "description": LONG, "transcript": [5 * one for one in LONG]}, "transcript"),
    "headlines alone": ({"publish_date": range(8), "headline_text": LONG}, "headline_text"),
    "papers": ({"title": SHORT, "authors": [9 * name for name in NAMES], "abstract": LONG}, "abstract"),
    "films and JSON": ({"title": SHORT, "genres": PYTHON, "cast": JSON, "overview": LONG}, "overview"),
    "a notice": ({"headline": LONG, "terms": [5 * NOTICE[0]] * 8}, "headline"),
    "hashes": ({"title": SHORT, "sha": HASHES, "vector": NUMBERS, "link": LINKS}, "title"),
    "usual names": ({"title": SHORT, "text": SHORT, "html": LONG}, "text"),
    "a usual name that numbers": ({"document": range(8), "title": SHORT, "Wortlaut": LONG}, "Wortlaut"),
    "a short form": ({"id": range(8), "summary": LONG, "full_story": [6 * one for one in LONG]}, "full_story"),
    "nearly as long": ({"summary": LONG, "lead": [2 * one for one in LONG]}, "summary"),
    "names of R": ({"Review.Title": SHORT, "Review.Text": LONG}, "Review.Text"),
    "labels that are texts": ({"title": SHORT, "story": LONG}, "story"),
}


@pytest.mark.parametrize("kind", ["frame", "csv", "tsv", "json", "jsonl", "parquet", "sql"])
@pytest.mark.parametrize("name", TABLES)
def test_the_text_of_a_usual_table_is_found(name, kind, tmp_path):
    columns, expected = TABLES[name]
    frame = pd.DataFrame({column: list(values) for column, values in columns.items()})
    path = tmp_path / f"a.{kind}"
    if kind == "csv":
        frame.to_csv(path, index=False)
    elif kind == "tsv":
        frame.to_csv(path, index=False, sep="\t")
    elif kind in ("json", "jsonl"):
        frame.to_json(path, orient="records", lines=kind == "jsonl")
    elif kind == "parquet":
        frame.to_parquet(path)
    elif kind == "sql":
        with sqlite3.connect(tmp_path / "a.db") as database:
            frame.to_sql("rows", database, index=False)
    source = {"frame": frame, "sql": f"sqlite:///{tmp_path}/a.db?SELECT * FROM rows"}.get(kind, path)
    corpus = read_corpus(source)
    assert corpus.text_columns == (expected,)
    assert list(corpus.texts) == frame[expected].tolist()
    assert expected not in corpus.labels


def test_a_title_goes_with_a_snippet_and_a_named_column_is_taken_whatever_it_holds():
    frame = pd.DataFrame({"title": SHORT, "snippet": LONG, "url": LINKS})
    assert read_corpus(frame).text_columns == ("title", "snippet")
    assert read_corpus(frame).texts[0] == f"{SHORT[0]}\n\n{LONG[0]}"
    assert read_corpus(frame, text_column="title").text_columns == ("title",)
    assert read_corpus(frame, text_column="url").texts[0] == LINKS[0]


def test_where_no_column_reads_like_a_text_the_columns_are_shown():
    with pytest.raises(InputError, match=r"no column that reads like a text.*its columns are 'sha', 'link'"):
        read_corpus(pd.DataFrame({"sha": HASHES, "link": LINKS}))


def test_every_door_says_which_column_was_taken(tmp_path):
    path = tmp_path / "a.csv"
    speeches = [f"{text} {SHORT[number]} {SHORT[7 - number]}" for number, text in enumerate(LONG)]
    pd.DataFrame({"nr": range(8), "title": TITLES, "speech": speeches}).to_csv(path, index=False)
    out = tmp_path / "out"
    runner = CliRunner()
    assert "text       speech\n" in runner.invoke(commands, ["inspect", str(path)]).output
    assert json.loads(runner.invoke(commands, ["inspect", str(path), "--json"]).output)["text_columns"] == ["speech"]
    told = runner.invoke(commands, ["run", str(path), "-k", "2", "-o", str(out)]).output
    assert "8 documents (each row of a.csv is a document; text: speech)" in told
    arguments = ["run", str(path), "-k", "2", "--json", "-o", str(out), "--overwrite"]
    assert json.loads(runner.invoke(commands, arguments).stdout)["text_columns"] == ["speech"]
    assert json.loads((out / "run.json").read_text())["parameters"]["resolved"]["text_columns"] == ["speech"]
    corpus = read_corpus(path)
    assert (corpus.text_columns, corpus[:3].text_columns) == (("speech",), ("speech",))
    assert "text: speech" in repr(corpus)
    assert "text: speech" in repr(inspect(path))
    assert run(corpus, n_clusters=2).parameters["resolved"]["text_columns"] == ["speech"]
