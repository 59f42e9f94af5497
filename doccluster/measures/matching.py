"""The best one-to-one map between clusters and classes: by a dense table where it is small, else by a sparse one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import min_weight_full_bipartite_matching

from doccluster.base.arrays import Integers

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

    `weights`: csr array of shape (k, g), all stored values > 0.
    """
    table = sparse.csr_array(weights)
    n_rows, n_columns = table.shape
    if n_rows * n_columns <= MAX_DENSE_CELLS:
        from scipy.optimize import linear_sum_assignment  # takes long to import

        rows, columns = linear_sum_assignment(table.toarray(), maximize=True)
    else:
        # each row also has a column of its own, of weight 1, for staying unmatched
        index = table.indices.astype(np.int32), table.indptr.astype(np.int32)  # all that scipy before 1.15 matches
        raised = sparse.csr_array((table.data + 1.0, *index), shape=table.shape)
        graph = sparse.hstack([raised, sparse.eye_array(n_rows)], format="csr")
        rows, columns = min_weight_full_bipartite_matching(graph, maximize=True)
        rows, columns = rows[columns < n_columns], columns[columns < n_columns]
    values = np.asarray(table[rows, columns]).ravel()
    shared = values > 0  # pairs that share nothing do not count
    rows, columns = rows[shared].astype(np.int64), columns[shared].astype(np.int64)
    return Matching(rows, columns, float(np.sum(values[shared])))


def is_unique(counts: sparse.csr_array, matching: Matching) -> bool:
    """Return whether `matching` is the only one of its total, for a table of counts.

    Among the matchings of the largest total, the one that shares the fewest pairs with `matching` is found: counts are
    integers, so a bonus below one for leaving a pair tells them apart without changing the order of the totals.
    """
    table = sparse.coo_array(counts)
    pair_of_row = matching.class_of(counts.shape[0])
    is_chosen = pair_of_row[table.row] == table.col
    bonus = np.where(is_chosen, 0.0, 1.0 / (2 * (min(counts.shape) + 1)))
    rival = best_matching(sparse.csr_array((table.data + bonus, (table.row, table.col)), shape=counts.shape))
    same = rival.clusters.size == matching.clusters.size and np.array_equal(rival.classes, matching.classes)
    return bool(same and np.array_equal(rival.clusters, matching.clusters)) or int(rival.total) < int(matching.total)
