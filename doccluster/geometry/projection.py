"""Documents in few dimensions: latent semantic analysis, and rows smoothed over a graph of neighbours.

Sources: Deerwester, Dumais, Furnas, Landauer & Harshman 1990, "Indexing by latent semantic analysis", JASIS 41(6); the
randomised decomposition is that of Halko, Martinsson & Tropp 2011, "Finding structure with randomness", SIAM Review
53(2), algorithms 4.4 and 5.1; smoothing is the spreading of Zhou, Bousquet, Lal, Weston & Schoelkopf 2004, "Learning
with local and global consistency", NIPS 16, section 2, applied to the rows themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from threadpoolctl import threadpool_limits

from doccluster.base.short_repr import ShortRepr
from doccluster.blocks import resolve_threads, row_blocks, share_blocks
from doccluster.errors import InputError
from doccluster.geometry.documents import as_documents
from doccluster.geometry.tall_tables import gram_of_rows, rows_times_table, turned_rows
from doccluster.kernels.arguments import Csr
from doccluster.validation import RandomState, as_generator, check_positive_int

Floats = npt.NDArray[np.float64]

BLOCK_ROWS = 2048  # rows whose sums are added up before they join those of other blocks
OVERSAMPLING = 10  # directions beyond those asked for; they make the last ones accurate
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

    def project(self, matrix: Any, *, n_threads: int | None = None) -> Floats:
        """Return the coordinates of rows, float64 array of shape (n_documents, n_components)."""
        rows = _csr(matrix)
        if rows.shape[1] != self.components.shape[1]:
            raise InputError(
                f"has {rows.shape[1]:,} columns",
                argument="matrix",
                expected=f"the {self.components.shape[1]:,} of the space",
            )
        return times_table(rows, np.ascontiguousarray(self.components.T), resolve_threads(n_threads))


def latent_semantic_space(
    matrix: Any,
    n_components: int = 100,
    *,
    n_power_iterations: int = 4,
    random_state: RandomState = None,
    n_threads: int | None = None,
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

    Returns
    -------
    SemanticSpace
    """
    n_components = check_positive_int(n_components, "n_components")
    threads = resolve_threads(n_threads)
    given = _csr(matrix)
    used = np.unique(given.indices)
    rows = sparse.csr_array(
        (given.data, np.searchsorted(used, given.indices), given.indptr), shape=(given.shape[0], used.size)
    )
    columns = sparse.csr_array(rows.T)
    n_directions = min(n_components + OVERSAMPLING, *rows.shape)
    sample = as_generator(random_state).standard_normal((used.size, n_directions))
    found = _orthonormal(times_table(rows, sample, threads), threads)
    for _ in range(n_power_iterations):
        found = _orthonormal(times_table(rows, times_table(columns, found, threads), threads), threads)
    found = _orthonormal(found, threads)
    reduced = times_table(columns, found, threads)  # (n_terms, n_directions): the matrix seen from those directions
    values, vectors = _eigen(reduced, threads)
    kept = min(n_components, values.size)
    lengths = np.sqrt(values[:kept])
    directions = _turned(reduced, vectors[:, :kept] / lengths, threads)
    largest = np.abs(directions).argmax(axis=0)
    components = np.zeros((kept, given.shape[1]))
    components[:, used] = (directions * np.where(directions[largest, np.arange(kept)] < 0, -1.0, 1.0)).T
    return SemanticSpace(components, lengths)


def smoothed_rows(rows: Any, graph: Any, *, mixing: float = 0.7, n_steps: int = 3) -> Floats:
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
    """
    graph, rows = as_documents(graph, name="graph").matrix, as_documents(rows, name="rows").matrix
    if graph.shape != (rows.shape[0], rows.shape[0]):
        raise InputError(
            f"has shape {graph.shape}",
            argument="graph",
            expected=f"a row and a column for each of {rows.shape[0]:,} rows",
        )
    degrees = np.asarray(graph.sum(axis=1)).ravel()
    scale = np.divide(1.0, np.sqrt(degrees), out=np.zeros_like(degrees), where=degrees > 0)
    normalised = sparse.csr_array(sparse.diags_array(scale) @ graph @ sparse.diags_array(scale))
    share = np.where(degrees > 0, mixing, 0.0)[:, None]
    own = moved = unit(rows)
    for _ in range(n_steps):
        moved = unit((1.0 - share) * own + share * (normalised @ moved))
    return moved


def unit(rows: Any) -> Floats:
    """Return dense rows of length one, in float64; zero rows stay zero."""
    dense: Floats = np.asarray(rows, dtype=np.float64)
    lengths: Floats = np.sqrt(np.einsum("ij,ij->i", dense, dense))
    lengths[lengths == 0] = 1.0
    return dense / lengths[:, None]


def _csr(matrix: Any) -> Any:
    return sparse.csr_array(as_documents(matrix, name="matrix").matrix)


def times_table(matrix: Any, table: Floats, n_threads: int) -> Floats:
    """Return a csr matrix times a dense table, both in float64; the same for any number of threads."""
    arrays = Csr.of(matrix)
    arrays = arrays._replace(data=arrays.data.astype(np.float64, copy=False))

    def block(rows: slice) -> Floats:
        return np.asarray(rows_times_table(arrays.block(rows), table))

    parts = share_blocks(block, row_blocks(matrix.shape[0], BLOCK_ROWS), n_threads=n_threads)
    return np.concatenate([np.empty((0, table.shape[1])), *parts])


def _orthonormal(table: Floats, n_threads: int) -> Floats:
    """Return orthonormal columns that span those of a table; directions that are rounding are left out."""
    values, vectors = _eigen(table, n_threads)
    return _turned(table, vectors / np.sqrt(values), n_threads)


def _turned(table: Floats, turn: Floats, n_threads: int) -> Floats:
    turn = np.ascontiguousarray(turn)

    def block(rows: slice) -> Floats:
        return np.asarray(turned_rows(table[rows], turn))

    parts = share_blocks(block, row_blocks(table.shape[0], BLOCK_ROWS), n_threads=n_threads)
    return np.concatenate([np.empty((0, turn.shape[1])), *parts])


def _eigen(table: Floats, n_threads: int) -> tuple[Floats, Floats]:
    """Return the eigenvalues of the Gram matrix of the columns that are not rounding, descending, and its vectors."""
    with threadpool_limits(1, user_api="blas"):  # whose sums are then the same for any number of threads
        values, vectors = np.linalg.eigh(_gram(table, n_threads))
    values, vectors = values[::-1], vectors[:, ::-1]
    n_kept = int(np.count_nonzero(values > NEGLIGIBLE * max(float(values.max(initial=0.0)), np.finfo(float).tiny)))
    return values[:n_kept], vectors[:, :n_kept]


def _gram(table: Floats, n_threads: int) -> Floats:
    """Return the products of the columns of a table with one another."""

    def block(rows: slice) -> Floats:
        return np.asarray(gram_of_rows(table[rows]))

    parts = share_blocks(block, row_blocks(table.shape[0], BLOCK_ROWS), n_threads=n_threads)
    gram = sum(parts, start=np.zeros((table.shape[1], table.shape[1])))
    return np.triu(gram) + np.triu(gram, 1).T
