"""Whole runs of the command line with their report, this checkout beside an earlier commit (`--against COMMIT`).

Each run is a process of its own, and the two take turns. `processor_seconds` count all threads; `seconds` is the clock
on the wall, which other programs on the machine lengthen. `processors_used` is their ratio, and
`processor_seconds_of_main_thread` what one core does while the others wait.
"""

from __future__ import annotations

import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

from experiments.benchmarks.engine import checked_out
from experiments.benchmarks.harness import ROOT, Session, row
from experiments.benchmarks.made_text import short_texts_file
from experiments.benchmarks.matrices import CORPORA

ONE_RUN = pathlib.Path(__file__).resolve().parent / "run_once.py"
TIMED = ("doccluster/pipeline", "doccluster/labeling", "doccluster/selection", "doccluster/clustering")
ROUNDS = 3
FIGURES = ("seconds", "processor_seconds", "processor_seconds_of_main_thread", "processors_used", "peak_bytes")


def measured_run(checkout: pathlib.Path, source: pathlib.Path, n_threads: int) -> dict[str, float]:
    """Return the figures of `run_once.py` in a process of its own."""
    run = json.dumps({"checkout": str(checkout), "source": str(source), "n_threads": n_threads})
    done = subprocess.run(
        [sys.executable, str(ONE_RUN), run], cwd=tempfile.gettempdir(), capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    return {name: float(value) for name, value in json.loads(done.stdout.splitlines()[-1]).items()}


def compare_runs(session: Session, source: pathlib.Path, *, n_threads: int = 2, rounds: int = ROUNDS) -> None:
    """Record the medians of runs of this checkout and of the other commit, the first, which compiles, left out."""
    with checked_out(session.against) as checkout:
        contenders = {"doccluster": ROOT, session.against: checkout}
        runs: dict[str, list[dict[str, float]]] = {name: [] for name in contenders}
        for turn in range(2 if session.quick else rounds + 1):
            for name, place in contenders.items():
                figures = measured_run(place, source, n_threads)
                session.say(f"  {session.row}: {name}: {figures['processor_seconds']:.1f} s of processors")
                if turn:
                    runs[name].append(figures)
    for figure in FIGURES:
        median = {name: statistics.median(run[figure] for run in of) for name, of in runs.items()}
        for name, value in median.items():
            session.record(f"{name}, {n_threads} thread(s)", figure, value, [run[figure] for run in runs[name]])
        if figure != "processors_used":
            share = median["doccluster"] / median[session.against]
            session.record(f"doccluster, {n_threads} thread(s)", f"{figure}_as_share_of_{session.against}", share)


@row("run-reuters", "Reuters with its report, two threads, as a share of an earlier commit")
def run_reuters(session: Session) -> None:
    if not (CORPORA / "reuters21578").is_dir():
        session.say(f"  {session.row}: no Reuters beside this checkout")
        return
    compare_runs(session, CORPORA / "reuters21578")
    compare_runs(session, CORPORA / "reuters21578", n_threads=1, rounds=1)


@row("run-short", "60,000 short texts without dates, their number of clusters chosen from the data")
def run_short(session: Session) -> None:
    path = short_texts_file(6_000 if session.quick else 60_000)
    if path is None:
        session.say(f"  {session.row}: no feeds beside this checkout")
        return
    compare_runs(session, path, rounds=1)


@row("run-short-many", "177,000 short texts: whether a step grows faster than the documents")
def run_short_many(session: Session) -> None:
    path = short_texts_file(12_000 if session.quick else 177_000)
    if path is None:
        session.say(f"  {session.row}: no feeds beside this checkout")
        return
    compare_runs(session, path, rounds=1)
