"""Which centroid is nearest to each document, and which is next: for `predict`, `transform` and new documents."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.arrays import AnyIntegers, Array, Floats, MatrixLike
from doccluster.base.blocks import resolve_threads, row_blocks
from doccluster.base.plain_values import ShortRepr
from doccluster.clustering.k_means.sparse_means import SparseMeans
from doccluster.clustering.k_means.sweep import NearestCentroids
from doccluster.clustering.k_means.term_places import TermPlaces
from doccluster.clustering.k_means.unit_documents import UnitDocuments, unit_documents, unit_rows_of
from doccluster.errors import InputError
from doccluster.geometry.documents import Documents, as_documents

COSINES_AT_ONCE = 2**20  # 8 MiB

Result = TypeVar("Result")


@dataclass(frozen=True, eq=False, repr=False)
class Assignment(ShortRepr):
    """The nearest centroid of each document and the one after it.

    Attributes
    ----------
    labels : int32 array of shape (n_documents,)
    similarity : float64 array of shape (n_documents,)
        Cosine to the nearest centroid, -1..1; 0 for a document without terms.
    runner_up : int32 array of shape (n_documents,)
        The second nearest centroid, -1 when there is only one.
    runner_up_similarity : float64 array of shape (n_documents,)
        Cosine to it; nan when there is only one.
    """

    labels: npt.NDArray[np.int32]
    similarity: Floats
    runner_up: npt.NDArray[np.int32]
    runner_up_similarity: Floats


def assign_to_centroids(
    matrix: MatrixLike | Documents, centroids: MatrixLike, *, n_threads: int | None = None
) -> Assignment:
    """Return the nearest and the second nearest centroid of each document by cosine, lowest index on ties.

    Parameters
    ----------
    matrix : csr or dense matrix of shape (n_documents, n_terms)
        Rows need not be unit.
    centroids : csr or dense matrix of shape (n_clusters, n_terms)
        Rows need not be unit; a zero row is at cosine 0 from everything.
    n_threads : int, optional
        All processors by default; the result does not depend on it.

    Raises
    ------
    InputError
        If a matrix is not finite and numeric, or they differ in their number of columns.

    Examples
    --------
    >>> assign_to_centroids([[1.0, 0.1], [0.0, 2.0]], [[1.0, 0.0], [0.0, 1.0]]).labels
    array([0, 1], dtype=int32)
    """
    return place_documents(matrix, centroids, n_threads=n_threads)[0]


def place_documents(
    matrix: MatrixLike | Documents,
    centroids: MatrixLike,
    labels: AnyIntegers | None = None,
    *,
    n_threads: int | None = None,
) -> tuple[Assignment, Floats]:
    """Return `assign_to_centroids`, and of the same sweep the cosine of each document to the centroid in `labels`.

    Without `labels` that is the nearest one.
    """
    documents, means = _checked(matrix, centroids, n_threads)

    def place(block: slice, cosines: Floats) -> tuple[Array, ...]:
        rows = np.arange(cosines.shape[0])
        nearest = cosines.argmax(axis=1)
        similarity = cosines[rows, nearest]
        to_label = similarity if labels is None else cosines[rows, labels[block]]
        cosines[rows, nearest] = -np.inf
        runner_up = cosines.argmax(axis=1)
        return nearest, similarity, runner_up, cosines[rows, runner_up], to_label

    parts = zip(*_map_cosines(documents, means, place), strict=True)
    nearest, similarity, runner_up, runner_up_similarity, to_label = map(np.concatenate, parts)
    if means.shape[0] == 1:
        runner_up, runner_up_similarity = np.full_like(runner_up, -1), np.full_like(similarity, np.nan)
    assignment = Assignment(nearest.astype(np.int32), similarity, runner_up.astype(np.int32), runner_up_similarity)
    return assignment, to_label


def nearest_centroids(
    matrix: MatrixLike | Documents, centroids: MatrixLike, *, n_threads: int | None = None
) -> npt.NDArray[np.int32]:
    """Return the labels of `assign_to_centroids` alone, a few times faster."""
    documents, means = _checked(matrix, centroids, n_threads)
    places = TermPlaces.of(documents.frequencies, means.shape[0])
    nearest = NearestCentroids(documents, places)
    nearest.search(SparseMeans(means, places))
    return nearest.labels


def centroid_similarities(
    matrix: MatrixLike | Documents, centroids: MatrixLike, *, n_threads: int | None = None
) -> Floats:
    """Return the cosine of each document to each centroid, float64 array of shape (n_documents, n_clusters)."""
    documents, means = _checked(matrix, centroids, n_threads)
    return np.concatenate(_map_cosines(documents, means, lambda _, cosines: cosines))


def _map_cosines(
    documents: UnitDocuments, means: sparse.csr_array, function: Callable[[slice, Floats], Result]
) -> list[Result]:
    """Return a function of each block of documents and its float64 cosines to the means."""
    by_term = means.T.tocsr().astype(np.float64)

    def multiply(block: slice) -> Result:
        return function(block, (documents.matrix[block].astype(np.float64) @ by_term).toarray())

    blocks = row_blocks(documents.n_documents, max(1, COSINES_AT_ONCE // means.shape[0]))
    return documents.share(multiply, blocks, multiplications=float(documents.n_entries * means.shape[0]))


def _checked(
    matrix: MatrixLike | Documents, centroids: MatrixLike, n_threads: int | None
) -> tuple[UnitDocuments, sparse.csr_array]:
    """Return unit documents and unit centroids in the same columns."""
    checked, means = as_documents(matrix), unit_rows_of(as_documents(centroids, name="centroids"))
    if means.shape[1] != checked.n_terms:
        raise InputError(
            f"X has {checked.n_terms} features, but the centroids have {means.shape[1]}",
            remedy="use the vectorizer that the centroids were made with",
        )
    return unit_documents(checked, n_threads=resolve_threads(n_threads))[0], means
