"""Progress on a terminal: one line with the stages so far, how long each took, and how far the one at work is."""

from __future__ import annotations

import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from doccluster.base.text_table import shortened
from doccluster.cli.output import ABOVE, is_unicode

TELLING_SECONDS = 3.0  # from which on the speed of a stage says how long the rest takes
SECONDS_BETWEEN_DRAWINGS = 0.2
WIPE = "\r\x1b[2K"


class StageLine:
    """The line; of its stages one works at a time, the one last heard of, and time passes for no other."""

    def __init__(self, stream: TextIO, get_time: Callable[[], float] = time.monotonic) -> None:
        self._stream, self._get_time, self._lock = stream, get_time, threading.RLock()
        self._spent: dict[str, float] = {}  # of each stage, until it was last heard of
        self._working, self._since = "", get_time()
        self._done: tuple[int, int | None] = 0, None

    def tell(self, stage: str, done: int, total: int | None = None) -> None:
        """Note how far a stage is; any thread may call this."""
        with self._lock:
            is_new = stage != self._working
            if is_new:
                now = self._get_time()
                if self._working:
                    self._spent[self._working] += now - self._since
                self._spent.setdefault(stage, 0.0)
                self._working, self._since = stage, now
            self._done = done, total
            if is_new:  # however short it is
                self.draw()

    @property
    def text(self) -> str:
        """What the line says now."""
        with self._lock:
            if not self._working:
                return ""
            over = [f"{name} {_minutes(spent)}" for name, spent in self._spent.items() if name != self._working]
            spent = self._spent[self._working] + self._get_time() - self._since
            done, total = self._done
        told = f"{self._working} {_minutes(spent)}"
        told += f"  {done:,}" if done else ""
        told += f" of {total:,}" if total and done else ""
        if total and 0 < done < total and spent >= TELLING_SECONDS:
            told += f", {done / spent:,.0f}/s, {_minutes(spent * (total - done) / done)} left"
        return "  ".join([told, *reversed(over)])

    def draw(self) -> None:
        """Draw the line over what was drawn before."""
        width = shutil.get_terminal_size().columns - 1
        with self._lock:
            self._stream.write(WIPE + shortened(self.text, width, "…" if is_unicode(self._stream) else "..."))
            self._stream.flush()

    def wipe(self) -> None:
        """Leave room for another line; this one is drawn again below it."""
        with self._lock:
            self._stream.write(WIPE)


def _minutes(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


@contextmanager
def stage_line() -> Iterator[StageLine]:
    """Yield a line that is drawn on standard error, and wiped away at the end."""
    line, is_over = StageLine(sys.stderr), threading.Event()

    def draw() -> None:
        while not is_over.wait(SECONDS_BETWEEN_DRAWINGS):
            line.draw()

    drawing = threading.Thread(target=draw, daemon=True)
    ABOVE.append(line.wipe)
    drawing.start()
    try:
        yield line
    finally:
        is_over.set()
        drawing.join()
        ABOVE.remove(line.wipe)
        line.wipe()
