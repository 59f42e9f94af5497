"""The means of clusters: kept as sparse rows, laid out as a table for the sweep, never dense k x V."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.blocks import share_blocks
from doccluster.clustering.document_matrix import DocumentMatrix
from doccluster.kernels.accumulation import copy_rows, list_entries, list_members, mean_rows

CHUNK_ENTRIES = 4_000_000  # entries of members whose means are built at a time


@dataclass(frozen=True, eq=False)
class Summed:
    """Exact sums of members, to follow when few of them move.

    Attributes
    ----------
    sums : float64 array, one for each value of the means
    is_valid : bool array of shape (n_clusters,)
        Whether the sums of a cluster are those of its members; not where a cluster kept an older mean.
    labels : int32 array of shape (n_documents,), the labelling that was summed
    """

    sums: npt.NDArray[np.float64]
    is_valid: npt.NDArray[np.bool_]
    labels: npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Means:
    """Unit means (zero rows only where a given start has them) in the columns of a DocumentMatrix.

    Attributes
    ----------
    values, columns, starts : float32, int32 and int64 arrays, the rows one after another
    n_columns : int
    lengths : float64 array of shape (n_clusters,)
        The length of the sum of each cluster's members; nan where the mean was given.
    summed : Summed, or None
        The sums that the means were made of, where they are kept to be followed.
    """

    values: npt.NDArray[np.float32]
    columns: npt.NDArray[np.int32]
    starts: npt.NDArray[np.int64]
    n_columns: int
    lengths: npt.NDArray[np.float64]
    summed: Summed | None = None

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
        starts, members = np.empty(n_clusters + 1, np.int64), np.empty(labels.size, np.int32)
        list_members(labels, starts, members)
        return cls(starts, members, _entries(documents, starts, members))

    @classmethod
    def of_rows(
        cls, documents: DocumentMatrix, rows: npt.NDArray[np.int32], labels: npt.NDArray[np.int32], n_clusters: int
    ) -> MemberLists:
        """Return the lists of some rows, ascending, with their labels."""
        starts, places = np.empty(n_clusters + 1, np.int64), np.empty(labels.size, np.int32)
        list_members(labels, starts, places)
        members = rows[places]
        return cls(starts, members, _entries(documents, starts, members))

    def chunks(
        self, clusters: npt.NDArray[np.int32], work: npt.NDArray[np.int64], limit: int
    ) -> Iterator[npt.NDArray[np.int32]]:
        """Yield `clusters` in consecutive pieces with about `limit` of the work that each is."""
        if not clusters.size:
            return
        before = np.cumsum(work[clusters]) - work[clusters]
        yield from np.split(clusters, np.flatnonzero(np.diff(before // limit)) + 1)


def _entries(
    documents: DocumentMatrix, starts: npt.NDArray[np.int64], members: npt.NDArray[np.int32]
) -> npt.NDArray[np.int64]:
    """Return how many entries the members of each cluster have."""
    entries = np.empty(starts.size - 1, np.int64)
    list_entries(starts, members, documents.starts, entries)
    return entries


@dataclass(frozen=True, eq=False)
class Moves:
    """The rows that left and that joined each cluster, listed like its members, and how many entries they have."""

    left: MemberLists
    joined: MemberLists

    @classmethod
    def between(
        cls,
        documents: DocumentMatrix,
        before: npt.NDArray[np.int32],
        after: npt.NDArray[np.int32],
        n_clusters: int,
    ) -> Moves:
        """Return what changed from one labelling to another."""
        rows = np.flatnonzero(before != after).astype(np.int32)
        return cls(*(MemberLists.of_rows(documents, rows, labels[rows], n_clusters) for labels in (before, after)))

    @property
    def entries(self) -> npt.NDArray[np.int64]:
        """How many entries the rows that left or joined each cluster have."""
        return self.left.entries + self.joined.entries


def update_means(
    documents: DocumentMatrix,
    labels: npt.NDArray[np.int32],
    previous: Means,
    changed: npt.NDArray[np.bool_],
    *,
    keep_sums: bool = True,
) -> tuple[Means, npt.NDArray[np.float64]]:
    """Return the means of a labelling and the chord that each moved; only clusters in `changed` are computed anew.

    Each mean is ``float32(sum / |sum|)`` with the float64 sum over the members ascending, whatever the threads. With
    `keep_sums`, where float64 sums are exact, they are kept: a later update follows them where that is less work.
    """
    k = previous.n_clusters
    lists = MemberLists.of(documents, labels, k)
    clusters = np.flatnonzero(changed).astype(np.int32)
    follows, moves = _choose_to_follow(documents, labels, previous, lists)
    old_sums = previous.summed.sums if previous.summed is not None else np.empty(0)
    old_sizes = np.diff(previous.starts)
    work = np.where(follows, old_sizes + moves.entries, lists.entries)
    keeps = keep_sums and documents.has_exact_sums
    limit = max(1, min(CHUNK_ENTRIES, int(work[clusters].sum()) // (4 * documents.n_threads)))

    def one(chunk: npt.NDArray[np.int32]) -> Piece:
        most = np.where(follows, old_sizes + moves.entries, np.maximum(lists.entries, old_sizes))[chunk]
        capacity = int(np.minimum(most, previous.n_columns).sum())
        values, columns = np.empty(capacity, np.float32), np.empty(capacity, np.int32)
        sums = np.empty(capacity if keeps else 0)
        sizes, has_sums = np.empty(chunk.size, np.int64), np.empty(chunk.size, np.bool_)
        lengths, movements = np.empty(chunk.size, np.float64), np.empty(chunk.size, np.float64)
        written = mean_rows(
            (documents.values, documents.columns, documents.starts, documents.weights),
            (lists.starts, lists.members),
            (moves.left.starts, moves.left.members, moves.joined.starts, moves.joined.members),
            chunk,
            follows[chunk],
            (previous.values, previous.columns, old_sums, previous.starts),
            previous.n_columns,
            (values, columns, sums),
            (sizes, lengths, movements, has_sums),
        )
        rows = values[:written].copy(), columns[:written].copy(), sums[:written].copy()
        return Piece(chunk, *rows, sizes, lengths, movements, has_sums)

    workers = documents.threads_for(float(work[clusters].sum()) * 10)
    pieces = share_blocks(one, list(lists.chunks(clusters, work, limit)), n_threads=workers)
    lengths, movements = previous.lengths.copy(), np.zeros(k)
    is_valid = previous.summed.is_valid.copy() if previous.summed is not None else np.zeros(k, np.bool_)
    is_valid[moves.entries > 0] = False  # until computed anew
    for piece in pieces:
        lengths[piece.clusters], movements[piece.clusters] = piece.lengths, piece.movements
        is_valid[piece.clusters] = piece.has_sums
    values, columns, sums, starts = _merged(previous, changed, pieces, keeps=keeps)
    summed = Summed(sums, is_valid, labels.copy()) if keeps else None
    return Means(values, columns, starts, previous.n_columns, lengths, summed), movements


def _choose_to_follow(
    documents: DocumentMatrix, labels: npt.NDArray[np.int32], previous: Means, lists: MemberLists
) -> tuple[npt.NDArray[np.bool_], Moves]:
    """Return for which clusters it is less work to follow the old sums than to add up the members, and the moves."""
    k, summed = previous.n_clusters, previous.summed
    moves = Moves.between(documents, labels if summed is None else summed.labels, labels, k)
    if summed is None:
        return np.zeros(k, np.bool_), moves
    return summed.is_valid & (np.diff(previous.starts) + moves.entries < lists.entries), moves


@dataclass(frozen=True, eq=False)
class Piece:
    """New means of some clusters, one after another."""

    clusters: npt.NDArray[np.int32]
    values: npt.NDArray[np.float32]
    columns: npt.NDArray[np.int32]
    sums: npt.NDArray[np.float64]
    sizes: npt.NDArray[np.int64]
    lengths: npt.NDArray[np.float64]
    movements: npt.NDArray[np.float64]
    has_sums: npt.NDArray[np.bool_]


def _merged(
    previous: Means, changed: npt.NDArray[np.bool_], pieces: list[Piece], *, keeps: bool
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int32], npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Return the new rows of `pieces` and the unchanged rows of `previous`, in the order of the clusters."""
    sizes = np.diff(previous.starts)
    for piece in pieces:
        sizes[piece.clusters] = piece.sizes
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    values, columns = np.empty(starts[-1], np.float32), np.empty(starts[-1], np.int32)
    sums = np.empty(starts[-1] if keeps else 0)
    kept = np.flatnonzero(~changed).astype(np.int32)
    for run in np.split(kept, np.flatnonzero(np.diff(kept) != 1) + 1):
        if run.size:  # unchanged neighbours are copied as one piece
            old = slice(previous.starts[run[0]], previous.starts[run[-1] + 1])
            new = slice(starts[run[0]], starts[run[-1] + 1])
            values[new], columns[new] = previous.values[old], previous.columns[old]
            if keeps and previous.summed is not None:
                sums[new] = previous.summed.sums[old]
    for piece in pieces:
        offsets = np.concatenate([[0], np.cumsum(piece.sizes)]).astype(np.int64)
        copy_rows(piece.values, piece.columns, piece.sums, offsets, piece.clusters, starts, values, columns, sums)
    return values, columns, sums, starts
