"""Documents in few dimensions: latent semantic analysis, and rows smoothed over a graph of neighbours.

Sources: Deerwester, Dumais, Furnas, Landauer & Harshman 1990, "Indexing by latent semantic analysis", JASIS 41(6); the
randomised decomposition is that of Halko, Martinsson & Tropp 2011, "Finding structure with randomness", SIAM Review
53(2), algorithms 4.4 and 5.1; smoothing is the spreading of Zhou, Bousquet, Lal, Weston & Schoelkopf 2004, "Learning
with local and global consistency", NIPS 16, section 2, applied to the rows themselves.

A library of linear algebra may split a sum by the number of its threads; the loops here add up in one order, so that
the same seed gives the same projection everywhere. The innermost loop always runs over the columns of the result, which
the compiler turns into vector instructions without changing the order of a sum.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from doccluster.base.arrays import CsrArray, Floats, Integers, Matrix
from doccluster.base.blocks import library_threads, resolve_threads, row_blocks
from doccluster.base.compiled import jit
from doccluster.base.place import Place
from doccluster.base.plain_values import ShortRepr
from doccluster.base.progress import LOOPS
from doccluster.base.sparse_structure import Csr
from doccluster.base.validation import RandomState, as_generator, check_positive_int
from doccluster.errors import InputError
from doccluster.geometry.documents import as_documents

BLOCK_ROWS = 2048  # rows whose sums are added up before they join those of other blocks
SUMMED_ROWS = 2**15  # the same, for sums that have a row for each term
COLUMNS_AT_ONCE = 16  # of these
WHOLE_BITS = 61  # that a sum in whole numbers may take, beside its sign
OVERSAMPLING = 10  # directions beyond those asked for; they make the last ones accurate
FEW_PRODUCTS = 2**22  # numbers that scipy multiplies in less time than a loop takes to compile
NEGLIGIBLE = 1e-13  # share of the largest eigenvalue below which a direction is rounding


@dataclass(frozen=True, eq=False, repr=False)
class SemanticSpace(ShortRepr):
    """The directions in which the rows of a matrix spread most.

    Attributes
    ----------
    components : float64 array of shape (n_components, n_terms), orthonormal rows
        The largest entry of each is positive.
    singular_values : float64 array of shape (n_components,), descending
    """

    components: Floats
    singular_values: Floats

    def project(self, matrix: Matrix, *, n_threads: int | None = None, place: Place | None = None) -> Any:
        """Return the coordinates of rows, float64 of shape (n_documents, n_components), where `place` keeps them."""
        rows, shape = _csr_in(matrix)
        if shape[1] != self.components.shape[1]:
            raise InputError(
                f"has {shape[1]:,} columns",
                argument="matrix",
                expected=f"the {self.components.shape[1]:,} of the space",
            )
        place = place or Place(n_threads)
        with place.for_a_while() as inner:
            table = inner.keep(np.ascontiguousarray(self.components.T))
            blocks = row_blocks(shape[0], BLOCK_ROWS)
            return place.table(products_of_rows, blocks, self.components.shape[0], np.float64, rows, None, table)


def latent_semantic_space(
    matrix: Matrix,
    n_components: int = 100,
    *,
    n_power_iterations: int = 4,
    random_state: RandomState = None,
    n_threads: int | None = None,
    place: Place | None = None,
) -> SemanticSpace:
    """Return the truncated singular value decomposition of a matrix, the same for any number of threads.

    Parameters
    ----------
    matrix : Documents, or a csr or dense array of shape (n_documents, n_terms)
    n_components : int
        The number of directions; fewer come back where the matrix has a lower rank.
    n_power_iterations : int
        How often the sample of directions is passed through the matrix and back; more is more accurate.
    random_state : None, int or numpy Generator
    n_threads : int, optional
    place : Place, optional
        Where tables with a row for each document are made; in memory, by threads, by default.

    Returns
    -------
    SemanticSpace
    """
    n_components = check_positive_int(n_components, "n_components")
    threads = resolve_threads(n_threads)
    rows, (n_rows, n_columns) = _csr_in(matrix)
    with (place or Place(threads)).for_a_while() as inner:
        wide = row_blocks(n_rows, SUMMED_ROWS)
        used_terms = np.flatnonzero(inner.add(entries_of_columns, wide, rows))
        # a term's entries times a column of length one sum to at most this
        largest_sum = max(inner.map(largest_value, wide, rows)) * np.sqrt(n_rows)
        steps = WHOLE_BITS - int(np.frexp(largest_sum)[1]) if len(wide) > 1 else None
        rank = np.zeros(n_columns, np.int32)
        rank[used_terms] = np.arange(used_terms.size, dtype=np.int32)
        rank = inner.keep(rank)
        n_directions = min(n_components + OVERSAMPLING, n_rows, used_terms.size)
        blocks = row_blocks(n_rows, BLOCK_ROWS)

        def seen_by_rows(table: Floats) -> Matrix:
            width_kept = inner.keep(table)
            return inner.table(products_of_rows, blocks, table.shape[1], np.float64, rows, rank, width_kept)

        def seen_by_terms(table: Matrix, width: int) -> Floats:
            columns = row_blocks(width, COLUMNS_AT_ONCE) or [slice(0, 0)]  # of a matrix of zeros, no direction is left
            shared = rows, rank, table, used_terms.size, steps
            if steps is None:
                parts = [(wide[0], columns_of_block) for columns_of_block in columns]
                return np.hstack(list(inner.map(products_of_terms, parts, *shared)))
            sums = [
                inner.add(products_of_terms, [(block, columns_of_block) for block in wide], *shared)
                for columns_of_block in LOOPS.over(columns)
            ]
            return np.ldexp(np.hstack(sums).astype(np.float64), -steps)

        def orthonormal(table: Matrix, width: int) -> tuple[Any, int]:
            values, vectors = _spread(table, width, n_rows, inner)
            turn = vectors / np.sqrt(values)
            return inner.table(turned_block, blocks, values.size, np.float64, table, turn), values.size

        sample = as_generator(random_state).standard_normal((used_terms.size, n_directions))
        basis, width = orthonormal(seen_by_rows(sample), n_directions)
        for _ in range(n_power_iterations):
            basis, width = orthonormal(seen_by_rows(seen_by_terms(basis, width)), width)
        basis, width = orthonormal(basis, width)
        reduced = seen_by_terms(basis, width)  # (n_terms, width): the matrix seen from those directions
    here = Place(threads)
    values, vectors = _spread(reduced, width, used_terms.size, here)
    width_kept = min(n_components, values.size)
    lengths = np.sqrt(values[:width_kept])
    turn = np.ascontiguousarray(vectors[:, :width_kept] / lengths)
    directions = here.table(
        turned_block, row_blocks(used_terms.size, BLOCK_ROWS), width_kept, np.float64, reduced, turn
    )
    largest = np.abs(directions).argmax(axis=0) if width_kept else np.arange(0)
    components = np.zeros((width_kept, n_columns))
    components[:, used_terms] = (directions * np.where(directions[largest, np.arange(width_kept)] < 0, -1.0, 1.0)).T
    return SemanticSpace(components, lengths)


def principal_rows(table: Matrix, n_components: int, place: Place) -> Matrix:
    """Return the rows of a dense table seen from the directions in which they spread most, unit, a float32 table.

    Where the table has no more columns than that it comes back as it is.
    """
    n_rows, width = table.shape
    if width <= n_components:
        return table
    _, directions = _spread(table, width, n_rows, place)
    turn = np.ascontiguousarray(directions[:, :n_components])
    return place.table(turned_unit_block, row_blocks(n_rows, BLOCK_ROWS), turn.shape[1], np.float32, table, turn)


def smoothed_rows(
    rows: Matrix, graph: object, *, mixing: float = 0.7, n_steps: int = 3, place: Place | None = None
) -> CsrArray:
    """Return unit rows moved towards their neighbours in a graph, and those of these, and so on.

    Each step is moved <- unit((1 - mixing) rows + mixing D^-1/2 A D^-1/2 moved), with A the weights of the graph and D
    the sums of its rows (Zhou et al. 2004). Each step takes up the row as it was: short texts would otherwise run
    together, since the few words of one are soon outweighed. A row without neighbours stays where it is.

    Parameters
    ----------
    rows : Documents or an array of shape (n_documents, n_dimensions)
    graph : Documents or a symmetric csr array of shape (n_documents, n_documents), weights >= 0
    mixing : float in 0..1
    n_steps : int
    place : Place, optional
        Where the tables are made, and the result is kept; in memory by default.

    Returns
    -------
    float64 array of shape (n_documents, n_dimensions)
    """
    graph, edges = _csr_in(graph, name="graph")
    rows = as_documents(rows, name="rows").matrix
    n_rows, width = rows.shape
    if edges != (n_rows, n_rows):
        raise InputError(
            f"has shape {edges}", argument="graph", expected=f"a row and a column for each of {n_rows:,} rows"
        )
    place, blocks = place or Place(), row_blocks(n_rows, BLOCK_ROWS)
    with place.for_a_while() as inner:
        degrees = np.concatenate([np.empty(0), *inner.map(sums_of_rows, row_blocks(n_rows, SUMMED_ROWS), graph)])
        scale = inner.keep(np.divide(1.0, np.sqrt(degrees), out=np.zeros_like(degrees), where=degrees > 0))
        original = moved = inner.table(unit_block, blocks, width, np.float64, rows)
        for step in range(n_steps):
            where = place if step == n_steps - 1 else inner
            moved = where.table(moved_block, blocks, width, np.float64, graph, scale, original, moved, mixing)
        return moved if n_steps else place.keep(np.array(original))


def unit(rows: Matrix) -> Floats:
    """Return dense rows of length one, in float64; zero rows stay zero."""
    dense: Floats = np.asarray(rows, dtype=np.float64)
    lengths: Floats = np.sqrt(np.einsum("ij,ij->i", dense, dense))
    lengths[lengths == 0] = 1.0
    return dense / lengths[:, None]


def _csr_in(matrix: Matrix, name: str = "matrix") -> tuple[Any, tuple[int, int]]:
    """Return a matrix as a csr array, and its shape."""
    csr = sparse.csr_array(as_documents(matrix, name=name).matrix)
    return csr, csr.shape


def times_table(matrix: Matrix, table: Floats, n_threads: int) -> Floats:
    """Return a csr matrix times a dense table, both in float64; the same for any number of threads."""
    blocks = row_blocks(matrix.shape[0], BLOCK_ROWS)
    product: Floats = Place(n_threads).table(products_of_rows, blocks, table.shape[1], np.float64, matrix, None, table)
    return product


# what a place is given to do with a block of rows


def entries_of_columns(block: slice, matrix: CsrArray) -> Integers:
    """Return how many entries each column has in some rows."""
    columns = matrix.indices[matrix.indptr[block.start] : matrix.indptr[block.stop]]
    return np.bincount(columns, minlength=matrix.shape[1])


def products_of_rows(block: slice, matrix: Matrix, rank: object, table: Floats) -> Floats:
    """Return some rows times a table; `rank` says which row of the table each column of the matrix has."""
    return _times_table(_block_of(matrix, block, rank), table)


def largest_value(block: slice, matrix: CsrArray) -> float:
    """Return the largest value of some rows, by its size."""
    values = matrix.data[matrix.indptr[block.start] : matrix.indptr[block.stop]]
    return max(float(values.max(initial=0)), -float(values.min(initial=0)))


def products_of_terms(
    part: tuple[slice, slice], matrix: Matrix, rank: object, table: Floats, n_terms: int, steps: int | None
) -> Any:
    """Return the transpose of some rows times some columns of the table of these rows.

    With `steps` it is in whole numbers of 2^-steps, which add up in any order.
    """
    block, columns = part
    part_of_table = np.ascontiguousarray(table[block, columns])
    rows = _block_of(matrix, block, rank)
    if rows.data.size * part_of_table.shape[1] <= FEW_PRODUCTS:
        product = _in_scipy(rows, n_terms).T @ part_of_table
    else:
        product = np.zeros((n_terms, part_of_table.shape[1]))
        terms_times_table(rows, part_of_table, product)
    return product if steps is None else np.rint(np.ldexp(product, steps)).astype(np.int64)


def gram_of_block(block: slice, table: Floats) -> Floats:
    """Return the products of the columns of some rows of a table with one another, the upper half."""
    gram = np.zeros((table.shape[1], table.shape[1]))
    gram_of_rows(np.asarray(table[block], dtype=np.float64), gram)
    return gram


def turned_block(block: slice, table: Floats, turn: Floats) -> Floats:
    """Return some rows of a table times a small matrix."""
    rows = np.asarray(table[block], dtype=np.float64)
    turned = np.zeros((rows.shape[0], turn.shape[1]))
    turned_rows(rows, turn, turned)
    return turned


def turned_unit_block(block: slice, table: Floats, turn: Floats) -> Floats:
    """Return the same rows, normalised."""
    return unit(turned_block(block, table, turn))


def sums_of_rows(block: slice, graph: CsrArray) -> Floats:
    """Return the sums of some rows."""
    return np.asarray(graph[block].sum(axis=1)).ravel()


def unit_block(block: slice, rows: Matrix) -> Floats:
    """Return some rows, normalised."""
    return unit(rows[block])


def moved_block(block: slice, graph: CsrArray, scale: Floats, original: Floats, moved: Floats, mixing: float) -> Floats:
    """Return some rows moved one step towards their neighbours."""
    edges = graph[block]
    edges.data = np.repeat(scale[block], np.diff(edges.indptr)) * edges.data * scale[edges.indices]
    share = np.where(scale[block] > 0, mixing, 0.0)[:, None]
    towards = _times_table(Csr.of(edges), np.asarray(moved, dtype=np.float64))
    return unit((1.0 - share) * original[block] + share * towards)


def _block_of(matrix: CsrArray, block: slice, rank: Any) -> Csr:
    """Return some rows of a csr array in float64; the entries are copied only where their columns are renumbered."""
    starts = matrix.indptr[block.start : block.stop + 1].astype(np.int64)
    here = slice(int(starts[0]), int(starts[-1]))
    columns = matrix.indices[here].astype(np.int32, copy=False)
    columns = columns if rank is None else rank[columns]
    return Csr(starts - starts[0], columns, matrix.data[here].astype(np.float64, copy=False))


def _spread(table: Matrix, width: int, n_rows: int, place: Place) -> tuple[Floats, Floats]:
    """Return how far the rows of a table spread, squared, in the directions in which they do, and these, descending.

    They are eigenvalues and eigenvectors of the products of its columns; those that are rounding are left out.
    """
    parts = place.map(gram_of_block, row_blocks(n_rows, BLOCK_ROWS), table)
    gram = sum(parts, start=np.zeros((width, width)))
    with library_threads(1, "blas"):  # whose sums are then the same for any number of threads
        values, vectors = np.linalg.eigh(np.triu(gram) + np.triu(gram, 1).T)
    values, vectors = values[::-1], vectors[:, ::-1]
    n_kept = int(np.count_nonzero(values > NEGLIGIBLE * max(float(values.max(initial=0.0)), np.finfo(float).tiny)))
    return values[:n_kept], np.ascontiguousarray(vectors[:, :n_kept])


def _in_scipy(rows: Csr, n_columns: int) -> sparse.csr_array:
    """Return rows as scipy has them."""
    return sparse.csr_array((rows.data, rows.indices, rows.indptr), shape=(rows.indptr.size - 1, n_columns))


def _times_table(rows: Csr, table: Floats) -> Floats:
    """Return the products of some rows with a dense table."""
    if rows.data.size * table.shape[1] <= FEW_PRODUCTS:
        return np.asarray(_in_scipy(rows, table.shape[0]) @ table)
    products = np.zeros((rows.indptr.size - 1, table.shape[1]))
    rows_times_table(rows, table, products)
    return products


@jit
def rows_times_table(rows, table, out):
    """Add the products of some rows (Csr) with a dense table to `out`; a third faster than scipy, the same bytes."""
    indptr, indices, data = rows
    width = table.shape[1]
    for row in range(indptr.size - 1):
        for position in range(indptr[row], indptr[row + 1]):
            value, term = data[position], indices[position]
            for column in range(width):
                out[row, column] += value * table[term, column]


@jit
def terms_times_table(rows, table, out):
    """Add the transpose of some rows (Csr) times a dense table, which has a row for each of them, to `out`."""
    indptr, indices, data = rows
    width = table.shape[1]
    for row in range(indptr.size - 1):
        for position in range(indptr[row], indptr[row + 1]):
            value, term = data[position], indices[position]
            for column in range(width):
                out[term, column] += value * table[row, column]


@jit
def gram_of_rows(rows, gram):
    """Add the outer products of the rows of a table with themselves to the upper half of `gram`.

    Four rows are taken at a time, so that the sums, which a small cache does not hold, are read and written less often.
    """
    n_rows, width = rows.shape
    in_fours = n_rows - n_rows % 4
    for row in range(0, in_fours, 4):
        r, s, t, u = rows[row], rows[row + 1], rows[row + 2], rows[row + 3]
        for i in range(width):
            for j in range(i, width):
                gram[i, j] += (r[i] * r[j] + s[i] * s[j]) + (t[i] * t[j] + u[i] * u[j])
    for row in range(in_fours, n_rows):
        for i in range(width):
            for j in range(i, width):
                gram[i, j] += rows[row, i] * rows[row, j]


@jit
def turned_rows(rows, turn, out):
    """Add the rows of a table times a small matrix, four rows of which are read at a time, to `out`."""
    n_inner, width = turn.shape
    in_fours = n_inner - n_inner % 4
    for row in range(rows.shape[0]):
        for inner in range(0, in_fours, 4):
            a, b, c, d = rows[row, inner], rows[row, inner + 1], rows[row, inner + 2], rows[row, inner + 3]
            r, s, t, u = turn[inner], turn[inner + 1], turn[inner + 2], turn[inner + 3]
            for column in range(width):
                out[row, column] += (a * r[column] + b * s[column]) + (c * t[column] + d * u[column])
        for inner in range(in_fours, n_inner):
            for column in range(width):
                out[row, column] += rows[row, inner] * turn[inner, column]
