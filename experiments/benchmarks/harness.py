"""One way to measure: alternating runs in one session, medians, ratios, peak memory in a process of its own, csv.

A benchmark is a module of this folder whose rows are functions::

    from experiments.benchmarks.harness import Session, row

    @row("tfidf-63k", "TfidfVectorizer on 63 thousand descriptions", target=7.0)
    def tfidf(session: Session) -> None:
        texts = ...                                       # prepare outside the clock; smaller if session.quick
        session.compare({"doccluster": ours, "scikit-learn": theirs}, repeats=5)     # seconds, alternating
        session.compare_memory({"doccluster": "experiments.benchmarks.text:ours_in_process", ...})
        session.record("doccluster", "objective", 19975.2)                           # any other figure

`python -m experiments.benchmarks MODULE [--only ROW] [--quick] [--list] [--again]` runs the rows. Every figure is
appended to `results/MODULE.csv` at once, so an interrupted run goes on where it stopped; `--again` measures again and,
when it has finished, replaces what was there.
A function measured in a process of its own takes keyword arguments that are plain JSON values, may call
`start_clock()` when its data are ready, and may return a mapping of further figures.
"""

from __future__ import annotations

import csv
import datetime
import importlib
import importlib.metadata
import json
import os
import pathlib
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from doccluster.base.paths import finished_file

RESULTS = pathlib.Path(__file__).parent / "results"
ROOT = pathlib.Path(__file__).resolve().parents[2]
COLUMNS = ("row", "contender", "figure", "value", "repeats", "lowest", "highest", "quick", "measured_at", "commit")


@dataclass(frozen=True)
class Row:
    """One line of the table: a name for `--only`, what it measures, and the ratio aimed at (None: none stated).

    `figure` is what the target is about, seconds by default. `no_target_for`: how the names of contenders begin that it
    is not about.
    """

    name: str
    title: str
    target: float | None
    run: Callable[[Session], None]
    figure: str | None = None
    no_target_for: str | None = None


ROWS: dict[str, list[Row]] = {}


def row(
    name: str,
    title: str,
    *,
    target: float | None = None,
    figure: str | None = None,
    no_target_for: str | None = None,
) -> Callable[[Callable[[Session], None]], Row]:
    """Declare the decorated function as a row of its module."""

    def declare(function: Callable[[Session], None]) -> Row:
        declared = Row(name, title, target, function, figure, no_target_for)
        ROWS.setdefault(function.__module__, []).append(declared)
        return declared

    return declare


@dataclass
class Session:
    """The figures of one row, written to csv as they come."""

    row: str
    path: pathlib.Path
    quick: bool = False
    say: Callable[[str], None] = print
    against: str = ""  # the earlier commit that is timed beside this checkout, where a row compares two
    figures: dict[tuple[str, str], float] = field(default_factory=dict)

    def compare(
        self,
        contenders: Mapping[str, Callable[[], object]],
        *,
        repeats: int = 5,
        figure: str = "seconds",
        clock: Callable[[], float] = time.perf_counter,
    ) -> dict[str, float]:
        """Run the contenders in turn, `repeats` rounds, and record the median seconds of each by a clock.

        The first contender is ours: the ratio of each other median to it is recorded as `times_ours`.
        """
        rounds = 1 if self.quick else repeats
        taken: dict[str, list[float]] = {name: [] for name in contenders}
        for turn in range(rounds):
            for name, contender in contenders.items():
                started = clock()
                contender()
                taken[name].append(clock() - started)
                self.say(f"  {self.row}: {name}, round {turn + 1} of {rounds}: {taken[name][-1]:.3f} s")
        for name, seconds in taken.items():
            self.record(name, figure, statistics.median(seconds), seconds)
        return self._ratios(figure, list(contenders))

    def compare_memory(
        self, contenders: Mapping[str, str], *, repeats: int = 1, **arguments: object
    ) -> dict[str, dict[str, float]]:
        """Run each "module:function" in a process of its own, in turn; record seconds and peak memory.

        Memory is that in all, and beyond the data. A contender whose process fails is recorded with its error said
        aloud, not hidden.
        """
        rounds = 1 if self.quick else repeats
        runs: dict[str, list[dict[str, object]]] = {name: [] for name in contenders}
        found: dict[str, dict[str, float]] = {}
        for _ in range(rounds):
            for name, function in contenders.items():
                if any("error" in run for run in runs[name]):
                    continue
                runs[name].append(measure_process(function, arguments))
                if "error" in runs[name][-1]:
                    failed = str(runs[name][-1]["error"])
                    self.say(f"  {self.row}: {name} did not run: {failed}")
                    self.record(name, f"failed: {failed[-160:]}", float("nan"))
                elif len(runs[name]) == rounds:
                    found[name] = self._medians(name, runs[name])
        for figure in ("seconds", "processor_seconds", "peak_bytes", "peak_bytes_beyond_data"):
            self._ratios(figure, [name for name in contenders if figure in found.get(name, {})])
        return found

    def _medians(self, name: str, runs: list[dict[str, object]]) -> dict[str, float]:
        """Record the median of each figure of the runs of a contender, and return them."""
        medians = {}
        for figure in runs[0]:
            values = [float(run[figure]) for run in runs]  # type: ignore[arg-type]
            medians[figure] = self.record(name, figure, statistics.median(values), values)
        return medians

    def record(self, contender: str, figure: str, value: float, values: list[float] | None = None) -> float:
        """Write one figure to the csv file and say it."""
        values = values or [value]
        self.figures[contender, figure] = value
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        spread = len(values), min(values), max(values)
        line = (self.row, contender, figure, value, *spread, int(self.quick), now, commit_measured())
        is_new = not self.path.exists()
        self.path.parent.mkdir(exist_ok=True)
        with self.path.open("a", newline="", encoding="utf-8") as handle:
            writer = csv.writer(handle)
            if is_new:
                writer.writerow(COLUMNS)
            writer.writerow(line)
        self.say(f"  {self.row}: {contender}: {figure} = {value:.6g}")
        return value

    def compare_on_one_thread(
        self, contenders: Mapping[str, Callable[[], object]], *, repeats: int = 5
    ) -> dict[str, float]:
        """Compare processor seconds, libraries of linear algebra and OpenMP held to one thread.

        What other programs do on the machine changes these less than it changes the clock on the wall.
        """
        from threadpoolctl import threadpool_limits

        with threadpool_limits(1):
            return self.compare(contenders, repeats=repeats, figure="processor_seconds", clock=time.process_time)

    def _ratios(self, figure: str, names: list[str]) -> dict[str, float]:
        if not names or not self.figures.get((names[0], figure)):
            return {}
        ours = self.figures[names[0], figure]
        return {
            name: self.record(name, f"{figure}_times_ours", self.figures[name, figure] / ours) for name in names[1:]
        }


def run_rows(
    module: str,
    *,
    only: tuple[str, ...] = (),
    quick: bool = False,
    again: bool = False,
    against: str = "HEAD~1",
    say: Callable[[str], None] = print,
) -> None:
    """Run the rows of a module of this folder that have no figures yet (all with `again`)."""
    importlib.import_module(f"experiments.benchmarks.{module}")
    path = RESULTS / f"{module}{'.quick' if quick else ''}.csv"
    done = set() if again else finished_rows(path)
    chosen = [r for r in ROWS.get(f"experiments.benchmarks.{module}", []) if not only or r.name in only]
    for number, chosen_row in enumerate(chosen, start=1):
        aim = f", aiming at {chosen_row.target:g}x" if chosen_row.target else ""
        say(f"[{number}/{len(chosen)}] {chosen_row.name}: {chosen_row.title}{aim}")
        if chosen_row.name in done:
            say("  measured before; --again measures again")
            continue
        session = Session(chosen_row.name, path, quick, say, against)
        chosen_row.run(session)
        session.record("harness", "finished", 1.0)
        forget_earlier(path, chosen_row.name)
        note_environment(path.with_suffix(".environment.json"), chosen_row.name)


def finished_rows(path: pathlib.Path) -> set[str]:
    """Return the names of the rows whose last figure was written."""
    return {line["row"] for line in read_results(path) if line["figure"] == "finished"}


def forget_earlier(path: pathlib.Path, name: str) -> None:
    """Drop the figures of a row that an earlier run left, now that a whole new one is there."""
    lines = read_results(path)
    ends = [number for number, line in enumerate(lines) if line["row"] == name and line["figure"] == "finished"]
    if len(ends) < 2:
        return
    kept = [line for number, line in enumerate(lines) if line["row"] != name or number > ends[-2]]
    with finished_file(path) as unfinished, unfinished.open("w", newline="", encoding="utf-8") as handle:
        writer = csv.DictWriter(handle, COLUMNS, lineterminator="\r\n")
        writer.writeheader()
        writer.writerows(kept)


def read_results(path: pathlib.Path) -> list[dict[str, str]]:
    """Return the lines of a results file, the newest figure last; empty when there is none."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as handle:
        return list(csv.DictReader(handle))


def note_environment(path: pathlib.Path, row_name: str) -> None:
    """Write beside the figures what a reader needs to judge them, and again for a row measured on another machine."""
    here = environment()
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else here
    rows = known.setdefault("rows", {})
    rows.pop(row_name, None)
    if any(known[fact] != here[fact] for fact in ("processor", "cores", "memory_bytes", "python", "packages")):
        rows[row_name] = here
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")


def environment() -> dict[str, object]:
    """Return the facts of this machine: processor, cores, memory, versions."""
    packages = ("numpy", "scipy", "scikit-learn", "numba", "doccluster")
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "system": platform.platform(),
        "python": platform.python_version(),
        "packages": {name: importlib.metadata.version(name) for name in packages},
    }


@cache
def commit_measured() -> str:
    """Return the commit that is checked out; empty outside a git checkout."""
    return git("rev-parse", "--short=9", "HEAD").stdout.strip()


def git(*arguments: str, folder: pathlib.Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Return the facts that git has on a checkout."""
    return subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True)


def _processor() -> str:
    info = pathlib.Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor()


# --- a function in a process of its own ----------------------------------------------------------

_CLOCK = {"started": 0.0, "resident": 0}


def start_clock() -> None:
    """Say, inside a measured function, that the data are ready: time and memory beyond data count from here."""
    _reset_peak()
    _CLOCK["started"] = time.perf_counter()
    _CLOCK["resident"] = _memory("VmRSS")


def measure_process(function: str, arguments: Mapping[str, object]) -> dict[str, object]:
    """Return seconds, peak_bytes, peak_bytes_beyond_data and what the function returned, or `error`."""
    command = [sys.executable, "-m", "experiments.benchmarks.harness", function, json.dumps(dict(arguments))]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        return {"error": (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]}
    return dict(json.loads(done.stdout.strip().splitlines()[-1]))


def measure_command(command: Sequence[str], *, folder: pathlib.Path = ROOT, **settings: str) -> dict[str, float]:
    """Return the cost of a command: seconds, those of processors, and the most bytes that one of its processes held.

    Processes that the command starts and waits for are counted. `settings` are of the environment.
    """
    started = time.perf_counter()
    with tempfile.TemporaryFile() as said:
        child = subprocess.Popen(
            command, cwd=folder, env={**os.environ, **settings}, stdout=subprocess.DEVNULL, stderr=said
        )
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - started
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            said.seek(0)
            lines = said.read().decode(errors="replace").strip().splitlines()
            raise RuntimeError(f"{' '.join(command)} ended with code {child.returncode}: {' '.join(lines[-1:])}")
    per_unit = 1 if sys.platform == "darwin" else 1024
    return {
        "seconds": seconds,
        "processor_seconds": usage.ru_utime + usage.ru_stime,
        "peak_bytes": float(usage.ru_maxrss * per_unit),
    }


def _measured_here(function: str, arguments: dict[str, object]) -> dict[str, object]:
    module, name = function.split(":")
    target = getattr(importlib.import_module(module), name)
    harness = sys.modules.get("experiments.benchmarks.harness") or importlib.import_module(
        "experiments.benchmarks.harness"
    )
    harness.start_clock()
    further = target(**arguments) or {}
    clock = harness._CLOCK
    peak = _memory("VmHWM")
    return {
        "seconds": time.perf_counter() - clock["started"],
        "peak_bytes": peak,
        "peak_bytes_beyond_data": max(0, peak - clock["resident"]),
        **further,
    }


def _memory(key: str) -> int:
    status = pathlib.Path("/proc/self/status")
    if status.exists():  # ru_maxrss would also count what the parent held before the fork
        for line in status.read_text(encoding="utf-8").splitlines():
            if line.startswith(key):
                return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _reset_peak() -> None:
    clear = pathlib.Path("/proc/self/clear_refs")
    try:
        clear.write_text("5", encoding="ascii")  # Linux: start the high-water mark again from here
    except OSError:
        return


if __name__ == "__main__":
    print(json.dumps(_measured_here(sys.argv[1], json.loads(sys.argv[2]))))
