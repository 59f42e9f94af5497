"""k-means++ through the inverted index of the documents: a candidate touches only those that share its terms."""

from __future__ import annotations

import numpy as np

from doccluster.kernels.jit import jit
from doccluster.kernels.posting_lists import REGROUP, reach_of, write_products

PART = 8192  # documents at a time: similarities and distances of a part stay near the processor


@jit
def weigh_candidates(candidates, parts, rows, by_term, nearest, weights, into):
    """Fill the similarities of the documents of some parts to each candidate, and what is left if that one is a seed.

    `into` is (similarities, potentials): ``potentials[trial, part]`` is the weighted sum of 1 - similarity to the
    nearest seed. `rows` are those of all documents (Csr), `by_term` is their `InvertedIndex`. Without `weights` each
    document counts once. The parts from ``parts[0]`` to before ``parts[1]`` have `PART` documents each, which stay
    near the processor while one candidate after the other is weighed.
    """
    similarities, potentials = into
    begins = np.empty(0, np.int64)
    reach = reach_of(rows, candidates, by_term, parts[0] * PART, begins, similarities)
    for part in range(parts[0], parts[1]):
        low, high = part * PART, min(part * PART + PART, nearest.size)
        for trial in range(candidates.size):
            products = similarities[trial]
            write_products(reach, trial, by_term, low, high, products)
            potentials[trial, part] = _left(products[low:high], nearest[low:high], weights[low:high])


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
