"""Distances of all pairs of documents, one row at a time and never kept: what sums, extremes and histograms need.

Documents are sorted by cluster, so a cluster is a range of places. The products of a row with all later rows are
added up through the inverted index (`post_ptr`, `post_row`, `post_data`); `after` says, for each stored entry, where
the postings of later rows begin, so that each pair is met once. Terms of many documents have a dense line in `head`
instead (`head_line` is -1 for the others). Dense matrices bring their products ready in `gram`.

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
def _add_lines(head, lines, weights, n_lines, low, high, products):
    """Add weighted lines of `head`, four at a time, to ``products[low:high]``."""
    i = 0
    while i + 3 < n_lines:
        one, two, three, four = head[lines[i]], head[lines[i + 1]], head[lines[i + 2]], head[lines[i + 3]]
        w1, w2, w3, w4 = weights[i], weights[i + 1], weights[i + 2], weights[i + 3]
        for j in range(low, high):
            products[j] += w1 * one[j] + w2 * two[j] + w3 * three[j] + w4 * four[j]
        i += 4
    while i < n_lines:
        one, w1 = head[lines[i]], weights[i]
        for j in range(low, high):
            products[j] += w1 * one[j]
        i += 1


@jit(fastmath=REGROUP)
def squared_distances(row, low, high, documents, gram_line, gram_offset, metric, tau, squared):
    """Fill ``squared[low:high]`` with the distances of `row` to the documents at these places."""
    indptr, indices, data, after, post_ptr, post_row, post_data, scale, norms, head_line, head = documents
    if gram_line.size:
        squared[low:high] = gram_line[low - gram_offset : high - gram_offset]
    else:
        squared[low:high] = 0.0
        lines = np.empty(head.shape[0], np.int64)
        weights = np.empty(head.shape[0])
        n_lines = 0
        for e in range(indptr[row], indptr[row + 1]):
            t = indices[e]
            x = np.float64(data[e])
            if head_line[t] >= 0:
                lines[n_lines] = head_line[t]
                weights[n_lines] = x
                n_lines += 1
                continue
            start = after[e] if low > row else post_ptr[t]
            for p in range(start, post_ptr[t + 1]):
                j = post_row[p]
                if j >= high:
                    break
                squared[j] += x * post_data[p]
        _add_lines(head, lines, weights, n_lines, low, high, squared)
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
def _sums_below(squared, distance, low, atom, first_edge, second_edge):
    """Return how many later pairs lie under each edge, the summed distances of both, and how many lie at the atom.

    Pairs at the atom are in neither of the former. Numbers are counted as floats: exact, and of the width of the rest.
    """
    first, second, first_total, second_total, at_atom = 0.0, 0.0, 0.0, 0.0, 0.0
    for j in range(low, squared.size):
        s, d = squared[j], distance[j]
        off = 1.0 if s != atom else 0.0
        under_first = off if s < first_edge else 0.0
        under_second = off if s < second_edge else 0.0
        at_atom += 1.0 - off
        first += under_first
        second += under_second
        first_total += under_first * d
        second_total += under_second * d
    return first, second, first_total, second_total, at_atom


@jit
def _within(squared, low, atom, lower, upper, found):
    """Write the later pairs from `lower` to `upper`, the atom left out, to `found`; return their number."""
    number = 0
    for j in range(low, squared.size):
        s = squared[j]
        if lower <= s <= upper and s != atom:
            found[number] = s
            number += 1
    return number


@jit
def _keep(found, number, lower, upper, counts, store, stored):
    """Count the values at the edges, append the others to `store`; return it (grown if need be) and its new length."""
    if stored + number > store.size:
        wider = np.empty(2 * (stored + number))
        wider[:stored] = store[:stored]
        store = wider
    for i in range(number):
        if found[i] == lower:
            counts[1] += 1
        elif found[i] == upper:
            counts[2] += 1
        else:
            store[stored] = found[i]
            stored += 1
    return store, stored


@jit(fastmath=REGROUP)
def sweep_rows(
    rows, documents, gram, gram_offset, labels, starts, metric, tau, atom, each_pair_once, with_nearest, edges
):
    """Meet all pairs of some rows (ascending places) with later rows, or with all rows unless `each_pair_once`.

    `edges` (2, 2) are two ranges of `squared`, of which pairs (once) are sorted out; (0, 2) where there are none.

    Returns
    -------
    sums, nearest : arrays (len(rows), k), distances of each row to each cluster summed, and the least squared one
    column_sums, column_nearest : arrays (clusters met, n), the same for the other document of each pair
    largest, smallest : arrays (clusters met, k), extremes of `squared` by pair of clusters; the own one has no least
    counts : array (2, 3), pairs off the atom below each range, at its lower, and at its upper edge
    below : array (2,), the summed distances of the pairs below each range
    inside : two arrays, `squared` of the pairs strictly within each range
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
    counts = np.zeros((2, 3), np.int64)
    below = np.zeros(2)
    first_store, second_store, n_first, n_second = np.empty(1024), np.empty(1024), 0, 0
    at_atom, at_zero, power = 0, 0, 0.0
    squared, distance, found = np.empty(n), np.empty(n), np.empty(n)
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
        if not edges.size:
            continue
        under = _sums_below(squared, distance, row + 1, atom, edges[0, 0], edges[1, 0])
        counts[0, 0] += int(under[0])
        counts[1, 0] += int(under[1])
        below[0] += under[2]
        below[1] += under[3]
        at_atom += int(under[4])
        lower, upper = edges[0]
        within = _within(squared, row + 1, atom, lower, upper, found)
        first_store, n_first = _keep(found, within, lower, upper, counts[0], first_store, n_first)
        lower, upper = edges[1]
        within = _within(squared, row + 1, atom, lower, upper, found)
        second_store, n_second = _keep(found, within, lower, upper, counts[1], second_store, n_second)
    inside = (first_store[:n_first].copy(), second_store[:n_second].copy())
    totals = (at_atom, at_zero, power)
    return sums, nearest, column_sums, column_nearest, largest, smallest, counts, below, inside, totals
