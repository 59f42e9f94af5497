"""Whole runs with their report, by default and with `--threads 1`: what threads and worker processes gain, and cost.

The two take turns. `processor_seconds` are those of all processes of a run, `peak_bytes` those of the largest of them.
"""

from __future__ import annotations

import pathlib
import statistics
import sys
import tarfile
import tempfile

from experiments.benchmarks.harness import Session, measure_command, row
from experiments.benchmarks.matrices import CORPORA

TIMED = ("doccluster/base/worker_processes.py", "doccluster/pipeline", "doccluster/report", "doccluster/stories")
ROUNDS = 5
RUN = (sys.executable, "-m", "doccluster", "run")
ALONE, DEFAULT = "--threads 1", "default"


def compare_processes(session: Session, source: pathlib.Path) -> None:
    """Record the medians of runs of a source, the first of each, which may compile, left out."""
    if not source.exists():
        session.say(f"  {session.row}: no {source.name} beside this checkout")
        return
    runs: dict[str, list[dict[str, float]]] = {DEFAULT: [], ALONE: []}
    with tempfile.TemporaryDirectory() as folder:
        if source.suffix == ".xz":
            with tarfile.open(source) as archive:
                archive.extractall(f"{folder}/source", filter="data")
            source = pathlib.Path(f"{folder}/source")
        for turn in range(2 if session.quick else ROUNDS + 1):
            for name, options in ((DEFAULT, []), (ALONE, ALONE.split())):
                run = [*RUN, str(source), "--overwrite", "-o", f"{folder}/run", *options]
                figures = measure_command(run)
                session.say(f"  {session.row}: {name}: {figures['seconds']:.1f} s")
                if turn:
                    runs[name].append(figures)
    for figure in ("seconds", "processor_seconds", "peak_bytes"):
        for name, of_runs in runs.items():
            values = [figures[figure] for figures in of_runs]
            session.record(name, figure, statistics.median(values), values)
        share = session.figures[DEFAULT, figure] / session.figures[ALONE, figure]
        session.record(DEFAULT, f"{figure}_as_share_of_one_thread", share)


@row("processes-news", "two weeks of news with their report: seconds at most .65 of those of one thread")
def news(session: Session) -> None:
    compare_processes(session, CORPORA / "news_feeds_may" / "articles.jsonl.gz")


@row("processes-reuters", "Reuters with its report: seconds at most .65 of those of one thread")
def reuters(session: Session) -> None:
    compare_processes(session, CORPORA / "reuters21578")


@row("processes-newsgroups", "20 Newsgroups as files, with their report: seconds at most .65 of those of one thread")
def newsgroups(session: Session) -> None:
    compare_processes(session, CORPORA / "newsgroups20" / "20news-18828.tar.xz")
