"""The means of clusters: kept as sparse rows, laid out as a table for the sweep, never dense k x V."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from queue import Empty, SimpleQueue
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.clustering.k_means.document_matrix import DocumentMatrix
from doccluster.kernels.accumulation import (
    ByColumn,
    Listed,
    MeanRoom,
    Membership,
    SummedMeans,
    WeightedRows,
    list_members,
    mean_rows,
)
from doccluster.kernels.mean_table import MeanArrays

CHUNK_ENTRIES = 4_000_000  # entries of members whose means are built at a time
FEWEST_ENTRIES = 10_000  # ... at least


@dataclass(eq=False)
class MeanRows:
    """Room for rows of means, filled from the front and never overwritten: means that follow each other share rows.

    Attributes
    ----------
    values, columns : float32 and int32 arrays of the same size
    sums : float64 array of the same size, the sums that the values were made of, or of size 0 where they are not kept
    used : int, the places that are taken
    """

    values: npt.NDArray[np.float32]
    columns: npt.NDArray[np.int32]
    sums: npt.NDArray[np.float64]
    used: int

    @classmethod
    def of_size(cls, size: int, *, keeps_sums: bool) -> MeanRows:
        """Return empty room."""
        return cls(np.empty(size, np.float32), np.empty(size, np.int32), np.empty(size if keeps_sums else 0), 0)

    @property
    def free(self) -> int:
        """The places that are not taken."""
        return self.columns.size - self.used

    def reserve(self, size: int) -> int:
        """Take so many places and return the first."""
        self.used += size
        return self.used - size

    def write(self, first: int, other: MeanRows) -> None:
        """Copy all of `other` to the places from `first` on; without sums none are written."""
        here = slice(first, first + other.columns.size)
        self.values[here], self.columns[here] = other.values, other.columns
        if self.sums.size and other.sums.size:
            self.sums[here] = other.sums

    def trimmed(self, size: int) -> MeanRows:
        """Return the first `size` places; copied if that lets go of much room."""
        first = self.part(0, size)
        if 2 * size < self.columns.size:
            return MeanRows(first.values.copy(), first.columns.copy(), first.sums.copy(), size)
        return first

    def part(self, start: int, stop: int) -> MeanRows:
        """Return the places ``start:stop``, not copied."""
        here = slice(start, stop)
        return MeanRows(self.values[here], self.columns[here], self.sums[here], stop - start)

    def room(self, first: int = 0) -> MeanRoom:
        """Return the places from one on, for kernels to write to."""
        return MeanRoom(self.values[first:], self.columns[first:], self.sums[first:])


@dataclass(frozen=True, eq=False)
class Summed:
    """Whose exact sums are kept, to be followed when few documents move.

    Attributes
    ----------
    is_valid : bool array of shape (n_clusters,)
        Whether the sums of a cluster are those of its members; not where a cluster kept an older mean.
    labels : int32 array of shape (n_documents,), the labelling that was summed
    n_members, entries : int64 arrays of shape (n_clusters,)
        How many members each cluster has, and how many entries they have together.
    """

    is_valid: npt.NDArray[np.bool_]
    labels: npt.NDArray[np.int32]
    n_members: npt.NDArray[np.int64]
    entries: npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Means:
    """Unit means (zero rows only where a given start has them) in the columns of a DocumentMatrix.

    Attributes
    ----------
    rows : MeanRows
        The mean of cluster c lies at ``starts[c]:stops[c]``, the clusters in any order and with room between them.
    starts, stops : int64 arrays of shape (n_clusters,)
    n_columns : int
    lengths : float64 array of shape (n_clusters,)
        The length of the sum of each cluster's members; nan where the mean was given.
    summed : Summed, or None
        Whether the sums in `rows` can be followed.
    """

    rows: MeanRows
    starts: npt.NDArray[np.int64]
    stops: npt.NDArray[np.int64]
    n_columns: int
    lengths: npt.NDArray[np.float64]
    summed: Summed | None = None

    @classmethod
    def of_arrays(cls, values: Any, columns: Any, edges: Any, n_columns: int) -> Means:
        """Return given means, one after another: mean c lies at ``edges[c]:edges[c + 1]``."""
        rows = MeanRows(values, columns, np.empty(0), columns.size)
        edges = np.asarray(edges, np.int64)
        return cls(rows, edges[:-1].copy(), edges[1:].copy(), n_columns, np.full(edges.size - 1, np.nan))

    @property
    def n_clusters(self) -> int:
        """The number of means."""
        return int(self.starts.size)

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        """How many terms each mean has."""
        return self.stops - self.starts

    @property
    def arrays(self) -> MeanArrays:
        """Values, columns, starts and stops, as kernels take them."""
        return MeanArrays(self.rows.values, self.rows.columns, self.starts, self.stops)

    @property
    def with_sums(self) -> SummedMeans:
        """The same with the sums, or without any."""
        return SummedMeans(self.rows.values, self.rows.columns, self.rows.sums, self.starts, self.stops)

    def positions(self, clusters: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return where the rows of some clusters lie, one after another, and where each begins and ends there."""
        parts = [np.arange(self.starts[c], self.stops[c]) for c in clusters]
        edges = np.concatenate([[0], np.cumsum(self.sizes[clusters])]).astype(np.int64)
        return np.concatenate(parts) if parts else np.empty(0, np.int64), edges

    def take(self, clusters: npt.NDArray[np.int64]) -> Means:
        """Return some of the means, renumbered in the order of `clusters`."""
        flat, edges = self.positions(clusters)
        means = Means.of_arrays(self.rows.values[flat], self.rows.columns[flat], edges, self.n_columns)
        return replace(means, lengths=self.lengths[clusters])

    def to_csr(self, original: npt.NDArray[np.int32]) -> sparse.csr_array:
        """Return the means as csr rows in the columns of the matrix as given, indices sorted."""
        shape = (self.n_clusters, self.n_columns)
        flat, edges = self.positions(np.arange(self.n_clusters))
        rows = sparse.csr_array((self.rows.values[flat], original[self.rows.columns[flat]], edges), shape=shape)
        return rows.tocsc().tocsr()  # sorts the indices of each row, faster than comparing them would


def means_of_rows(documents: DocumentMatrix, rows: npt.NDArray[np.int64]) -> Means:
    """Return the documents `rows` as means."""
    positions = [np.arange(documents.starts[row], documents.starts[row + 1]) for row in rows]
    flat = np.concatenate(positions)
    edges = np.concatenate([[0], np.cumsum([p.size for p in positions])])
    return Means.of_arrays(documents.values[flat], documents.columns[flat], edges, documents.n_columns)


def means_of_matrix(centroids: sparse.csr_array, original: npt.NDArray[np.int32]) -> Means:
    """Return unit rows given in the columns of the user's matrix as means in the columns of a DocumentMatrix."""
    rank = np.empty(original.size, np.int32)
    rank[original] = np.arange(original.size, dtype=np.int32)
    return Means.of_arrays(centroids.data.astype(np.float32), rank[centroids.indices], centroids.indptr, original.size)


@dataclass(frozen=True, eq=False)
class MemberLists:
    """The rows of each cluster: those of cluster c are ``members[starts[c]:starts[c + 1]]``, ascending."""

    starts: npt.NDArray[np.int64]
    members: npt.NDArray[np.int32]
    entries: npt.NDArray[np.int64]

    @classmethod
    def of(cls, documents: DocumentMatrix, labels: npt.NDArray[np.int32], n_clusters: int) -> MemberLists:
        """Return the lists of a labelling."""
        return cls._of(documents.starts, labels, n_clusters)

    @classmethod
    def of_rows(
        cls, documents: DocumentMatrix, rows: npt.NDArray[np.int32], labels: npt.NDArray[np.int32], n_clusters: int
    ) -> MemberLists:
        """Return the lists of some rows, ascending, with their labels."""
        sizes = documents.starts[rows + 1] - documents.starts[rows]
        lists = cls._of(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), labels, n_clusters)
        return cls(lists.starts, rows[lists.members], lists.entries)

    @classmethod
    def _of(cls, row_starts: npt.NDArray[np.int64], labels: npt.NDArray[np.int32], n_clusters: int) -> MemberLists:
        starts, members = np.empty(n_clusters + 1, np.int64), np.empty(labels.size, np.int32)
        entries = np.empty(n_clusters, np.int64)
        list_members(labels, row_starts, starts, members, entries)
        return cls(starts, members, entries)

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        """How many rows each cluster has."""
        return np.diff(self.starts)

    @property
    def arrays(self) -> Listed:
        """The lists as kernels take them."""
        return Listed(self.starts, self.members)


def chunks_of(
    clusters: npt.NDArray[np.int32], work: npt.NDArray[np.int64], limit: int
) -> Iterator[npt.NDArray[np.int32]]:
    """Yield `clusters` in consecutive pieces with about `limit` of the work that each is."""
    if clusters.size:
        before = np.cumsum(work[clusters]) - work[clusters]
        yield from np.split(clusters, np.flatnonzero(np.diff(before // limit)) + 1)


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
        """Return the moves from one labelling to another."""
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
    """Return the means of a labelling and the chord that each moved; only clusters in `changed` are computed again.

    Each mean is ``float32(sum / |sum|)`` with the float64 sum over the members ascending, whatever the threads. With
    `keep_sums`, where float64 sums are exact, they are kept: a later update follows them where that is less work.
    """
    k = previous.n_clusters
    moves, lists, summed = _look_at_moves(documents, labels, previous)
    follows = summed.is_valid & (previous.sizes + moves.entries < summed.entries)
    if lists is None and not follows[changed].all():
        lists = MemberLists.of(documents, labels, k)
    chunks = _chunks(changed, follows, previous, moves, summed, documents.n_threads)
    keeps = keep_sums and documents.has_exact_sums
    rows, starts, stops = _with_room(documents, previous, changed, chunks, keeps_sums=keeps)
    places = {chunk: rows.reserve(chunk.capacity) for chunk in chunks if chunk.follows}
    lengths, movements = previous.lengths.copy(), np.zeros(k)
    is_valid = summed.is_valid.copy()
    is_valid[moves.entries > 0] = False  # until computed again
    scratch: SimpleQueue[ByColumn] = SimpleQueue()
    rows_summed = WeightedRows(documents.values, documents.columns, documents.starts, documents.weights)
    members = Listed(np.zeros(k + 1, np.int64), np.empty(0, np.int32)) if lists is None else lists.arrays
    membership = Membership(summed.n_members, members, moves.left.arrays, moves.joined.arrays)

    def one(chunk: Chunk) -> MeanRows:
        """Compute means where they will lie, or apart where most of the room that they might take is left over."""
        own = rows if chunk in places else MeanRows.of_size(chunk.capacity, keeps_sums=keeps)
        dense, first, some = _free_scratch(scratch, previous.n_columns), places.get(chunk, 0), chunk.clusters
        found = mean_rows(rows_summed, membership, some, follows[some], previous.with_sums, dense, own.room(first))
        scratch.put(dense)
        stops[some] = first + np.cumsum(found.sizes)
        starts[some] = stops[some] - found.sizes
        lengths[some], movements[some], is_valid[some] = found.lengths, found.movements, found.has_sums
        return own if chunk in places else own.trimmed(int(found.sizes.sum()))

    apart = documents.share(one, chunks, multiplications=10.0 * sum(chunk.work for chunk in chunks))
    for chunk, own in zip(chunks, apart, strict=True):
        if chunk not in places:
            first = rows.reserve(own.used)
            rows.write(first, own)
            starts[chunk.clusters] += first
            stops[chunk.clusters] += first
    kept = replace(summed, is_valid=is_valid) if keeps else None
    return Means(rows, starts, stops, previous.n_columns, lengths, kept), movements


@dataclass(frozen=True, eq=False)
class Chunk:
    """Clusters whose means are built together.

    Attributes
    ----------
    clusters : int32 array
    follows : bool
        Whether the old sums of all of them are followed.
    work, capacity : int
        The entries that are looked at, and the most that the means can have.
    """

    clusters: npt.NDArray[np.int32]
    follows: bool
    work: int
    capacity: int


def _chunks(
    changed: npt.NDArray[np.bool_],
    follows: npt.NDArray[np.bool_],
    previous: Means,
    moves: Moves,
    summed: Summed,
    n_threads: int,
) -> list[Chunk]:
    """Return the changed clusters in chunks of about the same work, a few for each thread."""
    clusters = np.flatnonzero(changed).astype(np.int32)
    followed = previous.sizes + moves.entries
    work = np.where(follows, followed, summed.entries)
    most = np.minimum(np.where(follows, followed, np.maximum(summed.entries, previous.sizes)), previous.n_columns)
    limit = max(1, FEWEST_ENTRIES, min(CHUNK_ENTRIES, int(work[clusters].sum()) // (4 * n_threads)))
    return [
        Chunk(chunk, bool(follows[chunk].all()), int(work[chunk].sum()), int(most[chunk].sum()))
        for chunk in chunks_of(clusters, work, limit)
    ]


def _free_scratch(scratch: SimpleQueue[ByColumn], n_columns: int) -> ByColumn:
    """Return arrays by column for a thread, used before if there are any."""
    try:
        return scratch.get_nowait()
    except Empty:
        sums, values = np.zeros(n_columns), np.zeros(n_columns, np.float32)
        return ByColumn(sums, values, np.full(n_columns, -1, np.int32), np.empty(n_columns, np.int32))


def _with_room(
    documents: DocumentMatrix,
    previous: Means,
    changed: npt.NDArray[np.bool_],
    chunks: list[Chunk],
    *,
    keeps_sums: bool,
) -> tuple[MeanRows, npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return rows that hold the unchanged means and have room for the others, and where the unchanged ones lie."""
    needed = sum(chunk.capacity for chunk in chunks if chunk.follows)
    apart = [chunk for chunk in chunks if not chunk.follows]
    # together they have at most this many terms of documents, or, where there is no direction, the terms they had
    most = int(np.minimum(documents.frequencies, previous.n_clusters).sum())
    most += sum(int(previous.sizes[chunk.clusters].sum()) for chunk in apart)
    needed += min(most, sum(chunk.capacity for chunk in apart))
    rows, starts, stops = previous.rows, previous.starts.copy(), previous.stops.copy()
    if rows.free >= needed and (rows.sums.size > 0) == keeps_sums:
        return rows, starts, stops
    kept = np.flatnonzero(~changed)
    live = int(previous.sizes.sum())
    rows = MeanRows.of_size(int(previous.sizes[kept].sum()) + needed + live, keeps_sums=keeps_sums)
    for cluster in kept:
        row = previous.rows.part(previous.starts[cluster], previous.stops[cluster])
        starts[cluster] = rows.reserve(row.used)
        rows.write(starts[cluster], row)
        stops[cluster] = rows.used
    return rows, starts, stops


def _look_at_moves(
    documents: DocumentMatrix, labels: npt.NDArray[np.int32], previous: Means
) -> tuple[Moves, MemberLists | None, Summed]:
    """Return the moves since the sums were made, the members where they had to be listed, and what is known of both."""
    k, last = previous.n_clusters, previous.summed
    moves = Moves.between(documents, labels if last is None else last.labels, labels, k)
    if last is None:
        lists = MemberLists.of(documents, labels, k)
        return moves, lists, Summed(np.zeros(k, np.bool_), labels.copy(), lists.sizes, lists.entries)
    n_members = last.n_members + moves.joined.sizes - moves.left.sizes
    entries = last.entries + moves.joined.entries - moves.left.entries
    return moves, None, Summed(last.is_valid, labels.copy(), n_members, entries)
