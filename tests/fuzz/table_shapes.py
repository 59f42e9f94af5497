"""Targets: tables in other clothes (JSON in every orientation, headers), control characters, answers of engines."""

from __future__ import annotations

import json
import random
import zlib
from functools import cache
from pathlib import Path

import pandas as pd

from doccluster.corpus import read_corpus
from doccluster.errors import NothingUsable
from doccluster.retrieval import read_hits
from tests.fuzz.campaign import Target, scratch_folder
from tests.fuzz.readers import SAMPLES, TOKENS, checked, read_file

WORDS = ["ferry", "wall", "harbour", "storm", "stone", "crew", "Größe", "港口", "of", "the", "and", "6", '"', "#", "\n"]
N_SAMPLES = 60  # tables of each kind, all different
_NAMES = ("text", "body", "speech", "Wortlaut", "title", "class", "id", "content.body", "data", "columns", "0")
_CONTROLS = (*(bytes([code]) for code in (*range(9), 11, *range(14, 32), 127)), b"\0" * 40, b"\x1b$B")
_ORIENTATIONS = ("columns", "index", "split", "records", "values", "table", "lists", "rows", "values of objects")
_BEFORE = ("", "# made by hand\n", "Letters of the town\n", "\n\n", "#a,b\n# c\n")


def generated_frame(draw: random.Random) -> pd.DataFrame:
    """Return a small table with a column of ids, one of texts, and others."""
    n_rows = draw.randint(2, 6)
    texts = [" ".join(draw.choices(WORDS, k=draw.randint(8, 20))) + "." for _ in range(n_rows)]
    columns = {"id": [f"d{row}" for row in range(n_rows)], draw.choice(("text", "speech", "content")): texts}
    for name in draw.sample(_NAMES[4:], draw.randint(0, 3)):
        columns.setdefault(name, [draw.choice([None, row, "a b", {"k": [row]}, ["x", "y"]]) for row in range(n_rows)])
    return pd.DataFrame(columns)


def json_table(draw: random.Random) -> str:
    """Return a table in one of the ways in which tables are written in JSON."""
    frame = generated_frame(draw)
    orient = draw.choice(_ORIENTATIONS)
    indent = draw.choice((0, 0, 2))
    if orient == "lists":
        return json.dumps(json.loads(frame.to_json(orient="split")) | {"name": None})
    if orient == "rows":
        rows = json.loads(frame.to_json(orient="values"))
        return json.dumps({"values": [list(frame.columns), *rows]})
    records = json.loads(frame.to_json(orient="records"))
    if orient == "values of objects":
        nested = [{"id": row.pop("id"), "content": row} for row in records]
        return draw.choice(("\n", "", ",", "\x1e")).join(json.dumps(row, indent=indent or None) for row in nested)
    if orient == "index" and draw.random() < 0.5:
        return json.dumps({"status": 3, "hits": {"total": 1, "hits": records}}, indent=indent or None)
    return str(frame.to_json(orient=orient, indent=indent))


def csv_table(draw: random.Random) -> str:
    """Return a csv below comments, titles or nothing, with a header of one to three rows, in mixed line ends."""
    frame = generated_frame(draw)
    delimiter = draw.choice((",", ";", "\t", "|", "~", "^", "\x01"))
    header, _, rows = frame.to_csv(index=False, sep=delimiter).partition("\n")
    n_columns = len(frame.columns)
    before = draw.choice((*_BEFORE, f"sep={delimiter}\n"))
    below = draw.choice(("", "", delimiter.join(["string"] * n_columns), delimiter.join(["[m]"] * n_columns)))
    if draw.random() < 0.2:
        below = delimiter.join(["string"] * n_columns) + "\n" + delimiter.join(["meta"] * (n_columns - 1) + ["class"])
    table = f"{before}{header}\n{below}{chr(10) if below else ''}{rows}"
    return table.replace("\n", draw.choice(("\n", "\r", "\r\n", "\r\r\n"))) if draw.random() < 0.5 else table


def with_controls(draw: random.Random) -> tuple[str, bytes]:
    """Return the name and the bytes of a text of any format, with a few control characters in it."""
    format = draw.choice([name for name in SAMPLES if name != "opml"])
    data = bytearray(draw.choice(SAMPLES[format]))
    for _ in range(draw.randint(1, 3)):
        place = draw.randint(0, len(data))
        data[place:place] = draw.choice(_CONTROLS)
    return f"a.{format}", bytes(data)


def answer(draw: random.Random) -> str:
    """Return hits as an engine answers them."""
    hits = [
        {
            draw.choice(("id", "_id")): draw.choice((number, str(number), [number])),
            draw.choice(("title", "name", "title_t")): draw.choice((" ".join(draw.choices(WORDS, k=3)), ["Jaguar"])),
            draw.choice(("snippet", "content", "description")): " ".join(draw.choices(WORDS, k=9)),
            "rank": draw.choice((number, str(number), None, "first")),
        }
        for number in range(draw.randint(1, 5))
    ]
    wrapped = draw.choice(
        (
            lambda: hits,
            lambda: {"documents": hits, "clusters": [{"labels": ["a"], "documents": [0]}]},
            lambda: {"response": {"docs": hits}, "highlighting": {"0": {"content": ["<em>a</em>"]}}},
            lambda: {"hits": {"hits": [{"_id": "1", "_source": hit, "highlight": {"b": ["c"]}} for hit in hits]}},
            lambda: {"query": "a", "results": hits, "infoboxes": [{"content": "b"}]},
            lambda: {"hits": [{"document": hit, "highlights": [{"field": "b", "snippet": "c"}]} for hit in hits]},
        )
    )()
    return json.dumps(wrapped, indent=draw.choice((None, 1)))


@cache
def _samples(name: str) -> list[bytes]:
    make = {"json-shapes": json_table, "csv-shapes": csv_table, "answers": answer}[name]
    return [make(random.Random(f"{name} {number}")).encode() for number in range(N_SAMPLES)]


def _controls() -> list[bytes]:
    return [with_controls(random.Random(f"controls {number}"))[1] for number in range(N_SAMPLES)]


_WAYS = ({}, {}, {"text_column": "content.body"}, {"id_column": "id"}, {"label_columns": "class"}, {"header": False})
_FILES = ("a.txt", "a.csv", "a.jsonl", "a.json", "a.eml", "a.html", "a.xml", "a.rss", "a.mbox", "a")


def _read_answer(data: bytes) -> str:
    path = _folder() / "answer.json"
    path.write_bytes(data)
    hits = read_hits(path)
    assert all(isinstance(text, str) for hit in hits for text in (hit.title, hit.snippet, hit.url, hit.id))
    return "texts" if any(hit.text for hit in hits) else "none"


@cache
def _folder() -> Path:
    return scratch_folder()


def _read_by_content(data: bytes) -> str:
    return read_file(data, name=_FILES[zlib.crc32(data) % len(_FILES)], ways=_WAYS[:2])


TABLE_SHAPES: tuple[Target, ...] = (
    Target(
        "json-shapes",
        lambda: _samples("json-shapes"),
        lambda data: read_file(data, name="a.json", ways=_WAYS, format="json"),
        (*TOKENS["json"], b'"columns":', b'"data":', b'"index":', b'"schema":', b'"0":', b'{"0":', b"[[", b"]]"),
    ),
    Target(
        "csv-shapes",
        lambda: _samples("csv-shapes"),
        lambda data: read_file(data, name=("a.csv", "a.tab")[zlib.crc32(data) % 2], ways=_WAYS, format="csv"),
        (*TOKENS["csv"], b"# ", b"\nstring,", b"\nmeta,", b"cD#", b"[m]", b"~", b"^", b"\x01", b"\r\r\n", b'"\n"'),
    ),
    Target("controls", _controls, _read_by_content, _CONTROLS),
    Target("answers", lambda: _samples("answers"), _read_answer, (*TOKENS["json"], b'"_source":', b'"rank":')),
)


def documents_of(data: bytes, name: str) -> int:
    """Return how many documents an undamaged table has."""
    path = _folder() / name
    path.write_bytes(data)
    try:
        corpus = read_corpus(path)
    except NothingUsable:
        return 0
    assert checked(corpus) == "read"
    return len(corpus)
