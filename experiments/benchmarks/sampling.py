"""Drawing von Mises-Fisher samples beside scipy, memory in many dimensions, and the cost of a step of the mixture."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from scipy import sparse

from experiments.benchmarks.harness import Session, row, start_clock

TIMED = ("doccluster/clustering/mixtures", "doccluster/base/compiled.py", "doccluster/lab/synthetic")


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
        repeats=3,
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


def _em_step(session: Session, concentration: str | float) -> None:
    """Compare one soft EM step with one plain assignment step of spherical k-means, in turn.

    The EM step is one expectation and one maximisation: probabilities of all clusters for each document, weighted sums,
    directions, concentrations and weights. The assignment step is the one of ``algorithm="lloyd"``: the nearest of the
    same 50 directions for each of the same documents, its table of means laid out beforehand, means not updated. What a
    fit does once before all steps is outside the clock for both: documents renumbered, and sorted by term.
    """
    from doccluster.base.blocks import available_threads
    from doccluster.clustering.k_means.assign import SparseMeans
    from doccluster.clustering.k_means.sweep import NearestCentroids
    from doccluster.clustering.k_means.term_places import TermPlaces
    from doccluster.clustering.k_means.unit_documents import unit_documents
    from doccluster.clustering.mixtures._vmf_steps import expect, expect_labels, maximize, unit_blocks
    from doccluster.synthetic import make_sparse_vmf

    n_documents = 4000 if session.quick else 100_000
    vectors, truth = make_sparse_vmf(n_documents, 50_000, 50, random_state=0)
    documents, threads = unit_blocks(vectors.matrix, 50), available_threads()
    rule: dict[str, Any] = {"concentration_rule": concentration, "largest": 1e7}
    before = maximize(expect_labels(documents, truth, 50), before=None, **rule)

    plain = unit_documents(vectors.documents, n_threads=available_threads())
    places = TermPlaces.of(plain.frequencies, 50)
    nearest, centroids = NearestCentroids(plain, places), SparseMeans(sparse.csr_array(before.means.T), places)

    contenders = {
        "soft EM step": lambda: maximize(expect(documents, before, n_threads=threads), before=before, **rule),
        "assignment step of k-means": lambda: nearest.search(centroids),
    }
    for contender in contenders.values():
        contender()  # compile outside the clock
    found = expect(documents, before, n_threads=threads)
    seconds = session.compare(contenders, repeats=15)["assignment step of k-means"]
    session.record("soft EM step", "assignment steps (at most 3 wanted)", 1 / seconds)
    session.record("soft EM step", "mean entropy of the probabilities in nats", float(np.nanmean(found.entropies)))
    agreement = float(np.mean(nearest.labels == np.asarray(truth)))
    session.record("assignment step of k-means", "share of labels that are the truth", agreement)


@row(
    "vmf-em-fitted",
    "one soft EM step beside one plain assignment step of spherical k-means (100,000 sparse documents, k = 50), "
    "concentrations fitted: nearly every document belongs to one cluster",
    target=1 / 3,
)
def em_step_fitted(session: Session) -> None:
    """Record how many assignment steps an EM step costs where the concentrations are those of the data."""
    _em_step(session, "free")


@row(
    "vmf-em-low",
    "the same at concentration 20, where every document counts in all 50 clusters: the most expensive EM step",
    target=1 / 3,
)
def em_step_low(session: Session) -> None:
    """Record how many assignment steps an EM step costs where no probability is negligible."""
    _em_step(session, 20.0)


@row("zipf-documents", "100,000 documents of invented words, compressed, in constant memory")
def zipf_documents(session: Session) -> None:
    """Record documents per second and peak memory for two sizes: the second number should not grow with the first."""
    for n_documents in (2000, 8000) if session.quick else (20_000, 100_000):
        _write_documents(session, n_documents)


@row("zipf-million", "1,000,000 documents of invented words, compressed, in the same memory")
def zipf_million(session: Session) -> None:
    """Record documents per second and peak memory of the million that the row above is a tenth of."""
    _write_documents(session, 16_000 if session.quick else 1_000_000)


def _write_documents(session: Session, n_documents: int) -> None:
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
