"""Progress: each stage has its own time, one stage works at a time, and other lines go above the line."""

from __future__ import annotations

import io
import json
import re
import sys

import click
import pytest

from doccluster.base.blocks import map_blocks, share_blocks
from doccluster.base.progress import LOOPS
from doccluster.cli.console import StageLine, stage_line
from doccluster.cli.output import write_error
from tests.cli.test_options import verbs


class Clock:
    """A time that is set by hand."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


class Terminal(io.StringIO):
    """Standard error that says it is a terminal."""

    encoding = "utf-8"

    def isatty(self):
        return True


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def line(clock):
    return StageLine(Terminal(), get_time=clock)


def times_of(line):
    return dict(re.findall(r"([a-z]+) (\d+:\d\d)", line.text))


def test_a_stage_keeps_its_time_when_later_stages_begin(line, clock):
    for name, at in (("read", 0), ("vectorize", 28), ("cluster", 73), ("judge", 263)):
        clock.now = at
        line.tell(name, 0)
    clock.now = 300
    assert times_of(line) == {"read": "0:28", "vectorize": "0:45", "cluster": "3:10", "judge": "0:37"}
    assert line.text.startswith("judge")


def test_a_stage_that_is_heard_of_again_goes_on_from_its_time(line, clock):
    for name, at in (("cluster", 0), ("sweep", 10), ("cluster", 40), ("judge", 45)):
        clock.now = at
        line.tell(name, 0)
    assert times_of(line) == {"cluster": "0:15", "sweep": "0:30", "judge": "0:00"}


def test_what_is_left_is_told_where_the_total_is_known(line, clock):
    assert line.text == ""
    line.tell("read", 0)
    assert line.text == "read 0:00"
    line.tell("cluster", 3, 12)
    assert line.text == "cluster 0:00  3 of 12  read 0:00"
    clock.now = 30.0
    assert line.text == "cluster 0:30  3 of 12, 0/s, 1:30 left  read 0:00"


def test_the_line_is_cut_to_the_terminal(line, monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    line.tell("cluster", 1000, 2000)
    assert line._stream.getvalue() == "\r\x1b[2Kcluster 0:00  1,00…"


def test_a_line_written_meanwhile_stands_whole_above_it(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with stage_line() as line:
        line.tell("read", 1, 2)
        line.draw()
        write_error("about 3 s for 9 numbers of clusters")
        line.draw()
    written = terminal.getvalue()
    assert "\r\x1b[2Kabout 3 s for 9 numbers of clusters\n\r\x1b[2Kread" in written
    assert written.endswith("\r\x1b[2K")


def test_what_is_left_of_a_loop_is_told_in_a_stage_without_a_total(line, clock):
    line.tell("neighbours", 0)
    line.count(0, 8)
    clock.now = 1.0
    line.count(1, 8)
    assert line.text == "neighbours 0:01", "too soon to say"
    clock.now = 6.0
    line.count(2, 8)
    assert line.text == "neighbours 0:06  25 % of this pass, 0:18 left"
    line.tell("compiling for this machine, once", 0)
    assert "left" not in line.text
    line.tell("neighbours", 0)
    assert line.text.startswith("neighbours 0:06  25 % of this pass, 0:18 left")
    line.count(8, 8)
    assert "left" not in line.text
    line.count(0, 4)
    clock.now = 7.0
    line.count(1, 4)
    assert "left" not in line.text, "the next loop begins anew"
    line.tell("judge", 1, 4)
    clock.now = 11.0
    assert line.text.startswith("judge 0:04  1 of 4, 0/s, 0:12 left"), "of the stage, where that is known"


@pytest.fixture
def counts():
    told = []
    observer = lambda *numbers: told.append(numbers)  # noqa: E731
    LOOPS.observers.append(observer)
    yield told
    LOOPS.observers.remove(observer)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_loops_over_blocks_count_and_those_inside_them_do_not(counts, n_threads):
    blocks = list(range(6))

    def inner(block):
        return sum(share_blocks(abs, blocks, n_threads=1)) + sum(map_blocks(abs, blocks, n_threads=1)) + block

    expected = [30 + block for block in blocks]
    assert list(map_blocks(inner, blocks, n_threads=n_threads)) == expected
    assert counts == [*((n, 6) for n in range(7)), (6, 6)]
    counts.clear()
    assert share_blocks(inner, blocks, n_threads=n_threads) == expected
    assert sorted(counts) == [*((n, 6) for n in range(7)), (6, 6)]


def test_a_loop_that_fails_or_is_left_lets_the_next_one_count(counts):
    with pytest.raises(ZeroDivisionError):
        share_blocks(lambda block: 1 / block, [1, 0, 2], n_threads=1)
    next(map_blocks(abs, [1, 2, 3], n_threads=1)), list(LOOPS.over([7]))
    counts.clear()
    assert list(LOOPS.over(iter("ab"), 2)) == ["a", "b"]
    assert counts == [(0, 2), (1, 2), (2, 2), (2, 2)]


@pytest.fixture
def on_terminal(doccluster, monkeypatch):
    """Standard error says that it is a terminal."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)


def run_of(tiny, tmp_path, *more):
    return ("run", tiny, "-k", "3", "-o", tmp_path / "out", "--overwrite", *more)


def test_on_a_terminal_a_run_draws_its_stages_and_a_pipe_gets_none(doccluster, tiny, tmp_path, monkeypatch):
    assert doccluster(*run_of(tiny, tmp_path)).err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    drawn = doccluster(*run_of(tiny, tmp_path)).err
    assert all(
        f"\x1b[2K{stage} 0:0" in drawn
        for stage in ("read", "vectorize", "cluster", "label", "judge", "write", "report")
    )


@pytest.mark.usefixtures("on_terminal")
def test_quiet_draws_nothing_before_and_after_the_verb(doccluster, tiny, tmp_path):
    for command in (("--quiet", *run_of(tiny, tmp_path)), run_of(tiny, tmp_path, "-q")):
        done = doccluster(*command)
        assert (done.code, done.err) == (0, "")
        assert "3 clusters" in done.out


def test_quiet_keeps_errors_and_warnings_and_leaves_out_notes(doccluster, finished, tiny, tmp_path):
    assert "nothing new" in doccluster("assign", finished, tiny).err
    assert doccluster("assign", finished, tiny, "--quiet").err == ""
    assert "nowhere" in doccluster("run", "nowhere", "-o", tmp_path / "out", "-q").err
    assert (
        "warning: fewer distinct rows"
        in doccluster("cluster", copies(tmp_path), "-k", "2", "-o", tmp_path / "c", "-q").err
    )


def copies(folder):
    """A matrix of rows that are all alike."""
    path = folder / "copies.mtx"
    rows = "".join(f"{row} 1 1\n" for row in range(1, 6))
    path.write_text(f"%%MatrixMarket matrix coordinate real general\n5 2 5\n{rows}", encoding="utf-8")
    return path


def times_told(err):
    return {name: float(seconds) for name, seconds in re.findall(r"(?m)^  ([a-z ]+?) +([0-9.]+)$", err)}


@pytest.mark.parametrize("before", [True, False])
def test_timings_are_one_table_whose_stages_add_up(doccluster, tiny, tmp_path, before):
    done = (
        doccluster("--timings", *run_of(tiny, tmp_path)) if before else doccluster(*run_of(tiny, tmp_path, "--timings"))
    )
    times = times_told(done.err)
    assert list(times)[:2] == ["read", "vectorize"]
    assert list(times)[-3:] == ["report", "start and end", "total"]
    total = times.pop("total")
    assert sum(times.values()) == pytest.approx(total, abs=0.05 * (len(times) + 1)), "but for rounding"
    assert "total" not in done.out


def test_timings_go_with_json_and_with_verbs_without_stages(doccluster, tiny):
    done = doccluster("inspect", tiny, "--json", "--timings")
    assert json.loads(done.out)["n_documents"] == 9
    assert list(times_told(done.err)) == ["read", "describe", "start and end", "total"]
    assert list(times_told(doccluster("algorithms", "--timings").err)) == ["start and end", "total"]


def test_every_verb_takes_both():
    for name, command in verbs():
        told = command.get_help(click.Context(command))
        assert "-q, --quiet" in told, name
        assert "--timings" in told, name
