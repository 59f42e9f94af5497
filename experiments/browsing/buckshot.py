"""Buckshot: k-means that starts from a sample clustered by average linkage, which scattering is compared with."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import sparse

from doccluster.base.validation import RandomState, as_generator, check_matrix, check_n_clusters, row_norms, unit_rows
from doccluster.clustering.centroid_estimator import sum_directions
from doccluster.clustering.hierarchical.agglomeration import agglomerate, cut_tree
from doccluster.errors import NothingUsable


def buckshot_centroids(X: Any, n_clusters: int, random_state: RandomState = None) -> Any:
    """Return centroids to start k-means from: those of a sample of sqrt(k n) documents clustered by average linkage.

    It has the form of a callable `init` of `SphericalKMeans`. Documents without terms are not drawn.

    Parameters
    ----------
    X : csr or dense array of shape (n_documents, n_terms)
    n_clusters : int
    random_state : None, int or numpy Generator

    Returns
    -------
    float32 array (csr if `X` is) of shape (n_clusters, n_terms), unit rows

    Raises
    ------
    NothingUsable
        If fewer documents than clusters have terms.

    Notes
    -----
    Cutting, Karger, Pedersen & Tukey 1992, "Scatter/Gather: a cluster-based approach to browsing large document
    collections", SIGIR, doi:10.1145/133160.133214.

    Examples
    --------
    >>> from doccluster.clustering import SphericalKMeans
    >>> rows = sparse.csr_array([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0], [0.6, 0.8]])
    >>> SphericalKMeans(2, init=buckshot_centroids, random_state=0).fit(rows).labels_.shape
    (4,)
    """
    matrix = check_matrix(X)
    k = check_n_clusters(n_clusters, matrix.shape[0])
    filled = np.flatnonzero(row_norms(matrix) > 0)
    if filled.size < k:
        raise NothingUsable(f"{filled.size} document(s) have terms; n_clusters={k} starts need as many.")
    size = min(filled.size, max(k, math.ceil(math.sqrt(k * filled.size))))
    drawn = np.sort(as_generator(random_state).choice(filled, size=size, replace=False))
    rows = unit_rows(matrix[drawn], warn=False)
    return sum_directions(rows, cut_tree(agglomerate(sparse.csr_array(rows)), k), k)
