"""Spherical 2-means of a few documents in one call: to set up the general algorithm would cost ten times as much.

The steps are those of `clustering.k_means`: greedy k-means++ seeds, assignments and means in turn, the best of several
starts.
"""

from __future__ import annotations

import numpy as np

from doccluster.kernels.jit import jit

DRAWS = 3  # numbers a start takes: one for the first seed, two for the candidates for the second
SAME_ROW = 1e-6  # rows closer than this to a seed are copies of it
MOST_STEPS = 300
LEAST_GAIN = 1e-4  # of the objective, for another step


@jit
def two_means(columns, values, ends, n_columns, draws):
    """Return in which of two clusters each row is, by the best of some starts; all 0 if the rows are all the same.

    Parameters
    ----------
    columns, values : int64 and float64 arrays
        The entries of the rows, which are unit vectors, one row after the other.
    ends : int64 array of shape (n_rows,)
        Where each row ends.
    draws : float64 array of shape (3 n_starts,)
        Random numbers in [0, 1).
    """
    best = np.zeros(ends.size, dtype=np.int64)
    greatest = -np.inf
    sums = np.zeros((2, n_columns), dtype=np.float64)
    similarities = np.empty((2, ends.size), dtype=np.float64)
    rows = (columns, values, ends)
    for start in range(0, draws.size, DRAWS):
        if not draw_seeds(rows, draws[start : start + DRAWS], similarities, sums):
            break
        labels, objective = run_start(rows, similarities, sums)
        if objective > greatest:
            greatest = objective
            best[:] = labels
    return best


@jit(inner=True)
def draw_seeds(rows, draws, similarities, sums):
    """Let the two sums be two seeds; return whether there are two different rows."""
    n_rows = rows[2].size
    nearest = np.zeros(n_rows, dtype=np.float64)
    first = row_at(draws[0] * n_rows, nearest)
    sums[:] = 0.0
    add_row(rows, first, sums[0])
    write_products(rows, sums[0], nearest)
    total = 0.0
    for row in range(n_rows):
        total += distance_of(nearest[row])
    if total <= 0.0:
        return False
    best, least = -1, np.inf
    for candidate in (row_at(draws[1] * total, nearest), row_at(draws[2] * total, nearest)):
        sums[1] = 0.0
        add_row(rows, candidate, sums[1])
        write_products(rows, sums[1], similarities[1])
        left = 0.0
        for row in range(n_rows):
            left += distance_of(max(nearest[row], similarities[1, row]))
        if left < least:
            best, least = candidate, left
    sums[1] = 0.0
    add_row(rows, best, sums[1])
    return True


@jit(inner=True)
def run_start(rows, similarities, sums):
    """Return the labels and the sum of the similarities of the rows to the directions of their clusters."""
    labels, following = np.zeros(rows[2].size, dtype=np.int64), np.zeros(rows[2].size, dtype=np.int64)
    assign_rows(rows, similarities, sums, labels)
    objective = -np.inf
    for step in range(MOST_STEPS):
        before = objective
        sums[:] = 0.0
        for row in range(labels.size):
            add_row(rows, row, sums[labels[row]])
        objective = np.sqrt((sums[0] * sums[0]).sum()) + np.sqrt((sums[1] * sums[1]).sum())
        assign_rows(rows, similarities, sums, following)
        has_moved = (labels != following).any()
        labels[:] = following
        if not has_moved or (step > 0 and objective - before < LEAST_GAIN * objective):
            break
    total = 0.0
    for row in range(labels.size):
        total += similarities[labels[row], row]
    return labels, total


@jit(inner=True)
def assign_rows(rows, similarities, sums, labels):
    """Write the similarities of the rows to both directions, and which is greater; of equal ones the first."""
    for label in range(2):
        write_products(rows, sums[label], similarities[label])
        length = np.sqrt((sums[label] * sums[label]).sum())
        for row in range(labels.size):
            similarities[label, row] = similarities[label, row] / length if length > 0.0 else -1.0
    for row in range(labels.size):
        labels[row] = 1 if similarities[1, row] > similarities[0, row] else 0


@jit(inner=True)
def row_at(point, nearest):
    """Return the row at which the running sum of the distances passes a point, the last with a distance at most."""
    found, total = 0, 0.0
    for row in range(nearest.size):
        distance = distance_of(nearest[row])
        if distance > 0.0:
            found = row
            total += distance
            if total > point:
                break
    return found


@jit(inner=True)
def distance_of(similarity):
    """Return one less the similarity, 0 for a copy."""
    return 1.0 - similarity if 1.0 - similarity > SAME_ROW else 0.0


@jit(inner=True)
def add_row(rows, row, total):
    """Add a row to a sum."""
    columns, values, ends = rows
    for place in range(ends[row - 1] if row > 0 else 0, ends[row]):
        total[columns[place]] += values[place]


@jit(inner=True)
def write_products(rows, total, products):
    """Write the product of each row with a sum."""
    columns, values, ends = rows
    begin = 0
    for row in range(ends.size):
        product = 0.0
        for place in range(begin, ends[row]):
            product += values[place] * total[columns[place]]
        products[row] = product
        begin = ends[row]
