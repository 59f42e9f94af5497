"""Processes that fit, kept from fit to fit: starting one costs seconds, so it is done once and not for each fit."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from dataclasses import asdict
from types import TracebackType
from typing import IO, Any

from doccluster.selection.fit_failure import FitFailure

_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
_PATIENCE = 10.0  # seconds for a process that no longer answers to end by itself


class FitWorkers:
    """Up to `n_workers` processes (`doccluster.selection.fit_worker`), started when they are needed.

    Each works with one thread, so that algorithms and runs side by side are timed alike. A process that dies takes its
    fit with it and no other: the next fit gets a new one.
    """

    def __init__(self, n_workers: int) -> None:
        self._idle: queue.LifoQueue[_Worker | None] = queue.LifoQueue()
        for _ in range(n_workers):
            self._idle.put(None)
        self._living: set[_Worker] = set()
        self._lock = threading.Lock()

    def fit(self, job: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to a job: labels, seconds and peak_memory, or failure."""
        worker = self._idle.get()
        try:
            if worker is None:
                worker = self._start()
            reply = worker.ask(job)
            if reply is not None:
                return reply
            failure = worker.end(patience=_PATIENCE)
            self._forget(worker)
            worker = None
            return {"failure": asdict(failure)}
        finally:
            self._idle.put(worker)

    def _start(self) -> _Worker:
        worker = _Worker()
        with self._lock:
            self._living.add(worker)
        return worker

    def _forget(self, worker: _Worker) -> None:
        with self._lock:
            self._living.discard(worker)

    def __enter__(self) -> FitWorkers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            living, self._living = self._living, set()
        for worker in living:
            worker.end()


class _Worker:
    """One process, asked and answered in lines of JSON."""

    def __init__(self) -> None:
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  closed by `end`
        self._process = subprocess.Popen(
            [sys.executable, "-m", "doccluster.selection.fit_worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            encoding="utf-8",
            env={**os.environ, **_ONE_THREAD, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )

    def ask(self, job: dict[str, Any]) -> dict[str, Any] | None:
        """Return the answer, or None if the process is no more."""
        if not self._send(job):
            return None
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line.endswith("\n"):
            return None
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _send(self, content: Any) -> bool:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(content) + "\n")
            self._process.stdin.flush()
        except (BrokenPipeError, ValueError):
            return False
        return True

    def end(self, *, patience: float = 0.0) -> FitFailure:
        """End the process, giving it `patience` seconds to end by itself, and return how it ended."""
        try:
            status = self._process.wait(timeout=patience)
        except subprocess.TimeoutExpired:
            self._process.kill()
            status = self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except BrokenPipeError:
                    continue
        said = self._last_line()
        self._log.close()
        return FitFailure(_cause(status), "the process of the fit ended" + (f" ({said})" if said else ""))

    def _last_line(self) -> str:
        size = self._log.seek(0, os.SEEK_END)
        self._log.seek(max(0, size - 4000))
        lines = self._log.read().decode("utf-8", "replace").strip().splitlines()
        return " ".join(lines[-1].split())[:300] if lines else ""


def _cause(status: int) -> str:
    if status < 0:
        try:
            return signal.Signals(-status).name
        except ValueError:
            return f"signal {-status}"
    return f"exit {status}"
