"""The best one-to-one map between clusters and classes, for tables of any size.

The table falls into blocks that share no cell. A block with one row or one column is settled at sight, and only the
rest is given to an assignment solver, each block by itself: dense where it is small, sparse where it is not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import connected_components, min_weight_full_bipartite_matching

Integers = npt.NDArray[np.int64]

MAX_DENSE_CELLS = 4_000_000


@dataclass(frozen=True, eq=False)
class Matching:
    """A one-to-one map: cluster ``clusters[i]`` is matched with class ``classes[i]``; all pairs share documents."""

    clusters: Integers
    classes: Integers
    total: float

    def class_of(self, n_clusters: int) -> Integers:
        """Return the class of each cluster, -1 where it has none; shape (n_clusters,)."""
        result = np.full(n_clusters, -1, np.int64)
        result[self.clusters] = self.classes
        return result


def best_matching(weights: sparse.csr_array) -> Matching:
    """Return the matching with the largest sum of weights.

    Parameters
    ----------
    weights : csr array of shape (k, g), all stored values > 0
    """
    table = sparse.coo_array(weights)
    rows, columns, values = table.row.astype(np.int64), table.col.astype(np.int64), table.data
    block = _blocks(rows, columns, weights.shape)
    is_star = _is_star(block, rows, columns)
    chosen = [_best_of_each_star(block, rows, columns, values, is_star[block])]
    others = np.flatnonzero(~is_star[block])
    others = others[np.argsort(block[others], kind="stable")]
    starts = np.flatnonzero(np.diff(block[others], prepend=-1))
    for cells in np.split(others, starts[1:]) if others.size else []:
        chosen.append(cells[_solve_block(rows[cells], columns[cells], values[cells])])
    pairs = np.concatenate(chosen)
    pairs = pairs[np.argsort(rows[pairs], kind="stable")]
    return Matching(rows[pairs], columns[pairs], float(np.sum(values[pairs])))


def is_unique(counts: sparse.csr_array, matching: Matching) -> bool:
    """Return whether `matching` is the only one of its total, for a table of counts.

    Among the matchings of the largest total, the one that shares the fewest pairs with `matching` is found: counts are
    integers, so a bonus below one for leaving a pair tells them apart without changing the order of the totals.
    """
    table = sparse.coo_array(counts)
    pair_of_row = matching.class_of(counts.shape[0])
    is_chosen = pair_of_row[table.row] == table.col
    bonus = np.where(is_chosen, 0.0, 1.0 / (2 * (min(counts.shape) + 1)))
    other = best_matching(sparse.csr_array((table.data + bonus, (table.row, table.col)), shape=counts.shape))
    same = other.clusters.size == matching.clusters.size and np.array_equal(other.classes, matching.classes)
    return bool(same and np.array_equal(other.clusters, matching.clusters)) or int(other.total) < int(matching.total)


def _blocks(rows: Integers, columns: Integers, shape: tuple[int, int]) -> Integers:
    """Return the block of each cell: the connected component of the graph whose edges are the cells."""
    n_rows, n_columns = shape
    graph = sparse.coo_array((np.ones(rows.size, np.int8), (rows, columns + n_rows)), shape=(n_rows + n_columns,) * 2)
    _, component = connected_components(graph, directed=False)
    blocks: Integers = component[rows].astype(np.int64)
    return blocks


def _is_star(block: Integers, rows: Integers, columns: Integers) -> npt.NDArray[np.bool_]:
    """Return whether each block has a single row or a single column."""
    n_blocks = int(block.max()) + 1
    lowest, highest = np.full((2, n_blocks), rows.size + columns.max() + rows.max()), np.full((2, n_blocks), -1)
    for axis, index in enumerate((rows, columns)):
        np.minimum.at(lowest[axis], block, index)
        np.maximum.at(highest[axis], block, index)
    return np.asarray((lowest == highest).any(axis=0))


def _best_of_each_star(
    block: Integers, rows: Integers, columns: Integers, values: npt.NDArray[np.float64], wanted: npt.NDArray[np.bool_]
) -> Integers:
    cells = np.flatnonzero(wanted)
    order = cells[np.lexsort((columns[cells], rows[cells], -values[cells], block[cells]))]
    return order[np.flatnonzero(np.diff(block[order], prepend=-1))]


def _solve_block(rows: Integers, columns: Integers, values: npt.NDArray[np.float64]) -> Integers:
    """Return the chosen cells of one connected block."""
    row, n_rows = _ranks(rows)
    column, n_columns = _ranks(columns)
    if n_rows * n_columns <= MAX_DENSE_CELLS:
        dense = np.zeros((n_rows, n_columns))
        dense[row, column] = values
        from scipy.optimize import linear_sum_assignment  # takes long to import, and few tables have such a block

        matched_rows, matched_columns = linear_sum_assignment(dense, maximize=True)
    else:
        matched_rows, matched_columns = _solve_sparse(row, column, values, n_rows, n_columns)
    cell_of = sparse.csr_array((np.arange(1, row.size + 1), (row, column)), shape=(n_rows, n_columns))
    cells = np.asarray(cell_of[matched_rows, matched_columns]).ravel()
    return cells[cells > 0].astype(np.int64) - 1  # pairs that share nothing do not count


def _ranks(indices: Integers) -> tuple[Integers, int]:
    """Return the rank of each index among the distinct ones, and the number of these."""
    span = int(indices.max()) + 1
    if span > 4 * indices.size:
        names, ranks = np.unique(indices, return_inverse=True)
        return ranks.astype(np.int64), int(names.size)
    is_present = np.zeros(span, np.bool_)
    is_present[indices] = True
    ranks = np.cumsum(is_present) - 1
    return ranks[indices], int(ranks[-1]) + 1


def _solve_sparse(
    row: Integers, column: Integers, values: npt.NDArray[np.float64], n_rows: int, n_columns: int
) -> tuple[Integers, Integers]:
    """Solve without a dense table: each row also has a column of its own, of weight 1, for staying unmatched."""
    own = np.arange(n_rows, dtype=np.int32)  # scipy before 1.15 matches graphs with 32-bit indices only
    row, column = row.astype(np.int32), column.astype(np.int32)
    graph = sparse.csr_array(
        (
            np.concatenate([values + 1.0, np.ones(n_rows)]),
            (np.concatenate([row, own]), np.concatenate([column, np.int32(n_columns) + own])),
        ),
        shape=(n_rows, n_columns + n_rows),
    )
    matched_rows, matched_columns = min_weight_full_bipartite_matching(graph, maximize=True)
    real = matched_columns < n_columns
    return matched_rows[real].astype(np.int64), matched_columns[real].astype(np.int64)
