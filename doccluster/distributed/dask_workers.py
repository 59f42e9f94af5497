"""Files of a scratch folder, worked on by the workers of a Dask cluster: one that is there, or one for this run alone.

Nothing here knows what the functions do. What all items share is sent once to every worker; results come back one by
one. A worker that ends is Dask's business: its tasks run elsewhere, and what it held is sent or computed again.
"""

from __future__ import annotations

import os
import re
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager
from itertools import chain, islice
from pathlib import Path
from traceback import clear_frames
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard, TypeVar

from doccluster.base.place import FAN_IN, FilePlace
from doccluster.errors import Argument, InputError, importing

if TYPE_CHECKING:
    from distributed import Client, Future

Task: TypeAlias = "Future"
Result = TypeVar("Result")

ATTEMPTS = 3  # at work that ends its workers
AHEAD = 8  # items under way for each worker thread
PATIENCE = 10  # seconds for a scheduler to answer
WORKERLESS = 120.0  # seconds without any worker after which a run ends; a cluster may still be starting some
LOOK_EVERY = 10.0  # seconds
SMALL = 2**14  # bytes of a value that is sent with every item
_LOCAL = re.compile(r"local(?::(\d+))?")


class DaskPlace(FilePlace):
    """A scratch folder, and the workers of a Dask cluster, which see it under the same name."""

    def __init__(self, client: Client, folder: str | Path) -> None:
        super().__init__(folder)
        self.client = client
        answers = client.run(os.path.isdir, str(folder))
        blind = [address for address, sees in answers.items() if not sees]
        if blind:
            raise InputError(
                f"the worker at {blind[0]} does not see the folder {folder}",
                remedy=("name one on a file system that all machines share with ", Argument("scratch")),
            )

    @property
    def n_workers(self) -> int:
        """How many items are worked on at a time: the threads of all workers."""
        return max(1, int(sum(self.client.nthreads().values())))

    @property
    def dashboard(self) -> str | None:
        """The address of the dashboard, where there is one."""
        services = self.client.scheduler_info(n_workers=0).get("services", {})
        return self.client.dashboard_link if "dashboard" in services else None

    def map(self, function: Callable[..., Result], items: Sequence[object], *shared: object) -> Iterator[Result]:
        """Yield ``function(item, *shared)`` for each item, in order; only a few for each worker are under way."""
        function, shared = self._as_called(function, shared)
        n_done = 0
        for attempt in range(ATTEMPTS):
            with self._attempt(attempt, shared) as (sent, tasks):
                remaining = iter(items[n_done:])
                tasks.extend(self._submit(function, islice(remaining, AHEAD * self.n_workers), sent))
                while tasks:
                    result = self._result_of(tasks[0])
                    tasks.popleft().release()
                    tasks.extend(self._submit(function, islice(remaining, 1), sent))
                    n_done += 1
                    yield result
                return

    def reduce(
        self,
        function: Callable[..., Result],
        combine: Callable[[list[Result]], Result],
        items: Sequence[object],
        *shared: object,
    ) -> Result:
        """Return all ``function(item, *shared)`` combined on the workers, in a tree; only the last result travels."""
        function, shared = self._as_called(function, shared)
        for attempt in range(ATTEMPTS):
            with self._attempt(attempt, shared) as (sent, tasks):
                tasks.extend(self._submit(function, items, sent))
                self._combine(combine, tasks)
                return combine([self._result_of(tasks[0])])
        raise AssertionError("there is at least one attempt")

    @contextmanager
    def _attempt(self, number: int, shared: Sequence[object]) -> Iterator[tuple[list[object], deque[Task]]]:
        """Yield what stands for the shared values, and a queue for tasks, which the scheduler forgets at the end.

        That workers were lost ends in an error only the last time.
        """
        sent, tasks = list[object](), deque[Task]()
        try:
            sent.extend(map(self._share, shared))
            yield sent, tasks
        except _lost() as error:
            if number == ATTEMPTS - 1:
                raise InputError(
                    f"the workers of the cluster ended {ATTEMPTS} times over the same work ({str(error)[:200]})",
                    remedy="their logs say why; most often they had too little memory: give more, or more and smaller "
                    "parts",
                ) from error
        except KeyboardInterrupt as stopped:
            clear_frames(stopped.__traceback__)  # it may be held for long, and hold a task that was just handed in
            raise
        finally:
            for value in chain(sent, tasks):
                if _is_task(value):
                    value.release()

    def everywhere(self, function: Callable[..., None], *values: object) -> None:
        """Call ``function(*values)`` in each worker process."""
        self.client.run(function, *values, on_error="ignore")

    def _result_of(self, future: Task) -> Any:
        """Return the result of a task, or raise InputError if there has been no worker for too long."""
        alone_since: float | None = None
        is_over = threading.Event()
        future.add_done_callback(lambda _: is_over.set())  # a wait that times out inside Dask may fail in other ways
        while not is_over.wait(min(WORKERLESS, LOOK_EVERY)):
            now = time.monotonic()
            alone_since = None if self.client.nthreads() else (alone_since or now)
            if alone_since is not None and now - alone_since >= WORKERLESS:
                raise InputError(
                    f"the cluster has had no worker for {WORKERLESS:g} seconds",
                    remedy="start workers, look into their logs for why they ended, and begin again",
                )
        result = future.result()
        self.traffic.received += size_of(result)
        return result

    def _combine(self, combine: Callable[[list[Result]], Result], tasks: deque[Task]) -> None:
        """Put one task in the place of a few, level by level, until there is one."""
        while len(tasks) > 1:
            n_left = len(tasks)
            while n_left:
                few = list(islice(tasks, min(FAN_IN, n_left)))
                tasks.append(self.client.submit(combine, few, pure=False))
                n_left -= len(few)
                for _ in few:
                    tasks.popleft()

    def _submit(
        self, function: Callable[..., Result], items: Iterable[object], sent: Sequence[object]
    ) -> Iterator[Task]:
        """Yield a task for each item as soon as the scheduler has it."""
        small = size_of([value for value in sent if not _is_task(value)])  # large ones were counted when shared
        for item in items:
            self.traffic.sent += small + size_of(item)
            yield self.client.submit(function, item, *sent, pure=False)

    def _share(self, value: object) -> object:
        """Return the stand-in for a value in the tasks: itself if it is small, else a task that returns it.

        Unlike data that are scattered, the scheduler still has the task when all workers that held its result ended.
        """
        n_bytes = size_of(value)
        if n_bytes < SMALL:
            return value
        self.traffic.sent += n_bytes * max(1, len(self.client.nthreads()))
        return self.client.submit(unchanged, value, pure=False)


def _is_task(value: object) -> TypeGuard[Task]:
    from distributed import Future

    return isinstance(value, Future)


def unchanged(value: Result) -> Result:
    """Return the value."""
    return value


def size_of(value: object) -> int:
    """Return how many bytes a value takes on the wire, as Dask would send it; arrays are not copied for that."""
    from distributed.protocol import serialize

    _, frames = serialize(value)
    return sum(memoryview(frame).nbytes for frame in frames)


def _lost() -> tuple[type[BaseException], ...]:
    from distributed.client import FutureCancelledError
    from distributed.scheduler import KilledWorker

    return FutureCancelledError, CancelledError, KilledWorker


@contextmanager
def connect(
    scheduler: str | Client, folder: str | Path, *, n_threads: int = 1, memory_limit: str | int | None = None
) -> Iterator[DaskPlace]:
    """Yield a place on a Dask cluster: one that is there (an address or a Client), or workers of this machine.

    Parameters
    ----------
    scheduler : str or dask.distributed.Client
        ``"tcp://HOST:8786"`` (or ``tls://...``), ``"local:W"`` for W worker processes that end with the run, or a
        Client, which stays open.
    folder : path
        A folder that this machine and all workers see, where the files of the place lie.
    n_threads : int
        The threads of each worker process of ``local:W``.
    memory_limit : str or int, optional
        What each of these may hold before Dask ends it; by default what Dask chooses.

    Raises
    ------
    InputError
        If nothing answers at the address, or it is none, or a worker does not see the folder.
    MissingDependency
        If Dask is not installed.
    """
    with importing("a scheduler needs", "dask", "distributed", install="doccluster[dask]"):
        import dask
        from distributed import Client, LocalCluster
    if not isinstance(scheduler, str):
        with _place_of(scheduler, folder) as place:
            yield place
        return
    local = _LOCAL.fullmatch(scheduler)
    if local is None and "://" not in scheduler:
        raise InputError(
            "is not a scheduler", argument="scheduler", received=scheduler, expected="tcp://HOST:8786 or local:W"
        )
    # tables and vocabularies go through the scheduler on purpose, so that it can give them to workers that come later
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "4GB"}):
        if local is None:
            with _client(Client, scheduler) as client, _place_of(client, folder) as place:
                yield place
            return
        limits = {} if memory_limit is None else {"memory_limit": memory_limit}
        with ExitStack() as stack:
            try:
                cluster = stack.enter_context(
                    LocalCluster(
                        n_workers=int(local[1] or 1),
                        threads_per_worker=n_threads,
                        dashboard_address="127.0.0.1:0",
                        preload=[__name__],
                        **limits,
                    )
                )
                client = stack.enter_context(Client(cluster, direct_to_workers=True))
            except Exception as error:  # whatever Dask raises where a worker dies before it has begun
                raise InputError(
                    f"the workers of this machine did not start ({type(error).__name__}: {str(error)[:200]})",
                    argument="scheduler",
                    received=scheduler,
                    remedy="something ended one of them, most often for its memory: try fewer workers, or again",
                ) from error
            yield stack.enter_context(_place_of(client, folder))


@contextmanager
def _place_of(client: Client, folder: str | Path) -> Iterator[DaskPlace]:
    """Yield the place of a client; what fails because its scheduler is gone ends in a sentence."""
    try:
        yield DaskPlace(client, folder)
    except Exception as error:
        if client.status == "running":
            raise
        raise InputError(
            f"the scheduler of the cluster has ended, or cannot be reached any more ({str(error)[:200]})",
            remedy="start it again; a run with checkpoints goes on from the last one",
        ) from error


def dask_setup(worker: object) -> None:
    """Let Ctrl-C end the run and not the workers; Dask calls this in each that it starts for `local:W`."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _client(make: Callable[..., Client], address: str) -> Client:
    try:
        return make(address, timeout=f"{PATIENCE}s")
    except TypeError as error:  # what Dask raises where its settings name no certificates
        raise InputError(
            f"the settings of Dask for encrypted connections are not complete ({str(error)[:200]})",
            argument="scheduler",
            received=address,
            remedy="set distributed.comm.tls.ca-file, client.cert and client.key, in its files or in the environment",
        ) from error
    except (OSError, TimeoutError, ValueError) as error:
        raise InputError(
            f"no scheduler answers ({str(error)[:200]})",
            argument="scheduler",
            received=address,
            remedy=("start one with `dask scheduler`, or give ", Argument("scheduler", "local:2")),
        ) from error
