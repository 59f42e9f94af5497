"""Cluster sums stored by term: how the products of documents with all clusters read them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.kernels.jit import jit


class TermArrays(NamedTuple):
    """Cluster sums by term: a term of many clusters is a line of the head, a term of few a list."""

    head_row: Any  # int32 array of shape (n_terms,), the line of the term in the head, or -1
    head: Any  # float64 array of shape (lines, n_clusters)
    tail_ptr: Any  # int64 array of shape (n_terms + 1,), where the list of each term begins
    tail_cluster: Any  # int32 array
    tail_sum: Any  # float64 array of the same size


@jit(fastmath={"contract"})
def products_with_clusters(which, rows, scale, table):
    """Return the products of the scaled rows `which` of a `Csr` with every sum of the `table` (`TermArrays`).

    A float64 array of shape (len(which), n_clusters). Four lines of the head are added per sweep, since the sweep is
    bound by memory.
    """
    indptr, indices, data = rows
    head_row, head, tail_ptr, tail_cluster, tail_sum = table
    n_clusters = head.shape[1]
    out = np.zeros((which.size, n_clusters), np.float64)
    longest = 0
    for place in range(which.size):
        longest = max(longest, indptr[which[place] + 1] - indptr[which[place]])
    dense_row = np.empty(longest + 1, np.int64)
    weight = np.empty(longest + 1, np.float64)
    for place in range(which.size):
        row = which[place]
        products = out[place]
        n_dense = 0
        for e in range(indptr[row], indptr[row + 1]):
            t = indices[e]
            x = data[e] * scale[row]
            if head_row[t] >= 0:
                dense_row[n_dense] = head_row[t]
                weight[n_dense] = x
                n_dense += 1
            else:
                for p in range(tail_ptr[t], tail_ptr[t + 1]):
                    products[tail_cluster[p]] += x * tail_sum[p]
        e = 0
        while e + 3 < n_dense:
            first, second = head[dense_row[e]], head[dense_row[e + 1]]
            third, fourth = head[dense_row[e + 2]], head[dense_row[e + 3]]
            w1, w2, w3, w4 = weight[e], weight[e + 1], weight[e + 2], weight[e + 3]
            for j in range(n_clusters):
                products[j] += (w1 * first[j] + w2 * second[j]) + (w3 * third[j] + w4 * fourth[j])
            e += 4
        while e < n_dense:
            only = head[dense_row[e]]
            w1 = weight[e]
            for j in range(n_clusters):
                products[j] += w1 * only[j]
            e += 1
    return out


@jit
def add_tail_products(tail_terms, table, gram):
    """Add to `gram` (k x k) the products of cluster sums over the terms that are kept as lists."""
    _, _, tail_ptr, tail_cluster, tail_sum = table
    for place in range(tail_terms.size):
        t = tail_terms[place]
        for p in range(tail_ptr[t], tail_ptr[t + 1]):
            for r in range(tail_ptr[t], tail_ptr[t + 1]):
                gram[tail_cluster[p], tail_cluster[r]] += tail_sum[p] * tail_sum[r]


# A term is kept as a dense line of the table when it occurs in more than one in DENSE_FROM clusters (measured: below
# that a posting list is faster), or in a larger share where the table would exceed TABLE_BYTES.
DENSE_FROM = 32
TABLE_BYTES = 256 * 2**20


@dataclass(frozen=True, eq=False)
class TermTable:
    """Cluster sums by term: dense lines for terms of many clusters, posting lists for the others."""

    arrays: TermArrays

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
        tail = tail_ptr, by_term.indices[~dense].astype(np.int32), by_term.data[~dense]
        return cls(TermArrays(head_row, head, *tail))

    @cached_property
    def gram(self) -> npt.NDArray[np.float64]:
        """The products of all pairs of sums, float64 array of shape (k, k)."""
        head = self.arrays.head
        gram: npt.NDArray[np.float64] = head.T @ head
        add_tail_products(np.flatnonzero(np.diff(self.arrays.tail_ptr)), self.arrays, gram)
        return gram
