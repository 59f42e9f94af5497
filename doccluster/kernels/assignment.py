"""The nearest mean of each row: float32 sweeps that touch few bytes, decided again in float64 where they are too close.

A row's similarities to all clusters are built in one accumulator: four terms of the dense head per sweep (the
accumulator is read and written once for four products), and the lists of the tail. The labels are those of float64
arithmetic in ascending order of the original columns, lowest cluster on ties: whenever two clusters lie closer than
twice the rounding error that float32 can have made, the row is swept again in float64.

Kernels take rows as ``(values, columns, starts, original)``, the table of means as ``(head, tail_starts, tail_lanes,
tail_values, lanes)`` where ``lanes[cluster]`` is the cluster's column in the head.
"""

from __future__ import annotations

import numpy as np

from doccluster.kernels.cache_lines import LINE, MOST_LINES, add_lines
from doccluster.kernels.jit import jit
from doccluster.kernels.line_extremes import highest_of_lines, lane_holding

ARITHMETIC = {"contract", "nnan", "nsz"}  # no reassociation: the error bound below counts the additions as written
UNIT_ROUNDOFF = 6.0e-8  # of float32, 2**-24, rounded up; the excess covers rows that are unit within 1e-5
ROUNDING = np.float32(1.2e-7)  # of storing a value near 1 as float32
LOWEST = np.float32(-2.0)  # below every cosine
HIGHEST = np.float32(2.0)  # above every cosine


@jit
def head_end(columns, first, last, n_head):
    """Return where the columns of the head end in a row; they are ascending, so those of the tail come last."""
    while last > first and columns[last - 1] >= n_head:
        last -= 1
    return last


@jit
def rounding_error(first, split, last):
    """Return a bound on the float32 rounding of a row's similarities.

    By Cauchy and Schwarz the absolute terms of a product of unit vectors add up to at most 1, so each addition in the
    chain, one for four terms of the head and one for each of the tail, errs by at most one unit roundoff.
    """
    return np.float32(UNIT_ROUNDOFF * (0.25 * (split - first) + (last - split) + 12.0))


@jit(fastmath=ARITHMETIC)
def sweep(values, columns, first, last, head, tail_starts, tail_lanes, tail_values, n_lanes, sums):
    """Fill `sums` with the similarities of one row to `n_lanes` lanes; return a bound on their rounding error.

    What the other lanes, which fill up the last cache line, hold is left as it is.
    """
    n_head = head.shape[0]
    width = sums.size
    split = head_end(columns, first, last, n_head)
    for lane in range(n_lanes):
        sums[lane] = 0
    for position in range(split, last):
        value = values[position]
        term = columns[position] - n_head
        for entry in range(tail_starts[term], tail_starts[term + 1]):
            sums[tail_lanes[entry]] += value * tail_values[entry]
    if width <= LINE * MOST_LINES:
        add_lines(values, columns, first, split, head, 0, width // LINE, sums)
        return rounding_error(first, split, last)
    position = first
    while position + 4 <= split:
        row0 = head[columns[position]]
        row1 = head[columns[position + 1]]
        row2 = head[columns[position + 2]]
        row3 = head[columns[position + 3]]
        value0 = values[position]
        value1 = values[position + 1]
        value2 = values[position + 2]
        value3 = values[position + 3]
        for lane in range(width):
            sums[lane] += value0 * row0[lane] + value1 * row1[lane] + value2 * row2[lane] + value3 * row3[lane]
        position += 4
    while position < split:
        row0 = head[columns[position]]
        value0 = values[position]
        for lane in range(width):
            sums[lane] += value0 * row0[lane]
        position += 1
    return rounding_error(first, split, last)


@jit
def sweep_exactly(values, columns, first, last, original, head, tail_starts, tail_lanes, tail_values, sums):
    """Fill the float64 `sums` with the similarities of one row, terms in ascending order of the original columns."""
    n_head = head.shape[0]
    sums[:] = 0
    order = np.argsort(original[columns[first:last]])
    for offset in order:
        position = first + offset
        value = np.float64(values[position])
        if columns[position] < n_head:
            row = head[columns[position]]
            for lane in range(sums.size):
                sums[lane] += value * np.float64(row[lane])
        else:
            term = columns[position] - n_head
            for entry in range(tail_starts[term], tail_starts[term + 1]):
                sums[tail_lanes[entry]] += value * np.float64(tail_values[entry])


@jit(fastmath=ARITHMETIC)
def highest(sums, first, last):
    """Return the largest of ``sums[first:last]``; written so that it runs many lanes at a time."""
    best = sums[first]
    for lane in range(first + 1, last):
        best = max(best, sums[lane])
    return best


@jit
def first_cluster(sums, value, lanes):
    """Return the lowest cluster whose lane holds `value`, which one does."""
    cluster = 0
    while sums[lanes[cluster]] != value:
        cluster += 1
    return cluster


@jit
def clusters_by_lane(lanes, width):
    """Return the cluster of each lane, -1 for lanes that stand for none."""
    clusters = np.full(width, -1, np.int32)
    for cluster in range(lanes.size):
        clusters[lanes[cluster]] = cluster
    return clusters


@jit
def set_bounds(sums, own_lane, group_width, error, upper, row):
    """Write, for each group of lanes, an upper bound on a row's similarity to its clusters other than its own."""
    for group in range(upper.shape[1]):
        first = group * group_width
        upper[row, group] = highest_of_lines(sums, first, min(first + group_width, sums.size), own_lane) + error


@jit
def assign_one(values, columns, first, last, table, clusters, sums, group_width, upper, row):
    """Return a row's nearest cluster, or -1 if float64 has to decide, and a lower bound on the similarity to it.

    `clusters` are those of the lanes; lanes of `sums` without a cluster hold `LOWEST`. `upper`, when it has columns, is
    given upper bounds on the similarity to the other clusters of each group.
    """
    head, tail_starts, tail_lanes, tail_values, lanes = table
    width = sums.size
    error = sweep(values, columns, first, last, head, tail_starts, tail_lanes, tail_values, lanes.size, sums)
    top = highest_of_lines(sums, 0, width, -1)
    lane = lane_holding(top, sums, 0, width)
    if top - highest_of_lines(sums, 0, width, lane) <= 2 * error:
        return np.int32(-1), top
    if upper.shape[1] > 0:
        set_bounds(sums, lane, group_width, error, upper, row)
    return clusters[lane], top - error


@jit
def decide_exactly(undecided, rows, table, group_width, labels, lower, upper):
    """Find in float64 what `assign_one` leaves open, for the rows `undecided`."""
    values, columns, starts, original = rows
    head, tail_starts, tail_lanes, tail_values, lanes = table
    exact = np.empty(head.shape[1], np.float64)
    for row in undecided:
        first, last = starts[row], starts[row + 1]
        sweep_exactly(values, columns, first, last, original, head, tail_starts, tail_lanes, tail_values, exact)
        top = highest(exact, 0, lanes.size)
        labels[row] = first_cluster(exact, top, lanes)
        lower[row] = np.float32(top) - ROUNDING
        exact[lanes[labels[row]]] = LOWEST
        for group in range(upper.shape[1]):
            lane = group * group_width
            upper[row, group] = highest(exact, lane, min(lane + group_width, lanes.size)) + ROUNDING


@jit
def assign_rows(rows, table, group_width, labels, lower, upper):
    """Write each row's nearest cluster, a lower bound on the similarity to it and, if `upper` has columns, bounds.

    Return how many rows were decided in float64.
    """
    values, columns, starts, _ = rows
    width = table[0].shape[1]
    clusters = clusters_by_lane(table[4], width)
    sums = np.full(width, LOWEST, np.float32)
    undecided, n_undecided = np.empty(labels.size, np.int64), 0
    for row in range(starts.size - 1):
        label, similarity = assign_one(
            values, columns, starts[row], starts[row + 1], table, clusters, sums, group_width, upper, row
        )
        if label < 0:  # decided after the others: the rare way, taken here, would slow the common one down
            undecided[n_undecided] = row
            n_undecided += 1
            continue
        labels[row] = label
        lower[row] = similarity
    decide_exactly(undecided[:n_undecided], rows, table, group_width, labels, lower, upper)
    return n_undecided


@jit
def nearest_two_rows(rows, table, labels, best, runners_up, second):
    """Write the nearest and the second nearest cluster of each row and their float64 similarities."""
    values, columns, starts, original = rows
    head, tail_starts, tail_lanes, tail_values, lanes = table
    exact = np.empty(head.shape[1], np.float64)
    for row in range(starts.size - 1):
        first, last = starts[row], starts[row + 1]
        sweep_exactly(values, columns, first, last, original, head, tail_starts, tail_lanes, tail_values, exact)
        best[row] = highest(exact, 0, lanes.size)
        labels[row] = first_cluster(exact, best[row], lanes)
        if lanes.size > 1:
            exact[lanes[labels[row]]] = LOWEST
            second[row] = highest(exact, 0, lanes.size)
            runners_up[row] = first_cluster(exact, second[row], lanes)


@jit
def similarity_rows(rows, table, similarities):
    """Write the float64 similarity of each row to each cluster."""
    values, columns, starts, original = rows
    head, tail_starts, tail_lanes, tail_values, lanes = table
    exact = np.empty(head.shape[1], np.float64)
    for row in range(starts.size - 1):
        first, last = starts[row], starts[row + 1]
        sweep_exactly(values, columns, first, last, original, head, tail_starts, tail_lanes, tail_values, exact)
        for cluster in range(lanes.size):
            similarities[row, cluster] = exact[lanes[cluster]]
