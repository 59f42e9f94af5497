"""Counts of documents: with which terms together, and close to which others; blocks may be counted by themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.blocks import entry_blocks, map_blocks, row_blocks

DENSE_ROWS = 4096

Integers = npt.NDArray[np.int64]


def documents_together(matrix: Any, lists: Sequence[Integers], *, n_threads: int | None = None) -> list[Integers]:
    """Return for each list of terms in how many rows each two of them are above 0, int64 arrays of shape (T, T).

    The diagonal says in how many rows each term is. One pass over the matrix, whose rows are read in pieces.

    `matrix`: csr array or dense array of shape (n_documents, n_terms).

    >>> rows = np.array([[2.0, 1.0, 0.0], [1.0, 0.0, 3.0]])
    >>> [counts.tolist() for counts in documents_together(rows, [np.array([0, 2])])]
    [[[2, 1], [1, 1]]]
    """
    columns = np.unique(np.concatenate(lists)) if len(lists) else np.empty(0, np.int64)
    places = [np.searchsorted(columns, terms) for terms in lists]
    pieces = entry_blocks(matrix.indptr) if sparse.issparse(matrix) else row_blocks(matrix.shape[0], DENSE_ROWS)

    def one(rows: slice) -> list[Integers]:
        entries = _held(matrix, rows, columns)
        return [_together(entries[:, place]) for place in places]

    total = [np.zeros((terms.size, terms.size), np.int64) for terms in lists]
    for counts in map_blocks(one, pieces, n_threads=n_threads):
        for sums, block_sums in zip(total, counts, strict=True):
            sums += block_sums
    return total


def counts_added(parts: list[list[Integers]]) -> list[Integers]:
    """Return the counts of several blocks of documents together."""
    return [np.asarray(np.sum(counts, axis=0)) for counts in zip(*parts, strict=True)]


def _held(matrix: Any, rows: slice, columns: Integers) -> Any:
    """Return which of the rows have which of the columns: 1 or 0, stored by column where the matrix is sparse."""
    if not sparse.issparse(matrix):
        return (matrix[rows][:, columns] > 0).astype(np.float64)  # exact below 2^53 documents
    starts = matrix.indptr[rows.start : rows.stop + 1]
    entries = slice(int(starts[0]), int(starts[-1]))
    number = np.full(matrix.shape[1], -1, np.int32)
    number[columns] = np.arange(columns.size)
    place = number[matrix.indices[entries]]
    stays = (place >= 0) & (matrix.data[entries] > 0)
    before = np.concatenate([[0], np.cumsum(stays)])[starts - starts[0]]
    place = place[stays]
    shape = (rows.stop - rows.start, columns.size)
    return sparse.csc_array(sparse.csr_array((np.ones(place.size, np.int64), place, before), shape=shape))


def _together(entries: Any) -> Integers:
    counts = entries.T @ entries
    return np.asarray(np.rint(counts) if isinstance(counts, np.ndarray) else counts.toarray(), dtype=np.int64)


def count_close(matrix: Any, labels: Integers, chosen: Sequence[Any], least: float) -> list[Integers]:
    """Return for each cluster how many of its rows have at least some cosine to each of a few unit rows.

    `matrix`: csr array or dense array of shape (n_documents, n_terms), unit rows. `labels`: int64 array of shape
    (n_documents,). `chosen` of shape (any, n_terms): those of each cluster, in the form of `matrix`.

    >>> rows = np.array([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]])
    >>> [counts.tolist() for counts in count_close(rows, np.array([0, 0, 1]), [rows[:2], rows[2:]], 0.9)]
    [[1, 1], [1]]
    """
    counts = [np.zeros(rows.shape[0], np.int64) for rows in chosen]
    order = np.argsort(labels, kind="stable")
    edges = np.searchsorted(labels[order], np.arange(len(chosen) + 1))
    for cluster in np.flatnonzero(np.diff(edges)).tolist():
        members = order[edges[cluster] : edges[cluster + 1]]
        counts[cluster] += (cosines(matrix[members], chosen[cluster]) >= least).sum(axis=0)
    return counts


def cosines(rows: Any, columns: Any) -> npt.NDArray[np.float64]:
    """Return the cosines of some unit rows to a few others; dense, but only as wide as the few."""
    product = rows @ columns.T
    return np.asarray(product if isinstance(product, np.ndarray) else product.toarray(), dtype=np.float64)
