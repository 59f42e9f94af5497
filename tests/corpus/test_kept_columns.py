"""Columns of a table that are neither text, title nor date: kept, dropped, typed, and written beside the clusters."""

from __future__ import annotations

import json
from dataclasses import replace

import pandas as pd
import pytest

from doccluster import inspect, load_run, read_corpus, run
from doccluster.corpus.columns import MAX_KEPT_COLUMNS
from doccluster.errors import DocclusterWarning
from doccluster.measures.label_files import read_labels
from doccluster.results.run_folder import save_run

SUBJECTS = "ferry harbour tide pier", "wheat harvest rain field"
FRAME = pd.DataFrame(
    {
        "id": [f"d{row}" for row in range(12)],
        "text": [f"Report {row} of {SUBJECTS[row % 2]} and the {SUBJECTS[row % 2]}" for row in range(12)],
        "party": ["D" if row % 2 else "R" for row in range(12)],
        "seats": [row % 3 for row in range(12)],
        "score": [None if row == 5 else row + 0.5 for row in range(12)],
        "is_new": [row > 6 for row in range(12)],
        "cluster": ["theirs"] * 12,
        "history": ["a long story of " + "words " * 60] * 12,
        "topic": ["sea", "land"] * 6,
    }
)
KEPT = ["party", "seats", "score", "is_new", "source.cluster"]


@pytest.fixture(params=["csv", "jsonl", "parquet", "frame"])
def source(request, tmp_path):
    path = tmp_path / f"table.{request.param}"
    if request.param == "csv":
        FRAME.to_csv(path, index=False)
    elif request.param == "jsonl":
        FRAME.to_json(path, orient="records", lines=True)
    elif request.param == "parquet":
        pytest.importorskip("pyarrow", reason="the extra parquet is not installed")
        FRAME.to_parquet(path)
    else:
        return FRAME
    return path


def test_every_short_column_stays_with_its_documents(source):
    corpus = read_corpus(source)
    assert corpus.kept_columns == KEPT
    assert list(corpus.labels) == ["topic"]
    assert corpus.select(party="D").ids == tuple(f"d{row}" for row in range(1, 12, 2))
    assert corpus.column("score")[4:7] == ("4.5", "", "6.5")
    assert set(corpus.column("source.cluster")) == {"theirs"}


def test_columns_are_dropped_named_or_bounded(source):
    assert read_corpus(source, drop_columns=["seats", "cluster"]).kept_columns == ["party", "score", "is_new"]
    assert read_corpus(source, drop_columns="all").kept_columns == []
    assert list(read_corpus(source, drop_columns="topic").labels) == []
    assert read_corpus(source, keep_columns=["history"]).kept_columns == ["history", *KEPT]
    assert "history" not in run(FRAME, n_clusters=2, reader={"keep_columns": "history"}, report=False).documents.columns
    wide = pd.DataFrame({"text": FRAME["text"], **{f"f{number}": [1] * 12 for number in range(200)}})
    assert len(read_corpus(wide).kept_columns) == MAX_KEPT_COLUMNS


def test_the_source_of_objects_or_lists_is_not_kept_as_a_short_column(tmp_path):
    cells = {"tags": '{"a": 1}', "parts": ' [{"b": 2}]', "spans": "[[1, 2]]", "python": "{'a': 1}", "noted": "[sic]"}
    FRAME.assign(**cells).to_csv(tmp_path / "table.csv", index=False)
    assert read_corpus(tmp_path / "table.csv").kept_columns == [*KEPT, "noted"]


def test_inspect_names_the_columns_and_their_types(source):
    columns = {column.name: (column.type, column.n_values, column.n_without) for column in inspect(source).columns}
    assert columns == {
        "party": ("str", 2, 0),
        "seats": ("int", 3, 0),
        "score": ("float", 11, 1),
        "is_new": ("bool", 2, 0),
        "source.cluster": ("str", 1, 0),
    }


def test_a_run_writes_them_beside_its_clusters_and_reads_them_back(tmp_path):
    pytest.importorskip("pyarrow", reason="the extra parquet is not installed")
    made = run(FRAME, n_clusters=2, output=tmp_path / "out", parquet=True, report=False)
    table = pd.read_csv(tmp_path / "out" / "assignments.csv")
    assert list(table.columns[-6:]) == ["source.topic", *KEPT]
    assert table["party"].tolist() == FRAME["party"].tolist()
    typed = pd.read_parquet(tmp_path / "out" / "assignments")
    assert [typed[name].dtype.kind for name in ("seats", "score", "is_new")] == ["i", "f", "b"]
    assert load_run(tmp_path / "out").documents.columns == made.documents.columns
    in_blocks = run(as_file(tmp_path), n_clusters=2, scratch=tmp_path / "scratch", report=False)
    assert list(in_blocks.documents.columns["party"]) == FRAME["party"].tolist()


def as_file(folder):
    path = folder / "table.jsonl"
    path.write_text("\n".join(map(json.dumps, FRAME.to_dict("records"))), encoding="utf-8")
    return path


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n", "\t", "\u2028", "\x85"])
def test_names_of_columns_are_of_one_line_everywhere_and_that_is_said(end, tmp_path):
    frame = FRAME[["id", "text", "seats"]].assign(**{f"a{end}b": list("xy" * 6), "a b": "z", f"{end}file": "theirs"})
    frame.to_json(tmp_path / "a.jsonl", orient="records", lines=True)
    with pytest.warns(DocclusterWarning, match="names of columns of 'a b.2' and 1 more are read as blanks"):
        made = run(tmp_path / "a.jsonl", n_clusters=2, output=tmp_path / "out", report=False)
    assert list(made.documents.columns) == ["seats", "a b.2", "a b", "source.file"]
    assert pd.read_csv(tmp_path / "out" / "assignments.csv").columns[-4:].tolist() == list(made.documents.columns)
    assert set(made.documents.columns["a b.2"]) == {"x", "y"}


def test_a_run_whose_names_have_line_ends_is_written_and_judged(tmp_path):
    made = run(FRAME, n_clusters=2, report=False)
    documents = replace(made.documents, columns={"a\nb": made.documents.columns["party"], "a b": ["z"] * 12})
    path = save_run(replace(made, documents=documents), tmp_path / "out") / "assignments.csv"
    assert pd.read_csv(path).columns[-2:].tolist() == ["a b.2", "a b"]
    assert len(read_labels(path, columns=["cluster"]).ids) == 12
    path.write_text(path.read_text(encoding="utf-8").replace("a b.2", '"a\nb"'), encoding="utf-8")  # as it was written
    assert len(read_labels(path, columns=["cluster"]).ids) == 12
