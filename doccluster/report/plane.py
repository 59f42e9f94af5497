"""Documents in the plane: latent semantic analysis to 50 dimensions, then t-SNE; and what is lost on the way.

A few thousand documents are placed with every push counted, and all others among them. Sources: Deerwester et al. 1990
(latent semantic analysis); van der Maaten & Hinton 2008, "Visualizing data using t-SNE", JMLR 9: perplexities by
bisection, gradient of equation 5, early exaggeration, momentum; gains as in Jacobs 1988. Similarities reach three times
the perplexity, as in van der Maaten 2014, "Accelerating t-SNE using tree-based algorithms", JMLR 15. New places among
fixed ones follow the same gradient, as in Poličar, Stražar & Zupan 2021, "Embedding to reference t-SNE space addresses
batch effects".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.blocks import library_threads, map_blocks, resolve_threads, row_blocks, share_blocks
from doccluster.base.compiled import jit
from doccluster.base.progress import LOOPS
from doccluster.errors import InputError
from doccluster.geometry.projection import latent_semantic_space, unit
from doccluster.results.record import Run
from doccluster.vectors import DocumentVectors

Floats = npt.NDArray[Any]  # float32 in t-SNE, float64 elsewhere

N_DIMENSIONS = 50
PERPLEXITY = 30.0  # fewer documents have fewer neighbours
MIN_DOCUMENTS = 4  # documents that a map is made of
N_LANDMARKS = 2_000  # up to here all documents are placed by t-SNE itself
MAX_WITH_MAP = 50_000  # up to here a report has its map without being asked for one
N_NEIGHBOURS = 10
MAX_SAMPLE = 2_000  # documents whose neighbours are looked at
BLOCK_ROWS = 256
# of t-SNE
PHASES = ((250, 12.0, 0.5), (250, 1.0, 0.8))  # iterations, exaggeration, momentum
BISECTIONS = 50
LOWEST_GAIN = np.float32(0.01)
LOWEST_RATE = 50.0
MIN_NEARNESS = np.float32(1e-6)  # together: very few places may lie so far apart that rounding leaves nothing
NEW_PERPLEXITY = 5.0  # of documents placed among others
NEW_STEPS = 20
NEW_RATE = np.float32(0.3)


@dataclass(frozen=True, eq=False)
class Plane:
    """The documents of a run in the plane."""

    places: Floats  # of shape (n_documents, 2): near to each other where documents are alike; the axes mean nothing
    method: str  # what they were placed by
    judged_by: str  # the column of classes that says which neighbours belong together; empty: the clusters
    purity: float  # the share of the 10 nearest neighbours that belong together; nan of too few documents
    purity_before: float  # the same in the 50 dimensions

    @property
    def kept(self) -> float:
        """The purity in the plane as a share of that in the 50 dimensions."""
        return self.purity / self.purity_before if self.purity_before else float("nan")


PlacedRows = tuple[Floats, Floats, str]  # in 50 dimensions, in the plane, and what they were placed by


def placed_rows(rows: Floats, seed: int, *, n_threads: int | None = None) -> PlacedRows:
    """Return documents, as `semantic_rows` gives them, in the plane."""
    # sums of several threads are rounded in the order in which these end
    with library_threads(1):
        return rows, *_placed(rows, seed, n_threads)


def plane_of(run: Run, placed: PlacedRows | None = None) -> Plane:
    """Return the documents of a run in the plane, where they may be `placed` already; the same run, the same places.

    Raises InputError if there are fewer than four documents.
    """
    if run.n_documents < MIN_DOCUMENTS:
        raise InputError(f"{run.n_documents} documents make no map", remedy=f"give {MIN_DOCUMENTS} or more")
    n_threads: Any = run.parameters.get("n_threads")  # of the run; no place depends on it
    if placed is None:
        rows = semantic_rows(run.vectors, by_meaning=run.by_meaning is not None, n_threads=n_threads)
        placed = placed_rows(rows, run.provenance.seed, n_threads=n_threads)
    rows, places, method = placed
    with library_threads(1):
        judged_by, sample, groups = _groups(run)
        return Plane(
            places,
            method,
            judged_by,
            neighbour_purity(places[sample], groups, n_threads=n_threads),
            neighbour_purity(rows[sample], groups, n_threads=n_threads),
        )


def neighbour_purity(rows: Floats, groups: npt.NDArray[np.int64], *, n_threads: int | None = None) -> float:
    """Return the mean share of the 10 nearest rows that are of the same group, of at most 2,000 rows spread evenly."""
    n = rows.shape[0]
    if n <= N_NEIGHBOURS:
        return float("nan")
    sample = np.unique(np.linspace(0, n - 1, min(n, MAX_SAMPLE)).round().astype(np.int64))
    nearest, _ = _nearest(rows[sample], rows, N_NEIGHBOURS, themselves=sample, n_threads=n_threads)
    return int((groups[nearest] == groups[sample, None]).sum()) / nearest.size


def semantic_rows(vectors: DocumentVectors, *, by_meaning: bool = False, n_threads: int | None = None) -> Floats:
    """Return unit rows of 50 dimensions, beside those of meaning where clusters are of it too (`by_meaning`).

    The seed is fixed, so that runs of the same documents can be compared.
    """
    documents, meaning = vectors.documents, vectors.meaning
    space = latent_semantic_space(documents, N_DIMENSIONS, random_state=0, n_threads=n_threads)
    rows: Floats = unit(space.project(documents, n_threads=n_threads))
    return rows if meaning is None or not by_meaning else meaning.beside(rows).astype(np.float64)


def _placed(rows: Floats, seed: int, n_threads: int | None = None) -> tuple[Floats, str]:
    """Return the places of rows: of landmarks drawn from them by t-SNE, of all others among these."""
    n = rows.shape[0]
    if n <= N_LANDMARKS:
        return _by_tsne(rows, seed, n_threads), "t-SNE"
    is_landmark = np.zeros(n, dtype=bool)
    is_landmark[np.random.default_rng(seed).choice(n, N_LANDMARKS, replace=False)] = True
    landmarks = rows[is_landmark]
    places = np.empty((n, 2))
    places[is_landmark] = _by_tsne(landmarks, seed, n_threads)
    places[~is_landmark] = places_among(rows[~is_landmark], landmarks, places[is_landmark], n_threads=n_threads)
    return places, f"t-SNE: {N_LANDMARKS:,} of them drawn at random, then each of the others among these"


def _by_tsne(rows: Floats, seed: int, n_threads: int | None) -> Floats:
    perplexity = min(PERPLEXITY, max(1.5, rows.shape[0] / 8))
    return tsne(rows, _start(rows, seed), perplexity=perplexity, n_threads=n_threads)


def _start(rows: Floats, seed: int) -> Floats:
    """Return the two directions in which rows differ most, small, with a trace of noise that tells copies apart."""
    centred = rows - rows.mean(axis=0)
    _, directions = np.linalg.eigh(np.einsum("ij,ik->jk", centred, centred))
    axes = directions[:, ::-1][:, :2]
    if axes.shape[1] < 2:
        axes = np.column_stack([axes, np.zeros((axes.shape[0], 2 - axes.shape[1]))])
    largest = np.abs(axes).argmax(axis=0)
    start = centred @ (axes * np.where(axes[largest, [0, 1]] < 0, -1.0, 1.0))
    spread = float(start.std(axis=0).max())
    noise = np.random.default_rng(seed).standard_normal(start.shape)
    started: Floats = 1e-4 * (start / (spread or 1.0) + 0.01 * noise)
    return started


def _groups(run: Run) -> tuple[str, Any, npt.NDArray[np.int64]]:
    """Return the groups that judge neighbours (a truth, else the clusters), the rows that have one, and their names."""
    for column in run.truth:
        rows, names = run.classes(column)
        if rows.size > N_NEIGHBOURS:
            return column, rows, np.unique(np.array(names, dtype=object).astype(str), return_inverse=True)[1]
    return "", slice(None), run.partition.labels.astype(np.int64)


@jit
def repulsion(x, y, from_x, from_y, forces):
    """Add how other places push each place away, along each axis, and how near they are: three float32 of (n,)."""
    across, down, near = forces
    unit = np.float32(1.0)
    for source in range(from_x.size):
        source_x, source_y = from_x[source], from_y[source]
        for place in range(x.size):
            dx, dy = x[place] - source_x, y[place] - source_y
            q = unit / (unit + dx * dx + dy * dy)
            near[place] += q
            across[place] += q * q * dx
            down[place] += q * q * dy


@jit
def attraction(x, y, graph, to_x, to_y, forces):
    """Add how neighbours in a graph (indptr, indices, weights) pull each place along each axis: two float32 of (n,)."""
    (indptr, indices, weights), (across, down) = graph, forces
    unit = np.float32(1.0)
    for place in range(x.size):
        for position in range(indptr[place], indptr[place + 1]):
            dx, dy = x[place] - to_x[indices[position]], y[place] - to_y[indices[position]]
            pull = weights[position] / (unit + dx * dx + dy * dy)
            across[place] += pull * dx
            down[place] += pull * dy


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
                pull = np.zeros_like(places)
                attraction(places[0], places[1], graph, places[0], places[1], tuple(pull))
                total = max(near.sum() - n, MIN_NEARNESS)  # each place meets itself once, at distance 0
                gradient = 4 * (pull - np.vstack([across, down]) / total)
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
            across, down, near = np.zeros((3, x[block].size), np.float32)
            repulsion(x[block], y[block], from_x, from_y, (across, down, near))
            return across, down, near

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
            pull_x, pull_y = np.zeros((2, x.size), np.float32)
            attraction(x, y, graph, to_x, to_y, (pull_x, pull_y))
            x = x - NEW_RATE * (pull_x - across / near)
            y = y - NEW_RATE * (pull_y - down / near)
    return np.column_stack([x, y]).astype(np.float64)


def neighbour_similarities(rows: Floats, perplexity: float, *, n_threads: int | None = None) -> Any:
    """Return the joint similarities of rows, a symmetric csr array of float32 that sums to 1, by squared distance."""
    n = rows.shape[0]
    n_neighbours = min(n - 1, max(2, int(3 * perplexity)))
    nearest, distances = _nearest(rows, rows, n_neighbours, themselves=np.arange(n), n_threads=n_threads)
    weights = _weights(distances - distances[:, :1], np.log(min(perplexity, 0.9 * n_neighbours)))
    starts = np.arange(n + 1) * n_neighbours
    graph = sparse.csr_array((weights.ravel(), nearest.ravel(), starts), shape=(n, n))
    joint = sparse.csr_array((graph + graph.T) / (2 * n)).astype(np.float32)
    joint.sort_indices()
    return joint


def _nearest(
    rows: Floats,
    candidates: Floats,
    n_neighbours: int,
    *,
    themselves: npt.NDArray[np.int64] | None = None,
    n_threads: int | None,
) -> tuple[Floats, Floats]:
    """Return the candidates nearest to each row, and their squared distances, ascending; ties by place.

    `themselves`: the candidate that each row is, which is left out.
    """
    lengths = np.einsum("ij,ij->i", candidates, candidates)
    parts_of_block = row_blocks(BLOCK_ROWS, BLOCK_ROWS // 8)  # whose places among all candidates are held at a time

    def of_block(block: slice) -> tuple[Floats, Floats]:
        squared = rows[block] @ candidates.T
        squared *= -2  # in place: a block against all candidates is the most memory that a report takes
        squared += lengths
        if themselves is not None:
            squared[np.arange(block.stop - block.start), themselves[block]] = np.inf
        orders = (np.argpartition(squared[part], n_neighbours - 1, axis=1) for part in parts_of_block)
        nearest_few = np.concatenate([np.sort(order[:, :n_neighbours], axis=1) for order in orders])
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
