"""Two clusters side by side: what they share, what separates them, and which documents lie between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from doccluster.labeling.placement import checked_centroids, dense_row
from doccluster.partition import Partition
from doccluster.vectors.document_vectors import DocumentVectors

N_TERMS = 10
N_BETWEEN = 5


@dataclass(frozen=True)
class TermShare:
    """A term, and what part of a cosine or of a squared distance it explains."""

    term: str
    column: int
    share: float


@dataclass(frozen=True)
class Between:
    """A document of one of the two clusters, and how much nearer it is to its own centroid than to the other."""

    row: int
    cluster: int
    margin: float


@dataclass(frozen=True)
class Contrast:
    """What `contrast_clusters` returns.

    Attributes
    ----------
    similarity : float
        The cosine of the two centroids.
    shared : tuple of TermShare
        The terms with the largest part of that cosine, c_t d_t / (c . d).
    first_only, second_only : tuple of TermShare
        The terms with the largest part of the squared distance of the centroids, (c_t - d_t)^2 / |c - d|^2, among those
        that weigh more in the first, or in the second.
    between : tuple of Between
        The documents with the smallest margin.
    """

    similarity: float
    shared: tuple[TermShare, ...]
    first_only: tuple[TermShare, ...]
    second_only: tuple[TermShare, ...]
    between: tuple[Between, ...]


def contrast_clusters(
    vectors: DocumentVectors, partition: Partition, centroids: Any, first: int, second: int
) -> Contrast:
    """Compare two clusters: the terms they share, and those that separate them.

    Parameters
    ----------
    vectors : DocumentVectors
        The documents of the partition, row for row; without terms there are only documents.
    partition : Partition
    centroids : csr or dense array of shape (k, n_terms), unit rows
    first, second : int
        Two different clusters.
    """
    documents, centres = checked_centroids(vectors, partition, centroids)
    one, other = dense_row(centres.matrix, first), dense_row(centres.matrix, second)
    products, difference = one * other, one - other
    similarity, distance = float(products.sum()), float(difference @ difference)
    squares = difference**2
    return Contrast(
        similarity=similarity,
        shared=_largest(vectors, products, similarity),
        first_only=_largest(vectors, np.where(difference > 0, squares, 0), distance),
        second_only=_largest(vectors, np.where(difference < 0, squares, 0), distance),
        between=_between(documents.matrix, partition, one, other, first, second),
    )


def _largest(vectors: DocumentVectors, parts: Any, whole: float) -> tuple[TermShare, ...]:
    names = vectors.display_terms if vectors.display_terms is not None else vectors.terms
    if names is None or whole <= 0:
        return ()
    order = np.argsort(-parts, kind="stable")[:N_TERMS]
    return tuple(TermShare(str(names[t]), int(t), float(parts[t] / whole)) for t in order if parts[t] > 0)


def _between(matrix: Any, partition: Partition, one: Any, other: Any, first: int, second: int) -> tuple[Between, ...]:
    found = []
    for cluster, own, next_to in ((first, one, other), (second, other, one)):
        members = partition.members(cluster)
        rows = matrix[members]
        margins = rows @ own - rows @ next_to
        found += [Between(int(row), cluster, float(m)) for row, m in zip(members, margins, strict=True)]
    return tuple(sorted(found, key=lambda document: (document.margin, document.row))[:N_BETWEEN])
