"""Whatever is in a file, reading ends with documents and reasons, or with one of our errors; never with another."""

from __future__ import annotations

import gzip
import io
import random
import warnings
import zipfile

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from doccluster.corpus import FORMATS, read_corpus
from doccluster.errors import DocclusterError, DocclusterWarning
from tests.conftest import examples

SEEDS = {
    "csv": b'id,text,label\n1,"quoted, text",x\n2,plain,y\n',
    "jsonl": b'{"id": 1, "text": "one", "topics": ["a"]}\n{"id": 2, "text": "two"}\n',
    "json": b'{"articles": [{"text": "one"}, {"text": "two"}]}',
    "rss": b"<?xml version='1.0'?><rss version='2.0'><channel><item><title>a</title>"
    b"<description>b</description><pubDate>Thu, 26 Feb 1987 15:01:01 GMT</pubDate></item></channel></rss>",
    "html": b"<!doctype html><html><head><title>t</title></head><body><p>one<p>two &amp; three</body></html>",
    "reuters": b'<!DOCTYPE lewis SYSTEM "lewis.dtd">\n<REUTERS TOPICS="YES" LEWISSPLIT="TRAIN" NEWID="1">\n'
    b"<DATE>26-FEB-1987 15:01:01.79</DATE><TOPICS><D>earn</D></TOPICS><TEXT><TITLE>T</TITLE>"
    b"<BODY>b &lt;c> &#3;</BODY></TEXT></REUTERS>",
    "mbox": b"From x\nSubject: =?utf-8?q?a?=\nDate: Mon, 02 Jan 2006 15:04:05 +0100\n"
    b"Content-Type: text/plain; charset=utf-8\n\nbody\n",
    "news": b"From: a@b.c\nSubject: s\nOrganization: o\nLines: 1\n\n> quote\ntext\n\n-- \nme\n",
    "opml": b"<opml><body><outline xmlUrl='a.xml'/></body></opml>",
    "gz": gzip.compress(b"some text of a few words\n" * 20),
}


def read_quietly(data: bytes, **options):
    """Read bytes as a file; only our own errors and our own warning may come out."""
    stream = io.BytesIO(data)
    stream.name = "file"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", DocclusterWarning)  # a guessed encoding is what is to be expected here
        try:
            corpus = read_corpus(stream, **options)
        except DocclusterError:
            return None
    assert len(set(corpus.ids)) == len(corpus.ids) == len(corpus.texts) == len(corpus.metadata) > 0
    assert all(len(values) == len(corpus) for values in corpus.labels.values())
    assert all(text.strip() for text in corpus.texts)
    for text in (*corpus.texts, *corpus.ids, *corpus.metadata.to_numpy().ravel()):
        text.encode("utf-8")
    return corpus


@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.too_slow])
@given(st.binary(max_size=400), st.sampled_from([None, *FORMATS]))
def test_random_bytes_in_any_format_end_well(data, format):
    read_quietly(data, format=format)


@pytest.mark.parametrize("format", [None, *FORMATS])
@pytest.mark.parametrize("seed", SEEDS)
def test_damaged_files_of_every_kind_end_well(seed, format):
    draw = random.Random(f"{seed}{format}")
    for _ in range(15):
        data = bytearray(SEEDS[seed])
        for _ in range(draw.randint(0, 4)):
            kind, place = draw.randrange(4), draw.randrange(len(data) + 1)
            if kind == 0:
                del data[place:]
            elif kind == 1:
                data[place:place] = bytes(draw.randrange(256) for _ in range(draw.randint(1, 9)))
            elif kind == 2:
                del data[place : place + draw.randint(1, 30)]
            else:
                data[place:place] = data[place // 2 : place]
        read_quietly(bytes(data), format=format)


def test_damaged_archives_end_well():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in SEEDS.items():
            archive.writestr(f"folder/{name}", content)
    whole = buffer.getvalue()
    assert read_quietly(whole) is not None
    draw = random.Random(5)
    for _ in range(150):
        data = bytearray(whole)
        for _ in range(draw.randint(1, 6)):
            data[draw.randrange(len(data))] = draw.randrange(256)
        read_quietly(bytes(data[: draw.choice([len(data), draw.randrange(len(data))])]), max_expanded_size="10M")


def test_a_folder_with_everything_in_it_is_read(tmp_path):
    for name, content in SEEDS.items():
        (tmp_path / f"a.{name}").write_bytes(content)
    (tmp_path / "noise").write_bytes(random.Random(1).randbytes(5000))
    corpus = read_corpus(tmp_path)
    assert len(corpus) >= 10
    reasons = {one.reason for one in corpus.skipped}
    assert reasons == {
        "binary",
        "duplicate-id",
        "about-the-collection",
    }  # text beside Reuters files is not a document
    assert corpus.labels["topics"][corpus.ids.index("1")] in (("earn",), ("a",), ())
