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
def weigh_candidates(rows, first_part, last_part, documents, index, common, nearest, weights, similarities, potentials):
    """Fill `similarities` of the documents of some parts to each of `rows`, and what is left if that row is a seed.

    ``potentials[trial, part]`` is the weighted sum of 1 - similarity to the nearest seed. `documents` is (values,
    columns, starts), `index` is (starts, rows, values) by term; terms of many documents have a dense line in `common` =
    (line of each term or -1, lines) instead. Without `weights` each document counts once. Documents come in parts of
    `PART`, which stay near the processor while one candidate after the other is weighed.
    """
    values, columns, starts = documents
    index_starts, index_rows, index_values = index
    line_of, head = common
    capacity = 0
    for row in rows:
        capacity += starts[row + 1] - starts[row]
    lists, list_values = np.empty((capacity, 2), np.int64), np.empty(capacity, np.float32)
    lines, line_values = np.empty(capacity, np.int64), np.empty(capacity, np.float32)
    list_ends, line_ends = np.zeros(rows.size + 1, np.int64), np.zeros(rows.size + 1, np.int64)
    for trial in range(rows.size):
        n_lists, n_lines = list_ends[trial], line_ends[trial]
        for position in range(starts[rows[trial]], starts[rows[trial] + 1]):
            term = columns[position]
            if line_of[term] >= 0:
                lines[n_lines], line_values[n_lines] = line_of[term], values[position]
                n_lines += 1
            else:
                first, last = index_starts[term], index_starts[term + 1]
                lists[n_lists, 0], lists[n_lists, 1] = _first_from(first_part * PART, index_rows, first, last), last
                list_values[n_lists] = values[position]
                n_lists += 1
        list_ends[trial + 1], line_ends[trial + 1] = n_lists, n_lines
    for part in range(first_part, last_part):
        low, high = part * PART, min(part * PART + PART, nearest.size)
        for trial in range(rows.size):
            listed, lined = slice(list_ends[trial], list_ends[trial + 1]), slice(line_ends[trial], line_ends[trial + 1])
            products = similarities[trial]
            products[low:high] = 0
            add_postings(lists[listed], list_values[listed], index_rows, index_values, high, products)
            add_lines(head, lines[lined], line_values[lined], low, high, products)
            potentials[trial, part] = _left(products[low:high], nearest[low:high], weights[low:high])


@jit(inner=True)
def _first_from(row, index_rows, first, last):
    """Return the first place of ``first..last`` whose row, ascending, is `row` or later."""
    while first < last and row > 0:
        middle = (first + last) // 2
        if index_rows[middle] < row:
            first = middle + 1
        else:
            last = middle
    return first


@jit(fastmath=REGROUP, inner=True)
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


@jit(fastmath=REGROUP, inner=True)
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
        part = 0
        while part < last and cumulated[part] <= points[place]:
            part += 1
        rest = points[place] - (cumulated[part - 1] if part else 0.0)
        rows[place] = _row_at(part, rest, nearest, weights, resolution)


@jit(inner=True)
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
