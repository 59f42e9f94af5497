"""Labels under means that change a little from one iteration to the next: whole sweeps, or only what may have changed.

Every iteration first tries pruning on a sample of the blocks and counts what it looks at; the cheaper way is taken for
the rest. Either way the labels are the same.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from doccluster.clustering.k_means.document_matrix import DocumentMatrix
from doccluster.clustering.k_means.lanes import MOST_GROUPS, group_width, lanes_by_likeness
from doccluster.clustering.k_means.mean_table import MeanTable, Places, Table, best_head
from doccluster.clustering.k_means.means import Means
from doccluster.clustering.k_means.movement import Chords, choose_places, measure_chords, no_places, padded_groups
from doccluster.kernels.assignment import HIGHEST, LOWEST, assign_rows
from doccluster.kernels.pruning import (
    CARRIED_ROW,
    CHANGES_LINE,
    CHANGES_ROW,
    GROUP_LINE,
    GROUP_ROW,
    WHOLE_LINE,
    WHOLE_ROW,
    assign_pruned,
)
from doccluster.kernels.simd.lanes import LINE

SAMPLE_EVERY = 16  # one block in so many tells what pruning would cost
WORTH_IT = 0.9  # pruning must promise at least a tenth
SURELY_WORTH_IT = 0.6  # after such a cost the next iteration does without a sample
TOO_FAR = 0.15  # while most means move farther than this, hardly any bound holds: no sample is spent on it
LONGEST_WAIT = 8  # iterations until pruning is tried again where it did not pay


class Assigner:
    """The nearest mean of each document, iteration after iteration.

    The first call finds a table for the seeds, the second lays out the means, now full, for all that follow; only with
    these does pruning begin.
    """

    def __init__(
        self,
        documents: DocumentMatrix,
        *,
        algorithm: str = "auto",
        table_bytes: float = float("inf"),
        change_bytes: float = float("inf"),
        most_groups: int = MOST_GROUPS,
    ) -> None:
        self._documents = documents
        self._prunes = algorithm != "lloyd" and most_groups > 0
        self._always = algorithm == "pruned"
        self._table_bytes = table_bytes
        self._change_bytes = change_bytes
        self._most_groups = most_groups
        self._table: MeanTable | None = None
        self._group_width = LINE
        self._labels = np.zeros(documents.n_documents, np.int32)
        self._lower = np.empty(documents.n_documents, np.float32)
        self._upper = np.empty((documents.n_documents, 0), np.float32)
        self._calls = 0
        self._last_cost = 1.0
        self._wait = 0
        self._next_wait = 1

    def assign(
        self, means: Means, changed: npt.NDArray[np.bool_], movements: npt.NDArray[np.float64] | None = None
    ) -> npt.NDArray[np.int32]:
        """Return the nearest mean of each document; `movements` are chords since the last call, for `changed` means."""
        self._calls += 1
        if self._table is None or movements is None or self._calls == 2:
            self._lay_out(means)
            self._sweep(self._documents.blocks())
        else:
            self._follow(self._table, means, changed, movements)
        return self._labels.copy()

    def forget(self, rows: npt.NDArray[np.int64], labels: npt.NDArray[np.int32]) -> None:
        """Take over labels that were changed from outside for these rows."""
        self._labels[rows] = labels[rows]
        self._lower[rows] = LOWEST
        self._upper[rows] = HIGHEST

    @property
    def bounds(self) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32], npt.NDArray[np.int32]]:
        """What is known of each document: a lower bound on the similarity to its own mean, upper bounds on those to the
        other means of each group (no columns before the second call), and the group of each cluster."""
        assert self._table is not None
        group_of = self._table.lanes // self._group_width
        return self._lower, self._upper[:, : group_of.max() + 1], group_of

    def _lay_out(self, means: Means) -> None:
        """Build the table; from the second time on with alike clusters side by side and room for bounds."""
        self._table = None  # the old table goes before the new one comes
        lanes = None
        if self._prunes and self._calls > 1:
            self._group_width = group_width(means.n_clusters, self._most_groups)
            lanes = lanes_by_likeness(means, self._group_width)
            n_groups = padded_groups(means.n_clusters, self._group_width)
            self._upper = np.full((self._documents.n_documents, n_groups), LOWEST, np.float32)
        n_head = best_head(means, self._documents.frequencies, max_bytes=self._table_bytes)
        self._table = MeanTable(means, n_head, lanes)

    def _sweep(self, blocks: list[slice]) -> None:
        """Find the labels of some blocks, and bounds if there is room for them, without regard to the past."""
        assert self._table is not None
        table = self._table.arrays

        def one(block: slice) -> None:
            assign_rows(
                self._documents.rows(block),
                table,
                np.arange(block.stop - block.start),
                self._group_width,
                self._labels[block],
                self._lower[block],
                self._upper[block],
            )

        self._documents.each_block(one, per_entry=table[0].shape[1], blocks=blocks)

    def _follow(
        self, table: MeanTable, means: Means, changed: npt.NDArray[np.bool_], movements: npt.NDArray[np.float64]
    ) -> None:
        """Bring the table to `means` and the labels with it."""
        blocks, documents = self._documents.blocks(), self._documents
        moved = np.flatnonzero(changed)
        prunes = self._upper.shape[1] > 0 and self._wait == 0
        prunes = prunes and (self._always or bool(np.median(movements[moved]) <= TOO_FAR))
        places = no_places(changed.size)
        if prunes:
            places = choose_places(moved, movements, table.lanes, self._group_width, only_shared=documents.is_signed)
        changes = table.replace(
            means,
            changed,
            places,
            signed=documents.is_signed,
            share=documents.share,
            change_bytes=self._change_bytes,
        )
        if not prunes:
            self._wait = max(0, self._wait - 1)
            self._sweep(blocks)
            return
        chords = measure_chords(moved, movements, places, table.lanes, self._group_width)
        all_at_once = self._always or self._last_cost < SURELY_WORTH_IT
        sample = set(range(0, len(blocks), 1 if all_at_once else SAMPLE_EVERY))
        cost = self._prune([blocks[number] for number in sorted(sample)], table.arrays, changes, places, chords)
        self._last_cost = cost
        rest = [block for number, block in enumerate(blocks) if number not in sample]
        if cost < WORTH_IT or not rest:
            self._next_wait = 1
            self._prune(rest, table.arrays, changes, places, chords)
        else:
            self._wait, self._next_wait = self._next_wait, min(LONGEST_WAIT, 2 * self._next_wait)
            self._sweep(rest)

    def _prune(self, blocks: list[slice], table: Table, changes: Table, places: Places, chords: Chords) -> float:
        """Follow the means in some blocks; return what that cost as a share of whole sweeps."""

        def one(block: slice) -> npt.NDArray[np.int64]:
            work = np.zeros(4, np.int64)
            assign_pruned(
                self._documents.rows(block),
                self._documents.magnitudes,
                table,
                changes,
                (places.lane, places.of_lane),
                (chords.of_group, chords.of_rest, chords.of_lane),
                self._group_width,
                self._labels[block],
                self._lower[block],
                self._upper[block],
                work,
            )
            return work

        work = self._documents.each_block(one, per_entry=table[0].shape[1] / 4, blocks=blocks)
        n_rows = sum(block.stop - block.start for block in blocks)
        return self._share_of_lines(np.sum(work, axis=0), n_rows, table, changes) if n_rows else 0.0

    def _share_of_lines(self, work: npt.NDArray[np.int64], n_rows: int, table: Table, changes: Table) -> float:
        """Return what pruning costs as a share of whole sweeps."""
        n_changes, n_groups, n_whole, n_exact = work.tolist()
        entries = self._documents.values.size / self._documents.n_documents
        whole = WHOLE_ROW + WHOLE_LINE * entries * table[0].shape[1] / LINE
        read = (
            n_rows * CARRIED_ROW
            + n_changes * (CHANGES_ROW + CHANGES_LINE * entries * changes[0].shape[1] / LINE)
            + n_groups * (GROUP_ROW + GROUP_LINE * entries * self._group_width / LINE)
            + (n_whole + 3 * n_exact) * whole
        )
        return float(read / (n_rows * whole))
