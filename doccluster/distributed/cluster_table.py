"""The table of clusters as it travels: only the rows that changed, and how far each of them moved.

A worker keeps the table of the iteration before and puts the changes in. One that has no such table (it joined late,
or replaced another) reads the whole one from the scratch folder.
"""

from __future__ import annotations

import shutil
import threading
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.blocks import entry_blocks
from doccluster.clustering.k_means.running_means import CANCELLED
from doccluster.geometry.sums import ExactSums, joined
from doccluster.scratch_files import open_array, write_arrays

Floats = npt.NDArray[np.float64]

ENTRIES_AT_ONCE = 2**20
MOST_KEPT = 2  # tables that a worker keeps: those of the runs it works on


@dataclass(frozen=True, eq=False)
class TableChange:
    """What makes the table of one iteration of the one before.

    Attributes
    ----------
    folder : str
        Where the whole table lies, for those who lack the one before; also the name of the fit.
    version : int
        0 for the seeds.
    clusters : int64 array of shape (n_changed,), ascending
    rows : float32 csr array of shape (n_changed, n_columns)
        The new unit centroids of these clusters.
    movements : float64 array of shape (n_clusters,)
        The chord between the centroids before and now; 0 where nothing changed.
    """

    folder: str
    version: int
    clusters: npt.NDArray[np.int64]
    rows: Any
    movements: Floats

    @property
    def n_clusters(self) -> int:
        """The number of clusters in the whole table."""
        return int(self.movements.size)

    @property
    def changed(self) -> npt.NDArray[np.bool_]:
        """Whether each cluster changed."""
        flags = np.zeros(self.n_clusters, np.bool_)
        flags[self.clusters] = True
        return flags

    @property
    def n_bytes(self) -> int:
        """The size of the message."""
        rows = self.rows
        arrays = (rows.data, rows.indices, rows.indptr, self.clusters, self.movements)
        return sum(array.nbytes for array in arrays)


class _KeptTables:
    """The tables that this process knows, one for each fit; shared by the threads of a worker."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tables: OrderedDict[str, tuple[int, Any]] = OrderedDict()

    def take(self, change: TableChange) -> Any:
        """Return the whole table that a change leads to."""
        with self._lock:
            version, table = self._tables.get(change.folder, (-1, None))
            if version != change.version:
                follows = table is not None and version == change.version - 1
                table = with_rows(table, change.clusters, change.rows) if follows else read_table(change)
                self._tables[change.folder] = change.version, table
            self._tables.move_to_end(change.folder)
            while len(self._tables) > MOST_KEPT:
                self._tables.popitem(last=False)
            return table

    def release(self, folder: str) -> None:
        """Let the tables of fits in a folder go."""
        with self._lock:
            for fit in [fit for fit in self._tables if Path(fit).is_relative_to(folder)]:
                del self._tables[fit]


_KEPT = _KeptTables()


def release_tables(folder: str) -> None:
    """Let go the tables that this process keeps of fits in a folder."""
    _KEPT.release(folder)


def current_table(change: TableChange) -> Any:
    """Return the whole table of an iteration on a worker, float32 csr array of shape (n_clusters, n_columns)."""
    return _KEPT.take(change)


def with_rows(table: Any, clusters: npt.NDArray[np.int64], rows: Any) -> Any:
    """Return the table with other rows for some clusters."""
    if clusters.size == table.shape[0]:
        return rows
    order = np.arange(table.shape[0])
    order[clusters] = table.shape[0] + np.arange(clusters.size)
    return sparse.csr_array(sparse.vstack([table, rows], format="csr")[order])


def table_folder(change: TableChange) -> Path:
    """Return where the whole table of an iteration lies."""
    return Path(change.folder) / f"table-{change.version}"


def write_table(change: TableChange, table: Any) -> None:
    """Write the whole table of an iteration to the scratch folder."""
    arrays = {"data.npy": table.data, "indices.npy": table.indices, "starts.npy": table.indptr.astype(np.int64)}
    write_arrays(table_folder(change), arrays)


def remove_table(change: TableChange, version: int) -> None:
    """Remove the table of an earlier iteration of the same fit, if it is there."""
    shutil.rmtree(table_folder(replace(change, version=version)), ignore_errors=True)


def read_table(change: TableChange) -> Any:
    """Return the whole table of an iteration from the scratch folder."""
    folder = table_folder(change)
    parts = (np.array(open_array(folder / f"{name}.npy")) for name in ("data", "indices", "starts"))
    return sparse.csr_array(tuple(parts), shape=(change.n_clusters, change.rows.shape[1]))


@dataclass(frozen=True, eq=False)
class RunningSums:
    """The exact sums of all clusters, brought from iteration to iteration by what moved.

    Attributes
    ----------
    sums : ExactSums
    n_members : int64 array of shape (n_clusters,)
        How many documents each cluster has, those without terms included.
    """

    sums: ExactSums
    n_members: npt.NDArray[np.int64]

    def moved(self, changes: list[ExactSums], n_members: npt.NDArray[np.int64]) -> RunningSums:
        """Return the sums after changes, in whichever order they came."""
        return RunningSums(without_zeros(joined([self.sums, *changes])), n_members)

    def centroids(self, before: Any) -> tuple[Any, Floats]:
        """Return the unit centroids, float32 csr, and the length of each sum.

        A cluster whose members have no direction together (none, or they cancel out) keeps the row it had `before`.
        """
        sums = self.sums.by_cluster()
        lengths = row_lengths(sums)
        known = lengths > CANCELLED * self.n_members
        directions = np.empty(sums.data.size, np.float32)
        for rows, own in _pieces(sums):
            divisors = np.repeat(np.where(known, lengths, 1.0)[rows], np.diff(sums.indptr)[rows])
            directions[own] = sums.data[own] / divisors
        rows = sparse.csr_array((directions, sums.indices, sums.indptr), sums.shape)
        rows.eliminate_zeros()
        if not known.all():
            rows = with_rows(before, np.flatnonzero(known), sparse.csr_array(rows[np.flatnonzero(known)]))
        return rows, lengths


def negated(sums: ExactSums) -> ExactSums:
    """Return the change that takes the sums away again."""
    return replace(sums, high=-sums.high, low=-sums.low)


def without_zeros(sums: ExactSums) -> ExactSums:
    """Return the sums without terms that nothing is left of."""
    stays = (sums.high != 0) | (sums.low != 0)
    if stays.all():
        return sums
    clusters = np.repeat(np.arange(sums.counts.size), sums.counts)
    counts = np.bincount(clusters[stays], minlength=sums.counts.size)
    return ExactSums(counts, sums.terms[stays], sums.high[stays], sums.low[stays], sums.steps)


def chords(before: Any, after: Any) -> Floats:
    """Return how far each centroid moved: the length of the difference of its rows."""
    found = [
        row_lengths(sparse.csr_array(after[rows].astype(np.float64) - before[rows].astype(np.float64)))
        for rows, _ in _pieces(after)
    ]
    return np.concatenate(found)


def row_lengths(matrix: Any) -> Floats:
    """Return the length of each row of a csr array."""
    starts, squares = matrix.indptr, []
    for rows, own in _pieces(matrix):
        squares.append(_row_totals(starts[rows.start : rows.stop + 1], matrix.data[own] ** 2))
    return np.sqrt(np.concatenate(squares))


def row_products(sums: Any, table: Any) -> Floats:
    """Return the product of each row of a csr array of float64 with the same row of another."""
    found = []
    for rows, _ in _pieces(sums):
        products = sparse.csr_array(sums[rows].multiply(table[rows].astype(np.float64)))
        found.append(_row_totals(products.indptr, products.data))
    return np.concatenate(found)


def _row_totals(starts: npt.NDArray[np.integer[Any]], values: Floats) -> Floats:
    """Return the sum of the values of each row, in their order."""
    rows = np.repeat(np.arange(starts.size - 1), np.diff(starts))
    return np.asarray(np.bincount(rows, weights=values, minlength=starts.size - 1), np.float64)


def _pieces(table: Any) -> Iterator[tuple[slice, slice]]:
    """Yield consecutive rows of a table and where their entries are, a few at a time: arrays of its size are large."""
    for rows in entry_blocks(table.indptr, ENTRIES_AT_ONCE):
        yield rows, slice(int(table.indptr[rows.start]), int(table.indptr[rows.stop]))
