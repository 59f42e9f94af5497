"""Distances of all pairs of documents, one row at a time and never kept: what sums, extremes and histograms need.

Documents are sorted by cluster, so a cluster is a range of places. The products of a row with all later rows are
added up through the inverted index (`post_ptr`, `post_row`, `post_data`); `after` says, for each stored entry, where
the postings of later rows begin, so that each pair is met once. Dense matrices bring their products ready in `gram`.

`squared` holds what pairs are ordered by: the squared Euclidean distance, or the cosine distance; 0 where it is
rounding noise (P9). Pairs without a common term lie exactly at `atom` (2, or 1); they are most of the pairs of text.
"""

from __future__ import annotations

import numpy as np

from doccluster.kernels.jit import jit

EUCLIDEAN, SQEUCLIDEAN, COSINE = 0, 1, 2

# Sums and extremes over a cluster may be regrouped so that they vectorise; no value here is nan.
REGROUP = {"reassoc", "contract", "nsz", "nnan"}


@jit
def places_after(indptr, indices, post_ptr, after):
    """Fill `after` (nnz,): for each stored entry, the place in its posting list behind the entry itself."""
    met = post_ptr[:-1].copy()
    for row in range(indptr.size - 1):
        for e in range(indptr[row], indptr[row + 1]):
            met[indices[e]] += 1
            after[e] = met[indices[e]]


@jit(fastmath=REGROUP)
def squared_distances(row, low, high, documents, gram_line, gram_offset, metric, tau, squared):
    """Fill ``squared[low:high]`` with the distances of `row` to the documents at these places."""
    indptr, indices, data, after, post_ptr, post_row, post_data, scale, norms = documents
    if gram_line.size:
        squared[low:high] = gram_line[low - gram_offset : high - gram_offset]
    else:
        squared[low:high] = 0.0
        for e in range(indptr[row], indptr[row + 1]):
            t = indices[e]
            x = np.float64(data[e])
            start = after[e] if low > row else post_ptr[t]
            for p in range(start, post_ptr[t + 1]):
                j = post_row[p]
                if j >= high:
                    break
                squared[j] += x * post_data[p]
    own_scale, q = scale[row], norms[row]
    if metric == COSINE:
        for j in range(low, high):
            d = 1.0 - squared[j] * (own_scale * scale[j])
            squared[j] = d if d > tau else 0.0
    else:
        for j in range(low, high):
            both = q + norms[j]
            d = both - 2.0 * (squared[j] * (own_scale * scale[j]))
            squared[j] = d if d > tau * both else 0.0


@jit(fastmath=REGROUP)
def sweep_rows(
    rows,
    documents,
    gram,
    gram_offset,
    labels,
    starts,
    metric,
    tau,
    atom,
    each_pair_once,
    with_nearest,
    n_bins,
    inverse_width,
):
    """Meet all pairs of some rows (ascending places) with later rows, or with all rows unless `each_pair_once`.

    Returns
    -------
    sums, nearest : arrays (len(rows), k), distances of each row to each cluster summed, and the least squared one
    column_sums, column_nearest : arrays (clusters met, n), the same for the other document of each pair
    largest, smallest : arrays (clusters met, k), extremes of `squared` by pair of clusters; the own one has no least
    counts, bin_sums : arrays (n_bins,), pairs (met once, off the atom) by `squared`, and their summed distances
    totals : number of pairs at the atom (once), number of pairs at zero, sum of squared distances of pairs met
    """
    n, k = labels.size, starts.size - 1
    first = labels[rows[0]]
    n_lines = labels[rows[rows.size - 1]] - first + 1
    sums = np.zeros((rows.size, k))
    nearest = np.full((rows.size if with_nearest else 0, k), np.inf)
    column_sums = np.zeros((n_lines if each_pair_once else 0, n))
    column_nearest = np.full((n_lines if each_pair_once and with_nearest else 0, n), np.inf)
    largest = np.full((n_lines, k), -1.0)
    smallest = np.full((n_lines, k), np.inf)
    counts = np.zeros(n_bins, np.int64)
    bin_sums = np.zeros(n_bins, np.float64)
    at_atom, at_zero, power = 0, 0, 0.0
    squared, distance = np.empty(n), np.empty(n)
    for place in range(rows.size):
        row = rows[place]
        own = labels[row]
        low = row + 1 if each_pair_once else 0
        gram_line = gram[place % gram.shape[0]]
        squared_distances(row, low, n, documents, gram_line, gram_offset, metric, tau, squared)
        if not each_pair_once:
            squared[row] = 0.0
        if metric == EUCLIDEAN:
            for j in range(low, n):
                distance[j] = np.sqrt(squared[j])
        else:
            distance[low:n] = squared[low:n]
        for c in range(own if each_pair_once else 0, k):
            begin, end = max(starts[c], low), starts[c + 1]
            if begin >= end:
                continue
            total, squares, most, least, zeros = 0.0, 0.0, 0.0, np.inf, 0
            for j in range(begin, end):
                total += distance[j]
                squares += distance[j] * distance[j]
                most = max(most, squared[j])
                least = min(least, squared[j])
                zeros += squared[j] == 0.0
            sums[place, c] = total
            power += squares
            at_zero += zeros
            largest[own - first, c] = max(largest[own - first, c], most)
            if c != own:
                smallest[own - first, c] = min(smallest[own - first, c], least)
                if with_nearest:
                    nearest[place, c] = least
        if each_pair_once:
            line = column_sums[own - first]
            for j in range(low, n):
                line[j] += distance[j]
            if with_nearest:
                least_line = column_nearest[own - first]
                for j in range(low, n):
                    least_line[j] = min(least_line[j], squared[j])
        else:
            at_zero -= 1
        if n_bins:
            for j in range(row + 1, n):
                if squared[j] == atom:
                    at_atom += 1
                else:
                    b = min(int(squared[j] * inverse_width), n_bins - 1)
                    counts[b] += 1
                    bin_sums[b] += distance[j]
    return sums, nearest, column_sums, column_nearest, largest, smallest, counts, bin_sums, at_atom, at_zero, power


@jit(fastmath=REGROUP)
def collect_bins(rows, documents, gram, gram_offset, metric, tau, atom, n_bins, inverse_width, one, other, low, high):
    """Return `squared` of the pairs with later rows, off the atom, in one of two bins and between `low` and `high`."""
    n = documents[8].size
    squared = np.empty(n)
    found = np.empty(1024)
    n_found = 0
    # Most pairs are told apart by edges a little outside the bins; the bin itself decides.
    widen = 1e-9 / inverse_width
    one_low, one_high = one / inverse_width - widen, (one + 1) / inverse_width + widen
    other_low, other_high = other / inverse_width - widen, (other + 1) / inverse_width + widen
    if one == n_bins - 1:
        one_high = np.inf
    if other == n_bins - 1:
        other_high = np.inf
    for place in range(rows.size):
        row = rows[place]
        line = gram[place % gram.shape[0]]
        squared_distances(row, row + 1, n, documents, line, gram_offset, metric, tau, squared)
        for j in range(row + 1, n):
            s = squared[j]
            if not (one_low <= s <= one_high or other_low <= s <= other_high):
                continue
            b = min(int(s * inverse_width), n_bins - 1)
            if b in (one, other) and s != atom and low <= s <= high:
                if n_found == found.size:
                    grown = np.empty(2 * found.size)
                    grown[:n_found] = found
                    found = grown
                found[n_found] = s
                n_found += 1
    return found[:n_found].copy()


@jit(fastmath=REGROUP)
def divide_bin(rows, documents, gram, gram_offset, metric, tau, atom, n_bins, inverse_width, wanted, low, high):
    """Count the pairs of one bin between `low` and `high` in `n_bins` equal parts of that range.

    Returns the counts, the summed distances, and the least and largest `squared` of each part.
    """
    n = documents[8].size
    squared = np.empty(n)
    counts = np.zeros(n_bins, np.int64)
    sums = np.zeros(n_bins, np.float64)
    least = np.full(n_bins, np.inf)
    most = np.full(n_bins, -np.inf)
    for place in range(rows.size):
        row = rows[place]
        line = gram[place % gram.shape[0]]
        squared_distances(row, row + 1, n, documents, line, gram_offset, metric, tau, squared)
        for j in range(row + 1, n):
            s = squared[j]
            if s != atom and low <= s <= high and min(int(s * inverse_width), n_bins - 1) == wanted:
                b = min(int((s - low) / (high - low) * n_bins), n_bins - 1)
                counts[b] += 1
                sums[b] += np.sqrt(s) if metric == EUCLIDEAN else s
                least[b] = min(least[b], s)
                most[b] = max(most[b], s)
    return counts, sums, least, most
