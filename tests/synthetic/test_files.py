"""Made corpora as files: readable by the readers, the same bytes, all or nothing."""

from __future__ import annotations

import errno
import gzip
import pathlib
import tomllib
import zlib

import numpy as np
import pytest

from doccluster.corpus import read_corpus
from doccluster.errors import InputError
from doccluster.lab.synthetic import files
from doccluster.synthetic import (
    make_sharma,
    make_sparse_vmf,
    make_vmf_mixture,
    plan_vmf_mixture,
    plan_zipf,
    write_vectors,
    write_vmf_mixture,
    write_zipf,
)
from doccluster.vectors import read_matrix

FULL_DISK = OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("name", ["a.npz", "a.mtx"])
@pytest.mark.filterwarnings("ignore:.*is taken as weighted already")
def test_sparse_vectors_are_read_back(tmp_path, name):
    made = make_sharma(4, random_state=0)
    written = write_vectors(tmp_path / name, made)
    assert sorted(path.name for path in written) == sorted(path.name for path in tmp_path.iterdir())
    vectors, classes = read_matrix(tmp_path / name)
    assert classes == [str(label) for label in made.truth]
    np.testing.assert_allclose(vectors.matrix.toarray(), made.vectors.matrix.toarray(), atol=1e-6)
    if name.endswith(".npz"):
        assert vectors.terms.tolist() == made.vectors.terms.tolist()


@pytest.mark.parametrize("name", ["a.npz", "a.npy"])
@pytest.mark.filterwarnings("ignore:.*is taken as weighted already")
def test_dense_vectors_are_read_back(tmp_path, name):
    made = make_vmf_mixture(50, 10, 2, kappa=5, random_state=0)
    write_vectors(tmp_path / name, made)
    vectors, classes = read_matrix(tmp_path / name)
    assert classes == [str(label) for label in made.truth]
    np.testing.assert_allclose(vectors.matrix, made.vectors.matrix, atol=1e-6)


def test_blocks_on_disk_are_the_rows_in_memory(tmp_path):
    options = {"kappa": 30.0, "random_state": 1}
    told = []
    write_vmf_mixture(
        tmp_path / "rows.npy",
        plan_vmf_mixture(2000, 400, 3, **options),
        n_threads=3,
        progress=lambda stage, done, total=None: told.append((done, total)),
    )
    made = make_vmf_mixture(2000, 400, 3, **options)
    assert (np.load(tmp_path / "rows.npy") == made.vectors.matrix).all()
    assert (tmp_path / "rows.rclass").read_text().split() == [str(label) for label in made.truth]
    assert told[-1] == (2000, 2000)
    assert len(told) > 2


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_documents_are_read_back_with_labels_and_dates(tmp_path, name):
    plan = plan_zipf(700, n_topics=4, random_state=0)
    write_zipf(tmp_path / name, plan)
    corpus = read_corpus(tmp_path / name)
    made = plan.to_corpus()
    assert corpus.texts == made.texts
    assert corpus.ids == made.ids
    assert corpus.labels["topic"] == made.labels["topic"]
    assert corpus.labels["story"] == made.labels["story"]
    assert corpus.metadata["title"].tolist() == made.metadata["title"].tolist()
    assert corpus.metadata["date"].str[:10].tolist() == made.metadata["date"].str[:10].tolist()


def write_each(folder, n_threads):
    folder.mkdir()
    write_zipf(folder / "a.jsonl.gz", plan_zipf(1100, n_topics=3, random_state=5), n_threads=n_threads)
    write_vmf_mixture(folder / "b.npy", plan_vmf_mixture(900, 700, 2, kappa=9, random_state=5), n_threads=n_threads)
    write_vectors(folder / "c.npz", make_sparse_vmf(400, 5000, 3, random_state=5, n_threads=n_threads))
    write_vectors(folder / "d.mtx", make_sharma(random_state=5))
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.mark.usefixtures("starts_threads")
def test_same_bytes_for_the_same_seed_and_any_number_of_threads(tmp_path):
    first, second = write_each(tmp_path / "one", 1), write_each(tmp_path / "two", 3)
    assert list(first) == ["a.jsonl.gz", "b.npy", "b.rclass", "c.npz", "corpus.toml", "d.mtx", "d.rclass"]
    assert first == second


def test_record_holds_the_parameters_of_every_file(tmp_path):
    write_vectors(tmp_path / "a.npz", make_sharma(3, alpha=0.5, random_state=9))
    write_zipf(tmp_path / "b.jsonl", plan_zipf(30, n_topics=2, random_state=1))
    write_vectors(tmp_path / "a.npz", make_sharma(4, random_state=9))
    record = tomllib.loads((tmp_path / "corpus.toml").read_text())
    assert record["a.npz"]["n_clusters"] == 4
    assert record["a.npz"]["alpha"] == 0.4
    assert record["a.npz"]["random_state"] == 9
    assert record["b.jsonl"]["kind"] == "zipf"
    assert record["b.jsonl"]["n_documents"] == 30
    again = {
        name: record["b.jsonl"][name]
        for name in ("n_topics", "n_stories", "n_terms", "overlap", "background", "random_state")
    }
    assert list(plan_zipf(30, **again).documents()) == list(plan_zipf(30, n_topics=2, random_state=1).documents())


def test_a_foreign_record_is_not_overwritten(tmp_path):
    (tmp_path / "corpus.toml").write_text('name = "mine"\n')
    with pytest.raises(InputError, match="was not written by"):
        write_vectors(tmp_path / "a.npz", make_sharma(2))
    (tmp_path / "corpus.toml").write_text("not toml at all")
    with pytest.raises(InputError, match="cannot be read"):
        write_vectors(tmp_path / "a.npz", make_sharma(2))
    assert [path.name for path in tmp_path.iterdir()] == ["corpus.toml"]


class FailingStream:
    """A file that is full after some bytes."""

    def __init__(self, handle, room):
        self.handle, self.room = handle, room

    def write(self, data):
        self.room -= memoryview(data).nbytes
        if self.room < 0:
            raise FULL_DISK
        return self.handle.write(data)

    def flush(self):
        self.handle.flush()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.handle.close()


@pytest.fixture
def full_disk(monkeypatch):
    """Make every file that is opened for writing full after 20 kB."""
    real = pathlib.Path.open

    def opened(self, mode="r", *arguments, **options):
        handle = real(self, mode, *arguments, **options)
        return FailingStream(handle, 20_000) if "w" in mode else handle

    monkeypatch.setattr(pathlib.Path, "open", opened)


@pytest.mark.usefixtures("full_disk")
@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_a_full_disk_leaves_no_documents(tmp_path, name):
    with pytest.raises(InputError, match="No space left on device") as caught:
        write_zipf(tmp_path / name, plan_zipf(600, n_topics=2, random_state=0))
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("full_disk")
def test_a_full_disk_leaves_no_rows_and_keeps_what_was_there(tmp_path):
    (tmp_path / "a.npy").write_bytes(b"earlier")
    with pytest.raises(InputError, match="nothing was left"):
        write_vmf_mixture(tmp_path / "a.npy", plan_vmf_mixture(1000, 100, 2, kappa=1, random_state=0))
    assert [path.name for path in tmp_path.iterdir()] == ["a.npy"]
    assert (tmp_path / "a.npy").read_bytes() == b"earlier"


@pytest.mark.parametrize("writer", ["write_matrix", "mmwrite"])
def test_a_full_disk_leaves_no_matrix(tmp_path, monkeypatch, writer):
    def fails(target, *arguments, **options):
        pathlib.Path(target).write_bytes(b"half")
        raise FULL_DISK

    monkeypatch.setattr(files if writer == "write_matrix" else files.io, writer, fails)
    with pytest.raises(InputError, match="No space left"):
        write_vectors(tmp_path / ("a.npz" if writer == "write_matrix" else "a.mtx"), make_sharma(2))
    assert list(tmp_path.iterdir()) == []


def test_names_that_fit_no_format_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"does not end in .npz, .mtx, .npy"):
        write_vectors(tmp_path / "a.csv", make_sharma(2))
    with pytest.raises(InputError, match="does not fit these vectors"):
        write_vectors(tmp_path / "a.npy", make_sharma(2))
    with pytest.raises(InputError, match="does not fit these vectors"):
        write_vectors(tmp_path / "a.mtx", make_vmf_mixture(5, 3, 1, kappa=1))
    with pytest.raises(InputError, match=r"does not end in .jsonl"):
        write_zipf(tmp_path / "a.txt", plan_zipf(2, n_topics=1))
    (tmp_path / "b.rclass").mkdir()
    with pytest.raises(InputError, match=r"b.rclass is a folder"):
        write_vectors(tmp_path / "b.mtx", make_sharma(2))
    assert not (tmp_path / "b.mtx").exists()
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="could not be written"):
        write_vectors(tmp_path / "file" / "a.npz", make_sharma(2))


def test_compressed_documents_carry_no_time(tmp_path):
    write_zipf(tmp_path / "a.jsonl.gz", plan_zipf(20, n_topics=2, random_state=0))
    data = (tmp_path / "a.jsonl.gz").read_bytes()
    assert data[4:8] == b"\0\0\0\0"
    assert data[3] == 0  # no name either
    assert gzip.decompress(data).count(b"\n") == 20


def test_compressed_documents_are_one_stream_that_any_reader_takes_whole(tmp_path):
    plan = plan_zipf(1100, n_topics=2, random_state=0)  # three parts
    write_zipf(tmp_path / "a.jsonl.gz", plan)
    write_zipf(tmp_path / "a.jsonl", plan)
    reader = zlib.decompressobj(wbits=31)
    assert reader.decompress((tmp_path / "a.jsonl.gz").read_bytes()) == (tmp_path / "a.jsonl").read_bytes()
    assert reader.eof  # of the first member, and nothing follows
    assert reader.unused_data == b""


def test_texts_are_written_as_toml_reads_them():
    values = [
        "plain",
        'with "quotes" and \\',
        "line\nbreak\t\x7f\x01",
        "ünïcode",
        [1, 2.5, True, "x"],
        float("inf"),
        -3,
    ]
    for value in values:
        assert tomllib.loads(f"a = {files.toml_value(value)}")["a"] == value
