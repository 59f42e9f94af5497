"""The nearest rows of each row by cosine, exactly, from lists of the rows that hold each term.

Terms come in ascending order of document frequency. The lists of the commonest terms are most of the work and a few
hundredths of the weight, so they are left unread at first: what they can add to a product is at most the length of that
part of the one row times the length of that part of the other (Cauchy and Schwarz; Anastasiu & Karypis 2014, "L2AP:
fast cosine similarity search with prefix L-2 norm bounds", ICDE). Only rows that can still be among the nearest are
multiplied in full.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from doccluster.geometry.posting_lists import first_from
from doccluster.kernels.arguments import Csr
from doccluster.kernels.jit import jit

SAFETY = 1e-6  # parts are float32, sums float64: a bound is never tighter than this
FEW = 4  # where the lists name at most one row in this many, only those are looked at
LEFT_UNREAD = 0.03  # share of a row's squared length that may be in lists left unread


@jit(inner=True)
def sift_down(values, size):
    """Restore a heap with the smallest value first after its first value was replaced."""
    place = 0
    while True:
        child = 2 * place + 1
        if child >= size:
            return
        if child + 1 < size and values[child + 1] < values[child]:
            child += 1
        if values[place] <= values[child]:
            return
        values[place], values[child] = values[child], values[place]
        place = child


@jit(inner=True)
def kth_largest(values, k, heap):
    """Return the k-th largest of some values >= 0; 0 where there are fewer."""
    for place in range(k):
        heap[place] = 0.0
    for value in values:
        if value > heap[0]:
            heap[0] = value
            sift_down(heap, k)
    return heap[0]


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


@jit(inner=True)
def add_lists(rows, row, lists, cut, sums):
    """Add up the products with a row in the lists of its terms below `cut`."""
    for place in range(rows.indptr[row], rows.indptr[row + 1]):
        term, value = rows.indices[place], np.float64(rows.data[place])
        if term < cut:
            for entry in range(lists.indptr[term], lists.indptr[term + 1]):
                sums[lists.indices[entry]] += value * lists.data[entry]


@jit(inner=True)
def add_and_name(rows, row, lists, cut, sums, named):
    """Do what `add_lists` does to sums of 0, and write which rows were added to; return how many they are."""
    n_named = 0
    for place in range(rows.indptr[row], rows.indptr[row + 1]):
        term, value = rows.indices[place], np.float64(rows.data[place])
        if term < cut:
            for entry in range(lists.indptr[term], lists.indptr[term + 1]):
                other = lists.indices[entry]
                if sums[other] == 0.0:
                    named[n_named] = other
                    n_named += 1
                sums[other] += value * lists.data[entry]
    return n_named


class SearchRoom(NamedTuple):
    """Room to work in: sums of rows and own values by term, of zeros; the k highest; the rows that are named."""

    sums: npt.NDArray[np.float64]
    own: npt.NDArray[np.float64]
    heap: npt.NDArray[np.float64]
    named: npt.NDArray[np.int32]


def nearest_rows(
    rows: Csr,
    lists: Csr,
    cuts: npt.NDArray[np.int32],
    parts: npt.NDArray[np.float32],
    wanted: npt.NDArray[np.int64],
    k: int,
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float64]]:
    """Return the nearest other rows of the rows `wanted`.

    `parts`: float32 array of shape (n_rows, n_cuts), the length of the part of each row from each cut on.

    Returned: `found`, `similarity` (int32 and float64 arrays of shape (len(wanted), k)): the rows, nearest first,
    lowest on ties; -1 where there is none.
    """
    n_rows, n_terms = rows.indptr.size - 1, lists.indptr.size - 1
    found, similarity = np.full((wanted.size, k), -1, np.int32), np.zeros((wanted.size, k))
    # Arrays made here cost the kernel no time of compiling.
    room = SearchRoom(np.zeros(n_rows), np.zeros(n_terms), np.empty(k), np.empty(n_rows, np.int32))
    search_lists(rows, lists, (cuts, parts), wanted, found, similarity, room)
    return found, similarity


@jit
def search_lists(rows, lists, lengths, wanted, found, similarity, room):
    """Write what `nearest_rows` returns; lengths: (cuts, parts)."""
    starts, terms, values = rows
    list_starts = lists.indptr
    cuts, parts = lengths
    sums, own, heap, named = room
    n_rows, k = starts.size - 1, heap.size
    for line, row in enumerate(wanted):
        level = 0
        while level < cuts.size and parts[row, level] * parts[row, level] > LEFT_UNREAD:
            level += 1
        cut = cuts[level] if level < cuts.size else list_starts.size
        n_read = 0
        for place in range(starts[row], starts[row + 1]):
            own[terms[place]] = values[place]
            if terms[place] < cut:
                n_read += list_starts[terms[place] + 1] - list_starts[terms[place]]
        own_part = np.float64(parts[row, level]) + SAFETY if level < cuts.size else 0.0
        is_few, n_named = n_read * FEW < n_rows, n_rows
        if is_few:
            n_named = add_and_name(rows, row, lists, cut, sums, named)
            sums[row] = 0.0
            least = kth_largest(sums[named[:n_named]], k, heap)
            # a row that no list named may be near by what was left unread
            is_few = own_part == 0.0 or own_part * (1.0 + 2.0 * SAFETY) + SAFETY < least
        else:
            add_lists(rows, row, lists, cut, sums)
            sums[row] = 0.0
            least = kth_largest(sums, k, heap)
        n_found = np.int64(0)  # a literal would make a version of `insert` of its own
        for at in range(n_named if is_few else n_rows):
            other = named[at] if is_few else at
            reach = own_part * (parts[other, level] + SAFETY) if level < cuts.size else 0.0
            if sums[other] + reach + SAFETY < least or other == row:
                continue
            product = 0.0
            for place in range(starts[other], starts[other + 1]):
                product += own[terms[place]] * np.float64(values[place])
            if product > 0.0:
                n_found = insert(found[line], similarity[line], n_found, other, product)
                if n_found == k:
                    least = max(least, similarity[line, k - 1])
        for at in range(n_named):
            sums[named[at] if n_named < n_rows else at] = 0.0
        for place in range(starts[row], starts[row + 1]):
            own[terms[place]] = 0.0
