"""Agglomerative clustering of sparse rows: the two nearest clusters are joined until one is left, exactly.

Half a table of the distances is held in float32, 2 bytes times n squared: 800 MB for 20,000 documents, a quarter of
what scipy's `linkage` holds for them (its distances and the copy that it works on, in float64).

The table is the upper triangle, row by row; the distance of i < j stands at i n - i (i + 1) / 2 + j - i - 1. Clusters
are joined by the Lance-Williams formulas.

Sources: Lance & Williams 1967, The Computer Journal 9; Murtagh 1983, The Computer Journal 26 (chains of nearest
neighbours).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from doccluster.base.arrays import Floats, Integers, Matrix, SingleFloats
from doccluster.base.blocks import map_blocks, resolve_threads, row_blocks
from doccluster.base.compiled import jit
from doccluster.base.plain_values import format_size, parse_size
from doccluster.base.progress import Progress, silent
from doccluster.base.validation import squared_row_norms
from doccluster.errors import InputError, MemoryLimitError
from doccluster.geometry import as_documents
from doccluster.geometry.partition import numbered_by_first

LINKAGES = ("single", "complete", "average", "ward")  # what counts as the distance of two clusters
SINGLE, COMPLETE, AVERAGE, WARD = range(len(LINKAGES))  # kernels are given the number


class JoinedClusters(NamedTuple):
    """What is joined: the distances, used up on the way, the sizes, and the clusters that are left, ascending."""

    table: SingleFloats
    sizes: Floats
    alive: Integers


@jit(inner=True)
def place(n, first, two):
    """Return where the distance of two rows stands."""
    low, high = min(first, two), max(first, two)
    return low * n - low * (low + 1) // 2 + high - low - 1


@jit(inner=True)
def joined_distance(linkage, to_one, to_two, between, size_one, size_two, size):
    """Return the distance of a cluster to two others that are joined."""
    if linkage == SINGLE:
        return min(to_one, to_two)
    if linkage == COMPLETE:
        return max(to_one, to_two)
    both = size_one + size_two
    if linkage == AVERAGE:
        return (size_one * to_one + size_two * to_two) / both
    return ((size_one + size) * to_one + (size_two + size) * to_two - size * between) / (both + size)


@jit(inner=True)
def join(clusters, n_alive, linkage, first, second, between):
    """Put cluster `first` into `second`: update distances and sizes, take it from the living, return how many stay."""
    table, sizes, alive = clusters
    n, shift = sizes.size, 0
    for at in range(n_alive):
        neighbour = alive[at]
        if neighbour == first:
            shift = 1
            continue
        # those after the cluster that is gone move up by one place
        alive[at - shift] = neighbour
        if neighbour != second:
            there = place(n, neighbour, second)
            table[there] = joined_distance(
                linkage,
                np.float64(table[place(n, neighbour, first)]),
                np.float64(table[there]),
                between,
                sizes[first],
                sizes[second],
                sizes[neighbour],
            )
    sizes[second] += sizes[first]
    return n_alive - 1


@jit
def join_by_chains(table, n, linkage):
    """Return the n - 1 joins of a reducible linkage, in the order of the chains: pairs of kept clusters, and heights.

    `table` is used up. The nearest neighbour is the lowest on ties, but for the one before it in the chain.
    """
    pairs, heights = np.empty((n - 1, 2), np.int64), np.empty(n - 1)
    alive = np.arange(n)
    clusters = JoinedClusters(table, np.ones(n), alive)
    chain = np.empty(n, np.int64)
    n_alive, length = n, 0
    for step in range(n - 1):
        if length == 0:
            chain[0], length = alive[0], 1
        while True:
            tip = chain[length - 1]
            nearest, least = -1, np.inf
            if length > 1:
                nearest = chain[length - 2]
                least = np.float64(table[place(n, tip, nearest)])
            for at in range(n_alive):
                neighbour = alive[at]
                if neighbour != tip:
                    distance = np.float64(table[place(n, tip, neighbour)])
                    if distance < least:
                        nearest, least = neighbour, distance
            # two clusters that are nearest to each other: no later join comes between them
            if length > 1 and nearest == chain[length - 2]:
                break
            chain[length] = nearest
            length += 1
        first, second = min(tip, nearest), max(tip, nearest)
        pairs[step, 0], pairs[step, 1], heights[step] = first, second, least
        n_alive = join(clusters, n_alive, linkage, first, second, least)
        length -= 2
    return pairs, heights


BLOCK_ROWS = 64


def agglomerate(
    rows: Matrix,
    linkage: str = "average",
    *,
    max_memory: str | int = "2G",
    n_threads: int | None = None,
    progress: Progress = silent,
) -> Floats:
    """Return the joins of all documents, as `scipy.cluster.hierarchy` takes them.

    `rows`: Documents or a csr array of shape (n_documents, n_terms), unit rows. `linkage`: 'average' is UPGMA, as in
    CLUTO: the mean of 1 - cosine over all pairs. 'single' and 'complete' take the least and the largest of them; 'ward'
    is Euclidean, on the unit rows. A row without terms is at distance 1 from every other. `max_memory`:
    the most that the distances may take. `n_threads`: changes no result.

    Returned: float64 array of shape (n_documents - 1, 4): the two joined, their distance, and the number of documents;
    distances are accurate to some 1e-6.

    Raises InputError if the linkage is not known, or the rows cannot be used. Raises MemoryLimitError if the distances
    do not fit.

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
    pairs, heights = join_by_chains(table, n, LINKAGES.index(linkage))
    if linkage == "ward":
        heights = np.sqrt(np.maximum(heights, 0.0))
    order = np.argsort(heights, kind="stable")
    return _as_tree(pairs[order], heights[order])


def cut_tree(joins: Floats, n_clusters: int) -> Integers:
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
    return numbered_by_first(top[:n])


def _distances(rows: Matrix, linkage: str, max_memory: str | int, n_threads: int, progress: Progress) -> SingleFloats:
    n = rows.shape[0]
    needed = 4 * (n * (n - 1) // 2)
    if needed > parse_size(max_memory):
        raise MemoryLimitError(
            f"the distances of {n:,} documents need max_memory={format_size(needed, up=True)!r}, above "
            f"{max_memory!r}; raise it, or use BisectingSphericalKMeans or Buckshot starts, which need no distances."
        )
    matrix = sparse.csr_array(rows, dtype=np.float64)
    by_term, squares = sparse.csr_array(matrix.T), squared_row_norms(matrix)

    def distances(block: slice) -> SingleFloats:
        """Return the distances of some rows to all later ones, as they lie in the table."""
        # one minus the cosine; Ward joins by squared distances, |x - y|^2 = |x|^2 + |y|^2 - 2 x.y
        products = (matrix[block] @ by_term).toarray()
        distances = 1.0 - products if linkage != "ward" else squares[block, None] + squares - 2.0 * products
        is_later = np.arange(n) > np.arange(block.start, block.stop)[:, None]
        return np.asarray(np.maximum(distances[is_later], 0.0), np.float32)

    table, filled = np.empty(needed // 4, dtype=np.float32), 0
    blocks = row_blocks(n, BLOCK_ROWS)
    for block, part in zip(blocks, map_blocks(distances, blocks, n_threads=n_threads), strict=True):
        table[filled : filled + part.size] = part
        filled += part.size
        progress("distances", block.stop, n)
    return table


def _as_tree(pairs: Integers, heights: Floats) -> Floats:
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

    for step, (first, second) in enumerate(pairs.tolist()):
        first_root, two = standing(first), standing(second)
        low, high = sorted((int(number[first_root]), int(number[two])))
        sizes[two] += sizes[first_root]
        joins[step] = low, high, heights[step], sizes[two]
        above[first_root], number[two] = two, n + step
    return joins
