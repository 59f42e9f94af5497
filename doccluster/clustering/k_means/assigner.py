"""The nearest mean of each document, iteration after iteration, under means that follow one another."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from doccluster.clustering.k_means.document_matrix import DocumentMatrix
from doccluster.clustering.k_means.mean_table import MeanTable, best_head
from doccluster.clustering.k_means.means import Means
from doccluster.clustering.k_means.movement import chords_of, group_width, padded_groups
from doccluster.kernels.assignment import LOWEST, Bounds, assign_rows
from doccluster.kernels.bounds import Chords, rows_in_question
from doccluster.kernels.half_table import assign_by_halves
from doccluster.kernels.simd.lanes import LINE


class Assigner:
    """The nearest mean of each document, iteration after iteration.

    The first call finds a table for the seeds, the second lays out the means, now full, for all that follow; only then
    are documents skipped whose bounds tell that their label stays.

    Parameters
    ----------
    documents : DocumentMatrix
    most_groups : int
        The most groups of clusters that have a bound for each document; 0 sweeps all documents in every iteration.
    table_bytes, half_bytes : float
        The largest dense part of the table, and the largest table in half precision.
    """

    def __init__(
        self,
        documents: DocumentMatrix,
        most_groups: int = 0,
        *,
        table_bytes: float = float("inf"),
        half_bytes: float = float("inf"),
    ) -> None:
        n = documents.n_documents
        self._documents, self._most_groups = documents, most_groups
        self._table_bytes, self._half_bytes = table_bytes, half_bytes
        self._table: MeanTable | None = None
        self._bounds = Bounds(np.zeros(n, np.int32), np.empty(n, np.float32), np.empty((n, 0), np.float32))
        self._group_width = LINE
        self._calls = 0

    def assign(
        self, means: Means, changed: npt.NDArray[np.bool_], movements: npt.NDArray[np.float64] | None = None
    ) -> npt.NDArray[np.int32]:
        """Return the nearest mean of each document; `movements` are chords since the last call, for `changed` means."""
        self._calls += 1
        chords = None
        if self._table is None or movements is None or self._calls == 2:
            self._lay_out(means)
        else:
            self._table.replace(means, changed, documents=self._documents)
            n_groups = self._bounds.upper.shape[1]
            chords = chords_of(movements, changed, n_groups, self._group_width) if n_groups else None
        self._sweep(chords)
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
        group_of = np.arange(self._table.means.n_clusters, dtype=np.int32) // self._group_width
        return self._bounds.lower, self._bounds.upper[:, : group_of.max() + 1], group_of

    def _lay_out(self, means: Means) -> None:
        """Build the table; from the second time on with room for bounds."""
        self._table = None  # the old table goes before the new one comes
        if self._most_groups and self._calls > 1:
            self._group_width = group_width(means.n_clusters, self._most_groups)
            n_groups = padded_groups(means.n_clusters, self._group_width)
            upper = np.full((self._documents.n_documents, n_groups), LOWEST, np.float32)
            self._bounds = self._bounds._replace(upper=upper)
        n_head = best_head(means, self._documents.frequencies, max_bytes=self._table_bytes)
        self._table = MeanTable(means, n_head)

    def _sweep(self, chords: Chords | None) -> None:
        """Find labels and bounds of all documents, or of those whose label may have changed as the means moved."""
        assert self._table is not None
        table, width = self._table.arrays, self._group_width
        halves = self._table.halves(self._documents, max_bytes=self._half_bytes)

        def one(block: slice) -> None:
            rows, bounds = self._documents.rows(block), self._bounds.part(block)
            which = np.arange(block.stop - block.start) if chords is None else rows_in_question(chords, bounds)
            if halves is None:
                assign_rows(rows, table, which, width, bounds)
            else:
                assign_by_halves(rows, table, halves, which, width, bounds)

        self._documents.each_block(one, per_entry=table.head.shape[1])
