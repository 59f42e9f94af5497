"""The best partition of a few documents, found by looking at all of them: an exact answer to hold others against.

There are as many partitions of n documents into k clusters as the Stirling number of the second kind says, about
k^n / k! (Manning, Raghavan & Schuetze, Introduction to Information Retrieval, section 16.2), so n stays tiny.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from doccluster.base.arrays import Integers, Labels, is_sparse
from doccluster.base.parameter_fields import at_the_door
from doccluster.base.validation import check_choice, check_n_clusters, check_positive_int
from doccluster.errors import InputError
from doccluster.geometry import as_documents

MAX_PARTITIONS = 5_000_000  # some seconds
BLOCK = 4_096  # partitions at a time


class ExactPartition(NamedTuple):
    """The best of all partitions into k clusters that are not empty."""

    labels: Labels  # numbered by their first document; the first such partition where several are equally good
    objective: float  # the sum of the cosines to the own centroid (the largest), or RSS (the least)
    n_partitions: int  # how many there were


def n_partitions(n_documents: int, n_clusters: int) -> int:
    """Return the number of partitions of documents into clusters that are not empty, at most k^n / k!.

    >>> n_partitions(4, 2), n_partitions(17, 3), 3**17 // 6
    (7, 21457825, 21523360)
    """
    k = check_positive_int(n_clusters, "n_clusters")
    n = check_positive_int(n_documents, "n_documents")
    signs: list[int] = [1 - 2 * ((k - j) % 2) for j in range(k + 1)]
    return sum(signs[j] * math.comb(k, j) * int(j**n) for j in range(k + 1)) // math.factorial(k)


@at_the_door
def best_partition(vectors: object, n_clusters: int, *, metric: str = "cosine") -> ExactPartition:
    """Return the best of all partitions of a few documents into k clusters.

    Parameters
    ----------
    vectors : DocumentVectors, csr or dense array of shape (n_documents, n_terms)
    n_clusters : int
    metric : {"cosine", "euclidean"}
        What is best: the largest sum of cosines to the own centroid, that of spherical k-means, or the least residual
        sum of squares, that of k-means.

    Raises
    ------
    InputError
        If there are over 5,000,000 partitions.

    Examples
    --------
    >>> best = best_partition([[0.0], [1.0], [5.0], [6.0]], 2, metric="euclidean")
    >>> best.labels.tolist(), best.objective, best.n_partitions
    ([0, 0, 1, 1], 1.0, 7)
    """
    documents = as_documents(getattr(vectors, "matrix", vectors))
    k = check_n_clusters(n_clusters, documents.n_documents)
    is_cosine = check_choice(metric, ("cosine", "euclidean"), "metric") == "cosine"
    count = n_partitions(documents.n_documents, k)
    if count > MAX_PARTITIONS:
        raise InputError(
            f"there are {count:,} partitions of {documents.n_documents} documents into {k} clusters",
            remedy=f"give fewer documents; all of at most {MAX_PARTITIONS:,} partitions are looked at",
        )
    rows = documents.unit if is_cosine else documents.matrix
    points = np.asarray(rows.toarray() if is_sparse(rows) else rows, np.float64)
    products = points @ points.T  # of a few documents
    best, labels = -math.inf, np.zeros(documents.n_documents, np.int64)
    for block in _blocks(documents.n_documents, k):
        members = (block[:, None, :] == np.arange(k)[:, None]).astype(np.float64)  # (partitions, k, documents)
        squares = np.maximum(np.einsum("pkn,pkn->pk", members @ products, members), 0.0)  # of the sums of clusters
        values = (np.sqrt(squares) if is_cosine else squares / members.sum(axis=2)).sum(axis=1)
        place = int(np.argmax(values))
        if values[place] > best + 1e-12 * abs(best) or best == -math.inf:  # else rounding would choose
            best, labels = float(values[place]), block[place]
    return ExactPartition(labels, best if is_cosine else float(np.trace(products)) - best, count)


def _blocks(n_documents: int, n_clusters: int) -> Iterator[Integers]:
    """Yield all partitions into exactly k clusters, as labels numbered by their first document, some at a time."""
    heads = np.zeros((1, 1), np.int64)
    n_head = 1
    while n_head < n_documents and heads.shape[0] * n_clusters <= BLOCK:
        heads = _longer(heads, n_clusters)
        n_head += 1
    for head in heads:
        block = head[None]
        for _ in range(n_head, n_documents):
            block = _longer(block, n_clusters)
        block = block[block.max(axis=1) == n_clusters - 1]
        for first in range(0, block.shape[0], BLOCK):
            yield block[first : first + BLOCK]


def _longer(labels: Integers, n_clusters: int) -> Integers:
    """Return labels with one more document each, in every cluster that there is and in the next new one."""
    n_next = np.minimum(labels.max(axis=1) + 2, n_clusters)
    longer = np.repeat(labels, n_next, axis=0)
    last = np.arange(longer.shape[0]) - np.repeat(np.cumsum(n_next) - n_next, n_next)
    return np.column_stack([longer, last])
