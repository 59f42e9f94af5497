"""One data set fitted for each k in turn: the labels, and what the criteria are made of."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.evaluation import score
from doccluster.partition import Partition
from doccluster.selection.dispersion import residual_sum_of_squares, squared_sum_norms, within_weight
from doccluster.selection.prototypes import Prototype
from doccluster.validation import squared_row_norms, unit_rows

Chain = dict[int, dict[str, float]]


def fit_chain(
    points: Any,
    sizes: list[int],
    algorithm: Prototype,
    rng: np.random.Generator,
    *,
    warm_start: bool,
    scatter: bool = False,
) -> tuple[Chain, dict[int, npt.NDArray[np.int64]]]:
    """Return for each k what the criteria are made of (see `judge`), and the labels.

    With `warm_start` each k also starts from the clustering for the k before, grown by new seeds; the better of the two
    is kept. With `scatter` the two parts of SD(k) are found as well.
    """
    values: Chain = {}
    labels: dict[int, npt.NDArray[np.int64]] = {}
    previous: Partition | None = None
    for k in sizes:
        found = algorithm.labels(points, n_clusters=k, seed=int(rng.integers(2**31)))
        if warm_start and previous is not None and algorithm.takes_centroids:
            init = grown_centroids(points, previous, k, unit=algorithm.metric == "cosine")
            if init is not None:
                other = algorithm.labels(points, n_clusters=k, seed=0, init=init)
                found = min((found, other), key=lambda each: _objective(points, each, algorithm))
        previous = Partition.from_labels(found)
        labels[k] = previous.labels
        values[k] = judge(points, previous, algorithm)
        if scatter:
            values[k] |= _scatter(points, previous)
    return values, labels


def judge(points: Any, partition: Partition, algorithm: Prototype) -> dict[str, float]:
    """Return clusters found, RSS, W_in, silhouette (in the algorithm's metric) and CH of a clustering."""
    n, k = partition.n_documents, partition.n_clusters
    rss = residual_sum_of_squares(points, partition)
    between = residual_sum_of_squares(points, Partition.from_labels(np.zeros(n, dtype=np.int64))) - rss
    ch = math.nan
    if 1 < k < n:
        ch = math.inf if rss == 0 else (n - k) / (k - 1) * between / rss
    silhouette = math.nan
    if k > 1:
        silhouette = score("silhouette", partition.labels, vectors=points, metric=algorithm.metric, n_threads=1).value
    within = within_weight(points, partition, metric=algorithm.metric)
    return {"n_clusters": k, "rss": rss, "within": within, "silhouette": silhouette, "calinski_harabasz": ch}


def grown_centroids(points: Any, partition: Partition, n_clusters: int, *, unit: bool) -> Any | None:
    """Return the centroids of a clustering with fewer clusters plus, as new seeds, the documents farthest from theirs.

    Dense arrays stay dense and sparse ones sparse; None where the clustering has not fewer clusters.
    """
    missing = n_clusters - partition.n_clusters
    if missing <= 0:
        return None
    means = partition.membership.T @ points.astype(np.float64, copy=False)
    if sparse.issparse(means):
        means = sparse.csr_array(means)
        means.data /= np.repeat(partition.sizes, np.diff(means.indptr))
    else:
        means = np.asarray(means) / partition.sizes[:, None]
    if unit:
        means = unit_rows(means, warn=False)
    seeds = points[np.argsort(-_distances_to_own(points, means, partition), kind="stable")[:missing]]
    return sparse.csr_array(sparse.vstack([means, seeds])) if sparse.issparse(means) else np.vstack([means, seeds])


def _objective(points: Any, labels: npt.NDArray[np.int64], algorithm: Prototype) -> float:
    """Return what the algorithm minimises: RSS, or minus the sum of the lengths of the clusters' sums."""
    partition = Partition.from_labels(labels)
    if algorithm.metric == "euclidean":
        return residual_sum_of_squares(points, partition)
    return -float(np.sqrt(squared_sum_norms(points, partition)).sum())


def _distances_to_own(points: Any, means: Any, partition: Partition) -> npt.NDArray[np.float64]:
    distances = squared_row_norms(points) + squared_row_norms(means)[partition.labels]
    for cluster in range(partition.n_clusters):
        rows = partition.members(cluster)
        mean = means[[cluster]].toarray().ravel() if sparse.issparse(means) else means[cluster]
        distances[rows] -= 2 * (points[rows] @ mean)
    return distances


def _scatter(points: Any, partition: Partition) -> dict[str, float]:
    if partition.n_clusters < 2:
        return {"sd_scat": math.nan, "sd_dis": math.nan}
    names = ("sd_scat", "sd_dis")
    given = {"vectors": points, "metric": "euclidean", "n_threads": 1}
    return {name: float(score(name, partition.labels, **given).value) for name in names}
