"""How each document sits in a partition: its cosine to its own centroid, and the next best cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.clustering.k_means import assign
from doccluster.errors import InputError
from doccluster.geometry import Documents, as_documents
from doccluster.geometry.sums import sums_by_label
from doccluster.labeling.profiles import checked_documents
from doccluster.partition import Partition
from doccluster.short_repr import ShortRepr
from doccluster.validation import unit_rows

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

LEAST_STAYING = 2  # documents of a cluster, or all of it stay


@dataclass(frozen=True, eq=False, repr=False)
class Placement(ShortRepr):
    """One entry per document: cosine to the own centroid, next best cluster (-1 if k = 1), cosine to it (nan)."""

    similarity: Floats
    runner_up: npt.NDArray[np.int64]
    runner_up_similarity: Floats

    @property
    def margin(self) -> Floats:
        """How much nearer a document is to its own centroid than to the next; negative if the next is nearer."""
        return self.similarity - self.runner_up_similarity


def place_documents(matrix: Any, partition: Partition, centroids: Any, *, n_threads: int | None = None) -> Placement:
    """Return how each document sits in `partition`, whose clusters have these unit `centroids`.

    The next best cluster is the best one that is not the document's own, also where the document is nearer to another
    centroid than to its own (a fit that was stopped, labels from elsewhere).
    """
    documents, centres = checked_centroids(matrix, partition, centroids)
    return place_labels(documents, partition.labels, centres, n_threads=n_threads)


def place_labels(
    matrix: Any, labels: npt.NDArray[np.int64], centroids: Any, *, n_threads: int | None = None
) -> Placement:
    """Return how each document sits in the cluster of its label; not every cluster need have a document."""
    best, similarity = assign.place_documents(matrix, centroids, labels, n_threads=n_threads)
    is_own = best.labels == labels
    runner_up = np.where(is_own, best.runner_up, best.labels).astype(np.int64)
    runner_up_similarity = np.where(is_own, best.runner_up_similarity, best.similarity).astype(np.float64)
    return Placement(similarity, runner_up, runner_up_similarity)


def fit_none(labels: npt.NDArray[np.int64], placed: Placement) -> Flags:
    """Return which documents fit no cluster; none of a cluster of which fewer than two would stay."""
    is_other = is_nearer_to_another(labels, placed)
    stay: Flags = np.bincount(labels[~is_other], minlength=int(labels.max()) + 1) >= LEAST_STAYING
    return is_other & stay[labels]


def rows_that_fit_none(rows: Documents, labels: npt.NDArray[np.int64], *, n_threads: int | None = None) -> Flags:
    """Return which rows fit none of the clusters 0..k-1, each with a row, by their own means."""
    partition = Partition(labels, tuple(range(int(labels.max()) + 1)))
    centroids = unit_rows(sums_by_label(rows.unit, labels, partition.n_clusters), warn=False).astype(rows.unit.dtype)
    return fit_none(labels, place_documents(rows, partition, centroids, n_threads=n_threads))


def is_nearer_to_another(labels: npt.NDArray[np.int64], placed: Placement) -> Flags:
    """Return which documents are less like their cluster without them than like another cluster.

    The sum ``s`` of the unit rows of a cluster is as long as the sum of their cosines to its centroid; without row x it
    is ``s - x``, whose cosine to x is ``(x.s - 1) / |s - x|``. A row of zeros is like no cluster, and nearer to none.
    """
    length = np.bincount(labels, weights=placed.similarity)[labels]
    product = length * placed.similarity
    rest = np.sqrt(np.maximum(length**2 - 2 * product + 1, 0))
    own = np.divide(product - 1, rest, out=np.zeros_like(rest), where=rest > 1e-6)
    is_zero = (placed.similarity == 0) & (placed.runner_up_similarity == 0)
    nearer: Flags = ~is_zero & (own < placed.runner_up_similarity)  # never where there is no other
    return nearer


def own_similarity(matrix: Any, partition: Partition, centroids: Any) -> Floats:
    """Return the cosine of each document to the centroid of its cluster, float64 array of shape (n_documents,)."""
    documents, centroids = checked_centroids(matrix, partition, centroids)
    return assign.place_documents(documents, centroids, partition.labels)[1]


def checked_centroids(matrix: Any, partition: Partition, centroids: Any) -> tuple[Documents, Documents]:
    """Return the documents and the centroids of a partition, checked unless they were before.

    Raises InputError if one cannot be used, or the partition, the centroids and the documents do not fit one another.
    """
    documents, centres = checked_documents(matrix, partition), as_documents(centroids, name="centroids")
    expected = (partition.n_clusters, documents.n_terms)
    if centres.shape != expected:
        raise InputError(
            f"has shape {centres.shape}",
            argument="centroids",
            expected=f"{expected}: one for each cluster of the partition, in the columns of the vectors",
        )
    return documents, centres


def dense_row(matrix: Any, row: int) -> Floats:
    """Return one row of a csr or dense matrix as a dense float64 array."""
    if isinstance(matrix, np.ndarray):
        return np.asarray(matrix[row], dtype=np.float64)
    dense = np.zeros(matrix.shape[1])
    start, stop = matrix.indptr[row], matrix.indptr[row + 1]
    dense[matrix.indices[start:stop]] = matrix.data[start:stop]
    return dense
