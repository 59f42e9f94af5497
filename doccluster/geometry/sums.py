"""Sums of the documents of each cluster, and how terms vary: the first of the two readings of the matrix.

Sums are a csr array where documents are sparse (never k x V dense), and what is derived from them alone is derived
here: their Gram matrix, and the same sums stored by term for the second reading.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.blocks import map_blocks, row_blocks
from doccluster.geometry.rows import Rows
from doccluster.kernels.products import add_tail_products, sum_clusters
from doccluster.partition import Partition
from doccluster.validation import squared_row_norms

# A term is kept as a dense line of the table when it occurs in more than one in DENSE_FROM clusters (measured: below
# that a posting list is faster), or in a larger share where the table would exceed TABLE_BYTES.
DENSE_FROM = 32
TABLE_BYTES = 256 * 2**20
SUM_TASKS = 16  # fixed, so that the order of every addition is independent of the number of threads
DENSE_ROWS = 4096


@dataclass(frozen=True, eq=False)
class ClusterSums:
    """Sums of rows by cluster.

    Attributes
    ----------
    sums : csr array or dense array of shape (k, n_terms), float64
        The sum of the rows of each cluster.
    term_squares : float64 array of shape (n_terms,)
        The sum over documents of the squared weight of each term.
    variance_norms : float64 array of shape (k,)
        The length of the vector of population variances of the terms in each cluster.
    """

    sums: Any
    term_squares: npt.NDArray[np.float64]
    variance_norms: npt.NDArray[np.float64]

    @cached_property
    def table(self) -> TermTable:
        """The sums stored by term."""
        return TermTable.from_sums(self.sums)

    @cached_property
    def squared_norms(self) -> npt.NDArray[np.float64]:
        """The squared length of each sum, float64 array of shape (k,)."""
        return squared_row_norms(self.sums)

    @cached_property
    def gram(self) -> npt.NDArray[np.float64]:
        """The products of all pairs of sums, float64 array of shape (k, k)."""
        if not sparse.issparse(self.sums):
            return np.asarray(self.sums @ self.sums.T)
        return self.table.gram

    @cached_property
    def total(self) -> npt.NDArray[np.float64]:
        """The sum of all rows, float64 array of shape (n_terms,)."""
        if not sparse.issparse(self.sums):
            return np.asarray(self.sums.sum(axis=0), dtype=np.float64)
        return np.bincount(self.sums.indices, weights=self.sums.data, minlength=self.sums.shape[1]).astype(np.float64)

    @cached_property
    def total_squared(self) -> float:
        """The squared length of the sum of all rows."""
        return float(np.square(self.total).sum())  # not a BLAS product: its threads cost more than the sum


@dataclass(frozen=True, eq=False)
class TermTable:
    """Cluster sums by term: dense lines for terms of many clusters, posting lists for the others."""

    head_row: npt.NDArray[np.int32]  # (n_terms,) the line of the term in head, or -1
    head: npt.NDArray[np.float64]  # (lines, k)
    tail_ptr: npt.NDArray[np.int64]  # (n_terms + 1,)
    tail_cluster: npt.NDArray[np.int32]
    tail_sum: npt.NDArray[np.float64]

    @classmethod
    def from_sums(cls, sums: sparse.csr_array) -> TermTable:
        """Return the table of a csr array of shape (k, n_terms)."""
        n_clusters, n_terms = sums.shape
        by_term = sums.tocsc()
        n_met = np.diff(by_term.indptr)
        in_head = n_met * DENSE_FROM >= n_clusters
        if int(in_head.sum()) * n_clusters * 8 > TABLE_BYTES:
            most = max(1, TABLE_BYTES // (8 * n_clusters))
            in_head = n_met > np.partition(n_met, n_terms - most - 1)[n_terms - most - 1]
        in_head &= n_met > 0
        lines = np.flatnonzero(in_head)
        head_row = np.full(n_terms, -1, np.int32)
        head_row[lines] = np.arange(lines.size)
        head = np.zeros((lines.size, n_clusters))
        term = np.repeat(np.arange(n_terms, dtype=np.int32), n_met)
        dense = in_head[term]
        head[head_row[term[dense]], by_term.indices[dense]] = by_term.data[dense]
        tail_ptr = np.concatenate([[0], np.cumsum(np.where(in_head, 0, n_met))]).astype(np.int64)
        return cls(head_row, head, tail_ptr, by_term.indices[~dense].astype(np.int32), by_term.data[~dense])

    @cached_property
    def gram(self) -> npt.NDArray[np.float64]:
        """The products of all pairs of sums, float64 array of shape (k, k)."""
        gram = self.head.T @ self.head
        terms = np.flatnonzero(np.diff(self.tail_ptr))
        add_tail_products(terms, self.tail_ptr, self.tail_cluster, self.tail_sum, gram)
        return gram


def cluster_sums(rows: Rows, partition: Partition, *, n_threads: int | None = None) -> ClusterSums:
    """Return the sums of the rows of each cluster, in O(nnz), clusters shared among threads."""
    return (_sparse_sums if rows.is_sparse else _dense_sums)(rows, partition, n_threads)


def _sparse_sums(rows: Rows, partition: Partition, n_threads: int | None) -> ClusterSums:
    order, starts = cluster_order(partition)
    indptr, indices, data = rows.arrays
    k = partition.n_clusters

    def sum_some(task: tuple[int, int]) -> Any:
        return sum_clusters(*task, order, starts, indptr, indices, data, rows.scale, rows.n_terms, rows.tau)

    counts, terms, sums, variances = [], [], [], []
    term_squares = np.zeros(rows.n_terms)
    for part in map_blocks(sum_some, _even_tasks(np.diff(indptr), partition), n_threads=n_threads):
        counts.append(part[0])
        terms.append(part[1])
        sums.append(part[2])
        term_squares += part[3]
        variances.append(part[4])
    bounds = np.concatenate([[0], np.cumsum(np.concatenate(counts))]).astype(np.int64)
    matrix = sparse.csr_array((np.concatenate(sums), np.concatenate(terms), bounds), shape=(k, rows.n_terms))
    return ClusterSums(matrix, term_squares, np.sqrt(np.concatenate(variances)))


def _even_tasks(row_lengths: npt.NDArray[np.int64], partition: Partition) -> list[tuple[int, int]]:
    """Return consecutive ranges of clusters of about the same number of stored entries, at most SUM_TASKS."""
    work = np.bincount(partition.labels, weights=row_lengths + 1.0, minlength=partition.n_clusters)
    place = np.cumsum(work) - work / 2
    task = np.minimum((place * SUM_TASKS / work.sum()).astype(np.int64), SUM_TASKS - 1)
    edges = np.flatnonzero(np.diff(task)) + 1
    bounds = [0, *edges.tolist(), partition.n_clusters]
    return list(itertools.pairwise(bounds))


def _dense_sums(rows: Rows, partition: Partition, n_threads: int | None) -> ClusterSums:
    k, d = partition.n_clusters, rows.n_terms
    sums, squares = np.zeros((k, d)), np.zeros((k, d))
    order, starts = cluster_order(partition)

    def sum_one(cluster: int) -> None:
        members = order[starts[cluster] : starts[cluster + 1]]
        for block in row_blocks(members.size, DENSE_ROWS):
            values = rows.dense_block(members[block])
            sums[cluster] += values.sum(axis=0)
            squares[cluster] += np.einsum("ij,ij->j", values, values)

    for _ in map_blocks(sum_one, range(k), n_threads=n_threads):
        pass
    sizes = partition.sizes[:, None]
    variances = squares / sizes - (sums / sizes) ** 2
    variances[variances <= rows.tau * squares / sizes] = 0.0
    return ClusterSums(sums, squares.sum(axis=0), np.sqrt(np.square(variances).sum(axis=1)))


def cluster_order(partition: Partition) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the rows listed by cluster (ascending within each), and where each cluster starts, k + 1 numbers."""
    starts = np.concatenate([[0], np.cumsum(partition.sizes)]).astype(np.int64)
    return np.argsort(partition.labels, kind="stable"), starts
