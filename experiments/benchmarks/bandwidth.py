"""What the machine's memory gives: reading a long array, and reading rows of a table in the order of a sweep."""

from __future__ import annotations

import time

import numba
import numpy as np

from doccluster.base.blocks import map_blocks, row_blocks
from doccluster.clustering.k_means.term_places import TermPlaces
from doccluster.clustering.k_means.unit_documents import UnitDocuments

STREAM_BYTES = 2**29


@numba.njit(nogil=True, fastmath=True)
def _add_up(values):
    total = np.float32(0)
    for position in range(values.size):
        total += values[position]
    return total


@numba.njit(nogil=True, fastmath=True)
def _touch_rows(columns, table):
    """Read every cache line of the rows that a block's entries name."""
    total = np.float32(0)
    for position in range(columns.size):
        row = table[columns[position]]
        for lane in range(0, row.size, 16):
            total += row[lane]
    return total


def stream_bandwidth(n_threads: int) -> float:
    """Return bytes a second of reading an array that no cache holds."""
    values = np.ones(STREAM_BYTES // 4, np.float32)
    return _best(
        lambda block: _add_up(values[block]), row_blocks(values.size, values.size // 64), n_threads, values.nbytes
    )


def gather_bandwidth(documents: UnitDocuments, places: TermPlaces, width: int, n_threads: int) -> float:
    """Return bytes a second of reading, entry by entry, the rows of a dense table of `width` bytes a row."""
    table = np.ones((documents.n_terms, width // 4), np.float32)
    columns, starts = places.number[documents.rows.indices].astype(np.int32), documents.rows.indptr

    def one(block: slice) -> float:
        return float(_touch_rows(columns[starts[block.start] : starts[block.stop]], table))

    return _best(one, documents.blocks, n_threads, columns.size * (width + 4))


def _best(function, blocks, n_threads: int, n_bytes: int) -> float:
    seconds = []
    for _ in range(4):
        started = time.perf_counter()
        list(map_blocks(function, blocks, n_threads=n_threads))
        seconds.append(time.perf_counter() - started)
    return n_bytes / min(seconds)
