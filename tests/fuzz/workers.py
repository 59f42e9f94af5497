"""A campaign in a process of its own: it may die or hang, and the campaign goes on with the next round."""

from __future__ import annotations

import importlib
import math
import multiprocessing
import resource
import tempfile
import time
from multiprocessing.connection import Connection

from tests.fuzz.campaign import Failure, Outcome, Target, campaign, input_of
from tests.fuzz.watch import WALL_LIMIT

_MEMORY = 8 * 1024**3  # bytes of address space: what asks for more gets a MemoryError, and the machine goes on
_READY = "ready"


def _target(name: str, table: str) -> Target:
    found: Target = importlib.import_module(table).TARGETS[name]
    return found


def _work(name: str, table: str, seed: int, rounds: range, pipe: Connection, folder: str) -> None:
    tempfile.tempdir = folder
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    target = _target(name, table)
    pipe.send(_READY)
    for answer in campaign(target, seed=seed, rounds=rounds):
        pipe.send(answer)


def fuzz(name: str, *, seed: int, rounds: int, seconds: float, table: str = "tests.fuzz.targets") -> Outcome:
    """Return what a campaign found; a worker that dies or says nothing is a failure of the round it was in.

    `table` is the module whose ``TARGETS`` has the name.
    """
    outcome = Outcome()
    begin, end = 0, math.inf
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory(prefix="doccluster-fuzz-") as folder:  # of workers that may be killed
        while begin < rounds and time.monotonic() < end:
            receiver, sender = context.Pipe(duplex=False)
            work = (name, table, seed, range(begin, rounds), sender, folder)
            worker = context.Process(target=_work, args=work, daemon=True)
            worker.start()
            sender.close()
            if receiver.recv() != _READY:
                raise RuntimeError("the worker did not start")
            end = min(end, time.monotonic() + seconds)  # that the first worker takes long to start does not count
            begin, is_silent = _listen(receiver, outcome, begin, end)
            if begin < rounds and time.monotonic() < end:
                worker.join(0 if is_silent else None)
                outcome.add(_death(_target(name, table), seed, begin, worker.exitcode))
                begin += 1
            worker.kill()
            worker.join()
    return outcome


def _listen(receiver: Connection, outcome: Outcome, begin: int, end: float) -> tuple[int, bool]:
    """Take results until the time is up, or the worker is done, dead or silent; return the round that comes next."""
    try:
        while time.monotonic() < end:
            if not receiver.poll(2 * WALL_LIMIT):
                return begin, True
            number, result = receiver.recv()
            begin = number + 1
            outcome.add(result)
    except EOFError:
        pass
    return begin, False


def _death(target: Target, seed: int, number: int, exitcode: int | None) -> Failure:
    kind = "silent for too long" if exitcode is None else f"the process ended with {exitcode}"
    data = input_of(target, list(target.samples()), seed, number)
    return Failure(target.name, number, data, kind, kind, is_death=True)
