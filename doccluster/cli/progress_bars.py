"""Progress on a terminal: one line for each stage, with the time spent in it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, ProgressColumn, SpinnerColumn, TextColumn
from rich.progress import Progress as Bars
from rich.text import Text

from doccluster.cli.output import is_unicode

if TYPE_CHECKING:
    from rich.progress import GetTimeCallable, Task, TaskID

TELLING_SECONDS = 3.0  # from which on the speed of a stage says how long the rest takes


@dataclass
class Stage:
    """One line: how long it worked until it last paused, and since when it has worked again (None: it has not)."""

    task: TaskID
    spent: float
    since: float | None


class StageBars:
    """Lines for stages, of which one works at a time: the one last heard of.

    Another stage that is heard of pauses it for good, or until it is heard of again; time passes for no other.
    """

    def __init__(self, console: Console, get_time: GetTimeCallable | None = None) -> None:
        spinner = SpinnerColumn("dots" if is_unicode(sys.stderr) else "line", finished_text=" ")
        columns = (spinner, TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), _Spent(self))
        self.bars = Bars(*columns, console=console, transient=True, get_time=get_time)
        self._stages: dict[str, Stage] = {}
        self._working: str | None = None
        self._lock = threading.Lock()

    def tell(self, stage: str, done: int, total: int | None = None) -> None:
        """Show how far a stage is; any thread may call this."""
        with self._lock:
            if stage != self._working:
                self._pause()
                self._begin(stage)
            self.bars.update(self._stages[stage].task, completed=done, total=total)

    def seconds(self, task: TaskID) -> float:
        """Return how long the stage of a line has worked."""
        for one in self._stages.values():
            if one.task == task:
                return one.spent if one.since is None else one.spent + self.bars.get_time() - one.since
        return 0.0

    def _begin(self, stage: str) -> None:
        now = self.bars.get_time()
        if stage in self._stages:
            self._stages[stage].since = now
        else:
            self._stages[stage] = Stage(self.bars.add_task(stage, total=None), 0.0, now)
        self._working = stage

    def _pause(self) -> None:
        """Stop the clock of the stage that works, and show its line as finished: nothing turns or moves there."""
        if self._working is None:
            return
        paused = self._stages[self._working]
        if paused.since is not None:
            paused.spent, paused.since = paused.spent + self.bars.get_time() - paused.since, None
        done = next(task.completed for task in self.bars.tasks if task.id == paused.task)
        # rich takes a task for finished when it has come to its total, which must not be 0
        self.bars.update(paused.task, completed=max(done, 1), total=max(done, 1))


class _Spent(ProgressColumn):
    """Minutes and seconds spent in a stage; where its end is known, the number done in a second, and the time left."""

    def __init__(self, stages: StageBars) -> None:
        super().__init__()
        self.stages = stages

    def render(self, task: Task) -> Text:
        spent, done = self.stages.seconds(task.id), task.completed
        told = _minutes(spent)
        if task.total is not None and 0 < done < task.total and spent >= TELLING_SECONDS:
            told += f"  {done / spent:,.0f}/s, {_minutes(spent * (task.total - done) / done)} left"
        return Text(told, style="progress.elapsed")


def _minutes(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


@contextmanager
def stage_bars() -> Iterator[StageBars]:
    """Yield lines that are drawn on standard error, and wiped away at the end."""
    stages = StageBars(Console(file=sys.stderr))
    with stages.bars:
        yield stages
