"""Sums of the documents of each cluster: the first of the two readings of the matrix.

A value is taken as a whole number of steps, a power of two for each term, and whole numbers are added: blocks of rows
may be summed anywhere and combined in any order, and give the same bytes. A step is so small (2^-61 of a unit row)
that a sum is the exact one to the last place of float64 but for values below a thousandth, which lose less than a sum
in float64 would.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from doccluster.base.arrays import AnyIntegers, CscArray, CsrArray, Flags, Floats, Integers, Matrix, is_sparse
from doccluster.base.blocks import map_blocks, row_blocks
from doccluster.base.validation import squared_row_norms
from doccluster.geometry.documents import Rows
from doccluster.geometry.partition import Partition

# A term is kept as a dense line of the table when it occurs in more than one in DENSE_FROM clusters (measured: below
# that a posting list is faster), or in a larger share where the table would exceed TABLE_BYTES.
DENSE_FROM = 32
TABLE_BYTES = 256 * 2**20


@dataclass(frozen=True, eq=False)
class TermTable:
    """Cluster sums by term: those of terms of many clusters are laid out as dense lines when they are asked for."""

    by_term: sparse.csr_array  # of shape (n_terms, n_clusters)
    in_head: Flags  # of shape (n_terms,): whether a term has a line

    @classmethod
    def from_sums(cls, sums: sparse.csr_array) -> TermTable:
        """Return the table of a csr array of shape (k, n_terms)."""
        n_clusters, n_terms = sums.shape
        by_term = sparse.csr_array(sums.T)
        n_met = np.diff(by_term.indptr)
        in_head = n_met * DENSE_FROM >= n_clusters
        if int(in_head.sum()) * n_clusters * 8 > TABLE_BYTES:
            max_terms = max(1, TABLE_BYTES // (8 * n_clusters))
            in_head = n_met > np.partition(n_met, n_terms - max_terms - 1)[n_terms - max_terms - 1]
        return cls(by_term, in_head & (n_met > 0))

    @cached_property
    def head(self) -> Floats:
        """The sums of the terms that have a line, array of shape (n_lines, n_clusters)."""
        return np.asarray(self.by_term[self.in_head].toarray())

    @cached_property
    def tail(self) -> CsrArray:
        """The sums of the other terms, csr array of shape (n_terms, n_clusters)."""
        return _only(self.by_term, ~np.repeat(self.in_head, np.diff(self.by_term.indptr)))

    def parted(self, rows: CsrArray) -> tuple[CsrArray, CsrArray]:
        """Return csr rows with the terms that have a line alone, and with the others: their products are added up."""
        in_head = self.in_head[rows.indices]
        return _only(rows, in_head), _only(rows, ~in_head)

    def products(self, rows: CsrArray) -> Floats:
        """Return the products of csr rows with every sum, array of shape (n_rows, n_clusters)."""
        in_head, in_tail = self.parted(rows)
        lines, shape = np.cumsum(self.in_head) - 1, (rows.shape[0], self.head.shape[0])
        numbered = sparse.csr_array((in_head.data, lines[in_head.indices], in_head.indptr), shape=shape)
        return np.asarray(numbered @ self.head + in_tail @ self.tail)

    @cached_property
    def gram(self) -> Floats:
        """The products of all pairs of sums, float64 array of shape (k, k)."""
        return np.asarray(self.head.T @ self.head + self.tail.T @ self.tail)


def _only(matrix: sparse.csr_array, stays: Flags) -> sparse.csr_array:
    """Return a csr array with some of its values alone."""
    starts = np.concatenate([[0], np.cumsum(stays)])[matrix.indptr]
    return sparse.csr_array((matrix.data[stays], matrix.indices[stays], starts), shape=matrix.shape)


TASKS = 16  # ranges of clusters that are summed at a time
ENTRIES_AT_ONCE = 2**21  # values that are summed at a time, about: some 100 MiB
LOW_BITS = 32  # a value is taken as ``(high + low / 2^32) step``, both whole numbers


@dataclass(frozen=True, eq=False)
class ExactSums:
    """Sums by cluster and term in whole numbers; ``a + b`` does not depend on which comes first.

    `high`, `low`: int64 arrays of shape (n_clusters, n_terms), csr where the rows are: a sum is
    ``(high + low / 2^32) steps[term]``.
    """

    high: CscArray
    low: CscArray
    steps: Floats  # of shape (n_terms,): powers of two, the same for all blocks of a collection

    def __add__(self, addend: ExactSums) -> ExactSums:
        if not np.array_equal(self.steps, addend.steps):
            raise ValueError("sums count in different steps; take the steps of the whole collection to add them")
        return ExactSums(self.high + addend.high, self.low + addend.low, self.steps)

    def __neg__(self) -> ExactSums:
        return ExactSums(-self.high, -self.low, self.steps)

    def by_cluster(self) -> CsrArray:
        """Return the sums, each rounded once: float64 array of shape (n_clusters, n_terms), csr where the rows are."""
        carried, remainder = _of_values(_carried, self.low), _of_values(_rest, self.low)
        sums = (self.high + carried).astype(np.float64) + remainder
        if not sparse.issparse(sums):
            return sums * self.steps
        return sparse.csr_array((sums.data * self.steps[sums.indices], sums.indices, sums.indptr), shape=sums.shape)


def _carried(low: Integers) -> Integers:
    """Return the whole steps in some low parts, to the nearest."""
    return (low + (1 << (LOW_BITS - 1))) >> LOW_BITS


def _rest(low: Integers) -> Floats:
    """Return the rest of low parts beyond whole steps, in steps."""
    return np.ldexp((low - (_carried(low) << LOW_BITS)).astype(np.float64), -LOW_BITS)


def _of_values(function: Callable[[Any], Any], matrix: Matrix) -> Matrix:
    """Return a matrix with a function of the values of another in their places."""
    if not is_sparse(matrix):
        return function(matrix)
    return sparse.csr_array((function(matrix.data), matrix.indices, matrix.indptr), shape=matrix.shape)


def joined(parts: Sequence[object]) -> Any:
    """Return the sums of all parts together."""
    return functools.reduce(operator.add, parts)


def sum_block(rows: Rows, block: Integers, labels: AnyIntegers, n_clusters: int, *, squared: bool = False) -> ExactSums:
    """Return the sums by cluster of some rows, or of the squares of their values.

    `labels`: int array of shape (n_documents,); those of the block are 0..n_clusters-1.
    """
    steps = rows.squared_steps if squared else rows.steps
    width = rows.arrays.indices.size / max(rows.n_documents, 1) if rows.is_sparse else rows.n_terms
    n_pieces = max(1, round(block.size * width / ENTRIES_AT_ONCE))
    pieces = row_blocks(block.size, max(1, -(-block.size // n_pieces))) or [slice(0, 0)]

    def sum_piece(piece: slice) -> ExactSums:
        members = block[piece]
        if rows.is_sparse:
            matrix = rows.matrix[members]
            values = matrix.data * np.repeat(rows.scale[members], np.diff(matrix.indptr))
            steps_of_values = steps[matrix.indices]
        else:
            values, steps_of_values = rows.dense_block(members), steps
        scaled = (np.square(values) if squared else values) / steps_of_values
        whole = np.rint(scaled)
        remainder = np.rint(np.ldexp(scaled - whole, LOW_BITS))
        high, low = whole.astype(np.int64), remainder.astype(np.int64)
        if rows.is_sparse:
            high, low = (sparse.csr_array((part, matrix.indices, matrix.indptr), matrix.shape) for part in (high, low))
        high, low = (_sum_by_label(part, labels[members], n_clusters) for part in (high, low))
        return ExactSums(high, low, steps)

    return functools.reduce(operator.add, map(sum_piece, pieces))


def _sum_by_label(matrix: Matrix, labels: AnyIntegers, n_clusters: int) -> Matrix:
    """Return the plain sums of the rows with each label, in the type and form of the matrix."""
    values, starts = np.ones(labels.size, matrix.dtype), np.arange(labels.size + 1)
    sums = sparse.csc_array((values, labels, starts), shape=(n_clusters, labels.size)).tocsr() @ matrix
    return sums.tocsc().tocsr() if sparse.issparse(sums) else sums  # terms ascending, faster than comparing them would


def sums_by_label(matrix: Matrix, labels: AnyIntegers, n_clusters: int) -> Any:
    """Return the sums of the rows with each label, as they are, of the form of `matrix`; shape (n_clusters, n_terms).

    `labels`: int array of shape (n_documents,), 0..n_clusters-1.
    """
    return sum_block(Rows.as_they_are(matrix), np.arange(labels.size), labels, n_clusters).by_cluster()


def count_presence(matrix: Matrix, labels: AnyIntegers, n_clusters: int) -> sparse.csr_array:
    """Return in how many of the rows with each label each term is, a float64 csr array; rows of blocks may be counted
    by themselves."""
    rows = sparse.csr_array(matrix)
    is_present = sparse.csr_array(((rows.data != 0).astype(np.float64), rows.indices, rows.indptr), shape=rows.shape)
    return sparse.csr_array(_sum_by_label(is_present, labels, n_clusters))


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
        return np.asarray(self.sums.sum(axis=0), dtype=np.float64)

    @cached_property
    def total_squared(self) -> float:
        """The squared length of the sum of all rows."""
        return float(np.square(self.total).sum())  # not a BLAS product: its threads cost more than the sum

    @cached_property
    def products_with_total(self) -> Floats:
        """The products of each sum with the sum of all rows, float64 array of shape (k,)."""
        return np.asarray(self.sums @ self.total).ravel()


def cluster_sums(
    rows: Rows, partition: Partition, *, squared: bool = False, n_threads: int | None = None
) -> ClusterSums:
    """Return the sums of the rows of each cluster, or of the squares of their values, in O(nnz).

    Threads share the clusters, so that no cluster is summed in two parts.
    """
    order, starts = cluster_order(partition)
    lengths = np.diff(rows.arrays.indptr) if rows.is_sparse else np.full(rows.n_documents, rows.n_terms)

    def one(clusters: tuple[int, int]) -> Any:
        first, last = clusters
        block, cluster = order[starts[first] : starts[last]], partition.labels - first
        return sum_block(rows, block, cluster, last - first, squared=squared).by_cluster()

    parts = list(map_blocks(one, _even_tasks(lengths, partition), n_threads=n_threads))
    return ClusterSums(sparse.csr_array(sparse.vstack(parts, format="csr")) if rows.is_sparse else np.vstack(parts))


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
