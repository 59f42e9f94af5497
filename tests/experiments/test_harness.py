"""The benchmark harness: figures are kept at once, finished rows are not measured again, failures are said."""

from __future__ import annotations

import sys
import time

import pytest

from experiments.benchmarks import harness
from experiments.benchmarks.harness import Session, finished_rows, measure_process, read_results


@pytest.fixture
def session(tmp_path):
    said = []
    session = Session("a-row", tmp_path / "results" / "some.csv", say=said.append)
    session.said = said
    return session


def test_contenders_take_turns_and_ratios_are_of_medians(session):
    turns = []
    session.compare(
        {"ours": lambda: turns.append("ours"), "theirs": lambda: (turns.append("theirs"), time.sleep(0.02))}, repeats=3
    )
    assert turns == ["ours", "theirs"] * 3
    figures = {(line["contender"], line["figure"]): line for line in read_results(session.path)}
    ratio = float(figures["theirs", "seconds_times_ours"]["value"])
    assert ratio == pytest.approx(
        float(figures["theirs", "seconds"]["value"]) / float(figures["ours", "seconds"]["value"])
    )
    assert ratio > 1
    assert figures["theirs", "seconds"]["repeats"] == "3"


def test_a_row_is_finished_only_when_it_has_said_so(session):
    session.record("ours", "seconds", 1.5)
    assert finished_rows(session.path) == set()
    session.record("harness", "finished", 1.0)
    assert finished_rows(session.path) == {"a-row"}


def test_finished_rows_are_measured_again_only_when_asked(tmp_path, monkeypatch):
    runs = []
    monkeypatch.setattr(harness, "RESULTS", tmp_path)
    monkeypatch.setattr(harness, "ROWS", {})
    monkeypatch.setitem(sys.modules, "experiments.benchmarks.made_up", sys.modules[__name__])

    def run(session):
        runs.append(session.row)

    run.__module__ = "experiments.benchmarks.made_up"
    harness.row("once", "a row")(run)
    for again in (False, False, True):
        harness.run_rows("made_up", again=again, say=lambda _: None)
    assert runs == ["once", "once"]


def test_a_new_whole_run_of_a_row_takes_the_place_of_the_old_one(session):
    other = Session("another-row", session.path, say=lambda _: None)
    for run in (session, other, session):
        run.record("ours", "seconds", 1.0 + len(read_results(session.path)))
        run.record("harness", "finished", 1.0)
    session.record("ours", "seconds", 9.0)  # of a run that is under way
    harness.forget_earlier(session.path, "a-row")
    seconds = [
        (line["row"], float(line["value"])) for line in read_results(session.path) if line["figure"] == "seconds"
    ]
    assert seconds == [("another-row", 3.0), ("a-row", 5.0), ("a-row", 9.0)]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="peak memory is read from /proc")
def test_memory_is_measured_beyond_the_data_in_a_process_of_its_own():
    found = measure_process("tests.experiments.test_harness:hold", {"data": 60, "more": 30})
    assert found["answer"] == 7
    assert 28 * 2**20 < found["peak_bytes_beyond_data"] < 45 * 2**20
    assert found["peak_bytes"] > 90 * 2**20


def hold(data, more):
    """Hold `data` megabytes before the clock starts and `more` after."""
    kept = bytearray(b"\1" * (data * 2**20))
    harness.start_clock()
    further = bytearray(b"\1") * (more * 2**20)
    assert len(kept) > len(further)
    return {"answer": 7}


def test_a_function_that_fails_gives_its_error():
    found = measure_process("tests.experiments.test_harness:fail", {})
    assert found["error"] == "ValueError: no such luck"


def fail():
    """Raise an error."""
    raise ValueError("no such luck")


def test_processes_take_turns_and_one_that_fails_is_said_and_left_out(session, monkeypatch):
    turns = []

    def measured(function, arguments):
        turns.append(function)
        if function == "theirs" and len(turns) > 4:
            return {"error": "no memory left"}
        return {"seconds": float(len(turns)), "answer": arguments["data"]}

    monkeypatch.setattr(harness, "measure_process", measured)
    found = session.compare_memory({"we": "ours", "they": "theirs", "others": "other"}, repeats=3, data=5)
    assert turns == ["ours", "theirs", "other", "ours", "theirs", "other", "ours", "other"]
    assert found == {"we": {"seconds": 4.0, "answer": 5.0}, "others": {"seconds": 6.0, "answer": 5.0}}
    figures = {(line["contender"], line["figure"]): float(line["value"]) for line in read_results(session.path)}
    assert ("they", "failed: no memory left") in figures
    assert figures["others", "seconds_times_ours"] == 1.5
    assert any("no memory left" in line for line in session.said)
