"""The engine itself: it repeats, it notices what it is to notice, and it makes failing inputs small."""

from __future__ import annotations

import contextlib
import os
import random
import socket
import tempfile
import time
from pathlib import Path

import pytest

from doccluster.errors import InputError
from tests.fuzz.campaign import Failure, Target, campaign, input_of, judge, smallest
from tests.fuzz.mutate import LONGEST, mutated, shrunk
from tests.fuzz.watch import Hang, Misdeed, watched
from tests.fuzz.workers import fuzz


def target_that(read, samples=(b"good input 12",)):
    return Target("made", lambda: samples, read)


def test_the_same_seed_gives_the_same_inputs_and_another_seed_others():
    samples = [b"<a>one</a> 17", b"<b>two</b>"]
    first = [mutated(samples, random.Random(number), tokens=(b"<c>",)) for number in range(300)]
    assert first == [mutated(samples, random.Random(number), tokens=(b"<c>",)) for number in range(300)]
    assert len(set(first)) > 200
    assert max(map(len, first)) <= LONGEST


def test_every_round_can_be_repeated_alone():
    target = target_that(lambda data: str(len(data)))
    whole = dict(campaign(target, seed=3, rounds=range(20)))
    assert dict(campaign(target, seed=3, rounds=range(7, 8))) == {7: whole[7]}


def test_an_error_of_ours_is_a_sentence_and_any_other_a_failure():
    def refuse(data):
        raise InputError("this cannot be read; give another file.")

    def break_down(data):
        raise KeyError("x")

    assert judge(target_that(refuse), b"") == "refused"
    found = judge(target_that(break_down), b"")
    assert isinstance(found, Failure)
    assert found.kind.startswith("KeyError in break_down")


@pytest.mark.parametrize("message", ["", "two\nlines"])  # a long one is cut before anyone reads it
def test_a_message_that_is_no_sentence_is_a_failure(message):
    def refuse(data):
        raise InputError(message)

    assert isinstance(judge(target_that(refuse), b""), Failure)


def test_work_without_end_is_noticed_even_where_everything_is_caught():
    def hang():
        while True:
            with contextlib.suppress(Exception):
                sum(range(1000))

    with pytest.raises(Hang), watched(cpu=0.2):
        hang()


def test_waiting_without_end_is_noticed():
    with pytest.raises(Hang), watched(wall=0.2):
        time.sleep(60)


def test_a_network_and_files_elsewhere_are_noticed(tmp_path):
    elsewhere = Path(tmp_path.anchor) / "a-file-of-the-user"  # a home may lie among temporary files
    with pytest.raises(Misdeed, match="socket"), watched():
        socket.create_connection(("127.0.0.1", 9))
    with pytest.raises(Misdeed, match="to write"), watched():
        elsewhere.open("w")
    assert not elsewhere.exists()
    with watched(), tempfile.TemporaryFile("w") as file:
        file.write("allowed")


def die_at_times(data):
    if len(data) > len(b"good input 12"):
        os._exit(7)
    return "read"


TARGETS = {"deadly": target_that(die_at_times)}


def test_a_worker_that_dies_is_a_failure_of_its_round_and_the_others_go_on():
    outcome = fuzz("deadly", seed=0, rounds=6, seconds=60, table="tests.fuzz.test_engine")
    inputs = [input_of(TARGETS["deadly"], TARGETS["deadly"].samples(), 0, number) for number in range(6)]
    too_long = [data for data in inputs if len(data) > len(b"good input 12")]
    assert outcome.results == {"read": 6 - len(too_long), "failed": len(too_long)}
    assert 0 < len(too_long) < 6
    assert outcome.failures["the process ended with 7"].data == too_long[0]


def test_failing_inputs_are_made_small():
    assert shrunk(b"a long text with a needle in it" * 5, lambda data: b"needle" in data) == b"needle"

    def read(data):
        if b"<" in data:
            raise KeyError("<")
        return "read"

    failure = judge(target_that(read), b"x" * 100 + b"<" + b"y" * 100)
    assert isinstance(failure, Failure)
    assert smallest(target_that(read), failure) == b"<"
