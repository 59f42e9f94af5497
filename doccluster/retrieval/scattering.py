"""Scatter: some documents put into a few clusters, fast enough to wait for.

Up to 5,000 documents are clustered by spherical k-means. Of more, a sample of 5,000 is, and all are assigned to its
centroids in two passes. That is Buckshot (Cutting, Karger, Pedersen and Tukey 1992, doi:10.1145/133160.133214) with
k-means in place of agglomeration, which leaves most documents of a text collection in one cluster.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.clustering.k_means.spherical import SphericalParameters, spherical_k_means
from doccluster.errors import InputError
from doccluster.geometry.documents import as_documents
from doccluster.validation import check_positive_int

FULL_UP_TO = 5_000
N_STARTS = 3
N_PASSES = 2

Integers = npt.NDArray[np.int64]


def scatter(
    rows: Any,
    members: npt.ArrayLike | None = None,
    n_clusters: int = 10,
    *,
    random_state: int = 0,
    n_threads: int | None = None,
) -> list[Integers]:
    """Return some documents in clusters, the largest first; the same seed gives the same clusters.

    Parameters
    ----------
    rows : Documents or a csr array of shape (n_documents, n_terms), unit rows
        Documents without terms come into the first cluster.
    members : int array, optional
        The documents to cluster, all by default.
    n_clusters : int
        The most; fewer if there are fewer documents with terms.
    random_state : int
    n_threads : int, optional
        Changes no result.

    Returns
    -------
    list of int64 arrays
        The documents of each cluster, ascending.

    Raises
    ------
    InputError
        If there is no document.

    Examples
    --------
    >>> rows = sparse.csr_array([[1.0, 0, 0], [0.8, 0.6, 0], [0, 0, 1], [1, 0, 0]])
    >>> [own.tolist() for own in scatter(rows, [0, 1, 2], 2)]
    [[0, 1], [2]]
    """
    check_positive_int(n_clusters, "n_clusters")
    rows = as_documents(rows, name="rows").matrix
    chosen = np.arange(rows.shape[0]) if members is None else np.unique(np.asarray(members, dtype=np.int64))
    if chosen.size == 0:
        raise InputError("there is no document to scatter; choose at least one cluster.")
    own = rows if chosen.size == rows.shape[0] else rows[chosen]
    parameters = SphericalParameters(n_clusters, n_init=N_STARTS, random_state=random_state, n_threads=n_threads)
    labels = _labels(sparse.csr_array(own), n_clusters, parameters)
    return _largest_first([chosen[labels == label] for label in range(int(labels.max()) + 1)])


def _labels(rows: sparse.csr_array, n_clusters: int, parameters: SphericalParameters) -> Integers:
    """Return the cluster of each row, of many by way of a sample; those without terms are in cluster 0."""
    labels = np.zeros(rows.shape[0], dtype=np.int64)
    filled = np.flatnonzero(np.diff(rows.indptr))
    k = min(n_clusters, filled.size)
    if k < 2:
        return labels
    if filled.size < rows.shape[0]:
        rows = sparse.csr_array(rows[filled])
    given = replace(parameters, n_clusters=k)
    if filled.size <= FULL_UP_TO:
        labels[filled] = spherical_k_means(rows, given).labels
        return labels
    drawn = np.sort(np.random.default_rng(parameters.random_state).choice(filled.size, FULL_UP_TO, replace=False))
    centroids = spherical_k_means(sparse.csr_array(rows[drawn]), given).centroids
    passes = replace(given, n_clusters=centroids.shape[0], init=centroids, max_iter=N_PASSES, tol=0)
    labels[filled] = spherical_k_means(rows, passes).labels
    return labels


def _largest_first(clusters: list[Integers]) -> list[Integers]:
    """Return the clusters that have a document, by size; of equal ones that with the lowest document."""
    return sorted((own for own in clusters if own.size), key=lambda own: (-own.size, int(own[0])))
