"""Running the command line in the same process, and the samples it is run on."""

from __future__ import annotations

import pathlib
from dataclasses import dataclass

import pytest

from doccluster.cli.main import main

ROOT = pathlib.Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Outcome:
    """What a command came to."""

    code: int
    out: str
    err: str


@pytest.fixture
def doccluster(capsys):
    """A function that runs the command line on its arguments and returns the exit code, and what was printed."""

    def call(*arguments):
        capsys.readouterr()
        with pytest.raises(SystemExit) as stopped:
            main([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        code = stopped.value.code
        return Outcome(0 if code is None else code, printed.out, printed.err)

    return call


@pytest.fixture(scope="session")
def tiny():
    """Nine texts in three folders."""
    return ROOT / "corpora" / "samples" / "tiny"


@pytest.fixture(scope="session")
def newsroom():
    """The newsroom sample as JSON lines."""
    return ROOT / "corpora" / "samples" / "newsroom" / "articles.jsonl"


@pytest.fixture(scope="session")
def finished(tmp_path_factory, tiny):
    """The folder of a finished run on the nine texts; tests must not change it."""
    folder = tmp_path_factory.mktemp("finished") / "run"
    chosen = ["-k", "3", "--truth", "class", "--language", "english", "--stemming", "none"]
    with pytest.raises(SystemExit) as stopped:
        main(["run", str(tiny), "-o", str(folder), *chosen])
    assert stopped.value.code == 0
    return folder
