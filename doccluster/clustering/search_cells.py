"""Cells in which nearest neighbours are looked for: an inverted file over some sqrt(n) clusters of the documents.

The neighbours of a document are in the cells whose centroids are nearest to it, nearly always; a benchmark
(`python -m experiments.benchmarks neighbours`) prints how often.

Source: Manning, Raghavan & Schuetze 2008, Introduction to Information Retrieval, section 7.1.6 (cluster pruning).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from threadpoolctl import threadpool_limits

from doccluster.blocks import row_blocks
from doccluster.clustering.k_means.assign import centroid_similarities
from doccluster.clustering.k_means.spherical import SphericalParameters, spherical_k_means
from doccluster.executors import InMemory, TablePlace, opened
from doccluster.geometry.documents import as_documents
from doccluster.geometry.neighbours import Cells
from doccluster.validation import RandomState, as_generator, check_positive_int

CANDIDATES = 2000  # documents that each is compared with, about, so that the work grows with the documents alone
LEAST_PROBES = 4
SAMPLE_OF_CELL = 32  # documents for each cell that the centroids are made from
BLOCK_SIMILARITIES = 2**20  # that each thread holds at a time: 8 MiB


def search_cells(
    rows: Any,
    *,
    n_probes: int | None = None,
    random_state: RandomState = None,
    n_threads: int | None = None,
    place: TablePlace | None = None,
) -> Cells:
    """Return about sqrt(n) cells of unit rows (csr or dense, some filled), and those nearest to each row.

    What stands for rows in files may be given, and a place where they are compared with the centroids.

    By default as many are nearest as hold some 2,000 documents, at least 4; more find more neighbours.
    """
    given = opened(rows)
    n = given.shape[0]
    rng = as_generator(random_state)
    is_sparse = sparse.issparse(given)
    filled = np.flatnonzero(np.diff(given.indptr) if is_sparse else given.any(axis=1))
    n_cells = min(number_of_cells(n), filled.size)
    if n_probes is None:
        n_probes = max(LEAST_PROBES, math.ceil(CANDIDATES * n_cells / n))
    n_probes = check_positive_int(n_probes, "n_probes")
    size = min(filled.size, SAMPLE_OF_CELL * n_cells)
    drawn = np.sort(rng.choice(filled, size=size, replace=False))
    parameters = SphericalParameters(
        n_cells, init="random", n_init=1, max_iter=8, random_state=rng, n_threads=n_threads
    )
    centroids = spherical_k_means(as_documents(given[drawn]), parameters).centroids
    n_probes = min(n_probes, centroids.shape[0])
    blocks = row_blocks(n, max(1, BLOCK_SIMILARITIES // n_cells))
    with (place or InMemory(n_threads)).for_a_while() as inner, threadpool_limits(1, user_api="blas"):
        shared = rows, inner.keep(centroids), n_probes
        probes = np.array(opened(inner.table(nearest_centroids, blocks, n_probes, np.int32, *shared)))
    return Cells(probes[:, 0].astype(np.int64), probes)


def nearest_centroids(block: slice, rows: Any, centroids: Any, n_probes: int) -> npt.NDArray[np.int64]:
    """Return the cells nearest to each of some rows, nearest first."""
    if sparse.issparse(rows):
        similarity = centroid_similarities(rows[block], centroids, n_threads=1)
    else:
        with threadpool_limits(1, user_api="blas"):  # the same sums for any number of threads
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


def _largest(values: npt.NDArray[np.float64], k: int) -> npt.NDArray[np.int64]:
    """Return the columns of the k largest values of each row, largest first."""
    if k < values.shape[1]:
        some = np.sort(np.argpartition(-values, k - 1, axis=1)[:, :k], axis=1)
    else:
        some = np.broadcast_to(np.arange(k), values.shape)
    order = np.argsort(-np.take_along_axis(values, some, axis=1), axis=1, kind="stable")
    found: npt.NDArray[np.int64] = np.take_along_axis(some, order, axis=1)
    return found
