"""The products of documents with the sums of clusters.

Documents are rows of a csr matrix in their stored type; every product and every sum is made in float64.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

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
