"""The nearest rows of each row by cosine, exactly, from lists of the rows that hold each term."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from doccluster.kernels.jit import jit


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


class ProbedCells(NamedTuple):
    """An inverted file: rows that lie together by cell, and where the neighbours of each are looked for."""

    starts: npt.NDArray[np.int64]  # where the rows of each cell begin
    names: npt.NDArray[np.int64]  # what each row is called in what is returned; ascending in each cell
    probes: npt.NDArray[np.int32]  # (n_rows, n_probes) ascending and different cells in each row


@jit
def nearest_in_cells(rows, lists, cells, wanted, k):
    """Return the nearest other rows of the rows `wanted` among those of the cells that each one probes.

    Returned: `found`, `similarity` (int32 and float64 arrays of shape (len(wanted), k)): the names of the rows, nearest
    first, lowest on ties; -1 where there is none.
    """
    found, similarity = np.full((wanted.size, k), np.int32(-1)), np.zeros((wanted.size, k))
    starts, names, probes = cells
    indptr, terms, values = rows
    list_starts, list_rows, list_values = lists
    sums = np.zeros(names.size)
    for line, row in enumerate(wanted):
        for place in range(indptr[row], indptr[row + 1]):
            at, end = list_starts[terms[place]], list_starts[terms[place] + 1]
            value = np.float64(values[place])
            for cell in probes[row]:
                at = first_from(list_rows, at, end, starts[cell])
                while at < end and list_rows[at] < starts[cell + 1]:
                    sums[list_rows[at]] += value * list_values[at]
                    at += 1
        n_found = 0
        for cell in probes[row]:
            for other in range(starts[cell], starts[cell + 1]):
                if sums[other] > 0.0 and other != row:
                    n_found = insert(found[line], similarity[line], n_found, names[other], sums[other])
                sums[other] = 0.0
    return found, similarity
