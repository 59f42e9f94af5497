"""Calls in a process of its own, each of which may take the processor only so long."""

from __future__ import annotations

import multiprocessing
import os
import resource
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


class BoundedCalls:
    """A process that answers one call after the other, and is started anew after a call that took too long.

    It has one thread, so that the time of the processor is that of the work and not of threads that wait.

    Parameters
    ----------
    function : callable
        Of a module, so that the other process finds it.
    seconds : int
        Of the processor, for each call.
    """

    def __init__(self, function: Callable[..., Any], *, seconds: int) -> None:
        self.function, self.seconds = function, seconds
        self._process: Any = None
        self._line: Connection | None = None

    def __call__(self, **arguments: Any) -> Any:
        """Call the function; None where it took too long."""
        if self._line is None:
            self._start()
        assert self._line is not None
        self._line.send(arguments)
        try:
            return self._line.recv()
        except EOFError:  # the system ended it
            self._process.join()
            self._line = None
            if self._process.exitcode > 0:
                raise RuntimeError(f"the call {arguments} failed; its error stands above") from None
            return None

    def close(self) -> None:
        """End the process."""
        if self._line is not None:
            self._line.close()
            self._process.join()
            self._line = None

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._line, other = context.Pipe()
        self._process = context.Process(target=_answer, args=(self.function, other, self.seconds), daemon=True)
        before = {name: os.environ.get(name) for name in THREADS}
        os.environ.update(dict.fromkeys(THREADS, "1"))
        self._process.start()
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
        other.close()


def _answer(function: Callable[..., Any], line: Connection, seconds: int) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    while True:
        try:
            arguments = line.recv()
        except EOFError:
            return
        used = resource.getrusage(resource.RUSAGE_SELF)
        limit = int(used.ru_utime + used.ru_stime) + seconds + 1
        resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))  # the system ends it there
        line.send(function(**arguments))
