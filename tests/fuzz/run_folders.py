"""Targets: a run folder with one damaged file, given to every verb that goes on from a run."""

from __future__ import annotations

import contextlib
import io
import json
import random
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from doccluster.pipeline.assigning import assign_documents
from doccluster.pipeline.explaining import explain
from doccluster.pipeline.main_line import run_pipeline
from doccluster.pipeline.repeating import repeat_run
from doccluster.report import write_report
from doccluster.results.run_folder import load_run
from tests.fuzz.campaign import Target, scratch_folder
from tests.fuzz.watch import Misdeed

TEXTS = {
    "bread-1": "The baker sells bread and rolls in the market every morning.",
    "bread-2": "Flour for bread comes from the mill; the baker sells rolls.",
    "bread-3": "Rolls and bread: the mill has raised the price of flour.",
    "harbour-1": "Two ships left the harbour before the storm reached the pier.",
    "harbour-2": "The storm broke nets and boats along the harbour pier.",
    "harbour-3": "Ships wait outside the harbour until the storm is over.",
}
_TOKENS = (
    *(b"null", b"-1", b"1e999", b"99999999999999999999", b"[]", b"{}", b'""', b"true", b"NaN", b'"\\u0000"'),
    *(b'"(\\\\w+)+!"', b'"output"', b'"/etc/passwd"', b"[[[[", b'"' + b"x" * 300 + b'"', b'"schema": 2', b'"\\ud800"'),
    *(b'"token_pattern"', b'"n_init"', b'"reader"', b'"source"', b'"labels"', b'"size"', b'"kind"', b"2026-13-45"),
)


@cache
def _whole() -> Path:
    """The folder of a run that is as it should be, beside the documents it was made from."""
    place = scratch_folder()
    documents = place / "documents"
    documents.mkdir()
    for name, text in TEXTS.items():
        (documents / f"{name}.txt").write_text(text, encoding="utf-8")
    # judged in part only: the report of such a run takes less time
    run_pipeline([documents], n_clusters=2, output=place / "run", report=False, n_threads=1, measures=["silhouette"])
    for verb in (_report, _assign, _explain, _rerun):  # what loads compiled code, which is done by pickle, does so now
        verb(place / "run")
    return place


def _report(folder: Path) -> str:
    write_report(load_run(folder), folder / "report.html")
    return "reported"


def _assign(folder: Path) -> str:
    table = assign_documents(folder, ["The baker has no bread.", "A storm at the pier."], n_threads=1)
    assert len(table) == 2
    assert table["cluster"].dropna().isin([0, 1]).all()
    return "assigned"


def _explain(folder: Path) -> str:
    with contextlib.redirect_stdout(io.StringIO()):
        for wanted in (None, "0", "bread-1.txt"):
            explain(folder, wanted)
    return "explained"


def _rerun(folder: Path) -> str:
    return "same" if repeat_run(folder / "run.json", n_threads=1).same_labels else "other"


def _with_file(name: str, verb: Callable[[Path], str]) -> Callable[[bytes], str]:
    """Return a reader that puts bytes in place of one file of the run, and calls a verb on the folder."""

    def read(data: bytes) -> str:
        path = _whole() / "run" / name
        original = path.read_bytes()
        path.write_bytes(data)
        try:
            return verb(path.parents[name.count("/")])
        finally:
            path.write_bytes(original)

    return read


def _samples(name: str) -> Callable[[], Sequence[bytes]]:
    return lambda: [(_whole() / "run" / name).read_bytes()]


def _target(name: str, verb: Callable[[Path], str]) -> Target:
    path = Path(name)
    tokens = _TOKENS if path.suffix == ".json" else ()
    return Target(f"run_{path.stem}_{path.suffix[1:]}{verb.__name__}", _samples(name), _with_file(name, verb), tokens)


_VALUES: tuple[Any, ...] = (
    *(
        None,
        True,
        -1,
        0,
        1,
        7,
        2**31,
        2**63,
        10**400,
        -0.5,
        1.5,
        1e308,
        "",
        "x",
        "x" * 5000,
        "0",
        "\0",
        "\ud800",
        "../x",
    ),
    *([], [[]], ["x"], [None], [1, 2, 3], {}, {"x": 1}, {"x": {"x": None}}, "1999-99-99", "(\\w+)+!", "/etc/passwd"),
)


def _with_value(data: bytes) -> str:
    """Replace one value somewhere in a JSON file of the run, drawn by the bytes, and call a verb."""
    draw = random.Random(data)
    name, verbs = draw.choice(_VERBS)
    content = json.loads((_whole() / "run" / name).read_text(encoding="utf-8"))
    for _ in range(draw.choice((1, 1, 2))):
        parent, key = draw.choice(list(_places(content)))
        _damage(parent, key, draw)
    text = json.dumps(content).encode("utf-8", "surrogatepass")
    return _with_file(name, draw.choice(verbs))(text)


_NAMES: tuple[Any, ...] = (
    *(
        "x" * 300,
        "x" * 100_000,
        "a/" * 40_000,
        "half \ud800",
        "\udcff",
        "a\0b",
        "/",
        "/*",
        "/*/*",
        "/**",
        "/proc/1",
        "-",
    ),
    *("", "s3://", "http://[::1", "file:///", "\n", "con", None, True, -1, 0, 1.5, [], {}, [[]]),
    *(
        "s3://b/c",
        "webhdfs://127.0.0.1:9/a",
        "reference://a::data:,",
        "./webhdfs:/a",
        "\\\\host\\share",
        "//host/share",
    ),
    *("sentence-transformers:x", "onnx:s3://b/c", "sqlite:////host/x?select 1", "900T", 10**400),
    *(["/dev/zero"], ["x"] * 60_000, {"path": "x"}, "/etc/passwd", "[", "*" * 300, "＝x", "\x1b[2J"),
)


def _with_name(data: bytes) -> str:
    """Put a name that no record may have in a run.json: of a source, a file, an encoder, the output, or as a limit."""
    draw = random.Random(data)
    content = json.loads((_whole() / "run" / "run.json").read_text(encoding="utf-8"))
    parameters, name = content["parameters"], draw.choice(_NAMES)
    files = ("labels_file", "classes", "max_expanded_size", "embeddings", "labels", "encoder")
    place = draw.choice(("source", "source", "sources", "directory", "output", *files))
    if place == "sources":
        parameters["source"] = [*parameters["source"], name]
    elif place in files[:3]:
        parameters["reader"] = {place: name}
    else:
        parameters[place] = [name] if place == "source" and draw.random() < 0.5 else name
    text = json.dumps(content, ensure_ascii=draw.random() < 0.5).encode("utf-8", "surrogatepass")
    opened = Misdeed("opened what a record names elsewhere")
    with (
        mock.patch("doccluster.corpus.opening._system", side_effect=opened),
        mock.patch("doccluster.vectors.encoders._sentence_transformer", side_effect=opened),
    ):
        return _with_file("run.json", draw.choice((_rerun, _rerun, _rerun, _report)))(text)


def _places(content: Any) -> Iterator[tuple[Any, Any]]:
    """Yield where each value of a JSON document is; of a long list the first places."""
    keys = list(content) if isinstance(content, dict) else list(range(min(len(content), 3)))
    for key in keys:
        yield content, key
        if isinstance(content[key], dict | list):
            yield from _places(content[key])


def _damage(parent: Any, key: Any, draw: random.Random) -> None:
    way = draw.random()
    if way < 0.1:
        del parent[key]
    elif way < 0.2 and isinstance(parent, dict):
        parent[draw.choice(("unknown", "output", "progress", "x" * 300))] = draw.choice(_VALUES)
    elif way < 0.3 and isinstance(parent, list):
        parent.append(parent[key])
    else:
        parent[key] = draw.choice(_VALUES)


def _with_array(data: bytes) -> str:
    """Change one array in a file of the run, drawn by the bytes, and call a verb."""
    draw = random.Random(data)
    name, verbs = draw.choice(_ARRAY_VERBS)
    with np.load(_whole() / "run" / name) as file:
        arrays = {own: file[own] for own in file.files}
    own = draw.choice(list(arrays))
    arrays[own] = _damaged_array(arrays[own].copy(), draw)
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return _with_file(name, draw.choice(verbs))(buffer.getvalue())


def _damaged_array(values: Any, draw: random.Random) -> Any:
    way = draw.randrange(7)
    if way == 0:
        return values[: draw.randrange(values.shape[0] + 1)] if values.ndim else values.reshape(1)
    if way == 1:
        return np.concatenate([values, values]) if values.ndim else values
    if way == 2:
        with np.errstate(invalid="ignore"):
            return values.astype(draw.choice(("f2", "g", ">f8", "c16", "i8", "u8", "bool", "U8", "M8[s]", "i2")))
    if way == 3:
        return values[..., None]
    if values.size and values.dtype.kind in "fiu":
        extremes = (np.nan, np.inf, -1.0, 1e300) if values.dtype.kind == "f" else (-1, 2**31 - 1, 2**62, -(2**62))
        info = None if values.dtype.kind == "f" else np.iinfo(values.dtype)
        value = draw.choice(extremes)
        if info is not None:
            value = min(max(int(value), int(info.min)), int(info.max))
        with np.errstate(over="ignore"):
            values.flat[draw.randrange(values.size)] = value
    return values


_VERBS: tuple[tuple[str, tuple[Callable[[Path], str], ...]], ...] = (
    ("run.json", (_rerun,) * 4 + (_report,)),
    ("model/model.json", (_assign, _assign, _assign, _explain)),
    ("model/clusters.json", (_explain,) * 7 + (_report,)),
    ("model/documents.json", (_explain,) * 7 + (_report,)),
    ("model/evaluation.json", (_explain,) * 7 + (_report,)),
)
_ARRAY_VERBS: tuple[tuple[str, tuple[Callable[[Path], str], ...]], ...] = (
    ("model/vectors.npz", (_explain,) * 7 + (_report,)),
    ("model/partition.npz", (_explain,) * 7 + (_report,)),
    ("model/evaluation.npz", (_explain,) * 7 + (_report,)),
    ("model/centroids.npz", (_assign, _explain)),
    ("model/vectorizer.npz", (_assign,)),
)


def _seeds() -> Sequence[bytes]:
    _whole()
    return [b"a seed", b"another one"]


RUN_FOLDERS: tuple[Target, ...] = (
    *(_target(name, _explain) for name in ("model/documents.json", "model/evaluation.json", "model/clusters.json")),
    *(_target(name, _explain) for name in ("model/partition.npz", "model/vectors.npz", "model/evaluation.npz")),
    *(_target(name, _assign) for name in ("model/model.json", "model/centroids.npz", "model/vectorizer.npz")),
    _target("run.json", _rerun),
    Target("run_values", _seeds, _with_value),
    Target("run_names", _seeds, _with_name),
    Target("run_arrays", _seeds, _with_array),
)
