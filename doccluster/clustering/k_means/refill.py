"""Empty clusters: each is given the document farthest from its centroid, as long as that leaves no other one empty."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from doccluster.clustering.k_means.assigner import Assigner
from doccluster.clustering.k_means.document_matrix import DocumentMatrix


def empty_clusters(documents: DocumentMatrix, labels: npt.NDArray[np.int32], n_clusters: int) -> npt.NDArray[np.int64]:
    """Return the clusters that have no document with a direction and a weight, ascending."""
    return np.flatnonzero(np.bincount(labels[documents.is_usable], minlength=n_clusters) == 0)


def refill(assigner: Assigner, labels: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
    """Give each empty cluster, lowest first, the document least similar to its own centroid; return those documents.

    `labels` is changed in place. Only clusters with more than one distinct row give a document; among equally distant
    documents the first goes. A cluster for which none is left stays empty.
    """
    documents = assigner.documents
    empty = empty_clusters(documents, labels, assigner.n_clusters)
    if not empty.size:
        return np.empty(0, np.int64)
    similarities = assigner.own_similarities(labels, in_order=True)
    chosen = choose_refills(similarities, labels, documents.digests, documents.is_usable, empty)
    moved = np.array(list(chosen), np.int64)
    labels[moved] = list(chosen.values())
    return moved


def choose_refills(
    similarities: npt.NDArray[np.float64],
    labels: npt.NDArray[np.int32],
    digests: npt.NDArray[np.uint64],
    is_usable: npt.NDArray[np.bool_],
    empty: npt.NDArray[np.int64],
) -> dict[int, int]:
    """Return which document each empty cluster is given, as row -> cluster, in the order of the clusters.

    Parameters
    ----------
    similarities : float64 array of shape (n_documents,), to the own centroid
    digests : uint64 array of shape (n_documents,), a number that only equal rows share
    is_usable : bool array of shape (n_documents,), whether a row has a direction and a weight
    empty : int64 array of clusters, ascending
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
