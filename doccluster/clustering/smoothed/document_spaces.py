"""The spaces that documents are clustered in, made of their counts: weighted rows, few dimensions, smoothed rows.

Nearest neighbours are looked for in cells: an inverted file over some sqrt(n) clusters of the documents. The neighbours
of a document are in the cells whose centroids are nearest to it, nearly always; a benchmark
(`python -m experiments.benchmarks neighbours`) prints how often. Source: Manning, Raghavan & Schuetze 2008,
Introduction to Information Retrieval, section 7.1.6 (cluster pruning).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from doccluster.base.arrays import CsrArray, Floats, Integers, Matrix, SingleFloats
from doccluster.base.blocks import library_threads, row_blocks
from doccluster.base.place import Place, taken_rows
from doccluster.base.plain_values import format_size
from doccluster.base.validation import RandomState, as_generator, check_positive_int
from doccluster.clustering.k_means.assign import centroid_similarities
from doccluster.clustering.k_means.spherical import SphericalParameters, spherical_k_means
from doccluster.errors import Argument, MemoryLimitError
from doccluster.geometry import (
    Documents,
    NeighbourGraph,
    smoothed_rows,
)
from doccluster.geometry.documents import as_documents
from doccluster.geometry.neighbours import Cells, JoinedGraph
from doccluster.geometry.projection import BLOCK_ROWS, OVERSAMPLING, unit
from doccluster.vectors.document_vectors import is_counts
from doccluster.vectors.letters import Letters
from doccluster.vectors.meaning import Meaning, beside
from doccluster.vectors.weighting import Weighting, collection_weights, parse_weighting, weigh_rows

EXACT_UP_TO = 20_000  # documents; the neighbours of more are looked for in the nearest cells,
DENSE_EXACT_UP_TO = 100_000  # and those of dense rows, whose products are quick,
LETTERS_EXACT_UP_TO = 5_000  # and those by letters, of which there are many in a row
POWER_ITERATIONS = 1  # rows that are moved towards their neighbours need no exact directions
FIT_BYTES = 10 * 2**20  # what spherical k-means of few dense rows needs for itself
COUNTED_ROWS = 2**14  # that are weighted at a time
MAX_COUNT = 2**24  # whole numbers up to it are exact in float32

Graph = NeighbourGraph | JoinedGraph


def cells_of(
    rows: Any,
    rng: np.random.Generator,
    n_threads: int | None,
    place: Place | None = None,
    *,
    exact_up_to: int | None = None,
) -> Cells | None:
    """Return the cells in which neighbours of unit rows are looked for; None for few, all of which are compared."""
    is_sparse = sparse.issparse(rows)
    is_large = rows.shape[0] > ((exact_up_to or EXACT_UP_TO) if is_sparse else DENSE_EXACT_UP_TO)
    is_filled = is_large and (rows.nnz if is_sparse else rows.any())
    return search_cells(rows, random_state=rng, n_threads=n_threads, place=place) if is_filled else None


def moved_rows(rows: Matrix, graph: Graph, edges: Any, place: Place, *, mixing: float, n_steps: int = 3) -> Matrix:
    """Return dense unit rows, each moved towards its neighbours in a graph, a float32 table; copies share one place.

    `edges` are the weights of the graph, where `place` keeps them.
    """
    (n_rows, width), n_families = rows.shape, graph.first.size
    with place.for_a_while() as inner:
        firsts = inner.table(
            taken_rows, row_blocks(n_families, BLOCK_ROWS), width, np.float64, rows, inner.keep(graph.first)
        )
        moved = smoothed_rows(Documents(firsts), Documents(edges), mixing=mixing, n_steps=n_steps, place=inner)
        families = inner.keep(graph.families)
        return place.table(taken_rows, row_blocks(n_rows, BLOCK_ROWS), width, np.float32, moved, families)


def check_memory(
    rows: CsrArray, n_components: int, n_neighbors: int, limit: int, letters: CsrArray | None = None
) -> None:
    """Raise MemoryLimitError if the graph and the space of `rows` (csr), and of letters, need more than `limit`."""
    needed = FIT_BYTES
    for matrix in (rows,) if letters is None else (rows, letters):
        n_documents, n_terms = matrix.shape[0], np.unique(matrix.indices).size
        width = 8 * (min(n_components, n_documents, n_terms) + OVERSAMPLING)
        needed += width * (4 * n_documents + 4 * n_terms) + 8 * n_components * matrix.shape[1]
        needed += 52 * matrix.nnz + (12 * n_neighbors + 100) * n_documents
        if n_documents > EXACT_UP_TO:
            needed += search_bytes(n_documents, n_terms, matrix.nnz)
    if needed > limit:
        enough = format_size(needed, up=True).replace(" ", "")  # as it can be typed
        raise MemoryLimitError(
            "is too little to smooth the rows",
            argument="max_memory",
            received=format_size(limit).replace(" ", ""),
            remedy=(f"give {enough}, or ", Argument("quality", "fast"), ", which does not smooth"),
        )


def side_by_side(place: Place, *tables: Matrix, second: Meaning | Letters | None = None) -> Matrix:
    """Return the unit rows of tables of the same documents, one beside the other, and those of a second view."""
    shapes = [table.shape for table in tables]
    rows, weight = (None, 0.0) if second is None else (second.rows, second.weight)
    width = sum(n_columns for _, n_columns in shapes) + (0 if rows is None else rows.shape[1])
    blocks = row_blocks(shapes[0][0], BLOCK_ROWS)
    return place.table(block_side_by_side, blocks, width, np.float32, rows, weight, *tables)


def block_side_by_side(block: slice, second: Matrix, weight: float, *tables: Matrix) -> Matrix:
    """Return some rows of the tables beside one another."""
    words = unit(np.hstack([table[block] for table in tables])).astype(np.float32)
    return words if second is None else beside(words, second[block], weight)


def holds_counts(matrix: Any) -> bool:
    """Return whether all values are whole numbers from 0 up."""
    return is_counts(matrix.data if sparse.issparse(matrix) else matrix, MAX_COUNT)


class WeighedRows(NamedTuple):
    """Unit rows, the factor of each term (None where they are not of counts), and whether single terms kept theirs."""

    rows: Matrix
    factors: SingleFloats | None
    keeps_single: bool


def shared_term_rows(
    counts: CsrArray,
    n_clusters: int,
    *,
    weighting: Weighting | None = None,
    n_threads: int | None = None,
    place: Place | None = None,
    term_factors: Floats | None = None,
) -> WeighedRows:
    """Return the unit rows of counts as `weighted_rows` has them, where `place` keeps them.

    The factors are idf as `TfidfVectorizer` takes it, but 0 for terms of one document, which make no document like
    another. Where fewer than `n_clusters` of the rows would then differ these terms keep their idf. Counts that hold
    `term_factors` are weighed without them, since a logarithm of a fraction is negative, and then times them.
    """
    if term_factors is not None:
        counts = sparse.csr_array(counts, copy=True)
        counts.data = np.rint(counts.data / term_factors[counts.indices]).astype(np.float32)
    place, (n_rows, n_terms) = place or Place(n_threads), counts.shape
    blocks = row_blocks(n_rows, COUNTED_ROWS)
    frequency, mean_length = np.zeros(n_terms, np.int64), 0.0
    for present, total in place.map(counted_terms, blocks, counts):
        frequency += present
        mean_length += total / n_rows
    factors = collection_weights(frequency, n_rows, weighting=parse_weighting("tfidf"), dtype=np.dtype(np.float32))
    assert factors is not None  # this weighting has them
    if term_factors is not None:
        factors = factors * term_factors.astype(np.float32)
    shared = np.where(frequency > 1, factors, 0).astype(np.float32)
    how = weighting or parse_weighting("tfidf"), max(mean_length, 1.0)
    rows = place.rows(weighted_block, blocks, counts, shared, *how)
    if has_as_many_rows(rows, n_clusters) or not (frequency == 1).any():
        return WeighedRows(rows, shared, keeps_single=False)
    return WeighedRows(place.rows(weighted_block, blocks, counts, factors, *how), factors, keeps_single=True)


def counted_terms(block: slice, counts: CsrArray) -> tuple[Integers, float]:
    """Return in how many of some rows each term occurs, and the sum of the counts."""
    rows = counts[block]
    return np.bincount(rows.indices[rows.data > 0], minlength=rows.shape[1]), float(rows.data.sum(dtype=np.float64))


def has_as_many_rows(points: Any, number: int) -> bool:
    """Return whether at least this many nonzero rows differ, in a csr or dense matrix.

    Near-copies share a place once smoothed, and so do two documents that have no other neighbours.

    >>> has_as_many_rows(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1e-9], [0.0, 0.0]]), 3)
    False
    """
    places: set[bytes] = set()
    columns = np.arange(points.shape[1])
    for row in range(points.shape[0]):
        if sparse.issparse(points):
            entries = slice(points.indptr[row], points.indptr[row + 1])
            columns, values = points.indices[entries], np.round(points.data[entries], 6)
        else:
            values = np.round(points[row], 6)
        if values.any():
            places.add(columns[values != 0].tobytes() + values[values != 0].tobytes())
        if len(places) >= number:
            return True
    return False


def weighted_rows(counts: CsrArray, factors: SingleFloats, *, n_threads: int | None = None) -> Matrix:
    """Return the unit rows of counts, float32 csr array: the part of the document times the factor of each term."""
    mean_length = max(float(counts.data.sum(dtype=np.float64)) / counts.shape[0], 1.0)
    every = slice(0, counts.shape[0])
    return weighted_block(every, counts, factors, parse_weighting("tfidf"), mean_length, n_threads)


def weighted_block(
    block: slice,
    counts: CsrArray,
    factors: SingleFloats,
    weighting: Weighting,
    mean_length: float,
    n_threads: int | None = 1,
) -> Matrix:
    """Return the unit rows of some documents; `mean_length` is that of all."""
    rows = sparse.csr_array(counts[block], dtype=np.float32, copy=True)
    rows.eliminate_zeros()  # a logarithm has no value there
    weigh_rows(rows, factors, weighting=weighting, mean_length=mean_length, n_threads=n_threads)
    return rows


CANDIDATES = 2000  # documents that each is compared with, about, so that the work grows with the documents alone
MIN_PROBES = 4
SAMPLE_OF_CELL = 32  # documents for each cell that the centroids are made from
BLOCK_SIMILARITIES = 2**20  # that each thread holds at a time: 8 MiB


def search_cells(
    rows: Any,
    *,
    n_probes: int | None = None,
    random_state: RandomState = None,
    n_threads: int | None = None,
    place: Place | None = None,
) -> Cells:
    """Return about sqrt(n) cells of unit rows (csr or dense, some filled), and those nearest to each row.

    By default as many are nearest as hold some 2,000 documents, at least 4; more find more neighbours.
    """
    n = rows.shape[0]
    rng = as_generator(random_state)
    filled = np.flatnonzero(np.diff(rows.indptr) if sparse.issparse(rows) else rows.any(axis=1))
    n_cells = min(number_of_cells(n), filled.size)
    if n_probes is None:
        n_probes = max(MIN_PROBES, math.ceil(CANDIDATES * n_cells / n))
    n_probes = check_positive_int(n_probes, "n_probes")
    size = min(filled.size, SAMPLE_OF_CELL * n_cells)
    sample = np.sort(rng.choice(filled, size=size, replace=False))
    parameters = SphericalParameters(
        n_cells, init="random", n_init=1, max_iter=8, random_state=rng, n_threads=n_threads
    )
    centroids = spherical_k_means(as_documents(rows[sample]), parameters).centroids
    n_probes = min(n_probes, centroids.shape[0])
    blocks = row_blocks(n, max(1, BLOCK_SIMILARITIES // n_cells))
    with (place or Place(n_threads)).for_a_while() as inner, library_threads(1, "blas"):
        shared = rows, inner.keep(centroids), n_probes
        probes = np.array(inner.table(nearest_centroids, blocks, n_probes, np.int32, *shared))
    return Cells(probes[:, 0].astype(np.int64), probes)


def nearest_centroids(block: slice, rows: Matrix, centroids: Matrix, n_probes: int) -> Integers:
    """Return the cells nearest to each of some rows, nearest first."""
    if sparse.issparse(rows):
        similarity = centroid_similarities(rows[block], centroids, n_threads=1)
    else:
        with library_threads(1, "blas"):  # the same sums for any number of threads
            similarity = rows[block] @ centroids.T
    return _largest(similarity, n_probes)


def search_bytes(n_documents: int, n_terms: int, n_entries: int) -> int:
    """Return the bytes of a search in cells beyond an exact one: similarities to centroids, these, and rows by cell."""
    n_cells = number_of_cells(n_documents)
    similarities = 3 * 8 * min(BLOCK_SIMILARITIES, n_documents * n_cells)  # their order too
    return similarities + 8 * n_cells * n_terms + 16 * n_entries


def number_of_cells(n_documents: int) -> int:
    """Return about the square root of the number of documents."""
    return max(1, round(math.sqrt(n_documents)))


def _largest(values: Floats, k: int) -> Integers:
    """Return the columns of the k largest values of each row, largest first."""
    if k < values.shape[1]:
        columns = np.sort(np.argpartition(-values, k - 1, axis=1)[:, :k], axis=1)
    else:
        columns = np.broadcast_to(np.arange(k), values.shape)
    order = np.argsort(-np.take_along_axis(values, columns, axis=1), axis=1, kind="stable")
    return np.asarray(np.take_along_axis(columns, order, axis=1))
