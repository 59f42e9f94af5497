"""Counts of pairs by rounded distance, inside clusters and between them: what the measures of pair order need.

A pair's key is its squared (or cosine) distance in whole steps of the grid, so ties are exact. Pairs without a
common term all have one key, that of the atom, and are only counted.
"""

from __future__ import annotations

import numpy as np

from doccluster.kernels.jit import jit
from doccluster.kernels.metric import COSINE
from doccluster.kernels.pairwise import block_of, write_distances


@jit
def count_keys(rows, documents, ready, distance, steps, inner, outer):
    """Add 1 to `inner` or `outer` at the key of each pair with a later row; return the two numbers at the atom."""
    n, atom = documents.labels.size, distance.atom
    squared = np.empty(n)
    block = block_of(rows, documents, ready, True, squared)
    inner_atoms, outer_atoms = 0, 0
    for place, row in enumerate(rows):
        write_distances(block, place, row + 1, n, documents, distance, squared)
        end = documents.starts[documents.labels[row] + 1]
        for j in range(row + 1, end):
            if squared[j] == atom:
                inner_atoms += 1
            else:
                inner[int(squared[j] * steps + 0.5)] += 1
        for j in range(end, n):
            if squared[j] == atom:
                outer_atoms += 1
            else:
                outer[int(squared[j] * steps + 0.5)] += 1
    return inner_atoms, outer_atoms


@jit
def collect_keys(rows, documents, ready, distance, steps, inside):
    """Return the keys of the pairs inside (or between) clusters, and the number of pairs at the atom."""
    labels, starts = documents.labels, documents.starts
    squared = np.empty(labels.size)
    block = block_of(rows, documents, ready, True, squared)
    capacity = 0
    for row in rows:
        end = starts[labels[row] + 1]
        capacity += end - row - 1 if inside else labels.size - end
    found = np.empty(capacity, np.int64)
    n_found, at_atom = 0, 0
    for place, row in enumerate(rows):
        end = starts[labels[row] + 1]
        low, high = (row + 1, end) if inside else (end, labels.size)
        write_distances(block, place, low, high, documents, distance, squared)
        for j in range(low, high):
            if squared[j] == distance.atom:
                at_atom += 1
                continue
            found[n_found] = np.int64(squared[j] * steps + 0.5)
            n_found += 1
    return found[:n_found], at_atom


@jit
def compare_sorted(found, keys, below):
    """Compare sorted keys of some pairs with a sorted list of other pairs.

    `keys` are distinct and ascending, ``below[i]`` counts the pairs of the list with a key under ``keys[i]``
    (``below[len(keys)]`` all of them). Returns how many pairs of pairs have the listed key below, and how many equal.
    """
    total_below, total_equal, place = 0, 0, 0
    for i in range(found.size):
        while place < keys.size and keys[place] < found[i]:
            place += 1
        total_below += below[place]
        if place < keys.size and keys[place] == found[i]:
            total_equal += below[place + 1] - below[place]
    return total_below, total_equal


@jit
def squared_of_pairs(first, second, documents, dense, distance):
    """Return `squared` of the pairs (first[i], second[i]); `dense` (n, d) is empty where documents are sparse."""
    indptr, indices, data = documents.rows
    scale, norms = documents.scale, documents.norms
    squared = np.empty(first.size)
    for i in range(first.size):
        a, b = first[i], second[i]
        product = 0.0
        if dense.shape[0]:
            for t in range(dense.shape[1]):
                product += dense[a, t] * dense[b, t]
        else:
            p, r = indptr[a], indptr[b]
            while p < indptr[a + 1] and r < indptr[b + 1]:
                if indices[p] == indices[r]:
                    product += np.float64(data[p]) * data[r]
                    p += 1
                    r += 1
                elif indices[p] < indices[r]:
                    p += 1
                else:
                    r += 1
        product *= scale[a] * scale[b]
        if distance.metric == COSINE:
            d = 1.0 - product
            d = d if d > distance.tau else 0.0
        else:
            both = norms[a] + norms[b]
            d = both - 2.0 * product
            d = d if d > distance.tau * both else 0.0
        squared[i] = d
    return squared
