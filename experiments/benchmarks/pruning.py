"""Pruning beside plain sweeps of spherical k-means, from 2 to 1,000 clusters: from how many clusters on it pays.

Each corpus is clustered from the same random documents until nothing moves, on one thread, by three ways in turn: plain
sweeps, every iteration pruned, and pruned where a sample of the documents says that it is cheaper. The labels are the
same, so the three make the same iterations. Sums and means are updated the same way in all of them. Small matrices are
held to this way too, although a fit by default keeps their means as whole tables.
"""

from __future__ import annotations

import statistics
import time

from doccluster.clustering.k_means.pruning import FEWEST_CLUSTERS
from experiments.benchmarks.clustering import FIRST_TIMED, FULL, LAST_TIMED, data, load_kernels
from experiments.benchmarks.harness import Session, row
from experiments.benchmarks.matrices import load_matrix, random_rows, real_names

TIMED = ("doccluster/clustering/k_means", "doccluster/kernels")
CLUSTERS = (2, 5, 10, 20, 32, 50, 64, 80, 100, 200, 500, 1000)
REPEATS = 3
WAYS = {"plain": "lloyd", "always pruned": "pruned", "pruned where a sample says so": "auto"}
TITLE = "plain sweeps over pruning, until nothing moves, one thread; the default prunes from {} clusters on: {}"


def fit_seconds(name: str, n_clusters: int, algorithm: str) -> tuple[float, float]:
    """Return the processor seconds of a whole fit, and of an iteration, the third to the eighth if so many are made."""
    from doccluster.clustering.k_means.document_matrix import prepare
    from doccluster.clustering.k_means.lloyd import Limits, run_start
    from doccluster.clustering.k_means.means import means_of_rows

    documents, _ = prepare(load_matrix(name))
    means, ends = means_of_rows(documents, random_rows(name, n_clusters)), []
    limits = Limits(tol=FULL, whole_tables=False, algorithm=algorithm, fewest_clusters=0)
    started = time.process_time()
    run_start(documents, means, limits, keep=lambda _: ends.append(time.process_time()))
    last = min(len(ends), LAST_TIMED)
    first = min(FIRST_TIMED, last - 1)
    return time.process_time() - started, (ends[last - 1] - ends[first - 1]) / (last - first)


def compare_ways(session: Session, name: str) -> None:
    """Record how many times what pruning takes plain sweeps take, for each number of clusters."""
    load_kernels()
    for k in (5, 100) if session.quick else CLUSTERS:
        taken: dict[str, list[tuple[float, float]]] = {way: [] for way in WAYS}
        for _ in range(1 if session.quick else REPEATS):
            for way, algorithm in WAYS.items():
                taken[way].append(fit_seconds(name, k, algorithm))
        fits, iterations = ({way: [pair[i] for pair in taken[way]] for way in WAYS} for i in (0, 1))
        session.record(f"k = {k}", "a plain fit, processor_seconds", statistics.median(fits["plain"]), fits["plain"])
        for what, seconds in (("fit", fits), ("iteration", iterations)):
            for way in list(WAYS)[1:]:
                ratio = statistics.median(seconds["plain"]) / statistics.median(seconds[way])
                session.record(f"k = {k}", f"plain over {way}, per {what}", ratio)


@row("pruning-la1", TITLE.format(FEWEST_CLUSTERS, "la1, 3,204 articles"))
def la1(session: Session) -> None:
    if "la1" in real_names():
        compare_ways(session, "la1")
    else:
        session.say(f"  {session.row}: no real corpora beside this checkout")


@row("pruning-reuters", TITLE.format(FEWEST_CLUSTERS, "Reuters-21578"))
def reuters(session: Session) -> None:
    if "reuters" in real_names():
        compare_ways(session, "reuters")
    else:
        session.say(f"  {session.row}: no real corpora beside this checkout")


@row("pruning-debian", TITLE.format(FEWEST_CLUSTERS, "the descriptions of all Debian packages"))
def debian(session: Session) -> None:
    compare_ways(session, data(session, "debian"))
