"""Which documents lie nearest to each document by cosine, exactly and in bounded memory."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from doccluster.base.short_repr import ShortRepr
from doccluster.base.sparse_structure import document_frequencies
from doccluster.blocks import resolve_threads, row_blocks, share_blocks
from doccluster.errors import InputError
from doccluster.geometry.documents import as_documents
from doccluster.geometry.neighbour_search import ProbedCells, nearest_in_cells
from doccluster.kernels.arguments import Csr
from doccluster.validation import check_positive_int, row_norms

BLOCK_ROWS = 128  # rows a thread takes at a time; long and short ones even out
FOLDED_FROM = 0.95  # copies at this cosine or above would fill all places of each other's list
RUNS_FOR_EACH = 32  # of columns, for each neighbour that is wanted
BLOCK_COSINES = 2**22  # that a thread holds at a time of dense rows, whose search has one for each pair

Lists = tuple[npt.NDArray[np.int32], npt.NDArray[np.float64]]  # neighbours of some rows, and their cosines


@dataclass(frozen=True, eq=False, repr=False)
class NeighbourGraph(ShortRepr):
    """The nearest neighbours of documents, near-copies folded into one.

    Attributes
    ----------
    neighbours : int32 array of shape (n_families, n_neighbors)
        The nearest other families, nearest first; -1 where there is none with a common term.
    similarity : float64 array of shape (n_families, n_neighbors)
        Their cosines, 0..1.
    families : int64 array of shape (n_documents,)
        The family of each document: documents that are (nearly) alike share one.
    first : int64 array of shape (n_families,)
        The first document of each family, which stands for it.
    """

    neighbours: npt.NDArray[np.int32]
    similarity: npt.NDArray[np.float64]
    families: npt.NDArray[np.int64]
    first: npt.NDArray[np.int64]

    def to_csr(self) -> Any:
        """Return the cosines as a csr array of shape (n_families, n_families), not symmetric."""
        there = self.neighbours >= 0
        starts = np.concatenate([[0], np.cumsum(there.sum(axis=1))])
        graph = sparse.csr_array(
            (self.similarity[there], self.neighbours[there], starts), shape=(self.first.size, self.first.size)
        )
        graph.sort_indices()
        return graph

    def symmetric(self) -> Any:
        """Return the graph with an edge where either end has the other among its nearest; weights are cosines."""
        graph = self.to_csr()
        return sparse.csr_array(graph.maximum(graph.T))


@dataclass(frozen=True, eq=False, repr=False)
class JoinedGraph(ShortRepr):
    """The sum of two graphs of the same families of documents, each divided by its mean weight."""

    weights: Any  # symmetric csr array of shape (n_families, n_families), > 0
    families: npt.NDArray[np.int64]  # of shape (n_documents,): as in `NeighbourGraph`
    first: npt.NDArray[np.int64]  # of shape (n_families,)

    def symmetric(self) -> Any:
        """Return the weights."""
        return self.weights


def joined_graph(
    graph: NeighbourGraph,
    rows: Any,
    *,
    weight: float = 1.0,
    cells: Cells | None = None,
    n_threads: int | None = None,
) -> JoinedGraph:
    """Return the sum of a graph and `weight` times that of the neighbours of its families in another space.

    A zero row has no neighbours there. `cells` are those of all documents.

    >>> words = nearest_neighbours(np.array([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]]), 1)
    >>> joined_graph(words, np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])).symmetric().toarray().round(2)
    array([[0.  , 1.14, 0.86],
           [1.14, 0.  , 2.  ],
           [0.86, 2.  , 0.  ]])
    """
    n_neighbors = graph.neighbours.shape[1]
    own = None if cells is None else cells.take(graph.first)
    other = nearest_neighbours(rows[graph.first], n_neighbors, fold=None, cells=own, n_threads=n_threads)
    edges = sparse.csr_array((graph.first.size, graph.first.size))
    for one, share in ((graph, 1.0), (other, weight)):
        found = one.symmetric()
        edges = edges + found * (share / found.data.mean() if found.nnz else 0.0)
    return JoinedGraph(sparse.csr_array(edges), graph.families, graph.first)


@dataclass(frozen=True, eq=False)
class Cells:
    """An inverted file of rows: the cell each one is in, and the cells in which its neighbours are looked for."""

    labels: npt.NDArray[np.int64]  # of shape (n_documents,)
    probes: npt.NDArray[np.int32]  # of shape (n_documents, n_probes): different cells in each row

    def take(self, rows: npt.NDArray[np.int64]) -> Cells:
        """Return those of some of the rows, in this order."""
        return Cells(self.labels[rows], self.probes[rows])


def nearest_neighbours(
    matrix: Any,
    n_neighbors: int = 10,
    *,
    fold: float | None = FOLDED_FROM,
    cells: Cells | None = None,
    n_threads: int | None = None,
) -> NeighbourGraph:
    """Return the nearest neighbours of the rows of a matrix by cosine, exact unless they are looked for in cells.

    Parameters
    ----------
    matrix : Documents, or a csr or dense array of shape (n_documents, n_terms)
        Rows need not be of unit length; rows without terms have no neighbours. Without cells the work for dense ones
        grows with the square of their number, and their memory with the number; the values of sparse ones are not
        negative.
    n_neighbors : int
    fold : float or None
        The cosine from which documents count as copies of one another; each group of copies takes part once. None
        folds nothing.
    cells : Cells, optional
        Where the neighbours are looked for (`doccluster.clustering.search_cells` makes them), in time that grows more
        slowly than with the square of the number of documents.
    n_threads : int, optional
        Changes no result.

    Returns
    -------
    NeighbourGraph

    Raises
    ------
    InputError
        If a value of a sparse matrix is negative.
    """
    n_neighbors = check_positive_int(n_neighbors, "n_neighbors")
    threads = resolve_threads(n_threads)
    documents = as_documents(matrix, name="matrix")
    search, search_cells = (_search, _search_cells) if documents.is_sparse else (_search_dense, _search_dense_cells)
    rows = _rare_terms_first(documents.matrix) if documents.is_sparse else documents.unit.astype(np.float32, copy=False)
    lists = np.empty((rows.shape[0], n_neighbors), dtype=np.int32), np.empty((rows.shape[0], n_neighbors))
    families = first = np.arange(rows.shape[0], dtype=np.int64)
    stale = first  # rows whose lists are to be made
    while stale.size:
        found = (
            search(rows, stale, n_neighbors, threads)
            if cells is None
            else search_cells(rows, cells, stale, n_neighbors, threads)
        )
        lists[0][stale], lists[1][stale] = found
        groups = _families(*lists, fold)
        kept = np.unique(groups, return_index=True)[1].astype(np.int64)
        if kept.size == groups.size:
            break
        # a list that names a copy lacks the neighbour that comes next, and further copies were perhaps not seen
        is_kept = np.ones(groups.size + 1, dtype=bool)  # the last for -1
        is_kept[:-1] = np.isin(np.arange(groups.size), kept)
        stale = np.flatnonzero(~is_kept[lists[0][kept]].all(axis=1))
        number = np.append(groups, -1).astype(np.int32)
        lists = number[lists[0][kept]], lists[1][kept]
        rows, first, families = rows[kept], first[kept], groups[families]
        cells = None if cells is None else cells.take(kept)
    return NeighbourGraph(*lists, families, first)


def neighbour_edges(rows: Any, n_neighbors: int = 10, *, n_threads: int | None = None) -> Any:
    """Return the graph with an edge where either end has the other among its nearest; weights are cosines.

    `rows` of shape (n_documents, n_terms): the work for dense ones grows with the square of the number of documents.
    The neighbours of sparse rows with negative values are those that share signs. `n_neighbors`: fewer where there are
    fewer others at a cosine above 0. `n_threads`: changes no result.

    Returned: symmetric csr array of shape (n_documents, n_documents), float64, weights > 0, nothing on the diagonal.

    >>> neighbour_edges(np.array([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]]), 1).toarray().round(1)
    array([[0. , 0.8, 0. ],
           [0.8, 0. , 0.6],
           [0. , 0.6, 0. ]])
    """
    if sparse.issparse(rows) and rows.nnz and rows.data.min() < 0:  # the search needs one sign
        rows = sparse.csr_array(sparse.hstack([rows.maximum(0), (-rows).maximum(0)]))
    return nearest_neighbours(rows, n_neighbors, fold=None, n_threads=n_threads).symmetric()


def _families(
    neighbours: npt.NDArray[np.int32], similarity: npt.NDArray[np.float64], fold: float | None
) -> npt.NDArray[np.int64]:
    """Return the groups of rows linked by a cosine of at least `fold`, numbered by their first row."""
    if fold is None:
        return np.arange(neighbours.shape[0], dtype=np.int64)
    rows, places = np.nonzero((similarity >= fold) & (neighbours >= 0))
    size = neighbours.shape[0]
    links = sparse.coo_array((np.ones(rows.size), (rows, neighbours[rows, places])), shape=(size, size))
    groups = connected_components(links, directed=False)[1]
    return np.asarray(groups, dtype=np.int64)


def _rare_terms_first(rows: Any) -> Any:
    """Return unit rows in float32 whose columns are numbered from the rarest term to the most common."""
    if rows.nnz and rows.data.min() < 0:
        raise InputError(
            "the matrix has negative values", remedy="nearest neighbours need weights >= 0, such as tf-idf"
        )
    frequency = document_frequencies(rows)
    rank = np.empty(rows.shape[1], dtype=np.int32)
    rank[np.argsort(frequency, kind="stable")] = np.arange(rows.shape[1], dtype=np.int32)
    norms = row_norms(rows)
    scale = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
    data = (rows.data * np.repeat(scale, np.diff(rows.indptr))).astype(np.float32)
    renumbered = sparse.csr_array((data, rank[rows.indices], rows.indptr.copy()), shape=rows.shape)
    renumbered.eliminate_zeros()  # the search takes a sum of 0 for one that nothing was added to
    renumbered.sort_indices()
    return renumbered


def _search_cells(rows: Any, cells: Cells, wanted: npt.NDArray[np.int64], k: int, n_threads: int) -> Lists:
    """Return the lists of the rows `wanted`, from the cells that they probe."""
    n_cells = int(max(cells.labels.max(initial=0), cells.probes.max(initial=0))) + 1
    starts = np.concatenate([[0], np.cumsum(np.bincount(cells.labels, minlength=n_cells))])
    names = np.argsort(cells.labels, kind="stable")  # the rows of a cell together
    grouped = sparse.csr_array(rows[names])
    is_wanted = np.zeros(names.size, dtype=bool)
    is_wanted[wanted] = True
    asked = np.flatnonzero(is_wanted[names])
    by_row, by_term = Csr.of(grouped), Csr.of(sparse.csr_array(grouped.T))
    probed = ProbedCells(starts, names, np.sort(cells.probes[names], axis=1))

    def block(part: slice) -> Lists:
        found, similarity = nearest_in_cells(by_row, by_term, probed, asked[part], k)
        return found, similarity

    found, similarity = _joined(share_blocks(block, row_blocks(asked.size, BLOCK_ROWS), n_threads=n_threads))
    order = np.argsort(names[asked])
    return found[order], similarity[order]


def _search(rows: Any, wanted: npt.NDArray[np.int64], k: int, n_threads: int) -> Lists:
    """Return the lists of the rows `wanted`: all rows are in one cell."""
    n = rows.shape[0]
    return _search_cells(rows, Cells(np.zeros(n, np.int64), np.zeros((n, 1), np.int32)), wanted, k, n_threads)


def _search_dense(rows: npt.NDArray[np.float32], wanted: npt.NDArray[np.int64], k: int, n_threads: int) -> Lists:
    """Return the lists of the rows `wanted`: the largest of their products with all rows, those above 0."""
    from threadpoolctl import threadpool_limits

    size = rows.shape[0]
    others = np.ascontiguousarray(rows.T)

    def block(part: slice) -> Lists:
        names = wanted[part]
        products = rows[names] @ others
        products[np.arange(names.size), names] = -np.inf
        return _largest_products(products, k)

    blocks = row_blocks(wanted.size, max(1, BLOCK_COSINES // size))
    with threadpool_limits(1, user_api="blas"):  # one thread for each block: its sums are then the same for any number
        return _joined(share_blocks(block, blocks, n_threads=n_threads))


def _search_dense_cells(
    rows: npt.NDArray[np.float32], cells: Cells, wanted: npt.NDArray[np.int64], k: int, n_threads: int
) -> Lists:
    """Return the lists of the rows `wanted`: a list from each of the cells that a row probes, and the best of those."""
    from threadpoolctl import threadpool_limits

    n_probes = cells.probes.shape[1]
    members, probes = np.argsort(cells.labels, kind="stable"), cells.probes[wanted].ravel()
    asking = np.argsort(probes, kind="stable")
    n_cells = int(max(cells.labels.max(initial=0), cells.probes.max(initial=0))) + 1
    ends = (np.searchsorted(own, np.arange(n_cells + 1)) for own in (cells.labels[members], probes[asking]))
    parts = [(members[a:b], asking[c:d]) for (a, b), (c, d) in zip(*map(pairwise, ends), strict=True)]
    found = np.full((wanted.size * n_probes, k), -1, dtype=np.int32)
    similarity = np.zeros((wanted.size * n_probes, k), dtype=np.float32)

    def search(part: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]) -> None:
        inside, all_asking = part
        for block in row_blocks(all_asking.size, max(1, BLOCK_COSINES // max(inside.size, 1))):
            places = all_asking[block]
            names = wanted[places // n_probes]
            products = rows[names] @ rows[inside].T
            products[inside[None, :] == names[:, None]] = -np.inf
            columns, similarity[places] = _largest_products(products, k)
            found[places] = np.where(columns >= 0, inside[columns], -1)

    with threadpool_limits(1, user_api="blas"):
        share_blocks(search, [part for part in parts if part[0].size], n_threads=n_threads)
    candidates, cosines = found.reshape(wanted.size, -1), similarity.reshape(wanted.size, -1).astype(np.float64)
    best = np.lexsort((candidates, -cosines), axis=1)[:, :k]
    return np.take_along_axis(candidates, best, axis=1), np.take_along_axis(cosines, best, axis=1)


def _largest_products(products: npt.NDArray[np.float32], k: int) -> Lists:
    """Return the columns of the k largest values above 0 of each row, largest first, and these."""
    size = products.shape[1]
    kept, width = min(k, size - 1), max(1, size // (RUNS_FOR_EACH * k))
    # the k-th largest of the largest of each run of columns: at least k cosines reach it, and few more
    largest = products[:, : width * (size // width)].reshape(len(products), -1, width).max(axis=2)
    bound = np.partition(largest, largest.shape[1] - max(kept, 1), axis=1)[:, -max(kept, 1)]
    row, column = np.nonzero(products >= np.maximum(bound, np.finfo(np.float32).tiny)[:, None])
    cosines = products[row, column]
    order = np.lexsort((column, -cosines, row))
    place = np.arange(row.size) - np.searchsorted(row, row)  # rows ascend, before the sort and after
    order, row, place = order[place < k], row[place < k], place[place < k]
    found, similarity = np.full((len(products), k), -1, dtype=np.int32), np.zeros((len(products), k))
    found[row, place], similarity[row, place] = column[order], np.minimum(cosines[order], 1.0)
    return found, similarity


def _joined(parts: list[Lists]) -> Lists:
    return np.concatenate([found for found, _ in parts]), np.concatenate([similarity for _, similarity in parts])
