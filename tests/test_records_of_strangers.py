"""A run folder may come from a stranger: nothing that its records name is opened, unless it is a file of this machine.

``PYTHONPATH=FOLDER python -m pytest tests/test_records_of_strangers.py`` tries another fsspec, which
``pip install --no-deps --target FOLDER fsspec==2025.3.0`` puts there. Without any a stand-in takes its place.
"""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import gzip
import importlib.util
import json
import os
import pickle
import shlex
import shutil
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import doccluster
from doccluster.base.named_places import STORES, Record, check_address, why_not_from_record
from doccluster.cli.main import main
from doccluster.corpus import read_corpus
from doccluster.corpus.named_files import expanded
from doccluster.corpus.opening import address_of
from doccluster.corpus.walking import Walk
from doccluster.errors import DocclusterWarning, InputError, MissingDependency, NamedByRecord, NothingUsable
from doccluster.pipeline.repeating import texts_of_run
from doccluster.report import write_report
from doccluster.results.run_folder import load_run
from doccluster.retrieval.browsing import open_browser

TEXTS = {
    "bread-1": "The baker sells bread and rolls in the market every morning.",
    "bread-2": "Flour for bread comes from the mill; the baker sells rolls.",
    "bread-3": "Rolls and bread: the mill has raised the price of flour.",
    "harbour-1": "Two ships left the harbour before the storm reached the pier.",
    "harbour-2": "The storm broke nets and boats along the harbour pier.",
    "harbour-3": "Ships wait outside the harbour until the storm is over.",
}
AS_MADE: dict[str, Any] = {"source": ["documents"], "embeddings": "rows.npy"}
PROOF = "doccluster-was-here"


def a_template_that_runs_code() -> str:
    """Return an address that makes an fsspec before 2026.5 call the system, which makes a file."""
    call = "{{ cycler.__init__.__globals__.os.system('touch PROOF') }}".replace("PROOF", PROOF)
    references: dict[str, Any] = {"version": 1, "templates": {}, "refs": {}}
    references["gen"] = [{"key": "a.jsonl", "url": call, "dimensions": {"i": [0]}}]
    text = json.dumps(references)
    while "/" in (packed := base64.b64encode(text.encode()).decode()):
        text += " "
    return f"reference://a.jsonl::data:application/json;base64,{packed}"


ADDRESSES = (
    *("s3://bucket/a's *.jsonl", "S3://bucket/a", "s3:/bucket/a", " s3://bucket/a", "webhdfs://127.0.0.1:9/a"),
    *("github://a:b@c/d.jsonl", "file:///etc/passwd", "file://host/a", "https://127.0.0.1:9/a", "memory://parts"),
    *("simplecache::s3://bucket/a", "zip://a.csv::data.zip", a_template_that_runs_code(), "data.txt::x"),
    *("\\\\host\\share\\a.txt", "//host/share/a.txt", "\\/host/share", "\\\\?\\UNC\\host\\share", "\\??\\UNC\\host\\a"),
    "sqlite://///host/a.db?SELECT text FROM t",
)


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run with a meaning, beside the documents it was made of."""
    place = tmp_path_factory.mktemp("made")
    (place / "documents").mkdir()
    for name, text in TEXTS.items():
        (place / "documents" / f"{name}.txt").write_text(text, encoding="utf-8")
    np.save(place / "rows.npy", [[1.0, 0.1 * number] if number < 3 else [0.1, 1.0 + number] for number in range(6)])
    doccluster.run(
        place / "documents",
        n_clusters=2,
        algorithm="spherical-k-means",
        embeddings=str(place / "rows.npy"),
        space="meaning",
        output=place / "run",
        report=False,
        measures=["silhouette"],
    )
    return place


@pytest.fixture
def stranger(run_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of that, as the folder in which a person works."""
    shutil.copytree(run_folder, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    poison("run", directory=str(tmp_path), **AS_MADE)
    return tmp_path


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What was opened of all that may not be."""
    seen: list[str] = []

    def spy(what: str) -> Callable[..., Any]:
        def record(*arguments: object, **_: object) -> Any:
            seen.append(f"{what} {arguments}")
            raise OSError("it is not opened in a test")

        return record

    monkeypatch.setattr(socket.socket, "connect", spy("connect"))
    monkeypatch.setattr(socket, "getaddrinfo", spy("getaddrinfo"))
    if importlib.util.find_spec("fsspec") is None:
        stand_in = ModuleType("fsspec")
        stand_in.core = ModuleType("fsspec.core")  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "fsspec", stand_in)
    import fsspec

    monkeypatch.setattr(fsspec.core, "url_to_fs", spy("url_to_fs"), raising=False)
    library = ModuleType("sentence_transformers")
    library.SentenceTransformer = spy("model")  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sentence_transformers", library)
    for name in ("stat", "lstat", "open"):
        monkeypatch.setattr(os, name, _watching(getattr(os, name), seen))
    yield seen
    assert not Path(PROOF).exists()


def _watching(function: Callable[..., Any], seen: list[str]) -> Callable[..., Any]:
    def watched(path: Any, *arguments: Any, **options: Any) -> Any:
        if isinstance(path, str | os.PathLike) and os.fspath(path).startswith(("//", "\\\\", "\\/", "\\?")):
            seen.append(os.fspath(path))
        return function(path, *arguments, **options)

    return watched


def poison(folder: str, **named: Any) -> None:
    """Put what a stranger names into the records of a run."""
    for name, group in (("run.json", "parameters"), ("model/model.json", "settings")):
        path = Path(folder) / name
        record = json.loads(path.read_text(encoding="utf-8"))
        record[group] |= named
        path.write_text(json.dumps(record), encoding="utf-8")


def command(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    return int(ended.value.code or 0)


# each verb that goes on from a run, and the parameters of a record that it may follow
VERBS: dict[str, tuple[tuple[str, ...], Callable[[], object]]] = {
    "rerun": (("source", "embeddings", "encoder", "labels", "labels_file"), lambda: doccluster.rerun("run")),
    "rerun -o": (
        ("source", "embeddings", "encoder", "labels", "labels_file"),
        lambda: doccluster.rerun("run", output="again"),
    ),
    "report --with-texts": (("source",), lambda: texts_of_run(load_run("run"))),
    "corpus": (("source",), lambda: load_run("run").corpus),
    "assign": (("encoder",), lambda: doccluster.assign("run", ["bread and rolls"])),
    "assign a run": (("encoder",), lambda: doccluster.assign(load_run("run"), ["bread and rolls"])),
    "search": (("encoder",), lambda: doccluster.search("bread", "run", ranked_by="meaning")),
    "search by words": ((), lambda: doccluster.search("bread", "run")),
    "browse": ((), lambda: open_browser("run").search("bread")),
    "explain": ((), lambda: doccluster.explain("run", 0)),
    "load_run": ((), lambda: load_run("run")),
    "report": ((), lambda: write_report(load_run("run"), "page.html")),
    "label": ((), lambda: doccluster.label("run", 0, "Bread")),
    "undo": ((), lambda: (doccluster.label("run", 0, "Bread"), doccluster.undo("run"))),
    "diff": ((), lambda: doccluster.diff("run", "run")),
}


def named_as(parameter: str, name: str) -> dict[str, Any]:
    """Return what stands in a record that names a place as a parameter."""
    if parameter == "source":
        return {"source": [name]}
    if parameter == "labels_file":
        return {"reader": {"labels_file": name}}
    if parameter == "encoder":
        return {"embeddings": None, "encoder": name if name.startswith("sentence") else f"onnx:{name}"}
    return {parameter: name}


PLACES = ("source", "embeddings", "encoder", "labels", "labels_file")


@pytest.mark.parametrize("verb", VERBS)
def test_no_verb_opens_what_a_record_names_elsewhere(verb: str, stranger: Path, opened: list[str]) -> None:
    follows, call = VERBS[verb]
    for parameter in PLACES if follows else ():
        for name in ADDRESSES if parameter in follows else ADDRESSES[:1]:
            poison("run", reader=None, encoder=None, labels=None, **AS_MADE)
            poison("run", **named_as(parameter, name))
            with contextlib.ExitStack() as stack:
                if parameter in follows:
                    stack.enter_context(pytest.raises(NamedByRecord, match="opened only if you name it"))
                else:
                    stack.enter_context(contextlib.suppress(InputError))
                call()
    if not follows:
        poison("run", **{name: value for place in PLACES for name, value in named_as(place, ADDRESSES[0]).items()})
        call()
    assert opened == []
    assert not Path("again").exists()


@pytest.mark.parametrize("verb", [verb for verb, (follows, _) in VERBS.items() if "encoder" in follows])
def test_no_verb_runs_the_code_of_a_model_that_a_record_names(verb: str, stranger: Path, opened: list[str]) -> None:
    poison("run", embeddings=None, encoder="sentence-transformers:model")
    with pytest.raises(NamedByRecord, match="'sentence-transformers:model' \\(a model that may run code\\)"):
        VERBS[verb][1]()
    assert opened == []


@pytest.mark.parametrize("directory", ["//host/share", "\\\\host\\share", "webhdfs://127.0.0.1:9", "\\??\\UNC\\host"])
def test_a_record_that_was_written_elsewhere_is_not_looked_at_there(
    directory: str, stranger: Path, opened: list[str]
) -> None:
    poison("run", directory=directory)
    assert doccluster.rerun("run").same_labels  # the files lie here and beside the record too
    poison("run", source=["gone.txt"])
    with pytest.raises(NamedByRecord, match=r"gone\.txt"):
        doccluster.rerun("run")
    assert opened == []


@pytest.mark.parametrize("name", ["./webhdfs:/127.0.0.1/a", "a/../webhdfs:/127.0.0.1/a", "[w]ebhdfs:/127.0.0.1/a"])
def test_a_path_that_becomes_an_address_is_not_opened(name: str, stranger: Path, opened: list[str]) -> None:
    for directory in (".", str(stranger)):
        for source in ([name], [name, "documents"]):
            poison("run", source=source, directory=directory)
            with pytest.raises(InputError, match=r"only if you name it|does not exist|no file fits"):
                doccluster.rerun("run")
    assert opened == []


def test_a_command_is_refused_with_the_command_that_works(
    stranger: Path, opened: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    name = "memory://parts/it's *.jsonl"
    poison("run", source=[name, "s3://b/c"], embeddings=None, encoder="sentence-transformers:a model")
    assert command("rerun", "run", "-o", "again") == 2
    said = capsys.readouterr().err
    typed = said[said.index("`") + 1 : said.rindex("`")]
    options = ["--source", name, "--source", "s3://b/c", "--encoder", "sentence-transformers:a model"]
    assert shlex.split(typed) == ["doccluster", "rerun", *options, "run", "-o", "again"]
    poison("run", source=["s3://b/c"])
    for words, option in (
        (["report", "run", "--with-texts"], "--source s3://b/c"),
        (["assign", "run", "documents"], "--encoder 'sentence-transformers:a model'"),
        (["search", "bread", "run", "--rank", "meaning"], "--encoder 'sentence-transformers:a model'"),
    ):
        assert command(*words) == 2
        assert f"`doccluster {words[0]} {option} {shlex.join(words[1:])}`" in capsys.readouterr().err
    with pytest.raises(NamedByRecord, match="give source='s3://b/c' and encoder='sentence-transformers:a model'"):
        doccluster.rerun("run")
    assert opened == []


def test_what_a_person_names_anew_is_used(stranger: Path, capsys: pytest.CaptureFixture[str]) -> None:
    poison("run", source=["s3://b/c"], embeddings="//host/rows.npy")
    assert command("rerun", "run", "--source", "documents", "--embeddings", "rows.npy", "-o", "again") == 0
    said = capsys.readouterr()
    assert "the same labels" in said.out
    assert "reading" not in said.err  # the person knows
    assert command("report", "run", "--with-texts", "--source", "documents") == 0
    assert "The baker sells bread" in Path("run/report.html").read_text(encoding="utf-8")
    write_report(load_run("run"), "page.html", source="documents")
    assert "Two ships left the harbour" in Path("page.html").read_text(encoding="utf-8")
    with pytest.raises(InputError, match="the documents have changed"):
        write_report(load_run("run"), "page.html", source=["Another text.", "And one more."])
    assert command("report", "run", "--source", "documents") == 2
    with pytest.raises(InputError, match="one of the two"):
        write_report(load_run("run"), "page.html", texts=["a"] * 6, source="documents")


def test_local_files_that_a_record_names_are_said_before_they_are_read(
    stranger: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    poison("run", source=["documents\x1b[2J", "documents"])
    assert command("rerun", "run", "--json") == 2  # the first is not there
    assert capsys.readouterr().err.startswith("reading ")
    poison("run", source=["documents"])
    for words in (["rerun", "run"], ["report", "run", "--with-texts"]):
        assert command(*words) == 0
        said = capsys.readouterr().err
        assert f"reading documents, as {Path('run/run.json')} says" in said
        assert ("reading rows.npy" in said) == (words[0] == "rerun")
    assert "\x1b" not in said


def test_files_of_others_do_not_come_into_a_run(stranger: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("private.txt").write_text("the first secret\nthe second secret\nanother secret line\n", encoding="utf-8")
    poison("run", source=["private.txt"], embeddings=None, space="both", resolved={})
    assert command("rerun", "run", "-o", "again") == 1
    assert "nothing was written to again: name the source anew" in capsys.readouterr().out
    assert command("rerun", "run", "-o", "again", "--json") == 1
    assert json.loads(capsys.readouterr().out)["output"] is None
    assert not Path("again").exists()
    assert command("rerun", "run", "--source", "private.txt", "-o", "again") == 1
    assert Path("again/run.json").is_file()


def test_labels_of_others_do_not_come_into_a_run(stranger: Path) -> None:
    Path("private.txt").write_text("root\nroot\nroot\nuser\nuser\nuser\n", encoding="utf-8")
    unlike = {"n_clusters": "auto", "embeddings": None, "space": "both", "resolved": {}}
    for parameter in ("labels", "labels_file"):
        poison("run", reader=None, labels=None, **unlike)
        poison("run", **named_as(parameter, "private.txt"))
        refused = doccluster.rerun("run", output="again")
        assert refused.output is None
        assert f"name the {parameter} anew" in refused.differences[-1]
        assert doccluster.rerun("run", output=f"with {parameter}", **{parameter: "private.txt"}).output is not None
    assert not Path("again").exists()


def test_embeddings_of_others_do_not_come_into_a_run(stranger: Path) -> None:
    np.save("private.npy", np.arange(12.0).reshape(6, 2) ** 2)
    poison("run", embeddings="private.npy")
    assert doccluster.rerun("run", output="again").output is None
    assert doccluster.rerun("run", output="again", embeddings="private.npy").output == Path("again")


def test_terms_of_a_matrix_from_beside_it_do_not_come_into_a_run(tmp_path: Path) -> None:
    (tmp_path / "x.mtx").write_text(
        "%%MatrixMarket matrix coordinate integer general\n4 2 4\n1 1 1\n2 1 2\n3 2 1\n4 2 3\n", encoding="utf-8"
    )
    doccluster.run(tmp_path / "x.mtx", n_clusters=2, output=tmp_path / "run", report=False)
    assert doccluster.rerun(tmp_path / "run", output=tmp_path / "same").output is not None
    (tmp_path / "x.mtx.clabel").write_text("root:x:0\nuser:x:1\n", encoding="utf-8")
    again = doccluster.rerun(tmp_path / "run", output=tmp_path / "again")
    assert again.same_labels
    assert again.output is None


def test_a_limit_of_a_record_is_lowered_and_never_raised(stranger: Path) -> None:
    limits: dict[str, tuple[Any, Any, Any]] = {
        "max_expanded_size": ("4G", "900T", "3G"),
        "max_document_length": (10_000_000, 10**15, 9),
        "max_memory": ("2G", "2.1 GiB", 2**31),
    }
    for name, (usual, higher, lower) in limits.items():
        record = Record(Path("run.json"))
        assert record.take(name, lower, usual=usual) == lower
        with pytest.warns(DocclusterWarning, match=f"{name}=.* is used"):
            assert record.take(name, higher, usual=usual) == usual
        assert Record(Path("run.json"), anew={name: higher}).take(name, lower, usual=usual) == higher
        with pytest.raises(InputError, match="damaged"):
            record.take(name, "much", usual=usual)


def test_every_verb_keeps_the_limits(stranger: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (stranger / "texts.txt.gz").write_bytes(gzip.compress("\n".join(TEXTS.values()).encode() * 2))
    poison(
        "run", source=["texts.txt.gz"], embeddings=None, space="both", reader={"max_expanded_size": 400}, resolved={}
    )
    with pytest.raises(InputError, match="no document"):
        doccluster.rerun("run")
    assert command("rerun", "run", "--max-expanded-size", "1M") == 1
    higher = {"max_expanded_size": "900T"}
    poison("run", source=["documents"], reader=higher, algorithm="agglomerative", clustering={"max_memory": "900T"})
    assert command("rerun", "run") in (0, 1)
    said = capsys.readouterr().err
    assert "raises a limit (--max-expanded-size 900T)" in said
    assert "raises a limit (--max-memory 900T)" in said
    rows = np.eye(6, 2)
    with pytest.warns(DocclusterWarning, match="raises a limit"):
        doccluster.assign("run", list(TEXTS.values()), embeddings=rows)
    doccluster.assign("run", list(TEXTS.values()), embeddings=rows, reader=higher)
    with pytest.warns(DocclusterWarning, match="raises a limit"):
        texts_of_run(load_run("run"))


def test_what_a_person_named_in_this_process_is_their_own(
    stranger: Path, monkeypatch: pytest.MonkeyPatch, opened: list[str]
) -> None:
    run = load_run("run")
    own = dataclasses.replace(run, parameters={**run.parameters, "encoder": "sentence-transformers:m"}, _record=None)
    with pytest.raises(InputError, match="the model m is not on this machine"):
        doccluster.search("bread", own, ranked_by="meaning")
    assert opened[0].startswith("model")


@pytest.mark.parametrize("scheme", STORES)
def test_stores_that_people_name_are_opened_and_listed(scheme: str) -> None:
    check_address(f"{scheme}://bucket/a.jsonl")
    page = Path(__file__).parents[1] / "docs" / "how-to" / "beyond-one-machine.md"
    assert f"`{scheme}`" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "address",
    [
        *("github://a:b@c/d", "reference://a", "zip://a", "data://a", "local://a", "arrow_hdfs://a", "git://a"),
        *("simplecache::s3://b/c", "s3://a::b", "S3://a::s3://b", "memory://a::file:///etc/passwd", "file::s3://b/c"),
        a_template_that_runs_code(),
    ],
)
def test_other_addresses_are_refused_at_every_door(address: str, stranger: Path, opened: list[str]) -> None:
    doors: tuple[Callable[[], object], ...] = (
        lambda: read_corpus(address),
        lambda: read_corpus([address, "documents"]),
        lambda: read_corpus("documents", labels_file=address),
        lambda: doccluster.run("documents", labels=address),
        lambda: doccluster.run("documents", n_clusters=2, topics=address),
        lambda: doccluster.rerun("run", source=address),
        lambda: write_report(load_run("run"), "page.html", source=address),
        lambda: doccluster.inspect(address),
    )
    for door in doors:
        with pytest.raises(
            InputError, match=r"cannot be read: it(s kind is not among| holds ::)|cannot be a file or folder"
        ):
            door()
    assert opened == []


def test_a_template_in_an_address_runs_no_code(stranger: Path) -> None:
    address = a_template_that_runs_code()  # which the fsspec that is installed may well do
    poison("run", source=[address])
    with pytest.raises(NamedByRecord):
        doccluster.rerun("run")
    with pytest.raises(NamedByRecord):
        texts_of_run(load_run("run"))
    with pytest.raises(InputError, match="holds ::"):
        read_corpus(address)
    *folders, name = address.replace("reference://", "reference:/").split("/")
    below = stranger.joinpath("news", *folders)
    below.mkdir(parents=True)
    with contextlib.suppress(OSError):  # where a name may not be as long
        (below / name).write_text("bread and rolls", encoding="utf-8")
        os.chdir("news")
        assert len(read_corpus(".", format="text")) == 1
    assert not Path(PROOF).exists()
    assert not (stranger / PROOF).exists()


def test_folders_called_like_addresses_are_folders(stranger: Path, opened: list[str]) -> None:
    below = stranger / "news" / "webhdfs:" / "127.0.0.1:9"
    below.mkdir(parents=True)
    shutil.copytree("documents", below / "documents")
    os.chdir("news")
    try:
        for source in (".", "webhdfs:", "*", "*/*", "webhdfs:/127.0.0.1:9/documents"):
            assert len(read_corpus(source)) == len(TEXTS)
        assert address_of(Path("webhdfs:/127.0.0.1:9/documents")) is None
        assert all(item.path.is_absolute() for item in Walk(expanded([Path()]), 0).listed())  # type: ignore[union-attr]
    finally:
        os.chdir(stranger)
    assert opened == []


def test_files_of_a_store_cannot_name_another(monkeypatch: pytest.MonkeyPatch) -> None:
    fsspec = pytest.importorskip("fsspec", reason="the extra dask is not installed")
    memory = fsspec.filesystem("memory")
    memory.pipe("/open/a.txt", b"bread and rolls")
    memory.pipe("/open/b.txt::memory:", b"harbour")
    try:
        corpus = read_corpus("memory://open")
    finally:
        memory.rm("/open", recursive=True)
    assert len(corpus) == 1
    assert [item.reason for item in corpus.skipped] == ["unreadable"]


def test_paths_of_this_machine_may_be_named() -> None:
    for name in ("a.csv", "/data/a.csv", "C:\\data\\a.csv", "C:/data/a.csv", "../a b.csv", "a:b", "~/a", "-", ""):
        assert why_not_from_record(name) == ""


def test_an_encoder_is_named_for_a_run(stranger: Path) -> None:
    for call in (
        lambda: doccluster.search("bread", ["bread and rolls"] * 3, ranked_by="meaning", encoder="static"),
        lambda: open_browser(["bread and rolls"] * 3, encoder="static"),
        lambda: doccluster.search("bread", "run", encoder="static"),
    ):
        with pytest.raises(InputError, match="encoder"):
            call()


def test_browsing_finds_documents_by_meaning_with_an_encoder(stranger: Path) -> None:
    pytest.importorskip("wordllama", reason="the extra meaning is not installed")
    doccluster.run("documents", n_clusters=2, encoder="static", output="by meaning", report=False)
    with pytest.raises(NothingUsable):
        open_browser("by meaning").search("bakery")
    browser = open_browser("by meaning", encoder="static")
    browser.search("bakery")
    assert {card.number for card in browser.cards} == {1}
    assert browser.n_documents < len(TEXTS)
    assert doccluster.search("pier", "by meaning", ranked_by="meaning", encoder="static").hits


def test_the_refusal_of_a_record_comes_through_a_pickle() -> None:
    refusal = NamedByRecord("run.json names 's3://b/c' (an address)", {"source": "s3://b/c"})
    assert str(pickle.loads(pickle.dumps(refusal))).startswith(str(refusal).removesuffix("."))


def test_an_address_needs_fsspec(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(MissingDependency):
        read_corpus("s3://bucket/a")
