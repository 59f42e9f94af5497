"""Beyond one process: what blocks cost in memory and time, how good seeds drawn in blocks are, and what travels."""

from __future__ import annotations

import itertools
import pathlib
import resource
import statistics
import tempfile

import numpy as np

from experiments.benchmarks.harness import Session, row
from experiments.benchmarks.made_text import text_file

N_DOCUMENTS, FEW = 100_000, 4_000
N_CLUSTERS = 20


@row("memory", "a whole run of 100,000 made documents (k=20, one start): in one process, and in blocks on disk")
def memory(session: Session) -> None:
    """Measure processes of their own: peak memory for each byte of text, and processor seconds; labels are compared."""
    n_documents = FEW if session.quick else N_DOCUMENTS
    here = "experiments.benchmarks.scale_out"
    found = session.compare_memory(
        {"one process": f"{here}:run_in_one_process", "blocks on disk": f"{here}:run_in_blocks"},
        n_documents=n_documents,
    )
    n_bytes = text_file(n_documents).stat().st_size
    for name, figures in found.items():
        session.record(name, "multiple_of_the_text", figures["peak_bytes_beyond_data"] / n_bytes)
    same = found["one process"]["checksum_of_labels"] == found["blocks on disk"]["checksum_of_labels"]
    session.record("blocks on disk", "same_labels", float(same))


def run_in_one_process(n_documents: int) -> dict[str, float]:
    """Run in this process."""
    return _run(n_documents)


def run_in_blocks(n_documents: int) -> dict[str, float]:
    """Run in blocks, of which nothing is kept in memory between iterations."""
    with tempfile.TemporaryDirectory() as folder:
        return _run(n_documents, scratch=folder, max_memory="64M")


def _run(n_documents: int, max_memory: str | None = None, **where: str) -> dict[str, float]:
    from doccluster.artifacts.run_folder import labels_checksum
    from doccluster.pipeline import run_pipeline
    from experiments.benchmarks.harness import start_clock

    path = text_file(n_documents)
    start_clock()
    with tempfile.TemporaryDirectory() as folder:
        run = run_pipeline(
            pathlib.Path(path),
            n_clusters=N_CLUSTERS,
            algorithm="spherical-k-means:n_init=1,init=subsample",
            clustering=None if max_memory is None else {"max_memory": max_memory},
            reader={"format": "lines"},
            language="none",
            n_threads=1,
            report=False,
            output=pathlib.Path(folder) / "run",
            **where,
        )
    used = resource.getrusage(resource.RUSAGE_SELF)
    # as much of the checksum as a float holds exactly
    return {
        "processor_seconds": used.ru_utime + used.ru_stime,
        "checksum_of_labels": float(int(labels_checksum(run)[:12], 16)),
    }


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


@row("seeds", "the objective of spherical k-means (k=20, one start), by where it begins; the median of 5 seeds")
def seeds(session: Session) -> None:
    """Compare k-means|| and a subsample with greedy k-means++ and random documents, over the same blocks."""
    from doccluster.clustering.k_means.spherical import SphericalParameters
    from doccluster.distributed import Sequential, cluster_blocks

    n_documents = FEW if session.quick else N_DOCUMENTS // 4
    with tempfile.TemporaryDirectory() as folder:
        blocks = made_blocks(n_documents, 4, folder)
        for init in ("k-means++", "k-means||", "subsample", "random"):
            objectives = [
                cluster_blocks(
                    Sequential(),
                    blocks,
                    SphericalParameters(N_CLUSTERS, init=init, n_init=1, random_state=seed, n_threads=1),
                    scratch=folder,
                ).objective
                / n_documents
                for seed in range(1 if session.quick else 5)
            ]
            session.record(init, "mean_cosine", statistics.median(objectives), objectives)


def made_blocks(n_documents: int, n_blocks: int, folder: str) -> list:
    """Return the tf-idf rows of made documents in blocks."""
    from doccluster.distributed import write_block
    from doccluster.vectors import vectorize

    with text_file(n_documents).open(encoding="ascii") as lines:
        matrix = vectorize(list(lines), min_df=2).matrix
    edges = np.linspace(0, n_documents, n_blocks + 1).astype(int)
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
