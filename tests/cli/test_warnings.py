"""Warnings on the command line: from any thread, once for each sentence, in the words of the command."""

from __future__ import annotations

import json
import threading
import warnings

import click
import pytest

from doccluster.base.blocks import map_blocks
from doccluster.cli.console import progress_shown
from doccluster.cli.run import run_command
from doccluster.errors import Argument, DocclusterWarning

COPIED = ["oil prices rise in the north", "wheat harvest and rain", "the match was won late", "oil and gas pipeline"]


def write_copies(path):
    """Write many copies of few texts: most numbers of clusters cannot be filled."""
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in COPIED * 6), encoding="utf-8")
    return path


@pytest.mark.parametrize("n_threads", [1, 3])
def test_a_run_with_defaults_on_copies_ends_well_with_any_number_of_threads(doccluster, tmp_path, n_threads):
    source = write_copies(tmp_path / "copies.jsonl")
    done = doccluster("run", source, "-o", tmp_path / "out", "--threads", n_threads)
    assert done.code == 0, done.err
    assert (tmp_path / "out" / "report.html").is_file()


def test_choose_k_on_copies_prints_no_sentence_twice(doccluster, tmp_path):
    done = doccluster("choose-k", write_copies(tmp_path / "copies.jsonl"), "--threads", 3)
    assert done.code == 0, done.err
    lines = done.err.splitlines()
    assert len(lines) == len(set(lines)), done.err


def raise_warning(number):
    warnings.warn(DocclusterWarning(Argument("n_clusters", 9), " cannot be filled."), stacklevel=2)
    return threading.current_thread() is threading.main_thread()


def test_a_sentence_raised_in_many_threads_is_printed_once_with_its_count(capsys):
    with click.Context(run_command), progress_shown():
        in_main_thread = list(map_blocks(raise_warning, range(8), n_threads=4))
        warnings.warn("the file ends early", DocclusterWarning, stacklevel=1)
    assert not any(in_main_thread), "the test raises its warnings in worker threads"
    assert capsys.readouterr().err.splitlines() == [
        "warning: -k/--clusters 9 cannot be filled (8 times).",
        "warning: the file ends early",
    ]


def warn_and_fail():
    with click.Context(run_command), progress_shown():
        raise_warning(0)
        raise KeyError("work")


def test_warnings_are_printed_although_an_error_ends_the_work(capsys):
    with pytest.raises(KeyError):
        warn_and_fail()
    assert capsys.readouterr().err == "warning: -k/--clusters 9 cannot be filled.\n"
