"""Why a document is in its cluster, term by term, and what two clusters share and what separates them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.base.validation import check_matrix
from doccluster.errors import InputError
from doccluster.geometry.partition import Partition
from doccluster.labeling.placement import checked_centroids, dense_row
from doccluster.vectors.document_vectors import DocumentVectors

N_TERMS = 10
N_BETWEEN = 5


@dataclass(frozen=True)
class Contribution:
    """What one term adds to a cosine: its written form, column, weight in the document and the centroid, product."""

    term: str
    column: int
    document_weight: float
    centroid_weight: float
    contribution: float


def explain_membership(
    matrix: Any,
    row: int,
    centroids: Any,
    cluster: int,
    *,
    names: npt.NDArray[np.object_] | None = None,
    n_terms: int | None = None,
) -> tuple[Contribution, ...]:
    """Return the terms that bring a document to a centroid, largest contribution first.

    The contributions ``x_t c_t`` of all shared terms sum to the cosine of the document to the centroid.

    Parameters
    ----------
    matrix : csr or dense array of shape (n_documents, n_terms), unit rows
    row : int
        The document.
    centroids : csr or dense array of shape (k, n_terms), unit rows
    cluster : int
        The centroid: the document's own cluster, or any other to compare with.
    names : array of str of shape (n_terms,), optional
        The written form of each column; without it a column is called by its number.
    n_terms : int, optional
        The most terms; all shared ones by default.

    Examples
    --------
    >>> x = np.array([[0.6, 0.8, 0.0]])
    >>> c = np.array([[0.0, 0.6, 0.8]])
    >>> explain_membership(x, 0, c, 0, names=np.array(["oil", "wheat", "gold"], dtype=object))
    (Contribution(term='wheat', column=1, document_weight=0.8, centroid_weight=0.6, contribution=0.48),)
    """
    matrix, centroids = check_matrix(matrix, name="vectors"), check_matrix(centroids, name="centroids")
    for what, number, rows in (("document", row, matrix), ("cluster", cluster, centroids)):
        if not 0 <= number < rows.shape[0]:
            raise InputError(f"there is no {what} {number}", remedy=f"give a number from 0 to {rows.shape[0] - 1}")
    if matrix.shape[1] != centroids.shape[1]:
        raise InputError(
            f"has {matrix.shape[1]} columns, centroids {centroids.shape[1]}",
            argument="vectors",
            remedy="give the same terms",
        )
    weights, centroid = dense_row(matrix, row), dense_row(centroids, cluster)
    columns = np.flatnonzero(weights)
    weights, centroid = weights[columns], centroid[columns]
    products = weights * centroid
    order = np.lexsort((columns, -products))
    order = order[products[order] != 0][:n_terms]
    return tuple(
        Contribution(
            term=str(names[columns[index]]) if names is not None else str(columns[index]),
            column=int(columns[index]),
            document_weight=float(weights[index]),
            centroid_weight=float(centroid[index]),
            contribution=float(products[index]),
        )
        for index in order
    )


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
    """Two clusters compared: terms they share, terms that separate them, documents between them.

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
    first_centroid, second_centroid = dense_row(centres.matrix, first), dense_row(centres.matrix, second)
    products, difference = first_centroid * second_centroid, first_centroid - second_centroid
    similarity, distance = float(products.sum()), float(difference @ difference)
    squares = difference**2
    return Contrast(
        similarity=similarity,
        shared=_largest(vectors, products, similarity),
        first_only=_largest(vectors, np.where(difference > 0, squares, 0), distance),
        second_only=_largest(vectors, np.where(difference < 0, squares, 0), distance),
        between=_between(documents.matrix, partition, first_centroid, second_centroid, first, second),
    )


def _largest(vectors: DocumentVectors, parts: Any, whole: float) -> tuple[TermShare, ...]:
    names = vectors.display_terms if vectors.display_terms is not None else vectors.terms
    if names is None or whole <= 0:
        return ()
    order = np.argsort(-parts, kind="stable")[:N_TERMS]
    return tuple(TermShare(str(names[t]), int(t), float(parts[t] / whole)) for t in order if parts[t] > 0)


def _between(
    matrix: Any, partition: Partition, first_centroid: Any, second_centroid: Any, first: int, second: int
) -> tuple[Between, ...]:
    documents = []
    for cluster, centroid, next_to in (
        (first, first_centroid, second_centroid),
        (second, second_centroid, first_centroid),
    ):
        members = partition.members(cluster)
        rows = matrix[members]
        margins = rows @ centroid - rows @ next_to
        documents += [Between(int(row), cluster, float(m)) for row, m in zip(members, margins, strict=True)]
    return tuple(sorted(documents, key=lambda document: (document.margin, document.row))[:N_BETWEEN])
