"""The nearest mean of each document, iteration after iteration, under means that follow one another."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from doccluster.clustering.k_means.document_matrix import DocumentMatrix
from doccluster.clustering.k_means.mean_table import MeanTable, best_head
from doccluster.clustering.k_means.means import Means
from doccluster.clustering.k_means.pruning import Pruning
from doccluster.kernels.assignment import Bounds, assign_rows
from doccluster.kernels.half_table import assign_by_halves
from doccluster.kernels.simd.lanes import LINE


class Assigner:
    """The nearest mean of each document, iteration after iteration.

    The first call finds a table for the seeds, the second lays out the means, now full, for all that follow; only with
    these does pruning, if there is any, begin.
    """

    def __init__(
        self,
        documents: DocumentMatrix,
        pruning: Pruning | None = None,
        *,
        table_bytes: float = float("inf"),
        half_bytes: float = float("inf"),
    ) -> None:
        n = documents.n_documents
        self._documents, self._pruning = documents, pruning
        self._table_bytes, self._half_bytes = table_bytes, half_bytes
        self._table: MeanTable | None = None
        self._bounds = Bounds(np.zeros(n, np.int32), np.empty(n, np.float32), np.empty((n, 0), np.float32))
        self._calls = 0

    def assign(
        self, means: Means, changed: npt.NDArray[np.bool_], movements: npt.NDArray[np.float64] | None = None
    ) -> npt.NDArray[np.int32]:
        """Return the nearest mean of each document; `movements` are chords since the last call, for `changed` means."""
        self._calls += 1
        if self._table is None or movements is None or self._calls == 2:
            self._lay_out(means)
            self._sweep(self._documents.blocks())
        elif self._pruning is not None and self._bounds.upper.shape[1]:
            self._pruning.follow(self._table, means, changed, movements, self._bounds, self._sweep)
        else:
            self._table.replace(means, changed, documents=self._documents)
            self._sweep(self._documents.blocks())
        labels: npt.NDArray[np.int32] = self._bounds.labels.copy()
        return labels

    def forget(self, rows: npt.NDArray[np.int64], labels: npt.NDArray[np.int32]) -> None:
        """Take over labels that were changed from outside for these rows."""
        self._bounds.forget(rows, labels)

    @property
    def bounds(self) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32], npt.NDArray[np.int32]]:
        """What is known of each document: a lower bound on the similarity to its own mean, upper bounds on those to the
        other means of each group (no columns before the second call), and the group of each cluster."""
        assert self._table is not None
        group_of = self._table.lanes // self._group_width
        return self._bounds.lower, self._bounds.upper[:, : group_of.max() + 1], group_of

    @property
    def _group_width(self) -> int:
        return LINE if self._pruning is None else self._pruning.group_width

    def _lay_out(self, means: Means) -> None:
        """Build the table; from the second time on with alike clusters side by side and room for bounds."""
        self._table = None  # the old table goes before the new one comes
        lanes = None
        if self._pruning is not None and self._calls > 1:
            lanes, upper = self._pruning.begin(means)
            self._bounds = self._bounds._replace(upper=upper)
        n_head = best_head(means, self._documents.frequencies, max_bytes=self._table_bytes)
        self._table = MeanTable(means, n_head, lanes)

    def _sweep(self, blocks: list[slice]) -> None:
        """Find the labels of some blocks, and bounds if there is room for them, without regard to the past."""
        assert self._table is not None
        table, width = self._table.arrays, self._group_width

        halves = self._table.halves(self._documents, max_bytes=self._half_bytes)

        def one(block: slice) -> None:
            rows, bounds = self._documents.rows(block), self._bounds.part(block)
            which = np.arange(block.stop - block.start)
            if halves is None:
                assign_rows(rows, table, which, width, bounds)
            else:
                assign_by_halves(rows, table, halves, which, width, bounds)

        self._documents.each_block(one, per_entry=table.head.shape[1], blocks=blocks)
