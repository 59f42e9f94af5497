"""A text with a few control characters is a text, in every format; what is binary stays refused."""

from __future__ import annotations

import io
import json
import random
import struct
import sys
import zlib
from pathlib import Path

import pytest

from doccluster.corpus import read_corpus
from doccluster.errors import DocclusterWarning, NothingUsable
from doccluster.streams.polling.parsing import entries_of

SENTENCE = "The ferry \0sails again."
FEED = f"<rss version='2.0'><channel><title>a</title><item><title>b</title><description>{SENTENCE}</description></item>"
MAIL = f"From: a@b\nTo: c@d\nSubject: Fer\0ry\nDate: 1 May 2024 10:00:00 -0000\n\n{SENTENCE}\n"
TEXTS = {
    "a.txt": f"{SENTENCE}\nA second line.\n",
    "a.csv": f"id,te\0xt\n1,{SENTENCE}\n2,Stones arrive.\n",
    "a.tsv": f"id\ttext\n1\t{SENTENCE}\n",
    "a.jsonl": f'{{"text": "{SENTENCE}"}}\n\0{{"text": "Stones arrive."}}\n',
    "a.json": f'[{{"text": "{SENTENCE}"}}, \0{{"text": "Stones arrive."}}]',
    "a.eml": MAIL,
    "a.mbox": f"From x@y Thu Feb 26 15:01:01 1987\n{MAIL}",
    "a.html": f"<!doctype html><title>t</title><p>{SENTENCE}",
    "a.xml": f"<doc><p>{SENTENCE}</p></doc>",
    "a.rss": FEED + "</channel></rss>",
    "a.sgm": f"<REUTERS NEWID='1'><TEXT><BODY>{SENTENCE}</BODY></TEXT></REUTERS>",
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_nul_costs_no_document_and_is_told(name, tmp_path):
    plain, spoilt = tmp_path / "plain", tmp_path / "spoilt"
    for folder, text in ((plain, TEXTS[name].replace("\0", "")), (spoilt, TEXTS[name])):
        folder.mkdir()
        (folder / name).write_bytes(text.encode())
    with pytest.warns(DocclusterWarning, match=rf"the NULs of {name} are left out \({TEXTS[name].count(chr(0))}\)"):
        found = read_corpus(spoilt / name)
    expected = read_corpus(plain / name)
    assert (found.ids, found.texts, found.skipped) == (expected.ids, expected.texts, expected.skipped)
    assert any("The ferry sails again." in text for text in found.texts)


@pytest.mark.parametrize("control", ["\x01", "\x0b", "\x1a", "\x1f", "\x7f"])
@pytest.mark.parametrize("name", TEXTS)
def test_another_control_character_is_a_space(name, control, tmp_path):
    path = tmp_path / name
    path.write_bytes(TEXTS[name].replace("ferry \0sails", f"ferry{control}sails").replace("\0", "").encode())
    assert any("The ferry sails again." in text for text in read_corpus(path).texts)


def test_a_polled_feed_with_a_nul_is_a_feed():
    with pytest.warns(DocclusterWarning, match="the NULs of stream are left out"):
        entries, reason = entries_of((FEED + "</channel></rss>").encode())
    assert ([entry["text"] for entry in entries], reason) == (["b\n\nThe ferry sails again."], "")


def test_utf_16_without_a_mark_is_no_text_with_nuls():
    for encoding in ("utf-16-le", "utf-16-be", "utf-32-le"):
        stream = io.BytesIO("id,text\n1,The ferry sails\n2,Stones arrive\n".encode(encoding))
        stream.name = "a.csv"
        assert read_corpus(stream).texts == ("The ferry sails", "Stones arrive")


def test_a_text_of_memory_loses_its_nuls_alike():
    assert read_corpus(["The fer\0ry", "the\x01wall"]).texts == ("The ferry", "the wall")


def _png(size: int) -> bytes:
    rows = b"".join(b"\0" + bytes([40, 90, 200] * size) for _ in range(size))
    chunks = [(b"IHDR", struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)), (b"IDAT", zlib.compress(rows))]
    chunks.append((b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )


BINARIES = {
    "png of one pixel": _png(1),
    "png": _png(300),
    "gif": bytes.fromhex("47494638396101000100800000ffffff00000021f90401000000002c00000000010001000002024401003b"),
    "random": random.Random(0).randbytes(5000),
    "few random bytes": random.Random(1).randbytes(200),
    "program": Path(sys.executable).resolve().read_bytes()[:200_000],
    "sqlite": b"SQLite format 3\0" + bytes(100),
    "sound": b"RIFF\x24\x08\0\0WAVEfmt \x10\0\0\0\x01\0\x02\0" + struct.pack("<200h", *range(-100, 100)),
}


@pytest.mark.parametrize("name", BINARIES)
def test_what_is_binary_is_refused(name):
    for ending in ("txt", "csv", "jsonl"):
        stream = io.BytesIO(BINARIES[name])
        stream.name = f"a.{ending}"
        with pytest.raises(NothingUsable, match=r"binary|unsupported-format"):
            read_corpus(stream)


def test_a_tail_of_nuls_is_left_out(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(json.dumps({"text": "The ferry sails"}).encode() + b"\n" + bytes(9000))
    with pytest.warns(DocclusterWarning, match=r"9,000"):
        assert read_corpus(path).texts == ("The ferry sails",)
