"""What is done with one block in an iteration: label its documents, and say what moved, as exact sums.

The labels of the iteration before lie beside the block, so whichever worker gets it goes on from there. What only saves
time (renumbered rows, bounds) is kept in the memory of the worker that had the block last, and made again elsewhere.
The table of clusters holds unit centroids from exact sums, how far each moved, and where the workers find it.
"""

from __future__ import annotations

import shutil
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.arrays import AnyIntegers, Array, CsrArray, Flags, Floats, Integers, Matrix
from doccluster.base.blocks import entry_blocks, open_array, write_array, write_arrays
from doccluster.base.place import ArrayFile, CsrFiles, FilePlace, csr_over
from doccluster.base.sparse_structure import checked_csr
from doccluster.base.validation import compact_indices
from doccluster.clustering.k_means.assign import CANCELLED, SparseMeans, place_documents
from doccluster.clustering.k_means.sweep import NearestCentroids
from doccluster.clustering.k_means.term_places import TermPlaces
from doccluster.clustering.k_means.unit_documents import unit_documents
from doccluster.geometry.documents import Documents, Rows
from doccluster.geometry.sums import ExactSums, joined, sum_block

MIN_ENTRIES, MAX_ENTRIES = 2**17, 2**21  # of a block of a table: each worker gets one of those in between


@dataclass(frozen=True)
class MatrixBlock:
    """Consecutive documents of a collection, as unit rows.

    Attributes
    ----------
    table : CsrFiles or ArrayFile
        Where the rows lie, perhaps among others; every worker sees the same folder.
    start : int
        The place of its first row in the table.
    first : int
        The place of its first document in the collection.
    n_rows, n_columns, n_entries : int
    """

    table: CsrFiles | ArrayFile
    start: int
    first: int
    n_rows: int
    n_columns: int
    n_entries: int

    @property
    def matrix(self) -> CsrArray:
        """The unit rows, csr array of shape (n_rows, n_columns) over the files; dense ones with every column."""
        shape = self.n_rows, self.n_columns
        if isinstance(self.table, ArrayFile):
            columns = np.tile(np.arange(self.n_columns, dtype=np.int32), self.n_rows)
            return csr_over(self._dense.ravel(), columns, np.arange(self.n_rows + 1) * self.n_columns, shape)
        data, indices, whole_starts = self.table.arrays
        starts = whole_starts[self.start : self.start + self.n_rows + 1]
        here = slice(int(starts[0]), int(starts[-1]))
        return csr_over(data[here], indices[here], starts - starts[0], shape)

    @property
    def documents(self) -> Documents:
        """The rows as documents; they were checked before they were written."""
        return Documents(self.matrix)

    @property
    def rows(self) -> Rows:
        """The rows as they are summed: unit, none of them scaled again; dense where the table is."""
        scale = np.ones(self.n_rows)
        return Rows(self._dense if isinstance(self.table, ArrayFile) else self.matrix, scale, scale, True)

    @property
    def places(self) -> slice:
        """The places of its documents in the collection."""
        return slice(self.first, self.first + self.n_rows)

    @property
    def _dense(self) -> Array:
        assert isinstance(self.table, ArrayFile)  # who calls has looked
        return self.table.open()[self.start : self.start + self.n_rows]


def blocks_of_table(place: FilePlace, rows: Matrix) -> list[MatrixBlock]:
    """Return unit rows, dense or csr, as blocks; they are written to files of a place unless they lie there."""
    rows = place.keep(rows)
    table, (n_rows, width) = place.files_of(rows), rows.shape
    starts = np.arange(n_rows + 1) * width if isinstance(table, ArrayFile) else rows.indptr
    share = int(starts[-1]) // place.n_workers + 1
    return [
        MatrixBlock(
            table=table,
            start=block.start,
            first=block.start,
            n_rows=block.stop - block.start,
            n_columns=width,
            n_entries=int(starts[block.stop] - starts[block.start]),
        )
        for block in entry_blocks(starts, min(max(share, MIN_ENTRIES), MAX_ENTRIES))
    ]


def write_block(folder: str | Path, matrix: CsrArray, *, first: int = 0) -> MatrixBlock:
    """Return rows as a block, written to `folder` whole or not at all.

    Parameters
    ----------
    folder : path
        What is there already was written by the same call on a worker that ended, and stays.
    matrix : csr array of shape (n_rows, n_columns), float32, unit rows
    first : int
        The place of the first row in the collection.

    Raises
    ------
    InputError
        If the rows cannot be used, or there is no room, or no right to write.
    """
    matrix = checked_csr(matrix, name="matrix")[0]
    arrays = {
        "data.npy": matrix.data.astype(np.float32, copy=False),
        "indices.npy": matrix.indices.astype(np.int32, copy=False),
        "starts.npy": matrix.indptr.astype(np.int64, copy=False),
    }
    write_arrays(Path(folder), arrays)
    n_rows, n_columns = matrix.shape
    return MatrixBlock(CsrFiles(str(folder), n_columns), 0, first, n_rows, n_columns, int(matrix.indptr[-1]))


ENTRIES_AT_ONCE = 2**20


@dataclass(frozen=True, eq=False)
class TableVersion:
    """A version of the table, small enough to travel; the table itself lies in the scratch folder."""

    folder: str  # of the fit, and its name
    number: int  # 0 for the seeds
    # of shape (n_clusters,): the chord between the centroids before and now; 0 where nothing changed, infinite for the
    # seeds
    movements: Floats
    frequencies: Integers  # of shape (n_columns,): in how many documents each column is

    @property
    def n_clusters(self) -> int:
        """The number of clusters."""
        return int(self.movements.size)

    @property
    def path(self) -> Path:
        """The folder of the table."""
        return Path(self.folder) / f"table-{self.number}"

    def write(self, table: CsrArray) -> None:
        """Write the table, a csr array."""
        arrays = {"data.npy": table.data, "indices.npy": table.indices, "starts.npy": table.indptr.astype(np.int64)}
        write_arrays(self.path, arrays)

    def read(self) -> CsrArray:
        """Return the table, float32 csr array of shape (n_clusters, n_columns) over its files."""
        parts = tuple(open_array(self.path / f"{name}.npy") for name in ("data", "indices", "starts"))
        return sparse.csr_array(parts, shape=(self.n_clusters, self.frequencies.size))

    def remove(self) -> None:
        """Remove the table, if it is there."""
        shutil.rmtree(self.path, ignore_errors=True)

    def at(self, number: int, movements: Floats | None = None) -> TableVersion:
        """Return another version of the table of the same fit."""
        return replace(self, number=number, movements=self.movements if movements is None else movements)


def centroids_of(sums: ExactSums, n_members: Integers, before: CsrArray) -> tuple[CsrArray, Floats]:
    """Return unit centroids, float32 csr, and the length of each sum.

    A cluster whose members have no direction together (none, or they cancel out) keeps the row it had `before`.
    """
    by_cluster = sparse.csr_array(sums.by_cluster())
    lengths = row_lengths(by_cluster)
    is_known = lengths > CANCELLED * n_members
    directions = np.empty(by_cluster.data.size, np.float32)
    for rows, part in _pieces(by_cluster):
        divisors = np.repeat(np.where(is_known, lengths, 1.0)[rows], np.diff(by_cluster.indptr)[rows])
        directions[part] = by_cluster.data[part] / divisors
    rows = sparse.csr_array((directions, by_cluster.indices, by_cluster.indptr), by_cluster.shape)
    rows.eliminate_zeros()
    if not is_known.all():
        order = np.where(is_known, np.arange(is_known.size), is_known.size + np.arange(is_known.size))
        rows = sparse.csr_array(sparse.vstack([rows, before], format="csr")[order])
    return compact_indices(rows), lengths


def chords(before: CsrArray, after: CsrArray) -> Floats:
    """Return how far each centroid moved: the length of the difference of its rows."""
    parts = [
        row_lengths(sparse.csr_array(after[rows].astype(np.float64) - before[rows].astype(np.float64)))
        for rows, _ in _pieces(after)
    ]
    return np.concatenate(parts)


def row_lengths(matrix: CsrArray) -> Floats:
    """Return the length of each row of a csr array."""
    starts, squares = matrix.indptr, []
    for rows, part in _pieces(matrix):
        squares.append(_row_totals(starts[rows.start : rows.stop + 1], matrix.data[part] ** 2))
    return np.sqrt(np.concatenate(squares))


def row_products(sums: CsrArray, table: CsrArray) -> Floats:
    """Return the product of each row of a csr array of float64 with the same row of another."""
    pieces = []
    for rows, _ in _pieces(sums):
        products = sparse.csr_array(sums[rows].multiply(table[rows].astype(np.float64)))
        pieces.append(_row_totals(products.indptr, products.data))
    return np.concatenate(pieces)


def _row_totals(starts: AnyIntegers, values: Floats) -> Floats:
    """Return the sum of the values of each row, in their order."""
    rows = np.repeat(np.arange(starts.size - 1), np.diff(starts))
    return np.asarray(np.bincount(rows, weights=values, minlength=starts.size - 1), np.float64)


def _pieces(table: CsrArray) -> Iterator[tuple[slice, slice]]:
    """Yield consecutive rows of a table and where their entries are, a few at a time: arrays of its size are large."""
    for rows in entry_blocks(table.indptr, ENTRIES_AT_ONCE):
        yield rows, slice(int(table.indptr[rows.start]), int(table.indptr[rows.stop]))


Labels = npt.NDArray[np.int32]

KEPT_VERSIONS = 2  # of labels and tables: those of an iteration, and those before, for a worker that does it again


@dataclass(frozen=True, eq=False)
class LabelMoves:
    """What an iteration changed in a block."""

    sums: ExactSums  # of those that joined less those that left each cluster
    n_members: Integers  # of shape (n_clusters,): how many documents each cluster now has in the block
    n_usable: Integers  # and how many of them have terms
    n_moved: int  # how many documents have another label than before


def assign_block(block: MatrixBlock, version: TableVersion, keep_bytes: int) -> LabelMoves:
    """Label the documents of a block by the table of an iteration, and return what moved."""
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


def look_for_refills(block: MatrixBlock, version: TableVersion) -> tuple[Array, ...]:
    """Return for each document what `choose_refills` asks: exact cosine to its centroid, label, digest, usable."""
    labels = block_labels(block, version)
    cosines = place_documents(block.documents, version.read(), labels, n_threads=1)[1]
    return cosines, labels, unit_documents(block.documents).digests, has_terms(block)


def block_labels(block: MatrixBlock, version: TableVersion) -> Labels:
    """Return the labels of a block after an iteration."""
    return np.array(open_array(labels_path(block, version)))


def labels_path(block: MatrixBlock, version: TableVersion) -> Path:
    """Return where the labels of a block after an iteration lie."""
    return Path(version.folder) / f"labels-{block.first}-{version.number}.npy"


@lru_cache(maxsize=4096)
def has_terms(block: MatrixBlock) -> Flags:
    """Return whether each document of a block has a term."""
    return unit_documents(block.documents).is_usable


def kept_bytes(block: MatrixBlock) -> int:
    """Return about how many bytes the rows and the bounds of a block take."""
    return 8 * block.n_entries + 128 * block.n_rows


class _KeptBlock(NamedTuple):
    """A block whose rows and bounds are kept, in one thread at a time."""

    nearest: NearestCentroids
    number: int  # of the version of the table that it was labelled by last
    n_bytes: int  # that it takes, about


class _KeptBlocks:
    """The blocks that this process keeps, and the last table of each fit."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._blocks: OrderedDict[tuple[MatrixBlock, str], _KeptBlock] = OrderedDict()
        self._tables: dict[str, tuple[int, SparseMeans]] = {}

    def assign(self, block: MatrixBlock, version: TableVersion, keep_bytes: int) -> Labels:
        """Return the labels of a block, found by its bounds where they are those of the iteration before."""
        key, centroids = (block, version.folder), self._table(version)
        size = kept_bytes(block)
        with self._lock:
            kept = self._blocks.pop(key, None)  # taken out while it is worked on
        stays = kept is not None or self._has_room(size, keep_bytes)
        nearest = kept.nearest if kept else NearestCentroids(unit_documents(block.documents), centroids.places)
        follows = kept is not None and kept.number == version.number - 1
        nearest.search(centroids, version.movements if follows else None)
        if stays:
            with self._lock:
                self._blocks[key] = _KeptBlock(nearest, version.number, size)
        return nearest.labels.copy()

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
            kept = self._blocks.get((block, version.folder))
        if kept is not None:
            kept.nearest.labels[rows] = labels[rows]
            kept.nearest.forget(rows)

    def release(self, folder: str) -> None:
        """Let go what is kept of fits in a folder."""
        with self._lock:
            self._keep_only(lambda fit: not Path(fit).is_relative_to(folder))

    def _has_room(self, size: int, keep_bytes: int) -> bool:
        """Return whether another block fits, after what is kept of fits that are over was let go."""
        with self._lock:
            self._keep_only(lambda fit: Path(fit).is_dir())
            return sum(kept.n_bytes for kept in self._blocks.values()) + size <= keep_bytes

    def _keep_only(self, stays: Callable[[str], bool]) -> None:
        for key in [key for key in self._blocks if not stays(key[1])]:
            del self._blocks[key]
        for fit in [fit for fit in self._tables if not stays(fit)]:
            del self._tables[fit]


_KEPT = _KeptBlocks()


def release_fits(folder: str) -> None:
    """Let go what this process keeps of the fits in a folder: rows, bounds and tables."""
    _KEPT.release(folder)
    has_terms.cache_clear()
