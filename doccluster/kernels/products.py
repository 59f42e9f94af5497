"""The products of documents with the sums of clusters.

Documents are rows of a csr matrix in their stored type; every product and every sum is made in float64.
"""

from __future__ import annotations

import numpy as np

from doccluster.kernels.jit import jit


@jit(fastmath={"contract"})
def products_with_clusters(rows, indptr, indices, data, scale, head_row, head, tail_ptr, tail_cluster, tail_sum):
    """Return the products of the scaled rows with every cluster sum, float64 array of shape (len(rows), k).

    The sums are stored by term: a term of many clusters is the row ``head_row[t]`` of the dense `head`, a term of few
    is a posting list (``head_row[t]`` is -1). Four dense rows are added per sweep, since the sweep is bound by memory.
    """
    n_clusters = head.shape[1]
    out = np.zeros((rows.size, n_clusters), np.float64)
    longest = 0
    for place in range(rows.size):
        longest = max(longest, indptr[rows[place] + 1] - indptr[rows[place]])
    dense_row = np.empty(longest + 1, np.int64)
    weight = np.empty(longest + 1, np.float64)
    for place in range(rows.size):
        row = rows[place]
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
def add_tail_products(tail_terms, tail_ptr, tail_cluster, tail_sum, gram):
    """Add to `gram` (k x k) the products of cluster sums over the terms that are kept as posting lists."""
    for place in range(tail_terms.size):
        t = tail_terms[place]
        for p in range(tail_ptr[t], tail_ptr[t + 1]):
            for r in range(tail_ptr[t], tail_ptr[t + 1]):
                gram[tail_cluster[p], tail_cluster[r]] += tail_sum[p] * tail_sum[r]
