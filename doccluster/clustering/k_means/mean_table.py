"""Means laid out for the sweep.

The table is hybrid: each of the commonest terms has a dense line, each of the others a list of (cluster, value). A
term of few documents occurs in few means: lists save most of the memory of a dense table and, for many clusters, time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.clustering.k_means.document_matrix import DocumentMatrix
from doccluster.clustering.k_means.sweep import LINE, LaneTable

LINE_BYTES = 64
MOST_CELLS = 2**21  # of a table that stays near the processor: lists would only have to be made
MOST_ENTRIES = 4_000_000  # of a matrix that is read as it is: beyond, putting frequent terms together pays
TAIL_COST = 32.0  # an entry of a tail list costs as much as this many cells of the dense head, measured


def aligned_zeros(shape: tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Return an array of zeros that begins where a cache line does; so does each row of whole lines then.

    A line of the table that lies across two of the cache costs two reads.
    """
    kind = np.dtype(dtype)
    n_bytes = kind.itemsize * int(np.prod(shape))
    store = np.zeros(n_bytes + LINE_BYTES, np.uint8)
    offset = -store.ctypes.data % LINE_BYTES
    return store[offset : offset + n_bytes].view(kind).reshape(shape)


def means_of_matrix(centroids: Any, original: npt.NDArray[np.int32]) -> sparse.csr_array:
    """Return csr rows given in the columns of the user's matrix as float32 rows in the columns of a DocumentMatrix."""
    rank = np.empty(original.size, np.int32)
    rank[original] = np.arange(original.size, dtype=np.int32)
    values = centroids.data.astype(np.float32)
    return sparse.csr_array((values, rank[centroids.indices], centroids.indptr), shape=centroids.shape)


def in_given_columns(means: sparse.csr_array, original: npt.NDArray[np.int32]) -> sparse.csr_array:
    """Return means in the columns of the matrix as given, indices sorted."""
    rows = sparse.csr_array((means.data, original[means.indices], means.indptr), shape=means.shape)
    return rows.tocsc().tocsr()  # sorts the indices of each row, faster than comparing them would


def table_width(n_lanes: int) -> int:
    """Return the lanes rounded up to whole cache lines."""
    return max(1, -(-n_lanes // LINE)) * LINE


def is_small(n_columns: int, n_clusters: int) -> bool:
    """Return whether a table of all terms is small enough to be dense."""
    return n_columns * table_width(n_clusters) <= MOST_CELLS


def keeps_columns(n_columns: int, n_entries: int, n_clusters: int) -> bool:
    """Return whether a fit reads a matrix in the order of its columns, not by how frequent they are."""
    return is_small(n_columns, n_clusters) and n_entries <= MOST_ENTRIES


def head_length(frequencies: npt.NDArray[np.int64], n_clusters: int) -> int:
    """Return how many terms get a dense line, of terms that come in descending order of frequency.

    A term occurs in at most as many means as documents; its list pays where that is a small part of a line.
    """
    if is_small(frequencies.size, n_clusters):
        return frequencies.size
    return int(np.count_nonzero(frequencies * TAIL_COST > table_width(n_clusters)))


def table_for(documents: DocumentMatrix, means: sparse.csr_array, n_head: int | None = None) -> LaneTable:
    """Return the table of means for some documents; `n_head` terms have a dense line, `head_length` by default."""
    return lane_table(means, head_length(documents.frequencies, means.shape[0]) if n_head is None else n_head)


def lane_table(means: sparse.csr_array, n_head: int) -> LaneTable:
    """Return the table of sparse means with a dense line for each of the first `n_head` terms."""
    by_term = means.tocsc()
    ends = by_term.indptr
    terms = np.repeat(np.arange(n_head), np.diff(ends[: n_head + 1]))
    head = aligned_zeros((n_head, table_width(means.shape[0])), np.float32)
    head[terms, by_term.indices[: ends[n_head]]] = by_term.data[: ends[n_head]]
    starts = ends[n_head:].astype(np.int64) - ends[n_head]
    clusters = by_term.indices[ends[n_head] :].astype(np.int32)
    return LaneTable(head, starts, clusters, by_term.data[ends[n_head] :].copy(), means.shape[0])


def tail_of(table: LaneTable) -> sparse.csr_array:
    """Return the lists of a table as rows of clusters, not copied."""
    shape = (table.tail_starts.size - 1, table.n_clusters)
    return sparse.csr_array((table.tail_values, table.tail_clusters, table.tail_starts), shape=shape)


def means_of_table(table: LaneTable) -> sparse.csr_array:
    """Return the means that a table holds as sparse rows, terms ascending."""
    n_head, width = table.head.shape
    filled = np.flatnonzero(table.head != 0)
    terms, clusters = np.divmod(filled, width)
    starts = np.concatenate([[0], np.cumsum(np.bincount(terms, minlength=n_head)), filled.size + table.tail_starts[1:]])
    values = np.concatenate([table.head.ravel()[filled], table.tail_values])
    by_term = (values, np.concatenate([clusters.astype(np.int32), table.tail_clusters]), starts)
    return sparse.csr_array(sparse.csr_array(by_term, shape=(starts.size - 1, table.n_clusters)).T.tocsr())
