"""How much memory a piece of work adds at its peak, in a process that has done other work before.

Linux keeps the largest resident size of a process since a moment that can be set (`/proc/self/clear_refs`); where it
may not be set, a thread looks at the resident size every few milliseconds; where the system tells neither, the answer
is nan.
"""

from __future__ import annotations

import ctypes
import gc
import math
import threading
from pathlib import Path
from types import TracebackType

_STATUS, _CLEAR_REFS = Path("/proc/self/status"), Path("/proc/self/clear_refs")
_RESET_PEAK = "5"  # proc(5): reset the peak resident set size to the current one
_SECONDS_BETWEEN_LOOKS = 0.002


class PeakMemory:
    """A context whose `added` is, after it, what the work inside added at its peak to what the process held, in bytes.

    Memory that earlier work freed but the allocator kept is given back to the system first, so that it counts again.
    The figure is exact to some hundred kilobytes, since the system counts pages in batches.
    """

    added: float = math.nan

    def __enter__(self) -> PeakMemory:
        gc.collect()
        _give_back()
        self._before = resident("VmRSS")
        self._watch = None if _reset_peak() or math.isnan(self._before) else _Watch()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        peak = resident("VmHWM") if self._watch is None else self._watch.stop()
        self.added = max(0.0, peak - self._before)


class _Watch:
    """A thread that remembers the largest resident size it has seen."""

    def __init__(self) -> None:
        self._peak = 0.0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def _look(self) -> None:
        while True:
            self._peak = max(self._peak, resident("VmRSS"))
            if self._done.wait(_SECONDS_BETWEEN_LOOKS):
                return

    def stop(self) -> float:
        """Return the largest size seen."""
        self._done.set()
        self._thread.join()
        return max(self._peak, resident("VmRSS"))


def resident(field: str) -> float:
    """Return a size in /proc/self/status (VmRSS: now, VmHWM: at the peak) in bytes; nan where there is none."""
    try:
        lines = _STATUS.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return math.nan
    found = next((line for line in lines if line.startswith(f"{field}:")), None)
    return math.nan if found is None else float(found.split()[1]) * 1024


def _reset_peak() -> bool:
    try:
        _CLEAR_REFS.write_text(_RESET_PEAK, encoding="ascii")
    except OSError:
        return False
    return True


def _give_back() -> None:
    """Return freed memory to the system, where the C library can (glibc)."""
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (AttributeError, OSError, TypeError):
        return
