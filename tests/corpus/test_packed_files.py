"""A small packed file never fills the memory: far too many bytes, documents or parts for what it takes are refused."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import tracemalloc
import zipfile

import numpy as np
import pytest

from doccluster.base.limited_process import USUAL_EXPANSION, Allowance
from doccluster.corpus import read_corpus
from doccluster.corpus.markup import read_page
from doccluster.corpus.reader import Beginning, Budget, ReadFailure
from doccluster.errors import InputError
from doccluster.text.running_text import RunningText
from doccluster.text.scripts import tokens_by_script
from doccluster.vectors import read_matrix

N_ITEMS = 20_000  # that any packed file may have, in these tests
MANY = N_ITEMS + 1
ALLOWS = "--max-expanded-size 8G allows twice as much"
MAIL = b"From: a@b.org\nTo: c@d\nSubject: s\n"
# text that repeats is packed to a thousandth; each piece is a part that a library makes an object of
PARTS = {
    "a.html": (b"<html>", b"<p>", b""),
    "a.xml": (b"<a>", b"<b/>", b"</a>"),
    "a.opml": (b"<opml><body>", b"<outline/>", b"</body></opml>"),
    "a.rss": (b"<rss><channel>", b"<item/>" * 9, b"</channel></rss>"),
    "a.sgm": (b"<REUTERS>", b"<D>", b"</REUTERS>"),
    "a.json": (b'[{"text": "x"}', b",[]", b"]"),
    "a.jsonl": (b'{"text": "x", "a": [0', b",0", b"]}\n"),
    "a.csv": (b"text", b",a", b"\nx\n"),
    "a.tsv": (b"text", b"\ta", b"\nx\n"),
    "a.eml": (MAIL + b"\n", b"a\n", b""),
    "b.eml": (MAIL, b"a:b\n", b"\nx"),
    "a.mbox": (b"From a@b.org Mon Mar  2 08:01:00 2026\n" + MAIL + b"\n", b"a\n", b""),
}


@pytest.fixture(autouse=True)
def smaller(monkeypatch):
    monkeypatch.setattr(Allowance.__init__, "__defaults__", (256 * 2**20, 20.0, N_ITEMS))


def zipped(data):
    with zipfile.ZipFile(packed := io.BytesIO(), "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.csv", data)
    return packed.getvalue()


def zipped_array(data):
    np.savez_compressed(packed := io.BytesIO(), rows=np.zeros((len(data), 2)))
    return packed.getvalue()


@pytest.mark.parametrize("name", PARTS)
def test_a_packed_text_of_far_too_many_parts_is_refused(name, tmp_path):
    before, piece, behind = PARTS[name]
    path = tmp_path / f"{name}.gz"
    path.write_bytes(gzip.compress(before + piece * (2 * MANY) + behind))
    (tmp_path / "good.txt").write_text("A good text.", encoding="utf-8")
    (skipped,) = read_corpus([path, tmp_path / "good.txt"]).skipped
    assert skipped.reason == "too-costly"
    assert skipped.detail.endswith(ALLOWS)


@pytest.mark.parametrize(("suffix", "pack"), [("bz2", bz2.compress), ("xz", lzma.compress), ("zip", zipped)])
@pytest.mark.parametrize("line", [b"a\n", b'" "\n'])
def test_lines_without_end_are_refused_where_they_are_too_many_for_the_bytes(suffix, pack, line, tmp_path):
    path = tmp_path / f"a.csv.{suffix}"
    path.write_bytes(pack(b"text\na ferry\n" + line * (2 * MANY)))
    (tmp_path / "good.txt").write_text("A good text.", encoding="utf-8")
    corpus = read_corpus([path, tmp_path / "good.txt"])
    (*_, skipped) = corpus.skipped
    size = f"{path.stat().st_size:,}"
    assert re.match(rf"it unpacks to too many (documents|parts) for its {size} bytes; ", skipped.detail)
    assert len(corpus) + len(corpus.skipped) <= MANY + 1


def test_bytes_and_parts_of_a_packed_file_grow_with_what_it_takes():
    for n_packed in (0, 10**9):
        budget = Budget(100 * USUAL_EXPANSION, n_packed)
        budget.spend(100 * Allowance().memory + 50 * n_packed)
        with pytest.raises(ReadFailure, match="far more than its"):
            budget.spend(1)
        budget.check_parts(max(100 * N_ITEMS, 8 * n_packed))
        with pytest.raises(ReadFailure, match="too many parts for its"):
            budget.check_parts(max(100 * N_ITEMS, 8 * n_packed) + 1)


def test_documents_are_fewer_than_the_packed_bytes_whatever_their_parts(tmp_path, monkeypatch):
    monkeypatch.setattr(Allowance.__init__, "__defaults__", (256 * 2**20, 20.0, 10))
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(b"a ferry\n" * 200))
    n_packed = path.stat().st_size
    corpus = read_corpus(path)
    assert len(corpus) == n_packed // 2  # of 200 lines, of which eight for each byte might be parts of one text
    (skipped,) = corpus.skipped
    assert skipped.detail.startswith(f"it unpacks to too many documents for its {n_packed} bytes; ")


def test_the_size_of_a_packed_stream_counts_as_far_as_it_has_come():
    numbers = np.random.default_rng(0).integers(2**31, size=2 * MANY)
    data = b"".join(b"%d words\n" % number for number in numbers.tolist())
    assert len(read_corpus(io.BytesIO(gzip.compress(data, 1)))) == 2 * MANY


def peak_of(call, text):
    call(text[:9])  # what is made once
    tracemalloc.start()
    try:
        call(text)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


N = 100_000  # letters


@pytest.mark.parametrize("text", ["<a " + "x" * N, "<a " + '""' * N, "<a '" + "x" * N, "<a " + "'x'y" * N])
def test_a_tag_without_an_end_takes_no_memory_for_each_letter(text):
    assert peak_of(read_page, text) < 12 * len(text)


@pytest.mark.parametrize("text", ["<!---->" * 9_000, "<?a?>" * 12_000, " <!-- -->" * 7_000, "<!--" + "-" * 60_000])
def test_what_stands_before_a_root_takes_no_memory_for_each_piece(text):
    assert peak_of(lambda begins: Beginning(f"{begins}<a/>", "a.xml").element, text) < 6 * len(text)


@pytest.mark.parametrize("text", ["a." * (N // 2), "a-" * (N // 2), "A." * (N // 2)])
def test_words_without_blanks_take_no_memory_for_each_letter(text):
    assert peak_of(lambda written: RunningText.of_texts([written]), text) < 30 * N


def test_letters_that_are_stacked_take_no_memory_for_each():
    assert peak_of(tokens_by_script, "\u1000\u1039" * (N // 2)) < 40 * N


@pytest.mark.parametrize("pack", [gzip.compress, zipped_array])
def test_a_packed_matrix_that_would_fill_the_memory_is_refused(pack, tmp_path, monkeypatch):
    monkeypatch.setattr("doccluster.vectors.matrix_files._ANY_SMALL", 2**16)
    lines = b"%%MatrixMarket matrix coordinate real general\n3 3 100000\n" + b"1 1 1\n" * 100_000
    path = tmp_path / ("a.npz" if pack is zipped_array else "a.mtx.gz")
    path.write_bytes(pack(lines))
    with pytest.raises(InputError, match=r"unpacks to far more than its [\d,]+ bytes; save it without compression"):
        read_matrix(path)
