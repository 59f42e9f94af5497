"""Names that no file can have, sources without end and files without end: one sentence and exit code 2."""

from __future__ import annotations

import csv
import io
import json
import os
import socket
import threading
from collections.abc import Callable
from ipaddress import ip_network
from pathlib import Path

import pytest

from doccluster.base.plain_values import parse_size
from doccluster.base.text_table import csv_text
from doccluster.cli.main import main
from doccluster.corpus import opening
from doccluster.corpus.named_files import MAX_SOURCES, expanded
from doccluster.errors import InputError
from doccluster.measures import score
from doccluster.pipeline.main_line import run_pipeline
from doccluster.pipeline.repeating import repeat_run
from doccluster.results.run_folder import load_run
from doccluster.results.storage import read_json
from doccluster.retrieval import read_hits
from doccluster.streams.polling._fetching import Reachable, fetch

NAMES = {
    "300-characters": "x" * 300,
    "100000-characters": "x" * 100_000,
    "100000-characters.jsonl": "x" * 100_000 + ".jsonl",
    "below-a-folder": "folder/" + "x" * 300,
}
IN_FILE = ("documents.txt", "-k", "2")
PLACES = {
    "run": ("run", "NAME", "-k", "2"),
    "run-output": ("run", *IN_FILE, "-o", "NAME"),
    "run-labels-file": ("run", *IN_FILE, "--labels-file", "NAME"),
    "inspect": ("inspect", "NAME"),
    "assign": ("assign", "NAME", "documents.txt"),
    "evaluate": ("evaluate", "NAME", "documents.txt"),
    "evaluate-truth": ("evaluate", "labels.txt", "--truth", "NAME"),
    "evaluate-vectors": ("evaluate", "labels.txt", "--vectors", "NAME"),
    "explain": ("explain", "NAME", "0"),
    "diff": ("diff", "NAME", "NAME"),
    "report": ("report", "NAME"),
    "rerun": ("rerun", "NAME"),
    "search": ("search", "apple", "NAME"),
    "search-hits": ("search", "--hits", "NAME"),
    "search-output": ("search", "--hits", "hits.jsonl", "-o", "NAME"),
    "browse": ("browse", "NAME"),
    "undo": ("undo", "NAME"),
    "vectorize-output": ("vectorize", "documents.txt", "-o", "NAME"),
    "generate-output": ("generate", "zipf", "-n", "30", "-o", "NAME"),
    "stream-store": ("stream", "replay", "documents.txt", "--store", "NAME"),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("documents.txt").write_text("apple pear\npear fruit\ncar road\nroad wheel car\n")
    Path("labels.txt").write_text("0\n0\n1\n1\n")
    Path("hits.jsonl").write_text('{"title": "apple"}\n{"title": "pear"}\n')
    return tmp_path


def refused(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    said = capsys.readouterr().err
    assert ended.value.code == 2
    sentence = said.split("Error: ")[-1]  # click writes how a verb is used first
    assert sentence.count("\n") == 1
    assert 20 < len(sentence) < 600
    return said


@pytest.mark.parametrize("place", PLACES)
def test_a_name_that_no_file_can_have_is_refused(place: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(folder.iterdir())
    for name in NAMES.values():
        refused(tuple(name if part == "NAME" else part for part in PLACES[place]), capsys)
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize("name", ["a\0b", "a\ud800b", "x" * 100_000])
def test_a_name_that_no_file_can_have_is_refused_in_python(name: str, folder: Path) -> None:
    calls: list[Callable[[], object]] = [
        lambda: run_pipeline(name, n_clusters=2),
        lambda: run_pipeline("documents.txt", n_clusters=2, output=name),
        lambda: run_pipeline("documents.txt", n_clusters=2, reader={"labels_file": name}),
        lambda: load_run(name),
        lambda: read_hits(name),
        lambda: repeat_run(name),
    ]
    for call in calls:
        with pytest.raises(InputError) as refusal:
            call()
        assert len(str(refusal.value)) < 600


def test_a_record_that_names_a_source_no_file_can_have_is_refused(folder: Path) -> None:
    run_pipeline("documents.txt", n_clusters=2, output="run", report=False)
    record = json.loads(Path("run/run.json").read_text())
    for name in ("x" * 300, "x" * 100_000):
        record["parameters"]["source"] = ["documents.txt", name]
        Path("run/run.json").write_text(json.dumps(record))
        with pytest.raises(InputError, match="cannot be a file or folder"):
            repeat_run("run")


@pytest.mark.parametrize(
    "source", ["/", "/*", "/**", "/../*", "/*/*", "/*/**", "/?*/**/a.txt", "/proc/1", "/proc/self"]
)
def test_what_holds_no_documents_is_refused_before_any_work(
    source: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if source.startswith("/proc") and not Path("/proc/self").is_dir():
        pytest.skip("this system has no folder of processes")
    refused(("run", source, "-k", "2", "-o", "run"), capsys)
    refused(("inspect", source), capsys)


def test_a_pattern_that_names_a_folder_is_looked_for() -> None:
    with pytest.raises(InputError, match="no file fits the pattern"):
        expanded([Path("/*/there is no such folder/*.txt")])


def test_more_sources_than_can_be_named_are_refused_before_any_work() -> None:
    with pytest.raises(InputError, match="100,000 sources are more than the 50,000"):
        run_pipeline([Path("documents.txt")] * 100_000, n_clusters=2)
    here = [Path("-")] * MAX_SOURCES
    assert expanded(here) == here


def test_a_number_of_starts_without_end_is_refused_before_reading() -> None:
    with pytest.raises(InputError, match=r"n_init=1000000000 is more starts"):
        run_pipeline("there is no such file", n_clusters=2, clustering={"n_init": 10**9})


ENDLESS = {
    "hits": ("search", "--hits", "FILE"),
    "labels-file": ("inspect", "documents.txt", "--labels-file", "FILE"),
    "labels": ("evaluate", "FILE", "--truth", "labels.txt"),
    "truth": ("evaluate", "labels.txt", "--truth", "FILE"),
    "vectors": ("evaluate", "labels.txt", "--vectors", "FILE"),
    "feed-list": ("stream", "poll", "FILE", "--store", "s.db"),
}


@pytest.mark.parametrize("place", ENDLESS)
def test_a_device_without_end_and_a_pipe_without_a_writer_are_refused(
    place: str, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "MAX_BYTES", 100_000)
    monkeypatch.setattr(opening, "PATIENCE", 0.05)
    os.mkfifo("pipe")
    for file in ("/dev/zero", "pipe"):
        said = refused(tuple(file if part == "FILE" else part for part in ENDLESS[place]), capsys)
        assert file in said


def test_files_that_only_python_reads_end_too(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "MAX_BYTES", 100_000)
    monkeypatch.setattr(opening, "PATIENCE", 0.05)
    os.mkfifo("pipe")
    for file, reason in (("/dev/zero", "larger than"), ("pipe", "cannot be read"), (".", "cannot be read")):
        with pytest.raises(InputError, match=reason):
            read_json(Path(file))


def test_a_pipe_with_a_writer_is_read(folder: Path) -> None:
    os.mkfifo("pipe")
    writer = threading.Thread(target=Path("pipe").write_bytes, args=(Path("hits.jsonl").read_bytes(),))
    writer.start()
    assert [hit.title for hit in read_hits("pipe")] == ["apple", "pear"]
    writer.join()


@pytest.mark.parametrize("size", [[], {}, None, True, b"2G"])
def test_a_limit_of_memory_that_is_no_size_is_refused(size: object) -> None:
    with pytest.raises(InputError, match="is not a size in bytes"):
        parse_size(size)  # type: ignore[arg-type]


@pytest.mark.parametrize("n_samples", [1e30, 10**30, 0, "many"])
@pytest.mark.parametrize("found", [[0, 0, 1, 1], [0, 0, 0, 0]])
def test_more_samples_than_anything_needs_are_refused(n_samples: object, found: list[int]) -> None:
    with pytest.raises(InputError, match="n_samples"):
        score("divergence_from_random_baseline", found, truth=[0, 1, 0, 1], n_samples=n_samples)


@pytest.mark.parametrize("sign", "=+-@\t\r＝＋－＠")
def test_a_cell_that_a_spreadsheet_would_run_is_marked(sign: str) -> None:
    _, (cell,), last = csv.reader(io.StringIO(csv_text({"title": [f"{sign}1+1", "plain"]}), newline=""))
    assert cell == f"'{sign}1+1".replace("\r", "\n")  # of a lone return, what follows it would be a row
    assert last == ["plain"]


def test_a_name_of_a_column_that_a_spreadsheet_would_run_is_marked() -> None:
    assert csv_text({"=cmd()": [1], "plain": [2]}) == "'=cmd(),plain\n1,2\n"


@pytest.mark.parametrize("tag", ["\ud800", '"a"\r\nHost: b', "\u20ac"])
def test_a_tag_that_no_header_can_hold_is_not_sent(tag: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        asked: list[bytes] = []

        def answer() -> None:
            client, _ = server.accept()
            with client:
                asked.append(client.recv(65_536))
                client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")

        thread = threading.Thread(target=answer)
        thread.start()
        reach = Reachable(allowed=(ip_network("127.0.0.0/8"),), ports=frozenset({port}))
        found = fetch(f"http://127.0.0.1:{port}/", reach, etag=tag, last_modified=tag)
        thread.join()
    assert found.body == b"ok"
    assert b"if-none-match" not in asked[0].lower()
    assert asked[0].lower().count(b"host:") == 1
