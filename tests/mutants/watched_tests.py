"""Tests in a process of their own, which has the large libraries already, until one fails or their time is up."""

from __future__ import annotations

import contextlib
import importlib
import os
import resource
import signal
import sys
import time
from pathlib import Path

import pytest

LIBRARIES = (
    "numpy",
    "scipy.sparse",
    "scipy.special",
    "sklearn.cluster",
    "numba",
    "pandas",
    "hypothesis",
    "click",
)
ONE_TEST = 60.0  # seconds of processor time that no test takes by far: a loop without end
LATEST = 10  # times its processor time: what waits for longer waits for ever
OPTIONS = [
    *("--doctest-modules", "-n0", "-x", "-q", "-p", "no:cacheprovider", "--tb=no", "-o", "faulthandler_timeout=0"),
    *("-m", "not browser and not real", "-W", "ignore::pytest.PytestAssertRewriteWarning"),
]


class Watch:
    """Ends a test that takes too long, and all of them when their time is up; notes the test that is run."""

    def __init__(self, limit: float, note: Path) -> None:
        self.limit, self.note = limit, note

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Begin a test."""
        if sum(os.times()[:4]) > self.limit:
            os._exit(3)
        self.note.write_text(nodeid, encoding="utf-8")
        signal.setitimer(signal.ITIMER_PROF, ONE_TEST)


def load_libraries() -> None:
    """Load what nearly every test loads, once for all processes that are begun after that."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    for name in LIBRARIES:
        importlib.import_module(name)


def tested(folder: Path, tests: list[str], *, limit: float) -> tuple[str, str]:
    """Run files of tests in a folder, one after the other, until one fails.

    Return `killed` with the test that failed or did not end, `survived`, or `undecided` where the tests took longer
    than `limit` seconds of processor time in all, or waited ten times as long.
    """
    note = folder.parent / "running"
    note.unlink(missing_ok=True)
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            _run(folder, tests, limit, note)
        os._exit(2)
    status = _waited(child, until=time.monotonic() + LATEST * (limit + ONE_TEST))
    name = note.read_text(encoding="utf-8") if note.exists() else tests[0]
    if status is None or (os.WIFEXITED(status) and os.WEXITSTATUS(status) == 3):
        return "undecided", name
    return ("survived", "") if status == 0 else ("killed", name)


def _run(folder: Path, tests: list[str], limit: float, note: Path) -> None:
    os.setpgid(0, 0)  # so that what it starts can be ended with it
    os.chdir(folder)
    with open(folder.parent / "said", "wb") as said:  # noqa: PTH123
        os.dup2(said.fileno(), 1)
        os.dup2(said.fileno(), 2)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CPU, (int(limit + ONE_TEST), int(limit + ONE_TEST) + 5))
    for name in [name for name in sys.modules if name.split(".")[0] in ("tests", "doccluster")]:
        del sys.modules[name]
    sys.path.insert(0, str(folder))
    os.environ["PYTHONPATH"] = str(folder)
    os.environ.pop("NUMBA_CACHE_DIR", None)
    for file in tests:
        code = pytest.main([*OPTIONS, file], plugins=[Watch(limit, note)])
        if code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            os._exit(1)
    os._exit(0)


def _waited(child: int, *, until: float) -> int | None:
    """Return how a process ended; None if it had to be ended."""
    while time.monotonic() < until:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            break
        time.sleep(0.1)
    else:
        status = None
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    if status is None:
        os.waitpid(child, 0)
    return status
