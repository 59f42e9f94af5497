"""Spherical k-means over blocks: several starts, the best kept, with what one process would return.

The loop is that of one process (`clustering/k_means/lloyd.py`), its steps are taken where the blocks are: on disk, or
with the workers of a cluster. The sums are exact (`geometry/sums.py`), so the bytes do not depend on how the documents
are divided into blocks. Seeds are drawn in the same order, by the same code as in one process; their rows are fetched
from the blocks as far as a draw looks at them.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import uuid
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.arrays import AnyArray, Array, CsrArray, Integers
from doccluster.base.blocks import library_threads
from doccluster.base.paths import finished_file, writing
from doccluster.base.place import FilePlace, added
from doccluster.base.plain_values import parse_size
from doccluster.base.progress import checked_progress
from doccluster.base.sparse_structure import document_frequencies
from doccluster.base.validation import as_generator, check_n_clusters
from doccluster.clustering.k_means.lloyd import BestStart, Limits, Snapshot, choose_refills
from doccluster.clustering.k_means.seeds import affordable_seeding, draw_starts
from doccluster.clustering.k_means.spherical import SphericalFit, SphericalParameters, best_fit
from doccluster.clustering.k_means.unit_documents import UnitDocuments
from doccluster.distributed.block_steps import (
    KEPT_VERSIONS,
    LabelMoves,
    MatrixBlock,
    TableVersion,
    assign_block,
    block_labels,
    centroids_of,
    chords,
    has_terms,
    look_for_refills,
    moved_together,
    relabel,
    release_fits,
    row_products,
    take_labels,
)
from doccluster.errors import Argument, InputError, NothingUsable

_DAMAGED = (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile)


@dataclass(frozen=True)
class Checkpoints:
    """Where checkpoints of one fit are written, and how often."""

    path: Path
    every: int  # iterations from one to the next; one is written at the end of each start too
    key: str = ""  # what stands for the documents and the options: a checkpoint of others is refused

    def save(self, generator: np.random.Generator, best: BestStart, begun: Snapshot | None = None) -> None:
        """Write how far a fit has come: the starts that are over, and the one under way with the generator's state.

        Raises InputError if it cannot be written.
        """
        snapshots = {"best": best.best, "begun": begun}
        record = {
            "key": self.key,
            "random": generator.bit_generator.state,
            "objectives": best.objectives,
            "n_labels": len(best.labels),
            **{
                name: snapshot and [snapshot.objective, snapshot.n_iter, snapshot.converged]
                for name, snapshot in snapshots.items()
            },
        }
        arrays: dict[str, Array] = {"told": np.array(json.dumps(record))}
        arrays |= {f"labels{number}": labels for number, labels in enumerate(best.labels)}
        for name, snapshot in snapshots.items():
            if snapshot is not None:
                arrays |= _packed(name, snapshot.means, snapshot.labels)
        with writing(self.path, problem="the checkpoint {} cannot be written ({})", then="make room there"):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with finished_file(self.path) as unfinished, unfinished.open("wb") as file:
                np.savez(file, allow_pickle=False, **arrays)

    def restore(self, generator: np.random.Generator, best: BestStart) -> Snapshot | None:
        """Bring a generator and the best start to the last checkpoint, if any; return the start under way there.

        It has the labels by its means, its last objective and the number of its iterations; None between two starts.
        """
        if not self.path.is_file():
            return None
        try:
            with self.path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
                record = json.loads(str(arrays["told"]))
                if record["key"] != self.key:
                    raise InputError(
                        f"the checkpoint {self.path} is of other documents, or of a run with other options",
                        remedy=("type the command again as it was, or give ", Argument("overwrite", True)),
                    )
                over, begun = (record[name] and _unpacked(name, arrays, *record[name]) for name in ("best", "begun"))
                generator.bit_generator.state = record["random"]
                best.best, best.objectives = over, list(map(float, record["objectives"]))
                best.labels = [arrays[f"labels{number}"] for number in range(record["n_labels"])]
                return begun
        except _DAMAGED as error:
            raise InputError(
                f"the checkpoint {self.path} is damaged ({error})",
                remedy=("begin again with ", Argument("overwrite", True)),
            ) from error


def _packed(name: str, table: CsrArray, labels: Array) -> dict[str, Array]:
    parts = {"data": table.data, "indices": table.indices, "starts": table.indptr, "shape": np.array(table.shape)}
    return {f"{name}_{part}": values for part, values in {**parts, "labels": labels}.items()}


def _unpacked(name: str, arrays: Mapping[str, AnyArray], objective: float, n_iter: int, converged: bool) -> Snapshot:
    parts = tuple(arrays[f"{name}_{part}"] for part in ("data", "indices", "starts"))
    means = sparse.csr_array(parts, shape=tuple(arrays[f"{name}_shape"].tolist()))
    return Snapshot(arrays[f"{name}_labels"], means, float(objective), int(n_iter), bool(converged))


class BlockRows:
    """The documents of all blocks, each once, in their order: a `SeedSource`."""

    def __init__(self, place: FilePlace, blocks: Sequence[MatrixBlock]) -> None:
        self.place, self.blocks = place, list(blocks)
        self.n_documents = sum(block.n_rows for block in blocks)
        self.n_entries = sum(block.n_entries for block in blocks)

    @cached_property
    def frequencies(self) -> Integers:
        """In how many documents each term is."""
        return self.place.reduce(block_frequencies, added, self.blocks)

    @property
    def n_terms(self) -> int:
        """The number of columns."""
        return int(self.frequencies.size)

    @cached_property
    def usable(self) -> Integers:
        """The documents with terms, ascending."""
        return np.flatnonzero(np.concatenate(list(self.place.map(has_terms, self.blocks))))

    def whole(self) -> UnitDocuments:
        """Return all rows."""
        return self.take(np.arange(self.n_documents))

    def take(self, places: Integers) -> UnitDocuments:
        """Return the rows at some places, as the iterations of one process would read them."""
        ascending = np.sort(places)
        parts = list(self.place.map(rows_at, self.blocks, ascending))
        rows = sparse.csr_array(sparse.vstack(parts, format="csr"))[np.searchsorted(ascending, places)]
        return UnitDocuments(sparse.csr_array(rows, dtype=np.float32), np.ones(places.size))


def rows_at(block: MatrixBlock, rows: Integers) -> CsrArray:
    """Return those rows of a block that are among places of the collection, ascending."""
    first, last = np.searchsorted(rows, [block.first, block.first + block.n_rows])
    return sparse.csr_array(block.matrix[rows[first:last] - block.first])


def block_frequencies(block: MatrixBlock) -> Integers:
    """Return in how many documents of a block each term is."""
    return document_frequencies(block.matrix)


class BlockMeans:
    """The table and the sums of one start, on this machine; the labels stay with the blocks.

    `means`: float32 csr unit rows. `keep_bytes`: for the rows and bounds of blocks, in each worker process; 0 for none.
    `labels`: those that the documents have by these means already.
    """

    def __init__(
        self,
        rows: BlockRows,
        means: CsrArray,
        folder: Path,
        *,
        keep_bytes: int = 2**30,
        labels: npt.NDArray[np.int32] | None = None,
    ) -> None:
        self._rows, self._keep_bytes = rows, keep_bytes
        self.place, self.blocks = rows.place, rows.blocks
        self.folder = folder / f"fit-{uuid.uuid4().hex[:12]}"
        self.folder.mkdir(parents=True)
        self.table = sparse.csr_array(means, dtype=np.float32)
        self.version = TableVersion(str(self.folder), 0, np.full(self.table.shape[0], np.inf), rows.frequencies)
        self.version.write(self.table)
        self._moved: LabelMoves | None = None  # all moves so far: sums, sizes
        self._labelling = self.version, self.table
        if labels is not None:
            self._take_in(self.place.reduce(take_labels, moved_together, self.blocks, self.version, labels))

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
        moved = self.place.reduce(assign_block, moved_together, self.blocks, self.version, self._keep_bytes)
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
        parts = self.place.map(look_for_refills, self.blocks, self.version)
        cosines, labels, digests, usable = map(np.concatenate, zip(*parts, strict=True))
        chosen = choose_refills(cosines, labels, digests, usable, empty)
        if not chosen:
            return moved, 0
        documents, clusters = np.array(list(chosen)), np.array(list(chosen.values()), np.int32)
        moves = self.place.reduce(relabel, moved_together, self.blocks, self.version, documents, clusters)
        return moves, len(chosen)

    def labels(self) -> npt.NDArray[np.int32]:
        """Return the labels of all documents after the last whole iteration."""
        return np.concatenate(list(self.place.map(block_labels, self.blocks, self._labelling[0])))

    def postpone_snapshot(self, number: int) -> Callable[[], Snapshot]:
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


KEPT_BYTES = 2**30
SEED_ENTRIES = 2**27  # of more (a gigabyte of rows) seeds are drawn from a random sample
SEED_BYTES = 32  # of memory for each entry of the rows that seeds are drawn from: rows, their index, and copies


def cluster_blocks(
    place: FilePlace,
    blocks: Sequence[MatrixBlock],
    parameters: SphericalParameters,
    *,
    keep_bytes: int = KEPT_BYTES,
    checkpoints: Checkpoints | None = None,
) -> SphericalFit:
    """Return the best of the starts of spherical k-means for documents in blocks.

    The labels are those of `spherical_k_means` for the same rows, seeds and parameters, for any blocks and place.
    (Where sums of the rows are exact in float64, as they are unless weights are very small, that holds to the byte;
    else a mean may differ in its last place.)

    Parameters
    ----------
    place : FilePlace
        A folder that all workers see, and threads of this process or what `connect` yields; what is written to the
        folder is removed at the end.
    blocks : sequence of MatrixBlock
        All documents, each once, in their order.
    parameters : SphericalParameters
        `refine`, `algorithm` and threads are those of one process and not used.
    keep_bytes : int
        How much memory each worker may use to keep rows and bounds between iterations.
    checkpoints : Checkpoints, optional
        Where to write how far the fit has come, and to go on from if something is there.

    Raises
    ------
    InputError
        If a parameter cannot be used, or a checkpoint is of another fit.
    NothingUsable
        If no document has a term.
    FitInterrupted
        On Ctrl-C, with the best so far.
    """
    rows = BlockRows(place, blocks)
    check_n_clusters(parameters.n_clusters, rows.n_documents)
    parameters.check()
    for name in ("refine", "size_penalty"):
        if value := getattr(parameters, name):
            problem = "moves single documents, which blocks do not"
            raise InputError(problem, argument=name, received=value, remedy="leave it out")
    if callable(parameters.init):
        raise InputError("cannot be a function over blocks", argument="init", expected="a word or centroids")
    if not rows.usable.size:
        raise NothingUsable("no document has a term", remedy="there is nothing to cluster")
    generator = as_generator(parameters.random_state)
    best = BestStart(Limits(parameters.max_iter, parameters.tol))
    current = None if checkpoints is None else checkpoints.restore(generator, best)
    n_done = len(best.objectives)
    folder = Path(tempfile.mkdtemp(prefix="clustering-", dir=place.folder))

    def starts() -> Iterator[BlockMeans]:
        seeds = draw_starts(
            rows,
            parameters.n_clusters,
            parameters.init,
            parameters.n_starts,
            generator,
            seed_documents=_seed_documents(rows, parameters),
        )
        for number in range(n_done, parameters.n_starts):
            if current is not None and number == n_done:
                start = BlockMeans(rows, current.means, folder, keep_bytes=keep_bytes, labels=current.labels)
            else:
                start = BlockMeans(rows, next(seeds), folder, keep_bytes=keep_bytes)
            yield start
            shutil.rmtree(start.folder, ignore_errors=True)
            if checkpoints is not None:
                checkpoints.save(generator, best)

    def save(steps: BlockMeans, number: int, objective: float) -> None:
        if checkpoints is not None and number and number % checkpoints.every == 0:
            checkpoints.save(generator, best, Snapshot(steps.labels(), steps.table, objective, number))

    how: dict[str, Any] = {"progress": checked_progress(parameters.progress), "observe": save}
    if current is not None:
        how["resume_from"] = current.n_iter, current.objective
    try:
        with library_threads(1, "blas"):  # blocks are what is done side by side
            return best_fit(best, starts(), rows.usable.size, parameters.n_clusters, **how)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        place.everywhere(release_fits, str(folder))


def _seed_documents(rows: BlockRows, parameters: SphericalParameters) -> int:
    """Return from how many documents k-means++ draws: those of one process, or as many as memory allows."""
    affordable, _ = affordable_seeding(rows.frequencies, rows.n_documents, parameters.n_clusters)
    max_entries = SEED_ENTRIES
    if parameters.max_memory is not None:
        max_entries = min(max_entries, parse_size(parameters.max_memory) // SEED_BYTES)
    return min(affordable, max(1, int(rows.n_documents * min(1.0, max_entries / max(1, rows.n_entries)))))
