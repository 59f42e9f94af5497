"""Distances of all pairs of documents, one row at a time and never kept: what sums, extremes and histograms need.

Documents are sorted by cluster, so a cluster is a range of places. The products of a row with later rows (each pair is
met once), or with all, are added up through the inverted index. Dense matrices bring their products ready.

`squared` holds what pairs are ordered by: the squared Euclidean distance, or the cosine distance; 0 where it is
rounding noise. Pairs without a common term lie exactly at `atom` (2, or 1); they are most of the pairs of text.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from doccluster.kernels.arguments import Csr
from doccluster.kernels.jit import jit
from doccluster.kernels.metric import COSINE, EUCLIDEAN
from doccluster.kernels.posting_lists import REGROUP, InvertedIndex, Reach, reach_of, write_products

CHUNK = 1024  # documents that a row is met with at a time


@jit
def places_after(rows, by_term):
    """Return, for each stored entry, the place in the posting list of its term behind the entry itself."""
    met, after = by_term.indptr[:-1].copy(), np.empty(rows.indices.size, np.int64)
    for entry in range(rows.indices.size):
        met[rows.indices[entry]] += 1
        after[entry] = met[rows.indices[entry]]
    return after


class PairDocuments(NamedTuple):
    """Documents sorted by cluster, so that a cluster is a range of places."""

    rows: Csr
    after: npt.NDArray[np.int64]  # for each stored entry: where the list of its term goes on behind it
    by_term: InvertedIndex
    scale: npt.NDArray[np.float64]  # what each row is multiplied by
    norms: npt.NDArray[np.float64]  # squared lengths after that
    labels: npt.NDArray[np.int64]  # ascending
    starts: npt.NDArray[np.int64]  # the first place of each cluster


class Distance(NamedTuple):
    """Which distance; the share of the squared norms below which it is 0; what it is without a common term (or -1)."""

    metric: int
    tau: float
    atom: float


class ReadyProducts(NamedTuple):
    """The products of some dense rows with the rows from `offset` on, a line for each; no columns where sparse."""

    table: npt.NDArray[np.float64]
    offset: int


class SweptRows(NamedTuple):
    """What a sweep of a block of rows gives; see `sweep_rows`."""

    sums: npt.NDArray[np.float64]
    nearest: npt.NDArray[np.float64]
    column_sums: npt.NDArray[np.float64]
    column_nearest: npt.NDArray[np.float64]
    largest: npt.NDArray[np.float64]
    smallest: npt.NDArray[np.float64]
    counts: npt.NDArray[np.int64]
    below: npt.NDArray[np.float64]
    inside: tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]
    at_atom: int
    at_zero: int
    power: float


@jit(fastmath=REGROUP, inner=True)
def _to_distances(own_scale, own_norm, scale, norms, metric, tau, squared):
    """Turn the products of a row with some documents into distances."""
    if metric == COSINE:
        for j in range(squared.size):
            d = 1.0 - squared[j] * (own_scale * scale[j])
            squared[j] = d if d > tau else 0.0
    else:
        for j in range(squared.size):
            both = own_norm + norms[j]
            d = both - 2.0 * (squared[j] * (own_scale * scale[j]))
            squared[j] = d if d > tau * both else 0.0


class PairBlock(NamedTuple):
    """Some rows that are met with others: their places, ascending, and how their products are made."""

    places: npt.NDArray[np.int64]
    reach: Reach
    ready: ReadyProducts


@jit(inner=True)
def block_of(places, documents, ready, is_later_only, like):
    """Return the block of the rows at some places, which are met with later ones only, or with all."""
    begins = documents.after if is_later_only else documents.after[:0]
    return PairBlock(places, reach_of(documents.rows, places, documents.by_term, 0, begins, like), ready)


@jit(inline="always", inner=True)
def write_distances(block, number, low, high, documents, distance, squared):
    """Fill ``squared[low:high]`` with the distances of a row of the block to the documents at these places.

    For one row, calls must come in ascending order of the documents.
    """
    row, ready = block.places[number], block.ready
    if ready.table.size:
        line = ready.table[number, low - ready.offset : high - ready.offset]
        for j in range(line.size):
            squared[low + j] = line[j]
    else:
        write_products(block.reach, number, documents.by_term, low, high, squared)
    scale, norms = documents.scale, documents.norms
    near = squared[low:high]
    _to_distances(scale[row], norms[row], scale[low:high], norms[low:high], distance.metric, distance.tau, near)


@jit(fastmath=REGROUP, inner=True)
def _meet(squared, distance):
    """Return the sums of `distance` and of its squares, and the extremes of `squared`.

    Values that are not negative have the order of their bits, and extremes of integers vectorise.
    """
    total, squares = 0.0, 0.0
    for j in range(distance.size):
        total += distance[j]
        squares += distance[j] * distance[j]
    bits = squared.view(np.int64)
    most, least = bits[0], bits[0]
    for j in range(bits.size):
        most = max(most, bits[j])
        least = min(least, bits[j])
    ends = np.empty(2, np.int64)
    ends[0], ends[1] = most, least
    extremes = ends.view(np.float64)
    return total, squares, extremes[0], extremes[1]


@jit(fastmath=REGROUP, inner=True)
def _tell_others(squared, distance, sums, nearest):
    """Tell the distances to the other document of each pair."""
    for j in range(sums.size):
        sums[j] += distance[j]
    for j in range(nearest.size):
        nearest[j] = min(nearest[j], squared[j])


@jit(fastmath=REGROUP, inner=True)
def _sums_below(squared, distance, atom, first_edge, second_edge):
    """Return how many pairs lie under each edge, the summed distances of both, and how many lie at the atom.

    Pairs at the atom are in neither of the former. Numbers are counted as floats: exact, and of the width of the rest.
    """
    first, second, first_total, second_total, at_atom = 0.0, 0.0, 0.0, 0.0, 0.0
    for j in range(squared.size):
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


@jit(inner=True)
def _within(squared, atom, edges, is_near, first_found, second_found):
    """Write the values in each range, the atom left out, to the two arrays; return the two numbers.

    Nearly no value lies in a range: all are asked at once, and then eight at a time whether one was near.
    """
    (first_low, first_high), (second_low, second_high) = edges[0], edges[1]
    n = squared.size
    is_near[n : n + 8] = False
    for j in range(n):
        s = squared[j]
        near = ((s >= first_low) & (s <= first_high)) | ((s >= second_low) & (s <= second_high))
        is_near[j] = near & (s != atom)
    eights = is_near.view(np.uint64)
    first, second = 0, 0
    for some in range((n + 7) // 8):
        if eights[some] == 0:
            continue
        for j in range(8 * some, 8 * some + 8):
            if not is_near[j]:
                continue
            s = squared[j]
            if first_low <= s <= first_high:
                first_found[first] = s
                first += 1
            if second_low <= s <= second_high:
                second_found[second] = s
                second += 1
    return first, second


@jit(inner=True)
def _keep(found, number, lower, upper, counts, store, stored):
    """Count the values at the edges, append the others to `store`; return it (grown if need be) and its new length."""
    if stored + number > store.size:
        wider = np.empty(2 * (stored + number))
        for i in range(stored):
            wider[i] = store[i]
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
def sweep_rows(rows, documents, ready, distance, each_pair_once, with_nearest, edges):
    """Meet all pairs of some rows (ascending places) with later rows, or with all rows unless `each_pair_once`.

    `edges` (2, 2) are two ranges of `squared`, of which pairs (once) are sorted out; (0, 2) where there are none.

    Returns a `SweptRows`:
    sums, nearest : arrays (len(rows), k), distances of each row to each cluster summed, and the least squared one
    column_sums, column_nearest : arrays (clusters met, n), the same for the other document of each pair
    largest, smallest : arrays (clusters met, k), extremes of `squared` by pair of clusters; the own one has no least
    counts : array (2, 3), pairs off the atom below each range, at its lower, and at its upper edge
    below : array (2,), the summed distances of the pairs below each range
    inside : two arrays, `squared` of the pairs strictly within each range
    at_atom, at_zero, power : pairs at the atom (once), pairs at zero, sum of squared distances of pairs met
    """
    labels, starts = documents.labels, documents.starts
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
    at_atom, at_zero, power, nothing = 0, 0, 0.0, np.empty(0)
    squared, lengths = np.empty(n), np.empty(n)
    is_near, found, second_found = np.empty(CHUNK + 8, np.bool_), np.empty(CHUNK), np.empty(CHUNK)
    block = block_of(rows, documents, ready, each_pair_once, squared)
    # a chunk of the other documents at a time: what is added to and the lines that are added stay near the processor
    for chunk in range(rows[0] if each_pair_once else 0, n, CHUNK):
        high = min(chunk + CHUNK, n)
        for place in range(rows.size):
            row = rows[place]
            own = labels[row]
            low = max(chunk, row + 1) if each_pair_once else chunk
            if low >= high:
                continue
            write_distances(block, place, low, high, documents, distance, squared)
            near = squared[low:high]
            if low <= row < high:
                squared[row] = 0.0
            far = near
            if distance.metric == EUCLIDEAN:
                far = lengths[low:high]
                for j in range(far.size):
                    far[j] = np.sqrt(near[j])
            for c in range(labels[low], labels[high - 1] + 1):
                met = slice(max(starts[c], low) - low, min(starts[c + 1], high) - low)
                total, squares, most, least = _meet(near[met], far[met])
                sums[place, c] += total
                power += squares
                largest[own - first, c] = max(largest[own - first, c], most)
                if c != own:
                    smallest[own - first, c] = min(smallest[own - first, c], least)
                    if with_nearest:
                        nearest[place, c] = min(nearest[place, c], least)
                if least == 0.0:
                    for j in range(met.start, met.stop):
                        at_zero += near[j] == 0.0
            if each_pair_once:
                others = column_nearest[own - first, low:high] if with_nearest else nothing
                _tell_others(near, far, column_sums[own - first, low:high], others)
            later = max(0, row + 1 - low)
            if not edges.size or later >= high - low:
                continue
            near, far = near[later:], far[later:]
            under = _sums_below(near, far, distance.atom, edges[0, 0], edges[1, 0])
            counts[0, 0] += int(under[0])
            counts[1, 0] += int(under[1])
            below[0] += under[2]
            below[1] += under[3]
            at_atom += int(under[4])
            within = _within(near, distance.atom, edges, is_near, found, second_found)
            lower, upper = edges[0]
            first_store, n_first = _keep(found, within[0], lower, upper, counts[0], first_store, n_first)
            lower, upper = edges[1]
            second_store, n_second = _keep(second_found, within[1], lower, upper, counts[1], second_store, n_second)
    if not each_pair_once:
        at_zero -= rows.size
    inside = (first_store[:n_first].copy(), second_store[:n_second].copy())
    read = (sums, nearest, column_sums, column_nearest, largest, smallest)
    return SweptRows(*read, counts, below, inside, at_atom, at_zero, power)
