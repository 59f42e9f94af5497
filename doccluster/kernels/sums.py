"""Sums of documents by cluster in whole numbers, which no order of adding changes."""

from __future__ import annotations

import numpy as np

from doccluster.kernels.jit import jit
from doccluster.kernels.reordering import sort_in_place

LOW_BITS = 32  # a value is taken as ``(high + low / 2^32) step``, both whole numbers


@jit
def largest_magnitudes(indices, data, n_terms):
    """Return the largest absolute value of each term, float64 array of shape (n_terms,); 0 without values."""
    largest = np.zeros(n_terms)
    for e in range(indices.size):
        largest[indices[e]] = max(largest[indices[e]], abs(np.float64(data[e])))
    return largest


@jit
def sum_rows(order, starts, rows, scale, inverse_steps, squared):
    """Return the sums of the scaled rows, or of their squares, of each cluster, as whole numbers of steps.

    `rows` is a `Csr`; `order` lists them by cluster, those of cluster c from ``starts[c]`` to ``starts[c + 1]``.
    ``inverse_steps[t]`` is 1 over the step of term t, a power of two, large enough that 2^31 values of the term are
    below 2^61 steps.

    Returns
    -------
    counts : int64 array of shape (n_clusters,), the number of terms that occur in each cluster
    terms : int32 array, the terms of each cluster, ascending, one cluster after the other
    high, low : int64 arrays of the same size: the sum is ``(high + low / 2^32) / inverse_steps[term]``
    """
    indptr, indices, data = rows
    n_clusters, n_terms = starts.size - 1, inverse_steps.size
    capacity = 0
    for c in range(n_clusters):
        stored = 0
        for place in range(starts[c], starts[c + 1]):
            stored += indptr[order[place] + 1] - indptr[order[place]]
        capacity += min(stored, n_terms)
    counts = np.zeros(n_clusters, np.int64)
    terms = np.empty(capacity, np.int32)
    high, low = np.empty(capacity, np.int64), np.empty(capacity, np.int64)
    totals = np.zeros((n_terms, 2), np.int64)
    seen = np.zeros(n_terms, np.bool_)
    touched = np.empty(n_terms, np.int64)
    filled = 0
    for c in range(n_clusters):
        n_touched = 0
        for place in range(starts[c], starts[c + 1]):
            row = order[place]
            for e in range(indptr[row], indptr[row + 1]):
                t = indices[e]
                if not seen[t]:
                    seen[t] = True
                    touched[n_touched] = t
                    n_touched += 1
                x = data[e] * scale[row]
                if squared:
                    x = x * x
                x = x * inverse_steps[t]
                whole = np.rint(x)
                totals[t, 0] += np.int64(whole)
                totals[t, 1] += np.int64(np.rint((x - whole) * 4294967296.0))
        if n_touched * 16 > n_terms:  # reading all flags in order is cheaper than sorting many terms
            n_touched = 0
            for t in range(n_terms):
                if seen[t]:
                    touched[n_touched] = t
                    n_touched += 1
        else:
            sort_in_place(touched, n_touched)
        for place in range(n_touched):
            t = touched[place]
            terms[filled], high[filled], low[filled] = t, totals[t, 0], totals[t, 1]
            filled += 1
            totals[t, 0], totals[t, 1] = 0, 0
            seen[t] = False
        counts[c] = n_touched
    return counts, terms[:filled].copy(), high[:filled].copy(), low[:filled].copy()
