"""Sums of documents by cluster in whole numbers, which no order of adding changes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from doccluster.geometry.row_order import sort_in_place
from doccluster.kernels.arguments import Csr
from doccluster.kernels.jit import jit

LOW_BITS = 32  # a value is taken as ``(high + low / 2^32) step``, both whole numbers


@jit
def largest_magnitudes(indices, data, n_terms):
    """Return the largest absolute value of each term, float64 array of shape (n_terms,); 0 without values."""
    largest = np.zeros(n_terms)
    for e in range(indices.size):
        largest[indices[e]] = max(largest[indices[e]], abs(np.float64(data[e])))
    return largest


class TermSums(NamedTuple):
    """The sums of some clusters, as whole numbers of steps: the terms of each, one cluster after the other."""

    counts: npt.NDArray[np.int64]  # of shape (n_clusters,)
    terms: npt.NDArray[np.int32]
    high: npt.NDArray[np.int64]
    low: npt.NDArray[np.int64]


class TermRoom(NamedTuple):
    """Room to work in: for each term its sum (two zeros), whether it was met (False), and the terms that were met."""

    totals: npt.NDArray[np.int64]
    seen: npt.NDArray[np.bool_]
    touched: npt.NDArray[np.int64]


@jit(inner=True)
def write_touched(cluster, n_touched, filled, sums, room):
    """Write the sums of a cluster behind those that are `filled`, and clear the room; returns how many are now."""
    counts, terms, high, low = sums
    totals, seen, touched = room
    if n_touched * 16 > seen.size:  # reading all flags in order is cheaper than sorting many terms
        n_touched = 0
        for t in range(seen.size):
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
    counts[cluster] = n_touched
    return filled


def sum_rows(
    order: npt.NDArray[np.int64],
    starts: npt.NDArray[np.int64],
    rows: Csr,
    scale: npt.NDArray[np.float64],
    inverse_steps: npt.NDArray[np.float64],
    squared: bool,
) -> TermSums:
    """Return the sums of the scaled rows, or of their squares, of each cluster.

    `order` lists rows by cluster, those of cluster c from ``starts[c]`` to ``starts[c + 1]``. ``inverse_steps[t]`` is 1
    over the step of term t, a power of two, large enough that 2^31 values of the term are below 2^61 steps.
    """
    n_terms = inverse_steps.size
    stored = np.concatenate([[0], np.cumsum(rows.indptr[order + 1] - rows.indptr[order])])
    capacity = int(np.minimum(np.diff(stored[starts]), n_terms).sum())
    # Arrays made here cost the kernel no time of compiling.
    high, low = np.empty(capacity, np.int64), np.empty(capacity, np.int64)
    sums = TermSums(np.zeros(starts.size - 1, np.int64), np.empty(capacity, np.int32), high, low)
    room = TermRoom(np.zeros((n_terms, 2), np.int64), np.zeros(n_terms, np.bool_), np.empty(n_terms, np.int64))
    filled = sum_by_term(order, starts, rows, (scale, inverse_steps, squared), sums, room)
    return TermSums(sums.counts, sums.terms[:filled].copy(), high[:filled].copy(), low[:filled].copy())


@jit
def sum_by_term(order, starts, rows, measure, sums, room):
    """Write the sums, see `sum_rows`; returns how many terms they hold in all."""
    indptr, indices, data = rows
    scale, inverse_steps, squared = measure
    totals, seen, touched = room
    n_clusters = starts.size - 1
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
        filled = write_touched(c, n_touched, filled, sums, room)
    return filled


def add_sums(
    edges: npt.NDArray[np.int64],
    terms: npt.NDArray[np.int32],
    high: npt.NDArray[np.int64],
    low: npt.NDArray[np.int64],
    n_terms: int,
) -> TermSums:
    """Return sums added up, of several parts one after the other.

    Those of part p and cluster c are from ``edges[p, c]`` to ``edges[p, c + 1]``, int64 array of shape
    (n_parts, n_clusters + 1).
    """
    n_clusters = edges.shape[1] - 1
    capacity = int(np.minimum(np.diff(edges).sum(axis=0), n_terms).sum())
    more_high, more_low = np.empty(capacity, np.int64), np.empty(capacity, np.int64)
    sums = TermSums(np.zeros(n_clusters, np.int64), np.empty(capacity, np.int32), more_high, more_low)
    room = TermRoom(np.zeros((n_terms, 2), np.int64), np.zeros(n_terms, np.bool_), np.empty(n_terms, np.int64))
    filled = add_by_term(edges, (terms, high, low), sums, room)
    return TermSums(sums.counts, sums.terms[:filled].copy(), more_high[:filled].copy(), more_low[:filled].copy())


@jit
def add_by_term(edges, given, sums, room):
    """Write sums added up, see `add_sums`; returns how many terms they hold in all."""
    terms, high, low = given
    totals, seen, touched = room
    filled = 0
    for c in range(edges.shape[1] - 1):
        n_touched = 0
        for p in range(edges.shape[0]):
            for place in range(edges[p, c], edges[p, c + 1]):
                t = terms[place]
                if not seen[t]:
                    seen[t] = True
                    touched[n_touched] = t
                    n_touched += 1
                totals[t, 0] += high[place]
                totals[t, 1] += low[place]
        filled = write_touched(c, n_touched, filled, sums, room)
    return filled
