"""Groups of search results: few short texts, a number of groups that follows from the texts, and a rest."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.clustering.hierarchical.agglomeration import agglomerate, cut_tree
from doccluster.geometry import as_documents, latent_semantic_space, nearest_neighbours, smoothed_rows
from doccluster.labeling.placement import rows_that_fit_none
from doccluster.sparse_structure import checked_csr
from doccluster.validation import unit_rows

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
SMALLEST = 2


def group_rows(
    rows: Any, max_groups: int = 10, *, cut_at: float | None = None, n_threads: int | None = None
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
    cut_at : float in 0..1, optional
        By default 0.65, or 0.95 times the mean distance of all pairs of rows where that is less, but 0.3 at least.

    Returns
    -------
    int64 array of shape (n_documents,)
    """
    rows = checked_csr(rows, name="rows")[0]  # rows without a column fit no group
    labels = np.full(rows.shape[0], OTHER, dtype=np.int64)
    filled = np.flatnonzero(np.diff(rows.indptr))
    if filled.size < SMALLEST:
        return labels
    known = sparse.csr_array(rows[filled])
    points = _points(known, n_threads)
    n_neighbours = min(N_NEIGHBOURS, 1 + filled.size // ROWS_PER_NEIGHBOUR, filled.size - 1)
    graph = nearest_neighbours(known, n_neighbours, fold=None, n_threads=n_threads)
    smoothed = smoothed_rows(points, graph.symmetric(), mixing=MIXING, n_steps=N_STEPS)
    joins = agglomerate(sparse.csr_array(smoothed), "average", n_threads=n_threads)
    cut = _cut(smoothed) if cut_at is None else cut_at
    n_groups = 1 + int(np.count_nonzero(joins[:, 2] > cut))
    grouped = _largest(cut_tree(joins, n_groups), max_groups)
    inside = np.flatnonzero(grouped != OTHER)
    if inside.size:
        own = as_documents(smoothed[inside])
        grouped[inside[rows_that_fit_none(own, grouped[inside], n_threads=n_threads)]] = OTHER
    labels[filled] = _largest(grouped, max_groups)
    return labels


def _points(rows: sparse.csr_array, n_threads: int | None) -> npt.NDArray[np.float64]:
    """Return rows in at most 100 dimensions; 100 rows or fewer as they are, since as many dimensions hold them all."""
    if rows.shape[0] <= N_COMPONENTS:
        return np.asarray(rows.toarray(), dtype=np.float64)
    n_components = min(N_COMPONENTS, rows.shape[1])
    space = latent_semantic_space(rows, n_components, n_power_iterations=1, random_state=0, n_threads=n_threads)
    return space.project(rows, n_threads=n_threads)


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
    order = order[sizes[order] >= SMALLEST]
    renamed = np.full(sizes.size + 1, OTHER, dtype=np.int64)  # the last entry is for label -1
    renamed[order] = np.arange(order.size)
    return renamed[labels]
