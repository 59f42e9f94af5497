"""Whole fits of spherical k-means from the same documents: this checkout, an earlier commit of it, and scikit-learn.

Every fit is timed in a process of its own, in turn, by processor time: two versions of compiled code in one process
slow each other down. The earlier commit (`--against COMMIT`) is checked out in a git worktree beside this one. Ours go
on until nothing moves; the labels of both are compared, and a fit that differs is an error.
"""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from experiments.benchmarks.harness import ROOT, Session, git, row
from experiments.benchmarks.matrices import REAL, matrix_path, random_rows, real_names

FIT = pathlib.Path(__file__).resolve().parent / "engine_fit.py"
TIMED = ("doccluster/clustering/k_means", "doccluster/base/compiled.py")
PEER = "scikit-learn lloyd"  # the targets are for the earlier commit; `clustering` has those for this
ROUNDS = 2  # processes of each
REPEATS, SHORT_REPEATS = 3, 15  # fits in each of them, after one that is not timed; more of those that take no time


@contextmanager
def checked_out(commit: str) -> Iterator[pathlib.Path]:
    """Yield a folder with a commit checked out, which is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="against-") as folder:
        place = pathlib.Path(folder) / "checkout"
        done = git("worktree", "add", "--detach", str(place), commit)
        if done.returncode:
            raise SystemExit(f"there is no commit {commit} here: {done.stderr.strip()}")
        try:
            yield place
        finally:
            git("worktree", "remove", "--force", str(place))


def measured_fit(checkout: pathlib.Path | None, **fit: object) -> dict[str, float | str]:
    """Return the figures of `engine_fit.py` in a process of its own; without a checkout those of scikit-learn."""
    command = [sys.executable, str(FIT), json.dumps({"checkout": checkout and str(checkout), **fit})]
    done = subprocess.run(command, cwd=tempfile.gettempdir(), capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    return dict(json.loads(done.stdout.splitlines()[-1]))


def compare_fits(
    session: Session, checkout: pathlib.Path, name: str, n_clusters: int, n_threads: int = 1, *, weighted: bool = False
) -> None:
    """Record processor seconds and peak memory of fits of this checkout, the other commit and scikit-learn."""
    matrix_path(name)
    fit = {
        "matrix": str(matrix_path(name)),
        "rows": random_rows(name, n_clusters).tolist(),
        "n_threads": n_threads,
        "repeats": 1 if session.quick or n_clusters > 100 else REPEATS if n_clusters > 15 else SHORT_REPEATS,
        "weighted": weighted,
    }
    where = f"{name}, k={n_clusters}, {n_threads} thread(s)" + (", uneven weights" if weighted else "")
    contenders: dict[str, pathlib.Path | None] = {"doccluster": ROOT, session.against: checkout}
    if n_clusters <= 100 and not weighted:
        contenders[PEER] = None
    runs: dict[str, list[dict[str, float | str]]] = {contender: [] for contender in contenders}
    for _ in range(1 if session.quick else ROUNDS):
        for contender, place in contenders.items():
            runs[contender].append(measured_fit(place, **fit))
    labels = {str(run["labels"]) for contender in ("doccluster", session.against) for run in runs[contender]}
    if len(labels) > 1:
        raise AssertionError(f"labels of {where} differ between this checkout and {session.against}")
    for figure in ("processor_seconds", "peak_bytes_beyond_data"):
        best = {who: min(float(run[figure]) for run in of) for who, of in runs.items()}
        for who, value in best.items():
            session.record(f"{who}, {where}", figure, value, [float(run[figure]) for run in runs[who]])
            if who != "doccluster":
                session.record(f"{who}, {where}", f"{figure}_times_ours", value / best["doccluster"])


def compare_real(session: Session, names: tuple[str, ...]) -> None:
    """Compare fits of real corpora with as many clusters as they have classes, by one and two threads."""
    there = [name for name in names if name in real_names()]
    if not there:
        session.say(f"  {session.row}: no real corpora beside this checkout")
    with checked_out(session.against) as checkout:
        for n_threads in (1, 2):
            for name in there[:1] if session.quick else there:
                compare_fits(session, checkout, name, REAL[name], n_threads)


@row(
    "against-cluto",
    "whole fits of CLUTO's matrices, k = classes, over an earlier commit",
    target=1.8,
    no_target_for=PEER,
)
def against_cluto(session: Session) -> None:
    compare_real(session, ("re0", "la1", "hitech", "k1b", "tr11"))


@row("against-news", "whole fits of Reuters and 20 Newsgroups, k = classes", target=1.6, no_target_for=PEER)
def against_news(session: Session) -> None:
    compare_real(session, ("reuters", "newsgroups"))


@row("against-many", "whole fits of Reuters and 20 thousand made documents, k=300, 1,000 and 3,000", target=1.0)
def against_many(session: Session) -> None:
    names = [name for name in ("reuters", "made-20k") if name == "made-20k" or name in real_names()]
    with checked_out(session.against) as checkout:
        for name in names[-1:] if session.quick else names:
            for k in (300,) if session.quick else (300, 1000, 3000):
                compare_fits(session, checkout, name, k)


@row("against-weighted", "whole fits with uneven weights", target=1.0)
def against_weighted(session: Session) -> None:
    with checked_out(session.against) as checkout:
        for name in [name for name in ("la1", "reuters") if name in real_names()]:
            compare_fits(session, checkout, name, REAL[name], weighted=True)
