"""Labels under means that change a little from one iteration to the next: whole sweeps, or only what may have changed.

Every iteration first tries pruning on a sample of the blocks and counts the cache lines it reads; the cheaper way is
taken for the rest. Either way the labels are the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.clustering.document_matrix import DocumentMatrix
from doccluster.clustering.lanes import group_width, lanes_by_likeness
from doccluster.clustering.mean_table import MeanTable, Places, Table, best_head, document_frequencies, table_width
from doccluster.clustering.means import Means
from doccluster.kernels.assignment import HIGHEST, LOWEST, assign_rows
from doccluster.kernels.cache_lines import LINE
from doccluster.kernels.pruning import assign_pruned

CHORD_SLACK = 1.00002  # rows are unit within 1e-5
CHORD_ROUNDING = 3e-7  # of adding a float32 movement to a float32 bound
SAMPLE_EVERY = 16  # one block in so many tells what pruning would cost
RANDOM_LINE = 2.0  # reading one line here and there, beside reading neighbours
ROW_LINES = 8.0  # what looking at a row costs at all
WORTH_IT = 0.9  # pruning must promise at least a tenth


class Assigner:
    """The nearest mean of each document, iteration after iteration."""

    def __init__(
        self, documents: DocumentMatrix, *, algorithm: str = "auto", table_bytes: float = float("inf")
    ) -> None:
        self._documents = documents
        self._prunes = algorithm != "lloyd"
        self._always = algorithm == "pruned"
        self._table_bytes = table_bytes
        self._table: MeanTable | None = None
        self._labels = np.zeros(documents.n_documents, np.int32)
        self._lower = np.empty(documents.n_documents, np.float32)
        self._upper = np.empty((documents.n_documents, 0), np.float32)
        self._bounds_hold = False
        self._calls = 0
        self._wait = 0
        self._backoff = 1
        self.lines_read: list[float] = []

    def assign(
        self, means: Means, changed: npt.NDArray[np.bool_], movements: npt.NDArray[np.float64] | None = None
    ) -> npt.NDArray[np.int32]:
        """Return the nearest mean of each document; `movements` are chords since the last call, for `changed` means."""
        self._calls += 1
        if self._table is None or movements is None or (self._calls <= 3 and not self._bounds_hold):
            self._lay_out(means)
            self._sweep_all(self._documents.blocks())
        else:
            self._follow(self._table, means, changed, movements)
        return self._labels.copy()

    def forget(self, rows: npt.NDArray[np.int64], labels: npt.NDArray[np.int32]) -> None:
        """Take over labels that were changed from outside for these rows."""
        self._labels[rows] = labels[rows]
        self._lower[rows] = LOWEST
        self._upper[rows] = HIGHEST

    def _lay_out(self, means: Means) -> None:
        """Build the table; from the second time on, with alike clusters side by side and room for bounds."""
        self._table = None  # the old table goes before the new one comes
        lanes = None
        if self._prunes and self._calls > 1:
            self._width = group_width(means.n_clusters)
            lanes = lanes_by_likeness(means, self._width)
            n_groups = -(-means.n_clusters // self._width)
            if self._upper.shape[1] != n_groups:
                self._upper = np.empty((self._documents.n_documents, n_groups), np.float32)
        n_head = best_head(means, document_frequencies(self._documents), max_bytes=self._table_bytes)
        self._table = MeanTable(means, n_head, lanes)
        self._bounds_hold = lanes is not None

    def _sweep_all(self, blocks: list[slice]) -> None:
        assert self._table is not None
        table, width = self._table.arrays, getattr(self, "_width", LINE)

        def one(block: slice) -> None:
            assign_rows(
                self._documents.rows(block), table, width, self._labels[block], self._lower[block], self._upper[block]
            )

        self._documents.each_block(one, per_entry=table[0].shape[1], blocks=blocks)

    def _follow(
        self, table: MeanTable, means: Means, changed: npt.NDArray[np.bool_], movements: npt.NDArray[np.float64]
    ) -> None:
        """Bring the table to `means` and the labels with it."""
        blocks = self._documents.blocks()
        places = self._places(changed, movements, table.lanes)
        n_threads = self._documents.threads_for(means.values.size * 10)
        changes = table.replace(means, changed, places, signed=self._documents.is_signed, n_threads=n_threads)
        if not self._bounds_hold or self._wait > 0:
            self._wait -= 1
            self._sweep_all(blocks)
            return
        chords = self._chords(changed, movements, places, table.lanes)
        sample = blocks[::SAMPLE_EVERY] if not self._always else blocks
        rest = [block for number, block in enumerate(blocks) if number % SAMPLE_EVERY] if not self._always else []
        if self._prune(sample, table.arrays, changes, places, chords) < WORTH_IT:
            self._backoff = 1
            self._prune(rest, table.arrays, changes, places, chords)
        else:
            self._wait, self._backoff = self._backoff, min(8, 2 * self._backoff)
            self._sweep_all(rest)

    def _places(
        self, changed: npt.NDArray[np.bool_], movements: npt.NDArray[np.float64], lanes: npt.NDArray[np.int32]
    ) -> Places:
        """Give each group with moved clusters a place; clusters that moved alone or farthest have their own."""
        k = changed.size
        group_of = lanes // getattr(self, "_width", LINE)
        moved = np.flatnonzero(changed)
        per_group = np.bincount(group_of[moved], minlength=int(group_of.max()) + 1)
        is_own = np.zeros(k, np.bool_)
        if not self._documents.is_signed:
            is_own[moved] = per_group[group_of[moved]] == 1
            spare = -int(np.count_nonzero(per_group)) % LINE
            sharing = moved[~is_own[moved]]
            is_own[sharing[np.argsort(-movements[sharing], kind="stable")[:spare]]] = True
        shared = np.unique(group_of[moved[~is_own[moved]]])
        own = moved[is_own[moved]]
        of_cluster = np.full(k, -1, np.int32)
        of_cluster[moved] = np.searchsorted(shared, group_of[moved])
        of_cluster[own] = shared.size + np.arange(own.size)
        return Places(
            of_cluster,
            is_own,
            np.concatenate([shared, group_of[own]]).astype(np.int32),
            np.concatenate([np.full(shared.size, -1), lanes[own]]).astype(np.int32),
        )

    def _chords(
        self,
        changed: npt.NDArray[np.bool_],
        movements: npt.NDArray[np.float64],
        places: Places,
        lanes: npt.NDArray[np.int32],
    ) -> tuple[Any, Any, Any]:
        """Return the largest movement of each group, of its clusters without own place, and of each lane, upwards."""
        n_groups = self._upper.shape[1]
        lane_chord = np.zeros(table_width(lanes.size), np.float32)
        moved = np.flatnonzero(changed)
        lane_chord[lanes[moved]] = movements[moved] * CHORD_SLACK + CHORD_ROUNDING
        group_chord, rest_chord = np.zeros(n_groups, np.float32), np.zeros(n_groups, np.float32)
        np.maximum.at(group_chord, lanes // self._width, lane_chord[lanes])
        rest = ~places.is_own
        np.maximum.at(rest_chord, lanes[rest] // self._width, lane_chord[lanes[rest]])
        return group_chord, rest_chord, lane_chord

    def _prune(
        self, blocks: list[slice], table: Table, changes: Table, places: Places, chords: tuple[Any, Any, Any]
    ) -> float:
        """Assign some blocks with pruning; return the cache lines read as a share of those of whole sweeps."""
        most_groups = max(1, self._upper.shape[1] // 3)

        def one(block: slice) -> npt.NDArray[np.int64]:
            work = np.zeros(4, np.int64)
            assign_pruned(
                self._documents.rows(block),
                self._documents.magnitudes,
                table,
                changes,
                (places.group, places.lane),
                chords,
                self._width,
                most_groups,
                self._labels[block],
                self._lower[block],
                self._upper[block],
                work,
            )
            return work

        results = self._documents.each_block(one, per_entry=table[0].shape[1] // 4, blocks=blocks)
        work = np.sum(results, axis=0) if results else np.zeros(4)
        n_rows = sum(block.stop - block.start for block in blocks)
        entries = max(1.0, self._documents.values.size / self._documents.n_documents)
        line = entries * LINE / LINE
        whole = table[0].shape[1] / LINE * line + ROW_LINES
        read = (
            n_rows * ROW_LINES / 4
            + work[0] * (changes[0].shape[1] / LINE * line + ROW_LINES)
            + work[1] * (RANDOM_LINE * self._width / LINE * line + ROW_LINES)
            + (work[2] + 3 * work[3]) * whole
        )
        share = float(read / max(1.0, n_rows * whole))
        self.lines_read.append(share)
        return share
