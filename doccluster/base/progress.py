"""How long work reports its progress, how long its stages take, and when this process compiles.

Kernels are compiled when they are first called on a machine, and numba announces each compilation.
"""

from __future__ import annotations

import gc
import operator
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, Protocol, TypeVar

from doccluster.errors import DocclusterWarning, InputError

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "nltk", "pandas")
STARTING, COMPILING = "start", "compile"

Item = TypeVar("Item")


class Progress(Protocol):
    """Called with the name of the stage, the work done so far and the total (None when it is not known)."""

    def __call__(self, stage: str, n_done: int, total: int | None = None) -> None: ...


def silent(stage: str, n_done: int, total: int | None = None) -> None:
    """Do nothing; the default everywhere."""


def told(stage: str, n_done: int, total: int | None = None) -> None:
    """Print when a stage begins and ends, on standard error: what ``progress=True`` stands for."""
    if n_done in (0, total):
        sys.stderr.write(f"{stage} {n_done:,} of {total:,}\n" if total else f"{stage}\n")


def checked_progress(progress: Any) -> Progress:
    """Return the function that progress means: `told` for True, `silent` for False or None, else itself."""
    called: Progress = told if progress is True else progress or silent
    if not callable(called):
        expected = "True, or a function of the stage, the work done and the total"
        raise InputError("is not known", argument="progress", received=progress, expected=expected)
    return called


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
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
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
            yield lambda _: None  # the loop is inside another, or without an observer
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


LOOPS = LoopClock()


class StageClock:
    """A clock with named stages that also reports progress.

    The time in which code is compiled, once on a machine, counts for no stage; it is a timing of its own. So is what
    passed since the program `began` (its imports, above all), where that is given. `tell` gets the name and the
    seconds of each stage when it is over.
    """

    def __init__(
        self, progress: Progress, *, began: float | None = None, tell: Callable[[str, float], object] | None = None
    ) -> None:
        self.progress, self._tell = progress, tell
        self.started = datetime.now(UTC).isoformat(timespec="seconds")
        self.timings: dict[str, float] = {}
        if began is not None:
            self.timings[STARTING] = round(time.perf_counter() - began, 6)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time what is done inside, under this name."""
        self.progress(name, 0)
        before, compiled = time.perf_counter(), CLOCK.seconds
        try:
            yield
        finally:
            compiling = CLOCK.seconds - compiled
            self.timings[name] = round(max(0.0, time.perf_counter() - before - compiling), 6)
            if compiling:
                self.timings[COMPILING] = round(self.timings.get(COMPILING, 0.0) + compiling, 6)
        if self._tell is not None:  # not of a stage that failed
            self._tell(name, self.timings[name])


def versions(package_version: str) -> dict[str, str]:
    """Return the versions the numbers of a run depend on."""
    import platform  # these take longer to load than a command takes to begin
    from importlib import metadata

    numbers = {"doccluster": package_version, "python": platform.python_version(), "platform": platform.platform()}
    return numbers | {name: metadata.version(name) for name in PACKAGES}


def peak_memory() -> int | None:
    """Return the most memory this process has held, in bytes; None where the system does not tell."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak if sys.platform == "darwin" else peak * 1024)
