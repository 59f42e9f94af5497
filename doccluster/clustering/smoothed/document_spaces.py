"""The spaces that documents are clustered in, made of their counts: weighted rows, few dimensions, smoothed rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.progress import Progress
from doccluster.base.sizes import format_size
from doccluster.clustering.search_cells import search_bytes, search_cells
from doccluster.errors import Argument, MemoryLimitError
from doccluster.geometry import (
    Documents,
    NeighbourGraph,
    latent_semantic_space,
    nearest_neighbours,
    smoothed_rows,
)
from doccluster.geometry.neighbours import FOLDED_FROM, Cells, JoinedGraph
from doccluster.geometry.projection import OVERSAMPLING, unit
from doccluster.vectors.weighting import Weighting, collection_weights, parse_weighting, weigh_rows

EXACT_UP_TO = 20_000  # documents; the neighbours of more are looked for in the nearest cells,
DENSE_EXACT_UP_TO = 100_000  # and those of dense rows, whose products are quick
POWER_ITERATIONS = 1  # rows that are moved towards their neighbours need no exact directions
FIT_BYTES = 10 * 2**20  # what spherical k-means of few dense rows needs for itself
LARGEST_COUNT = 2**24  # whole numbers up to it are exact in float32

Graph = NeighbourGraph | JoinedGraph


def neighbour_graph(
    rows: Any, n_neighbors: int, *, rng: np.random.Generator, n_threads: int | None, progress: Progress
) -> NeighbourGraph:
    """Return the graph of the nearest neighbours of unit rows, near-copies folded where the rows are csr."""
    progress("neighbours", 0)
    cells, fold = cells_of(rows, rng, n_threads), FOLDED_FROM if sparse.issparse(rows) else None
    return nearest_neighbours(Documents(rows), n_neighbors, fold=fold, cells=cells, n_threads=n_threads)


def cells_of(rows: Any, rng: np.random.Generator, n_threads: int | None) -> Cells | None:
    """Return the cells in which neighbours of unit rows are looked for; None for few, all of which are compared."""
    is_sparse = sparse.issparse(rows)
    is_large = rows.shape[0] > (EXACT_UP_TO if is_sparse else DENSE_EXACT_UP_TO)
    is_filled = is_large and (rows.nnz if is_sparse else rows.any())
    return search_cells(rows, random_state=rng, n_threads=n_threads) if is_filled else None


def reduced_rows(
    rows: Any, n_components: int, *, rng: np.random.Generator, n_threads: int | None, progress: Progress
) -> npt.NDArray[np.float64]:
    """Return csr unit rows in the space of latent semantic analysis."""
    progress("project", 0)
    documents = Documents(rows)  # checked by the estimator
    space = latent_semantic_space(
        documents, n_components, n_power_iterations=POWER_ITERATIONS, random_state=rng, n_threads=n_threads
    )
    return space.project(documents, n_threads=n_threads)[:, :n_components]


def moved_rows(rows: Any, graph: Graph, *, mixing: float, n_steps: int = 3) -> npt.NDArray[np.float32]:
    """Return dense unit rows, each moved towards its neighbours in a graph; copies share one place."""
    moved = smoothed_rows(Documents(rows[graph.first]), Documents(graph.symmetric()), mixing=mixing, n_steps=n_steps)
    return moved[graph.families].astype(np.float32)


def check_memory(rows: Any, n_components: int, n_neighbors: int, limit: int) -> None:
    """Raise MemoryLimitError if the graph and the space of `rows` (csr) need more than `limit` bytes."""
    n_documents, n_terms = rows.shape[0], np.unique(rows.indices).size
    width = 8 * (min(n_components, n_documents, n_terms) + OVERSAMPLING)
    tables = width * (4 * n_documents + 4 * n_terms) + 8 * n_components * rows.shape[1]
    needed = FIT_BYTES + tables + 52 * rows.nnz + (12 * n_neighbors + 100) * n_documents
    if n_documents > EXACT_UP_TO:
        needed += search_bytes(n_documents, n_terms, rows.nnz)
    if needed > limit:
        enough = format_size(needed, up=True).replace(" ", "")  # as it can be typed
        raise MemoryLimitError(
            "is too little to smooth the rows",
            argument="max_memory",
            received=format_size(limit).replace(" ", ""),
            remedy=(f"give {enough}, or ", Argument("quality", "fast"), ", which does not smooth"),
        )


def side_by_side(*parts: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Return the unit rows of tables of the same documents, one beside the other."""
    return unit(np.hstack(parts)).astype(np.float32)


def holds_counts(matrix: Any) -> bool:
    """Return whether all values are whole numbers from 0 up."""
    values = matrix.data if sparse.issparse(matrix) else matrix
    return bool(values.size == 0 or (values.min() >= 0 and values.max() <= LARGEST_COUNT and (values % 1 == 0).all()))


class WeighedRows(NamedTuple):
    """Unit rows, the factor of each term (None where they are not of counts), and whether single terms kept theirs."""

    rows: Any
    factors: npt.NDArray[np.float32] | None
    keeps_single: bool


def shared_term_rows(
    counts: Any, n_clusters: int, *, weighting: Weighting | None = None, n_threads: int | None = None
) -> WeighedRows:
    """Return the unit rows of counts as `weighted_rows` has them.

    The factors are idf as `TfidfVectorizer` takes it, but 0 for terms of one document, which make no document like
    another. Where fewer than `n_clusters` of the rows would then differ these terms keep their idf.
    """
    frequency = np.bincount(counts.indices[counts.data > 0], minlength=counts.shape[1])
    factors = collection_weights(
        frequency, counts.shape[0], weighting=parse_weighting("tfidf"), dtype=np.dtype(np.float32)
    )
    assert factors is not None  # this weighting has them
    shared = np.where(frequency > 1, factors, 0).astype(np.float32)
    rows = weighted_rows(counts, shared, weighting=weighting, n_threads=n_threads)
    if has_as_many_rows(rows, n_clusters) or not (frequency == 1).any():
        return WeighedRows(rows, shared, keeps_single=False)
    rows = weighted_rows(counts, factors, weighting=weighting, n_threads=n_threads)
    return WeighedRows(rows, factors, keeps_single=True)


def has_as_many_rows(points: Any, number: int) -> bool:
    """Return whether at least this many nonzero rows differ, in a csr or dense matrix.

    Near-copies share a place once smoothed, and so do two documents that have no other neighbours.

    >>> has_as_many_rows(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1e-9], [0.0, 0.0]]), 3)
    False
    """
    places: set[bytes] = set()
    for row in range(points.shape[0]):
        columns, values = _entries(points, row)
        values = np.round(values, 6)
        if values.any():
            places.add(columns[values != 0].tobytes() + values[values != 0].tobytes())
        if len(places) >= number:
            return True
    return False


def _entries(points: Any, row: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return the columns and the values of a row."""
    if not sparse.issparse(points):
        return np.arange(points.shape[1]), points[row]
    own = slice(points.indptr[row], points.indptr[row + 1])
    return points.indices[own], points.data[own]


def weighted_rows(
    counts: Any,
    factors: npt.NDArray[np.float32],
    *,
    weighting: Weighting | None = None,
    n_threads: int | None = None,
) -> Any:
    """Return the unit rows of counts, float32 csr array: the part of the document times the factor of each term."""
    rows = sparse.csr_array(counts, dtype=np.float32, copy=True)
    rows.eliminate_zeros()  # a logarithm has no value there
    mean_length = float(rows.data.sum(dtype=np.float64)) / rows.shape[0]
    weighting = weighting or parse_weighting("tfidf")
    weigh_rows(rows, factors, weighting=weighting, mean_length=max(mean_length, 1.0), n_threads=n_threads)
    return rows
