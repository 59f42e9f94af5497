"""Bounds of spherical k-means beside sweeps over every row, from 5 to 500 clusters: what skipping documents saves.

Each corpus is clustered from the same random documents until nothing moves, on one thread, both ways in turn. The
labels are the same, so both make the same iterations. Sums and means are updated the same way.
"""

from __future__ import annotations

import statistics
import time

from doccluster.clustering.k_means.sweep import MAX_GROUPS
from doccluster.geometry import as_documents
from experiments.benchmarks.clustering import FULL, data, load_kernels
from experiments.benchmarks.harness import Session, row
from experiments.benchmarks.matrices import load_matrix, random_rows, real_names

TIMED = ("doccluster/clustering/k_means", "doccluster/base/compiled.py")
CLUSTERS = (5, 20, 66, 200, 500)
REPEATS = 3
WAYS = {"every row": 0, "bounds": MAX_GROUPS}
TITLE = "sweeps over every row over those that bounds leave, until nothing moves, one thread: {}"


def fit_seconds(name: str, n_clusters: int, n_groups: int) -> float:
    """Return the processor seconds of a whole fit."""
    from doccluster.clustering.k_means.lloyd import Limits, run_start
    from doccluster.clustering.k_means.lloyd_steps import LloydSteps
    from doccluster.clustering.k_means.unit_documents import unit_documents

    documents = unit_documents(as_documents(load_matrix(name)))
    means = documents.matrix[random_rows(name, n_clusters)]
    started = time.process_time()
    run_start(LloydSteps(documents, means, n_groups=n_groups), Limits(tol=FULL))
    return time.process_time() - started


def compare_ways(session: Session, name: str) -> None:
    """Record how many times what bounds take sweeps over every row take, for each number of clusters."""
    load_kernels()
    for k in (5, 66) if session.quick else CLUSTERS:
        taken: dict[str, list[float]] = {way: [] for way in WAYS}
        for _ in range(1 if session.quick else REPEATS):
            for way, n_groups in WAYS.items():
                taken[way].append(fit_seconds(name, k, n_groups))
        every, bounds = taken.values()
        session.record(f"k = {k}", "with bounds, processor_seconds", statistics.median(bounds), bounds)
        session.record(f"k = {k}", "every row over bounds", statistics.median(every) / statistics.median(bounds))


@row("pruning-la1", TITLE.format("la1, 3,204 articles"))
def la1(session: Session) -> None:
    if "la1" in real_names():
        compare_ways(session, "la1")
    else:
        session.say(f"  {session.row}: no real corpora beside this checkout")


@row("pruning-reuters", TITLE.format("Reuters-21578"))
def reuters(session: Session) -> None:
    if "reuters" in real_names():
        compare_ways(session, "reuters")
    else:
        session.say(f"  {session.row}: no real corpora beside this checkout")


@row("pruning-made-20k", TITLE.format("20 thousand made documents of 140 terms"))
def made(session: Session) -> None:
    compare_ways(session, data(session, "made-20k"))
