"""Matrices that books print beside the measures: scatter of clusters, distances between them, two matrices compared.

Source: Zaki & Meira, Data Mining and Analysis, chapter 17.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, get_args

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import squareform

from doccluster.base.arrays import Floats, is_sparse
from doccluster.base.blocks import row_blocks
from doccluster.base.parameter_fields import at_the_door
from doccluster.base.validation import check_choice, check_matrix
from doccluster.errors import InputError
from doccluster.geometry import ClusterEvidence, as_documents
from doccluster.geometry.partition import Partition
from doccluster.lab.tendency_tests import Metric, distance_blocks

MAX_SCATTER_TERMS = 5_000  # two matrices of 200 MB each
BLOCK_ROWS = 1_024


class ClusterDistances(NamedTuple):
    """Distances of all documents, by pair of clusters; float64 arrays of shape (n_clusters, n_clusters)."""

    weights: Floats  # W(C_i, C_j), the sum over ordered pairs, so that a pair within a cluster counts twice
    least: Floats  # between two clusters, infinite on the diagonal
    largest: Floats  # between two clusters, or within one


class ScatterMatrices(NamedTuple):
    """Scatter within clusters and between them; float64 arrays of shape (n_terms, n_terms), whose sum is S."""

    within: Floats
    between: Floats


@at_the_door
def cluster_distances(labels: Iterable[object], *, vectors: object, metric: Metric = "euclidean") -> ClusterDistances:
    """Return the distances between clusters: their sums (eq. 17.29), the least and the largest.

    Parameters
    ----------
    labels : array of shape (n_documents,)
        Clusters are in the order of their sorted labels.
    vectors : DocumentVectors, csr or dense array of shape (n_documents, n_terms)
    metric : {"euclidean", "cosine"}

    Raises
    ------
    InputError
        If the labels do not fit the rows, or the metric is not known.

    Examples
    --------
    >>> cluster_distances([0, 0, 1], vectors=[[0.0], [1.0], [3.0]]).weights
    array([[2., 5.],
           [5., 0.]])
    """
    documents = as_documents(getattr(vectors, "matrix", vectors))
    is_cosine = check_choice(metric, get_args(Metric), "metric") == "cosine"
    evidence = ClusterEvidence(documents, Partition.from_labels(labels), metric=metric)
    order = np.argsort(evidence.labels, kind="stable")  # by cluster, so that each is a range of columns
    matrix, sorted_labels = (documents.unit if is_cosine else documents.matrix)[order], evidence.labels[order]
    starts, k = np.flatnonzero(np.diff(sorted_labels, prepend=-1)), evidence.n_clusters
    weights, least, largest = np.zeros((k, k)), np.full((k, k), np.inf), np.zeros((k, k))
    for rows, distances in distance_blocks(matrix, matrix, metric):
        np.add.at(weights, sorted_labels[rows], np.add.reduceat(distances, starts, axis=1))
        np.minimum.at(least, sorted_labels[rows], np.minimum.reduceat(distances, starts, axis=1))
        np.maximum.at(largest, sorted_labels[rows], np.maximum.reduceat(distances, starts, axis=1))
    np.fill_diagonal(least, np.inf)
    return ClusterDistances(weights, least, largest)


@at_the_door
def scatter_matrices(labels: Iterable[object], *, vectors: object) -> ScatterMatrices:
    """Return S_W and S_B, whose traces Calinski and Harabasz compare (section 17.3.1).

    Parameters
    ----------
    labels : array of shape (n_documents,)
    vectors : DocumentVectors, csr or dense array of shape (n_documents, n_terms)
        At most 5,000 terms: both matrices have a line and a column for each.

    Raises
    ------
    InputError
        If the labels do not fit the rows, or there are too many terms.

    Examples
    --------
    >>> scatter = scatter_matrices([0, 0, 1], vectors=[[0.0], [2.0], [4.0]])
    >>> scatter.within, scatter.between
    (array([[2.]]), array([[6.]]))
    """
    documents = as_documents(getattr(vectors, "matrix", vectors))
    if documents.shape[1] > MAX_SCATTER_TERMS:
        raise InputError(
            f"a scatter matrix of {documents.shape[1]:,} terms is too large",
            remedy=f"project the vectors to at most {MAX_SCATTER_TERMS:,} dimensions first",
        )
    evidence = ClusterEvidence(documents, Partition.from_labels(labels), metric="euclidean")
    matrix, means = documents.matrix, evidence.centres.means
    centres = np.asarray(means.toarray() if is_sparse(means) else means, np.float64)
    sizes = evidence.sizes.astype(np.float64)
    within = np.zeros((matrix.shape[1], matrix.shape[1]))
    for rows in row_blocks(matrix.shape[0], BLOCK_ROWS):
        block = matrix[rows]
        points = np.asarray(block.toarray() if is_sparse(block) else block, np.float64)
        offsets = points - centres[evidence.labels[rows]]
        within += offsets.T @ offsets
    apart = centres - (sizes @ centres) / sizes.sum()
    return ScatterMatrices(within, (apart * sizes[:, None]).T @ apart)


@at_the_door
def hubert_gamma(first: npt.ArrayLike, second: npt.ArrayLike, *, normalized: bool = False) -> float:
    """Return Hubert's statistic of two symmetric matrices over the same documents (eqs. 17.14 and 17.15).

    Parameters
    ----------
    first, second : arrays of shape (n_documents, n_documents)
        The n (n - 1) / 2 entries above the diagonal count.
    normalized : bool
        The correlation of these entries, in [-1, 1], nan where those of a matrix are all equal; by default the mean of
        their products.

    Raises
    ------
    InputError
        If the matrices are not square, not of one shape, or of fewer than two documents.

    Examples
    --------
    >>> distances = [[0, 1, 4], [1, 0, 2], [4, 2, 0]]
    >>> is_apart = [[0, 0, 1], [0, 0, 1], [1, 1, 0]]
    >>> hubert_gamma(distances, is_apart), round(hubert_gamma(distances, is_apart, normalized=True), 3)
    (2.0, 0.756)
    """
    x, y = (np.asarray(check_matrix(np.asarray(table)), np.float64) for table in (first, second))
    if x.shape != y.shape or x.shape[0] != x.shape[1] or x.shape[0] < 2:
        raise InputError(
            f"matrices of shapes {x.shape} and {y.shape} cannot be compared",
            remedy="give two square ones with a line and a column for each document",
        )
    a, b = (squareform(table, checks=False) for table in (x, y))  # what is above the diagonal
    if not normalized:
        return float(a @ b / a.size)
    a, b = a - a.mean(), b - b.mean()
    lengths = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b / lengths) if lengths > 0 else float("nan")
