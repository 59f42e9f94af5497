"""How long work reports its progress, and when this process compiles, so that compiling is not taken for the work.

Kernels are compiled when they are first called on a machine, and numba announces each compilation.
"""

from __future__ import annotations

import gc
import operator
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Protocol, TypeVar

from doccluster.errors import DocclusterWarning

Item = TypeVar("Item")


class Progress(Protocol):
    """Called with the name of the stage, the work done so far and the total (None when it is not known)."""

    def __call__(self, stage: str, n_done: int, total: int | None = None) -> None: ...


def silent(stage: str, n_done: int, total: int | None = None) -> None:
    """Do nothing; the default everywhere."""


NOT_KEPT = (
    "compiled code cannot be kept, since no folder for it can be written or is safe from others; "
    "set NUMBA_CACHE_DIR to a folder of your own, else each run compiles again."
)


class CompileClock:
    """Counts what is compiled and the seconds spent; functions compiled within others belong to these.

    `observers`: called with the number compiled so far and True when a compilation begins, False when it ends.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self.count = 0
        self.observers: list[Callable[[int, bool], None]] = []
        self._depth = threading.local()
        self.has_warned = False

    @contextmanager
    def compiling(self) -> Iterator[None]:
        """Count what happens inside as one compilation."""
        self.begin()
        try:
            yield
        finally:
            self.end()

    def begin(self) -> None:
        """Note that a compilation begins in this thread."""
        self._depth.value = getattr(self._depth, "value", 0) + 1
        if self._depth.value == 1:
            self._depth.since = time.perf_counter()
            self._tell(is_running=True)

    def end(self) -> None:
        """Note that it has ended."""
        self._depth.value -= 1
        if self._depth.value == 0:
            self.seconds += time.perf_counter() - self._depth.since
            self.count += 1
            self._tell(is_running=False)

    def warn_not_kept(self) -> None:
        """Warn, once in a process, that the code is compiled for this process alone."""
        if not self.has_warned:
            self.has_warned = True
            warnings.warn(NOT_KEPT, DocclusterWarning, stacklevel=2)

    def _tell(self, *, is_running: bool) -> None:
        for observe in list(self.observers):
            observe(self.count, is_running)


@contextmanager
def collector_paused() -> Iterator[None]:
    """Let no search for cyclic garbage begin while compiling, which makes a million objects that mostly stay.

    The searches would go through all of them again and again, for a tenth of the time.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


CLOCK = CompileClock()


class LoopClock:
    """Counts the items of the loops inside a stage, so that a stage without a total can say what is left of its loop.

    `observers`: called with the items done and how many there are, each time another is done. Only the outermost loop
    counts: what works inside it, in this thread or others, is part of its items.
    """

    def __init__(self) -> None:
        self.observers: list[Callable[[int, int], None]] = []
        self._outermost = threading.Lock()

    @contextmanager
    def counting(self, total: int) -> Iterator[Callable[[int], None]]:
        """Yield what any thread calls with the number of items that it has done."""
        if total < 2 or not self.observers or not self._outermost.acquire(blocking=False):
            yield _count_nothing
            return
        n_done, one_at_a_time = 0, threading.Lock()

        def count(n_more: int) -> None:
            nonlocal n_done
            with one_at_a_time:
                n_done += n_more
                for observe in list(self.observers):
                    observe(n_done, total)

        try:
            count(0)
            yield count
        finally:
            self._outermost.release()
            for observe in list(self.observers):
                observe(total, total)

    def over(self, items: Iterable[Item], total: int | None = None) -> Iterator[Item]:
        """Yield the items, and count each one when the next is asked for."""
        with self.counting(operator.length_hint(items) if total is None else total) as count:
            for item in items:
                yield item
                count(1)


def _count_nothing(_: int) -> None:
    """Count no item: the loop is inside another, or without an observer."""


LOOPS = LoopClock()
