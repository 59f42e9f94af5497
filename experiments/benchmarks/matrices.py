"""The matrices that clustering is timed on: generated Zipf topics of several sizes, the Debian descriptions, and real
corpora (Reuters, CLUTO's matrices) where they lie in `../shared/corpora`.

A document draws a third of its words from one topic's own 800 terms and the others from a Zipfian background; lengths
are log-normal; terms are numbered at random, as an alphabet would. Rows are tf-idf, unit, float32. Each matrix is made
once and kept in `cache/`.
"""

from __future__ import annotations

import functools
import pathlib

import numpy as np
from scipy import sparse

from experiments.benchmarks.harness import ROOT

CACHE = pathlib.Path(__file__).parent / "cache"
CORPORA = ROOT.parent / "shared" / "corpora"
MEAN_LENGTH = 200  # words, of which some 140 are distinct
OWN_TERMS = 800
SHARED_TERMS = 100  # the commonest terms are no topic's own
BLOCK = 20_000
SIZES = {  # name: documents, terms, topics
    "made-20k": (20_000, 50_000, 60),
    "made-100k": (100_000, 100_000, 200),
    "made-500k": (500_000, 200_000, 500),
    "made-1m": (1_000_000, 200_000, 500),
    "made-25k-wide": (25_000, 200_000, 200),
}

REAL = {"reuters": 66, "la1": 6, "k1b": 6, "hitech": 6, "re0": 13, "tr11": 9, "newsgroups": 20}  # name: classes


def matrix_path(name: str) -> pathlib.Path:
    """Return the file of a matrix, made now if it is not there yet."""
    path = CACHE / f"{name}.npz"
    if not path.exists():
        CACHE.mkdir(exist_ok=True)
        if name in REAL:
            from experiments.quality.corpora import load

            _, matrix, _ = load(str(CORPORA), name)
        else:
            matrix = debian_matrix() if name == "debian" else made_matrix(*SIZES[name])
        sparse.save_npz(path, sparse.csr_matrix(matrix), compressed=False)
    return path


@functools.lru_cache(maxsize=1)
def load_matrix(name: str) -> sparse.csr_array:
    """Return a matrix; only the last one asked for is kept in memory."""
    return sparse.csr_array(sparse.load_npz(matrix_path(name)))


def real_names() -> list[str]:
    """Return the real corpora that are available."""
    from experiments.quality.corpora import is_there

    return [name for name in REAL if is_there(CORPORA, name)]


def debian_matrix() -> sparse.csr_array:
    """Return the descriptions of all Debian packages as tf-idf rows, terms of at least two documents."""
    from doccluster.vectors import TfidfVectorizer
    from experiments.benchmarks.debian_descriptions import load_debian_descriptions

    texts = load_debian_descriptions().texts
    return sparse.csr_array(TfidfVectorizer(min_df=2, stop_words="english").fit_transform(texts), dtype=np.float32)


def made_counts(n_documents: int, n_terms: int, n_topics: int, *, seed: int = 0) -> sparse.csr_array:
    """Return the counts of the terms of generated documents."""
    rng = np.random.default_rng(seed)
    background = np.cumsum(_zipf(n_terms, 1.05))
    own = np.stack([rng.choice(np.arange(SHARED_TERMS, n_terms), OWN_TERMS, replace=False) for _ in range(n_topics)])
    number = rng.permutation(n_terms).astype(np.int32)
    topics = rng.choice(n_topics, n_documents, p=_zipf(n_topics, 0.5))
    blocks = [
        _counts(topics[first : first + BLOCK], background, own, number, n_terms, rng)
        for first in range(0, n_documents, BLOCK)
    ]
    return sparse.csr_array(sparse.vstack(blocks, format="csr"))


def made_matrix(n_documents: int, n_terms: int, n_topics: int, *, seed: int = 0) -> sparse.csr_array:
    """Return generated documents as unit tf-idf rows."""
    counts = made_counts(n_documents, n_terms, n_topics, seed=seed)
    frequency = np.bincount(counts.indices, minlength=n_terms)
    idf = (np.log((1 + n_documents) / (1 + frequency)) + 1).astype(np.float32)
    counts.data *= idf[counts.indices]
    for first in range(0, n_documents, BLOCK):
        rows = counts.indptr[first : first + BLOCK + 1]
        values = counts.data[rows[0] : rows[-1]]
        norms = np.sqrt(np.add.reduceat(np.square(values, dtype=np.float64), rows[:-1] - rows[0]))
        values /= np.repeat(norms, np.diff(rows)).astype(np.float32)
    return counts


def _zipf(n: int, exponent: float) -> np.ndarray:
    weights = np.arange(1, n + 1) ** -exponent
    return weights / weights.sum()


def _counts(
    topics: np.ndarray,
    background: np.ndarray,
    own: np.ndarray,
    number: np.ndarray,
    n_terms: int,
    rng: np.random.Generator,
) -> sparse.csr_array:
    """Return the term counts of one block of documents."""
    lengths = np.maximum(5, rng.lognormal(np.log(MEAN_LENGTH) - 0.125, 0.5, topics.size).astype(np.int64))
    rows = np.repeat(np.arange(topics.size, dtype=np.int32), lengths)
    terms = np.searchsorted(background, rng.random(rows.size)).clip(0, n_terms - 1).astype(np.int32)
    topical = rng.random(rows.size) < 0.35
    ranks = np.searchsorted(np.cumsum(_zipf(OWN_TERMS, 0.8)), rng.random(np.count_nonzero(topical)))
    terms[topical] = own[topics[rows[topical]], ranks.clip(0, OWN_TERMS - 1)]
    ones = np.ones(rows.size, np.float32)
    return sparse.csr_array(sparse.coo_array((ones, (rows, number[terms])), shape=(topics.size, n_terms)).tocsr())


def random_rows(name: str, n_clusters: int, seed: int = 0) -> np.ndarray:
    """Return which documents all contenders begin at."""
    n_documents = load_matrix(name).shape[0]
    return np.sort(np.random.default_rng(seed).permutation(n_documents)[:n_clusters])


def cosine_objective(matrix: sparse.csr_array, labels: np.ndarray) -> float:
    """Return the sum of cosines to the unit mean of the own cluster, which is the sum of the lengths of the sums."""
    n_clusters = int(labels.max()) + 1
    member = sparse.csr_array(
        (np.ones(labels.size), labels, np.arange(labels.size + 1)), shape=(labels.size, n_clusters)
    )
    sums = sparse.csr_array(member.T.tocsr() @ matrix.astype(np.float64))
    return float(np.sqrt(sums.multiply(sums).sum(axis=1)).sum())
