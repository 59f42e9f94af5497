"""Means laid out for the sweep.

The table is hybrid: the commonest terms have a dense row each, the others a list of (cluster, value). Rare terms occur
in few means, so the lists save most of the memory of a dense table and, for many clusters, most of the time.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from doccluster.blocks import row_blocks
from doccluster.clustering.k_means.document_matrix import BLOCK_ROWS, DocumentMatrix
from doccluster.clustering.k_means.means import Means
from doccluster.kernels.assignment import LaneTable
from doccluster.kernels.half_table import round_to_halves
from doccluster.kernels.mean_table import count_tail, replace_head, write_head, write_tail
from doccluster.kernels.simd.lanes import LINE, aligned_zeros

SMALL_TABLE = 64 * 2**20  # bytes up to which a table is kept dense: lists would only have to be made
REPLACING = 50  # what an entry that is replaced costs, in multiplications
HALVES_FROM = 100_000_000  # multiplications of a sweep from which a table in half precision is made as well
TAIL_COST = 32.0  # an entry of a tail list costs as much as this many cells of the dense head, measured


def table_width(n_lanes: int) -> int:
    """Return the lanes rounded up to whole cache lines."""
    return max(1, -(-n_lanes // LINE)) * LINE


class MeanTable:
    """Means by term: a dense head of `n_head` terms x lanes, lists for the others."""

    def __init__(self, means: Means, n_head: int) -> None:
        self.n_head = n_head
        self.means = means
        self._head = np.zeros((n_head, table_width(means.n_clusters)), np.float32)
        self._halves: npt.NDArray[np.uint16] | None = None
        write_head(means.arrays, np.arange(means.n_clusters), self._head)
        self._list_tail()

    def replace(self, means: Means, changed: npt.NDArray[np.bool_], *, documents: DocumentMatrix) -> None:
        """Lay out `means`, from which only the rows in `changed` differ."""
        old, self.means = self.means, means
        clusters = np.flatnonzero(changed)

        def one(chunk: npt.NDArray[np.int64]) -> None:
            replace_head(old.arrays, means.arrays, chunk, self._head)

        # a thread takes whole lines: neighbours write to other parts of the table
        cuts = np.flatnonzero(np.diff(clusters // LINE)) + 1
        n_entries = int(means.sizes[clusters].sum())
        documents.share(one, np.split(clusters, cuts), multiplications=REPLACING * n_entries)
        self._list_tail()

    def _list_tail(self) -> None:
        means = self.means
        self._tail_starts = np.zeros(means.n_columns - self.n_head + 1, np.int64)
        if self.n_head < means.n_columns:
            count_tail(means.rows.columns, means.starts, means.stops, self.n_head, self._tail_starts)
        n_entries = int(self._tail_starts[-1])
        self._tail_clusters, self._tail_values = np.empty(n_entries, np.int32), np.empty(n_entries, np.float32)
        if n_entries:
            write_tail(means.arrays, self.arrays)

    def halves(self, documents: DocumentMatrix, *, max_bytes: float) -> npt.NDArray[np.uint16] | None:
        """Return the head in half precision, for sweeps that read half as many bytes; None where it does not pay.

        It pays where a sweep is long. The bounds of its rounding hold for values that are not negative.
        """
        n_multiplications = documents.values.size * self._head.shape[1]
        if n_multiplications <= HALVES_FROM or self._head.nbytes // 2 > max_bytes or documents.is_signed:
            return None
        if self._halves is None:
            self._halves = aligned_zeros(self._head.shape, np.uint16)
        head, halves = self._head, self._halves

        def one(part: slice) -> None:
            round_to_halves(head[part], halves[part])

        documents.share(one, row_blocks(self.n_head, BLOCK_ROWS), multiplications=head.size)
        return halves

    @property
    def arrays(self) -> LaneTable:
        """The table as kernels take it."""
        return LaneTable(self._head, self._tail_starts, self._tail_clusters, self._tail_values, self.means.n_clusters)


def longest_head(n_columns: int, n_clusters: int, n_entries: int) -> int:
    """Return the most bytes that `best_head` can make of means with `n_entries` entries.

    Where the sum that it minimises is smallest, every last part of the head costs no more dense than listed; terms come
    in descending order of frequency, so the same holds of the whole head without the frequencies: at most `TAIL_COST`
    cells for each entry.
    """
    width = table_width(n_clusters)
    whole = 4 * width * n_columns
    return whole if whole <= SMALL_TABLE else min(whole, int(4 * TAIL_COST * n_entries))


def best_head(means: Means, frequencies: npt.NDArray[np.int64], *, max_bytes: float = float("inf")) -> int:
    """Return how many of the commonest terms are cheapest kept dense, within `max_bytes`.

    A visit of a dense term costs one unit per lane, of a listed term `TAIL_COST` per entry; terms are visited
    `frequencies` times in a sweep over the documents.
    """
    width = table_width(means.n_clusters)
    edges = np.empty(means.n_columns + 1, np.int64)
    count_tail(means.rows.columns, means.starts, means.stops, 0, edges)
    postings = np.diff(edges)
    cost = np.concatenate([[0.0], np.cumsum(frequencies * (width - TAIL_COST * postings))])
    if 4 * width * means.n_columns <= min(max_bytes, SMALL_TABLE):
        return means.n_columns
    limit = means.n_columns if max_bytes == float("inf") else min(means.n_columns, int(max_bytes // (4 * width)))
    return int(np.argmin(cost[: limit + 1]))
