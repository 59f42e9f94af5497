"""Centroids as sparse rows in the columns of a `DocumentMatrix`: how a start begins and what it hands out."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.clustering.k_means.document_matrix import DocumentMatrix


def means_of_rows(documents: DocumentMatrix, rows: npt.NDArray[np.int64]) -> sparse.csr_array:
    """Return the documents `rows` as means."""
    some = documents.take(rows)
    return sparse.csr_array((some.values, some.columns, some.starts), shape=(rows.size, documents.n_columns))


def means_of_matrix(centroids: Any, original: npt.NDArray[np.int32]) -> sparse.csr_array:
    """Return csr rows given in the columns of the user's matrix as float32 rows in the columns of a DocumentMatrix."""
    rank = np.empty(original.size, np.int32)
    rank[original] = np.arange(original.size, dtype=np.int32)
    values = centroids.data.astype(np.float32)
    return sparse.csr_array((values, rank[centroids.indices], centroids.indptr), shape=centroids.shape)


def in_given_columns(means: sparse.csr_array, original: npt.NDArray[np.int32]) -> sparse.csr_array:
    """Return means in the columns of the matrix as given, indices sorted."""
    rows = sparse.csr_array((means.data, original[means.indices], means.indptr), shape=means.shape)
    return rows.tocsc().tocsr()  # sorts the indices of each row, faster than comparing them would
