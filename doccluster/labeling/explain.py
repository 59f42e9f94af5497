"""Why a document is in its cluster: the cosine to a centroid, taken apart term by term."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.errors import InputError
from doccluster.labeling.placement import dense_row
from doccluster.validation import check_matrix


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
    columns, weights = _row(matrix, row)
    centroid = dense_row(centroids, cluster)[columns]
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


def _row(matrix: Any, row: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    if isinstance(matrix, np.ndarray):
        values = np.asarray(matrix[row], dtype=np.float64)
        columns = np.flatnonzero(values)
        return columns, values[columns]
    start, stop = matrix.indptr[row], matrix.indptr[row + 1]
    return matrix.indices[start:stop].astype(np.int64), matrix.data[start:stop].astype(np.float64)
