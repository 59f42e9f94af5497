"""The default clustering beside plain spherical k-means: how its cost grows, and what given embeddings add to it.

Documents are generated as for the other benchmarks (`experiments.benchmarks.matrices`), of 50 topics and 50,000 terms.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from doccluster.clustering import DocumentClustering, SphericalKMeans
from doccluster.clustering.smoothed.document_clusters import DocumentParameters, DocumentWork
from doccluster.vectors.document_vectors import as_vectors
from doccluster.vectors.meaning import meaning_of
from experiments.benchmarks.harness import Session, read_results, row, start_clock
from experiments.benchmarks.matrices import CACHE, CORPORA, made_counts
from experiments.benchmarks.neighbours import dense_rows
from experiments.quality.corpora import is_there, load, weigh

TIMED = ("doccluster/clustering", "doccluster/geometry", "doccluster/base/compiled.py")
HERE = "experiments.benchmarks.default_run"
N_TOPICS, N_TERMS = 50, 50_000
SIZES = (20_000, 50_000, 100_000)
LARGE = 200_000
CONTENDERS = ("default", "spherical k-means")

Point = tuple[int, float, float]  # documents, and the seconds that each contender took the processor


@row("default-scaling", "the default of 50 clusters from 20 to 100 thousand generated documents, one thread")
def default_scaling(session: Session) -> None:
    """Fit each size in a process of its own; the exponents are those of the seconds of the processor."""
    points = [compared(session, n) for n in (SIZES[:1] if session.quick else SIZES)]
    record_exponents(session, points, CONTENDERS)


@row("default-large", "the same of 200 thousand documents, and the exponents over all sizes")
def default_large(session: Session) -> None:
    """Fit the largest size; the smaller ones are those of the row before."""
    points = [] if session.quick else smaller_points(session)
    points.append(compared(session, SIZES[0] if session.quick else LARGE))
    record_exponents(session, points, [f"{name}, from {SIZES[0]:,} to {LARGE:,} documents" for name in CONTENDERS])


@row("given-embeddings", "20,000 documents with embeddings of 384 dimensions, words alone and both, one thread")
def given_embeddings(session: Session) -> None:
    """Fit the titles of StackOverflow, where they are, and generated documents, each in a process of its own."""
    counts_file(SIZES[0])
    for kind in ("titles", "generated") if is_there(CORPORA, "stackoverflow") else ("generated",):
        contenders = {f"{kind}, both": f"{HERE}:fit_both", f"{kind}, words alone": f"{HERE}:fit_words"}
        session.compare_memory(contenders, kind=kind, n=2_000 if session.quick else SIZES[0])


def fit_both(kind: str, n: int) -> dict[str, float]:
    """Cluster by words and embeddings, and return the seconds that it took the processor."""
    return timed_clusters(kind, n, dense_rows())


def fit_words(kind: str, n: int) -> dict[str, float]:
    """Cluster the same documents by their words."""
    return timed_clusters(kind, n, None)


def timed_clusters(kind: str, n: int, embeddings: Any) -> dict[str, float]:
    """Cluster documents into as many clusters as they have topics; a fit of a few comes first and loads the code."""
    counts = counts_of(SIZES[0]) if kind == "generated" else sparse.csr_array(load(str(CORPORA), "stackoverflow")[0])
    counts = counts[:n]
    rows = sparse.csr_array(weigh(counts), dtype=np.float32)
    meaning = None if embeddings is None else meaning_of(embeddings[: rows.shape[0]])
    parameters = DocumentParameters(n_clusters=N_TOPICS if kind == "generated" else 20, random_state=0, n_threads=1)
    few = np.arange(1_000)
    vectors = as_vectors(rows, counts=counts, meaning=meaning)
    DocumentWork(vectors.take(few), parameters).run()
    start_clock()
    started = time.process_time()
    DocumentWork(vectors, parameters).run()
    return {"processor_seconds": time.process_time() - started}


def smaller_points(session: Session) -> list[Point]:
    """Return the newest figures of the sizes of the row before, those that are there."""
    seconds = {
        line["contender"]: float(line["value"])
        for line in read_results(session.path)
        if (line["row"], line["figure"]) == ("default-scaling", "processor_seconds")
    }
    labels = {n: [f"{name}, {n:,} documents" for name in CONTENDERS] for n in SIZES}
    return [(n, seconds[one], seconds[two]) for n, (one, two) in labels.items() if one in seconds and two in seconds]


def record_exponents(session: Session, points: list[Point], labels: Sequence[str]) -> None:
    """Record how the seconds of the processor grow with the documents."""
    if len(points) > 1:
        for place, label in enumerate(labels, start=1):
            session.record(label, "exponent", exponent([(point[0], point[place]) for point in points]))


def compared(session: Session, n: int) -> Point:
    """Fit both to this many documents; return that number and the seconds, and record their ratio."""
    counts_file(n)
    ours = seconds_of(session, f"default, {n:,} documents", "fit_default", n)
    plain = seconds_of(session, f"spherical k-means, {n:,} documents", "fit_plain", n)
    session.record(f"default, {n:,} documents", "times the processor seconds of spherical k-means", ours / plain)
    return n, ours, plain


def seconds_of(session: Session, label: str, function: str, n: int) -> float:
    """Return the seconds that a fit took the processor, those of an interrupted run where it got so far."""
    lines = [line for line in read_results(session.path) if line["row"] == session.row]
    ends = [number for number, line in enumerate(lines, start=1) if line["figure"] == "finished"]
    for line in lines[max(ends, default=0) :]:
        if (line["contender"], line["figure"]) == (label, "processor_seconds"):
            return float(line["value"])
    return session.compare_memory({label: f"{HERE}:{function}"}, n=n)[label]["processor_seconds"]


def exponent(points: list[tuple[float, float]]) -> float:
    """Return the slope of a line through the logarithms of sizes and costs, by least squares."""
    sizes, costs = np.log(np.array(points)).T
    return float(np.polyfit(sizes, costs, 1)[0])


def fit_default(n: int) -> dict[str, float]:
    """Fit the default, and return the seconds that it took the processor."""
    return timed_fit(DocumentClustering(N_TOPICS, random_state=0, n_threads=1), n)


def fit_plain(n: int) -> dict[str, float]:
    """Fit spherical k-means with ten starts, on the tf-idf rows."""
    return timed_fit(SphericalKMeans(N_TOPICS, random_state=0, n_threads=1), n)


def timed_fit(model: DocumentClustering | SphericalKMeans, n: int) -> dict[str, float]:
    """Fit a model to this many documents in this process; a fit of a few comes first and loads the compiled code."""
    from sklearn.feature_extraction.text import TfidfTransformer

    counts = counts_of(n)
    rows = counts if isinstance(model, DocumentClustering) else TfidfTransformer().fit_transform(counts)
    rows = sparse.csr_array(rows, dtype=np.float32)
    del counts
    model.fit(rows[:2000])
    start_clock()
    started = time.process_time()
    model.fit(rows)
    return {"processor_seconds": time.process_time() - started}


@functools.lru_cache(maxsize=1)
def counts_of(n: int) -> sparse.csr_array:
    """Return the counts of the first documents that are generated."""
    return sparse.csr_array(sparse.load_npz(counts_file(n)))


def counts_file(n: int) -> object:
    """Return the file of the counts, made now if it is not there yet."""
    path = CACHE / f"counts-{n}.npz"
    if not path.exists():
        CACHE.mkdir(exist_ok=True)
        sparse.save_npz(path, sparse.csr_matrix(made_counts(n, N_TERMS, N_TOPICS)), compressed=False)
    return path
