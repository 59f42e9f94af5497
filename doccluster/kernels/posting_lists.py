"""Products of one document with many, through the inverted index: lists for rare terms, dense lines for common ones.

Both work on a range of the documents, so that a caller can go through them in parts that stay near the processor.
"""

from __future__ import annotations

import numpy as np

from doccluster.kernels.jit import jit

# Sums and extremes may be regrouped so that they vectorise; no value is nan. The same for any number of threads.
REGROUP = {"reassoc", "contract", "nsz", "nnan"}


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
