"""The nearest neighbours of any rows by cosine as the edges of a graph: sparse or dense, of one sign or of both."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.blocks import row_blocks
from doccluster.geometry.neighbours import nearest_neighbours

BLOCK_ROWS = 512
LEAST_WEIGHT = 1e-6  # an edge is kept where a cosine is not positive


def neighbour_edges(rows: Any, n_neighbors: int = 10, *, n_threads: int | None = None) -> Any:
    """Return the graph with an edge where either end has the other among its nearest; weights are cosines.

    Parameters
    ----------
    rows : csr or dense array of shape (n_documents, n_terms), unit rows
        The work for dense ones grows with the square of the number of documents. The neighbours of sparse rows with
        negative values are those that share signs.
    n_neighbors : int
        Fewer where there are fewer others.
    n_threads : int, optional
        Changes no result.

    Returns
    -------
    symmetric csr array of shape (n_documents, n_documents), float64, weights > 0, nothing on the diagonal

    Examples
    --------
    >>> neighbour_edges(np.array([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]]), 1).toarray().round(1)
    array([[0. , 0.8, 0. ],
           [0.8, 0. , 0.6],
           [0. , 0.6, 0. ]])
    """
    if not sparse.issparse(rows):
        return _dense(np.ascontiguousarray(rows, dtype=np.float32), n_neighbors)
    if rows.nnz and rows.data.min() < 0:  # the search needs one sign
        rows = sparse.csr_array(sparse.hstack([rows.maximum(0), (-rows).maximum(0)]))
    return nearest_neighbours(rows, n_neighbors, fold=None, n_threads=n_threads).symmetric()


def _dense(rows: npt.NDArray[np.float32], n_neighbors: int) -> Any:
    size = rows.shape[0]
    kept = min(n_neighbors, size - 1)
    if kept < 1:
        return sparse.csr_array((size, size), dtype=np.float64)
    neighbours, cosines = np.empty((size, kept), dtype=np.int64), np.empty((size, kept))
    for block in row_blocks(size, BLOCK_ROWS):
        products = rows[block] @ rows.T
        products[np.arange(products.shape[0]), np.arange(block.start, block.stop)] = -np.inf
        nearest = np.argpartition(-products, kept - 1, axis=1)[:, :kept]
        neighbours[block], cosines[block] = nearest, np.take_along_axis(products, nearest, axis=1)
    weights = np.maximum(cosines, LEAST_WEIGHT).ravel()
    graph = sparse.csr_array((weights, neighbours.ravel(), np.arange(0, size * kept + 1, kept)), shape=(size, size))
    return sparse.csr_array(graph.maximum(graph.T))
