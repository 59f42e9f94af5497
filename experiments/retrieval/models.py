"""The scores of all documents for all queries, by each model and each choice of its parameters."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.clustering import SphericalKMeans
from doccluster.geometry import NeighbourGraph, nearest_neighbours
from doccluster.retrieval import Bm25Index, rerank, smooth_scores
from experiments.retrieval.judged_collections import Collection
from experiments.retrieval.language_model import cluster_likelihood, query_likelihood

K1, B = (1.2, 1.5, 2.0), (0.5, 0.75, 1.0)
MU = (100.0, 300.0, 500.0, 1000.0, 2000.0)
WEIGHTS, NEIGHBOURS = (0.3, 0.5, 0.7), (5, 10, 20)
CLUSTER_MU, DOCUMENTS_A_CLUSTER = (300.0, 500.0, 1000.0), 10
RERANKED = (200, 500, 1000)

Floats = npt.NDArray[np.float64]


def bm25(collection: Collection) -> Iterator[Floats]:
    """Yield the scores of BM25, for each k1 and b."""
    for k1, b in itertools.product(K1, B):
        index = Bm25Index.from_counts(collection.counts, collection.counter, k1=k1, b=b)
        yield np.array([index.scores(query) for query in collection.queries])


def likelihood(collection: Collection) -> Iterator[Floats]:
    """Yield the log probabilities of the queries, for each mu of the Dirichlet smoothing."""
    counts = sparse.csc_array(collection.counts)
    for mu in MU:
        yield np.array([query_likelihood(counts, query, mu=mu) for query in _each(collection.asked)])


def with_clusters(collection: Collection) -> Iterator[Floats]:
    """Yield the log probabilities of the queries by documents and their clusters (CBDM), for each mu and weight."""
    counts = sparse.csc_array(collection.counts)
    k = round(len(collection.texts) / DOCUMENTS_A_CLUSTER)
    labels = SphericalKMeans(k, n_init=1, random_state=0, n_threads=1).fit_predict(collection.rows)
    for mu, beta in itertools.product(CLUSTER_MU, WEIGHTS):
        yield np.array(
            [cluster_likelihood(counts, query, labels, mu=mu, beta=beta) for query in _each(collection.asked)]
        )


def with_neighbours(scores: Floats, graph: NeighbourGraph) -> Iterator[Floats]:
    """Yield scores smoothed over the nearest neighbours, for each weight and number of them."""
    for weight, n in itertools.product(WEIGHTS, NEIGHBOURS):
        yield np.array([smooth_scores(one, graph, weight=weight, n_neighbors=n) for one in scores])


def reranked(scores: Floats, rows: sparse.csr_array) -> Iterator[Floats]:
    """Yield scores by the ranking of the best documents over the neighbours among them, as `search` ranks."""
    for n_best in RERANKED:
        found = np.zeros_like(scores)
        for own, given in zip(found, scores, strict=True):
            ranking = rerank(given, rows, n_reranked=n_best, n_threads=1)
            own[:] = np.argsort(np.argsort(given, kind="stable"), kind="stable") / given.size  # below the best
            own[ranking] = 1 + np.arange(ranking.size, 0, -1)
        yield found


def neighbours(collection: Collection) -> NeighbourGraph:
    """Return the nearest neighbours by the cosine of tf-idf rows."""
    return nearest_neighbours(collection.rows, max(NEIGHBOURS), fold=None, n_threads=1)


def _each(queries: sparse.csr_array) -> Sequence[sparse.csr_array]:
    return [queries[[row]] for row in range(queries.shape[0])]
