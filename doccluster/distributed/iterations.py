"""The iterations of spherical k-means over blocks that stay where they are, from centroids to a fixed point.

The steps, their order and the rules of ties, empty clusters and the end are those of `clustering/k_means/lloyd.py`; the
sums are exact (`geometry/sums.py`), so the bytes do not depend on how the documents are divided into blocks.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.progress import Progress, silent
from doccluster.base.short_repr import ShortRepr
from doccluster.clustering.k_means.lloyd import LAST_REFILLS
from doccluster.clustering.k_means.refill import choose_refills
from doccluster.distributed.block_steps import (
    KEPT_VERSIONS,
    Moved,
    assign_block,
    block_labels,
    look_for_refills,
    moved_together,
    relabel,
    take_labels,
    unit_steps,
)
from doccluster.distributed.cluster_table import (
    RunningSums,
    TableChange,
    chords,
    remove_table,
    row_products,
    write_table,
)
from doccluster.distributed.executors import Executor
from doccluster.distributed.matrix_block import MatrixBlock
from doccluster.geometry.sums import ExactSums

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class BlockFit(ShortRepr):
    """What the iterations ended at.

    Attributes
    ----------
    labels : int32 array of shape (n_documents,)
    centroids : float32 csr array of shape (n_clusters, n_columns), unit rows
    objective : float
        Sum of the cosines to the own centroid.
    n_iter : int
    converged : bool
        Whether no document would move any more.
    interrupted : bool
        Whether a person ended it before.
    bytes_per_iteration : tuple of (int, int)
        What each iteration sent to one worker, and what came back, all blocks together.
    """

    labels: npt.NDArray[np.int32]
    centroids: Any
    objective: float
    n_iter: int
    converged: bool
    interrupted: bool = False
    bytes_per_iteration: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, eq=False)
class Begun:
    """Where a start is after an iteration: its table, the labels by it, its objective, and how many are done."""

    table: Any
    labels: npt.NDArray[np.int32]
    objective: float
    number: int


@dataclass(frozen=True)
class Settings:
    """When the iterations end, and what the workers may keep in memory between them.

    Attributes
    ----------
    max_iter, tol
        As for `SphericalKMeans`.
    keep_bytes : int
        For the rows and bounds of blocks, in each worker process; 0 reads them from disk in every iteration.
    """

    max_iter: int = 300
    tol: float = 1e-4
    keep_bytes: int = 2**30


class Iterations:
    """One start: the table and the sums, on this machine; the labels stay with the blocks.

    Parameters
    ----------
    blocks : sequence of MatrixBlock
        All documents, each once.
    seeds : float32 csr array of shape (n_clusters, n_columns), unit rows
    scratch : path
        A folder that all workers see.
    order : int64 array of shape (n_documents,), optional
        The documents in the order that decides among equally distant ones; their own by default.
    """

    def __init__(
        self,
        executor: Executor,
        blocks: Sequence[MatrixBlock],
        seeds: Any,
        scratch: str | Path,
        *,
        settings: Settings | None = None,
        order: Integers | None = None,
        progress: Progress = silent,
    ) -> None:
        self.executor, self.blocks, self.progress = executor, list(blocks), progress
        self.settings = settings or Settings()
        self.order = order
        self.folder = Path(scratch) / f"fit-{uuid.uuid4().hex[:12]}"
        self.folder.mkdir(parents=True)
        self.table = sparse.csr_array(seeds, dtype=np.float32)
        self.bytes_moved: list[tuple[int, int]] = []
        nothing = np.empty(0, np.int64)
        k, n_columns = self.table.shape
        sums = ExactSums(np.zeros(k, np.int64), np.empty(0, np.int32), nothing, nothing, unit_steps(n_columns))
        self.running = RunningSums(sums, np.zeros(k, np.int64))
        every = np.arange(k)
        self.change = TableChange(str(self.folder), 0, every, self.table, np.full(k, np.inf))
        self.done = Done(-1, self.table, self.running, np.zeros(k, np.int64))
        write_table(self.change, self.table)

    def run(
        self, begun: Begun | None = None, *, observe: Callable[[Iterations, float, int], None] | None = None
    ) -> BlockFit:
        """Return where the iterations end, on Ctrl-C as far as they have come.

        Those that have `begun` go on from there, the seeds being its table. `observe` is shown each iteration that
        another follows, with the objective of its update and its number.

        Raises KeyboardInterrupt if a person ended it before the first update was labelled.
        """
        asked = self.settings
        objective, number, converged = -np.inf, 0, False
        try:
            if begun is None:
                self.assign()
            else:
                objective, number = begun.objective, begun.number
                self._take_in(self.executor.reduce(take_labels, moved_together, self.blocks, self.change, begun.labels))
            while not converged:
                before, objective = objective, self.update()
                n_moved, n_refilled = self.assign()
                number += 1
                self.progress("cluster", number, asked.max_iter)
                converged = n_moved == 0
                is_last = number >= asked.max_iter or (number > 1 and objective - before < asked.tol * objective)
                if is_last and (not n_refilled or number >= asked.max_iter + LAST_REFILLS):
                    break
                if observe and not converged:
                    observe(self, objective, number)
        except KeyboardInterrupt:
            if number == 0:
                raise
            return replace(self.finish(number, converged=False), interrupted=True)
        return self.finish(number, converged=converged)

    def update(self) -> float:
        """Make the table that of the labels, and return the objective: the lengths of the sums."""
        before = self.table
        self.table, lengths = self.running.centroids(before)
        movements = chords(before, self.table)
        clusters = np.flatnonzero(movements > 0)
        rows = self.table if clusters.size == movements.size else sparse.csr_array(self.table[clusters])
        self.change = replace(
            self.change, version=self.change.version + 1, clusters=clusters, rows=rows, movements=movements
        )
        write_table(self.change, self.table)
        remove_table(self.change, self.change.version - KEPT_VERSIONS)
        return float(lengths.sum())

    def assign(self) -> tuple[int, int]:
        """Label all documents; return how many moved, and how many went to clusters that were empty."""
        moved = self.executor.reduce(assign_block, moved_together, self.blocks, self.change, self.settings.keep_bytes)
        self.bytes_moved.append((self.change.n_bytes, moved.n_bytes))
        empty = np.flatnonzero(moved.n_usable == 0)
        refilled = 0
        if empty.size:
            moved, refilled = self._refill(empty, moved)
        self._take_in(moved)
        return moved.n_moved, refilled

    def _take_in(self, moved: Moved) -> None:
        """Bring the sums to what the blocks are at."""
        running = self.running.moved([moved.sums(self.table.shape[1])], moved.n_members)
        self.running, self.done = running, Done(self.change.version, self.table, running, moved.n_usable)

    def _refill(self, empty: Integers, moved: Moved) -> tuple[Moved, int]:
        """Return the moves once empty clusters have a document each, and how many got one."""
        found = self.executor.map(look_for_refills, self.blocks, self.change)
        own, labels, digests, usable = map(np.concatenate, zip(*found, strict=True))
        order = np.arange(own.size) if self.order is None else self.order
        chosen = choose_refills(own[order], labels[order], digests[order], usable[order], empty)
        if not chosen:
            return moved, 0
        places = order[list(chosen)]
        clusters = np.array(list(chosen.values()), np.int32)
        rows_of, clusters_of = {}, {}
        for block in self.blocks:
            here = (places >= block.first) & (places < block.first + block.n_rows)
            if here.any():
                rows_of[block.first], clusters_of[block.first] = places[here] - block.first, clusters[here]
        moved = self.executor.reduce(relabel, moved_together, self.blocks, self.change, rows_of, clusters_of)
        return moved, len(chosen)

    def labels(self) -> npt.NDArray[np.int32]:
        """Return the labels of all documents after the last whole iteration."""
        return np.concatenate(list(self.executor.map(block_labels, self.blocks, str(self.folder), self.done.version)))

    def finish(self, number: int, *, converged: bool) -> BlockFit:
        """Return the fit after its last whole iteration; clusters that could not be filled are dropped."""
        done = self.done
        filled = np.flatnonzero(done.n_usable)
        if 0 < filled.size < done.n_usable.size:
            kept = sparse.csr_array(done.table[filled])
            rest = Iterations(
                self.executor, self.blocks, kept, self.folder.parent, settings=self.settings, order=self.order
            )
            rest.assign()
            return rest.finish(number, converged=converged)
        return BlockFit(
            self.labels(),
            done.table,
            done.objective,
            number,
            converged,
            bytes_per_iteration=tuple(self.bytes_moved),
        )


@dataclass(frozen=True, eq=False)
class Done:
    """The last iteration that all blocks have finished."""

    version: int
    table: Any
    running: RunningSums
    n_usable: Integers

    @property
    def objective(self) -> float:
        """The sum of the cosines of documents to their centroids, from the sums and the table."""
        return float(row_products(self.running.sums.by_cluster(), self.table).sum())
