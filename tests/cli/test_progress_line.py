"""Progress: each stage has its own time, one stage works at a time, and other lines go above the line."""

from __future__ import annotations

import io
import re
import sys

import pytest

from doccluster.cli._console import StageLine, stage_line
from doccluster.cli._output import write_error


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
