"""The steps of Lloyd's iterations over blocks that stay where they are: on disk, or with the workers of a cluster.

The loop is that of one process (`clustering/k_means/lloyd.py`). The sums are exact (`geometry/sums.py`), so the bytes
do not depend on how the documents are divided into blocks.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.executors import Executor
from doccluster.clustering.k_means.lloyd import Snapshot, choose_refills
from doccluster.distributed.block_rows import BlockRows
from doccluster.distributed.block_steps import (
    KEPT_VERSIONS,
    LabelMoves,
    assign_block,
    block_labels,
    look_for_refills,
    moved_together,
    relabel,
    take_labels,
)
from doccluster.distributed.cluster_table import TableVersion, centroids_of, chords, row_products
from doccluster.distributed.matrix_block import MatrixBlock

Integers = npt.NDArray[np.int64]


class BlockMeans:
    """The table and the sums of one start, on this machine; the labels stay with the blocks.

    `rows`: all documents, and the order that decides among equally distant ones. `means`: float32 csr array of shape
    (n_clusters, n_columns), unit rows. `scratch`: a folder that all workers see. `keep_bytes`: for the rows and bounds
    of blocks, in each worker process; 0 reads them from disk in every iteration. `labels` of shape (n_documents,):
    those that the documents have by these means already.
    """

    def __init__(
        self,
        rows: BlockRows,
        means: Any,
        scratch: str | Path,
        *,
        keep_bytes: int = 2**30,
        labels: npt.NDArray[np.int32] | None = None,
    ) -> None:
        self._rows, self._keep_bytes = rows, keep_bytes
        self.executor: Executor = rows.executor
        self.blocks: Sequence[MatrixBlock] = rows.blocks
        self.folder = Path(scratch) / f"fit-{uuid.uuid4().hex[:12]}"
        self.folder.mkdir(parents=True)
        self.table = sparse.csr_array(means, dtype=np.float32)
        self.version = TableVersion(str(self.folder), 0, np.full(self.table.shape[0], np.inf), rows.frequencies)
        self.version.write(self.table)
        self._moved: LabelMoves | None = None  # all moves so far: sums, sizes
        self._labelling = self.version, self.table
        if labels is not None:
            self._take_in(self.executor.reduce(take_labels, moved_together, self.blocks, self.version, labels))

    def update(self) -> float:
        """Make the table that of the labels, and return the objective: the lengths of the sums."""
        assert self._moved is not None
        before = self.table
        self.table, lengths = centroids_of(self._moved.sums, self._moved.n_members, before)
        self.version = self.version.at(self.version.number + 1, chords(before, self.table))
        self.version.write(self.table)
        self.version.at(self.version.number - KEPT_VERSIONS).remove()
        return float(lengths.sum())

    def assign(self) -> tuple[int, int]:
        """Label all documents; return how many moved, and how many went to clusters that were empty."""
        moved = self.executor.reduce(assign_block, moved_together, self.blocks, self.version, self._keep_bytes)
        empty, refilled = np.flatnonzero(moved.n_usable == 0), 0
        if empty.size:
            moved, refilled = self._refill(empty, moved)
        self._take_in(moved)
        return moved.n_moved, refilled

    def _take_in(self, moved: LabelMoves) -> None:
        """Bring the sums to what the blocks are at."""
        sums = moved.sums if self._moved is None else self._moved.sums + moved.sums
        self._moved = LabelMoves(sums, moved.n_members, moved.n_usable, moved.n_moved)
        self._labelling = self.version, self.table

    def _refill(self, empty: Integers, moved: LabelMoves) -> tuple[LabelMoves, int]:
        """Return the moves once empty clusters have a document each, and how many got one."""
        parts = self.executor.map(look_for_refills, self.blocks, self.version)
        cosines, labels, digests, usable = map(np.concatenate, zip(*parts, strict=True))
        order = self._rows.order
        chosen = choose_refills(cosines[order], labels[order], digests[order], usable[order], empty)
        if not chosen:
            return moved, 0
        documents, clusters = order[list(chosen)], np.array(list(chosen.values()), np.int32)
        moves = self.executor.reduce(relabel, moved_together, self.blocks, self.version, documents, clusters)
        return moves, len(chosen)

    def labels(self) -> npt.NDArray[np.int32]:
        """Return the labels of all documents after the last whole iteration."""
        return np.concatenate(list(self.executor.map(block_labels, self.blocks, self._labelling[0])))

    def so_far(self, number: int) -> Callable[[], Snapshot]:
        """Return a function that makes a snapshot of the last whole iteration."""
        return lambda: self.finish(number, converged=False)

    def finish(self, number: int, *, converged: bool) -> Snapshot:
        """Return the start after its last whole iteration; clusters that could not be filled are dropped."""
        assert self._moved is not None
        filled, table = np.flatnonzero(self._moved.n_usable), self._labelling[1]
        if 0 < filled.size < table.shape[0]:
            others_refilled = BlockMeans(self._rows, table[filled], self.folder.parent, keep_bytes=self._keep_bytes)
            others_refilled.assign()
            return others_refilled.finish(number, converged=converged)
        objective = float(row_products(sparse.csr_array(self._moved.sums.by_cluster()), table).sum())
        return Snapshot(self.labels(), table, objective, number, converged)
