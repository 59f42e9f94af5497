"""Products of one document with many, through the inverted index: lists for rare terms, dense lines for common ones.

A caller goes through the documents in parts that stay near the processor, with all rows that it multiplies in turn.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from doccluster.kernels.arguments import Csr
from doccluster.kernels.jit import jit

# Sums and extremes may be regrouped so that they vectorise; no value is nan. The same for any number of threads.
REGROUP = {"reassoc", "contract", "nsz", "nnan"}


class InvertedIndex(NamedTuple):
    """A matrix by term. Terms of many documents have a dense line instead, which needs no scattered writes."""

    lists: Csr  # of the transposed matrix
    line_of: npt.NDArray[np.int32]  # the line of each term, -1 for the others
    lines: npt.NDArray[Any]  # (n_lines, n_documents)


class Reach(NamedTuple):
    """What some rows have to go through in an index, one row after the other; lists are moved on as they are read."""

    ends: npt.NDArray[np.int64]  # (n_rows + 1, 2), how many lists, and how many lines, the rows before have
    lists: npt.NDArray[np.int64]  # (n, 2), the next and the last place of each list
    list_weights: npt.NDArray[Any]
    lines: npt.NDArray[np.int64]
    line_weights: npt.NDArray[Any]


@jit(inner=True)
def reach_of(rows, chosen, index, first, begins, like):
    """Return the `Reach` of the `chosen` of some `rows` (Csr): lists from document `first` on.

    If `begins` is not empty it says where the list of each stored entry begins instead. The weights are of the type of
    the array `like`, to which products will be added.
    """
    indptr, indices, data = rows
    lists, line_of, _ = index
    ends = np.zeros((chosen.size + 1, 2), np.int64)
    capacity = 0
    for row in chosen:
        capacity += indptr[row + 1] - indptr[row]
    tail, weights = np.empty((capacity, 2), np.int64), np.empty(capacity, like.dtype)
    lines, line_weights = np.empty(capacity, np.int64), np.empty(capacity, like.dtype)
    for place, row in enumerate(chosen):
        n_lists, n_lines = ends[place, 0], ends[place, 1]
        for entry in range(indptr[row], indptr[row + 1]):
            term = indices[entry]
            if line_of[term] >= 0:
                lines[n_lines], line_weights[n_lines] = line_of[term], data[entry]
                n_lines += 1
            else:
                at, end = lists.indptr[term], lists.indptr[term + 1]
                if begins.size:
                    at = begins[entry]
                elif first > 0:
                    at = first_from(lists.indices, at, end, first)
                tail[n_lists, 0], tail[n_lists, 1] = at, end
                weights[n_lists] = data[entry]
                n_lists += 1
        ends[place + 1, 0], ends[place + 1, 1] = n_lists, n_lines
    return Reach(ends, tail, weights, lines, line_weights)


@jit(inline="always", inner=True)
def write_products(reach, number, index, low, high, products):
    """Make ``products[low:high]`` those of the row of this number with the documents low..high-1.

    For one row, calls must come in ascending order of the documents.
    """
    some = products[low:high]
    for place in range(some.size):  # from 0, so that no place can be negative: the loop becomes vectors
        some[place] = 0
    listed = slice(reach.ends[number, 0], reach.ends[number + 1, 0])
    lined = slice(reach.ends[number, 1], reach.ends[number + 1, 1])
    lists = index.lists
    add_postings(reach.lists[listed], reach.list_weights[listed], lists.indices, lists.data, high, products)
    add_lines(index.lines, reach.lines[lined], reach.line_weights[lined], low, high, products)


@jit(fastmath=REGROUP, inner=True)
def add_lines(head, lines, weights, low, high, products):
    """Add weighted lines of `head` (lines, documents), eight at a time, to ``products[low:high]``."""
    some = products[low:high]
    i = 0
    while i + 7 < lines.size:
        a, b = head[lines[i], low:high], head[lines[i + 1], low:high]
        c, d = head[lines[i + 2], low:high], head[lines[i + 3], low:high]
        e, f = head[lines[i + 4], low:high], head[lines[i + 5], low:high]
        g, h = head[lines[i + 6], low:high], head[lines[i + 7], low:high]
        u, v, w, x = weights[i], weights[i + 1], weights[i + 2], weights[i + 3]
        p, q, r, s = weights[i + 4], weights[i + 5], weights[i + 6], weights[i + 7]
        for j in range(some.size):
            first = u * a[j] + v * b[j] + w * c[j] + x * d[j]
            some[j] += first + p * e[j] + q * f[j] + r * g[j] + s * h[j]
        i += 8
    if i + 3 < lines.size:
        a, b = head[lines[i], low:high], head[lines[i + 1], low:high]
        c, d = head[lines[i + 2], low:high], head[lines[i + 3], low:high]
        u, v, w, x = weights[i], weights[i + 1], weights[i + 2], weights[i + 3]
        for j in range(some.size):
            some[j] += u * a[j] + v * b[j] + w * c[j] + x * d[j]
        i += 4
    while i < lines.size:
        one, u = head[lines[i], low:high], weights[i]
        for j in range(some.size):
            some[j] += u * one[j]
        i += 1


@jit(inner=True)
def add_postings(tail, weights, post_row, post_data, high, products):
    """Add the postings before document `high` to `products`, and move on in each list.

    `tail` (lists, 2) holds the next and the last place of each list in `post_row` and `post_data`.
    """
    limit = np.uint64(high)
    for i in range(weights.size):
        p, end, x = np.uint64(tail[i, 0]), np.uint64(tail[i, 1]), weights[i]
        while p < end:
            j = np.uint64(post_row[p])  # unsigned: no place is counted from the end
            if j >= limit:
                break
            products[j] += x * post_data[p]
            p += np.uint64(1)
        tail[i, 0] = p


@jit(inner=True)
def first_from(rows, low, high, bound):
    """Return the first place in low..high of an ascending list whose row is at least `bound`."""
    while low < high:
        middle = (low + high) // 2
        if rows[middle] < bound:
            low = middle + 1
        else:
            high = middle
    return low
