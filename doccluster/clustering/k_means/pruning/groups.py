"""Which clusters lie side by side in the table of means: alike ones, so that a document's rivals share cache lines."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.clustering.k_means.means import Means
from doccluster.kernels.simd.lanes import LINE, OCTET

MOST_GROUPS = 64  # each costs four bytes a document
HEAVIEST = 48  # terms of each mean that are compared


def group_width(n_clusters: int, most_groups: int) -> int:
    """Return the lanes of a group: one cache line, more when that would make more than `most_groups` groups."""
    return LINE * max(1, -(-n_clusters // (LINE * most_groups)))


def padded_groups(n_clusters: int, group_width: int) -> int:
    """Return the number of groups, rounded up to whole octets."""
    return OCTET * -(-n_clusters // (OCTET * group_width))


def lanes_by_likeness(means: Means, width: int) -> npt.NDArray[np.int32]:
    """Return the lane of each cluster: groups of `width` are filled with a cluster and those most like it.

    Greedy: the lowest cluster not yet placed is joined by its most similar ones. Any order would be correct.
    """
    if means.n_clusters <= width:
        return np.arange(means.n_clusters, dtype=np.int32)
    heavy = heaviest_terms(means)
    free = np.ones(means.n_clusters, np.bool_)
    lanes = np.empty(means.n_clusters, np.int32)
    filled = 0
    while filled < means.n_clusters:
        first = int(np.argmax(free))
        likeness = _likeness(heavy, first)
        likeness[~free] = -np.inf
        likeness[first] = np.inf
        group = np.argsort(-likeness, kind="stable")[: min(width, int(free.sum()))]
        lanes[group] = np.arange(filled, filled + group.size)
        free[group] = False
        filled += group.size
    return lanes


def _likeness(heavy: sparse.csr_array, cluster: int) -> npt.NDArray[np.float64]:
    row = np.zeros(heavy.shape[1])
    entries = slice(heavy.indptr[cluster], heavy.indptr[cluster + 1])
    row[heavy.indices[entries]] = heavy.data[entries]
    return np.asarray(heavy @ row)


def heaviest_terms(means: Means, n_terms: int = HEAVIEST) -> sparse.csr_array:
    """Return the means with only their `n_terms` largest values."""
    columns, values, starts = [], [], [0]
    for cluster in range(means.n_clusters):
        entries = slice(means.starts[cluster], means.stops[cluster])
        row = means.rows.values[entries]
        kept = np.argpartition(-row, n_terms)[:n_terms] if row.size > n_terms else np.arange(row.size)
        columns.append(means.rows.columns[entries][kept])
        values.append(row[kept].astype(np.float64))
        starts.append(starts[-1] + kept.size)
    shape = (means.n_clusters, means.n_columns)
    return sparse.csr_array((np.concatenate(values), np.concatenate(columns), np.array(starts)), shape=shape)
