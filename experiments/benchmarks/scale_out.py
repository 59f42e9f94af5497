"""Beyond one process: what blocks cost in memory and time, how good seeds drawn in blocks are, and what travels."""

from __future__ import annotations

import itertools
import os
import pathlib
import statistics
import tempfile
import time

import numpy as np

from experiments.benchmarks.harness import Session, read_results, row
from experiments.benchmarks.made_text import text_file
from experiments.benchmarks.matrices import CORPORA
from experiments.benchmarks.whole_runs import STAGES

N_DOCUMENTS, FEW = 100_000, 4_000
N_CLUSTERS = 20
MILLION, TEN_MILLION = 1_000_000, 10_000_000
HUNDRED = 100  # clusters, of ten million documents
RUNS = "experiments.benchmarks.whole_runs"
PLACES = {"2 threads": "on_threads", "local:1": "on_one_worker", "local:2": "on_two_workers"}


@row("memory", "a whole run of 100,000 made documents (k=20, one start): in one process, and in blocks on disk")
def memory(session: Session) -> None:
    """Measure processes of their own: peak memory for each byte of text, and processor seconds; labels are compared."""
    n_documents = FEW if session.quick else N_DOCUMENTS
    found = session.compare_memory(
        {"one process": f"{RUNS}:in_one_process", "blocks on disk": f"{RUNS}:in_blocks"},
        n_documents=n_documents,
        n_clusters=N_CLUSTERS,
    )
    n_bytes = text_file(n_documents).stat().st_size
    for name, figures in found.items():
        session.record(name, "multiple_of_the_text", figures["peak_bytes_beyond_data"] / n_bytes)
    same = found["one process"]["checksum_of_labels"] == found["blocks on disk"]["checksum_of_labels"]
    session.record("blocks on disk", "same_labels", float(same))


@row("travelling", "what an iteration moves: made documents in 8 blocks, k=20, to the last iteration")
def travelling(session: Session) -> None:
    """Count the bytes of the messages: the rows of the table that changed, and the sums of what moved."""
    n_documents = FEW if session.quick else N_DOCUMENTS // 4
    with tempfile.TemporaryDirectory() as folder:
        blocks = made_blocks(n_documents, 8, folder)
        moved = iterations(blocks, folder)
    sent, received = np.array(moved, dtype=np.float64).T
    for name, values in (("sent to each worker", sent), ("brought back", received)):
        middle = float(np.median(values[1:]))
        session.record(name, "KiB_in_the_first_iteration", float(values[1]) / 1024)
        session.record(name, "KiB_in_the_median_iteration", middle / 1024)
        session.record(name, "KiB_in_the_last_iteration", float(values[-1]) / 1024)
        session.record(
            name, "B_for_each_document_and_cluster_in_the_median_iteration", middle / n_documents / N_CLUSTERS
        )
    session.record("sent to each worker", "iterations", float(sent.size - 1))


@row("seeds", "the mean cosine of made documents to their centroid (k=20, one start), by where it begins; of 5 seeds")
def seeds(session: Session) -> None:
    """Compare k-means|| and a subsample with greedy k-means++ and random documents, over the same blocks."""
    n_documents = FEW if session.quick else N_DOCUMENTS // 4
    with tempfile.TemporaryDirectory() as folder:
        compare_seeds(session, made_blocks(n_documents, 4, folder), N_CLUSTERS, folder)


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
        compare_seeds(session, blocks_of(load(str(CORPORA), name)[1], 4, folder), n_clusters, folder)


def compare_seeds(session: Session, blocks: list, n_clusters: int, folder: str) -> None:
    """Record the objective of one start for each document, at its end and after the first iteration."""
    from doccluster.clustering.k_means.spherical import SphericalParameters
    from doccluster.distributed import Sequential, cluster_blocks

    n_documents = sum(block.n_rows for block in blocks)
    for init in ("k-means++", "k-means||", "subsample", "random"):
        for figure, max_iter in (("mean_cosine", 300), ("mean_cosine_after_one_iteration", 1)):
            objectives = [
                cluster_blocks(
                    Sequential(),
                    blocks,
                    SphericalParameters(
                        n_clusters, init=init, n_init=1, max_iter=max_iter, random_state=seed, n_threads=1
                    ),
                    scratch=folder,
                ).objective
                / n_documents
                for seed in range(1 if session.quick else 5)
            ]
            session.record(init, figure, statistics.median(objectives), objectives)


def made_blocks(n_documents: int, n_blocks: int, folder: str) -> list:
    """Return the tf-idf rows of made documents in blocks."""
    from doccluster.vectors import vectorize

    with text_file(n_documents).open(encoding="ascii") as lines:
        return blocks_of(vectorize(list(lines), min_df=2).matrix, n_blocks, folder)


def blocks_of(matrix: object, n_blocks: int, folder: str) -> list:
    """Return unit rows in blocks of nearly the same number of documents."""
    from doccluster.distributed import write_block

    edges = np.linspace(0, matrix.shape[0], n_blocks + 1).astype(int)
    return [
        write_block(f"{folder}/block-{first}", matrix[first:last], first=int(first))
        for first, last in itertools.pairwise(edges)
    ]


def iterations(blocks: list, folder: str) -> tuple[tuple[int, int], ...]:
    """Return the bytes that each iteration of one start sent and brought back."""
    from doccluster.clustering.k_means.spherical import SphericalParameters
    from doccluster.distributed import Sequential
    from doccluster.distributed.iterations import Iterations, Settings
    from doccluster.distributed.seeds import SeedRows, draw_seeds

    rows = SeedRows(Sequential(), blocks, None)
    plan = SphericalParameters(N_CLUSTERS).plan_for(rows.frequencies, rows.n_documents)
    seeds_drawn = draw_seeds(rows, N_CLUSTERS, "subsample", np.random.default_rng(0), plan, pathlib.Path(folder))
    return Iterations(Sequential(), blocks, seeds_drawn, folder, settings=Settings(tol=0.0)).run().bytes_per_iteration


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


@row("ten-million-workers", "10,000,000 made documents (k=100, one start) end to end on local:2, 3 GB for each worker")
def ten_million_on_workers(session: Session) -> None:
    """Run with Dask's limit on the workers, and record what each process held; labels are compared with the other row.

    It takes an hour or more, 40 GB on the disk of temporary files, and 4 GB for the text.
    """
    run_ten_million(session, "local:2", "on_two_limited_workers", beside=("ten-million-disk", "blocks on disk"))


@row("ten-million-disk", "10,000,000 made documents (k=100, one start) end to end in one process, --max-memory 2G")
def ten_million_from_disk(session: Session) -> None:
    """The same out of core."""
    run_ten_million(session, "blocks on disk", "from_disk", beside=("ten-million-workers", "local:2"))


def run_ten_million(session: Session, name: str, function: str, *, beside: tuple[str, str]) -> None:
    """Record one run, and whether its labels and scores are those that another row has kept, if it has."""
    n_documents = FEW if session.quick else TEN_MILLION
    text_file(n_documents)  # made here, so that it counts for nobody
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


@row("streaming-peer", "spherical k-means of blocks on disk (k=20, one start) beside MiniBatchKMeans, fed by blocks")
def streaming_peer(session: Session) -> None:
    """Compare processor seconds and the mean cosine of documents to the centroid of their cluster."""
    n_documents = FEW if session.quick else N_DOCUMENTS
    with tempfile.TemporaryDirectory() as folder:
        blocks = made_blocks(n_documents, 8, folder)
        found: dict[str, list[np.ndarray]] = {"doccluster": [], "MiniBatchKMeans": []}
        session.compare_on_one_thread(
            {
                "doccluster": lambda: found["doccluster"].append(_ours(blocks, folder)),
                "MiniBatchKMeans": lambda: found["MiniBatchKMeans"].append(_mini_batches(blocks)),
            },
            repeats=1,
        )
        for name, labels in found.items():
            session.record(name, "mean_cosine", mean_cosine(blocks, labels[-1]))


def _ours(blocks: list, folder: str) -> np.ndarray:
    from doccluster.clustering.k_means.spherical import SphericalParameters
    from doccluster.distributed import Sequential, cluster_blocks

    parameters = SphericalParameters(N_CLUSTERS, init="subsample", n_init=1, random_state=0, n_threads=1)
    return cluster_blocks(Sequential(), blocks, parameters, scratch=folder, keep_bytes=0).labels


def _mini_batches(blocks: list) -> np.ndarray:
    from sklearn.cluster import MiniBatchKMeans

    model = MiniBatchKMeans(N_CLUSTERS, random_state=0, n_init=1)
    for _ in range(3):  # epochs
        for block in blocks:
            for first in range(0, block.n_rows, 1024):
                model.partial_fit(block.matrix[first : first + 1024])
    return np.concatenate([model.predict(block.matrix) for block in blocks])


def mean_cosine(blocks: list, labels: np.ndarray) -> float:
    """Return the mean cosine of unit rows to the centroid of their cluster: the lengths of the sums by cluster."""
    from scipy import sparse

    total = 0
    for block in blocks:
        own = labels[block.places]
        members = sparse.csr_array((np.ones(own.size), (own, np.arange(own.size))), shape=(N_CLUSTERS, own.size))
        total = total + members @ block.matrix.astype(np.float64)
    return float(np.sqrt(total.multiply(total).sum(axis=1)).sum() / labels.size)


@row("model", "a model of larger clusters (assumptions: experiments/benchmarks/cost_model.py), from one run of 100,000")
def model(session: Session) -> None:
    """Fit the costs of a document to a run in blocks on one thread, and say what 10 to 1,000 workers would take."""
    from experiments.benchmarks import cost_model

    n_documents = FEW if session.quick else N_DOCUMENTS
    found = session.compare_memory({"measured": "experiments.benchmarks.scale_out:spent"}, n_documents=n_documents)
    measured = found["measured"]
    costs = cost_model.Costs(
        measured["read"] / n_documents,
        measured["vectorize"] / n_documents,
        measured["cluster"] / n_documents / N_CLUSTERS / measured["iterations"],
        (measured["label"] + measured["judge"]) / n_documents,
    )
    for size in (1e8, 1e9):
        for n_workers in (10, 100, 1000):
            name = f"modelled: {size:.0e} documents, {n_workers:,} workers"
            for stage, seconds in cost_model.stages(costs, size, n_workers).items():
                session.record(name, f"hours_of_{stage}", seconds / 3600)
        limit = cost_model.table_limit(costs, size)
        session.record(f"modelled: {size:.0e} documents", "workers_from_which_the_table_takes_longer", limit)


def spent(n_documents: int) -> dict[str, float]:
    """Return the processor seconds of each stage of a run in blocks on one thread, and its iterations."""
    path = text_file(n_documents)
    started: dict[str, float] = {}
    iterations = [1]

    def note(stage: str, done: int, total: int | None = None) -> None:
        started.setdefault(stage, time.process_time())
        if stage == "cluster":
            iterations[0] = max(iterations[0], done)

    _warm_up()
    from doccluster.pipeline import run_pipeline

    with tempfile.TemporaryDirectory() as folder:
        run_pipeline(
            pathlib.Path(path),
            n_clusters=N_CLUSTERS,
            algorithm="spherical-k-means:n_init=1,init=subsample",
            reader={"format": "lines"},
            language="none",
            n_threads=1,
            scratch=folder,
            progress=note,
        )
    ends = [*(started[stage] for stage in STAGES[1:]), time.process_time()]
    seconds = {stage: end - started[stage] for stage, end in zip(STAGES, ends, strict=True)}
    return {**seconds, "iterations": float(iterations[0])}


def _warm_up() -> None:
    """Compile what has not been, so that it counts for no stage."""
    from doccluster.pipeline import run_pipeline

    with tempfile.TemporaryDirectory() as folder:
        texts = pathlib.Path(folder) / "few.txt"
        texts.write_text("\n".join(f"oil price {n} wheat rain sun {n % 7}" for n in range(300)), encoding="ascii")
        few = {"n_clusters": 20, "algorithm": "spherical-k-means:n_init=1,init=subsample", "n_threads": 1}
        run_pipeline(texts, reader={"format": "lines"}, scratch=folder, **few)
