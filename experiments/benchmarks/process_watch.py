"""What processes take while a run goes on, stage by stage: memory, looked at several times a second, disk and time."""

from __future__ import annotations

import os
import pathlib
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Mapping

EVERY, FOLDER_EVERY = 0.2, 5.0  # seconds
BEFORE = "before"  # the stage until another begins
PROC = pathlib.Path("/proc")

Processes = Callable[[], Mapping[str, int]]


class ProcessWatch:
    """The most that processes held, and the time they computed, as long as the watch is open; it reads /proc (Linux).

    Parameters
    ----------
    processes : callable
        Returns the number of each process by its name; a name may stand for another process later.
    folder : path
        Whose size on disk is looked at, less often.

    Attributes
    ----------
    resident : dict of str to int
        Bytes in memory at most by name, pages of mapped files included, as the system counted them.
    own : dict of (str, str) to int
        By name and stage, bytes that no file stands behind, at most.
    numbers : dict of str to set of int
        The processes that had each name: more than one if one had to be replaced.
    folder_bytes : int
        What the folder took at most.
    seconds : dict of str to float
        How long each stage took, once the watch is closed.
    computed : dict of (str, str) to float
        By name and stage, the seconds of processors, once the watch is closed.
    """

    def __init__(self, processes: Processes, folder: pathlib.Path) -> None:
        self._processes, self._folder = processes, folder
        self.resident: dict[str, int] = defaultdict(int)
        self.own: dict[tuple[str, str], int] = defaultdict(int)
        self.numbers: dict[str, set[int]] = defaultdict(set)
        self.folder_bytes = 0
        self.seconds: dict[str, float] = {}
        self.computed: dict[tuple[str, str], float] = defaultdict(float)
        self._clocks: dict[int, float] = {}
        self._stage, self._began, self._looked_at_folder = BEFORE, time.perf_counter(), 0.0
        self._over, self._lock = threading.Event(), threading.Lock()
        self._thread = threading.Thread(target=self._look_on, daemon=True)

    def __enter__(self) -> ProcessWatch:
        self._take_times()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        self.begin("after")

    def begin(self, stage: str) -> None:
        """Count what follows for a stage."""
        if stage == self._stage:
            return
        self._look(with_folder=True)
        self._take_times()
        now = time.perf_counter()
        self.seconds[self._stage] = self.seconds.get(self._stage, 0.0) + now - self._began
        self._stage, self._began = stage, now

    def peak_of(self, name: str) -> int:
        """Return the most that a process held of its own, in any stage."""
        return max((n_bytes for (who, _), n_bytes in self.own.items() if who == name), default=0)

    def _take_times(self) -> None:
        """Add what each process computed since the last time to the stage; one that ended takes its last with it."""
        for name, number in self._processes().items():
            spent = processor_seconds(number)
            if spent is not None:
                if number in self._clocks:
                    self.computed[name, self._stage] += spent - self._clocks[number]
                self._clocks[number] = spent

    def beyond_idle(self, name: str, stage: str) -> float:
        """Return the processor time of a process in a stage beyond what it did in the same time before any stage began.

        The processes of a cluster that waits call one another, and on a busy machine a stage takes long.
        """
        idle = self.computed[name, BEFORE] / self.seconds[BEFORE]
        return max(0.0, self.computed[name, stage] - idle * self.seconds[stage])

    def _look_on(self) -> None:
        while not self._over.wait(EVERY):
            now = time.perf_counter()
            with_folder = now - self._looked_at_folder >= FOLDER_EVERY
            self._look(with_folder=with_folder)
            if with_folder:
                self._looked_at_folder = now

    def _look(self, *, with_folder: bool) -> None:
        found = {name: (number, process_memory(number)) for name, number in self._processes().items()}
        n_bytes = folder_bytes(self._folder) if with_folder else 0
        with self._lock:
            self.folder_bytes = max(self.folder_bytes, n_bytes)
            for name, (number, held) in found.items():
                if held is not None:
                    self.numbers[name].add(number)
                    self.resident[name] = max(self.resident[name], held[0])
                    self.own[name, self._stage] = max(self.own[name, self._stage], held[1])


def process_memory(number: int) -> tuple[int, int] | None:
    """Return the most a process held so far, and what it holds now that no file stands behind; None if it ended."""
    try:
        lines = (PROC / str(number) / "status").read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    facts = dict(line.split(":", 1) for line in lines)
    if "VmHWM" not in facts:  # it is ending
        return None
    return _kilobytes(facts["VmHWM"]), _kilobytes(facts["RssAnon"])


def processor_seconds(number: int) -> float | None:
    """Return the seconds of processors that a process has spent; None if it ended."""
    try:
        line = (PROC / str(number) / "stat").read_text(encoding="utf-8")
    except OSError:
        return None
    fields = line.rpartition(")")[2].split()  # its name, in parentheses before, may hold anything
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def folder_bytes(folder: pathlib.Path) -> int:
    """Return the bytes of the files under a folder on its disk; those that come and go meanwhile may be left out."""
    total = 0
    for above, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(f"{above}/{name}").st_blocks * 512
            except FileNotFoundError:
                continue
    return total


def _kilobytes(text: str) -> int:
    return int(text.split()[0]) * 1024
