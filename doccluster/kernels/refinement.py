"""Single-document moves: what the objective gains when one document changes its cluster, and chains of such moves.

With s the sum of a cluster's (weighted) documents and L its length, moving document x of weight w from a to b gains

    |s_a - w x| - L_a + |s_b + w x| - L_b,   |s + w x|^2 = L^2 + 2 w s.x + w^2

(Dhillon, Guan and Kogan, Iterative Clustering of High Dimensional Text Data Augmented by Local Search, ICDM 2002).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from doccluster.kernels.assignment import head_end, sum_row, sums_to_start_from
from doccluster.kernels.jit import jit


class Clusters(NamedTuple):
    """What a move changes of the clusters: the lengths of their sums, and their sizes."""

    lengths: npt.NDArray[np.float64]
    sizes: npt.NDArray[np.int64]


class Moves(NamedTuple):
    """The best move of each row, and the products with both sums; the gain is -inf for a row that may not move."""

    gains: npt.NDArray[np.float64]
    targets: npt.NDArray[np.int32]
    own_products: npt.NDArray[np.float64]
    target_products: npt.NDArray[np.float64]


@jit(inner=True)
def longer_by(length, product, weight):
    """Return |s + w x| - |s| for |s| = `length`, s.x = `product`, |x| = 1; a negative weight takes x away."""
    return np.sqrt(max(0.0, length * length + 2.0 * weight * product + weight * weight)) - length


@jit
def best_moves(rows, table, clusters, weights, usable, labels):
    """Return the `Moves` of the rows: the best other cluster of each, and the gain of moving there.

    A row may not move if it has no direction, no weight, or is alone in its cluster.
    """
    lengths, sizes = clusters
    gains, targets = np.empty(labels.size), np.empty(labels.size, np.int32)
    own_products, target_products = np.zeros(labels.size), np.zeros(labels.size)
    columns, starts, n_clusters = rows.columns, rows.starts, table.n_clusters
    n_head, width = table.head.shape
    start, sums = sums_to_start_from(n_clusters, width), np.empty(width, np.float32)
    for row in range(starts.size - 1):
        gains[row] = -np.inf
        targets[row] = labels[row]
        if not usable[row] or sizes[labels[row]] < 2:
            continue
        first, last = starts[row], starts[row + 1]
        sum_row(rows, first, head_end(columns, first, last, n_head), last, table, start, sums)
        weight = weights[row]
        best = -np.inf
        for cluster in range(n_clusters):
            if cluster != labels[row]:
                gain = longer_by(lengths[cluster], lengths[cluster] * sums[cluster], weight)
                if gain > best:
                    best = gain
                    targets[row] = cluster
        own = labels[row]
        own_products[row] = lengths[own] * sums[own]
        target_products[row] = lengths[targets[row]] * sums[targets[row]]
        gains[row] = best + longer_by(lengths[own], own_products[row], -weight)
    return Moves(gains, targets, own_products, target_products)


@jit(inner=True)
def row_product(values, columns, first, last, dense):
    """Return the product of a row with a dense vector."""
    total = 0.0
    for position in range(first, last):
        total += np.float64(values[position]) * dense[columns[position]]
    return total


@jit
def apply_moves(rows, weights, moves, order, least_gain, clusters, labels):
    """Move rows in `order` as long as each still gains, given the moves before it; return how many moved.

    The products of `moves` are with the sums before the first move; what earlier moves added to or took from the two
    clusters is added here. `clusters` and `labels` are kept up to date.
    """
    values, columns, starts, original = rows
    _, targets, own_products, target_products = moves
    lengths, sizes = clusters
    dense = np.zeros(original.size, np.float64)
    moved_rows, left = np.empty(order.size, np.int64), np.empty(order.size, np.int64)
    joined = np.empty(order.size, np.int64)
    n_moved = 0
    for row in order:
        own, target = labels[row], targets[row]
        if sizes[own] < 2:
            continue
        first, last = starts[row], starts[row + 1]
        for position in range(first, last):
            dense[columns[position]] = values[position]
        own_product, target_product = own_products[row], target_products[row]
        for move in range(n_moved):
            is_near = left[move] == own or left[move] == target or joined[move] == own or joined[move] == target
            if is_near:
                other = moved_rows[move]
                product = weights[other] * row_product(values, columns, starts[other], starts[other + 1], dense)
                own_product += product * (np.int64(joined[move] == own) - np.int64(left[move] == own))
                target_product += product * (np.int64(joined[move] == target) - np.int64(left[move] == target))
        for position in range(first, last):
            dense[columns[position]] = 0.0
        weight = weights[row]
        loss = longer_by(lengths[own], own_product, -weight)
        win = longer_by(lengths[target], target_product, weight)
        if loss + win > least_gain:
            lengths[own] += loss
            lengths[target] += win
            sizes[own] -= 1
            sizes[target] += 1
            left[n_moved], joined[n_moved], moved_rows[n_moved] = own, target, row
            labels[row] = target
            n_moved += 1
    return n_moved


@jit
def best_chain(rows, weights, index, products, clusters, labels, moves):
    """Make a chain of best moves, each row at most once, gains or not; return the length of its best beginning.

    `products` is rows x clusters, s_j.x_i, kept up to date with `clusters` and `labels`; `moves` receives (row, from,
    to). Returns also what that beginning gains.
    """
    values, columns, starts, _ = rows
    index_starts, index_rows, index_values = index
    lengths, sizes = clusters
    n_rows, n_clusters = products.shape
    is_free = np.ones(n_rows, np.bool_)
    overlap = np.empty(n_rows, np.float64)
    gained, best_gain, best_length = 0.0, 0.0, 0
    for step in range(moves.shape[0]):
        best, best_row, best_target = -np.inf, -1, -1
        for row in range(n_rows):
            own = labels[row]
            if not is_free[row] or sizes[own] < 2:
                continue
            loss = longer_by(lengths[own], products[row, own], -weights[row])
            for cluster in range(n_clusters):
                if cluster != own:
                    gain = loss + longer_by(lengths[cluster], products[row, cluster], weights[row])
                    if gain > best:
                        best, best_row, best_target = gain, row, cluster
        if best_row < 0:
            return best_length, best_gain
        own = labels[best_row]
        weight = weights[best_row]
        lengths[own] += longer_by(lengths[own], products[best_row, own], -weight)
        lengths[best_target] += longer_by(lengths[best_target], products[best_row, best_target], weight)
        overlap[:] = 0.0
        for position in range(starts[best_row], starts[best_row + 1]):
            column = columns[position]
            for entry in range(index_starts[column], index_starts[column + 1]):
                overlap[index_rows[entry]] += np.float64(values[position]) * index_values[entry]
        for row in range(n_rows):
            products[row, own] -= weight * overlap[row]
            products[row, best_target] += weight * overlap[row]
        sizes[own] -= 1
        sizes[best_target] += 1
        labels[best_row] = best_target
        is_free[best_row] = False
        moves[step, 0], moves[step, 1], moves[step, 2] = best_row, own, best_target
        gained += best
        if gained > best_gain:
            best_gain, best_length = gained, step + 1
    return best_length, best_gain
