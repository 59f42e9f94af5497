"""Files behind addresses give the corpus of the same files in a folder."""

from __future__ import annotations

import bz2
import gzip
import json
import sys
from pathlib import Path

import pytest

from doccluster.corpus import read_corpus
from doccluster.corpus.named_files import Files
from doccluster.corpus.parts import FilesInParts, as_parts
from doccluster.corpus.walking import ListedFile, Walk
from doccluster.errors import InputError, MissingDependency
from doccluster.pipeline.main_line import run_pipeline
from doccluster.pipeline.repeating import repeat_run

fsspec = pytest.importorskip("fsspec", reason="the extra dask is not installed")


@pytest.fixture
def folder(tmp_path):
    """A few parts in a folder of this machine, and the same behind memory://parts."""
    folder = tmp_path / "parts"
    (folder / "deeper").mkdir(parents=True)

    def lines(start):
        kinds = ["oil prices rise again", "wheat harvest in the rain", "a new battery plant"]
        rows = [{"id": str(start + n), "text": f"{kinds[n % 3]} {n}", "class": "abc"[n % 3]} for n in range(9)]
        return "".join(json.dumps(row) + "\n" for row in rows).encode()

    (folder / "a.jsonl").write_bytes(lines(0))
    (folder / "b.jsonl.gz").write_bytes(gzip.compress(lines(5)))
    (folder / "deeper" / "c.jsonl.bz2").write_bytes(bz2.compress(lines(20)))
    (folder / "deeper" / ".hidden").write_bytes(b"nothing")
    (folder / "d.csv").write_bytes(b"id,text\n40,more oil\n41,\n")
    (folder / "e.jsonl.gz").write_bytes(gzip.compress(lines(60))[:-20])
    memory = fsspec.filesystem("memory")
    for path in folder.rglob("*"):
        if path.is_file():
            memory.pipe(f"/parts/{path.relative_to(folder).as_posix()}", path.read_bytes())
    yield folder
    memory.rm("/parts", recursive=True)


def assert_same(found, expected):
    assert (found.ids, found.texts, found.labels) == (expected.ids, expected.texts, expected.labels)
    assert sorted(map(repr, found.skipped)) == sorted(map(repr, expected.skipped))
    assert found.metadata.equals(expected.metadata)


def test_a_folder_behind_an_address_is_read_as_one_of_this_machine(folder):
    expected = read_corpus(folder)
    assert {one.reason for one in expected.skipped} >= {"hidden", "empty", "duplicate-id"}
    assert_same(read_corpus("memory://parts"), expected)
    assert_same(read_corpus(f"file://{folder}"), expected)


def test_files_and_patterns_behind_addresses(folder):
    assert_same(read_corpus("memory://parts/a.jsonl"), read_corpus(folder / "a.jsonl"))
    assert read_corpus("memory://parts/*.jsonl*").ids == read_corpus(folder / "*.jsonl*").ids
    both = read_corpus(["memory://parts/a.jsonl", str(folder / "d.csv")])
    assert len(both) == 10


def test_parquet_behind_an_address(folder):
    pytest.importorskip("pyarrow", reason="the extra parquet is not installed")
    import pandas as pd

    pd.DataFrame({"id": ["x", "y"], "text": ["oil prices", "wheat harvest"]}).to_parquet(folder / "t.parquet")
    fsspec.filesystem("memory").pipe("/parts/t.parquet", (folder / "t.parquet").read_bytes())
    assert_same(read_corpus("memory://parts/t.parquet"), read_corpus(folder / "t.parquet"))


def test_a_run_in_blocks_reads_addresses_and_gives_the_same_labels(folder, tmp_path):
    settings = {"n_clusters": 3, "algorithm": "spherical-k-means", "report": False, "truth": "class"}
    run_pipeline(folder, output=tmp_path / "one", **settings)
    run_pipeline("memory://parts", output=tmp_path / "run", scratch=tmp_path / "scratch", **settings)
    for name in ("assignments.csv", "scores.csv"):
        assert (tmp_path / "run" / name).read_bytes() == (tmp_path / "one" / name).read_bytes()
    assert repeat_run(tmp_path / "run" / "run.json", source="memory://parts").same_labels


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("memory://parts/gone.jsonl", "there is nothing at memory://parts/gone.jsonl"),
        ("memory://parts/*.warc", "there is nothing at"),
        ("nosuchkind://bucket/a", "nosuchkind://bucket/a cannot be read"),
        ("https://example.org/a.jsonl", "nothing is fetched"),
    ],
)
def test_what_is_not_there_is_told_in_a_sentence(folder, address, said):
    with pytest.raises(InputError, match=said.replace("*", r"\*")):
        read_corpus([address, str(folder / "a.jsonl")])


def test_what_is_not_installed_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(MissingDependency, match=r"needs fsspec.*doccluster\[dask\]"):
        read_corpus("s3://bucket/articles")


def in_this_process(function, items, *shared):
    return (function(item, *shared) for item in items)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("lines.txt", "".join(f"été {n} oil and wheat\n" for n in range(300))),
        ("rows.jsonl", "".join(json.dumps({"id": n // 2, "text": f"oil {n}"}) + "\n" for n in range(300))),
        ("cells.csv", "id,text\n" + "".join(f'{n},"oil, {n}\n and wheat"\n' for n in range(300))),
        ("lines.txt.gz", "".join(f"{n} oil and wheat\n" for n in range(300))),
    ],
)
def test_files_behind_addresses_are_read_in_parts(tmp_path, name, content):
    data = content.encode()
    (tmp_path / name).write_bytes(gzip.compress(data, 0) if name.endswith("gz") else data)
    memory = fsspec.filesystem("memory")
    memory.pipe(f"/large/{name}", (tmp_path / name).read_bytes())
    (tmp_path / "texts").mkdir()
    options = {"format": "lines"} if name.startswith("lines") else {}
    source = FilesInParts(Files([Path("memory://large")]), tmp_path / "texts", in_this_process)
    try:
        found = read_corpus(source, **options)
    finally:
        memory.rm("/large", recursive=True)
    expected = read_corpus(tmp_path / name, **options)
    assert (found.ids, tuple(found.texts), found.skipped) == (expected.ids, expected.texts, expected.skipped)
    assert found.metadata.equals(expected.metadata)


def test_small_files_behind_addresses_are_grouped_by_their_sizes(monkeypatch, folder):
    monkeypatch.setattr("doccluster.corpus.parts.PART_BYTES", 600)
    listed = [one for one in Walk([Path("memory://parts")], 0).listed() if isinstance(one, ListedFile)]
    assert [one.size for one in listed] == [(folder / one.place).stat().st_size for one in listed]
    assert len(as_parts(listed)) > 1
