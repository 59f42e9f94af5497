"""Work on what a stranger made, in a process of its own with limits of memory and processor time.

What harms that process harms nothing else. It is asked for work by the name of a function of this package, and answers
in pieces: each a JSON value and perhaps bytes. The limit of time is for one piece.
"""

from __future__ import annotations

import json
import os
import signal
import struct
import subprocess
import sys
import threading
import weakref
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from typing import IO, Any

from doccluster.errors import Argument, DocclusterError

Piece = tuple[Any, bytes]

LIBRARIES = 256 * 2**20  # bytes that Python and what is imported take
USUAL_EXPANSION = 4 * 2**30  # bytes: the default of `max_expanded_size`
PATIENCE = 300.0  # seconds on the clock, and five for each that it may work: for a process that never answers
PIECES_OF_WORK = 1000  # of one process: what libraries keep of each would add up
_LENGTHS = struct.Struct(">QQ")  # of the JSON value and the bytes of a message


class WorkFailure(Exception):
    """The work cannot be done; the message says why, after "it"."""


class TooCostly(WorkFailure):
    """The work needs more than it may take."""


@dataclass(frozen=True)
class Allowance:
    """The memory, time and number of items that reading one file, feed, table or batch of texts may use."""

    memory: int = 256 * 2**20  # bytes
    seconds: float = 20.0  # of processor time
    n_items: int = 100_000

    @classmethod
    def within(cls, expanded_size: int) -> Allowance:
        """Return an allowance that grows with the size to which archives may expand, above 4 GiB."""
        usual, factor = cls(), max(1.0, expanded_size / USUAL_EXPANSION)
        return cls(int(factor * usual.memory), factor * usual.seconds, int(factor * usual.n_items))


class LimitedProcess:
    """A process that does one piece of work after the other; a new one is started where it was ended."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._n_begun = 0

    @property
    def is_running(self) -> bool:
        """Whether it has begun, and was not ended."""
        return self._process is not None

    def pieces(
        self, function: str, arguments: object, body: bytes = b"", *, allowance: Allowance | None = None
    ) -> Iterator[Piece]:
        """Yield the results of ``module:function(arguments, body)`` in the process.

        Raises TooCostly beyond the allowance, WorkFailure if the process ends or an error is raised in it; an error of
        this package is raised as it is.
        """
        allowance = allowance or Allowance()
        if self._n_begun >= PIECES_OF_WORK:
            self.end()
        process = self._process or self._start()
        self._n_begun += 1
        assert process.stdin is not None
        task = {"function": function, "arguments": arguments, "memory": allowance.memory, "seconds": allowance.seconds}
        is_done = False
        try:
            with suppress(OSError):  # the process has ended, and says nothing
                _send(process.stdin, task, body)
            while "answer" in (answer := self._answer(process, allowance))[0]:
                yield answer[0]["answer"], answer[1]
            is_done = "memory" not in answer[0]  # after any other error the process can go on
            _raise_told(answer[0], allowance)
        finally:
            if not is_done:
                self.end()

    def end(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process, self._n_begun = None, 0
            self._kill()

    def _start(self) -> subprocess.Popen[bytes]:
        code = f"import sys; sys.path[:] = {sys.path!r}; from doccluster.base.limited_process import serve; serve()"
        self._process = subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "ARROW_DEFAULT_MEMORY_POOL": "system"},  # the others ask for a gigabyte at once
        )
        self._kill = weakref.finalize(self, _kill, self._process)  # also when Python ends
        return self._process

    def _answer(self, process: subprocess.Popen[bytes], allowance: Allowance) -> Piece:
        impatience = threading.Timer(PATIENCE + 5 * allowance.seconds, process.kill)
        impatience.daemon = True
        impatience.start()
        try:
            answer = _receive(process.stdout)
        finally:
            impatience.cancel()
        if answer is not None:
            return answer
        if process.wait() == -getattr(signal, "SIGPROF", 0):
            raise TooCostly(f"needs more than {allowance.seconds:g} s of processor time")
        raise WorkFailure(f"ends the process that reads it: it is damaged, or needs more than {_size(allowance)}")


def doubled(expanded_size: int) -> str:
    """Return the `max_expanded_size` that allows twice as much.

    >>> doubled(2**30), doubled(12 * 2**30)
    ('8G', '24G')
    """
    return f"{2 * max(expanded_size, USUAL_EXPANSION) / 2**30:g}G"


_idle: list[LimitedProcess] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.clear)  # they answer one process alone


def pieces_of_work(
    function: str,
    arguments: object,
    body: bytes = b"",
    *,
    allowance: Allowance | None = None,
    idle: list[LimitedProcess] | None = None,
) -> Iterator[Piece]:
    """Yield the results of a function that runs in an idle process, or in a new one; see `LimitedProcess.pieces`."""
    idle = _idle if idle is None else idle
    process = idle.pop() if idle else LimitedProcess()
    try:
        yield from process.pieces(function, arguments, body, allowance=allowance)
    finally:
        if process.is_running:
            idle.append(process)


def _kill(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.communicate()


def _size(allowance: Allowance) -> str:
    return f"{allowance.memory / 2**20:,.0f} MiB of memory"


def _raise_told(report: dict[str, Any], allowance: Allowance) -> None:
    """Raise the error that the process tells of, if any."""
    if "memory" in report:
        raise TooCostly(f"needs more than {_size(allowance)}")
    if "cost" in report:
        raise TooCostly(report["cost"])
    if "failure" in report:
        raise WorkFailure(report["failure"])
    if "error" in report:
        kind = getattr(import_module(report["module"]), report["error"])
        raise kind(tuple(word if isinstance(word, str) else Argument(*word) for word in report["words"]))


def _send(stream: IO[bytes], value: object, body: bytes = b"") -> None:
    text = json.dumps(value, default=str).encode("ascii")
    stream.write(_LENGTHS.pack(len(text), len(body)) + text)
    stream.write(body)
    stream.flush()


def _receive(stream: Any) -> Piece | None:
    """Return a message; None where the other side has ended."""
    lengths = stream.read(_LENGTHS.size)
    if len(lengths) < _LENGTHS.size:
        return None
    n_text, n_bytes = _LENGTHS.unpack(lengths)
    text, body = stream.read(n_text), stream.read(n_bytes)
    return (json.loads(text), body) if len(text) + len(body) == n_text + n_bytes else None


def serve() -> None:
    """Run the tasks that arrive on standard input until it ends: the main function of the process."""
    target = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints is no answer
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who started it ends it
    while (request := _receive(sys.stdin.buffer)) is not None:
        _send(target, _done(target, *request))


def _done(target: IO[bytes], task: dict[str, Any], body: bytes) -> dict[str, object]:
    """Do a piece of work, and return how it ended."""
    module, _, name = task["function"].partition(":")
    try:
        function = getattr(import_module(module), name)
        _limit_memory(LIBRARIES + task["memory"] + len(body))
        pieces = iter(function(task["arguments"], body))
        while True:
            _limit_time(task["seconds"])
            piece = next(pieces, None)
            _limit_time(0)
            if piece is None:
                return {}
            _send(target, {"answer": piece[0]}, piece[1])
    except MemoryError:
        return {"memory": True}
    except TooCostly as error:
        return {"cost": str(error)}
    except DocclusterError as error:
        words = [
            word if isinstance(word, str) else [word.name, *([word.value] if word.has_value else [])]
            for word in error.words
        ]
        return {"module": type(error).__module__, "error": type(error).__name__, "words": words}
    except BaseException as error:  # noqa: BLE001  no list of what libraries raise is complete; a panic is no Exception
        message = " ".join(str(error).split())
        return {"failure": f"cannot be read ({message[:200] or type(error).__name__})"}
    finally:
        _limit_time(0)


def _limit_memory(n_bytes: int) -> None:
    try:
        import resource
    except ImportError:  # Windows has no such limits
        return
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_DATA, (n_bytes, resource.getrlimit(resource.RLIMIT_DATA)[1]))


def _limit_time(seconds: float) -> None:
    """Let the system end this process after this much processor time; 0 for never."""
    if hasattr(signal, "setitimer"):  # Windows has no such timers: there the patience of who asks is the limit
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, seconds)
