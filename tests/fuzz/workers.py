"""Campaigns in another process: it may die or hang, and the campaign goes on with the next round in a new one."""

from __future__ import annotations

import atexit
import importlib
import math
import multiprocessing
import tempfile
import time
from contextlib import suppress
from multiprocessing.connection import Connection

from tests.fuzz.campaign import Failure, Outcome, Target, campaign, input_of
from tests.fuzz.watch import WALL_LIMIT, limit_memory

_MEMORY = 8 * 1024**3  # bytes of address space: what asks for more gets a MemoryError, and the machine goes on
_READY, _DONE = "ready", "done"


def _target(name: str, table: str) -> Target:
    found: Target = importlib.import_module(table).TARGETS[name]
    return found


def _work(jobs: Connection, answers: Connection, folder: str) -> None:
    """Go through one campaign after the other until nobody asks any more."""
    tempfile.tempdir = folder
    limit_memory(_MEMORY)
    with suppress(EOFError):
        while True:
            name, table, seed, rounds = jobs.recv()
            target = _target(name, table)
            answers.send(_READY)
            for answer in campaign(target, seed=seed, rounds=rounds):
                answers.send(answer)
            answers.send(_DONE)


class _Worker:
    """A process that goes through campaigns, and its folder."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.folder = tempfile.TemporaryDirectory(prefix="doccluster-fuzz-")  # of workers that may be killed
        asked, self.jobs = context.Pipe(duplex=False)
        self.answers, answering = context.Pipe(duplex=False)
        self.process = context.Process(target=_work, args=(asked, answering, self.folder.name), daemon=True)
        self.process.start()
        asked.close()
        answering.close()

    def begin(self, name: str, table: str, seed: int, rounds: range) -> None:
        self.jobs.send((name, table, seed, rounds))
        if self.answers.recv() != _READY:
            raise RuntimeError("the worker did not start")

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.jobs.close()
        self.answers.close()
        self.folder.cleanup()


_idle: list[_Worker] = []  # at most one: what it has imported and compiled serves the next campaign too


@atexit.register
def _end_idle() -> None:
    while _idle:
        _idle.pop().end()


def fuzz(name: str, *, seed: int, rounds: int, seconds: float, table: str = "tests.fuzz.targets") -> Outcome:
    """Return what a campaign found; a worker that dies or says nothing is a failure of the round it was in.

    `table` is the module whose ``TARGETS`` has the name.
    """
    outcome = Outcome()
    begin, end = 0, math.inf
    while begin < rounds and time.monotonic() < end:
        worker = _idle.pop() if _idle else _Worker()
        worker.begin(name, table, seed, range(begin, rounds))
        end = min(end, time.monotonic() + seconds)  # that the first worker takes long to start does not count
        begin, state = _listen(worker.answers, outcome, begin, end)
        if state == _DONE:
            _idle.append(worker)
            continue
        if begin < rounds and time.monotonic() < end:
            worker.process.join(0 if state == "silent" else None)
            outcome.add(_death(_target(name, table), seed, begin, worker.process.exitcode))
            begin += 1
        worker.end()
    return outcome


def _listen(answers: Connection, outcome: Outcome, begin: int, end: float) -> tuple[int, str]:
    """Take results until the time is up or the worker is done, dead or silent; return the round that comes next."""
    try:
        while time.monotonic() < end:
            if not answers.poll(2 * WALL_LIMIT):
                return begin, "silent"
            answer = answers.recv()
            if answer == _DONE:
                return begin, _DONE
            number, result = answer
            begin = number + 1
            outcome.add(result)
    except EOFError:
        return begin, "dead"
    return begin, "late"


def _death(target: Target, seed: int, number: int, exitcode: int | None) -> Failure:
    kind = "silent for too long" if exitcode is None else f"the process ended with {exitcode}"
    data = input_of(target, list(target.samples()), seed, number)
    return Failure(target.name, number, data, kind, kind)
