"""k-means++ through the inverted index of the documents: a candidate touches only those that share its terms."""

from __future__ import annotations

import numpy as np

from doccluster.kernels.jit import jit

REASSOCIATED = {"reassoc", "contract", "nnan", "nsz"}  # sums of one machine's vector width, the same for any threads


@jit
def count_by_term(columns, counts):
    """Write how many of a block's entries each term has."""
    counts[:] = 0
    for position in range(columns.size):
        counts[columns[position]] += 1


@jit
def place_by_term(values, columns, starts, first_row, following, index_rows, index_values):
    """Put a block of rows in the index; `following` holds the next free place of each term and is moved on."""
    for row in range(starts.size - 1):
        for position in range(starts[row], starts[row + 1]):
            slot = following[columns[position]]
            index_rows[slot] = first_row + row
            index_values[slot] = values[position]
            following[columns[position]] = slot + 1


@jit
def similarities_to_row(row_values, row_columns, index_starts, index_rows, index_values, similarities):
    """Write the similarity of every document to one row, adding the row's terms in their order."""
    similarities[:] = 0
    for position in range(row_columns.size):
        value = row_values[position]
        column = row_columns[position]
        for entry in range(index_starts[column], index_starts[column + 1]):
            similarities[index_rows[entry]] += value * index_values[entry]


@jit(fastmath=REASSOCIATED)
def potential_with(similarities, nearest, weights):
    """Return the weighted sum of 1 - similarity to the nearest seed if these similarities are joined to `nearest`."""
    total = 0.0
    for row in range(nearest.size):
        total += weights[row] * max(0.0, 1.0 - max(nearest[row], np.float64(similarities[row])))
    return total


@jit
def join_nearest(similarities, nearest):
    """Raise `nearest` to the similarities where they are higher."""
    for row in range(nearest.size):
        nearest[row] = max(nearest[row], np.float64(similarities[row]))


@jit
def cumulate_distances(nearest, weights, resolution, cumulated):
    """Write the running sum of weight times (1 - similarity to the nearest seed); below `resolution` counts as 0."""
    total = 0.0
    for row in range(nearest.size):
        distance = 1.0 - nearest[row]
        if distance > resolution:
            total += weights[row] * distance
        cumulated[row] = total
