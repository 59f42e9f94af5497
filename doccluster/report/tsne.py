"""t-SNE of a few thousand documents with every push counted, and places among them for all others.

Sources: van der Maaten & Hinton 2008, "Visualizing data using t-SNE", JMLR 9: perplexities by bisection, gradient of
equation 5, early exaggeration, momentum; gains as in Jacobs 1988. Similarities reach three times the perplexity, as in
van der Maaten 2014, "Accelerating t-SNE using tree-based algorithms", JMLR 15. New places among fixed ones follow the
same gradient, as in Poličar, Stražar & Zupan 2021, "Embedding to reference t-SNE space addresses batch effects".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.blocks import map_blocks, resolve_threads, row_blocks, share_blocks
from doccluster.base.compiled import jit
from doccluster.base.progress import LOOPS


@jit
def repulsion(x, y, from_x, from_y):
    """Return how other places push each place away, along each axis, and how near they are; float32 of (n,) each."""
    across, down, near = np.zeros_like(x), np.zeros_like(x), np.zeros_like(x)
    unit = np.float32(1.0)
    for source in range(from_x.size):
        source_x, source_y = from_x[source], from_y[source]
        for place in range(x.size):
            dx, dy = x[place] - source_x, y[place] - source_y
            q = unit / (unit + dx * dx + dy * dy)
            near[place] += q
            across[place] += q * q * dx
            down[place] += q * q * dy
    return across, down, near


@jit
def attraction(x, y, graph, to_x, to_y):
    """Return how the neighbours in a graph (indptr, indices, weights) pull places, along each axis; float32 of (n,)."""
    indptr, indices, weights = graph
    across, down = np.zeros_like(x), np.zeros_like(x)
    unit = np.float32(1.0)
    for place in range(x.size):
        for position in range(indptr[place], indptr[place + 1]):
            dx, dy = x[place] - to_x[indices[position]], y[place] - to_y[indices[position]]
            pull = weights[position] / (unit + dx * dx + dy * dy)
            across[place] += pull * dx
            down[place] += pull * dy
    return across, down


Floats = npt.NDArray[Any]

PHASES = ((250, 12.0, 0.5), (250, 1.0, 0.8))  # iterations, exaggeration, momentum
BLOCK_ROWS = 256
BISECTIONS = 50
LOWEST_GAIN = np.float32(0.01)
LOWEST_RATE = 50.0
MIN_NEARNESS = np.float32(1e-6)  # together: very few places may lie so far apart that rounding leaves nothing
NEW_PERPLEXITY = 5.0  # of documents placed among others
NEW_STEPS = 20
NEW_RATE = np.float32(0.3)


def tsne(rows: Floats, start: Floats, *, perplexity: float, n_threads: int | None = None) -> npt.NDArray[np.float64]:
    """Return the places of four or more rows, float64 array of shape (n, 2), in a time that grows with n squared.

    `start` are small places to begin from; about `perplexity` neighbours count for each row. `n_threads` changes no
    place.
    """
    n = rows.shape[0]
    similar = neighbour_similarities(rows, perplexity, n_threads=n_threads)
    x, y = _axes(start)
    places = np.vstack([x, y])
    gains, step = np.ones_like(places), np.zeros_like(places)
    rate = np.float32(max(n / PHASES[0][1] / 4, LOWEST_RATE))
    with _repulsions(n, n_threads) as push:
        for n_iterations, exaggeration, momentum in PHASES:
            pulls = similar.data * np.float32(exaggeration)
            graph = similar.indptr.astype(np.int32), similar.indices.astype(np.int32), pulls
            for _ in LOOPS.over(range(n_iterations)):
                across, down, near = push(places[0], places[1], places[0], places[1])
                pull = attraction(places[0], places[1], graph, places[0], places[1])
                total = max(near.sum() - n, MIN_NEARNESS)  # each place meets itself once, at distance 0
                gradient = 4 * (np.vstack(pull) - np.vstack([across, down]) / total)
                gains = np.where((gradient > 0) != (step > 0), gains + np.float32(0.2), gains * np.float32(0.8))
                gains = np.maximum(gains, LOWEST_GAIN)
                step = np.float32(momentum) * step - rate * gains * gradient
                places = places + step
                places -= places.mean(axis=1, keepdims=True)
    return places.T.astype(np.float64)


@contextmanager
def _repulsions(n: int, n_threads: int | None) -> Iterator[Callable[..., tuple[Floats, Floats, Floats]]]:
    """Yield `repulsion` for n places, each thread with as many of them."""
    threads = resolve_threads(n_threads)
    blocks = row_blocks(n, -(-n // threads))

    def push(x: Floats, y: Floats, from_x: Floats, from_y: Floats) -> tuple[Floats, Floats, Floats]:
        def of_block(block: slice) -> tuple[Floats, Floats, Floats]:
            forces: tuple[Floats, Floats, Floats] = repulsion(x[block], y[block], from_x, from_y)
            return forces

        across, down, near = zip(*share_blocks(of_block, blocks, n_threads=threads, pool=pool), strict=True)
        return np.concatenate(across), np.concatenate(down), np.concatenate(near)

    with ThreadPoolExecutor(threads, "doccluster") as pool:
        yield push


def places_among(
    rows: Floats, placed_rows: Floats, places: npt.NDArray[np.float64], *, n_threads: int | None = None
) -> npt.NDArray[np.float64]:
    """Return places, float64 array of shape (n, 2), for more rows among rows that have one; those stay."""
    n_neighbours = min(placed_rows.shape[0], int(3 * NEW_PERPLEXITY))
    nearest, distances = _nearest(rows, placed_rows, n_neighbours, n_threads=n_threads)
    weights = _weights(distances - distances[:, :1], np.log(NEW_PERPLEXITY)).astype(np.float32)
    starts = np.arange(rows.shape[0] + 1) * nearest.shape[1]
    graph = starts.astype(np.int32), nearest.ravel().astype(np.int32), weights.ravel()
    to_x, to_y = _axes(places)
    x, y = to_x[nearest[:, 0]], to_y[nearest[:, 0]]
    with _repulsions(x.size, n_threads) as push:
        for _ in range(NEW_STEPS):
            across, down, near = push(x, y, to_x, to_y)
            pull_x, pull_y = attraction(x, y, graph, to_x, to_y)
            x = x - NEW_RATE * (pull_x - across / near)
            y = y - NEW_RATE * (pull_y - down / near)
    return np.column_stack([x, y]).astype(np.float64)


def neighbour_similarities(rows: Floats, perplexity: float, *, n_threads: int | None = None) -> Any:
    """Return the joint similarities of rows, a symmetric csr array of float32 that sums to 1, by squared distance."""
    n = rows.shape[0]
    n_neighbours = min(n - 1, max(2, int(3 * perplexity)))
    nearest, distances = _nearest(rows, rows, n_neighbours, themselves=False, n_threads=n_threads)
    weights = _weights(distances - distances[:, :1], np.log(min(perplexity, 0.9 * n_neighbours)))
    starts = np.arange(n + 1) * n_neighbours
    graph = sparse.csr_array((weights.ravel(), nearest.ravel(), starts), shape=(n, n))
    joint = sparse.csr_array((graph + graph.T) / (2 * n)).astype(np.float32)
    joint.sort_indices()
    return joint


def _nearest(
    rows: Floats, candidates: Floats, n_neighbours: int, *, themselves: bool = True, n_threads: int | None
) -> tuple[Floats, Floats]:
    """Return the candidates nearest to each row, and their squared distances, ascending; ties by place."""
    lengths = np.einsum("ij,ij->i", candidates, candidates)

    def of_block(block: slice) -> tuple[Floats, Floats]:
        squared = lengths - 2 * (rows[block] @ candidates.T)
        if not themselves:
            squared[np.arange(block.stop - block.start), np.arange(block.start, block.stop)] = np.inf
        nearest_few = np.sort(np.argpartition(squared, n_neighbours - 1, axis=1)[:, :n_neighbours], axis=1)
        order = np.argsort(np.take_along_axis(squared, nearest_few, axis=1), axis=1, kind="stable")
        nearest = np.take_along_axis(nearest_few, order, axis=1)
        return nearest, np.take_along_axis(squared, nearest, axis=1)

    parts = map_blocks(of_block, row_blocks(rows.shape[0], BLOCK_ROWS), n_threads=n_threads)
    nearest, distances = map(np.concatenate, zip(*parts, strict=True))
    return nearest, distances


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


def _axes(places: npt.NDArray[np.float64]) -> tuple[Floats, Floats]:
    x, y = places.T.astype(np.float32)
    return np.ascontiguousarray(x), np.ascontiguousarray(y)
