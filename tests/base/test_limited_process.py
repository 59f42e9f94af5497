"""Work in a process with limits: what ends it, what it raises, and that nothing of it stays."""

from __future__ import annotations

import os
import signal
import time

import numpy as np
import pytest

from doccluster.base.limited_process import Allowance, LimitedProcess, TooCostly, WorkFailure
from doccluster.corpus.reader import UnknownColumn
from doccluster.errors import Argument, InputError

HERE = "tests.base.test_limited_process"
LITTLE = Allowance(memory=2**26, seconds=0.5)


def squares(numbers, body):
    for number in numbers:
        yield number**2, body * number


def much_memory(n_bytes, _):
    yield len(np.ones(n_bytes, dtype=np.uint8)), b""


def no_end(_, __):
    while True:
        pass
    yield


def abort(_, __):
    os.abort()
    yield


def panic(_, __):
    raise BaseException("a panic is\nno Exception")
    yield


def refuse(_, __):
    print("not an answer", flush=True)  # noqa: T201
    raise UnknownColumn(
        "is not there", argument="text_column", received="body", remedy=("name ", Argument("delimiter"))
    )
    yield


@pytest.fixture
def process():
    process = LimitedProcess()
    yield process
    process.end()


def test_pieces_come_with_their_bytes_and_the_process_is_used_again(process):
    assert list(process.pieces(f"{HERE}:squares", [1, 3], b"ab")) == [(1, b"ab"), (9, b"ababab")]
    first = process._process.pid
    assert list(process.pieces(f"{HERE}:squares", [2])) == [(4, b"")]
    assert process._process.pid == first


@pytest.mark.parametrize(
    ("function", "kind", "told"),
    [
        ("no_end", TooCostly, r"needs more than 0\.5 s of processor time"),
        ("abort", WorkFailure, "ends the process that reads it"),
        ("panic", WorkFailure, "a panic is no Exception"),
        ("missing", WorkFailure, "has no attribute"),
    ],
)
def test_what_goes_wrong_there_is_a_sentence_and_the_next_work_is_done(process, function, kind, told):
    with pytest.raises(kind, match=told):
        list(process.pieces(f"{HERE}:{function}", None, allowance=LITTLE))
    assert list(process.pieces(f"{HERE}:squares", [2])) == [(4, b"")]


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="Windows limits no memory")
def test_memory_is_limited_for_each_piece_of_work(process):
    with pytest.raises(TooCostly, match="needs more than 64 MiB of memory"):
        list(process.pieces(f"{HERE}:much_memory", 2**29, allowance=LITTLE))
    more = Allowance(memory=2**30)
    assert list(process.pieces(f"{HERE}:much_memory", 2**29, allowance=more)) == [(2**29, b"")]


def test_an_error_of_ours_is_raised_here_with_its_arguments(process):
    with pytest.raises(UnknownColumn, match=r"^text_column='body' is not there; name delimiter\.$") as caught:
        list(process.pieces(f"{HERE}:refuse", None))
    assert isinstance(caught.value, InputError)
    caught.value.spell(lambda argument: f"--{argument.name}")
    assert str(caught.value) == "--text_column is not there; name --delimiter."


def test_a_process_whose_answers_nobody_reads_on_is_ended(process):
    pieces = process.pieces(f"{HERE}:squares", [1, 2, 3])
    next(pieces)
    pieces.close()
    assert not process.is_running


def test_a_process_that_nobody_holds_any_more_is_ended():
    process = LimitedProcess()
    list(process.pieces(f"{HERE}:squares", [1]))
    started = process._process
    del process
    ends = time.monotonic() + 30
    while started.poll() is None and time.monotonic() < ends:
        time.sleep(0.01)
    assert started.poll() is not None
