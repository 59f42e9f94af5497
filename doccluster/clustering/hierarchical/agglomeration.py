"""Agglomerative clustering of sparse rows: the two nearest clusters are joined until one is left, exactly.

Half a table of the distances is held in float32, 2 bytes times n squared: 800 MB for 20,000 documents, a quarter of
what scipy's `linkage` holds for them (its distances and the copy that it works on, in float64).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.progress import Progress, silent
from doccluster.base.sizes import format_size, parse_size
from doccluster.blocks import map_blocks, resolve_threads, row_blocks
from doccluster.errors import InputError, MemoryLimitError
from doccluster.geometry import as_documents
from doccluster.kernels.agglomeration import Linkage, distances_to_later, join_by_chains, join_nearest
from doccluster.kernels.arguments import Csr
from doccluster.validation import squared_row_norms

BLOCK_ROWS = 64
LINKAGES = {linkage.name.lower(): linkage for linkage in Linkage}
EUCLIDEAN = ("ward", "centroid")  # heights of the others are 1 - cosine


def agglomerate(
    rows: Any,
    linkage: str = "average",
    *,
    max_memory: str | int = "2G",
    n_threads: int | None = None,
    progress: Progress = silent,
) -> npt.NDArray[np.float64]:
    """Return the joins of all documents, as `scipy.cluster.hierarchy` takes them.

    Parameters
    ----------
    rows : Documents or a csr array of shape (n_documents, n_terms), unit rows
    linkage : {'average', 'single', 'complete', 'ward', 'centroid'}
        'average' is UPGMA, as in CLUTO: the mean of 1 - cosine over all pairs. 'single' and 'complete' take the least
        and the largest of them; 'ward' and 'centroid' are Euclidean, on the unit rows. A row without terms is at
        distance 1 from every other.
    max_memory : str or int
        The most that the distances may take.
    n_threads : int, optional
        Changes no result.

    Returns
    -------
    float64 array of shape (n_documents - 1, 4)
        The two joined, their distance, and the number of documents; distances are accurate to some 1e-6.

    Raises
    ------
    InputError
        If the linkage is not known, or the rows cannot be used.
    MemoryLimitError
        If the distances do not fit.

    Examples
    --------
    >>> agglomerate(sparse.csr_array([[1.0, 0.0], [0.0, 1.0], [0.8, 0.6]])).round(2)
    array([[0. , 2. , 0.2, 2. ],
           [1. , 3. , 0.7, 3. ]])
    """
    if linkage not in LINKAGES:
        raise InputError(f"linkage={linkage!r} is not known; choose one of {', '.join(LINKAGES)}.")
    rows = as_documents(rows, name="rows").matrix
    n = rows.shape[0]
    table = _distances(rows, linkage, max_memory, resolve_threads(n_threads), progress)
    progress("join", 0)
    join = join_nearest if linkage == "centroid" else join_by_chains
    pairs, heights = join(table, n, int(LINKAGES[linkage]))
    if linkage in EUCLIDEAN:
        heights = np.sqrt(np.maximum(heights, 0.0))
    order = np.arange(n - 1) if linkage == "centroid" else np.argsort(heights, kind="stable")
    return _as_tree(pairs[order], heights[order])


def cut_tree(joins: npt.NDArray[np.float64], n_clusters: int) -> npt.NDArray[np.int64]:
    """Return the labels 0..n_clusters-1 before the last joins, numbered by their first document.

    >>> cut_tree(np.array([[0.0, 2.0, 0.2, 2.0], [1.0, 3.0, 0.7, 3.0]]), 2)
    array([0, 1, 0])
    """
    n = joins.shape[0] + 1
    if not 1 <= n_clusters <= n:
        raise InputError(f"n_clusters={n_clusters!r} is not a level of this tree; give a number from 1 to {n}.")
    top = np.arange(2 * n - 1)
    for step in range(n - n_clusters - 1, -1, -1):  # a later join is above an earlier one
        top[joins[step, :2].astype(np.int64)] = top[n + step]
    _, first, labels = np.unique(top[:n], return_index=True, return_inverse=True)
    rank = np.empty(first.size, dtype=np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(first.size)
    return rank[labels]


def _distances(
    rows: Any, linkage: str, max_memory: str | int, n_threads: int, progress: Progress
) -> npt.NDArray[np.float32]:
    n = rows.shape[0]
    needed = 4 * (n * (n - 1) // 2)
    if needed > parse_size(max_memory):
        raise MemoryLimitError(
            f"the distances of {n:,} documents need max_memory={format_size(needed, up=True)!r}, above "
            f"{max_memory!r}; raise it, or use BisectingSphericalKMeans or Buckshot starts, which need no distances."
        )
    matrix = sparse.csr_array(rows, dtype=np.float64)
    by_row, by_term = Csr.of(matrix), Csr.of(sparse.csr_array(matrix.T))
    squares = squared_row_norms(matrix) if linkage in EUCLIDEAN else np.empty(0)

    def distances(block: slice) -> npt.NDArray[np.float32]:
        return np.asarray(distances_to_later(by_row, by_term, squares, block.start, block.stop))

    table, filled = np.empty(needed // 4, dtype=np.float32), 0
    blocks = row_blocks(n, BLOCK_ROWS)
    for block, part in zip(blocks, map_blocks(distances, blocks, n_threads=n_threads), strict=True):
        table[filled : filled + part.size] = part
        filled += part.size
        progress("distances", block.stop, n)
    return table


def _as_tree(pairs: npt.NDArray[np.int64], heights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return joins with clusters numbered as scipy numbers them, from joins of documents that stand for clusters."""
    n = heights.size + 1
    above = np.arange(n)  # paths of documents to the one that stands for their cluster
    number, sizes = np.arange(n), np.ones(n)
    joins = np.empty((n - 1, 4))

    def standing(document: int) -> int:
        while above[document] != document:
            above[document] = above[above[document]]
            document = int(above[document])
        return document

    for step, (gone, kept) in enumerate(pairs.tolist()):
        one, two = standing(gone), standing(kept)
        low, high = sorted((int(number[one]), int(number[two])))
        sizes[two] += sizes[one]
        joins[step] = low, high, heights[step], sizes[two]
        above[one], number[two] = two, n + step
    return joins
