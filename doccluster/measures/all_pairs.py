"""Measures that look at every pair of documents: extremes, sums of the extreme distances, correlations.

They need PairwiseDistances under every metric, because no sum of rows knows which distance is the least, the largest,
or how much distances vary.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from doccluster.base.choices import METRICS
from doccluster.measures.distances import PairwiseDistances
from doccluster.measures.registry import Values, measure, undefined
from doccluster.measures.scatter import ONE_CLUSTER
from doccluster.measures.within_between import inner_and_outer, missing_pairs

pair_measure = partial(measure, family="internal", evidence="pairwise", metrics=METRICS)

EQUAL_DISTANCES = "all distances are equal"


@pair_measure(
    "c_index",
    title="C-index",
    direction="lower",
    bounds=(0.0, 1.0),
    formula="(W_in - W_min)/(W_max - W_min), W_min (W_max) = sum of the N_in smallest (largest) distances",
    source="Zaki & Meira, 17.3 (C-index); Hubert & Levin 1976",
    meaning="Where the total distance within clusters lies between the best and the worst that N_in pairs could have.",
    edges="no pair within or none between clusters, or all distances equal: undefined",
)
def c_index(distances: PairwiseDistances) -> float | Values:
    """Return the distance within clusters, rescaled between the extremes for as many pairs."""
    geometry = distances.geometry
    if geometry.n_inner_pairs == 0 or geometry.n_outer_pairs == 0:
        return undefined(missing_pairs(geometry))
    smallest, largest = distances.extreme_sums
    if largest - smallest <= 1e-12 * largest:
        return undefined(EQUAL_DISTANCES)
    inside, _ = inner_and_outer(distances)
    return min(max((inside - smallest) / (largest - smallest), 0.0), 1.0)


@pair_measure(
    "dunn",
    title="Dunn",
    range="[0, inf]",
    bounds=(0.0, None),
    formula="min w_ab between clusters / max w_ab within a cluster",
    source="Zaki & Meira, 17.3 (Dunn); Dunn 1974",
    meaning="The nearest two documents of different clusters against the farthest two of one cluster; two documents "
    "decide it.",
    edges="no pair within or none between clusters: undefined; only copies in each cluster: inf; 0/0: undefined",
)
def dunn(distances: PairwiseDistances) -> float | Values:
    """Return the least distance between clusters over the largest within one."""
    geometry = distances.geometry
    if geometry.n_inner_pairs == 0 or geometry.n_outer_pairs == 0:
        return undefined(missing_pairs(geometry))
    if distances.largest_within == 0:
        return math.inf if distances.least_between > 0 else undefined("copies within and between clusters: 0/0")
    return distances.least_between / distances.largest_within


@pair_measure(
    "xie_beni_points",
    title="Xie-Beni on nearest points",
    direction="lower",
    range="[0, inf]",
    bounds=(0.0, None),
    formula="(RSS/n)/min_{y_a != y_b} |x_a - x_b|^2",
    source="Desgraupes 2013 (clusterCrit's Xie_Beni)",
    meaning="Spread within clusters over the squared distance of the nearest two documents of different clusters.",
    edges="one cluster: undefined; a copy in two clusters: inf; all singletons: 0",
)
def xie_beni_points(distances: PairwiseDistances) -> float | Values:
    """Return the mean squared distance to the own mean over the least squared distance between clusters."""
    geometry = distances.geometry
    if geometry.n_clusters == 1:
        return undefined(ONE_CLUSTER)
    nearest = distances.least_squared_between
    return geometry.rss / geometry.n_documents / nearest if nearest > 0 else math.inf


@pair_measure(
    "point_biserial",
    title="Point-biserial correlation",
    bounds=(-1.0, 1.0),
    formula="(mean w_out - mean w_in) sqrt(N_in N_out)/(M sd(w))",
    source="Milligan 1981",
    meaning="The correlation of the distance of two documents with their being in different clusters.",
    edges="no pair within or none between clusters, or all distances equal: undefined",
)
def point_biserial(distances: PairwiseDistances) -> float | Values:
    """Return the correlation of distances with the 0/1 matrix of the partition."""
    geometry = distances.geometry
    n_in, n_out = float(geometry.n_inner_pairs), float(geometry.n_outer_pairs)
    if n_in == 0 or n_out == 0:
        return undefined(missing_pairs(geometry))
    deviation = distances.weight_deviation
    if deviation == 0:
        return undefined(EQUAL_DISTANCES)
    w_in, w_out = inner_and_outer(distances)
    value = (w_out / n_out - w_in / n_in) * math.sqrt(n_in) * math.sqrt(n_out) / (geometry.n_pairs * deviation)
    return _correlation(value)


@pair_measure(
    "hubert_normalized",
    title="Hubert's Gamma, normalised (internal)",
    bounds=(-1.0, 1.0),
    formula="correlation over all pairs of w_ab with Y_ab, the distance of the centres of their clusters",
    source="Zaki & Meira, Eq. 17.15",
    meaning="Whether documents that are far apart are in clusters that are far apart.",
    edges="one cluster, coinciding centres or equal distances: undefined; all singletons: 1",
)
def hubert_normalized(distances: PairwiseDistances) -> float | Values:
    """Return the correlation of distances of documents with those of the centres of their clusters."""
    geometry = distances.geometry
    if geometry.n_clusters == 1:
        return undefined(ONE_CLUSTER)
    pairs = float(geometry.n_pairs)
    sizes = geometry.sizes.astype(np.float64)
    centres, number = geometry.centre_distances, np.outer(sizes, sizes)
    mean = float((centres * number).sum()) / 2 / pairs
    mean_square = float((np.square(centres) * number).sum()) / 2 / pairs
    variance = mean_square - mean * mean
    if variance <= 1e-12 * mean_square:
        return undefined("the centres coincide, or all pairs have centres equally far apart")
    if distances.weight_deviation == 0:
        return undefined(EQUAL_DISTANCES)
    product = float((centres * distances.block_weights).sum()) / 2 / pairs
    covariance = product - mean * distances.sum_of_weights / pairs
    return _correlation(covariance / (math.sqrt(variance) * distances.weight_deviation))


def _correlation(value: float) -> float:
    return min(max(value, -1.0), 1.0)
