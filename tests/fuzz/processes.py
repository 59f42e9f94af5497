"""Targets: what is read in a process with limits beside documents: models, tables of embeddings, queries."""

from __future__ import annotations

import io
import sqlite3
import zlib
from collections.abc import Sequence
from contextlib import closing
from functools import cache
from pathlib import Path

import numpy as np

from doccluster.base.limited_process import Allowance, WorkFailure, pieces_of_work
from doccluster.corpus import read_corpus
from doccluster.errors import InputError
from doccluster.vectors.meaning import read_embeddings
from tests.fuzz.campaign import Target, scratch_folder
from tests.fuzz.readers import checked
from tests.test_encoders import TABLE, onnx_model, write_tokenizer

_TEXTS = ["a ship in the harbour", "unheard", ""]
_TOKENIZER_TOKENS = (
    *(
        b'"Precompiled"',
        b'"precompiled_charsmap": "/////w=="',
        b'"Replace"',
        b'"Regex": "(a|a)*b"',
        b"null",
        b"99999999999",
    ),
    *(b'"Sequence"', b'"normalizers": [', b"[" * 500, b'"unk_token": null', b'"type": "BPE"', b'"Unigram"', b"-1"),
)


@cache
def _model_folder() -> Path:
    from safetensors.numpy import save_file

    folder = scratch_folder()
    save_file({"embeddings": TABLE}, folder / "model.safetensors")
    (folder / "model.onnx").write_bytes(onnx_model(TABLE))
    write_tokenizer(folder)
    return folder


def _encode(data: bytes, kind: str, name: str) -> str:
    """Encode texts by a model of which one file is this; the others are whole."""
    folder = _model_folder()
    whole = (folder / name).read_bytes()
    (folder / name).write_bytes(data)
    asked = {"kind": kind, "name": str(zlib.crc32(data)), "folder": str(folder), "n_threads": 1, "texts": _TEXTS}
    try:
        function, allowance = "doccluster.vectors.encoders:rows_piece", Allowance(seconds=5.0)
        ((told, values),) = pieces_of_work(function, asked, allowance=allowance)
        assert len(values) == np.dtype(told["dtype"]).itemsize * np.prod(told["shape"])
        return "encoded"
    except WorkFailure as error:
        raise InputError(f"the model {error}") from error
    finally:
        (folder / name).write_bytes(whole)


def _model(kind: str, name: str, tokens: tuple[bytes, ...] = (), *, in_place: bool = True) -> Target:
    return Target(
        f"{kind}-{name.partition('.')[0]}",
        lambda: [(_model_folder() / name).read_bytes()],
        lambda data: _encode(data, kind, name),
        tokens,
        in_place=in_place,
    )


def _tables() -> Sequence[bytes]:
    import pyarrow as pa
    import pyarrow.feather as feather
    import pyarrow.parquet as pq

    table = pa.table({"id": ["a", "b", "c"], "embedding": [[1.0, 0.5], None, [0.0, 2.0]]})
    pq.write_table(table, parquet := io.BytesIO())
    feather.write_feather(table, arrow := io.BytesIO())
    return parquet.getvalue(), arrow.getvalue()


def _read_rows(data: bytes) -> str:
    path = _model_folder() / ("rows.parquet" if data.startswith(b"PAR1") else "rows.arrow")
    path.write_bytes(data)
    found = read_embeddings(path)
    assert found.rows.ndim == 2
    assert found.ids is None or len(found.ids) == len(found.rows)
    return "read"


def _database() -> Sequence[bytes]:
    path = _model_folder() / "made.db"
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE news (id INTEGER PRIMARY KEY, text TEXT, day TEXT)")
        rows = [(f"The ferry {n} sails. " * 5, f"2026-03-{n:02}") for n in range(1, 29)]
        database.executemany("INSERT INTO news (text, day) VALUES (?, ?)", rows)
        database.commit()
    return [path.read_bytes()]


def _ask(data: bytes) -> str:
    path = _model_folder() / "asked.db"
    path.write_bytes(data)
    return checked(read_corpus(f"sqlite:///{path}?SELECT id, text, day AS date FROM news"))


PROCESSES: tuple[Target, ...] = (
    _model("model2vec", "tokenizer.json", _TOKENIZER_TOKENS, in_place=False),
    _model("model2vec", "model.safetensors", (b'"F16"', b'"shape":[', b"99999999999", b"\xff" * 8)),
    _model("onnx", "model.onnx", (b"Gather", b"Loop", b"Concat", b"\xff" * 9, b"\0")),
    Target("rows_of_tables", _tables, _read_rows, (b"PAR1", b"ARROW1\0\0", b"\xff" * 8), in_place=True),
    Target("queries", _database, _ask, (b"CREATE VIEW ", b"\xff" * 8, b"WITH RECURSIVE "), in_place=True),
)
