"""What the command line promises of the machine it runs on: nothing beside the output, nothing run, nothing half."""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TINY = ROOT / "corpora" / "samples" / "tiny"
NEWSROOM = ROOT / "corpora" / "samples" / "newsroom" / "articles.jsonl"
COMMANDS = {
    "run": ["run", str(TINY), "-k", "3", "-o"],
    "generate": ["generate", "zipf", "-n", "200", "-k", "5", "-o"],
}
OF_LIBRARIES = ("uname",)  # how Python's `platform` asks the system for its name
# what a person would call a run of the machine: other programs, connections; not the compiler's second process
WATCHED = """
import sys
def watch(event, arguments):
    if event in {"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "socket.connect",
                 "socket.bind", "socket.getaddrinfo"}:
        if "numba" in repr(arguments):
            return
        print("WATCHED", event, arguments, file=sys.stderr, flush=True)
sys.addaudithook(watch)
from doccluster.cli.main import main
main(sys.argv[1:])
"""


def own_home(folder):
    """An environment whose home and folder for temporary files lie in `folder`."""
    for name in ("home", "temporary"):
        (folder / name).mkdir(exist_ok=True)
    return {
        **os.environ,
        "HOME": str(folder / "home"),
        "TMPDIR": str(folder / "temporary"),
        "PYTHONPATH": str(ROOT),
    }


def test_a_run_writes_its_output_and_nothing_else(tmp_path):
    place = tmp_path / "here"
    place.mkdir()
    source = tmp_path / "articles.jsonl"
    source.write_bytes(b"".join(NEWSROOM.read_bytes().splitlines(keepends=True)[::3]))
    command = [sys.executable, "-c", WATCHED, "run", str(source), "-k", "9", "-o", "out"]
    done = subprocess.run(command, cwd=place, env=own_home(tmp_path), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    watched = [line for line in done.stderr.splitlines() if line.startswith("WATCHED")]
    assert not [line for line in watched if not any(f"'{program}'" in line for program in OF_LIBRARIES)]
    assert [path.name for path in place.iterdir()] == ["out"]
    assert not list((tmp_path / "temporary").iterdir())
    written = {path.relative_to(tmp_path / "home").parts[0] for path in (tmp_path / "home").rglob("*")}
    assert written <= {".cache", ".config"}  # compiled code and the list of fonts


# ends its own process as kill -9 does, as soon as what it writes is nearly whole
KILLED = """
import os, signal, sys
def end_when_renamed(event, arguments):
    if event == "os.rename" and os.path.basename(str(arguments[1])) == sys.argv[1]:
        os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(end_when_renamed)
from doccluster.cli.main import main
main(sys.argv[2:])
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no kill -9")
@pytest.mark.parametrize("verb", COMMANDS)
def test_a_killed_command_leaves_nothing_half_and_the_next_one_clears_what_is_hidden(
    doccluster, copies, verb, tmp_path
):
    name = "out" if verb == "run" else "made.jsonl"
    whole, place = tmp_path / "whole", tmp_path / "killed"
    whole.mkdir()
    place.mkdir()
    killed = copies.run(KILLED, name, *COMMANDS[verb], place / name)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    (hidden,) = place.iterdir()
    assert hidden.name.startswith(f".{name}.")
    for folder in (whole, place):
        assert doccluster(*COMMANDS[verb], folder / name).code == 0
    assert contents(place / name) == contents(whole / name)
    assert {path.name for path in place.iterdir()} == {path.name for path in whole.iterdir()}


def contents(path):
    """The names of what a folder or file is made of, and the bytes that are the same in every run."""
    if path.is_file():
        return {path.name: path.read_bytes()}
    files = sorted(each for each in path.rglob("*") if each.is_file())
    return {str(each.relative_to(path)): each.read_bytes() if each.suffix == ".csv" else b"" for each in files}
