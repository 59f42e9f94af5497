"""Sums of the documents of each cluster: the first of the two readings of the matrix.

A value is taken as a whole number of steps, a power of two for each term, and whole numbers are added: blocks of rows
may be summed anywhere and combined in any order, and give the same bytes. A step is so small (2^-61 of a unit row)
that a sum is the exact one to the last place of float64 but for values below a thousandth, which lose less than a sum
in float64 would.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.blocks import entry_blocks, map_blocks, row_blocks
from doccluster.geometry.rows import Rows
from doccluster.geometry.table import TermTable
from doccluster.geometry.whole_sums import LOW_BITS, add_sums, sum_rows
from doccluster.partition import Partition
from doccluster.validation import squared_row_norms

TASKS = 16  # ranges of clusters that are summed at a time
DENSE_ROWS = 4096
SUMS_AT_ONCE = 2**20  # that are rounded at a time
ADDED_SUMS = 2**22  # that are added at a time: 300 MiB

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ExactSums:
    """Sums by cluster and term in whole numbers; ``a + b`` does not depend on which comes first.

    `high`, `low` of shape (n_sums,): the sum is ``(high + low / 2^32) steps[term]``.
    """

    counts: Integers  # of shape (n_clusters,): how many terms each cluster has
    # of shape (n_sums,): the terms of each cluster, ascending, one cluster after the other
    terms: npt.NDArray[np.int32]
    high: Integers
    low: Integers
    steps: Floats  # of shape (n_terms,): powers of two, the same for all blocks of a collection

    def __add__(self, other: ExactSums) -> ExactSums:
        return joined([self, other])

    @property
    def values(self) -> Floats:
        """The sums, each rounded once."""
        found = np.empty(self.terms.size)
        for some in row_blocks(found.size, SUMS_AT_ONCE):
            low = self.low[some]
            carried = (low + (1 << (LOW_BITS - 1))) >> LOW_BITS
            rest = np.ldexp((low - (carried << LOW_BITS)).astype(np.float64), -LOW_BITS)
            found[some] = (rest + (self.high[some] + carried)) * self.steps[self.terms[some]]
        return found

    def without_zeros(self) -> ExactSums:
        """Return the sums without terms that nothing is left of."""
        stays = (self.high != 0) | (self.low != 0)
        if stays.all():
            return self
        clusters = np.repeat(np.arange(self.counts.size), self.counts)
        counts = np.bincount(clusters[stays], minlength=self.counts.size)
        return ExactSums(counts, self.terms[stays], self.high[stays], self.low[stays], self.steps)

    def of_clusters(self, clusters: slice, edges: Integers) -> ExactSums:
        """Return the sums of consecutive clusters, from where those of each cluster begin."""
        own = slice(int(edges[clusters.start]), int(edges[clusters.stop]))
        return ExactSums(self.counts[clusters], self.terms[own], self.high[own], self.low[own], self.steps)

    def by_cluster(self) -> sparse.csr_array:
        """Return the sums as a csr array of shape (n_clusters, n_terms)."""
        edges = np.concatenate([[0], np.cumsum(self.counts)])
        return sparse.csr_array((self.values, self.terms, edges), shape=(self.counts.size, self.steps.size))

    def table(self) -> Floats:
        """Return the sums of dense rows as an array of shape (n_clusters, n_terms)."""
        table = np.zeros((self.counts.size, self.steps.size))
        table[np.repeat(np.arange(self.counts.size), self.counts), self.terms] = self.values
        return table


def joined(parts: Sequence[ExactSums]) -> ExactSums:
    """Return the sums of all parts together; a few clusters at a time, where there are many."""
    steps = parts[0].steps
    if any(not np.array_equal(part.steps, steps) for part in parts):
        raise ValueError("sums that count in different steps cannot be added; take the steps of the whole collection")
    totals = np.cumsum(np.sum([part.counts for part in parts], axis=0))
    pieces = entry_blocks(np.concatenate([[0], totals]), ADDED_SUMS)
    if len(pieces) == 1 or len(parts) == 1:
        return _joined(parts)
    edges = [np.concatenate([[0], np.cumsum(part.counts)]) for part in parts]
    found = [
        _joined([part.of_clusters(clusters, ends) for part, ends in zip(parts, edges, strict=True)])
        for clusters in pieces
    ]
    counts, terms, high, low = (
        np.concatenate([getattr(one, name) for one in found]) for name in ("counts", "terms", "high", "low")
    )
    return ExactSums(counts, terms, high, low, steps)


def _joined(parts: Sequence[ExactSums]) -> ExactSums:
    steps = parts[0].steps
    terms, high, low = (np.concatenate([getattr(part, name) for part in parts]) for name in ("terms", "high", "low"))
    filled = [np.flatnonzero(part.counts) for part in parts]
    met = np.concatenate(filled)
    if np.all(met[1:] > met[:-1]):  # each part has clusters of its own
        return ExactSums(np.sum([part.counts for part in parts], axis=0), terms, high, low, steps)
    ends = np.cumsum([[0, *part.counts.tolist()] for part in parts], axis=1)
    before = np.cumsum([0, *(part.terms.size for part in parts[:-1])])
    added = add_sums(ends + before[:, None], terms, high, low, steps.size)
    return ExactSums(*added, steps)


def sum_block(
    rows: Rows, block: Integers, labels: npt.NDArray[np.integer[Any]], n_clusters: int, *, squared: bool = False
) -> ExactSums:
    """Return the sums by cluster of some rows, or of the squares of their values.

    `labels`: int array of shape (n_documents,), 0..n_clusters-1.
    """
    steps = rows.squared_steps if squared else rows.steps
    if not block.size:
        nothing = np.empty(0, np.int64)
        return ExactSums(np.zeros(n_clusters, np.int64), np.empty(0, np.int32), nothing, nothing, steps)
    order = block[np.argsort(labels[block], kind="stable")]
    first, last = int(labels[order[0]]), int(labels[order[-1]]) + 1
    starts = np.searchsorted(labels[order], np.arange(first, last + 1)).astype(np.int64)
    if rows.is_sparse:
        met, terms, high, low = sum_rows(order, starts, rows.arrays, rows.scale, 1.0 / steps, squared)
    else:
        met, terms, high, low = _sum_dense(rows, order, starts, 1.0 / steps, squared=squared)
    counts = np.zeros(n_clusters, np.int64)
    counts[first:last] = met
    return ExactSums(counts, terms, high, low, steps)


def sums_by_label(matrix: Any, labels: npt.NDArray[np.integer[Any]], n_clusters: int) -> Any:
    """Return the sums of the rows with each label, as they are, of the form of `matrix`; shape (n_clusters, n_terms).

    `labels`: int array of shape (n_documents,), 0..n_clusters-1.
    """
    exact = sum_block(Rows.as_they_are(matrix), np.arange(labels.size), labels, n_clusters)
    return exact.by_cluster() if sparse.issparse(matrix) else exact.table()


def count_presence(matrix: Any, labels: npt.NDArray[np.integer[Any]], n_clusters: int) -> ExactSums:
    """Return in how many of the rows with each label each term is; rows of blocks may be counted by themselves."""
    rows = sparse.csr_array(matrix)
    ones = np.ones(rows.shape[0])
    present = sparse.csr_array(((rows.data != 0).astype(rows.dtype), rows.indices, rows.indptr), shape=rows.shape)
    return sum_block(Rows(present, ones, ones, True), np.arange(labels.size), labels, n_clusters)


def _sum_dense(
    rows: Rows, order: Integers, starts: Integers, inverse_steps: Floats, *, squared: bool
) -> tuple[Integers, npt.NDArray[np.int32], Integers, Integers]:
    """The same as `sum_rows`, of dense rows: every term of each cluster that has any row."""
    n_terms = inverse_steps.size
    filled = np.flatnonzero(np.diff(starts))
    high, low = np.zeros((filled.size, n_terms), np.int64), np.zeros((filled.size, n_terms), np.int64)
    for at, cluster in enumerate(filled.tolist()):
        members = order[starts[cluster] : starts[cluster + 1]]
        for block in row_blocks(members.size, DENSE_ROWS):
            values = rows.dense_block(members[block])
            scaled = (np.square(values) if squared else values) * inverse_steps
            whole = np.rint(scaled)
            high[at] += whole.astype(np.int64).sum(axis=0)
            low[at] += np.rint(np.ldexp(scaled - whole, LOW_BITS)).astype(np.int64).sum(axis=0)
    terms = np.tile(np.arange(n_terms, dtype=np.int32), filled.size)
    return np.where(np.diff(starts) > 0, n_terms, 0), terms, high.ravel(), low.ravel()


@dataclass(frozen=True, eq=False)
class ClusterSums:
    """Sums of rows by cluster, and what follows from them alone."""

    # csr array or dense array of shape (k, n_terms), float64: the sum of the rows of each cluster; dense where the
    # documents are (never k x V dense for sparse ones)
    sums: Any

    @cached_property
    def table(self) -> TermTable:
        """The sums stored by term."""
        return TermTable.from_sums(self.sums)

    @cached_property
    def squared_norms(self) -> Floats:
        """The squared length of each sum, float64 array of shape (k,)."""
        return squared_row_norms(self.sums)

    @cached_property
    def gram(self) -> Floats:
        """The products of all pairs of sums, float64 array of shape (k, k)."""
        if not sparse.issparse(self.sums):
            return np.asarray(self.sums @ self.sums.T)
        return self.table.gram

    @cached_property
    def total(self) -> Floats:
        """The sum of all rows, float64 array of shape (n_terms,)."""
        if not sparse.issparse(self.sums):
            return np.asarray(self.sums.sum(axis=0), dtype=np.float64)
        return np.bincount(self.sums.indices, weights=self.sums.data, minlength=self.sums.shape[1]).astype(np.float64)

    @cached_property
    def total_squared(self) -> float:
        """The squared length of the sum of all rows."""
        return float(np.square(self.total).sum())  # not a BLAS product: its threads cost more than the sum


def cluster_sums(
    rows: Rows, partition: Partition, *, squared: bool = False, n_threads: int | None = None
) -> ClusterSums:
    """Return the sums of the rows of each cluster, or of the squares of their values, in O(nnz).

    Threads share the clusters, so that no cluster is summed in two parts.
    """
    order, starts = cluster_order(partition)
    lengths = np.diff(rows.arrays.indptr) if rows.is_sparse else np.full(rows.n_documents, rows.n_terms)
    blocks = [order[starts[first] : starts[last]] for first, last in _even_tasks(lengths, partition)]

    def one(block: Integers) -> ExactSums:
        return sum_block(rows, block, partition.labels, partition.n_clusters, squared=squared)

    exact = joined(list(map_blocks(one, blocks, n_threads=n_threads)))
    return ClusterSums(exact.by_cluster() if rows.is_sparse else exact.table())


def _even_tasks(row_lengths: Integers, partition: Partition) -> list[tuple[int, int]]:
    """Return consecutive ranges of clusters of about the same number of stored entries, at most `TASKS`."""
    work = np.bincount(partition.labels, weights=row_lengths + 1.0, minlength=partition.n_clusters)
    place = np.cumsum(work) - work / 2
    task = np.minimum((place * TASKS / work.sum()).astype(np.int64), TASKS - 1)
    edges = np.flatnonzero(np.diff(task)) + 1
    bounds = [0, *edges.tolist(), partition.n_clusters]
    return list(itertools.pairwise(bounds))


def cluster_order(partition: Partition) -> tuple[Integers, Integers]:
    """Return the rows listed by cluster (ascending within each), and where each cluster starts, k + 1 numbers."""
    starts = np.concatenate([[0], np.cumsum(partition.sizes)]).astype(np.int64)
    return np.argsort(partition.labels, kind="stable"), starts
