"""What the commands of the landing page print, and the report they write: made when the site is built."""

from __future__ import annotations

import functools
import os
import pathlib
import subprocess
import sys
import tempfile

import doccluster
from doccluster.measures import Evaluation

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMMAND = "doccluster demo"
WIDTH = 118
HEADLINES = (  # benchmarks whose line of the page of performance is also shown by itself
    *("fit-debian-100", "fit-reuters-66", "iteration-100k-500", "sparsekmeans-100", "seeds-debian-100", "memory-2000"),
    *("external-1m", "ami-1m", "silhouette-cosine-20k", "vmf-sampling"),
)


@functools.cache
def sample_run() -> tuple[str, pathlib.Path]:
    """Run the command of the landing page; return what it printed and the folder of the run."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="doccluster-site-"))
    for _ in range(2):  # the page shows a second run, without the time of compiling
        done = subprocess.run(
            [sys.executable, "-m", "doccluster", *COMMAND.split()[1:]],
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=True,
            cwd=folder,
            env={**os.environ, "COLUMNS": str(WIDTH), "PYTHONUTF8": "1", "PYTHONPATH": str(ROOT)},
        )
    return done.stdout, folder / "doccluster-demo"


@functools.cache
def sample_scores() -> Evaluation:
    """Return the value of every measure for the clusters of the landing page."""
    run = doccluster.load_run(sample_run()[1])
    truth = [labels[0] for labels in run.documents.labels["story"]]
    return doccluster.evaluate(run.partition, truth=truth, vectors=run.vectors, measures="all")


def headlines() -> str:
    """Return the first line of some benchmarks, as the page of performance has it."""
    page = (ROOT / "docs" / "evidence" / "performance.md").read_text(encoding="utf-8")
    table = [line for line in page.split("\n") if line.startswith("| ")]
    lines = [next(line for line in table if f"(`{name}`)" in line) for name in HEADLINES]
    return "\n".join(["| what | against | ratio | target | |", "|---|---|---|---|---|", *lines]) + "\n"


def sample_pages() -> dict[str, str]:
    """Return the files that pages include: the output of the command, and the report for the frame."""
    printed, folder = sample_run()
    lines = [line for line in printed.rstrip().split("\n") if not line.startswith("$ ")]  # `run`, with a long path
    first = next(place for place, line in enumerate(lines) if line.startswith("────")) + 13
    last = next(place for place, line in enumerate(lines) if line.startswith("  silhouette")) - 1
    shown = [*lines[:first], f"… {(last - first) // 2} more clusters", *lines[last:]]
    return {
        "generated/first-run.txt": "\n".join([f"$ {COMMAND}", *shown]) + "\n",
        "generated/headlines.md": headlines(),
        "_extra/newsroom-report.html": (folder / "report.html")
        .read_text(encoding="utf-8")
        .replace(f"{ROOT}{os.sep}", ""),
    }
