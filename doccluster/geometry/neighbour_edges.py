"""The nearest neighbours of any rows by cosine as the edges of a graph: sparse or dense, of one sign or of both."""

from __future__ import annotations

from typing import Any

from scipy import sparse

from doccluster.geometry.neighbours import nearest_neighbours


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
