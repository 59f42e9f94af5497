"""Where a table of clusters keeps each term, and the cells that it keeps.

The commonest terms have a line, with a cell for each cluster; terms of few documents have a list instead: it saves most
of the memory of a line and, where clusters are many, time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from doccluster.base.arrays import Array, Integers, SingleFloats
from doccluster.base.compiled import jit

LINE = 16  # float32 lanes of a cache line
LINE_BYTES = 64
MAX_CELLS = 2**21  # of a table that stays near the processor: lists would only have to be made
MAX_OFFSETS = 2**32  # lines are found by 32-bit numbers
LIST_COST = 32.0  # an entry of a list costs as much as this many cells of a line, measured

# A cell is the upper half of a float32 that is not negative, cut so that it has room. Below 2^-64 the sign and the two
# highest bits of the exponent are 0, so bits 13 to 28 (6 of the exponent, 10 of the mantissa) say all but what is
# rounded off, and one shift makes them a float32 again. Where values have signs, cells have 32 bits and are shifted by
# 0.
CELL_SHIFT = np.uint32(13)
SMALLEST_CELL = np.uint32(1 << 10)  # below it there is no exponent: such a float32 would be slow, and is taken for 0
DOWN, UP = 2.0**-64, np.float32(2.0**64)  # sums are made as small as cells want them; the values of rows make up for it


@dataclass(frozen=True, eq=False)
class TermPlaces:
    """The number that each term has in a table.

    Terms that have a line come first, by falling frequency, and rare ones after them in the order of their columns.
    """

    number: npt.NDArray[np.uint32]  # of shape (n_terms,)
    columns: npt.NDArray[np.int32]  # of shape (n_terms,): of each number
    n_clusters: int
    n_head: int

    @classmethod
    def of(cls, frequencies: Integers, n_clusters: int, n_head: int | None = None) -> TermPlaces:
        """Return the places for some clusters; `n_head` terms have a line, `head_length` by default."""
        n_head = head_length(frequencies, n_clusters) if n_head is None else n_head
        # numpy sorts 16-bit integers by their digits; which of two very common terms comes first does not matter
        columns = np.argsort(-np.minimum(frequencies, 2**15 - 1).astype(np.int16), kind="stable").astype(np.int32)
        columns[n_head:].sort()
        number = np.empty(frequencies.size, np.uint32)
        number[columns] = np.arange(frequencies.size, dtype=np.uint32)
        return cls(number, columns, n_clusters, n_head)

    @property
    def n_lanes(self) -> int:
        """The cells of a line: a lane for each cluster, whole cache lines of float32."""
        return table_width(self.n_clusters)

    @property
    def n_rare(self) -> int:
        """How many terms have a list."""
        return self.number.size - self.n_head


def table_width(n_clusters: int) -> int:
    """Return the clusters rounded up to whole cache lines."""
    return LINE * max(1, -(-n_clusters // LINE))


def head_length(frequencies: Integers, n_clusters: int) -> int:
    """Return how many terms have a line: all if the table is small, else those whose list would cost more."""
    n_lanes = table_width(n_clusters)
    if frequencies.size * n_lanes <= MAX_CELLS:
        return int(frequencies.size)
    return min(int(np.count_nonzero(frequencies * LIST_COST > n_lanes)), (MAX_OFFSETS - 1) // n_lanes)


@jit(inner=True)
def write_cell(cells, term, cluster, value):
    """Store a float32 as the nearest cell. The size of a cell is known from the type, so no branch is compiled."""
    shift = CELL_SHIFT if cells.itemsize == 2 else np.uint32(0)
    cell = np.uint32((np.float32(value).view(np.uint32) + ((np.uint32(1) << shift) >> np.uint32(1))) >> shift)
    cells[term, cluster] = cell if cells.itemsize > 2 or cell >= SMALLEST_CELL else np.uint32(0)


@jit(inner=True)
def read_cell(cells, at):
    """Return the float32 that a cell stands for."""
    return np.uint32(np.uint32(cells[at]) << (CELL_SHIFT if cells.itemsize == 2 else np.uint32(0))).view(np.float32)


def cells_of(values: SingleFloats, kind: npt.DTypeLike) -> Array:
    """Return float32 values as cells of a type, as `write_cell` stores them."""
    bits = values.view(np.uint32)
    if np.dtype(kind).itemsize > 2:
        return bits
    cells = (bits + np.uint32(1 << (int(CELL_SHIFT) - 1))) >> CELL_SHIFT
    return np.where(cells >= SMALLEST_CELL, cells, 0).astype(np.uint16)


def aligned_zeros(size: int, kind: npt.DTypeLike) -> Array:
    """Return zeros that begin where a cache line does: a line of the table that lies across two costs two reads."""
    n_bytes = size * np.dtype(kind).itemsize
    store = np.zeros(n_bytes + LINE_BYTES, np.uint8)
    offset = -store.ctypes.data % LINE_BYTES
    return store[offset : offset + n_bytes].view(kind)
