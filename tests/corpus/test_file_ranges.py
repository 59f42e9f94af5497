"""A large file that is read in ranges gives the documents, names and skipped lines of one that is read in one piece."""

from __future__ import annotations

import gzip
import json
import random

import pytest

from doccluster.corpus import read_corpus
from doccluster.corpus.file_ranges import in_ranges
from doccluster.corpus.parts import FilesInParts
from doccluster.corpus.reader_options import ReadOptions
from doccluster.corpus.walking import Walk
from doccluster.errors import DocclusterWarning


@pytest.fixture(autouse=True)
def small_ranges(monkeypatch):
    monkeypatch.setattr("doccluster.corpus.file_ranges.RANGE_BYTES", 900)


def mapped(function, items, *shared):
    return (function(item, *shared) for item in items)


def assert_read_alike(path, folder, n_ranges, **options):
    """Read a file both ways; `n_ranges` says into how many ranges it comes apart, None for at least two."""
    listed = list(Walk([path], 0).listed())
    asked = {name: value for name, value in options.items() if name in ("header", "delimiter", "text_column", "format")}
    ranges = in_ranges(listed, mapped, ReadOptions(**asked))[0]
    assert len(ranges) > 1 if n_ranges is None else len(ranges) == n_ranges
    expected = read_corpus(path, **options)
    folder.mkdir()
    told = []
    parts = FilesInParts([path], folder, mapped, told.append)
    found = read_corpus(parts, **options)
    assert ["one piece" in sentence for sentence in told] == ([True] if n_ranges == 1 else [])
    assert found.ids == expected.ids
    assert list(found.texts) == list(expected.texts)
    assert found.labels == expected.labels
    assert found.skipped == expected.skipped
    assert found.metadata.equals(expected.metadata)


def sentences(n):
    words = random.Random(3)
    return [" ".join(words.choices(["oil", "wheat", "rain", "été", "港", "price"], k=12)) for _ in range(n)]


def test_lines_with_empty_ones_and_the_mark_of_utf_8(tmp_path):
    text = "\ufeff" + "\r\n".join("" if n % 7 == 3 else line for n, line in enumerate(sentences(120)))
    (tmp_path / "lines.txt").write_text(text, encoding="utf-8", newline="")
    assert_read_alike(tmp_path / "lines.txt", tmp_path / "texts", None, format="lines")


def test_json_lines_whose_columns_come_late_and_of_which_some_are_broken(tmp_path):
    rows = []
    for n, text in enumerate(sentences(300)):
        row = {"title": f"title {n}", "text": text, **({"class": "ab"[n % 2]} if n > 150 else {})}
        rows.append("{broken" if n % 50 == 7 else json.dumps(row, ensure_ascii=False))
        if n % 60 == 9:
            rows += ["", '["no record"]', json.dumps({"id": "again", "text": text})]
    (tmp_path / "a.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    assert_read_alike(tmp_path / "a.jsonl", tmp_path / "texts", None)


def csv_rows(n):
    return [f'{number},"{text}, and more",{"ab"[number % 2]}' for number, text in enumerate(sentences(n))]


@pytest.mark.parametrize("beginning", ["id,text,class\n", "sep=,\nid,text,class\n"])
def test_a_csv_with_quotes_and_rows_of_too_many_cells(tmp_path, beginning):
    rows = csv_rows(150)
    rows[40] += ",too,many"
    (tmp_path / "a.csv").write_text(beginning + "\n".join(rows), encoding="utf-8")
    assert_read_alike(tmp_path / "a.csv", tmp_path / "texts", None)


def test_a_csv_without_ids_and_without_a_header(tmp_path):
    rows = "".join(f"a;{text}\n" for text in sentences(100))
    (tmp_path / "a.csv").write_text(rows, encoding="utf-8")
    assert_read_alike(
        tmp_path / "a.csv", tmp_path / "texts", None, header=False, delimiter=";", text_column="2", label_columns="1"
    )


def test_a_csv_whose_rows_run_over_lines_is_cut_only_where_no_quote_is_open(tmp_path):
    rows = "".join(f'{n},"{text}\n{text}\n{text}"\n' for n, text in enumerate(sentences(60)))
    (tmp_path / "a.csv").write_text("id,text\n" + rows, encoding="utf-8")
    assert_read_alike(tmp_path / "a.csv", tmp_path / "texts", 1)
    short = "".join(f"{n},{text}\n" for n, text in enumerate(sentences(60)))
    (tmp_path / "b.csv").write_text(f'id,text\n{short}61,"never closed\n{short}', encoding="utf-8")
    assert_read_alike(tmp_path / "b.csv", tmp_path / "other", 1)


def test_what_is_not_utf_8_or_is_packed_is_read_in_one_piece(tmp_path):
    lines = "".join(f"{text}\n" for text in sentences(300)).encode()
    (tmp_path / "late.txt").write_bytes(lines + "prix du blé et du pétrole en hausse\n".encode("cp1252"))
    (tmp_path / "packed.txt.gz").write_bytes(gzip.compress(lines, compresslevel=0))
    assert_read_alike(tmp_path / "late.txt", tmp_path / "texts", 1, format="lines")
    assert_read_alike(tmp_path / "packed.txt.gz", tmp_path / "packed", 1, format="lines")


def test_html_in_a_table_is_recognised_once_and_left_out_of_every_range(tmp_path):
    rows = "".join(json.dumps({"text": f"<p>{text} &amp; <b>more</b></p>"}) + "\n" for text in sentences(80))
    (tmp_path / "a.jsonl").write_text(rows, encoding="utf-8")
    with pytest.warns(DocclusterWarning, match=r"the texts of a\.jsonl are HTML"):
        assert_read_alike(tmp_path / "a.jsonl", tmp_path / "texts", None)


def test_a_parquet_table_comes_apart_between_its_groups_of_rows(tmp_path):
    pytest.importorskip("pyarrow", reason="the extra parquet is not installed")
    import pandas as pd

    table = pd.DataFrame({"text": sentences(200), "class": ["a", "b"] * 100})
    table.to_parquet(tmp_path / "a.parquet", row_group_size=30, compression=None)
    assert_read_alike(tmp_path / "a.parquet", tmp_path / "texts", None)
