"""Worker processes beside a run, for what is Python by document, file or outlet and would keep one processor busy.

They are new interpreters, begin when they are needed and end with the run, or when their input closes. Tasks travel
through pipes as pickles, by joblib alone. What a worker cannot do the run does itself: no result depends on them.
"""

from __future__ import annotations

import io
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any, TypeVar, cast

import joblib
import numpy as np
import numpy.typing as npt

from doccluster.base.blocks import entry_blocks, library_threads, resolve_threads
from doccluster.base.limited_process import Allowance, LimitedProcess, Piece, WorkFailure
from doccluster.errors import Argument, DocclusterWarning

Result = TypeVar("Result")

MIN_DOCUMENTS = 5_000  # fewer are done before workers have begun
MAX_WORKERS = 7  # each takes about 100 MB and what it works on
UNBOUNDED = Allowance(memory=2**60, seconds=86_400.0)

LOST = (
    "a worker process could not start, or was ended (for want of memory, perhaps); the run goes on in one process "
    "and takes longer (to start no other, give "
)


class Workers:
    """Up to `n_workers` processes."""

    def __init__(self, n_workers: int) -> None:
        self.n_workers = n_workers
        self._processes: list[LimitedProcess] = []
        self._idle: list[LimitedProcess] = []
        self._threads = ThreadPoolExecutor(n_workers, "doccluster-worker") if n_workers else None

    def begin(self, function: Callable[..., object], arguments: Sequence[object]) -> Future[bytes] | None:
        """Hand a task to a worker, and return what its result is packed in; None where there is no worker."""
        if getattr(sys, "frozen", False) or not sys.executable:  # there is no interpreter to start
            self.lose()
        if self._threads is None:
            return None
        # packed and unpacked in the thread of the run: what other threads hold of memory is not given back
        return self._threads.submit(self._done, _packed((function, arguments)))

    def _done(self, task: bytes) -> bytes:
        """Return the packed result of a task that a worker does; called in a thread, which waits for it."""
        try:
            process = self._idle.pop()  # several threads may do so at once
        except IndexError:
            process = LimitedProcess()
            self._processes.append(process)
        ((_, result),) = process.pieces(f"{__name__}:do", None, task, allowance=UNBOUNDED)
        self._idle.append(process)
        return result

    def lose(self) -> None:
        """Go on without workers, and say so once."""
        if self.n_workers:
            self.end()
            warnings.warn(DocclusterWarning(LOST, Argument("n_threads", 1), ")."), stacklevel=2)

    def end(self) -> None:
        """End all workers, also those that are at work."""
        self.n_workers, threads, self._threads = 0, self._threads, None
        if threads is not None:
            threads.shutdown(wait=False, cancel_futures=True)
            for process in self._processes:
                process.end()
            threads.shutdown()


_NONE = Workers(0)
_current: ContextVar[Workers] = ContextVar("workers")


@contextmanager
def worker_processes(n_threads: int | None) -> Iterator[None]:
    """Let what is called here share its work among this process and workers, as many as there are other threads."""
    workers = Workers(min(resolve_threads(n_threads) - 1, MAX_WORKERS))
    token = _current.set(workers)
    try:
        yield
    finally:
        _current.reset(token)
        workers.end()


def begin(function: Callable[..., Result], *arguments: object, n_documents: int = sys.maxsize) -> Callable[[], Result]:
    """Begin ``function(*arguments)`` in a worker; return what waits for its result, or works it out without a worker.

    The function stands at the top of a module; its arguments and its result are arrays and plain values.
    """
    workers = _current.get(_NONE)
    future = workers.begin(function, arguments) if n_documents >= MIN_DOCUMENTS else None

    def result() -> Result:
        if future is not None:
            try:
                return cast(Result, _unpacked(future.result()))
            except (WorkFailure, CancelledError, OSError):
                workers.lose()
        return function(*arguments)

    return result


def in_shares(function: Callable[..., Result], shares: Sequence[Sequence[object]]) -> list[Result]:
    """Return ``function(*arguments)`` for each of the shares; this process does the first, workers do the others."""
    results = [begin(function, *arguments) for arguments in shares[1:]]
    return [function(*shares[0]), *(result() for result in results)] if shares else []


def n_shares(n_documents: int = sys.maxsize) -> int:
    """Return into how many shares work on documents is divided: one for each process, one alone where they are few."""
    return 1 + _current.get(_NONE).n_workers if n_documents >= MIN_DOCUMENTS else 1


@contextmanager
def threads_beside(n_documents: int) -> Iterator[Callable[..., Callable[[], Any]]]:
    """Yield what begins a function, mostly of kernels, in a thread and returns what waits for its result.

    Of few documents, or in a run of one thread, the result is worked out when it is asked for.
    """
    if n_shares(n_documents) == 1:
        yield partial
        return
    # one limit around all: those of two threads at once would be lifted in the wrong order
    with library_threads(1), ThreadPoolExecutor(2, "doccluster") as pool:
        yield lambda function, *arguments, **options: pool.submit(function, *arguments, **options).result


def shares_of(sizes: npt.ArrayLike, n_documents: int) -> list[slice]:
    """Return slices of items of these sizes, for `n_shares` shares of about equal size."""
    starts = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    return entry_blocks(starts, max(1, -(-int(starts[-1]) // n_shares(n_documents))))


def do(_arguments: object, task: bytes) -> Iterator[Piece]:
    """Yield the result of a task: what a worker is asked for."""
    function, arguments = _unpacked(task)
    yield None, _packed(function(*arguments))


def _packed(value: object) -> bytes:
    buffer = io.BytesIO()
    joblib.dump(value, buffer)
    return buffer.getvalue()


def _unpacked(packed: bytes) -> Any:
    return joblib.load(io.BytesIO(packed))
