"""The sums and the means of a small matrix as whole tables, a row for each term and a lane for each cluster.

Where all sums are exact in float64, a document that changes its cluster is taken away from one lane and added to
another, and the means are the sums over their lengths: an iteration touches each number once, in the order it lies.
"""

from __future__ import annotations

import numpy as np

from doccluster.kernels.jit import jit


@jit
def move_rows(rows, before, after, sums, weights, has_moved):
    """Take the rows whose label changed away from the lane of the old one, -1 for none, and add them to the new.

    All rows weigh 1, and sums are exact. `weights` (k,) is kept up to date; `has_moved` (k,) is set for the clusters
    that a row left or joined.
    """
    values, columns, starts, _ = rows
    for row in range(after.size):
        old, new = before[row], after[row]
        if old == new:
            continue
        weights[new] += 1.0
        has_moved[new] = True
        if old < 0:
            for entry in range(starts[row], starts[row + 1]):
                sums[columns[entry], new] += values[entry]
            continue
        weights[old] -= 1.0
        has_moved[old] = True
        for entry in range(starts[row], starts[row + 1]):
            value = np.float64(values[entry])
            sums[columns[entry], old] -= value
            sums[columns[entry], new] += value


@jit
def add_rows(rows, labels, row_weights, is_changed, sums, weights):
    """Add the rows of the clusters for which `is_changed`, ascending, times their weights to the lanes of `sums`.

    For sums that are not exact, whose order counts; `weights` (k,) of these clusters are added up as well.
    """
    values, columns, starts, _ = rows
    for row in range(labels.size):
        cluster, weight = labels[row], row_weights[row]
        if is_changed[cluster]:
            weights[cluster] += weight
            for entry in range(starts[row], starts[row + 1]):
                sums[columns[entry], cluster] += weight * values[entry]


@jit
def add_dense_rows(dense, labels, row_weights, is_changed, sums, weights):
    """Do what `add_rows` does for rows without zeros; a cluster is added up where its numbers lie close together."""
    store = np.zeros((weights.size, dense.shape[1]))
    for row in range(labels.size):
        cluster, weight = labels[row], row_weights[row]
        if is_changed[cluster]:
            weights[cluster] += weight
            own, values = store[cluster], dense[row]
            for term in range(values.size):
                own[term] += weight * values[term]
    for term in range(dense.shape[1]):
        for cluster in range(weights.size):
            sums[term, cluster] += store[cluster, term]


@jit(fastmath={"contract"})
def square_sums(sums, squared):
    """Add the squared length of each lane of some rows of the sums to `squared` (n_lanes,), terms ascending."""
    for term in range(sums.shape[0]):
        for lane in range(squared.size):
            squared[lane] += sums[term, lane] * sums[term, lane]


@jit(fastmath={"contract"})
def renew_means(sums, lengths, is_new, head, squared):
    """Make the lanes for which `is_new` of some rows of `head` the sums over `lengths`, as float32.

    The squared chord between the old and the new mean is added to `squared` (n_lanes,). No length may be 0.
    """
    for term in range(sums.shape[0]):
        for lane in range(lengths.size):
            old = head[term, lane]
            value = np.float32(sums[term, lane] / lengths[lane]) if is_new[lane] else old
            change = np.float64(value) - np.float64(old)
            squared[lane] += change * change
            head[term, lane] = value


@jit
def own_products(rows, head, labels, products):
    """Write the float64 product of each row with the lane of its cluster."""
    values, columns, starts, _ = rows
    for row in range(labels.size):
        total = 0.0
        for entry in range(starts[row], starts[row + 1]):
            total += np.float64(values[entry]) * np.float64(head[columns[entry], labels[row]])
        products[row] = total
