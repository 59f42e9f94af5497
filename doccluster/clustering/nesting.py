"""Levels above and below a partition that is not touched: whole clusters are merged, and finer clusters made to nest.

What is known of clusters is a table of the products of their sums of rows, s_a . s_b, so that nothing depends on how
many documents or terms there are. Two groups are merged where the criterion I2, the sum of the lengths of the sums of
all groups, loses least: |s_a| + |s_b| - |s_a + s_b| (Zhao & Karypis 2004, Machine Learning 55, equation 4).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from doccluster.base.arrays import Flags, Floats, Labels, Matrix
from doccluster.base.blocks import library_threads
from doccluster.base.validation import unit_rows
from doccluster.geometry.sums import sums_by_label

FEWEST, MOST = 6, 20  # groups among which the number is sought
MAX_SWEEPS = 50
GAIN = 1e-9  # that a move must bring


class Merge(NamedTuple):
    """Two groups that become one, which keeps the number of the first, and what that loses."""

    first: int
    second: int
    loss: float


def products_of_sums(rows: Matrix, labels: Labels, n_clusters: int) -> Floats:
    """Return the products of the sums of the rows of clusters, array of shape (k, k); rows are dense or csr."""
    sums = sums_by_label(rows, labels, n_clusters)
    with library_threads(1, "blas"):  # the same sums for any number of threads
        products = sums @ sums.T
    return np.asarray(products.toarray() if sparse.issparse(products) else products, dtype=np.float64)


def products_of_groups(products: Floats, groups: Labels) -> Floats:
    """Return the products of the sums of groups of clusters, array of shape (m, m)."""
    m = int(groups.max()) + 1
    rows, both = np.zeros((m, groups.size)), np.zeros((m, m))
    np.add.at(rows, groups, products)
    np.add.at(both, groups, rows.T)
    return both


def merge_order(products: Floats) -> list[Merge]:
    """Return the k - 1 merges of clusters, each time the two whose merging loses least.

    >>> sums = np.array([[3.0, 0.0], [0.0, 2.0], [2.0, 0.1]])
    >>> [(merge.first, merge.second) for merge in merge_order(sums @ sums.T)]
    [(0, 2), (0, 1)]
    """
    products = np.array(products, dtype=np.float64)
    k = products.shape[0]
    squares = products.diagonal().copy()
    lengths = np.sqrt(squares)
    together = np.sqrt(np.maximum(squares[:, None] + squares + 2 * products, 0.0))
    losses = lengths[:, None] + lengths - together
    np.fill_diagonal(losses, np.inf)
    nearest, is_alive = losses.argmin(axis=1), np.ones(k, dtype=bool)
    least = losses[np.arange(k), nearest]
    merges = []
    for _ in range(k - 1):
        row = int(least.argmin())
        first, second = sorted((row, int(nearest[row])))
        merges.append(Merge(first, second, float(least[row])))
        products[first] += products[second]
        products[:, first] += products[:, second]
        squares[first] = products[first, first]
        lengths[first] = np.sqrt(max(squares[first], 0.0))
        is_alive[second] = False
        losses[second], losses[:, second], least[second] = np.inf, np.inf, np.inf
        others = np.flatnonzero(is_alive)
        others = others[others != first]
        together_now = np.sqrt(np.maximum(squares[first] + squares[others] + 2 * products[first, others], 0.0))
        losses[first, others] = losses[others, first] = lengths[first] + lengths[others] - together_now
        closer = others[losses[others, first] < least[others]]
        stale = others[np.isin(nearest[others], (first, second))]
        nearest[closer], least[closer] = first, losses[closer, first]
        again = np.append(stale, first)
        nearest[again] = losses[again].argmin(axis=1)
        least[again] = losses[again, nearest[again]]
    return merges


def groups_after(merges: list[Merge], n_groups: int) -> Labels:
    """Return the group of each cluster, 0..n_groups-1, when that many are left.

    >>> groups_after([Merge(0, 2, 0.1), Merge(0, 1, 1.4)], 2).tolist()
    [0, 1, 0]
    """
    groups = np.arange(len(merges) + 1)
    for merge in merges[: max(0, groups.size - n_groups)]:
        groups[groups == merge.second] = merge.first
    return _numbered(groups)


def number_of_groups(merges: list[Merge]) -> int:
    """Return the number of groups with the largest relative gap: going to one fewer loses many times the loss before.

    It is sought from FEWEST to MOST, or to two thirds of the clusters: more groups would tell little that these do not.
    """
    k = len(merges) + 1
    losses = {k - place: merge.loss for place, merge in enumerate(merges)}  # by how many groups there are before it
    most = min(MOST, 2 * k // 3)
    numbers = range(max(2, min(FEWEST, most)), most + 1)
    return max(numbers, key=lambda n: losses[n] / max(losses[n + 1], GAIN), default=1)


def moved_whole(products: Floats, groups: Labels) -> Labels:
    """Return the groups after single clusters were moved, one by one, while the sum of the groups' lengths grows."""
    groups = groups.copy()
    n_groups, sizes = int(groups.max()) + 1, np.bincount(groups)
    of_groups = np.zeros((products.shape[0], n_groups))  # the product of each cluster's sum with that of each group
    for group in range(n_groups):
        of_groups[:, group] = products[:, groups == group].sum(axis=1)
    squares = np.bincount(groups, of_groups[np.arange(groups.size), groups], minlength=n_groups)
    for _ in range(MAX_SWEEPS):
        moved = False
        for cluster, home in enumerate(groups.tolist()):
            if sizes[home] == 1:
                continue
            square, lengths = products[cluster, cluster], np.sqrt(squares)
            gains = np.sqrt(np.maximum(squares + 2 * of_groups[cluster] + square, 0.0)) - lengths
            without = max(squares[home] - 2 * of_groups[cluster, home] + square, 0.0)
            gains[home] = lengths[home] - np.sqrt(without)
            target = int(gains.argmax())
            if gains[target] <= gains[home] + GAIN:
                continue
            squares[target] += 2 * of_groups[cluster, target] + square
            squares[home] = without
            of_groups[:, home] -= products[:, cluster]
            of_groups[:, target] += products[:, cluster]
            sizes[home] -= 1
            sizes[target] += 1
            groups[cluster], moved = target, True
        if not moved:
            break
    return _numbered(groups)


def joins_of(products: Floats, groups: Labels) -> Floats:
    """Return the joins of clusters, first inside each group, then of groups, as `scipy.cluster.hierarchy` takes them.

    Heights are the losses of the criterion; a join of groups is at least as high as all inside them. After whole
    clusters were moved, groups are no cut of the merges of all clusters.
    """
    inside: list[Merge] = []
    first_of = np.array([int(np.flatnonzero(groups == group)[0]) for group in range(int(groups.max()) + 1)])
    for group in range(first_of.size):
        members = np.flatnonzero(groups == group)
        found = merge_order(products[np.ix_(members, members)])
        inside += [Merge(int(members[merge.first]), int(members[merge.second]), merge.loss) for merge in found]
    inside.sort(key=lambda merge: merge.loss)
    among = merge_order(products_of_groups(products, groups))
    merges = inside + [Merge(int(first_of[merge.first]), int(first_of[merge.second]), merge.loss) for merge in among]
    numbers, sizes, joins, height = np.arange(groups.size), np.ones(groups.size), [], 0.0
    for step, merge in enumerate(merges):
        height = max(height, merge.loss)
        sizes[merge.first] += sizes[merge.second]
        joins.append([numbers[merge.first], numbers[merge.second], height, sizes[merge.first]])
        numbers[merge.first] = groups.size + step
    return np.array(joins, dtype=np.float64).reshape(-1, 4)


def coarser_groups(products: Floats, n_groups: int | None = None) -> Labels:
    """Return the group of each cluster on the level above, int64 array of shape (k,), of `n_groups` or a number found.

    Merges of whole clusters, then moves of whole clusters.
    """
    merges = merge_order(products)
    return moved_whole(products, groups_after(merges, n_groups or number_of_groups(merges)))


def majority_groups(labels: Labels, coarse: Labels, n_clusters: int) -> Labels:
    """Return for each cluster the group of `coarse` that most of its documents are in; -1 in `coarse` counts nowhere.

    >>> majority_groups(np.array([0, 0, 0, 1]), np.array([1, 1, 0, 0]), 2).tolist()
    [1, 0]
    """
    is_in_one = coarse >= 0
    cells = labels[is_in_one] * (int(coarse.max()) + 1) + coarse[is_in_one]
    counts = np.bincount(cells, minlength=n_clusters * (int(coarse.max()) + 1)).reshape(n_clusters, -1)
    groups: Labels = counts.argmax(axis=1)
    return groups


def nested_labels(rows: Matrix, labels: Labels, fine: Labels, is_counted: Flags | None = None) -> Labels:
    """Return a finer partition that nests in `labels`, made of one that was found freely.

    A fine cluster belongs to the cluster that has most of its documents. Its other documents, and those of none (-1),
    go to the fine cluster of their own cluster that is nearest by its mean. A cluster that no fine one belongs to is
    not divided. Only documents that are counted decide (all by default). Every number 0..m-1 has a document.
    """
    is_counted = np.ones(labels.size, bool) if is_counted is None else is_counted
    decides = is_counted & (fine >= 0)
    if not decides.any():
        return _numbered(labels)
    n_fine = int(fine.max()) + 1
    parents = majority_groups(fine[decides], labels[decides], n_fine)
    parents[np.bincount(fine[decides], minlength=n_fine) == 0] = -1
    sums = sums_by_label(rows, np.where(decides, fine, n_fine), n_fine + 1)[:n_fine]
    means = unit_rows(sums, warn=False)
    nested = np.where((fine >= 0) & (parents[fine] == labels), fine, -1)
    astray = np.flatnonzero(nested < 0)
    nearest = nearest_parts(rows[astray], labels[astray], parents, means)
    nested[astray] = np.where(nearest < 0, n_fine + labels[astray], nearest)
    return _numbered(nested)


def nearest_parts(rows: Matrix, labels: Labels, parents: Labels, means: Matrix) -> Labels:
    """Return for each row the nearest part of its cluster, by the unit mean of each; -1 where it has no parts."""
    nearest = np.full(labels.size, -1)
    for cluster in np.unique(labels).tolist():
        places, parts = np.flatnonzero(labels == cluster), np.flatnonzero(parents == cluster)
        if parts.size:
            cosines = rows[places] @ means[parts].T
            nearest[places] = parts[np.asarray(cosines.argmax(axis=1)).ravel()]
    return nearest


def _numbered(groups: Labels) -> Labels:
    """Return labels as 0..m-1, in the order of their numbers."""
    return np.asarray(np.unique(groups, return_inverse=True)[1], np.int64)
