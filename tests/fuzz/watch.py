"""What may not happen while input is read: hours of work, heaps of memory, a network, a program, a file elsewhere."""

from __future__ import annotations

import faulthandler
import inspect
import os
import resource
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

CPU_LIMIT = 10.0  # seconds of processor time for one input of at most 64 KiB
WALL_LIMIT = 120.0  # seconds on the clock: for what waits instead of working, on a machine that may be busy
MEMORY_LIMIT = 400 * 1024**2  # bytes by which one input may raise the peak of the process

_FORBIDDEN = (
    *("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "urllib.Request", "ftplib.connect"),
    *("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.startfile"),
    *("pickle.find_class", "os.kill", "shutil.rmtree", "webbrowser.open"),
)
_CHANGES = ("os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.symlink", "os.link", "os.truncate", "os.chmod")


class Misdeed(BaseException):
    """Something that no input may cause; no `except Exception` on the way can hide it."""


class Hang(Misdeed):
    """One small input took longer than any may."""


_watching: list[tuple[Path, ...]] = []  # the folders that may be written to, while somebody watches
_hooked: list[bool] = []


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if not _watching:
        return
    is_own = event == "shutil.rmtree" and _may_write(arguments[0])  # the end of a temporary folder
    if event in ("subprocess.Popen", "os.kill"):  # the process that reads hostile files
        is_own = _is_called_by("doccluster.base.limited_process")
    elif event == "pickle.find_class":  # numba reads a cached kernel, or what one was compiled with; both are pickles
        is_own = _is_called_by("numba.core.caching", "numba.core.serialize")
    if event in _FORBIDDEN and not is_own:
        raise Misdeed(f"{event}{arguments!r}")
    if event == "open":
        path, mode, flags = arguments
        if isinstance(path, str | bytes) and _writes(mode, flags) and not _may_write(path):
            raise Misdeed(f"opened {path!r} to write")
    elif event in _CHANGES and isinstance(arguments[0], str | bytes):
        path = _in_open_folder(*arguments) if event in ("os.remove", "os.rmdir") else arguments[0]
        if not _may_write(path):
            raise Misdeed(f"{event} {path!r}")


def _in_open_folder(name: str | bytes, descriptor: int) -> str:
    """Return the path of a name in a folder that is open as a descriptor, -1 for the current one; rmtree names so."""
    folder = Path() if descriptor < 0 else Path(f"/proc/self/fd/{descriptor}").resolve()
    return str(folder / os.fsdecode(name))


def _is_called_by(*modules: str) -> bool:
    """Return whether a function of these modules is at work."""
    frame = inspect.currentframe()
    while frame is not None:
        if frame.f_globals.get("__name__") in modules:
            return True
        frame = frame.f_back
    return False


def _writes(mode: str | None, flags: int) -> bool:
    return any(letter in mode for letter in "wax+") if isinstance(mode, str) else flags & 3 != 0


def _may_write(path: str | bytes) -> bool:
    shown = path.decode(errors="replace") if isinstance(path, bytes) else path
    place = Path(shown).absolute()
    return "__pycache__" in place.parts or shown == "/dev/null" or any(map(place.is_relative_to, _watching[-1]))


@contextmanager
def watched(*writable: Path, cpu: float = CPU_LIMIT, wall: float = WALL_LIMIT) -> Iterator[None]:
    """Raise Misdeed inside the block when it does what no input may make it do, or Hang when it takes too long.

    A loop in machine code that never looks at signals ends the process after twice the time, with a traceback.
    """
    if not _hooked:
        sys.addaudithook(_audit)
        _hooked.append(True)
    old_peak = _peak()
    handlers = [signal.signal(one, _too_long) for one in (signal.SIGPROF, signal.SIGALRM)]
    signal.setitimer(signal.ITIMER_PROF, cpu)
    signal.setitimer(signal.ITIMER_REAL, wall)
    faulthandler.dump_traceback_later(2 * wall, exit=True)
    _watching.append((Path(tempfile.gettempdir()), *writable))
    try:
        yield
    finally:
        _watching.pop()
        faulthandler.cancel_dump_traceback_later()
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        for one, handler in zip((signal.SIGPROF, signal.SIGALRM), handlers, strict=True):
            signal.signal(one, handler)
    if _peak() - old_peak > MEMORY_LIMIT:
        raise Misdeed(f"memory grew by {(_peak() - old_peak) / 1024**2:,.0f} MiB")


def _too_long(number: int, frame: FrameType | None) -> None:
    raise Hang(f"no result after {CPU_LIMIT:.0f} s of work or {WALL_LIMIT:.0f} s of waiting")


def limit_memory(n_bytes: int) -> None:
    """Let this process have so much address space, or what it may have if that is less; beyond is a MemoryError."""
    most = resource.getrlimit(resource.RLIMIT_AS)[1]
    least = n_bytes if most == resource.RLIM_INFINITY else min(n_bytes, most)
    resource.setrlimit(resource.RLIMIT_AS, (least, most))


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
