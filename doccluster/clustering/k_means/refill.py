"""Empty clusters: each, lowest first, is given the document least similar to its own centroid.

Only clusters with more than one distinct row give a document; among equally distant ones the first goes.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def empty_clusters(
    is_usable: npt.NDArray[np.bool_], labels: npt.NDArray[np.int32], n_clusters: int
) -> npt.NDArray[np.int64]:
    """Return the clusters that have no document with a direction and a weight, ascending."""
    return np.flatnonzero(np.bincount(labels[is_usable], minlength=n_clusters) == 0)


def choose_refills(
    similarities: npt.NDArray[np.float64],
    labels: npt.NDArray[np.int32],
    digests: npt.NDArray[np.uint64],
    is_usable: npt.NDArray[np.bool_],
    empty: npt.NDArray[np.int64],
) -> dict[int, int]:
    """Return which document each empty cluster is given, as row -> cluster, in the order of the clusters.

    A cluster for which none is left stays empty.

    `similarities`: float64 array of shape (n_documents,), to the own centroid. `digests`: uint64 array of shape
    (n_documents,), a number that only equal rows share. `is_usable`: bool array of shape (n_documents,), whether a row
    has a direction and a weight.
    """
    rows = np.flatnonzero(is_usable)
    farthest_first = rows[np.lexsort((rows, similarities[rows]))]
    variety = _Variety(digests, labels, rows)
    chosen: dict[int, int] = {}
    remaining = iter(farthest_first.tolist())
    for cluster in empty.tolist():
        row = next((r for r in remaining if variety.may_give(int(labels[r]))), None)
        if row is None:
            break
        variety.take(row, int(labels[row]))
        chosen[row] = cluster
    return chosen


class _Variety:
    """How many distinct rows each cluster has, while rows are taken away."""

    def __init__(
        self, digests: npt.NDArray[np.uint64], labels: npt.NDArray[np.int32], rows: npt.NDArray[np.int64]
    ) -> None:
        self._kind = digests
        pairs = np.empty(rows.size, np.dtype([("cluster", np.int32), ("kind", np.uint64)]))
        pairs["cluster"], pairs["kind"] = labels[rows], self._kind[rows]
        distinct, counts = np.unique(pairs, return_counts=True)
        keys = zip(distinct["cluster"].tolist(), distinct["kind"].tolist(), strict=True)
        self._copies = dict(zip(keys, counts.tolist(), strict=True))
        self._distinct = np.bincount(distinct["cluster"], minlength=int(labels.max()) + 1)

    def may_give(self, cluster: int) -> bool:
        """Return whether the cluster has more than one distinct row."""
        return bool(self._distinct[cluster] > 1)

    def take(self, row: int, cluster: int) -> None:
        """Note that `row` leaves `cluster`."""
        key = (cluster, int(self._kind[row]))
        self._copies[key] -= 1
        if self._copies[key] == 0:
            self._distinct[cluster] -= 1
