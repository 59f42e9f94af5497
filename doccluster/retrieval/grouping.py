"""Groups of search results, a number that follows from the texts, and Scatter: documents in a few clusters, fast.

Up to 5,000 documents are scattered by spherical k-means. Of more, a sample of 5,000 is, and all are assigned to its
centroids in two passes. That is Buckshot (Cutting, Karger, Pedersen and Tukey 1992, doi:10.1145/133160.133214) with
k-means in place of agglomeration, which leaves most documents of a text collection in one cluster.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.sparse_structure import checked_csr
from doccluster.base.validation import check_positive_int, unit_rows
from doccluster.clustering.hierarchical.agglomeration import agglomerate, cut_tree
from doccluster.clustering.k_means.spherical import SphericalParameters, spherical_k_means
from doccluster.errors import InputError
from doccluster.geometry import as_documents, latent_semantic_space, nearest_neighbours, smoothed_rows
from doccluster.geometry.neighbours import joined_graph
from doccluster.labeling.placement import rows_that_fit_none

OTHER = -1  # the label of what fits no group
N_COMPONENTS = 100
N_NEIGHBOURS = 10
ROWS_PER_NEIGHBOUR = 10  # fewer rows have fewer neighbours, or each would be moved towards all others
MIXING = 0.5
N_STEPS = 3
# Mean distance (1 - cosine of smoothed rows) above which groups are not joined: docs/how-to/search.md has the figures.
CUT_AT = 0.65
# Hits of several words are all alike: groups stay apart there that are about as far from one another as any two hits.
NEARER_THAN_ANY = 0.95
ON_ONE_THING = 0.3  # groups nearer than this are joined, however alike all hits are
MIN_GROUP_SIZE = 2
FULL_UP_TO = 5_000
N_STARTS = 3
N_PASSES = 2

Integers = npt.NDArray[np.int64]


def group_rows(
    rows: Any,
    max_groups: int = 10,
    *,
    meaning: npt.NDArray[np.float32] | None = None,
    cut_at: float | None = None,
    n_threads: int | None = None,
) -> npt.NDArray[np.int64]:
    """Return the group of each row, the largest groups first, and -1 for rows that fit no group.

    Rows are smoothed over their nearest neighbours, because short texts on one thing often share no word, and joined by
    average linkage until the nearest two groups are farther apart than `cut_at`. Of the groups of at least two, the
    `max_groups` largest stay.

    Parameters
    ----------
    rows : csr array of shape (n_documents, n_terms), unit rows, no negative values
        Rows without terms fit no group.
    max_groups : int
    meaning : array of shape (n_documents, n_dimensions), unit rows, optional
        The same documents in a second space: neighbours in either are neighbours, and the rows stand side by side.
    cut_at : float in 0..1, optional
        By default 0.65, or 0.95 times the mean distance of all pairs of rows where that is less, but 0.3 at least.

    Returns
    -------
    int64 array of shape (n_documents,)
    """
    rows = checked_csr(rows, name="rows")[0]  # rows without a column fit no group
    labels = np.full(rows.shape[0], OTHER, dtype=np.int64)
    with_terms = np.flatnonzero(np.diff(rows.indptr))
    if with_terms.size < MIN_GROUP_SIZE:
        return labels
    rows_with_terms = sparse.csr_array(rows[with_terms])
    n_neighbours = min(N_NEIGHBOURS, 1 + with_terms.size // ROWS_PER_NEIGHBOUR, with_terms.size - 1)
    graph = nearest_neighbours(rows_with_terms, n_neighbours, fold=None, n_threads=n_threads)
    weights, spaces = graph.symmetric(), [_points(rows_with_terms, n_threads)]
    if meaning is not None:
        spaces.append(meaning[with_terms].astype(np.float64))
        weights = joined_graph(graph, meaning[with_terms], n_threads=n_threads).weights
    for _ in range(N_STEPS):  # each from where the last one ended: hits of one subtopic run together
        spaces = [smoothed_rows(space, weights, mixing=MIXING, n_steps=1) for space in spaces]
    smoothed = unit_rows(np.hstack(spaces), warn=False)
    joins = agglomerate(sparse.csr_array(smoothed), "average", n_threads=n_threads)
    cut = _cut(smoothed) if cut_at is None else cut_at
    n_groups = 1 + int(np.count_nonzero(joins[:, 2] > cut))
    grouped = _largest(cut_tree(joins, n_groups), max_groups)
    inside = np.flatnonzero(grouped != OTHER)
    if inside.size:
        members = as_documents(smoothed[inside])
        grouped[inside[rows_that_fit_none(members, grouped[inside], n_threads=n_threads)]] = OTHER
    labels[with_terms] = _largest(grouped, max_groups)
    return labels


def _points(rows: sparse.csr_array, n_threads: int | None) -> npt.NDArray[np.float64]:
    """Return rows in at most 100 dimensions; 100 rows or fewer as they are, since as many dimensions hold them all."""
    if rows.shape[0] <= N_COMPONENTS:
        return np.asarray(rows.toarray(), dtype=np.float64)
    n_components = min(N_COMPONENTS, rows.shape[1])
    space = latent_semantic_space(rows, n_components, n_power_iterations=1, random_state=0, n_threads=n_threads)
    points: npt.NDArray[np.float64] = space.project(rows, n_threads=n_threads)
    return points


def _cut(points: npt.NDArray[np.float64]) -> float:
    """Return the distance above which groups of these points, at least two, are not joined."""
    unit = unit_rows(points, warn=False)
    total, n = unit.sum(axis=0), points.shape[0]
    mean = float(1 - (total @ total - n) / (n * (n - 1)))  # of all pairs of points
    return min(CUT_AT, max(NEARER_THAN_ANY * mean, ON_ONE_THING))


def _largest(labels: npt.NDArray[np.int64], max_groups: int) -> npt.NDArray[np.int64]:
    """Return the labels 0, 1, ... for the largest groups, equally large ones by their first row, and -1 elsewhere."""
    sizes = np.bincount(labels[labels >= 0])
    order = np.argsort(-sizes, kind="stable")[:max_groups]
    order = order[sizes[order] >= MIN_GROUP_SIZE]
    renamed = np.full(sizes.size + 1, OTHER, dtype=np.int64)  # the last entry is for label -1
    renamed[order] = np.arange(order.size)
    return renamed[labels]


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
    chosen_rows = rows if chosen.size == rows.shape[0] else rows[chosen]
    parameters = SphericalParameters(n_clusters, n_init=N_STARTS, random_state=random_state, n_threads=n_threads)
    labels = _labels(sparse.csr_array(chosen_rows), n_clusters, parameters)
    clusters = (chosen[labels == label] for label in range(int(labels.max()) + 1))
    return sorted(
        (members for members in clusters if members.size), key=lambda members: (-members.size, int(members[0]))
    )


def _labels(rows: sparse.csr_array, n_clusters: int, parameters: SphericalParameters) -> Integers:
    """Return the cluster of each row, of many by way of a sample; those without terms are in cluster 0."""
    labels = np.zeros(rows.shape[0], dtype=np.int64)
    filled = np.flatnonzero(np.diff(rows.indptr))
    k = min(n_clusters, filled.size)
    if k < 2:
        return labels
    if filled.size < rows.shape[0]:
        rows = sparse.csr_array(rows[filled])
    settings = replace(parameters, n_clusters=k)
    if filled.size <= FULL_UP_TO:
        labels[filled] = spherical_k_means(rows, settings).labels
        return labels
    sample = np.sort(np.random.default_rng(parameters.random_state).choice(filled.size, FULL_UP_TO, replace=False))
    centroids = spherical_k_means(sparse.csr_array(rows[sample]), settings).centroids
    passes = replace(settings, n_clusters=centroids.shape[0], init=centroids, max_iter=N_PASSES, tol=0)
    labels[filled] = spherical_k_means(rows, passes).labels
    return labels
