"""Means laid out for the sweep, and what changed in them laid out the same way.

The table is hybrid: the commonest terms have a dense row each, the others a list of (lane, value). Rare terms occur in
few means, so the lists save most of the memory of a dense table and, for many clusters, most of the time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.clustering.k_means.means import Means
from doccluster.kernels.mean_table import (
    count_tail,
    note_tail_changes,
    place_tail,
    replace_head,
    write_head,
    write_tail,
)
from doccluster.kernels.simd.lanes import LINE

SMALL_TABLE = 64 * 2**20  # bytes up to which a table is kept dense: lists would only have to be made
REPLACING = 50  # what an entry that is replaced costs, in multiplications
TAIL_COST = 32.0  # an entry of a tail list costs as much as this many cells of the dense head, measured

Share = Callable[..., object]
Table = tuple[
    npt.NDArray[np.float32],
    npt.NDArray[np.int64],
    npt.NDArray[np.int32],
    npt.NDArray[np.float32],
    npt.NDArray[np.int32],
]


def table_width(n_lanes: int) -> int:
    """Return the lanes rounded up to whole cache lines."""
    return max(1, -(-n_lanes // LINE)) * LINE


@dataclass(frozen=True, eq=False)
class Places:
    """Where the changes of moved clusters are recorded: in the place of their group, or in one of their own.

    Attributes
    ----------
    of_cluster : int32 array of shape (n_clusters,), -1 for clusters that did not move
    is_own : bool array of shape (n_clusters,)
    lane : int32 array of shape (n_places,)
        The lane of the cluster whose own place it is, else -1.
    of_lane : int32 array of shape (n_lanes,)
        The own place of the cluster of each lane, else -1.
    """

    of_cluster: npt.NDArray[np.int32]
    is_own: npt.NDArray[np.bool_]
    lane: npt.NDArray[np.int32]
    of_lane: npt.NDArray[np.int32]


class MeanTable:
    """Means by term: a dense head of `n_head` terms x lanes, lists for the others."""

    def __init__(self, means: Means, n_head: int, lanes: npt.NDArray[np.int32] | None = None) -> None:
        self.n_head = n_head
        self.means = means
        self.lanes = np.arange(means.n_clusters, dtype=np.int32) if lanes is None else lanes
        self._by_lane = np.argsort(self.lanes).astype(np.int32)
        self._head = np.zeros((n_head, table_width(means.n_clusters)), np.float32)
        write_head(means.arrays, self._by_lane, self.lanes, self._head)
        self._list_tail()

    def replace(
        self,
        means: Means,
        changed: npt.NDArray[np.bool_],
        places: Places,
        *,
        signed: bool,
        share: Share,
        change_bytes: float = float("inf"),
    ) -> Table:
        """Lay out `means`, from which only the rows in `changed` differ, and return the table of changes.

        `share` calls a function with each of some pieces of the work, given how much it is in multiplications.
        Its dense part holds all terms, unless `change_bytes` allows fewer; changes are spread over more terms than
        means are, so that lists would be long.
        """
        old, self.means = self.means, means
        clusters = self._by_lane[changed[self._by_lane]]
        width = table_width(places.lane.size)
        n_dense = means.n_columns if places.lane.size else self.n_head
        n_dense = max(self.n_head, min(n_dense, int(min(change_bytes, 2**62) // (4 * width))))
        rises = np.zeros((n_dense, width), np.float32)

        def one(chunk: npt.NDArray[np.int32]) -> None:
            replace_head(old.arrays, means.arrays, chunk, self.lanes, self._head, *_owners(places), signed, rises)

        # a thread takes whole lines: neighbours write to other parts of the table
        cuts = np.flatnonzero(np.diff(self.lanes[clusters] // LINE)) + 1
        n_entries = int(means.sizes[clusters].sum())
        share(one, np.split(clusters, cuts), multiplications=REPLACING * n_entries)
        changes = self._tail_changes(old, means, clusters, places, rises, signed=signed)
        self._list_tail()
        lanes = np.arange(places.lane.size, dtype=np.int32)
        return rises, *changes, lanes

    def _tail_changes(
        self,
        old: Means,
        means: Means,
        clusters: npt.NDArray[np.int32],
        places: Places,
        rises: npt.NDArray[np.float32],
        *,
        signed: bool,
    ) -> tuple[Any, Any, Any]:
        """Note the changes of the tail terms in `rises` as far as it goes, and return lists for the others."""
        starts = np.zeros(means.n_columns - rises.shape[0] + 1, np.int64)
        if self.n_head == means.n_columns or not places.lane.size:
            return starts, np.empty(0, np.int32), np.empty(0, np.float32)
        capacity = 0
        if rises.shape[0] < means.n_columns:
            capacity = int(means.sizes[clusters].sum())
            capacity += int(old.sizes[clusters].sum()) if signed else 0
        columns, lanes, values = (np.empty(capacity, kind) for kind in (np.int32, np.int32, np.float32))
        written = note_tail_changes(
            old.arrays,
            means.arrays,
            clusters,
            (self.n_head, means.n_columns),
            _owners(places),
            signed,
            rises,
            (columns, lanes, values),
        )
        count_tail(columns, np.zeros(1, np.int64), np.array([written]), rises.shape[0], starts)
        sorted_lanes, sorted_values = np.empty(written, np.int32), np.empty(written, np.float32)
        entries = (columns[:written], lanes[:written], values[:written])
        place_tail(*entries, rises.shape[0], starts, sorted_lanes, sorted_values)
        return starts, sorted_lanes, sorted_values

    def _list_tail(self) -> None:
        means = self.means
        self._tail_starts = np.zeros(means.n_columns - self.n_head + 1, np.int64)
        if self.n_head < means.n_columns:
            count_tail(means.rows.columns, means.starts, means.stops, self.n_head, self._tail_starts)
        n_entries = int(self._tail_starts[-1])
        self._tail_lanes, self._tail_values = np.empty(n_entries, np.int32), np.empty(n_entries, np.float32)
        if n_entries:
            tail = (self._tail_starts, self._tail_lanes, self._tail_values)
            write_tail(means.arrays, self.n_head, self._by_lane, self.lanes, *tail)

    @property
    def arrays(self) -> Table:
        """The table as kernels take it: head; starts, lanes and values of the tail; the lane of each cluster."""
        return self._head, self._tail_starts, self._tail_lanes, self._tail_values, self.lanes


def _owners(places: Places) -> tuple[Any, Any]:
    return places.of_cluster, places.is_own


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
