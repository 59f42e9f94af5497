"""t-SNE of a few hundred documents, in numpy alone: importing a library would take longer than all of its work.

Source: van der Maaten & Hinton 2008, "Visualizing data using t-SNE", JMLR 9: perplexities by bisection, gradient of
equation 5, early exaggeration, momentum; gains as in Jacobs 1988. Similarities reach three times the perplexity, as in
van der Maaten 2014, "Accelerating t-SNE using tree-based algorithms", JMLR 15. The repulsion is exact.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

Floats = npt.NDArray[Any]

PHASES = ((250, 12.0, 0.5), (250, 1.0, 0.8))  # iterations, exaggeration, momentum
BLOCK_ROWS = 256
BISECTIONS = 50
LOWEST_GAIN = np.float32(0.01)
LOWEST_RATE = 50.0


def small_tsne(rows: Floats, start: Floats, *, perplexity: float) -> npt.NDArray[np.float64]:
    """Return the places of rows in the plane, float64 array of shape (n, 2), in a time that grows with n squared.

    Parameters
    ----------
    rows : float64 array of shape (n, n_dimensions), n >= 4
    start : float64 array of shape (n, 2)
        Small places to begin from.
    perplexity : float > 1
        About how many neighbours count for each row.
    """
    n = rows.shape[0]
    similar = neighbour_similarities(rows, perplexity)
    ends = np.repeat(np.arange(n), np.diff(similar.indptr)), similar.indices
    pull = similar.copy()
    places, ones = start.astype(np.float32), np.ones(n, np.float32)
    gains, step = np.ones_like(places), np.zeros_like(places)
    rate = np.float32(max(n / PHASES[0][1] / 4, LOWEST_RATE))
    for n_iterations, exaggeration, momentum in PHASES:
        for _ in range(n_iterations):
            push, total = _repulsion(places)
            across, down = (axis.take(ends[0]) - axis.take(ends[1]) for axis in places.T.copy())
            pull.data = similar.data * np.float32(exaggeration) / (1 + across * across + down * down)
            sums = pull @ np.column_stack([places, ones])
            gradient = 4 * (places * sums[:, 2:] - sums[:, :2] - push / total)
            gains = np.where((gradient > 0) != (step > 0), gains + np.float32(0.2), gains * np.float32(0.8))
            gains = np.maximum(gains, LOWEST_GAIN)
            step = np.float32(momentum) * step - rate * gains * gradient
            places = places + step
            places -= places.mean(axis=0)
    return places.astype(np.float64)


def neighbour_similarities(rows: Floats, perplexity: float) -> Any:
    """Return the joint similarities of rows, a symmetric csr array of float32 that sums to 1, by squared distance."""
    n = rows.shape[0]
    n_neighbours = min(n - 1, max(2, int(3 * perplexity)))
    nearest = np.empty((n, n_neighbours), dtype=np.int64)
    distances = np.empty((n, n_neighbours))
    lengths = np.einsum("ij,ij->i", rows, rows)
    for first in range(0, n, BLOCK_ROWS):
        block = slice(first, min(n, first + BLOCK_ROWS))
        squared = lengths[block, None] + lengths - 2 * np.einsum("ij,kj->ik", rows[block], rows)
        squared[np.arange(block.stop - first), np.arange(first, block.stop)] = np.inf
        nearest[block] = np.argsort(squared, axis=1, kind="stable")[:, :n_neighbours]
        distances[block] = np.take_along_axis(squared, nearest[block], axis=1)
    weights = _weights(distances - distances[:, :1], np.log(min(perplexity, 0.9 * n_neighbours)))
    starts = np.arange(n + 1) * n_neighbours
    graph = sparse.csr_array((weights.ravel(), nearest.ravel(), starts), shape=(n, n))
    joint = sparse.csr_array((graph + graph.T) / (2 * n)).astype(np.float32)
    joint.sort_indices()
    return joint


def _weights(distances: Floats, entropy: float) -> Floats:
    """Return Gaussian weights of neighbours, rows that sum to 1, each as narrow as its entropy asks for."""
    n = distances.shape[0]
    narrow, low, high = np.ones(n), np.zeros(n), np.full(n, np.inf)
    for _ in range(BISECTIONS):
        weights = np.exp(-distances * narrow[:, None])
        sums = weights.sum(axis=1)
        too_wide = np.log(sums) + narrow * (distances * weights).sum(axis=1) / sums > entropy
        low, high = np.where(too_wide, narrow, low), np.where(too_wide, high, narrow)
        narrow = np.where(np.isinf(high), np.minimum(2 * narrow, 1e12), (low + np.where(np.isinf(high), 0, high)) / 2)
    weights = np.exp(-distances * narrow[:, None])
    normalised: Floats = weights / weights.sum(axis=1, keepdims=True)
    return normalised


def _repulsion(places: Floats) -> tuple[Floats, np.float32]:
    """Return how strongly each place is pushed away by all others, and the sum that this is to be divided by."""
    n = places.shape[0]
    push = np.empty_like(places)
    x, y = np.ascontiguousarray(places[:, 0]), np.ascontiguousarray(places[:, 1])
    total = np.float32(-n)  # each place meets itself once, at distance 0
    for first in range(0, n, BLOCK_ROWS):
        block = slice(first, first + BLOCK_ROWS)
        across, down = np.subtract.outer(x[block], x), np.subtract.outer(y[block], y)
        near = across * across
        near += down * down
        near += 1
        np.reciprocal(near, out=near)
        total += near.sum()
        near *= near
        push[block, 0] = np.einsum("ij,ij->i", near, across)
        push[block, 1] = np.einsum("ij,ij->i", near, down)
    return push, total
