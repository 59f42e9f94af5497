"""Means laid out for the sweep, and what changed in them laid out the same way.

The table is hybrid: the commonest terms have a dense row each, the others a list of (lane, value). Rare terms occur in
few means, so the lists save most of the memory of a dense table and, for many clusters, most of the time.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from doccluster.blocks import row_blocks
from doccluster.clustering.k_means.document_matrix import BLOCK_ROWS, DocumentMatrix
from doccluster.clustering.k_means.means import Means
from doccluster.kernels.assignment import LaneTable
from doccluster.kernels.half_table import round_to_halves
from doccluster.kernels.hand_built import is_built_by_hand
from doccluster.kernels.mean_table import count_tail, place_tail, write_head, write_tail
from doccluster.kernels.pruning.changes import Places, Recorded, note_tail_changes, replace_head
from doccluster.kernels.simd.lanes import LINE, aligned_zeros

SMALL_TABLE = 64 * 2**20  # bytes up to which a table is kept dense: lists would only have to be made
REPLACING = 50  # what an entry that is replaced costs, in multiplications
HALVES_FROM = 100_000_000  # multiplications of a sweep from which a table in half precision is made as well
TAIL_COST = 32.0  # an entry of a tail list costs as much as this many cells of the dense head, measured


def table_width(n_lanes: int) -> int:
    """Return the lanes rounded up to whole cache lines."""
    return max(1, -(-n_lanes // LINE)) * LINE


def no_places(n_clusters: int) -> Places:
    """Return places that record nothing."""
    none = np.empty(0, np.int32)
    return Places(np.full(n_clusters, -1, np.int32), np.zeros(n_clusters, np.bool_), none, none)


class MeanTable:
    """Means by term: a dense head of `n_head` terms x lanes, lists for the others."""

    def __init__(self, means: Means, n_head: int, lanes: npt.NDArray[np.int32] | None = None) -> None:
        self.n_head = n_head
        self.means = means
        self.lanes = np.arange(means.n_clusters, dtype=np.int32) if lanes is None else lanes
        self._by_lane = np.argsort(self.lanes).astype(np.int32)
        self._head = np.zeros((n_head, table_width(means.n_clusters)), np.float32)
        self._halves: npt.NDArray[np.uint16] | None = None
        write_head(means.arrays, self._by_lane, self.lanes, self._head)
        self._list_tail()

    def replace(
        self,
        means: Means,
        changed: npt.NDArray[np.bool_],
        places: Places | None = None,
        *,
        documents: DocumentMatrix,
        change_bytes: float = float("inf"),
    ) -> LaneTable:
        """Lay out `means`, from which only the rows in `changed` differ, and return the table of changes.

        Without `places` no change is recorded. Changes have a sign only where no value of the `documents` is negative.
        The dense part of the table of changes holds all terms, unless `change_bytes` allows fewer; changes are spread
        over more terms than means are, so that lists would be long.
        """
        signed = documents.is_signed
        old, self.means = self.means, means
        places = no_places(means.n_clusters) if places is None else places
        clusters = self._by_lane[changed[self._by_lane]]
        width = table_width(places.lane.size)
        n_dense = means.n_columns if places.lane.size else self.n_head
        n_dense = max(self.n_head, min(n_dense, int(min(change_bytes, 2**62) // (4 * width))))
        rises, table = np.zeros((n_dense, width), np.float32), self.arrays

        def one(chunk: npt.NDArray[np.int32]) -> None:
            replace_head(old.arrays, means.arrays, chunk, table, places, signed, rises)

        # a thread takes whole lines: neighbours write to other parts of the table
        cuts = np.flatnonzero(np.diff(self.lanes[clusters] // LINE)) + 1
        n_entries = int(means.sizes[clusters].sum())
        documents.share(one, np.split(clusters, cuts), multiplications=REPLACING * n_entries)
        changes = self._tail_changes(old, clusters, places, rises, signed=signed)
        self._list_tail()
        return changes

    def _tail_changes(
        self,
        old: Means,
        clusters: npt.NDArray[np.int32],
        places: Places,
        rises: npt.NDArray[np.float32],
        *,
        signed: bool,
    ) -> LaneTable:
        """Note the changes of the tail terms in `rises` as far as it goes, and return it with lists for the others."""
        means, n_dense = self.means, rises.shape[0]
        starts, lanes = np.zeros(means.n_columns - n_dense + 1, np.int64), np.arange(places.lane.size, dtype=np.int32)
        if self.n_head == means.n_columns or not places.lane.size:
            return LaneTable(rises, starts, np.empty(0, np.int32), np.empty(0, np.float32), lanes)
        capacity = 0
        if n_dense < means.n_columns:
            capacity = int(means.sizes[clusters].sum())
            capacity += int(old.sizes[clusters].sum()) if signed else 0
        recorded = Recorded(rises, *(np.empty(capacity, kind) for kind in (np.int32, np.int32, np.float32)))
        written = note_tail_changes(old.arrays, means.arrays, clusters, self.arrays, places, signed, recorded)
        count_tail(recorded.columns, np.zeros(1, np.int64), np.array([written]), n_dense, starts)
        table = LaneTable(rises, starts, np.empty(written, np.int32), np.empty(written, np.float32), lanes)
        place_tail(*(listed[:written] for listed in recorded[1:]), table)
        return table

    def _list_tail(self) -> None:
        means = self.means
        self._tail_starts = np.zeros(means.n_columns - self.n_head + 1, np.int64)
        if self.n_head < means.n_columns:
            count_tail(means.rows.columns, means.starts, means.stops, self.n_head, self._tail_starts)
        n_entries = int(self._tail_starts[-1])
        self._tail_lanes, self._tail_values = np.empty(n_entries, np.int32), np.empty(n_entries, np.float32)
        if n_entries:
            write_tail(means.arrays, self._by_lane, self.arrays)

    def halves(self, documents: DocumentMatrix, *, max_bytes: float) -> npt.NDArray[np.uint16] | None:
        """Return the head in half precision, for sweeps that read half as many bytes; None where it does not pay.

        It pays where a sweep is long. The bounds of its rounding hold for values that are not negative.
        """
        n_multiplications = documents.values.size * self._head.shape[1]
        if n_multiplications <= HALVES_FROM or self._head.nbytes // 2 > max_bytes:
            return None
        if documents.is_signed or not is_built_by_hand():
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
        return LaneTable(self._head, self._tail_starts, self._tail_lanes, self._tail_values, self.lanes)


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
