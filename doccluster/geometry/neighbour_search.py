"""The nearest rows of each row by cosine, exactly, from lists of the rows that hold each term."""

from __future__ import annotations

import numpy as np

from doccluster.kernels.jit import jit


@jit(inner=True)
def insert(found, similarity, n_found, other, product):
    """Put a row into a list of the nearest in order; return how many are in the list."""
    k = found.size
    place = n_found
    if n_found == k:
        place = k - 1
        if product < similarity[place] or (product == similarity[place] and other > found[place]):
            return k
    while place > 0 and (
        similarity[place - 1] < product or (similarity[place - 1] == product and found[place - 1] > other)
    ):
        similarity[place], found[place] = similarity[place - 1], found[place - 1]
        place -= 1
    similarity[place], found[place] = product, other
    return min(n_found + 1, k)


@jit
def nearest_in_lists(rows, names, lists, others, k):
    """Return the nearest of other rows to each row (Csr), by posting lists (Csr) of these others.

    `names` and `others` are what the rows and the others are called, ascending for the others; a row is not its own
    neighbour.

    Returned: `found`, `similarity` (int32 and float64 arrays of shape (len(names), k)): the names of the others,
    nearest first, lowest on ties; -1 where there is none.
    """
    found, similarity = np.full((names.size, k), np.int32(-1)), np.zeros((names.size, k))
    indptr, terms, values = rows
    list_starts, list_rows, list_values = lists
    sums = np.zeros(others.size)
    for row in range(names.size):
        for place in range(indptr[row], indptr[row + 1]):
            value = np.float64(values[place])
            for at in range(list_starts[terms[place]], list_starts[terms[place] + 1]):
                sums[list_rows[at]] += value * list_values[at]
        n_found = 0
        for other in range(others.size):
            if sums[other] > 0.0 and others[other] != names[row]:
                n_found = insert(found[row], similarity[row], n_found, others[other], sums[other])
            sums[other] = 0.0
    return found, similarity


@jit
def take_nearer(found, similarity, rows, other_found, other_similarity):
    """Put what else was found for some rows into their lists of the nearest."""
    k = found.shape[1]
    for line, row in enumerate(rows):
        n_found = 0
        while n_found < k and found[row, n_found] >= 0:
            n_found += 1
        for place in range(k):
            if other_found[line, place] >= 0:
                other, product = other_found[line, place], other_similarity[line, place]
                n_found = insert(found[row], similarity[row], n_found, other, product)
