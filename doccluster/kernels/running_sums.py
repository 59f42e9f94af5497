"""The sums and the means of frequent terms as tables, a line for each term and a lane for each cluster."""

from __future__ import annotations

import numpy as np

from doccluster.kernels.assignment import head_end
from doccluster.kernels.jit import jit
from doccluster.kernels.simd.lanes import LINE


@jit
def move_rows(rows, weights, before, after, lanes, sums):
    """Take rows whose label changed away from the lane of the old one, -1 for none, and add them to the new.

    Only lanes from the first to before the last of `lanes`, and the terms that `sums` has.
    """
    values, columns, starts, _ = rows
    first_lane, last_lane = lanes
    for row in range(after.size):
        old, new = before[row], after[row]
        if old == new:
            continue
        first = starts[row]
        last = head_end(columns, first, starts[row + 1], sums.shape[0])
        weight = weights[row]
        leaves, joins = old >= first_lane and old < last_lane, new >= first_lane and new < last_lane
        if leaves and joins:
            for entry in range(first, last):
                value = weight * values[entry]
                sums[columns[entry], old] -= value
                sums[columns[entry], new] += value
        elif leaves or joins:
            lane, signed = (old, -weight) if leaves else (new, weight)
            for entry in range(first, last):
                sums[columns[entry], lane] += signed * values[entry]


@jit(fastmath={"nnan", "nsz"}, forceinline=True, inner=True)
def is_empty(sums, head, term, line):
    """Return whether a line of the table and its sums are all 0, as most of them are where there are many clusters."""
    most = np.float64(0)
    for lane in range(LINE):
        at = np.uint64(LINE * line + lane)
        most = max(most, abs(sums[term, at]) + np.float64(abs(head[term, at])))
    return most == 0


@jit(fastmath={"contract"})
def square_sums(sums, squared):
    """Add the squared length of each lane of some rows of the sums to `squared` (n_lanes,), terms ascending."""
    for term in range(sums.shape[0]):
        for lane in range(squared.size):
            squared[lane] += sums[term, lane] * sums[term, lane]


@jit(fastmath={"contract"})
def renew_means(sums, lines, lengths, is_new, head, squared):
    """Make the lanes for which `is_new` of some rows of `head` the sums over `lengths`, as float32.

    The squared chord between the old and the new mean is added to `squared` (n_lanes,). No length may be 0. Only lanes
    of the cache lines whose numbers are in `lines`.
    """
    may_be_empty = head.shape[1] > LINE  # of few clusters, each has most of the terms
    for term in range(sums.shape[0]):
        for line in lines:
            if may_be_empty and is_empty(sums, head, term, line):
                continue
            for lane in range(LINE):
                at = np.uint64(LINE * line + lane)
                old = head[term, at]
                value = np.float32(sums[term, at] / lengths[at]) if is_new[at] else old
                change = np.float64(value) - np.float64(old)
                squared[at] += change * change
                head[term, at] = value
