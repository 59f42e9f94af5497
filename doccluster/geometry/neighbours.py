"""Which documents lie nearest to each document by cosine, exactly and in bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from doccluster.base.arrays import CsrArray, Floats, Integers, Matrix, SingleFloats, is_sparse
from doccluster.base.blocks import library_threads, row_blocks
from doccluster.base.compiled import jit
from doccluster.base.place import Place, taken_rows
from doccluster.base.plain_values import ShortRepr
from doccluster.base.sparse_structure import Csr, document_frequencies
from doccluster.base.validation import check_positive_int, row_norms
from doccluster.errors import InputError
from doccluster.geometry.documents import as_documents

BLOCK_ROWS = 128  # rows a thread takes at a time; long and short ones even out
FOLDED_FROM = 0.95  # copies at this cosine or above would fill all places of each other's list
RUNS_FOR_EACH = 32  # of columns, for each neighbour that is wanted
BLOCK_COSINES = 2**22  # that a thread holds at a time of dense rows, whose search has one for each pair

FEW_ROWS = 2**9  # of which scipy's products take a hundredth of the time that the loop over lists takes to compile
WIDE_ROWS = 2**14  # that are laid out for the search at a time

Names = Integers
Part = tuple[Names | None, Names]  # families among which neighbours are looked for, None for all, and who asks
Lists = tuple[npt.NDArray[np.int32], Floats]  # neighbours of some rows, and their cosines


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
    similarity: Floats
    families: Integers
    first: Integers

    def to_csr(self) -> CsrArray:
        """Return the cosines as a csr array of shape (n_families, n_families), not symmetric."""
        there = self.neighbours >= 0
        starts = np.concatenate([[0], np.cumsum(there.sum(axis=1))])
        graph = sparse.csr_array(
            (self.similarity[there], self.neighbours[there], starts), shape=(self.first.size, self.first.size)
        )
        graph.sort_indices()
        return graph

    def symmetric(self) -> CsrArray:
        """Return the graph with an edge where either end has the other among its nearest; weights are cosines."""
        graph = self.to_csr()
        return sparse.csr_array(graph.maximum(graph.T))


@dataclass(frozen=True, eq=False, repr=False)
class JoinedGraph(ShortRepr):
    """The sum of graphs of the same families of documents."""

    weights: CsrArray  # symmetric csr array of shape (n_families, n_families), > 0
    families: Integers  # of shape (n_documents,): as in `NeighbourGraph`
    first: Integers  # of shape (n_families,)

    def symmetric(self) -> CsrArray:
        """Return the weights."""
        return self.weights


def joined_graph(
    graph: NeighbourGraph,
    rows: Matrix,
    *,
    weight: float = 1.0,
    cells: Cells | None = None,
    n_threads: int | None = None,
    place: Place | None = None,
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
    second = nearest_neighbours(
        rows, n_neighbors, fold=None, cells=cells, only=graph.first, n_threads=n_threads, place=place
    )
    edges = sparse.csr_array((graph.first.size, graph.first.size))
    for part, share in ((graph, 1.0), (second, weight)):
        edges_of_graph = part.symmetric()
        edges = edges + edges_of_graph * (share / edges_of_graph.data.mean() if edges_of_graph.nnz else 0.0)
    return JoinedGraph(sparse.csr_array(edges), graph.families, graph.first)


def with_order(graph: NeighbourGraph | JoinedGraph, next_row: Integers, *, weight: float = 2.0) -> JoinedGraph:
    """Return a graph in which the row that follows another in a document is its neighbour too.

    `next_row` of shape (n_documents,): that row, -1 for none. `weight`: of each such edge, times the mean weight.

    >>> graph = nearest_neighbours(np.array([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]]), 1)
    >>> with_order(graph, np.array([2, -1, -1])).symmetric().toarray().round(1)
    array([[0. , 0.8, 1.4],
           [0.8, 0. , 0.6],
           [1.4, 0.6, 0. ]])
    """
    edges, rows = graph.symmetric(), np.flatnonzero(next_row >= 0)
    ends = graph.families[rows], graph.families[next_row[rows]]
    places = np.unique(np.stack(ends)[:, ends[0] != ends[1]], axis=1)  # near-copies are one family
    mean = edges.data.mean() if edges.nnz else 1.0
    order = sparse.csr_array((np.full(places.shape[1], weight * mean), (places[0], places[1])), shape=edges.shape)
    joined = sparse.csr_array(edges + order.maximum(order.T))
    joined.sort_indices()
    return JoinedGraph(joined, graph.families, graph.first)


@dataclass(frozen=True, eq=False)
class Cells:
    """An inverted file of rows: the cell each one is in, and the cells in which its neighbours are looked for."""

    labels: Integers  # of shape (n_documents,)
    probes: npt.NDArray[np.int32]  # of shape (n_documents, n_probes): different cells in each row

    def take(self, rows: Integers) -> Cells:
        """Return those of some of the rows, in this order."""
        return Cells(self.labels[rows], self.probes[rows])


def nearest_neighbours(
    matrix: Matrix,
    n_neighbors: int = 10,
    *,
    fold: float | None = FOLDED_FROM,
    cells: Cells | None = None,
    only: Integers | None = None,
    n_threads: int | None = None,
    place: Place | None = None,
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
        Where the neighbours are looked for (`search_cells` of `doccluster.clustering.smoothed.document_spaces` makes
        them), in time that grows more slowly than with the square of the number of documents.
    only : int64 array, optional
        The rows that take part; all by default.
    n_threads : int, optional
        Changes no result.
    place : Place, optional
        Where the rows are searched; in memory, by threads, by default.

    Returns
    -------
    NeighbourGraph

    Raises
    ------
    InputError
        If a value of a sparse matrix is negative.
    """
    n_neighbors = check_positive_int(n_neighbors, "n_neighbors")
    with (place or Place(n_threads)).for_a_while() as inner:
        rows, n_rows, search = _to_be_searched(matrix, inner)
        first = np.arange(n_rows, dtype=np.int64) if only is None else only
        lists = np.empty((first.size, n_neighbors), dtype=np.int32), np.empty((first.size, n_neighbors))
        families = stale = np.arange(first.size, dtype=np.int64)  # rows whose lists are to be made
        while stale.size:
            own_cells = None if cells is None else cells.take(first)
            lists[0][stale], lists[1][stale] = search(inner, rows, first, own_cells, stale, n_neighbors)
            groups = _families(*lists, fold)
            families_kept = np.unique(groups, return_index=True)[1].astype(np.int64)
            if families_kept.size == groups.size:
                break
            # a list that names a copy lacks the neighbour that comes next, and further copies were perhaps not seen
            is_kept = np.ones(groups.size + 1, dtype=bool)  # the last for -1
            is_kept[:-1] = np.isin(np.arange(groups.size), families_kept)
            stale = np.flatnonzero(~is_kept[lists[0][families_kept]].all(axis=1))
            number = np.append(groups, -1).astype(np.int32)
            lists = number[lists[0][families_kept]], lists[1][families_kept]
            first, families = first[families_kept], groups[families]
    return NeighbourGraph(*lists, families, first)


def neighbour_edges(rows: Matrix, n_neighbors: int = 10, *, n_threads: int | None = None) -> CsrArray:
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
    if is_sparse(rows) and rows.nnz and rows.data.min() < 0:  # the search needs one sign
        rows = sparse.csr_array(sparse.hstack([rows.maximum(0), (-rows).maximum(0)]))
    return nearest_neighbours(rows, n_neighbors, fold=None, n_threads=n_threads).symmetric()


def _families(neighbours: npt.NDArray[np.int32], similarity: Floats, fold: float | None) -> Integers:
    """Return the groups of rows linked by a cosine of at least `fold`, numbered by their first row."""
    if fold is None:
        return np.arange(neighbours.shape[0], dtype=np.int64)
    rows, places = np.nonzero((similarity >= fold) & (neighbours >= 0))
    size = neighbours.shape[0]
    links = sparse.coo_array((np.ones(rows.size), (rows, neighbours[rows, places])), shape=(size, size))
    groups = connected_components(links, directed=False)[1]
    return np.asarray(groups, dtype=np.int64)


def _to_be_searched(matrix: Matrix, place: Place) -> tuple[Matrix, int, Callable[..., Lists]]:
    """Return the rows as they are searched, how many there are, and what searches them."""
    documents = as_documents(matrix, name="matrix")
    rows, (n_rows, n_terms) = documents.matrix, documents.shape
    if not documents.is_sparse:
        return documents.unit.astype(np.float32, copy=False), n_rows, _search_dense
    frequency = sum(place.map(frequencies_of, row_blocks(n_rows, WIDE_ROWS), rows), start=np.zeros(n_terms, np.int64))
    rank = np.empty(n_terms, dtype=np.int32)
    rank[np.argsort(frequency, kind="stable")] = np.arange(n_terms, dtype=np.int32)
    return place.rows(rare_terms_first, row_blocks(n_rows, WIDE_ROWS), rows, place.keep(rank)), n_rows, _search_sparse


def _search_sparse(place: Place, rows: Matrix, first: Names, cells: Cells | None, queries: Names, k: int) -> Lists:
    """Return the lists of the families `queries` of csr rows."""
    names = place.keep(first)
    if cells is None:
        lists = place.keep(sparse.csr_array(rows[first].T))
        parts: list[Part] = [(None, queries[block]) for block in row_blocks(queries.size, BLOCK_ROWS)]
        return _joined(place.map(nearest_by_terms, parts, rows, names, lists, k))
    parts = _parts_of_cells(cells, queries)
    return _nearest_of_all(queries, first.size, parts, place.map(nearest_by_terms, parts, rows, names, None, k), k)


def _search_dense(place: Place, rows: Matrix, first: Names, cells: Cells | None, queries: Names, k: int) -> Lists:
    """Return the lists of the families `queries` of dense rows, those with a product above 0."""
    names, (n_rows, width) = place.keep(first), rows.shape
    with library_threads(1, "blas"):  # one thread for each block: its sums are then the same for any number
        if cells is None:
            if first.size < n_rows:
                rows = place.table(taken_rows, row_blocks(first.size, WIDE_ROWS), width, np.float32, rows, names)
                names = place.keep(np.arange(first.size))
            blocks = row_blocks(queries.size, max(1, BLOCK_COSINES // first.size))
            return _joined(place.map(nearest_by_products, [(None, queries[block]) for block in blocks], rows, names, k))
        parts = _parts_of_cells(cells, queries)
        return _nearest_of_all(queries, first.size, parts, place.map(nearest_by_products, parts, rows, names, k), k)


def _parts_of_cells(cells: Cells, queries: Names) -> list[Part]:
    """Return for each cell the families in it, and those of `queries` that probe it."""
    n_cells = int(max(cells.labels.max(initial=0), cells.probes.max(initial=0))) + 1
    members, probes = np.argsort(cells.labels, kind="stable"), cells.probes[queries].ravel()
    asking = np.argsort(probes, kind="stable")
    ends = (np.searchsorted(cells_of, np.arange(n_cells + 1)) for cells_of in (cells.labels[members], probes[asking]))
    pairs = (
        (members[a:b], queries[asking[c:d] // cells.probes.shape[1]])
        for (a, b), (c, d) in zip(*map(pairwise, ends), strict=True)
    )
    return [(inside, probing) for inside, probing in pairs if inside.size and probing.size]


def _nearest_of_all(queries: Names, n_families: int, parts: Sequence[Part], results: Iterable[Lists], k: int) -> Lists:
    """Return the nearest neighbours over all cells."""
    line = np.empty(n_families, np.int64)
    line[queries] = np.arange(queries.size)
    lists = np.full((queries.size, k), np.int32(-1)), np.zeros((queries.size, k))
    for (_, block), lists_of_part in zip(parts, results, strict=True):
        take_nearer(*lists, line[block], *lists_of_part)
    return lists


def _joined(parts: Iterable[Lists]) -> Lists:
    neighbours, similarity = zip(*parts, strict=True)
    return np.concatenate(neighbours), np.concatenate(similarity)


# what a place is given to do with a block of rows, or with those who ask in a cell


def frequencies_of(block: slice, rows: Matrix) -> Integers:
    """Return in how many of some rows each term is."""
    return document_frequencies(rows[block])


def rare_terms_first(block: slice, rows: CsrArray, rank: npt.NDArray[np.int32]) -> CsrArray:
    """Return some unit rows in float32 whose columns are numbered from the rarest term to the most common."""
    entries = rows[block]
    if entries.nnz and entries.data.min() < 0:
        raise InputError(
            "the matrix has negative values", remedy="nearest neighbours need weights >= 0, such as tf-idf"
        )
    norms = row_norms(entries)
    scale = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
    data = (entries.data * np.repeat(scale, np.diff(entries.indptr))).astype(np.float32)
    renumbered = sparse.csr_array((data, rank[entries.indices], entries.indptr.copy()), shape=entries.shape)
    renumbered.eliminate_zeros()  # the search takes a sum of 0 for one that nothing was added to
    renumbered.sort_indices()
    return renumbered


def nearest_by_terms(part: Part, rows: CsrArray, names: Names, lists: CsrArray, k: int) -> Lists:
    """Return the nearest families to those that ask, among those inside; all, by the lists given, for None."""
    inside, queries = part
    if inside is None:
        inside = np.arange(names.size)
    else:
        lists = sparse.csr_array(rows[names[inside]].T)
    asking, found = rows[names[queries]], (np.full((queries.size, k), -1, np.int32), np.zeros((queries.size, k)))
    if names.size > FEW_ROWS:
        nearest_in_lists(Csr.of(asking), queries, Csr.of(lists), inside, found, np.zeros(inside.size))
        return found
    products = (asking.astype(np.float64) @ lists.astype(np.float64)).toarray()
    products[queries[:, None] == inside] = 0.0
    nearest = np.argsort(-products, axis=1, kind="stable")[:, :k]
    cosines = np.take_along_axis(products, nearest, axis=1)
    found[0][:, : nearest.shape[1]], found[1][:, : nearest.shape[1]] = (
        np.where(cosines > 0, inside[nearest], -1),
        cosines,
    )
    return found


def nearest_by_products(part: Part, rows: Matrix, names: Names, k: int) -> Lists:
    """Return the nearest families to those that ask, among those inside, all for None, by their products."""
    inside, queries = part
    every = np.arange(names.size) if inside is None else inside
    candidates = rows if inside is None else rows[names[inside]]
    parts = []
    with library_threads(1, "blas"):
        for block in row_blocks(queries.size, max(1, BLOCK_COSINES // every.size)):
            members = queries[block]
            products = rows[names[members]] @ candidates.T
            places = np.minimum(np.searchsorted(every, members), every.size - 1)  # those inside ascend
            here = np.flatnonzero(every[places] == members)
            products[here, places[here]] = -np.inf
            columns, similarity = _largest_products(products, k)
            parts.append((np.where(columns >= 0, every[columns], -1).astype(np.int32), similarity))
    return _joined(parts)


def _largest_products(products: SingleFloats, k: int) -> Lists:
    """Return the columns of the k largest values above 0 of each row, largest first, and these."""
    size = products.shape[1]
    n_kept, width = min(k, size - 1), max(1, size // (RUNS_FOR_EACH * k))
    # the k-th largest of the largest of each run of columns: at least k cosines reach it, and few more
    largest = products[:, : width * (size // width)].reshape(len(products), -1, width).max(axis=2)
    bound = np.partition(largest, largest.shape[1] - max(n_kept, 1), axis=1)[:, -max(n_kept, 1)]
    row, column = np.nonzero(products >= np.maximum(bound, np.finfo(np.float32).tiny)[:, None])
    cosines = products[row, column]
    order = np.lexsort((column, -cosines, row))
    place = np.arange(row.size) - np.searchsorted(row, row)  # rows ascend, before the sort and after
    order, row, place = order[place < k], row[place < k], place[place < k]
    neighbours, similarity = np.full((len(products), k), -1, dtype=np.int32), np.zeros((len(products), k))
    neighbours[row, place], similarity[row, place] = column[order], np.minimum(cosines[order], 1.0)
    return neighbours, similarity


@jit(inner=True)
def insert(neighbours, similarity, n_found, candidate, product):
    """Put a row into a list of the nearest in order; return how many are in the list."""
    k = neighbours.size
    place = n_found
    if n_found == k:
        place = k - 1
        if product < similarity[place] or (product == similarity[place] and candidate > neighbours[place]):
            return k
    while place > 0 and (
        similarity[place - 1] < product or (similarity[place - 1] == product and neighbours[place - 1] > candidate)
    ):
        similarity[place], neighbours[place] = similarity[place - 1], neighbours[place - 1]
        place -= 1
    similarity[place], neighbours[place] = product, candidate
    return n_found + 1 if n_found < k else k


@jit
def nearest_in_lists(rows, names, lists, candidates, found, sums):
    """Write the nearest of other rows to each row (Csr), by posting lists (Csr) of these others.

    `names` and `candidates` are what the rows and the others are called, ascending for the others; a row is not its own
    neighbour. `sums`: 0 for each of the others.

    `found`: int32 and float64 arrays of shape (len(names), k): the names of the others, nearest first, lowest on ties,
    and their cosines; -1 and 0 where there is none.
    """
    neighbours, similarity = found
    indptr, terms, values = rows
    list_starts, list_rows, list_values = lists
    for row in range(names.size):
        for place in range(indptr[row], indptr[row + 1]):
            value = np.float64(values[place])
            for at in range(list_starts[terms[place]], list_starts[terms[place] + 1]):
                sums[list_rows[at]] += value * list_values[at]
        n_found = np.int64(0)
        for column in range(candidates.size):
            if sums[column] > 0.0 and candidates[column] != names[row]:
                n_found = insert(neighbours[row], similarity[row], n_found, candidates[column], sums[column])
            sums[column] = 0.0


@jit
def take_nearer(neighbours, similarity, rows, further, other_similarity):
    """Insert further neighbours of some rows into their lists of the nearest."""
    k = neighbours.shape[1]
    for line, row in enumerate(rows):
        n_found = 0
        while n_found < k and neighbours[row, n_found] >= 0:
            n_found += 1
        for place in range(k):
            if further[line, place] >= 0:
                candidate, product = further[line, place], other_similarity[line, place]
                n_found = insert(neighbours[row], similarity[row], n_found, candidate, product)
