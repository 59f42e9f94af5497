"""Labels under means that change a little from one iteration to the next: only what may have changed is looked at.

Every iteration first prunes a sample of the blocks and counts what it looks at; the cheaper way is taken for the rest.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from doccluster.clustering.k_means.document_matrix import DocumentMatrix
from doccluster.clustering.k_means.mean_table import MeanTable
from doccluster.clustering.k_means.means import Means
from doccluster.clustering.k_means.pruning.groups import MOST_GROUPS, group_width, lanes_by_likeness, padded_groups
from doccluster.clustering.k_means.pruning.movement import Movement, choose_places, measure_chords
from doccluster.clustering.k_means.pruning.worth import Worth, share_of_whole_sweeps
from doccluster.kernels.assignment import LOWEST, Bounds
from doccluster.kernels.pruning.sweep import assign_pruned
from doccluster.kernels.simd.lanes import LINE

Sweep = Callable[[list[slice]], None]


class Pruning:
    """A bound for each document and group of clusters, and the choice between carrying them and sweeping anew.

    Parameters
    ----------
    documents : DocumentMatrix
    always : bool
        Whether every iteration prunes, worth it or not.
    change_bytes : float
        The largest dense part of the table of changes.
    most_groups : int
        The most groups of clusters that have a bound for each document.
    """

    def __init__(
        self,
        documents: DocumentMatrix,
        always: bool = False,
        change_bytes: float = float("inf"),
        most_groups: int = MOST_GROUPS,
    ) -> None:
        self._documents = documents
        self._change_bytes, self._most_groups = change_bytes, most_groups
        self._worth = Worth(always)
        self.group_width = LINE

    def begin(self, means: Means) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
        """Return the lane of each cluster, alike ones side by side, and room for the upper bounds of all documents."""
        self.group_width = group_width(means.n_clusters, self._most_groups)
        n_groups = padded_groups(means.n_clusters, self.group_width)
        upper = np.full((self._documents.n_documents, n_groups), LOWEST, np.float32)
        return lanes_by_likeness(means, self.group_width), upper

    def follow(
        self,
        table: MeanTable,
        means: Means,
        changed: npt.NDArray[np.bool_],
        movements: npt.NDArray[np.float64],
        bounds: Bounds,
        sweep: Sweep,
    ) -> None:
        """Bring the table to `means`, and the labels and bounds with it.

        `movements` are the chords that the `changed` means moved; `sweep` finds labels and bounds of some blocks anew.
        """
        blocks = self._documents.blocks()
        if not self._worth.is_tried(movements):
            table.replace(means, changed, documents=self._documents)
            sweep(blocks)
            return
        movement = self._record(table, means, changed, movements)
        sample = self._worth.sample(len(blocks))
        cost = self._prune([blocks[number] for number in sample], table, movement, bounds)
        rest = [block for number, block in enumerate(blocks) if number not in sample]
        if self._worth.is_worth_it(cost, has_rest=bool(rest)):
            self._prune(rest, table, movement, bounds)
        else:
            sweep(rest)

    def _record(
        self, table: MeanTable, means: Means, changed: npt.NDArray[np.bool_], movements: npt.NDArray[np.float64]
    ) -> Movement:
        """Bring the table to `means` and return what is known of the move."""
        moved, documents = np.flatnonzero(changed), self._documents
        places = choose_places(moved, movements, table.lanes, self.group_width, only_shared=documents.is_signed)
        changes = table.replace(means, changed, places, documents=documents, change_bytes=self._change_bytes)
        return Movement(changes, places, measure_chords(moved, movements, places, table.lanes, self.group_width))

    def _prune(self, blocks: list[slice], table: MeanTable, movement: Movement, bounds: Bounds) -> float:
        """Follow the means in some blocks; return what that cost as a share of whole sweeps."""
        documents, arrays = self._documents, table.arrays
        n_lanes, n_places = arrays.head.shape[1], movement.changes.head.shape[1]

        def one(block: slice) -> tuple[int, int, int, int]:
            rows, own = documents.rows(block), bounds.part(block)
            work: tuple[int, int, int, int] = assign_pruned(
                rows, documents.magnitudes, arrays, movement, self.group_width, own
            )
            return work

        work = documents.each_block(one, per_entry=n_lanes / 4, blocks=blocks)
        n_rows = sum(block.stop - block.start for block in blocks)
        if not n_rows:
            return 0.0
        entries, widths = documents.values.size / documents.n_documents, (n_lanes, n_places, self.group_width)
        return share_of_whole_sweeps(np.sum(work, axis=0).tolist(), n_rows, entries, widths)
