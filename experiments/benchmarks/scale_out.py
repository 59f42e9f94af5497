"""Beyond one process: what blocks cost in memory and time, how good seeds drawn in blocks are, and what travels."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import statistics
import tempfile
from collections.abc import Mapping
from typing import Any

import numpy as np

from experiments.benchmarks import cost_model, peers
from experiments.benchmarks.harness import Session, read_results, row
from experiments.benchmarks.made_text import text_file
from experiments.benchmarks.matrices import CORPORA
from experiments.benchmarks.whole_runs import MAIN, STAGES

TIMED = ("doccluster/clustering/k_means", "doccluster/corpus", "doccluster/distributed", "doccluster/pipeline")
N_DOCUMENTS, FEW = 100_000, 4_000
N_CLUSTERS = 20
MILLION, TEN_MILLION = 1_000_000, 10_000_000
HUNDRED = 100  # clusters, of ten million documents
RUNS = "experiments.benchmarks.whole_runs"
PLACES = {"2 threads": "on_threads", "local:1": "on_one_worker", "local:2": "on_two_workers"}


@row("memory", "a whole run of 100,000 made documents (k=20, one start): in one process, and in blocks on disk")
def memory(session: Session) -> None:
    """Measure processes of their own: peak memory for each byte of text, and processor seconds; labels are compared."""
    compare_blocks(session, "in_one_process", "in_blocks")


@row(
    "default",
    "a whole run of 100,000 made documents (k=20) by the default quality: in one process, and in blocks on disk",
)
def default(session: Session) -> None:
    """Measure the same of the default quality, ten starts, and the size of the scratch folder."""
    compare_blocks(session, "default_in_one_process", "default_in_blocks")


def compare_blocks(session: Session, one_process: str, blocks: str) -> None:
    """Record what two functions of whole runs measure, whether their labels and scores are the same."""
    n_documents = FEW if session.quick else N_DOCUMENTS
    found = session.compare_memory(
        {"one process": f"{RUNS}:{one_process}", "blocks on disk": f"{RUNS}:{blocks}"},
        n_documents=n_documents,
        n_clusters=N_CLUSTERS,
    )
    n_bytes = text_file(n_documents).stat().st_size
    for name, figures in found.items():
        session.record(name, "multiple_of_the_text", figures["peak_bytes_beyond_data"] / n_bytes)
    same = found["one process"]["checksum_of_labels"] == found["blocks on disk"]["checksum_of_labels"]
    session.record("blocks on disk", "same_labels", float(same))
    same = found["one process"]["checksum_of_scores"] == found["blocks on disk"]["checksum_of_scores"]
    session.record("blocks on disk", "same_scores", float(same))


@row("seeds", "the mean cosine of made documents to their centroid (k=20, one start), by where it begins; of 5 seeds")
def seeds(session: Session) -> None:
    """Compare a subsample with greedy k-means++ and random documents, over the same blocks."""
    n_documents = FEW if session.quick else N_DOCUMENTS // 4
    with tempfile.TemporaryDirectory() as folder:
        compare_seeds(session, peers.blocks_of(made_rows(n_documents), 4, folder), N_CLUSTERS, folder)


@row(
    "seeds-reuters",
    "the mean cosine of Reuters articles of one topic (k=66, one start), by where it begins; of 5 seeds",
)
def seeds_reuters(session: Session) -> None:
    """Compare them on a real corpus with as many clusters as topics."""
    compare_seeds_of(session, "reuters", 66)


@row("seeds-newsgroups", "the mean cosine of 20 Newsgroups (k=20, one start), by where it begins; of 5 seeds")
def seeds_newsgroups(session: Session) -> None:
    """Compare them on a real corpus of longer documents."""
    compare_seeds_of(session, "newsgroups", 20)


def compare_seeds_of(session: Session, name: str, n_clusters: int) -> None:
    """Compare where a fit of a real corpus begins, if the corpus is there."""
    from experiments.quality.corpora import is_there, load

    if not is_there(CORPORA, name):
        session.say(f"  {session.row}: no real corpora beside this checkout")
        return
    with tempfile.TemporaryDirectory() as folder:
        compare_seeds(session, peers.blocks_of(load(str(CORPORA), name)[1], 4, folder), n_clusters, folder)


def compare_seeds(session: Session, blocks: list, n_clusters: int, folder: str) -> None:
    """Record the objective of one start for each document, at its end and after the first iteration."""
    from doccluster.clustering.k_means.spherical import SphericalParameters
    from doccluster.distributed import FilePlace, cluster_blocks

    n_documents = sum(block.n_rows for block in blocks)
    for init in ("k-means++", "subsample", "random"):
        for figure, max_iter in (("mean_cosine", 300), ("mean_cosine_after_one_iteration", 1)):
            objectives = [
                cluster_blocks(
                    FilePlace(folder),
                    blocks,
                    SphericalParameters(
                        n_clusters, init=init, n_init=1, max_iter=max_iter, random_state=seed, n_threads=1
                    ),
                ).objective
                / n_documents
                for seed in range(1 if session.quick else 5)
            ]
            session.record(init, figure, statistics.median(objectives), objectives)


def made_rows(n_documents: int) -> Any:
    """Return the tf-idf rows of made documents."""
    from doccluster.vectors import vectorize

    with text_file(n_documents).open(encoding="ascii") as lines:
        return vectorize(list(lines), min_df=2).matrix


@row("workers", "a whole run of 100,000 made documents (k=20, one start): 2 threads, one and two workers of one thread")
def workers(session: Session) -> None:
    """Measure processes of their own, stage by stage; labels and scores are compared."""
    compare_places(session, FEW if session.quick else N_DOCUMENTS)


@row("workers-million", "a whole run of 1,000,000 made documents (k=20, one start): 2 threads, one and two workers")
def million(session: Session) -> None:
    """The same ten times as large; it takes a quarter of an hour and more."""
    compare_places(session, FEW if session.quick else MILLION)


def compare_places(session: Session, n_documents: int) -> None:
    """Record seconds of the run and of each stage, the efficiency of two workers, and whether labels are equal."""
    session.record("machine", "load_before", os.getloadavg()[0])
    found = session.compare_memory(
        {name: f"{RUNS}:{function}" for name, function in PLACES.items()},
        n_documents=n_documents,
        n_clusters=N_CLUSTERS,
    )
    if len(found) < len(PLACES):
        return
    one, two, threads = found["local:1"], found["local:2"], found["2 threads"]
    for stage in STAGES:
        name = f"{stage}_seconds"
        session.record("local:2", f"efficiency_of_{stage}", one[name] / two[name] / 2)
    session.record("local:2", "times_as_fast_as_local:1", one["run_seconds"] / two["run_seconds"])
    session.record("local:2", "seconds_over_2_threads", two["run_seconds"] / threads["run_seconds"])
    for what in ("labels", "scores"):
        different = {figures[f"checksum_of_{what}"] for figures in found.values()}
        session.record("local:2", f"same_{what}", float(len(different) == 1))


@row("two-at-once", "100,000 made documents (k=20, one start) on one thread: alone, and in two processes at once")
def two_at_once(session: Session) -> None:
    """Say what two processes that share nothing reach on this machine: no two workers can be faster."""
    found = session.compare_memory(
        {"alone": f"{RUNS}:on_one_thread", "two at once": f"{RUNS}:two_at_once"},
        repeats=3,
        n_documents=FEW if session.quick else N_DOCUMENTS,
        n_clusters=N_CLUSTERS,
    )
    if len(found) == 2:
        times = 2 * found["alone"]["run_seconds"] / found["two at once"]["run_seconds"]
        session.record("two at once", "times_as_fast_as_one_after_the_other", times)


@row("ten-million-workers", "10,000,000 made documents (k=100, one start) end to end on local:2, 3 GB for each worker")
def ten_million_on_workers(session: Session) -> None:
    """Run with Dask's limit on the workers, and record what each process held; labels are compared with the other row.

    It takes half an hour, 30 GB on the disk of temporary files, and 4 GB for the text.
    """
    run_ten_million(session, "local:2", "on_two_limited_workers", beside=("ten-million-disk", "blocks on disk"))


@row("ten-million-disk", "10,000,000 made documents (k=100, one start) end to end in one process, --max-memory 2G")
def ten_million_from_disk(session: Session) -> None:
    """The same out of core."""
    run_ten_million(session, "blocks on disk", "from_disk", beside=("ten-million-workers", "local:2"))


def run_ten_million(session: Session, name: str, function: str, *, beside: tuple[str, str]) -> None:
    """Record one run, and whether its labels and scores are those that another row has kept, if it has."""
    n_documents = FEW if session.quick else TEN_MILLION
    text_file(n_documents)  # made here, so that it counts for no run
    session.record("machine", "load_before", os.getloadavg()[0])
    found = session.compare_memory({name: f"{RUNS}:{function}"}, n_documents=n_documents, n_clusters=HUNDRED)
    row_name, other = beside
    kept = kept_figures(session.path, row_name, other)
    for what in ("labels", "scores") if name in found else ():
        figure = f"checksum_of_{what}"
        if figure in kept:
            session.record(name, f"same_{what}_as_{other}", float(found[name][figure] == kept[figure]))


def kept_figures(path: pathlib.Path, row_name: str, contender: str) -> dict[str, float]:
    """Return the newest figures of a contender that a row has kept."""
    lines = (line for line in read_results(path) if (line["row"], line["contender"]) == (row_name, contender))
    return {line["figure"]: float(line["value"]) for line in lines}


@row(
    "peers", "spherical k-means of blocks on disk (k=20, one start) beside Spark's and MiniBatchKMeans, one thread each"
)
def peers_over_sparse_rows(session: Session) -> None:
    """Compare time and the mean cosine of documents to the centroid of their cluster, over our tf-idf rows."""
    contenders = {"doccluster": "cluster_blocks_on_disk", "MiniBatchKMeans": "cluster_mini_batches"}
    version = peers.installed_version("pyspark")
    if version is not None:
        contenders[f"Spark {version}"] = "cluster_with_spark"
    else:
        session.say("  pyspark is not installed; pip install pyspark, which needs Java")
    compare_peers(session, made_rows(FEW if session.quick else N_DOCUMENTS), contenders)


@row(
    "peers-dense",
    "10,000 documents over their 4,000 most frequent terms (k=20): dask-ml's KMeans takes dense rows alone",
)
def peers_over_dense_rows(session: Session) -> None:
    """The same beside dask-ml, over a matrix that fits into memory in full; ours stay sparse."""
    version = peers.installed_version("dask-ml")
    if version is None:
        session.say("  dask-ml is not installed; pip install dask-ml")
        return
    n_documents, n_terms = (1_000, 500) if session.quick else (10_000, 4_000)
    rows = peers.of_frequent_terms(made_rows(n_documents), n_terms)
    compare_peers(session, rows, {"doccluster": "cluster_blocks_on_disk", f"dask-ml {version}": "cluster_with_dask_ml"})


def compare_peers(session: Session, rows: Any, contenders: dict[str, str]) -> None:
    """Run programs in turn over the same rows, each in a process of its own, and judge their labels alike."""
    here = "experiments.benchmarks.peers"
    with tempfile.TemporaryDirectory() as folder:
        path = peers.write_rows(rows, pathlib.Path(folder))
        functions = {name: f"{here}:{function}" for name, function in contenders.items()}
        found = session.compare_memory(functions, repeats=3, path=str(path), n_clusters=N_CLUSTERS)
        for name in found:
            labels = np.load(peers.labels_file(path, contenders[name]))
            session.record(name, "mean_cosine", peers.mean_cosine(rows, labels, N_CLUSTERS))
            session.record(name, "clusters", float(np.unique(labels).size))


@row(
    "model", "a model of larger clusters (k=100), fitted to runs of 30,000, 100,000 and 300,000 documents on one worker"
)
def model(session: Session) -> None:
    """Say what 10 to 1,000 workers would take, what that assumes, and how far the model was off at a size left out."""
    sizes = (1_000, 2_000, 4_000) if session.quick else (30_000, 100_000, 300_000)
    runs = [measured_run(session, f"{n:,} documents", n) for n in sizes]
    from_disk = measured_run(session, f"{sizes[1]:,} documents, nothing kept", sizes[1], max_memory="64M")
    of_an_iteration = [run.worker[cost_model.ITERATED] / run.n_iterations for run in (runs[1], from_disk)]
    costs = cost_model.fit(runs, slower_from_disk=max(1.0, of_an_iteration[1] / of_an_iteration[0]))
    compare_with_model(session, cost_model.fit(runs[:-1]), runs[-1], "fitted to the others")
    compare_with_kept(session, costs)
    for stage in cost_model.STAGES:
        for who, lines in (("the workers", costs.workers), ("the main machine", costs.main)):
            micro = 1e6 * lines[stage].of_a_document
            session.record(f"fitted: {who}", f"microseconds_of_a_document_in_{stage}", micro)
    session.record(
        "fitted: the workers", "an_iteration_of_which_nothing_is_kept_takes_longer_by", costs.slower_from_disk
    )
    for name, value in dataclasses.asdict(cost_model.ASSUMPTIONS).items():
        session.record("assumed", name.replace("bytes", "B"), float(value))
    for size in (1e8, 1e9):
        record_modelled(session, costs, size)


def measured_run(session: Session, name: str, n_documents: int, **options: Any) -> cost_model.Measured:
    """Return the processor time of a run on one worker, stage by stage."""
    name = f"measured: {name}"
    functions = {name: f"{RUNS}:computed_on_one_worker"}
    found = session.compare_memory(functions, n_documents=n_documents, n_clusters=HUNDRED, **options)
    return as_measured(found[name], n_documents)


def as_measured(figures: Mapping[str, float], n_documents: int) -> cost_model.Measured:
    """Return the figures of a watched run; what several workers computed is added."""

    def of(who: str, stage: str) -> float:
        ends = f"_computed_in_{stage}_seconds"
        return sum(value for name, value in figures.items() if name.startswith(who) and name.endswith(ends))

    main, workers = ({stage: of(who, stage) for stage in cost_model.STAGES} for who in (MAIN, "worker_"))
    return cost_model.Measured(n_documents, HUNDRED, max(1, int(figures["iterations"])), main, workers)


def compare_with_model(
    session: Session, costs: cost_model.Costs, run: cost_model.Measured, how: str, n_workers: int = 1
) -> None:
    """Record the processor seconds that the model says over those of a run, for each stage and in all."""
    name = f"predicted over measured: {run.n_documents:,} documents, {how}"
    predicted = cost_model.computed(costs, run, n_workers)
    measured = {stage: run.main[stage] + run.worker[stage] for stage in cost_model.STAGES}
    for stage in cost_model.STAGES:
        session.record(name, stage, predicted[stage] / measured[stage])
    session.record(name, "all stages", sum(predicted.values()) / sum(measured.values()))


def compare_with_kept(session: Session, costs: cost_model.Costs) -> None:
    """Compare the model with larger runs that other rows have kept, where they have."""
    kept = kept_figures(session.path, "ten-million-workers", "local:2")
    if f"{MAIN}_computed_in_read_seconds" in kept and not session.quick:
        compare_with_model(session, costs, as_measured(kept, TEN_MILLION), "two workers", 2)
    kept = kept_figures(session.path, "workers-million", "local:1")
    if "iterations" in kept and not session.quick:
        like = cost_model.Measured(MILLION, N_CLUSTERS, int(kept["iterations"]), {}, {})
        predicted = cost_model.computed(costs, like)
        for stage in STAGES:
            seconds = kept[f"{stage}_seconds"]
            session.record("predicted over measured: workers-million, local:1", stage, predicted[stage] / seconds)


def record_modelled(session: Session, costs: cost_model.Costs, size: float) -> None:
    """Record the hours that the model says for `n` documents, and where it says the limits are."""
    for n_workers in (10, 100, 1000):
        name = f"modelled: {size:.0e} documents, {n_workers:,} workers"
        on_workers, on_main = cost_model.modelled(costs, size, n_workers)
        shown = {"what_follows": sum(on_workers.pop(stage) for stage in ("label", "judge", "write")), **on_workers}
        for stage, seconds in shown.items():
            session.record(name, f"hours_of_{stage}", seconds / 3600)
        session.record(name, "hours_of_the_main_machine", sum(on_main.values()) / 3600)
        session.record(name, "hours_in_all", (sum(shown.values()) + sum(on_main.values())) / 3600)
    name = f"modelled: {size:.0e} documents"
    for times, terms in ((1, ""), (10, "_of_a_tenth_of_the_terms")):
        limit = cost_model.table_limit(costs, size, cost_model.with_fewer_terms(times))
        session.record(name, f"workers_from_which_the_table{terms}_takes_longer", limit)
    limit = cost_model.main_limit(costs, size)
    session.record(name, "workers_from_which_the_main_machine_takes_longer", limit)
