"""The table of clusters: unit centroids from exact sums, how far each moved, and where the workers find it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.blocks import entry_blocks, open_array, write_arrays
from doccluster.clustering.k_means.sparse_means import CANCELLED
from doccluster.geometry.sums import ExactSums

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

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

    def write(self, table: Any) -> None:
        """Write the table, a csr array."""
        arrays = {"data.npy": table.data, "indices.npy": table.indices, "starts.npy": table.indptr.astype(np.int64)}
        write_arrays(self.path, arrays)

    def read(self) -> Any:
        """Return the table, float32 csr array of shape (n_clusters, n_columns) over its files."""
        parts = tuple(open_array(self.path / f"{name}.npy") for name in ("data", "indices", "starts"))
        return sparse.csr_array(parts, shape=(self.n_clusters, self.frequencies.size))

    def remove(self) -> None:
        """Remove the table, if it is there."""
        shutil.rmtree(self.path, ignore_errors=True)

    def at(self, number: int, movements: Floats | None = None) -> TableVersion:
        """Return another version of the table of the same fit."""
        return replace(self, number=number, movements=self.movements if movements is None else movements)


def centroids_of(sums: ExactSums, n_members: Integers, before: Any) -> tuple[Any, Floats]:
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
    return rows, lengths


def chords(before: Any, after: Any) -> Floats:
    """Return how far each centroid moved: the length of the difference of its rows."""
    parts = [
        row_lengths(sparse.csr_array(after[rows].astype(np.float64) - before[rows].astype(np.float64)))
        for rows, _ in _pieces(after)
    ]
    return np.concatenate(parts)


def row_lengths(matrix: Any) -> Floats:
    """Return the length of each row of a csr array."""
    starts, squares = matrix.indptr, []
    for rows, part in _pieces(matrix):
        squares.append(_row_totals(starts[rows.start : rows.stop + 1], matrix.data[part] ** 2))
    return np.sqrt(np.concatenate(squares))


def row_products(sums: Any, table: Any) -> Floats:
    """Return the product of each row of a csr array of float64 with the same row of another."""
    pieces = []
    for rows, _ in _pieces(sums):
        products = sparse.csr_array(sums[rows].multiply(table[rows].astype(np.float64)))
        pieces.append(_row_totals(products.indptr, products.data))
    return np.concatenate(pieces)


def _row_totals(starts: npt.NDArray[np.integer[Any]], values: Floats) -> Floats:
    """Return the sum of the values of each row, in their order."""
    rows = np.repeat(np.arange(starts.size - 1), np.diff(starts))
    return np.asarray(np.bincount(rows, weights=values, minlength=starts.size - 1), np.float64)


def _pieces(table: Any) -> Iterator[tuple[slice, slice]]:
    """Yield consecutive rows of a table and where their entries are, a few at a time: arrays of its size are large."""
    for rows in entry_blocks(table.indptr, ENTRIES_AT_ONCE):
        yield rows, slice(int(table.indptr[rows.start]), int(table.indptr[rows.stop]))
