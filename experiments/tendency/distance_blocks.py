"""Distances from some rows to all rows, a block of rows at a time: what tendency tests need, without n x n memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.blocks import row_blocks
from doccluster.validation import squared_row_norms

Metric = Literal["cosine", "euclidean"]
BLOCK_CELLS = 4_000_000  # 32 MB of float64 at a time


def distance_blocks(
    queries: Any, matrix: Any, *, metric: Metric = "cosine"
) -> Iterator[tuple[slice, npt.NDArray[np.float64]]]:
    """Yield (rows, distances of those queries to every row of `matrix`), float64 array of shape (block, n_documents).

    "cosine" is 1 - x.y and expects unit or zero rows; "euclidean" takes rows as they are. A distance whose square is
    within rounding of zero is zero.
    """
    transposed = _as_float64(matrix).T
    own = squared_row_norms(matrix)
    size = max(1, BLOCK_CELLS // max(1, matrix.shape[0]))
    single = matrix.dtype == np.float32
    for rows in row_blocks(queries.shape[0], size):
        block = _as_float64(queries[rows])
        products = block @ transposed
        products = products.toarray() if sparse.issparse(products) else np.asarray(products)
        if metric == "cosine":
            distances = np.subtract(1.0, products)
            distances[distances <= (1e-11 if single else 1e-14)] = 0.0
            yield rows, distances
        else:
            scale = squared_row_norms(block)[:, None] + own[None, :]
            squared = scale - 2 * products
            squared[squared <= (1e-11 if single else 1e-14) * scale] = 0.0
            yield rows, np.sqrt(squared)


def nearest_distances(
    queries: Any, matrix: Any, *, metric: Metric = "cosine", own_rows: npt.NDArray[np.integer[Any]] | None = None
) -> npt.NDArray[np.float64]:
    """Return the distance of each query to the nearest row, leaving out the query's own row (by number) where given."""
    nearest = np.empty(queries.shape[0])
    for rows, distances in distance_blocks(queries, matrix, metric=metric):
        if own_rows is not None:
            distances[np.arange(distances.shape[0]), own_rows[rows]] = np.inf
        nearest[rows] = distances.min(axis=1)
    return nearest


def pair_distance_histogram(matrix: Any, edges: npt.NDArray[np.float64], *, metric: Metric) -> npt.NDArray[np.int64]:
    """Return how many of the n(n-1)/2 pair distances fall in each bin; the last bin holds its right edge."""
    counts = np.zeros(edges.size - 1, dtype=np.int64)
    for values in upper_distances(matrix, metric=metric):
        counts += np.histogram(values, edges)[0]
    return counts


def pair_distance_range(matrix: Any, *, metric: Metric) -> tuple[float, float]:
    """Return the least and the largest of all pair distances."""
    low, high = np.inf, -np.inf
    for values in upper_distances(matrix, metric=metric):
        if values.size:
            low, high = min(low, float(values.min())), max(high, float(values.max()))
    return low, high


def upper_distances(matrix: Any, *, metric: Metric) -> Iterator[npt.NDArray[np.float64]]:
    """Yield the distances of all pairs i < j, a block of rows i at a time, flat."""
    columns = np.arange(matrix.shape[0])
    for rows, distances in distance_blocks(matrix, matrix, metric=metric):
        yield distances[columns[None, :] > columns[rows][:, None]]


def _as_float64(matrix: Any) -> Any:
    return matrix.astype(np.float64, copy=False)
