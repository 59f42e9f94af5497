"""The documents to show for a cluster: the nearest to its centroid, each text once, and those on the border."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.geometry import ClusterEvidence
from doccluster.geometry.closeness import cosines
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
    outlets: Sequence[str] | None = None,
    evidence: ClusterEvidence | None = None,
) -> list[tuple[Representative, ...]]:
    """Return for each cluster the documents nearest to its centroid, near-copies of a listed one left out.

    With `outlets` the most central document of each outlet is taken before a second one of any.

    Parameters
    ----------
    matrix : Documents, or a csr or dense array of shape (n_documents, n_terms)
    partition : Partition
    similarity : float64 array of shape (n_documents,)
        The cosine of each document to the centroid of its cluster.
    n_documents : int
        The most per cluster, taken from the nearest eight times as many.
    near_copy : float
        Two documents with at least this cosine count as copies; each representative says how many the cluster has.
    outlets : sequence of str, optional
        Who published each document; those without an outlet are all taken for different ones.
    evidence : ClusterEvidence, optional
        That of the same documents and clusters, if it is there.
    """
    if n_documents == 0:
        return [()] * partition.n_clusters
    documents = checked_documents(matrix, partition)
    known, rows = evidence or ClusterEvidence(documents, partition), documents.unit
    chosen = []
    for cluster in range(partition.n_clusters):
        members = partition.members(cluster)
        nearest = members[_smallest(-similarity[members], n_documents * CANDIDATES_PER_PLACE)]
        own = None if outlets is None else [outlets[row] for row in nearest.tolist()]
        chosen.append(nearest[_distinct(cosines(rows[nearest], rows[nearest]), n_documents, near_copy, own)])
    copies = known.count_close(chosen, near_copy)
    return [
        tuple(
            Representative(int(row), float(similarity[row]), int(max(number - 1, 0)))
            for row, number in zip(shown, numbers, strict=True)
        )
        for shown, numbers in zip(chosen, copies, strict=True)
    ]


def _distinct(
    products: npt.NDArray[np.float64], count: int, near_copy: float, outlets: Sequence[str] | None
) -> list[int]:
    """Return candidates without near-copies of one another: the first of each outlet, then the first of all."""
    chosen: list[int] = []
    seen: set[str] = set()
    for needs_new in (True, False) if outlets is not None else (False,):
        for candidate in range(len(products)):
            outlet = "" if outlets is None else outlets[candidate]
            if len(chosen) == count or candidate in chosen or (needs_new and outlet in seen):
                continue
            if (products[candidate, chosen] < near_copy).all():
                chosen.append(candidate)
                seen.update(filter(None, [outlet]))
    return sorted(chosen)


def borderline_documents(
    partition: Partition, placement: Placement, *, n_documents: int = 5, max_margin: float = BORDERLINE_MARGIN
) -> list[tuple[Borderline, ...]]:
    """Return for each cluster the documents that hardly prefer it to another one, smallest margin first.

    Parameters
    ----------
    partition : Partition
    placement : Placement
    n_documents : int
        The most per cluster.
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
