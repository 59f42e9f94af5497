"""The documents to show for a cluster: the nearest to its centroid, each text once, and those on the border."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.labeling.description import Borderline, Representative
from doccluster.labeling.placement import Placement
from doccluster.labeling.profiles import checked_documents
from doccluster.partition import Partition

NEAR_COPY = 0.9  # two texts with this cosine read as the same text
CANDIDATES_PER_PLACE = 8
BORDERLINE_MARGIN = 0.02  # with a smaller one a document could as well be in the next cluster


def representative_documents(
    matrix: Any,
    partition: Partition,
    similarity: npt.NDArray[np.float64],
    *,
    n_documents: int = 5,
    near_copy: float = NEAR_COPY,
) -> list[tuple[Representative, ...]]:
    """Return for each cluster the documents nearest to its centroid, near-copies of a listed one left out.

    Parameters
    ----------
    matrix : Documents, or a csr or dense array of shape (n_documents, n_terms)
    partition : Partition
    similarity : float64 array of shape (n_documents,)
        The cosine of each document to the centroid of its cluster.
    n_documents : int
        At most so many per cluster, taken from the nearest eight times as many.
    near_copy : float
        Two documents with at least this cosine count as copies; each representative says how many the cluster has.
    """
    if n_documents == 0:
        return [()] * partition.n_clusters
    matrix = checked_documents(matrix, partition).unit
    return [
        _representatives(matrix, partition.members(cluster), similarity, n_documents, near_copy)
        for cluster in range(partition.n_clusters)
    ]


def _representatives(
    matrix: Any, members: npt.NDArray[np.int64], similarity: npt.NDArray[np.float64], count: int, near_copy: float
) -> tuple[Representative, ...]:
    nearest = members[_smallest(-similarity[members], count * CANDIDATES_PER_PLACE)]
    chosen = _distinct(_cosines(matrix[nearest], matrix[nearest]), count, near_copy)
    copies = (_cosines(matrix[members], matrix[nearest[chosen]]) >= near_copy).sum(axis=0) - 1
    return tuple(
        Representative(int(row), float(similarity[row]), int(max(number, 0)))
        for row, number in zip(nearest[chosen], copies, strict=True)
    )


def _distinct(cosines: npt.NDArray[np.float64], count: int, near_copy: float) -> list[int]:
    chosen: list[int] = []
    for candidate in range(len(cosines)):
        if len(chosen) < count and (cosines[candidate, chosen] < near_copy).all():
            chosen.append(candidate)
    return chosen


def borderline_documents(
    partition: Partition, placement: Placement, *, n_documents: int = 5, max_margin: float = BORDERLINE_MARGIN
) -> list[tuple[Borderline, ...]]:
    """Return for each cluster the documents that hardly prefer it to another one, smallest margin first.

    Parameters
    ----------
    partition : Partition
    placement : Placement
    n_documents : int
        At most so many per cluster.
    max_margin : float
        Only documents with a margin below this; a cluster may have none, and a single cluster has none.
    """
    if partition.n_clusters == 1:
        return [()]
    found, margin = [], placement.margin
    for cluster in range(partition.n_clusters):
        members = partition.members(cluster)
        close = members[margin[members] < max_margin]
        rows = close[_smallest(margin[close], n_documents)]
        found.append(
            tuple(
                Borderline(
                    int(row),
                    float(placement.similarity[row]),
                    int(placement.runner_up[row]),
                    float(margin[row]),
                )
                for row in rows
            )
        )
    return found


def _smallest(values: npt.NDArray[np.float64], count: int) -> npt.NDArray[np.int64]:
    """Return the positions of the `count` smallest values, ascending; ties to the lowest position."""
    if values.size > count:
        candidates = np.flatnonzero(values <= np.partition(values, count - 1)[count - 1])
    else:
        candidates = np.arange(values.size)
    return candidates[np.argsort(values[candidates], kind="stable")][:count]


def _cosines(rows: Any, others: Any) -> npt.NDArray[np.float64]:
    """Return the cosines of some rows to a few others; dense, but only as wide as the few."""
    product = rows @ others.T
    return np.asarray(product if isinstance(product, np.ndarray) else product.toarray(), dtype=np.float64)
