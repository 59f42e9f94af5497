"""The terms of a cluster: what holds it together, and what sets it apart from the others."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.labeling.description import Term
from doccluster.labeling.profiles import ClusterProfiles, entries, largest_per_row


def descriptive_terms(
    profiles: ClusterProfiles, names: npt.NDArray[np.object_], *, n_terms: int = 10
) -> list[tuple[Term, ...]]:
    """Return for each cluster the terms that explain most of its cohesion, largest share first.

    The cohesion of a cluster is the sum of the cosines of its documents to its centroid, ``|s| = sum_t c_t s_t``; the
    share of a term is ``c_t s_t / |s| = c_t ** 2``. The shares of all terms of a cluster sum to 1.

    Parameters
    ----------
    profiles : ClusterProfiles
    names : array of str of shape (n_terms,)
        The written form of each column.
    n_terms : int
        The most terms per cluster.

    Notes
    -----
    These are the "descriptive features" of CLUTO's manual (Karypis 2003, section 3.2.2).
    """
    return _strongest(profiles.cohesion_shares(), profiles.support, names, n_terms)


def discriminating_terms(
    profiles: ClusterProfiles, names: npt.NDArray[np.object_], *, n_terms: int = 10
) -> list[tuple[Term, ...]]:
    """Return for each cluster the terms that set it apart from all other documents, largest share first.

    With r the unit direction of the documents outside the cluster, a term explains ``(c_t - r_t) ** 2 / |c - r| ** 2``
    of the squared distance; only terms with ``c_t > r_t`` are listed. A single cluster has none.
    """
    if profiles.n_clusters == 1:
        return [()]
    return _strongest(profiles.contrast_shares(), profiles.support, names, n_terms)


def _strongest(
    shares: sparse.csr_array, support: sparse.csr_array, names: npt.NDArray[np.object_], count: int
) -> list[tuple[Term, ...]]:
    return [
        tuple(
            Term(str(names[column]), int(column), float(share), int(documents))
            for column, share, documents in zip(columns, values, entries(support, cluster, columns), strict=True)
        )
        for cluster, (columns, values) in enumerate(largest_per_row(shares, count))
    ]
