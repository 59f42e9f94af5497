"""Nearest neighbours as a matrix: as scikit-learn's estimators take them, or as the edges of a graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.errors import InputError
from doccluster.geometry.documents import Documents
from doccluster.geometry.neighbours import nearest_neighbours
from doccluster.validation import check_matrix, check_positive_int

MODES = ("distance", "connectivity", "similarity")


def kneighbors_graph(
    X: Any,
    n_neighbors: int,
    *,
    mode: str = "distance",
    include_self: bool = False,
    n_threads: int | None = None,
) -> Any:
    """Return the exact nearest neighbours of each row by cosine, as scikit-learn's function of this name does.

    Parameters
    ----------
    X : csr array of shape (n_documents, n_terms), no negative values
        Rows need not be unit. A document that shares no term with another is at distance 1 from it; of such documents
        the first come first.
    n_neighbors : int
        Without the document itself.
    mode : {'distance', 'connectivity', 'similarity'}
        What is stored: 1 - cosine, 1, or the cosine.
    include_self : bool
        Whether each row begins with the document itself (distance 0), as estimators with ``metric="precomputed"`` take
        it.
    n_threads : int, optional
        Changes no result.

    Returns
    -------
    csr array of shape (n_documents, n_documents)
        `n_neighbors` stored entries in each row, nearest first (so the columns are not sorted), zeros stored too.

    Raises
    ------
    InputError
        If there are fewer other documents, a value is negative, or the mode is not known.

    Examples
    --------
    >>> rows = sparse.csr_array([[1.0, 0.0, 0.0], [0.6, 0.8, 0.0], [0.0, 0.0, 1.0]])
    >>> kneighbors_graph(rows, 1).toarray().round(6)
    array([[0. , 0.4, 0. ],
           [0.4, 0. , 0. ],
           [1. , 0. , 0. ]])
    """
    matrix = sparse.csr_array(check_matrix(X))
    n = matrix.shape[0]
    if check_positive_int(n_neighbors, "n_neighbors") >= n:
        raise InputError(f"n_neighbors={n_neighbors} is not below the {n} documents; choose n_neighbors <= {n - 1}.")
    if mode not in MODES:
        raise InputError(f"mode={mode!r} is not known; choose one of {', '.join(MODES)}.")
    found = nearest_neighbours(Documents(matrix), n_neighbors, fold=None, n_threads=n_threads)
    columns = _filled(found.neighbours.astype(np.int64))
    similarity = np.clip(found.similarity, 0.0, 1.0)
    if include_self:
        columns = np.column_stack([np.arange(n), columns])
        similarity = np.column_stack([np.ones(n), similarity])
    values = {"distance": 1.0 - similarity, "similarity": similarity, "connectivity": np.ones_like(similarity)}[mode]
    starts = np.arange(0, columns.size + 1, columns.shape[1])
    graph = sparse.csr_array((n, n), dtype=np.float64)
    graph.data, graph.indices, graph.indptr = values.ravel(), *_narrow(columns.ravel(), starts)
    return graph


def _filled(neighbours: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Put the first documents that are not in a list in its empty places."""
    size = neighbours.shape[1]
    for row in np.flatnonzero((neighbours < 0).any(axis=1)):
        have = neighbours[row][neighbours[row] >= 0]
        free = np.setdiff1d(np.arange(size + 1), np.append(have, row), assume_unique=False)
        neighbours[row, have.size :] = free[: size - have.size]
    return neighbours


def _narrow(columns: npt.NDArray[np.int64], starts: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.integer[Any]], ...]:
    """Return index arrays of 32 bits where they do; scikit-learn takes no others."""
    if columns.size >= 2**31:
        return columns, starts
    return columns.astype(np.int32), starts.astype(np.int32)


def neighbour_edges(rows: Any, n_neighbors: int = 10, *, n_threads: int | None = None) -> Any:
    """Return the graph with an edge where either end has the other among its nearest; weights are cosines.

    Parameters
    ----------
    rows : csr or dense array of shape (n_documents, n_terms), unit rows
        The work for dense ones grows with the square of the number of documents. The neighbours of sparse rows with
        negative values are those that share signs.
    n_neighbors : int
        Fewer where there are fewer others at a cosine above 0.
    n_threads : int, optional
        Changes no result.

    Returns
    -------
    symmetric csr array of shape (n_documents, n_documents), float64, weights > 0, nothing on the diagonal

    Examples
    --------
    >>> import numpy as np
    >>> neighbour_edges(np.array([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]]), 1).toarray().round(1)
    array([[0. , 0.8, 0. ],
           [0.8, 0. , 0.6],
           [0. , 0.6, 0. ]])
    """
    if sparse.issparse(rows) and rows.nnz and rows.data.min() < 0:  # the search needs one sign
        rows = sparse.csr_array(sparse.hstack([rows.maximum(0), (-rows).maximum(0)]))
    return nearest_neighbours(rows, n_neighbors, fold=None, n_threads=n_threads).symmetric()
