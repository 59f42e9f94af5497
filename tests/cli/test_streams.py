"""Standard output and standard error in any encoding, closed by the reader, or full: no traceback, the right code."""

from __future__ import annotations

import contextlib
import io
import json
import os
import pathlib
import subprocess
import sys
from dataclasses import dataclass

import pytest

from doccluster.cli.main import main

ROOT = pathlib.Path(__file__).resolve().parents[2]
MAIN = (sys.executable, "-m", "doccluster")

has_full_device = pytest.mark.skipif(not pathlib.Path("/dev/full").exists(), reason="there is no /dev/full here")


@dataclass(frozen=True)
class Outcome:
    """What a command came to."""

    code: int
    out: str
    err: str


ENCODINGS = ("ascii", "latin-1", "cp1252")
TEXTS = {
    "smørrebrød-1": "Kopenhagens Bäcker verkaufen Brot – und 日本 Kuchen",
    "smørrebrød-2": "Kopenhagens Bäcker backen Brot und Kuchen",
    "погода-1": "Регн og sne i nord, blæst ved kysten",
    "погода-2": "Sne og blæst i nord, regn ved kysten",
}


def environment(**more):
    """Return the environment of a process that is not in Python's UTF-8 mode."""
    return {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", **more}


def call(*arguments, encoding):
    """Run the command line in this process, with strict standard streams in an encoding; return what was printed."""
    streams = [io.TextIOWrapper(io.BytesIO(), encoding=encoding, write_through=True) for _ in range(2)]
    replaced = contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1])
    with replaced[0], replaced[1], pytest.raises(SystemExit) as stopped:
        main([str(argument) for argument in arguments])
    printed = [stream.buffer.getvalue().decode(encoding) for stream in streams]
    return Outcome(stopped.value.code or 0, *printed)


def ended_well(done):
    """Check that a command ended without an error; return what it printed."""
    assert done.code == 0, done.err
    assert "Error" not in done.err
    return done.out


@pytest.fixture(scope="module")
def beyond_ascii(tmp_path_factory):
    """Documents whose ids, titles and terms are not all in any of the encodings."""
    path = tmp_path_factory.mktemp("texts") / "texts.jsonl"
    rows = ({"id": name, "title": f"„{name}“", "text": text} for name, text in TEXTS.items())
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def run_of_them(beyond_ascii):
    """The folder of a run on them."""
    folder = beyond_ascii.parent / "run"
    ended_well(call("run", beyond_ascii, "-o", folder, "-k", 2, "--no-report", encoding="utf-8"))
    return folder


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_run_ends_well_and_prints_its_headlines(beyond_ascii, tmp_path, encoding):
    printed = ended_well(call("run", beyond_ascii, "-o", tmp_path / "out", "-k", 2, encoding=encoding))
    assert ("sm\\xf8rrebr\\xf8d" if encoding == "ascii" else "smørrebrød") in printed
    assert "\\u043f\\u043e\\u0433" in printed
    assert (tmp_path / "out" / "report.html").is_file()


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_assigned_documents_keep_their_names_as_escapes(run_of_them, beyond_ascii, encoding):
    printed = ended_well(call("assign", run_of_them, beyond_ascii, encoding=encoding))
    assert "\\u043f\\u043e\\u0433\\u043e\\u0434\\u0430-1" in printed
    assert ("sm\\xf8rrebr\\xf8d-1" if encoding == "ascii" else "smørrebrød-1") in printed


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_cluster_and_a_document_are_explained(run_of_them, encoding):
    assert "cluster 0" in ended_well(call("explain", run_of_them, 0, encoding=encoding))
    assert "similarity" in ended_well(call("explain", run_of_them, "погода-1", encoding=encoding))


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_json_is_read_back_the_same_under_any_encoding(run_of_them, encoding):
    told = json.loads(ended_well(call("explain", run_of_them, "погода-1", "--json", encoding=encoding)))
    assert told["id"] == "погода-1"


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_the_table_of_measures_is_drawn_with_what_the_encoding_has(encoding):
    printed = ended_well(call("measures", encoding=encoding))
    lines = printed.splitlines()
    assert set(lines[1].strip()) <= {"-", "+", "|", " "}, "rules are drawn in ASCII"
    assert any(line.startswith("silhouette ") and " ^ " in line for line in lines), "the arrow has a stand-in"


@pytest.mark.parametrize("verb", [(), ("run",), ("assign",), ("explain",)])
def test_help_is_plain_ascii(verb):
    ended_well(call(*verb, "--help", encoding="ascii"))


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_an_error_names_a_file_beyond_the_encoding(tmp_path, encoding):
    done = call("run", tmp_path / "погода.txt", "-o", tmp_path / "out", encoding=encoding)
    assert done.code == 2
    assert "\\u043f\\u043e" in done.err


def test_a_wrong_option_is_quoted_in_the_encoding(tmp_path):
    done = call("run", tmp_path, "--погода", encoding="ascii")
    assert done.code == 2
    assert "\\u043f\\u043e" in done.err


@has_full_device
@pytest.mark.parametrize("verb", [("measures",), ("--help",)])
def test_a_full_standard_output_is_one_sentence(verb):
    with pathlib.Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run([*MAIN, *verb], stdout=full, stderr=subprocess.PIPE, check=False, env=environment())
    assert done.returncode == 2
    assert done.stderr.decode().splitlines() == [
        "doccluster: standard output cannot be written: No space left on device."
    ]


@pytest.mark.parametrize("verb", [("measures",), ("--help",)])
def test_a_reader_that_leaves_early_is_no_error(verb):
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as closed:
        done = subprocess.run([*MAIN, *verb], stdout=closed, stderr=subprocess.PIPE, check=False, env=environment())
    assert done.stderr == b""
    assert done.returncode == 141


def test_closed_streams_do_not_stop_a_run(beyond_ascii, tmp_path):
    command = [*MAIN, "run", str(beyond_ascii), "-o", str(tmp_path / "out"), "-k", "2", "--no-report"]
    script = 'exec "$@" >&- 2>&-'
    done = subprocess.run(["sh", "-c", script, "sh", *command], check=False, env=environment())
    assert done.returncode == 0
    assert (tmp_path / "out" / "run.json").is_file()


@has_full_device
def test_a_full_standard_error_leaves_the_code_of_the_error(beyond_ascii, tmp_path):
    with pathlib.Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            [*MAIN, "run", str(beyond_ascii), "--no-such-option"],
            stderr=full,
            check=False,
            env=environment(PYTHONUNBUFFERED=""),  # set, it would hide what stays in a buffer
        )
    assert done.returncode == 2


def test_progress_on_a_terminal_is_drawn_with_what_the_encoding_has(beyond_ascii, tmp_path):
    shown, code = on_a_terminal("run", beyond_ascii, "-o", tmp_path / "out", "-k", 2, "--no-report", encoding="ascii")
    assert code == 0, shown
    assert "cluster" in shown
    assert "\\u28" not in shown, "the spinner is of braille, which this terminal lacks"
    assert "Traceback" not in shown


def on_a_terminal(*arguments, encoding):
    """Run the command line with standard error on a terminal; return what was shown there, and the exit code."""
    pty = pytest.importorskip("pty", reason="there are no pseudo-terminals on this system")
    ours, theirs = pty.openpty()
    settings = environment(PYTHONIOENCODING=encoding, TERM="xterm", COLUMNS="100")
    command = [*MAIN, *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs, env=settings) as running:
        os.close(theirs)
        parts = []
        with contextlib.suppress(OSError):  # the end of a terminal that nobody writes to any more
            while part := os.read(ours, 65536):
                parts.append(part)
        os.close(ours)
    return b"".join(parts).decode(encoding), running.returncode
