"""k-means++ through the inverted index of the documents: a candidate touches only those that share its terms."""

from __future__ import annotations

import numpy as np

from doccluster.kernels.jit import jit
from doccluster.kernels.posting_lists import REGROUP, add_lines, add_postings

PART = 8192  # documents at a time: similarities and distances of a part stay near the processor


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
def weigh_candidates(rows, step, documents, index, common, nearest, weights, similarities, potentials):
    """Fill `similarities` of every document to some rows, and the potential that is left if a row is a seed.

    The potential is the weighted sum of 1 - similarity to the nearest seed. `documents` is (values, columns, starts),
    `index` is (starts, rows, values) by term; terms of many documents have a dense line in `common` = (line of each
    term or -1, lines) instead. Without `weights` each document counts once. Documents come in parts of `PART`, which
    stay near the processor. Every `step`-th of `rows` is weighed.
    """
    values, columns, starts = documents
    for trial in range(0, rows.size, step):
        entries = slice(starts[rows[trial]], starts[rows[trial] + 1])
        potentials[trial] = _weigh(
            values[entries], columns[entries], index, common, nearest, weights, similarities[trial]
        )


@jit
def _weigh(row_values, row_columns, index, common, nearest, weights, similarities):
    index_starts, index_rows, index_values = index
    line_of, head = common
    tail, values = np.empty((row_columns.size, 2), np.int64), np.empty(row_columns.size, np.float32)
    lines, line_values = np.empty(row_columns.size, np.int64), np.empty(row_columns.size, np.float32)
    n_tail, n_lines = 0, 0
    for position in range(row_columns.size):
        term = row_columns[position]
        if line_of[term] >= 0:
            lines[n_lines], line_values[n_lines] = line_of[term], row_values[position]
            n_lines += 1
        else:
            tail[n_tail, 0], tail[n_tail, 1] = index_starts[term], index_starts[term + 1]
            values[n_tail] = row_values[position]
            n_tail += 1
    tail, values, lines, line_values = tail[:n_tail], values[:n_tail], lines[:n_lines], line_values[:n_lines]
    total = 0.0
    for low in range(0, nearest.size, PART):
        high = min(low + PART, nearest.size)
        part = similarities[low:high]
        part[:] = 0
        add_postings(tail, values, index_rows, index_values, high, similarities)
        add_lines(head, lines, line_values, low, high, similarities)
        total += _left(part, nearest[low:high], weights[low:high])
    return total


@jit(fastmath=REGROUP)
def _left(similarities, nearest, weights):
    """Return the potential of some documents, counted once each if `weights` is empty."""
    total = 0.0
    if weights.size:
        for row in range(nearest.size):
            similarity = similarities[row] if similarities[row] > nearest[row] else nearest[row]
            left = 1.0 - np.float64(similarity)
            total += weights[row] * (left if left > 0.0 else 0.0)
    else:
        for row in range(nearest.size):
            similarity = similarities[row] if similarities[row] > nearest[row] else nearest[row]
            left = 1.0 - np.float64(similarity)
            total += left if left > 0.0 else 0.0
    return total


@jit
def join_nearest(similarities, nearest, weights, resolution, sums):
    """Raise `nearest` to the similarities where they are higher, and write the sum of the distances of each part.

    A distance of `resolution` or less counts as 0.
    """
    for number in range(sums.size):
        part = slice(number * PART, min((number + 1) * PART, nearest.size))
        sums[number] = _join(similarities[part], nearest[part], weights[part], resolution)


@jit(fastmath=REGROUP)
def _join(similarities, nearest, weights, resolution):
    total = 0.0
    for row in range(nearest.size):
        nearest[row] = similarities[row] if similarities[row] > nearest[row] else nearest[row]
    if weights.size:
        for row in range(nearest.size):
            distance = 1.0 - np.float64(nearest[row])
            total += weights[row] * (distance if distance > resolution else 0.0)
    else:
        for row in range(nearest.size):
            distance = 1.0 - np.float64(nearest[row])
            total += distance if distance > resolution else 0.0
    return total


@jit
def draw_rows(points, cumulated, nearest, weights, resolution, rows):
    """Write the rows at which the running sum of the distances passes `points`, the last row with one at most.

    `cumulated` is the running sum over the parts.
    """
    last = 0
    while cumulated[last] < cumulated[-1]:
        last += 1
    for place in range(points.size):
        part = min(np.searchsorted(cumulated, points[place], side="right"), last)
        rest = points[place] - (cumulated[part - 1] if part else 0.0)
        rows[place] = _row_at(part, rest, nearest, weights, resolution)


@jit
def _row_at(number, rest, nearest, weights, resolution):
    """Return the row of a part at which the running sum of its distances passes `rest`, the last with one at most."""
    found, total = number * PART, 0.0
    for row in range(number * PART, min((number + 1) * PART, nearest.size)):
        distance = 1.0 - np.float64(nearest[row])
        if distance > resolution:
            share = weights[row] * distance if weights.size else distance
            if share > 0.0:
                found = row
                total += share
                if total > rest:
                    break
    return found
