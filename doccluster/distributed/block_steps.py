"""What is done with one block in an iteration: label its documents, and say what moved, as exact sums.

The labels of the iteration before lie beside the block, so whichever worker gets it goes on from there. What only saves
time (renumbered rows, bounds) is kept in the memory of the worker that had the block last, and made again elsewhere.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.base.blocks import open_array, write_array
from doccluster.clustering.k_means.assign import place_documents
from doccluster.clustering.k_means.sparse_means import SparseMeans
from doccluster.clustering.k_means.sweep import NearestCentroids
from doccluster.clustering.k_means.term_places import TermPlaces
from doccluster.clustering.k_means.unit_documents import unit_documents
from doccluster.distributed.cluster_table import TableVersion
from doccluster.distributed.matrix_block import MatrixBlock
from doccluster.geometry.sums import ExactSums, joined, sum_block

Labels = npt.NDArray[np.int32]
Integers = npt.NDArray[np.int64]

KEPT_VERSIONS = 2  # of labels and tables: those of an iteration, and those before, for a worker that does it again


@dataclass(frozen=True, eq=False)
class LabelMoves:
    """What an iteration changed in a block.

    `n_members`, `n_usable` of shape (n_clusters,): how many documents each cluster now has in the block, and how many
    of them have terms.
    """

    sums: ExactSums  # of those that joined less those that left each cluster
    n_members: Integers
    n_usable: Integers
    n_moved: int  # how many documents have another label than before


def assign_block(block: MatrixBlock, version: TableVersion, keep_bytes: int) -> LabelMoves:
    """Label the documents of a block by the table of an iteration, and return what moved.

    `keep_bytes` is how much memory this process may use for what saves time in the next iteration.
    """
    labels = _KEPT.assign(block, version, keep_bytes)
    write_array(labels_path(block, version), labels)
    labels_path(block, version.at(version.number - KEPT_VERSIONS)).unlink(missing_ok=True)
    return _what_moved(block, version, labels)


def take_labels(block: MatrixBlock, version: TableVersion, labels: Labels) -> LabelMoves:
    """Give a block the labels that it had in a run before, of those of all documents, and return its sums."""
    block_labels = np.array(labels[block.places], np.int32)
    write_array(labels_path(block, version), block_labels)
    return _what_moved(block, version, block_labels)


def relabel(block: MatrixBlock, version: TableVersion, places: Integers, clusters: Labels) -> LabelMoves:
    """Give documents at some places of the collection other labels, and return what moved, these included."""
    labels = block_labels(block, version)
    here = (places >= block.first) & (places < block.places.stop)
    if here.any():
        rows = places[here] - block.first
        labels[rows] = clusters[here]
        write_array(labels_path(block, version), labels)
        _KEPT.forget(block, version, rows, labels)
    return _what_moved(block, version, labels)


def _what_moved(block: MatrixBlock, version: TableVersion, after: Labels) -> LabelMoves:
    """Return the moves of a block since the iteration before; all of it in the first."""
    rows, k = block.rows, version.n_clusters
    path = labels_path(block, version.at(version.number - 1))
    before = open_array(path) if path.is_file() else None
    moved = np.arange(block.n_rows) if before is None else np.flatnonzero(before != after)
    sums = sum_block(rows, moved, after, k)
    if before is not None and moved.size:
        leaving = sum_block(rows, moved, before, k)
        sums += -leaving
    n_usable = np.bincount(after[has_terms(block)], minlength=k)
    return LabelMoves(sums, np.bincount(after, minlength=k), n_usable, int(moved.size))


def moved_together(parts: list[LabelMoves]) -> LabelMoves:
    """Return the moves of several blocks, in whichever order; sums in whole numbers are the same bytes."""
    members, usable = (np.sum([getattr(part, name) for part in parts], axis=0) for name in ("n_members", "n_usable"))
    return LabelMoves(joined([part.sums for part in parts]), members, usable, sum(part.n_moved for part in parts))


def look_for_refills(block: MatrixBlock, version: TableVersion) -> tuple[npt.NDArray[Any], ...]:
    """Return for each document what `choose_refills` asks: exact cosine to its centroid, label, digest, usable."""
    labels = block_labels(block, version)
    cosines = place_documents(block.documents, version.read(), labels, n_threads=1)[1]
    return cosines, labels, unit_documents(block.documents)[0].digests, has_terms(block)


def block_labels(block: MatrixBlock, version: TableVersion) -> Labels:
    """Return the labels of a block after an iteration."""
    return np.array(open_array(labels_path(block, version)))


def labels_path(block: MatrixBlock, version: TableVersion) -> Path:
    """Return where the labels of a block after an iteration lie."""
    return Path(version.folder) / f"labels-{block.first}-{version.number}.npy"


@lru_cache(maxsize=4096)
def has_terms(block: MatrixBlock) -> npt.NDArray[np.bool_]:
    """Return whether each document of a block has a term."""
    return unit_documents(block.documents)[0].is_usable


class _Followed:
    """A block whose rows and bounds are in memory, at the version of the table that it was labelled by last."""

    def __init__(self, block: MatrixBlock, places: TermPlaces) -> None:
        self.nearest, self.number = NearestCentroids(unit_documents(block.documents)[0], places), -1

    @staticmethod
    def size(block: MatrixBlock) -> int:
        """Return about how many bytes it takes: the rows and the bounds."""
        return 8 * block.n_entries + 128 * block.n_rows

    def assign(self, version: TableVersion, centroids: SparseMeans) -> Labels:
        """Return the nearest centroid of each document, by the bounds where they are those of the iteration before."""
        follows = self.number >= 0 and self.number == version.number - 1
        self.number = version.number
        self.nearest.search(centroids, version.movements if follows else None)
        return self.nearest.labels.copy()


class _KeptBlocks:
    """The blocks that this process follows, and the last table of each fit, laid out for all of its blocks.

    Each block is worked on by one thread at a time.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._blocks: OrderedDict[tuple[str, str], tuple[_Followed, int]] = OrderedDict()
        self._tables: dict[str, tuple[int, SparseMeans]] = {}

    def assign(self, block: MatrixBlock, version: TableVersion, keep_bytes: int) -> Labels:
        """Return the labels of a block."""
        key, centroids = (block.folder, version.folder), self._table(version)
        with self._lock:
            followed, _ = self._blocks.pop(key, (None, 0))  # taken out while it is worked on
        size = _Followed.size(block)
        if followed is None and not self._has_room(size, keep_bytes):
            return _Followed(block, centroids.places).assign(version, centroids)
        followed = followed or _Followed(block, centroids.places)
        labels = followed.assign(version, centroids)
        with self._lock:
            self._blocks[key] = followed, size
        return labels

    def _table(self, version: TableVersion) -> SparseMeans:
        with self._lock:
            number, centroids = self._tables.get(version.folder, (-1, None))
            if centroids is None or number != version.number:
                places = (
                    TermPlaces.of(version.frequencies, version.n_clusters) if centroids is None else centroids.places
                )
                centroids = SparseMeans(version.read(), places)
                self._tables[version.folder] = version.number, centroids
            return centroids

    def forget(self, block: MatrixBlock, version: TableVersion, rows: Integers, labels: Labels) -> None:
        """Take over labels that were changed from outside for these rows."""
        with self._lock:
            followed, _ = self._blocks.get((block.folder, version.folder), (None, 0))
        if followed is not None:
            followed.nearest.labels[rows] = labels[rows]
            followed.nearest.forget(rows)

    def release(self, folder: str) -> None:
        """Let go what is kept of fits in a folder."""
        with self._lock:
            self._keep_only(lambda fit: not Path(fit).is_relative_to(folder))

    def _has_room(self, size: int, keep_bytes: int) -> bool:
        """Return whether another block fits, after what is kept of fits that are over was let go."""
        with self._lock:
            self._keep_only(lambda fit: Path(fit).is_dir())
            return sum(n_bytes for _, n_bytes in self._blocks.values()) + size <= keep_bytes

    def _keep_only(self, stays: Any) -> None:
        for key in [key for key in self._blocks if not stays(key[1])]:
            del self._blocks[key]
        for fit in [fit for fit in self._tables if not stays(fit)]:
            del self._tables[fit]


_KEPT = _KeptBlocks()


def release_fits(folder: str) -> None:
    """Let go what this process keeps of the fits in a folder: rows, bounds and tables."""
    _KEPT.release(folder)
    has_terms.cache_clear()
