"""The means of clusters: kept as sparse rows, laid out as a table for the sweep, never dense k x V."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.blocks import map_blocks
from doccluster.clustering.document_matrix import DocumentMatrix
from doccluster.kernels.accumulation import copy_rows, list_entries, list_members, mean_rows

CHUNK_ENTRIES = 4_000_000  # entries of members whose means are built at a time


@dataclass(frozen=True, eq=False)
class Means:
    """Unit means (zero rows only where a given start has them) in the columns of a DocumentMatrix.

    Attributes
    ----------
    values, columns, starts : float32, int32 and int64 arrays, the rows one after another
    n_columns : int
    lengths : float64 array of shape (n_clusters,)
        The length of the sum of each cluster's members; nan where the mean was given.
    """

    values: npt.NDArray[np.float32]
    columns: npt.NDArray[np.int32]
    starts: npt.NDArray[np.int64]
    n_columns: int
    lengths: npt.NDArray[np.float64]

    @property
    def n_clusters(self) -> int:
        """The number of means."""
        return int(self.starts.size - 1)

    def take(self, clusters: npt.NDArray[np.int64]) -> Means:
        """Return some of the means, renumbered in the order of `clusters`."""
        positions = [np.arange(self.starts[c], self.starts[c + 1]) for c in clusters]
        flat = np.concatenate(positions) if positions else np.empty(0, np.int64)
        starts = np.concatenate([[0], np.cumsum([p.size for p in positions])]).astype(np.int64)
        return Means(self.values[flat], self.columns[flat], starts, self.n_columns, self.lengths[clusters])

    def to_csr(self, original: npt.NDArray[np.int32]) -> sparse.csr_array:
        """Return the means as csr rows in the columns of the matrix as given, indices sorted."""
        shape = (self.n_clusters, self.n_columns)
        rows = sparse.csr_array((self.values.copy(), original[self.columns], self.starts), shape=shape)
        rows.sort_indices()
        return rows


def means_of_rows(documents: DocumentMatrix, rows: npt.NDArray[np.int64]) -> Means:
    """Return the documents `rows` as means."""
    positions = [np.arange(documents.starts[row], documents.starts[row + 1]) for row in rows]
    flat = np.concatenate(positions)
    starts = np.concatenate([[0], np.cumsum([p.size for p in positions])]).astype(np.int64)
    lengths = np.full(rows.size, np.nan)
    return Means(documents.values[flat], documents.columns[flat], starts, documents.n_columns, lengths)


def means_of_matrix(centroids: sparse.csr_array, original: npt.NDArray[np.int32]) -> Means:
    """Return unit rows given in the columns of the user's matrix as means in the columns of a DocumentMatrix."""
    rank = np.empty(original.size, np.int32)
    rank[original] = np.arange(original.size, dtype=np.int32)
    lengths = np.full(centroids.shape[0], np.nan)
    columns = rank[centroids.indices]
    values = centroids.data.astype(np.float32)
    return Means(values, columns, centroids.indptr.astype(np.int64), original.size, lengths)


@dataclass(frozen=True, eq=False)
class MemberLists:
    """The rows of each cluster: those of cluster c are ``members[starts[c]:starts[c + 1]]``, ascending."""

    starts: npt.NDArray[np.int64]
    members: npt.NDArray[np.int32]
    entries: npt.NDArray[np.int64]

    @classmethod
    def of(cls, documents: DocumentMatrix, labels: npt.NDArray[np.int32], n_clusters: int) -> MemberLists:
        """Return the lists of a labelling."""
        starts = np.empty(n_clusters + 1, np.int64)
        members = np.empty(labels.size, np.int32)
        list_members(labels, starts, members)
        entries = np.empty(n_clusters, np.int64)
        list_entries(starts, members, documents.starts, entries)
        return cls(starts, members, entries)

    def chunks(self, clusters: npt.NDArray[np.int32], limit: int = CHUNK_ENTRIES) -> Iterator[npt.NDArray[np.int32]]:
        """Yield `clusters` in consecutive pieces whose members have about `limit` entries together."""
        if not clusters.size:
            return
        before = np.cumsum(self.entries[clusters]) - self.entries[clusters]
        yield from np.split(clusters, np.flatnonzero(np.diff(before // limit)) + 1)


def update_means(
    documents: DocumentMatrix,
    labels: npt.NDArray[np.int32],
    previous: Means,
    changed: npt.NDArray[np.bool_],
) -> tuple[Means, npt.NDArray[np.float64]]:
    """Return the means of a labelling and the chord that each moved; only clusters in `changed` are computed anew.

    Each mean is ``float32(sum / |sum|)`` with the float64 sum over the members ascending, whatever the threads.
    """
    k = previous.n_clusters
    lists = MemberLists.of(documents, labels, k)
    clusters = np.flatnonzero(changed).astype(np.int32)
    limit = max(1, min(CHUNK_ENTRIES, int(lists.entries[clusters].sum()) // (4 * documents.n_threads)))

    def one(chunk: npt.NDArray[np.int32]) -> tuple[Any, ...]:
        old = previous.starts[chunk + 1] - previous.starts[chunk]
        capacity = int(np.maximum(np.minimum(lists.entries[chunk], previous.n_columns), old).sum())
        values, columns = np.empty(capacity, np.float32), np.empty(capacity, np.int32)
        sizes, lengths, movements = (np.empty(chunk.size, kind) for kind in (np.int64, np.float64, np.float64))
        written = mean_rows(
            documents.values,
            documents.columns,
            documents.starts,
            documents.weights,
            lists.starts,
            lists.members,
            chunk,
            previous.values,
            previous.columns,
            previous.starts,
            previous.n_columns,
            values,
            columns,
            sizes,
            lengths,
            movements,
        )
        return chunk, values[:written].copy(), columns[:written].copy(), sizes, lengths, movements

    workers = documents.threads_for(float(lists.entries[clusters].sum()) * 10)
    pieces = list(map_blocks(one, lists.chunks(clusters, limit), n_threads=workers))
    lengths, movements = previous.lengths.copy(), np.zeros(k)
    for chunk, *_, chunk_lengths, chunk_movements in pieces:
        lengths[chunk], movements[chunk] = chunk_lengths, chunk_movements
    return _merged(previous, changed, pieces, lengths), movements


def _merged(
    previous: Means, changed: npt.NDArray[np.bool_], pieces: list[tuple[Any, ...]], lengths: npt.NDArray[np.float64]
) -> Means:
    """Return the new rows of `pieces` and the unchanged rows of `previous`, in the order of the clusters."""
    sizes = np.diff(previous.starts)
    for chunk, _, _, chunk_sizes, *_ in pieces:
        sizes[chunk] = chunk_sizes
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    values, columns = np.empty(starts[-1], np.float32), np.empty(starts[-1], np.int32)
    kept = np.flatnonzero(~changed).astype(np.int32)
    for run in np.split(kept, np.flatnonzero(np.diff(kept) != 1) + 1):
        if run.size:  # unchanged neighbours are copied as one piece
            old = slice(previous.starts[run[0]], previous.starts[run[-1] + 1])
            new = slice(starts[run[0]], starts[run[-1] + 1])
            values[new], columns[new] = previous.values[old], previous.columns[old]
    for chunk, new_values, new_columns, chunk_sizes, *_ in pieces:
        offsets = np.concatenate([[0], np.cumsum(chunk_sizes)]).astype(np.int64)
        copy_rows(new_values, new_columns, offsets, chunk, starts, values, columns)
    return Means(values, columns, starts, previous.n_columns, lengths)
