"""Which centroid is nearest to each document, and which is next: for `predict`, `transform` and new documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.base.short_repr import ShortRepr
from doccluster.blocks import resolve_threads
from doccluster.clustering.k_means.assigner import Assigner
from doccluster.clustering.k_means.document_matrix import DocumentMatrix, prepare
from doccluster.clustering.k_means.mean_table import means_of_matrix, table_for
from doccluster.clustering.k_means.seeds import unit_rows_of
from doccluster.clustering.k_means.sweep import LaneTable, place_rows, similarity_rows
from doccluster.errors import InputError
from doccluster.geometry.documents import as_documents


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
    similarity: npt.NDArray[np.float64]
    runner_up: npt.NDArray[np.int32]
    runner_up_similarity: npt.NDArray[np.float64]


def assign_to_centroids(matrix: Any, centroids: Any, *, n_threads: int | None = None) -> Assignment:
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
    matrix: Any, centroids: Any, labels: npt.NDArray[np.integer[Any]] | None = None, *, n_threads: int | None = None
) -> tuple[Assignment, npt.NDArray[np.float64]]:
    """Return `assign_to_centroids`, and of the same sweep the cosine of each document to the centroid in `labels`.

    Without `labels` that is the nearest one.
    """
    documents, table = _laid_out(matrix, centroids, n_threads)
    # a copy, since kernels are compiled for arrays that can be written, and labels may not be one
    given = np.empty(0, np.int64) if labels is None else labels.astype(np.int64)

    def place(block: slice) -> tuple[npt.NDArray[Any], ...]:
        placed: tuple[npt.NDArray[Any], ...] = place_rows(documents.rows(block), table, given[block])
        return placed

    placed = documents.each_block(place, per_entry=table.n_clusters)
    found, similarity, runner_up, runner_up_similarity, own = map(np.concatenate, zip(*placed, strict=True))
    return Assignment(found, similarity, runner_up, runner_up_similarity), own


def nearest_centroids(matrix: Any, centroids: Any, *, n_threads: int | None = None) -> npt.NDArray[np.int32]:
    """Return the labels of `assign_to_centroids` alone, a few times faster."""
    return Assigner(*_laid_out(matrix, centroids, n_threads), most_groups=0).assign()


def centroid_similarities(matrix: Any, centroids: Any, *, n_threads: int | None = None) -> npt.NDArray[np.float64]:
    """Return the cosine of each document to each centroid, float64 array of shape (n_documents, n_clusters)."""
    documents, table = _laid_out(matrix, centroids, n_threads)

    def one(block: slice) -> npt.NDArray[np.float64]:
        similarities: npt.NDArray[np.float64] = similarity_rows(documents.rows(block), table)
        return similarities

    return np.concatenate(documents.each_block(one, per_entry=table.n_clusters))


def _laid_out(matrix: Any, centroids: Any, n_threads: int | None) -> tuple[DocumentMatrix, LaneTable]:
    """Return documents, and the table of unit centroids in the same columns."""
    checked, centres = as_documents(matrix), unit_rows_of(as_documents(centroids, name="centroids"))
    if centres.shape[1] != checked.n_terms:
        raise InputError(
            f"X has {checked.n_terms} features, but the centroids have {centres.shape[1]}",
            remedy="use the vectorizer that the centroids were made with",
        )
    documents, _ = prepare(checked, n_threads=resolve_threads(n_threads))
    return documents, table_for(documents, means_of_matrix(centres, documents.original))
