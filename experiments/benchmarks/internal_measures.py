"""Internal measures beside scikit-learn and beside one assignment step: seconds, agreement, peak memory.

The documents are made: Zipf-distributed terms, two in five of them from the topic of the document's cluster, tf-idf,
unit rows. Both contenders get the same matrix in the same process.
"""

from __future__ import annotations

import functools

import numpy as np
from scipy import sparse

from doccluster.geometry.evidence import ClusterEvidence
from doccluster.geometry.partition import Partition
from doccluster.measures import get_measure, list_measures
from doccluster.measures._distances import PairwiseDistances
from experiments.benchmarks.harness import Session, row, start_clock

TIMED = ("doccluster/geometry", "doccluster/base/compiled.py", "doccluster/measures")
LINEAR = [
    record.name
    for record in list_measures(counted=True)
    if record.family in ("internal", "intrinsic") and record.evidence_for("cosine") == "geometry"
]


@functools.lru_cache(maxsize=2)
def documents(n: int, n_terms: int, length: int, k: int, dtype: str = "float64") -> tuple[sparse.csr_array, np.ndarray]:
    """Return unit tf-idf rows (csr) of `n` documents of about `length` tokens, and their clusters."""
    generator = np.random.default_rng(20)
    labels = generator.integers(0, k, n)
    share = 1.0 / np.arange(1, n_terms + 1) ** 1.05
    limits = np.cumsum(share / share.sum())
    topics = np.array([generator.permutation(n_terms) for _ in range(k)], dtype=np.int32)
    parts = []
    for start in range(0, n, 50_000):
        some = labels[start : start + 50_000]
        lengths = generator.poisson(length, some.size) + 1
        owner = np.repeat(np.arange(some.size), lengths)
        drawn = np.searchsorted(limits, generator.random(owner.size)).clip(max=n_terms - 1).astype(np.int32)
        topical = generator.random(owner.size) < 0.4
        drawn[topical] = topics[some[owner[topical]], drawn[topical]]
        counts = sparse.coo_array((np.ones(owner.size, dtype), (owner, drawn)), shape=(some.size, n_terms))
        parts.append(sparse.csr_array(counts))
    matrix = sparse.csr_array(sparse.vstack(parts))
    del parts
    found = np.bincount(matrix.indices, minlength=n_terms)
    weights = (np.log((1 + n) / (1 + found)) + 1).astype(dtype)
    matrix.data *= weights[matrix.indices]
    norms = np.sqrt(np.add.reduceat(np.square(matrix.data, dtype=np.float64), matrix.indptr[:-1]))
    matrix.data /= np.repeat(norms, np.diff(matrix.indptr)).astype(dtype)
    return matrix, labels


def cosine_silhouette(matrix: sparse.csr_array, labels: np.ndarray) -> np.ndarray:
    """Return our silhouette of each document, from the matrix and labels."""
    values = get_measure("silhouette").compute(ClusterEvidence(matrix, Partition.from_labels(labels)))
    return np.asarray(values.per_document)


@row("silhouette-cosine-20k", "cosine silhouette, 20,000 x 20,000, k = 20", target=60.0)
def silhouette_cosine(session: Session) -> None:
    """Compare with `silhouette_samples(metric="cosine")`, and record the largest difference of a document."""
    from sklearn.metrics import silhouette_samples

    matrix, labels = documents(2_000 if session.quick else 20_000, 20_000, 60, 20)
    ours = cosine_silhouette(matrix, labels)
    theirs = silhouette_samples(matrix, labels, metric="cosine")
    session.record("doccluster", "largest_difference", float(np.abs(ours - theirs).max()))
    contenders = {
        "doccluster": lambda: cosine_silhouette(matrix, labels),
        "scikit-learn": lambda: silhouette_samples(matrix, labels, metric="cosine"),
    }
    session.compare(contenders, repeats=5)


def silhouette_of_many(n: int) -> dict[str, float]:
    """Score the cosine silhouette of `n` documents; memory beyond the matrix counts from here."""
    matrix, labels = documents(n, 100_000, 80, 100, "float32")
    cosine_silhouette(*documents(1_000, 500, 20, 5, "float32"))  # compile outside the clock
    start_clock()
    value = float(cosine_silhouette(matrix, labels).mean())
    return {"silhouette": value, "matrix_bytes": float(matrix.data.nbytes + matrix.indices.nbytes)}


@row("silhouette-cosine-1m", "cosine silhouette of 1,000,000 documents, k = 100: memory beyond the matrix below 1 GB")
def silhouette_million(session: Session) -> None:
    """Record seconds and peak memory in a process of its own."""
    n = 20_000 if session.quick else 1_000_000
    session.compare_memory({"doccluster": "experiments.benchmarks.internal_measures:silhouette_of_many"}, n=n)


def all_linear_measures(matrix: sparse.csr_array, labels: np.ndarray) -> None:
    """Compute every counted measure that takes O(nnz k), from the matrix and labels."""
    geometry = ClusterEvidence(matrix, Partition.from_labels(labels))
    for name in LINEAR:
        get_measure(name).compute(geometry)


def _against_assignment(session: Session, k: int) -> None:
    from doccluster.clustering import assign_to_centroids

    matrix, labels = documents(5_000 if session.quick else 60_000, 40_000, 60, k, "float32")
    geometry = ClusterEvidence(matrix, Partition.from_labels(labels))
    centroids = sparse.csr_array(geometry.sums / geometry.sum_norms[:, None]).astype(np.float32)
    contenders = {
        f"{len(LINEAR)} measures": lambda: all_linear_measures(matrix, labels),
        "one assignment": lambda: assign_to_centroids(matrix, centroids),
    }
    for contender in contenders.values():
        contender()  # compile outside the clock
    session.compare(contenders, repeats=7)


@row("linear-measures-k20", "all O(nnz k) measures beside one assignment step, k = 20", target=1 / 3)
def linear_k20(session: Session) -> None:
    """Record how many times one assignment all measures together cost (the target: at most three)."""
    _against_assignment(session, 20)


@row("linear-measures-k100", "all O(nnz k) measures beside one assignment step, k = 100", target=1 / 3)
def linear_k100(session: Session) -> None:
    """As for k = 20."""
    _against_assignment(session, 100)


def euclidean_ours(n: int) -> dict[str, float]:
    """Score silhouette, Dunn and C-index in Euclidean distance, from three sweeps over all pairs."""
    three_of_pairs(*documents(400, 500, 20, 5, "float32"))  # compile outside the clock
    matrix, labels = documents(n, 20_000, 60, 20, "float32")
    start_clock()
    return three_of_pairs(matrix, labels)


def three_of_pairs(matrix: sparse.csr_array, labels: np.ndarray) -> dict[str, float]:
    """Return silhouette, Dunn and C-index in Euclidean distance."""
    geometry = ClusterEvidence(matrix, Partition.from_labels(labels), metric="euclidean")
    pairs = PairwiseDistances(geometry)
    return {name: get_measure(name).compute(pairs).value for name in ("silhouette", "dunn", "c_index")}


def euclidean_theirs(n: int) -> dict[str, float]:
    """Score the silhouette alone with scikit-learn."""
    from sklearn.metrics import silhouette_score

    matrix, labels = documents(n, 20_000, 60, 20, "float32")
    start_clock()
    return {"silhouette": float(silhouette_score(matrix, labels, metric="euclidean"))}


@row("euclidean-pairs-20k", "Euclidean silhouette, Dunn and C-index; scikit-learn: silhouette alone", target=4.0)
def euclidean_pairs(session: Session) -> None:
    """Compare seconds and peak memory at 20,000 documents, each in a process of its own."""
    module = "experiments.benchmarks.internal_measures"
    contenders = {"doccluster": f"{module}:euclidean_ours", "scikit-learn": f"{module}:euclidean_theirs"}
    session.compare_memory(contenders, n=2_000 if session.quick else 20_000, repeats=3)
