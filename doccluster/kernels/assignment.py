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
def sweep(values, columns, first, last, head, tail_starts, tail_lanes, tail_values, sums):
    """Fill `sums` with the similarities of one row to all lanes; return a bound on their rounding error."""
    n_head = head.shape[0]
    width = sums.size
    split = head_end(columns, first, last, n_head)
    sums[:] = 0
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
def set_bounds(sums, label_lane, n_lanes, group_width, error, upper, row):
    """Write, for each group of lanes, an upper bound on a row's similarity to its clusters other than the label's."""
    kept = sums[label_lane]
    sums[label_lane] = LOWEST
    for group in range(upper.shape[1]):
        first = group * group_width
        upper[row, group] = highest(sums, first, min(first + group_width, n_lanes)) + error
    sums[label_lane] = kept


@jit
def assign_one(values, columns, first, last, original, table, sums, exact, group_width, upper, row):
    """Return a row's nearest cluster, a lower bound on the similarity to it, and whether float64 decided.

    `upper`, when it has columns, is given upper bounds on the similarity to the other clusters of each group.
    """
    head, tail_starts, tail_lanes, tail_values, lanes = table
    n_lanes = lanes.size
    error = sweep(values, columns, first, last, head, tail_starts, tail_lanes, tail_values, sums)
    top = highest(sums, 0, n_lanes)
    label = first_cluster(sums, top, lanes)
    sums[lanes[label]] = LOWEST
    is_close = top - highest(sums, 0, n_lanes) <= 2 * error
    sums[lanes[label]] = top
    if is_close:
        return decide_exactly(values, columns, first, last, original, table, group_width, exact, upper, row)
    if upper.shape[1] > 0:
        set_bounds(sums, lanes[label], n_lanes, group_width, error, upper, row)
    return label, top - error, False


@jit
def decide_exactly(values, columns, first, last, original, table, group_width, exact, upper, row):
    """Do what `assign_one` does in float64."""
    head, tail_starts, tail_lanes, tail_values, lanes = table
    sweep_exactly(values, columns, first, last, original, head, tail_starts, tail_lanes, tail_values, exact)
    top = highest(exact, 0, lanes.size)
    label = first_cluster(exact, top, lanes)
    if upper.shape[1] > 0:
        set_bounds(exact, lanes[label], lanes.size, group_width, ROUNDING, upper, row)
    return label, np.float32(top) - ROUNDING, True


@jit
def assign_rows(rows, table, group_width, labels, lower, upper):
    """Write each row's nearest cluster, a lower bound on the similarity to it and, if `upper` has columns, bounds.

    Return how many rows were decided in float64.
    """
    values, columns, starts, original = rows
    sums = np.empty(table[0].shape[1], np.float32)
    exact = np.empty(table[0].shape[1], np.float64)
    n_exact = 0
    for row in range(starts.size - 1):
        label, similarity, was_exact = assign_one(
            values, columns, starts[row], starts[row + 1], original, table, sums, exact, group_width, upper, row
        )
        labels[row] = label
        lower[row] = similarity
        n_exact += was_exact
    return n_exact


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
