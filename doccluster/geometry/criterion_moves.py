"""Partitions made better by moves of single documents, by one of the criterion functions I1, I2, E1, G1, H1 and H2.

`geometry.evidence.criterion_value` has their formulas and their source.

A criterion is a function of three numbers of each cluster: its size n, the squared length q of the sum of its unit
rows, and the product p of that sum with the sum of all rows. A move changes them by the products of the row with the
sums.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.arrays import CsrArray, Floats, Integers, Matrix
from doccluster.base.compiled import jit
from doccluster.base.sparse_structure import Csr
from doccluster.base.validation import check_choice
from doccluster.geometry.evidence import MIN_SQUARE, NAMES
from doccluster.geometry.sums import sums_by_label

I1, I2, E1, G1, H1, H2 = range(len(NAMES))  # kernels are given the number


class Criterion(NamedTuple):
    """What a kernel raises: the number of a criterion, less a cost times the squared sizes of the clusters."""

    code: int
    squared_size_cost: float


class Clusters(NamedTuple):
    """The numbers of clusters that criteria are made of."""

    sums: Floats  # (n_terms, n_clusters)
    sizes: Floats
    squares: Floats  # squared lengths of the sums
    products: Floats  # of the sums with the sum of all rows


@jit(inner=True)
def inner_part(criterion, size, square):
    """Return the share of a cluster in the internal criterion."""
    if size <= 0.0:
        return 0.0
    share = square / size if criterion.code in (I1, H1) else np.sqrt(max(square, 0.0))
    if criterion.squared_size_cost > 0.0:
        share -= criterion.squared_size_cost * size * size
    return share


@jit(inner=True)
def outer_part(criterion, size, square, product):
    """Return the share of a cluster in the external criterion."""
    if size <= 0.0:
        return 0.0
    square = max(square, MIN_SQUARE)
    if criterion.code == G1:
        return (product - square) / square
    return size * product / np.sqrt(square)


@jit(inner=True)
def joined(criterion, inner, outer):
    """Return the criterion, turned so that more is better."""
    if criterion.code in (I1, I2):
        return inner
    if criterion.code in (E1, G1):
        return -outer
    return inner / max(outer, MIN_SQUARE)


@jit
def move_rows(criterion, rows, order, least_gain, with_total, clusters, labels):
    """Move each row, in `order`, to the cluster where the criterion gains most, if it gains; return how many moved.

    `clusters` and `labels` are kept up to date. A row alone in its cluster, and one without values, stays. `with_total`
    is the product of each row (Csr) with the sum of all.
    """
    starts, columns, values = rows
    sums, sizes, squares, products = clusters
    n_clusters = sizes.size
    dots = np.empty(n_clusters)
    inner, outer = 0.0, 0.0
    for cluster in range(n_clusters):
        inner += inner_part(criterion, sizes[cluster], squares[cluster])
        outer += outer_part(criterion, sizes[cluster], squares[cluster], products[cluster])
    n_moved = 0
    for row in order:
        first, last = starts[row], starts[row + 1]
        source = labels[row]
        if first == last or sizes[source] < 2.0:
            continue
        dots[:] = 0.0
        own_square = 0.0
        for position in range(first, last):
            value = values[position]
            own_square += value * value
            column = columns[position]
            for cluster in range(n_clusters):
                dots[cluster] += value * sums[column, cluster]
        # what the criterion is when the row has left its cluster, and then in each other one
        towards = with_total[row]
        size, square, product = sizes[source], squares[source], products[source]
        left_square, left_product = square - 2.0 * dots[source] + own_square, product - towards
        inner_left = inner - inner_part(criterion, size, square) + inner_part(criterion, size - 1.0, left_square)
        outer_left = (
            outer
            - outer_part(criterion, size, square, product)
            + outer_part(criterion, size - 1.0, left_square, left_product)
        )
        now = joined(criterion, inner, outer)
        best, target, best_inner, best_outer = now + least_gain * abs(now), -1, 0.0, 0.0
        for cluster in range(n_clusters):
            if cluster == source:
                continue
            size, square, product = sizes[cluster], squares[cluster], products[cluster]
            more_square = square + 2.0 * dots[cluster] + own_square
            inner_there = (
                inner_left - inner_part(criterion, size, square) + inner_part(criterion, size + 1.0, more_square)
            )
            outer_there = (
                outer_left
                - outer_part(criterion, size, square, product)
                + outer_part(criterion, size + 1.0, more_square, product + towards)
            )
            joined_value = joined(criterion, inner_there, outer_there)
            if joined_value > best:
                best, target, best_inner, best_outer = joined_value, cluster, inner_there, outer_there
        if target < 0:
            continue
        squares[source], products[source] = left_square, left_product
        squares[target] += 2.0 * dots[target] + own_square
        products[target] += towards
        sizes[source] -= 1.0
        sizes[target] += 1.0
        for position in range(first, last):
            sums[columns[position], source] -= values[position]
            sums[columns[position], target] += values[position]
        inner, outer = best_inner, best_outer
        labels[row] = target
        n_moved += 1
    return n_moved


MIN_GAIN = 1e-12  # a share of the criterion, below which a gain may be rounding


def moves_bytes(n_terms: int, n_entries: int, n_clusters: int) -> int:
    """Return the bytes `refine_by_moves` holds beyond its rows: the table, the sums and rows in float64.

    Half as much again is for what is held while one becomes another.
    """
    n_cells = n_terms * n_clusters
    return int(1.5 * (8 * n_cells + 24 * min(n_entries, n_cells) + 28 * n_entries))


def refine_by_moves(
    criterion: str,
    rows: Matrix,
    labels: npt.ArrayLike,
    n_clusters: int,
    *,
    max_passes: int = 50,
    rng: np.random.Generator,
    squared_size_cost: float = 0.0,
) -> Integers:
    """Return labels from which no move of a single document gains, or those after `max_passes` passes.

    Each pass visits the documents in another random order and moves each to where the criterion gains most. Memory is a
    table of float64 of the terms times the clusters.

    `criterion`: {'i1', 'i2', 'e1', 'g1', 'h1', 'h2'}. `rows`: csr array of shape (n_documents, n_terms), unit rows.
    `labels`: int array of shape (n_documents,), 0..n_clusters-1. `squared_size_cost`: what the sum of the squared sizes
    of clusters takes from an internal criterion, per unit.
    """
    raised = Criterion(NAMES.index(check_choice(criterion, NAMES, "criterion")), squared_size_cost)
    refined = np.array(labels, dtype=np.int64)
    compact = _used_terms(rows)
    arrays = Csr.of(compact)
    for _ in range(max_passes):
        clusters, with_total = _state(compact, refined, n_clusters)  # again, so that rounding does not add up
        order = rng.permutation(refined.size)
        moved = move_rows(raised, arrays, order, MIN_GAIN, with_total, clusters, refined)
        if not moved:
            break
        del clusters  # before the next one is made, so that there is only one table
    return refined


def _state(rows: CsrArray, labels: Integers, n_clusters: int) -> tuple[Clusters, Floats]:
    """Return the clusters of some rows, and the product of each row with the sum of all."""
    sums: Floats = sums_by_label(rows, labels, n_clusters).T.toarray(order="C")  # (used terms, clusters)
    sizes = np.bincount(labels[np.diff(rows.indptr) > 0], minlength=n_clusters).astype(np.float64)
    total = sums.sum(axis=1)
    return Clusters(sums, sizes, np.einsum("tr,tr->r", sums, sums), total @ sums), np.asarray(rows @ total)


def _used_terms(rows: Matrix) -> CsrArray:
    """Return rows in float64 without the columns that no row uses."""
    matrix = sparse.csr_array(rows)
    terms, columns = np.unique(matrix.indices, return_inverse=True)
    return sparse.csr_array(
        (matrix.data.astype(np.float64), columns.reshape(-1), matrix.indptr), shape=(matrix.shape[0], terms.size)
    )
