"""Drawing von Mises-Fisher samples beside scipy, memory in many dimensions, and the cost of a step of the mixture."""

from __future__ import annotations

import statistics
import time
from typing import Any

import numpy as np

from experiments.benchmarks.harness import Session, row, start_clock


@row("vmf-sampling", "100,000 draws in 1,000 dimensions, kappa = 100, beside scipy", target=10.0)
def sampling(session: Session) -> None:
    """Compare sample_vmf with vonmises_fisher.rvs on the same mean."""
    from scipy import stats

    from doccluster.synthetic import sample_vmf

    size, n_terms = (2000, 200) if session.quick else (100_000, 1000)
    mean = np.full(n_terms, 1 / np.sqrt(n_terms))
    sample_vmf(mean, 100.0, 10, 0)  # compile outside the clock
    sample_vmf(mean, 100.0, 10, 0, dtype=np.float64)
    session.compare(
        {
            "doccluster float32": lambda: sample_vmf(mean, 100.0, size, 0),
            "doccluster float64": lambda: sample_vmf(mean, 100.0, size, 0, dtype=np.float64),
            "scipy": lambda: stats.vonmises_fisher(mean, 100.0, seed=0).rvs(size),
        },
        repeats=1,  # scipy takes the better part of a minute
    )


@row("vmf-memory", "memory of drawing 2,000 rows in 100,000 dimensions, beyond the result")
def memory(session: Session) -> None:
    """Record the peak memory as a multiple of the result."""
    n_documents = 200 if session.quick else 2000
    found = session.compare_memory({"doccluster": "experiments.benchmarks.sampling:draw_wide"}, n_documents=n_documents)
    if "doccluster" in found:
        figures = found["doccluster"]
        session.record("doccluster", "peak_over_result", figures["peak_bytes_beyond_data"] / figures["result_bytes"])


def draw_wide(n_documents: int) -> dict[str, float]:
    """Draw a mixture of ten clusters in 100,000 dimensions, in a process of its own."""
    from doccluster.synthetic import make_vmf_mixture

    make_vmf_mixture(10, 100, 2, kappa=1.0, random_state=0)  # compile before the clock
    start_clock()
    made = make_vmf_mixture(n_documents, 100_000, 2, kappa=1e4, random_state=0)
    return {"result_bytes": float(made.vectors.matrix.nbytes)}


@row("vmf-em-step", "one soft EM step on 100,000 sparse documents, k = 50, in assignment steps of spherical k-means")
def em_step(session: Session) -> None:
    """Compare one assignment with one expectation and maximisation, at concentrations that are fitted and at low ones.

    Fitted, nearly every document belongs to one cluster, and sums are short; at a low concentration every document
    counts in all fifty, which is the dearest a step can be.
    """
    from doccluster.blocks import available_threads
    from doccluster.clustering.assign import nearest_centroids
    from doccluster.clustering.vmf_steps import UnitDocuments, expect, expect_labels, frequency_order, maximize
    from doccluster.synthetic import make_sparse_vmf

    n_documents = 4000 if session.quick else 100_000
    vectors, truth = make_sparse_vmf(n_documents, 50_000, 50, random_state=0)
    order = frequency_order(vectors.matrix)
    documents = UnitDocuments.from_matrix(vectors.matrix, n_threads=available_threads(), order=order)
    steps = {}
    for name, rule in (("fitted", "free"), ("low", 20.0)):
        options = {"concentration_rule": rule, "largest": 1e7, "dtype": np.float32}
        before = maximize(expect_labels(documents, truth, 50), before=None, **options)
        steps[f"soft EM step, {name} concentrations"] = lambda before=before, options=options: maximize(
            expect(documents, before, is_hard=False), before=before, **options
        )
    centroids = before.table.T.copy()
    contenders = {"assignment of new documents": lambda: nearest_centroids(vectors.matrix, centroids), **steps}
    for contender in contenders.values():
        contender()
    session.compare(contenders, repeats=5)
    iteration = _seconds_of_iteration(vectors.matrix)
    session.record("spherical k-means", "seconds_of_one_iteration", iteration)
    for name in steps:
        session.record(name, "iterations_of_k_means", session.figures[name, "seconds"] / iteration)


def _seconds_of_iteration(matrix: Any) -> float:
    """Return what one more iteration (assignment and update) of spherical k-means from random documents takes."""
    from doccluster.clustering import SphericalKMeans

    def seconds(max_iter: int) -> float:
        model = SphericalKMeans(50, init="random", n_init=1, max_iter=max_iter, tol=0.0, random_state=0)
        started = time.perf_counter()
        model.fit(matrix)
        return time.perf_counter() - started

    seconds(1)
    return statistics.median((seconds(4) - seconds(1)) / 3 for _ in range(5))


@row("zipf-documents", "100,000 documents of invented words, compressed, in constant memory")
def zipf_documents(session: Session) -> None:
    """Record documents per second and peak memory for two sizes: the second number should not grow with the first."""
    for n_documents in (2000, 8000) if session.quick else (20_000, 100_000):
        found = session.compare_memory(
            {f"doccluster {n_documents:,}": "experiments.benchmarks.sampling:write_documents"}, n_documents=n_documents
        )
        for name, figures in found.items():
            session.record(name, "documents_per_second", n_documents / figures["seconds"])


def write_documents(n_documents: int) -> dict[str, float]:
    """Write documents to a temporary file, in a process of its own."""
    import pathlib
    import tempfile

    from doccluster.synthetic import plan_zipf, write_zipf

    with tempfile.TemporaryDirectory() as folder:
        start_clock()
        started = time.perf_counter()
        path = pathlib.Path(folder) / "corpus.jsonl.gz"
        write_zipf(path, plan_zipf(n_documents, n_stories=1000, random_state=0))
        return {"bytes_written": float(path.stat().st_size), "write_seconds": time.perf_counter() - started}
