"""A corpus whose files are read one by one, elsewhere, is the corpus that is read in one process."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import pathlib
import warnings

import numpy as np
import pytest

from doccluster.base import worker_processes
from doccluster.corpus import read_corpus
from doccluster.corpus.named_files import Files
from doccluster.corpus.parts import PART_BYTES, FilesInParts, Part, as_parts
from doccluster.corpus.stored_texts import PickedTexts, StoredTexts, TextBlock, TextWriter
from doccluster.corpus.walking import ListedFile, Walk
from doccluster.errors import DocclusterWarning, InputError, NothingUsable

SAMPLES = pathlib.Path(__file__).resolve().parent.parent.parent / "corpora" / "samples"


def one_after_another(function, items, *shared):
    return (function(item, *shared) for item in items)


def in_parts(paths, folder, **options):
    folder.mkdir()
    return read_corpus(FilesInParts(Files(paths), folder, one_after_another), **options)


def assert_same(found, expected):
    assert found.ids == expected.ids
    assert list(found.texts) == list(expected.texts)
    assert found.labels == expected.labels
    assert found.skipped == expected.skipped
    assert found.metadata.equals(expected.metadata)


@pytest.mark.parametrize("name", ["newsroom", "tiny"])
def test_samples_of_every_format_are_the_same(tmp_path, name):
    assert_same(in_parts([SAMPLES / name], tmp_path / "texts"), read_corpus(SAMPLES / name))


@pytest.fixture
def tables(tmp_path):
    """Parts of several kinds with ids that repeat, in one part and over parts, and two parts that cannot be read."""
    folder = tmp_path / "parts"
    folder.mkdir()

    def lines(start):
        rows = [{"id": str(n % 5), "text": f"document {n} of oil and wheat", "class": "ab"[n % 2]} for n in range(8)]
        return "".join(json.dumps({**row, "title": f"title {start}"}) + "\n" for row in rows).encode()

    (folder / "a.jsonl").write_bytes(lines(0) + b"{broken\n\n" + lines(1))
    (folder / "b.jsonl.gz").write_bytes(gzip.compress(lines(2)))
    (folder / "c.jsonl.bz2").write_bytes(bz2.compress(lines(3)))
    (folder / "d.jsonl.xz").write_bytes(lzma.compress(lines(4)))
    (folder / "e.csv").write_text('id,text,class\n7,"wheat, and\nrain",a\n8,,b\n', encoding="utf-8")
    (folder / "f.jsonl.gz").write_bytes(gzip.compress(lines(5))[:-20])
    (folder / "g.csv").write_text("number,amount\n1,2\n", encoding="utf-8")
    return folder


def test_tables_are_the_same_with_their_ids_and_what_was_skipped(tmp_path, tables):
    expected = read_corpus(tables)
    assert {one.reason for one in expected.skipped} > {"duplicate-id", "empty", "bad-json"}
    assert_same(in_parts([tables], tmp_path / "texts"), expected)
    pattern = tables / "*.jsonl*"
    assert_same(in_parts([pattern], tmp_path / "again"), read_corpus(pattern))


def test_files_that_workers_read_are_the_same_documents(monkeypatch, tables):
    files = [tables, pathlib.Path(__file__).parent / "files", SAMPLES]
    with warnings.catch_warnings(record=True) as expected_warnings:
        warnings.simplefilter("always")
        expected = read_corpus(files)
    monkeypatch.setattr(worker_processes, "MIN_DOCUMENTS", 1)
    tasks = []
    begin = worker_processes.Workers.begin
    monkeypatch.setattr(worker_processes.Workers, "begin", lambda *task: tasks.append(task) or begin(*task))
    with worker_processes.worker_processes(3), warnings.catch_warnings(record=True) as found_warnings:
        warnings.simplefilter("always")
        found = read_corpus(files)
    assert len(tasks) == 2
    assert_same(found, expected)
    assert list(found.metadata) == list(expected.metadata)
    assert (found.dates, found.division) == (expected.dates, expected.division)
    assert [str(one.message) for one in found_warnings] == [str(one.message) for one in expected_warnings]
    assert len(expected.skipped) > 10


def test_a_limit_a_part_of_a_split_and_labels_from_a_second_file_hold(tmp_path, tables):
    labels = tmp_path / "labels.txt"
    few = [tables / "e.csv", tables / "b.jsonl.gz"]
    labels.write_text("".join(f"label{n % 3}\n" for n in range(10)), encoding="utf-8")
    options = {"labels_file": labels, "max_document_length": 26}
    expected = read_corpus(few, **options)
    assert {one.reason for one in expected.skipped} >= {"empty", "too-long"}
    assert_same(in_parts(few, tmp_path / "texts", **options), expected)
    split = tmp_path / "split.csv"
    split.write_text("text,split\none text,train\nanother text,test\n", encoding="utf-8")
    assert in_parts([split], tmp_path / "split", split="test").texts[0] == "another text"
    with pytest.raises(InputError, match="the splits there are: test, train"):
        in_parts([split], tmp_path / "none", split="dev")


def test_lines_of_text_are_documents_in_parts_too(tmp_path):
    (tmp_path / "lines.txt").write_text("first line\nsecond line\n\nthird\n", encoding="utf-8")
    expected = read_corpus(tmp_path / "lines.txt", format="lines")
    assert_same(in_parts([tmp_path / "lines.txt"], tmp_path / "texts", format="lines"), expected)


def test_parquet_parts_are_read(tmp_path):
    pytest.importorskip("pyarrow", reason="the extra parquet is not installed")
    import pandas as pd

    pd.DataFrame({"id": ["x", "y"], "text": ["oil prices", "wheat harvest"]}).to_parquet(tmp_path / "a.parquet")
    assert_same(in_parts([tmp_path / "a.parquet"], tmp_path / "texts"), read_corpus(tmp_path / "a.parquet"))


def test_a_part_that_vanished_is_listed_and_the_run_goes_on(tmp_path, tables):
    def without_one(function, items, *shared):
        (tables / "b.jsonl.gz").unlink(missing_ok=True)
        return one_after_another(function, items, *shared)

    (tmp_path / "texts").mkdir()
    corpus = read_corpus(FilesInParts(Files([tables]), tmp_path / "texts", without_one))
    gone = [one for one in corpus.skipped if one.source == "b.jsonl.gz"]
    assert [one.reason for one in gone] == ["unreadable"]
    assert len(corpus) == len(read_corpus(tables))


def test_small_files_are_read_together_and_large_ones_alone(tmp_path):
    files = []
    for number, size in enumerate([10, 20, PART_BYTES, 30, PART_BYTES - 10]):
        path = tmp_path / f"{number}.txt"
        with path.open("wb") as file:
            file.truncate(size)
        files.append(next(Walk([path], None).listed()))
    assert all(isinstance(file, ListedFile) for file in files)
    assert [len(part.items) for part in as_parts(files)] == [2, 1, 1, 1]
    assert [part.number for part in as_parts(files)] == [0, 1, 2, 3]
    assert as_parts([]) == []
    assert as_parts([ListedFile(tmp_path / "gone", files[0].place, "")])[0] == Part(
        0, (ListedFile(tmp_path / "gone", files[0].place, ""),)
    )


def test_markup_that_was_left_out_is_told(tmp_path):
    rows = "".join(f'"<p>Oil <b>price</b> number {n} rises</p>"\n' for n in range(30))
    (tmp_path / "pages.csv").write_text("text\n" + rows, encoding="utf-8")
    with pytest.warns(DocclusterWarning, match="are HTML and were read without markup"):
        corpus = in_parts([tmp_path / "pages.csv"], tmp_path / "texts")
    assert corpus.stripped_html
    assert corpus.texts[3] == "Oil price number 3 rises"


def test_standard_input_and_nothing_are_refused_in_a_sentence(tmp_path):
    with pytest.raises(InputError, match="standard input has no parts"):
        in_parts([pathlib.Path("-")], tmp_path / "texts")
    (tmp_path / "empty").mkdir()
    with pytest.raises(NothingUsable):
        in_parts([tmp_path / "empty"], tmp_path / "none")


def test_stored_texts_are_found_by_place_in_any_order(tmp_path, monkeypatch):
    texts = [f"text {number} é" * (number % 4) for number in range(50)]
    writer = TextWriter(tmp_path, "part", characters=60)
    assert [writer.add(text) for text in texts] == list(range(50))
    writer.flush()
    writer.flush()
    assert len(writer.blocks) > 5
    assert all(isinstance(block, TextBlock) for block in writer.blocks)
    numbers = np.random.default_rng(0).permutation(50)[:30]
    stored = StoredTexts(writer.blocks, numbers)
    expected = [texts[number] for number in numbers]
    assert len(stored) == 30
    assert [stored[place] for place in range(30)] == expected
    assert stored[-1] == expected[-1]
    assert list(stored) == stored[:] == expected
    assert stored[::7] == expected[::7]
    assert stored.take(np.array([29, 3, 3, 0])) == [expected[place] for place in (29, 3, 3, 0)]
    monkeypatch.setattr("doccluster.corpus.stored_texts.AT_A_TIME", 4)
    picked = PickedTexts(PickedTexts(stored, np.arange(30)[::-1]), np.arange(0, 30, 2))
    assert list(picked) == picked[:] == expected[::-1][::2]
    assert [text for rows in stored.blocks for text in rows.texts] == expected
    assert stored.blocks[0].first == 0


def test_texts_of_more_blocks_than_a_process_may_have_files_open_are_held(tmp_path):
    resource = pytest.importorskip("resource", reason="the system has no limit of open files")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    lowered = 128
    writer = TextWriter(tmp_path, "part", characters=1)
    for number in range(lowered):
        writer.add(f"text {number}")
    stored = StoredTexts(writer.blocks, np.arange(lowered))
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowered, hard))
    try:
        assert stored.hold()[lowered - 1] == f"text {lowered - 1}"
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
