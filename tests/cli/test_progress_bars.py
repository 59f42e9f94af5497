"""Progress: each stage has its own time, what is finished stands still, and other lines go above the bars."""

from __future__ import annotations

import io
import re
import sys

import pytest
from rich.console import Console

from doccluster.cli.output import write_error
from doccluster.cli.progress_bars import StageBars, stage_bars


class Clock:
    """A time that is set by hand."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def stages(clock):
    console = Console(file=io.StringIO(), width=90, force_terminal=True, color_system=None, record=True)
    return StageBars(console, get_time=clock)


def lines_of(stages):
    """Return the lines as they are drawn now: the name of a stage, and its line."""
    stages.bars.console.print(stages.bars.get_renderable())
    drawn = stages.bars.console.export_text().splitlines()
    return {re.search(r"[a-z]+", line)[0]: line for line in drawn if line.strip()}


def times_of(stages):
    return {name: line.split()[-1] for name, line in lines_of(stages).items()}


def test_a_stage_keeps_its_time_when_later_stages_begin(stages, clock):
    for name, at in (("read", 0), ("vectorize", 28), ("cluster", 73), ("judge", 263)):
        clock.now = at
        stages.tell(name, 0)
    clock.now = 300
    assert times_of(stages) == {"read": "0:28", "vectorize": "0:45", "cluster": "3:10", "judge": "0:37"}


def test_a_stage_that_is_heard_of_again_goes_on_from_its_time(stages, clock):
    for name, at in (("cluster", 0), ("sweep", 10), ("cluster", 40), ("judge", 45)):
        clock.now = at
        stages.tell(name, 0)
    assert times_of(stages) == {"cluster": "0:15", "sweep": "0:30", "judge": "0:00"}


def test_what_is_finished_stands_still(stages, clock):
    stages.tell("read", 0)
    stages.tell("cluster", 3)
    before = lines_of(stages)
    clock.now = 0.37
    after = lines_of(stages)
    assert before["read"] == after["read"]
    assert before["cluster"] != after["cluster"], "the stage that works moves: nothing is told by a line that cannot"


def test_a_stage_without_a_total_is_finished_when_the_next_begins(stages):
    stages.tell("read", 0)
    stages.tell("cluster", 0)
    by_name = {task.description: task for task in stages.bars.tasks}
    assert by_name["read"].finished
    assert not by_name["cluster"].finished


class Terminal(io.StringIO):
    """Standard error that says it is a terminal."""

    encoding = "utf-8"

    def isatty(self):
        return True


def test_a_line_written_meanwhile_stands_whole_above_the_bars(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with stage_bars() as stages:
        stages.tell("read", 1, 2)
        stages.bars.refresh()
        write_error("about 3 s for 9 numbers of clusters")
    assert "\n" in terminal.getvalue()
    wiped = terminal.getvalue().replace("\r\x1b[2K", "\n")  # a line that is drawn over
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "", wiped).splitlines()
    assert "about 3 s for 9 numbers of clusters" in [line.strip() for line in shown], shown
