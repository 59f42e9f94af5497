"""The nearest mean of each row: float32 sweeps that touch few bytes, decided again in float64 where they are too close.

A row's similarities to all clusters are built in one accumulator: four terms of the dense head per sweep (the
accumulator is read and written once for four products), and the lists of the tail. The labels are those of float64
arithmetic in ascending order of the original columns, lowest cluster on ties: whenever two clusters lie closer than
twice the rounding error that float32 can have made, the row is swept again in float64.
"""

from __future__ import annotations

import numpy as np

from doccluster.kernels.jit import jit

ARITHMETIC = {"contract", "nnan", "nsz"}  # no reassociation: the error bound below counts the additions as written
UNIT_ROUNDOFF = 6.0e-8  # of float32, 2**-24, rounded up


@jit(fastmath=ARITHMETIC)
def sweep(values, columns, first, last, head, tail_starts, tail_clusters, tail_values, sums):
    """Fill `sums` with the similarities of one row to all clusters; return a bound on their rounding error.

    The row's columns are ascending, so those of the head come first. By Cauchy and Schwarz the absolute terms of a
    product of unit vectors add up to at most 1, so each of the additions in a chain errs by at most one unit roundoff.
    """
    n_head = head.shape[0]
    width = sums.size
    split = last
    while split > first and columns[split - 1] >= n_head:
        split -= 1
    sums[:] = 0
    for position in range(split, last):
        value = values[position]
        term = columns[position] - n_head
        for entry in range(tail_starts[term], tail_starts[term + 1]):
            sums[tail_clusters[entry]] += value * tail_values[entry]
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
        for cluster in range(width):
            sums[cluster] += (
                value0 * row0[cluster] + value1 * row1[cluster] + value2 * row2[cluster] + value3 * row3[cluster]
            )
        position += 4
    while position < split:
        row0 = head[columns[position]]
        value0 = values[position]
        for cluster in range(width):
            sums[cluster] += value0 * row0[cluster]
        position += 1
    return UNIT_ROUNDOFF * (0.25 * (split - first) + (last - split) + 10.0)


@jit
def sweep_exactly(values, columns, first, last, original, head, tail_starts, tail_clusters, tail_values, sums):
    """Fill the float64 `sums` with the similarities of one row, terms in ascending order of the original columns."""
    n_head = head.shape[0]
    sums[:] = 0
    order = np.argsort(original[columns[first:last]])
    for offset in order:
        position = first + offset
        value = np.float64(values[position])
        if columns[position] < n_head:
            row = head[columns[position]]
            for cluster in range(sums.size):
                sums[cluster] += value * np.float64(row[cluster])
        else:
            term = columns[position] - n_head
            for entry in range(tail_starts[term], tail_starts[term + 1]):
                sums[tail_clusters[entry]] += value * np.float64(tail_values[entry])


@jit(fastmath=ARITHMETIC)
def highest(sums, n_clusters):
    """Return the largest of the first `n_clusters` sums; written so that it runs many clusters at a time."""
    best = sums[0]
    for cluster in range(1, n_clusters):
        best = max(best, sums[cluster])
    return best


@jit
def first_index(sums, value):
    """Return the lowest index that holds `value`, which is there."""
    cluster = 0
    while sums[cluster] != value:
        cluster += 1
    return cluster


LOWEST = np.float32(-2.0)  # below every cosine


@jit
def assign_rows(
    values, columns, starts, original, head, tail_starts, tail_clusters, tail_values, n_clusters, labels, best, second
):
    """Write each row's nearest cluster, its similarity and the highest similarity to another (-2 if there is none).

    The similarities are float32 sums, or rounded float64 sums where the row was decided again. Return how many were.
    """
    sums = np.empty(head.shape[1], np.float32)
    exact = np.empty(head.shape[1], np.float64)
    decided_again = 0
    for row in range(starts.size - 1):
        first, last = starts[row], starts[row + 1]
        error = sweep(values, columns, first, last, head, tail_starts, tail_clusters, tail_values, sums)
        top = highest(sums, n_clusters)
        label = first_index(sums, top)
        sums[label] = LOWEST
        runner_up = highest(sums, n_clusters)
        if top - runner_up <= 2 * error and n_clusters > 1:
            sweep_exactly(values, columns, first, last, original, head, tail_starts, tail_clusters, tail_values, exact)
            exact_top = highest(exact, n_clusters)
            label = first_index(exact, exact_top)
            exact[label] = -2.0
            top = np.float32(exact_top)
            runner_up = np.float32(highest(exact, n_clusters))
            decided_again += 1
        labels[row] = label
        best[row] = top
        second[row] = runner_up
    return decided_again


@jit
def nearest_two_rows(
    values,
    columns,
    starts,
    original,
    head,
    tail_starts,
    tail_clusters,
    tail_values,
    n_clusters,
    labels,
    best,
    runners_up,
    second,
):
    """Write the nearest and the second nearest cluster of each row and their float64 similarities."""
    exact = np.empty(head.shape[1], np.float64)
    for row in range(starts.size - 1):
        first, last = starts[row], starts[row + 1]
        sweep_exactly(values, columns, first, last, original, head, tail_starts, tail_clusters, tail_values, exact)
        best[row] = highest(exact, n_clusters)
        labels[row] = first_index(exact, best[row])
        if n_clusters > 1:
            exact[labels[row]] = -2.0
            second[row] = highest(exact, n_clusters)
            runners_up[row] = first_index(exact, second[row])


@jit
def similarity_rows(
    values, columns, starts, original, head, tail_starts, tail_clusters, tail_values, n_clusters, similarities
):
    """Write the float64 similarity of each row to each cluster."""
    exact = np.empty(head.shape[1], np.float64)
    for row in range(starts.size - 1):
        sweep_exactly(
            values,
            columns,
            starts[row],
            starts[row + 1],
            original,
            head,
            tail_starts,
            tail_clusters,
            tail_values,
            exact,
        )
        similarities[row, :] = exact[:n_clusters]
