"""Small files that unpack to heaps of memory, or never come to an end, are refused with the option that allows more."""

from __future__ import annotations

import json
import pathlib
import shlex
import subprocess
import sys

import pytest

from tests.corpus.costly_files import EMBEDDINGS, FILES, VIEWS

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MAX_BYTES = 110_000  # of each of the files


def run(*arguments):
    """Run the module below a shell: a process begins with the peak of the one that starts it, and pytest's is large."""
    command = shlex.join([sys.executable, "-m", "tests.corpus.costly_files", *map(str, arguments)]) + "; exit $?"
    return subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True, shell=True).stdout


@pytest.fixture(scope="module")
def reading(tmp_path_factory):
    """What reading the files said, and the peaks of memory of the two processes."""
    for package in ("pyarrow", "pypdfium2"):
        pytest.importorskip(package)
    folder = tmp_path_factory.mktemp("costly")
    run("make", folder)
    assert max(path.stat().st_size for path in folder.iterdir()) < MAX_BYTES
    return json.loads(run("read", folder))


@pytest.mark.parametrize("name", [*FILES, *EMBEDDINGS, *VIEWS])
def test_a_file_that_needs_too_much_is_refused_with_the_option_that_allows_more(reading, name):
    if name == "chapter.epub":  # the chapter is read once
        assert reading["said"][name] == []
        return
    (said,) = reading["said"][name]
    if name in FILES:
        assert said.startswith("too-costly: it ")
        assert said.endswith("--max-expanded-size 8G allows twice as much")
    else:
        assert said.endswith("max_expanded_size='8G'.")
        assert ("news.db" if name in VIEWS else name) in said


def test_the_memory_that_such_files_take_is_bounded(reading):
    here, apart = reading["peaks"]
    assert max(here, apart) < 2**29  # of which the libraries take most
