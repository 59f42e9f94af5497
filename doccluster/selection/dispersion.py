"""How spread out clusters are, from their sums where the metric allows it: what gap, knee and CH compare."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.partition import Partition
from doccluster.selection.distance_blocks import Metric, upper_distances
from doccluster.validation import squared_row_norms

Dispersion = Literal["pairwise", "rss"]


def squared_sum_norms(matrix: Any, partition: Partition) -> npt.NDArray[np.float64]:
    """Return |s_c|^2 for the sum s_c of each cluster's rows, float64 array of shape (k,)."""
    sums = partition.membership.T @ matrix.astype(np.float64, copy=False)
    return squared_row_norms(sparse.csr_array(sums) if sparse.issparse(sums) else np.asarray(sums))


def residual_sum_of_squares(matrix: Any, partition: Partition) -> float:
    """Return RSS = sum |x - mu_c|^2 = sum |x|^2 - sum_c |s_c|^2 / n_c, in O(nnz)."""
    total = float(squared_row_norms(matrix).sum())
    explained = float((squared_sum_norms(matrix, partition) / partition.sizes).sum())
    return max(0.0, total - explained)


def within_weight(matrix: Any, partition: Partition, *, metric: Metric = "cosine") -> float:
    """Return W_in, the sum of the distances of all pairs of documents of one cluster (eq. 17.23).

    Cosine: sum_c (n_c^2 - |s_c|^2 - z_c) / 2 with z_c zero rows, in O(nnz), rows unit or zero. Euclidean: all pairs
    within clusters, a block of rows at a time.
    """
    if metric == "euclidean":
        clusters = (matrix[partition.members(cluster)] for cluster in range(partition.n_clusters))
        return float(sum(values.sum() for rows in clusters for values in upper_distances(rows, metric=metric)))
    empty = partition.membership.T @ (squared_row_norms(matrix) == 0).astype(np.float64)
    sizes = partition.sizes.astype(np.float64)
    doubled = sizes**2 - squared_sum_norms(matrix, partition) - empty
    return max(0.0, float(doubled.sum()) / 2)


def dispersion(matrix: Any, partition: Partition, *, form: Dispersion = "pairwise", metric: Metric = "cosine") -> float:
    """Return the within-cluster dispersion that a gap statistic compares.

    "pairwise" is W_in of Zaki & Meira (section 17.3.1); "rss" is the sum of D_c / 2 n_c of Tibshirani, Walther &
    Hastie (2001), which for squared Euclidean distance is the residual sum of squares.
    """
    if form == "rss":
        return residual_sum_of_squares(matrix, partition)
    return within_weight(matrix, partition, metric=metric)
