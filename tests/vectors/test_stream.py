from __future__ import annotations

import gzip
import json
import mmap
import subprocess
import sys

import numpy as np
import pytest

from doccluster.errors import DocclusterWarning, InputError, NothingUsable, SchemaError
from doccluster.vectors import HashingTfidf, TfidfVectorizer, open_vectors, vectorize, vectorize_stream

TEXTS = ["two cats and naïve dogs", "", "one cat, two dogs", "dogs dogs dogs"] * 5
IDS = [f"d{number}" for number in range(len(TEXTS))]


def is_mapped(array):
    """Whether the array is a view of a file, however many views deep."""
    while isinstance(array, np.ndarray):
        array = array.base
    return isinstance(array, mmap.mmap)


@pytest.fixture
def jsonl(tmp_path):
    path = tmp_path / "documents.jsonl.gz"
    with gzip.open(path, "wt", encoding="utf-8") as file:
        for name, text in zip(IDS, TEXTS, strict=True):
            file.write(json.dumps({"id": name, "text": text}) + "\n")
    return path


@pytest.mark.parametrize("batch_size", [1, 50, "1M"])
def test_a_stream_gives_the_rows_of_the_whole_corpus(tmp_path, jsonl, batch_size):
    expected = vectorize(TEXTS, min_df=2, stemming="english")
    vectorizer = TfidfVectorizer(min_df=2, stemming="english")
    told = []
    found = vectorize_stream(
        jsonl,
        tmp_path / "out",
        vectorizer=vectorizer,
        batch_size=batch_size,
        progress=lambda stage, done, total=None: told.append((stage, done)),
    )
    np.testing.assert_array_equal(found.matrix.toarray(), expected.matrix.toarray())
    assert is_mapped(found.matrix.data)
    assert is_mapped(found.matrix.indices)
    assert found.ids == tuple(IDS)
    assert found.terms.tolist() == expected.terms.tolist()
    assert found.display_terms.tolist() == expected.display_terms.tolist()
    assert found.empty_ids == tuple(IDS[1::4])
    assert told[-1] == ("write rows", len(TEXTS))
    again = open_vectors(tmp_path / "out")
    np.testing.assert_array_equal(again.matrix.toarray(), expected.matrix.toarray())


def test_hashing_needs_one_pass(tmp_path):
    expected = HashingTfidf(n_features=32, sublinear_tf=True).fit_transform(TEXTS)
    once = iter(zip(IDS, TEXTS, strict=True))
    found = vectorize_stream(
        once, tmp_path / "out", vectorizer=HashingTfidf(n_features=32, sublinear_tf=True), batch_size=30
    )
    np.testing.assert_array_equal(found.matrix.toarray(), expected.toarray())
    assert found.terms is None
    assert found.ids == tuple(IDS)


def test_a_function_and_a_list_can_be_read_twice_and_an_iterator_cannot(tmp_path):
    expected = vectorize(TEXTS).matrix.toarray()
    for number, source in enumerate([lambda: iter(TEXTS), TEXTS]):
        found = vectorize_stream(source, tmp_path / str(number))
        np.testing.assert_array_equal(found.matrix.toarray(), expected)
    with pytest.raises(InputError, match="only once"):
        vectorize_stream(iter(TEXTS), tmp_path / "once")
    fitted = TfidfVectorizer().fit(TEXTS)
    found = vectorize_stream(iter(TEXTS), tmp_path / "fitted", vectorizer=fitted)
    np.testing.assert_array_equal(found.matrix.toarray(), expected)


def test_a_text_file_is_one_document_per_line(tmp_path):
    path = tmp_path / "lines.txt"
    path.write_text("two cats\n\none dog\n", encoding="utf-8")
    found = vectorize_stream(path, tmp_path / "out")
    assert found.ids == ("1", "2", "3")
    assert found.empty_ids == ("2",)


def test_lines_that_are_no_json_objects_are_left_out_and_told_once(tmp_path):
    path = tmp_path / "bad.jsonl"
    path.write_text('{"text": "two cats"}\nnot json\n[1]\n\n{"text": null}\n{"text": "one dog"}\n', encoding="utf-8")
    with pytest.warns(DocclusterWarning, match=r"2 line\(s\).*line 2, 3") as told:
        found = vectorize_stream(path, tmp_path / "out")
    assert len(told) == 1
    assert found.ids == ("1", "5", "6")
    assert found.empty_ids == ("5",)


def test_bad_sources_and_folders_are_refused(tmp_path, jsonl):
    with pytest.raises(InputError, match="does not exist"):
        vectorize_stream(tmp_path / "missing.jsonl", tmp_path / "a")
    with pytest.raises(InputError, match="not an empty folder"):
        vectorize_stream(jsonl, tmp_path)
    with pytest.raises(InputError, match="l2"):
        vectorize_stream(jsonl, tmp_path / "b", vectorizer=TfidfVectorizer(norm="l1"))
    with pytest.raises(NothingUsable):
        vectorize_stream([], tmp_path / "c")
    with pytest.raises(NothingUsable):
        vectorize_stream([], tmp_path / "d", vectorizer=HashingTfidf())
    truncated = tmp_path / "cut.jsonl.gz"
    truncated.write_bytes(jsonl.read_bytes()[:40])
    with pytest.raises(InputError, match="truncated"):
        vectorize_stream(truncated, tmp_path / "e")


def test_unfinished_damaged_and_newer_folders_are_refused(tmp_path, jsonl):
    folder = tmp_path / "out"
    vectorize_stream(jsonl, folder)
    description = json.loads((folder / "vectors.json").read_text())
    (folder / "vectors.json").write_text(json.dumps({**description, "schema": 99}))
    with pytest.raises(SchemaError, match="schema 99"):
        open_vectors(folder)
    (folder / "vectors.json").write_text(json.dumps(description))
    (folder / "data.bin").write_bytes((folder / "data.bin").read_bytes()[:-4])
    with pytest.raises(SchemaError, match=r"data\.bin"):
        open_vectors(folder)
    (folder / "vectors.json").unlink()
    with pytest.raises(InputError, match="no finished vectors"):
        open_vectors(folder)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="ru_maxrss is in kilobytes only on Linux")
def test_the_peak_does_not_grow_with_the_stream(tmp_path):
    """Sixteen times the text may cost a few megabytes for names, not the 80 MB of the text and its rows."""
    code = """
import resource, sys, random
from doccluster.vectors import vectorize_stream, TfidfVectorizer
def texts(n):
    for number in range(n):
        source = random.Random(number)
        yield " ".join(f"w{int(source.paretovariate(0.6)) % 5000}" for _ in range(180))
vectorize_stream(lambda: texts(int(sys.argv[1])), sys.argv[2], vectorizer=TfidfVectorizer(n_threads=1), batch_size="1M")
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
    peaks = []
    for n_documents in (2_000, 32_000):
        command = [sys.executable, "-c", code, str(n_documents), str(tmp_path / str(n_documents))]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        peaks.append(int(done.stdout))
    assert peaks[1] - peaks[0] < 50_000


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
@pytest.mark.parametrize("hashes", [False, True])
def test_a_stream_that_breaks_leaves_a_folder_that_can_be_given_again(hashes, error, tmp_path):
    vectorizer = HashingTfidf(n_features=64) if hashes else TfidfVectorizer().fit(TEXTS)

    def broken():
        yield from TEXTS
        raise error

    with pytest.raises(error):
        vectorize_stream(broken(), tmp_path / "rows", vectorizer=vectorizer, batch_size=20)
    assert not any((tmp_path / "rows").iterdir())
    again = vectorize_stream(iter(TEXTS), tmp_path / "rows", vectorizer=vectorizer)
    assert again.matrix.shape[0] == len(TEXTS)
