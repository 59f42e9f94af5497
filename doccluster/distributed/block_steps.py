"""What is done with one block in an iteration: label its documents, and say what moved, as exact sums.

The labels of the iteration before lie beside the block, so whichever worker gets it goes on from there. What only saves
time (renumbered rows, bounds) is kept in the memory of the worker that had the block last, and made again elsewhere.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.clustering.k_means.assign import nearest_centroids, place_documents
from doccluster.clustering.k_means.assigner import Assigner
from doccluster.clustering.k_means.document_matrix import DocumentMatrix, as_given, prepare
from doccluster.clustering.k_means.mean_table import lane_table
from doccluster.clustering.k_means.means import means_of_matrix
from doccluster.distributed.cluster_table import TableChange, current_table, negated, release_tables
from doccluster.distributed.matrix_block import MatrixBlock
from doccluster.geometry.rows import Rows
from doccluster.geometry.sums import ExactSums, joined, sum_block
from doccluster.scratch_files import open_array, write_array

Labels = npt.NDArray[np.int32]
Integers = npt.NDArray[np.int64]

KEPT_VERSIONS = 2  # of labels and tables: those of an iteration, and those before, for a worker that does it again


@dataclass(frozen=True, eq=False)
class Moved:
    """What an iteration changed in a block.

    Attributes
    ----------
    counts, terms, high, low
        `ExactSums` of those that joined less those that left each cluster, without its steps: they are those of unit
        rows.
    n_members, n_usable : int64 arrays of shape (n_clusters,)
        How many documents each cluster now has in the block, and how many of them have terms.
    n_moved : int
        How many documents have another label than before.
    """

    counts: Integers
    terms: npt.NDArray[np.int32]
    high: Integers
    low: Integers
    n_members: Integers
    n_usable: Integers
    n_moved: int

    def sums(self, n_columns: int) -> ExactSums:
        """Return the change of the sums."""
        return ExactSums(self.counts, self.terms, self.high, self.low, unit_steps(n_columns))

    @property
    def n_bytes(self) -> int:
        """The size of the message."""
        arrays = (self.counts, self.terms, self.high, self.low, self.n_members, self.n_usable)
        return sum(array.nbytes for array in arrays)


def unit_steps(n_columns: int) -> npt.NDArray[np.float64]:
    """Return the steps in which sums of unit rows count."""
    nothing = np.zeros(0)
    return Rows(sparse.csr_array((0, n_columns), dtype=np.float32), nothing, nothing, True).steps


def assign_block(block: MatrixBlock, change: TableChange, keep_bytes: int) -> Moved:
    """Label the documents of a block by the table of an iteration, and return what moved.

    Parameters
    ----------
    keep_bytes : int
        How much memory this process may use for what saves time in the next iteration.
    """
    labels = _KEPT.assign(block, change, keep_bytes)
    before = None if change.version == 0 else read_labels(block, change.folder, change.version - 1)
    write_array(labels_path(block, change.folder, change.version), labels)
    labels_path(block, change.folder, change.version - KEPT_VERSIONS).unlink(missing_ok=True)
    return what_moved(block, before, labels, change.n_clusters)


def what_moved(block: MatrixBlock, before: Labels | None, after: Labels, n_clusters: int) -> Moved:
    """Return the moves from one labelling of a block to another; all of it where there was none before."""
    rows = block.rows
    moved = np.arange(block.n_rows) if before is None else np.flatnonzero(before != after)
    sums = sum_block(rows, moved, after, n_clusters)
    if before is not None and moved.size:
        sums = joined([sums, negated(sum_block(rows, moved, before, n_clusters))])
    filled = as_given(block.documents)[0].is_usable
    return Moved(
        sums.counts,
        sums.terms,
        sums.high,
        sums.low,
        np.bincount(after, minlength=n_clusters),
        np.bincount(after[filled], minlength=n_clusters),
        int(moved.size),
    )


def moved_together(parts: list[Moved]) -> Moved:
    """Return the moves of several blocks, in whichever order; sums in whole numbers are the same bytes."""
    if len(parts) == 1:
        return parts[0]
    n_columns = 1 + max((int(part.terms.max()) for part in parts if part.terms.size), default=0)
    sums = joined([part.sums(n_columns) for part in parts])
    members, usable = (np.sum([getattr(part, name) for part in parts], axis=0) for name in ("n_members", "n_usable"))
    return Moved(sums.counts, sums.terms, sums.high, sums.low, members, usable, sum(part.n_moved for part in parts))


def look_for_refills(block: MatrixBlock, change: TableChange) -> tuple[npt.NDArray[Any], ...]:
    """Return for each document what `choose_refills` asks: exact cosine to its centroid, label, digest, usable."""
    labels = block_labels(block, change.folder, change.version)
    own = place_documents(block.documents, current_table(change), labels, n_threads=1)[1]
    documents, _ = as_given(block.documents)
    return own, labels, documents.digests, documents.is_usable


def relabel(block: MatrixBlock, change: TableChange, rows: dict[int, Integers], clusters: dict[int, Any]) -> Moved:
    """Give some documents other labels, and return what moved since the iteration before, these included.

    `rows` and `clusters` say by the first place of a block which of its documents go where.
    """
    labels = read_labels(block, change.folder, change.version).copy()
    if block.first in rows:
        labels[rows[block.first]] = clusters[block.first]
        write_array(labels_path(block, change.folder, change.version), labels)
        _KEPT.forget(block, change, rows[block.first], labels)
    before = None if change.version == 0 else read_labels(block, change.folder, change.version - 1)
    return what_moved(block, before, labels, change.n_clusters)


def take_labels(block: MatrixBlock, change: TableChange, labels: Labels) -> Moved:
    """Give a block the labels that it had in a run before, of those of all documents, and return its sums."""
    own = np.array(labels[block.places], np.int32)
    write_array(labels_path(block, change.folder, change.version), own)
    return what_moved(block, None, own, change.n_clusters)


def block_labels(block: MatrixBlock, folder: str, version: int) -> Labels:
    """Return the labels of a block after an iteration."""
    return np.array(read_labels(block, folder, version))


def labels_path(block: MatrixBlock, folder: str, version: int) -> Path:
    """Return where the labels of a block after an iteration lie."""
    return Path(folder) / f"labels-{block.first}-{version}.npy"


def read_labels(block: MatrixBlock, folder: str, version: int) -> Labels:
    """Return the labels of a block after an iteration, mapped from disk."""
    return open_array(labels_path(block, folder, version))


class _Followed:
    """A block whose rows and bounds are in memory, at the version of the table that it was labelled by last."""

    def __init__(self, block: MatrixBlock) -> None:
        self.documents: DocumentMatrix = prepare(block.documents)[0]
        self.assigner: Assigner | None = None
        self.version = -1

    @staticmethod
    def size(block: MatrixBlock, n_clusters: int) -> int:
        """Return about how many bytes it takes: the rows, the bounds, and the table of means."""
        return 8 * block.n_entries + 64 * block.n_rows + 8 * block.n_columns * max(16, n_clusters)

    def assign(self, change: TableChange) -> Labels:
        """Return the nearest centroid of each document, by the bounds where they are those of the iteration before."""
        means, chords = means_of_matrix(current_table(change), self.documents.original), None
        if self.assigner is None or self.version != change.version - 1:
            self.assigner = Assigner(self.documents, means)
        else:
            self.assigner.table = lane_table(means, self.assigner.n_head)
            chords = self.assigner.chords(change.movements, change.changed)
        self.version = change.version
        return self.assigner.assign(chords)


class _KeptBlocks:
    """The blocks that this process follows, the last used last; each is worked on by one thread at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._blocks: OrderedDict[tuple[str, str], _Followed] = OrderedDict()
        self._sizes: dict[tuple[str, str], int] = {}

    def assign(self, block: MatrixBlock, change: TableChange, keep_bytes: int) -> Labels:
        """Return the labels of a block."""
        key = (block.folder, change.folder)
        with self._lock:
            followed = self._blocks.pop(key, None)  # taken out while it is worked on
            self._sizes.pop(key, None)
        size = _Followed.size(block, change.n_clusters)
        if followed is None and not self._has_room(size, keep_bytes):
            return nearest_centroids(block.documents, current_table(change), n_threads=1)
        followed = followed or _Followed(block)
        labels = followed.assign(change)
        with self._lock:
            self._blocks[key], self._sizes[key] = followed, size
        return labels

    def forget(self, block: MatrixBlock, change: TableChange, rows: Integers, labels: Labels) -> None:
        """Take over labels that were changed from outside for these rows."""
        with self._lock:
            followed = self._blocks.get((block.folder, change.folder))
        if followed is not None and followed.assigner is not None:
            followed.assigner.forget(rows, labels)

    def release(self, folder: str) -> None:
        """Let the blocks of fits in a folder go."""
        with self._lock:
            for key in [key for key in self._blocks if Path(key[1]).is_relative_to(folder)]:
                del self._blocks[key], self._sizes[key]

    def _has_room(self, size: int, keep_bytes: int) -> bool:
        """Return whether another block fits, after blocks of fits that are over were let go."""
        with self._lock:
            for key in [key for key in self._blocks if not Path(key[1]).is_dir()]:
                del self._blocks[key], self._sizes[key]
            return sum(self._sizes.values()) + size <= keep_bytes


_KEPT = _KeptBlocks()


def release_fits(folder: str) -> None:
    """Let go what this process keeps of the fits in a folder: rows, bounds and tables."""
    _KEPT.release(folder)
    release_tables(folder)
