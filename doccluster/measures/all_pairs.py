"""Measures that look at every pair of documents: extremes, sums of the extreme distances, correlations, order.

They need PairwiseDistances under every metric, because no sum of rows knows which distance is the least, the largest,
how much distances vary, or whether a pair of one cluster is closer than a pair of different clusters. Of order, ties
count for neither side, and both are exact.

The generalised Dunn indices are seven distances between clusters over three diameters (Bezdek & Pal), in the chosen
metric; under cosine the centre of a cluster is its centroid. Forms that need only centres are computed from sums.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from doccluster.base.arrays import Floats
from doccluster.errors import InputError
from doccluster.measures._distances import PairwiseDistances
from doccluster.measures.registry import Values, alias, internal_measure, undefined, variant
from doccluster.measures.scatter import ONE_CLUSTER, off_diagonal
from doccluster.measures.within_between import inner_and_outer, missing_pairs

pair_measure = partial(internal_measure, evidence="pairwise")

EQUAL_DISTANCES = "all distances are equal"


@pair_measure(
    "c_index",
    title="C-index",
    direction="lower",
    bounds=(0.0, 1.0),
    formula="(W_in - W_min)/(W_max - W_min), W_min (W_max) = sum of the N_in smallest (largest) distances",
    source="Zaki & Meira, 17.2 (C-index); Hubert & Levin 1976",
    meaning="Where the total distance within clusters lies between the best and the worst that N_in pairs could have.",
    edges="no pair within or none between clusters, or all distances equal: undefined",
)
def c_index(distances: PairwiseDistances) -> float | Values:
    """Return the distance within clusters, rescaled between the extremes for as many pairs."""
    if lacking := missing_pairs(distances.geometry):
        return undefined(lacking)
    smallest, largest = distances.extreme_sums
    if largest - smallest <= 1e-12 * largest:
        return undefined(EQUAL_DISTANCES)
    inside, _ = inner_and_outer(distances)
    return min(max((inside - smallest) / (largest - smallest), 0.0), 1.0)


@pair_measure(
    "dunn",
    range="[0, inf]",
    bounds=(0.0, None),
    formula="min w_ab between clusters / max w_ab within a cluster",
    source="Zaki & Meira, 17.2 (Dunn); Dunn 1974",
    meaning="The nearest two documents of different clusters against the farthest two of one cluster; two documents "
    "decide it.",
    edges="no pair within or none between clusters: undefined; only copies in each cluster: inf; 0/0: undefined",
)
def dunn(distances: PairwiseDistances) -> float | Values:
    """Return the least distance between clusters over the largest within one."""
    if lacking := missing_pairs(distances.geometry):
        return undefined(lacking)
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
    return geometry.centres.rss / geometry.n_documents / nearest if nearest > 0 else math.inf


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
    if lacking := missing_pairs(geometry):
        return undefined(lacking)
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
    centres, number = geometry.centres.distances, np.outer(sizes, sizes)
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


@pair_measure(
    "gamma",
    title="Gamma (Baker-Hubert)",
    bounds=(-1.0, 1.0),
    formula="(s+ - s-)/(s+ + s-), s+ (s-) = comparisons of a pair within and a pair between with w_in < (>) w_out",
    source="Baker & Hubert 1975",
    meaning="Of the comparisons without ties, how many more are in the right order than in the wrong one.",
    edges="no pair within or none between clusters, or only ties: undefined",
)
def gamma(distances: PairwiseDistances) -> float | Values:
    """Return the difference of s+ and s- over their sum."""
    if lacking := missing_pairs(distances.geometry):
        return undefined(lacking)
    plus, minus = float(distances.order_counts.s_plus), float(distances.order_counts.s_minus)
    return (plus - minus) / (plus + minus) if plus + minus > 0 else undefined("all comparisons are ties")


@pair_measure(
    "g_plus",
    title="G+",
    direction="lower",
    range="[0, M/(2(M-1))]",
    bounds=(0.0, 1.0),
    formula="2 s-/(M(M-1))",
    source="Rohlf 1974",
    meaning="The share of all pairs of pairs that are in the wrong order; small also when there are few pairs within.",
    edges="no pair within or none between clusters: undefined",
)
def g_plus(distances: PairwiseDistances) -> float | Values:
    """Return s- over the number of pairs of pairs."""
    if lacking := missing_pairs(distances.geometry):
        return undefined(lacking)
    pairs = float(distances.geometry.n_pairs)
    return 2 * float(distances.order_counts.s_minus) / (pairs * (pairs - 1))


@pair_measure(
    "tau",
    range="(-1, 1)",
    bounds=(-1.0, 1.0),
    formula="(s+ - s-)/sqrt(N_in N_out M(M-1)/2)",
    source="Rohlf 1974",
    meaning="The rank correlation of distance with 'in different clusters'; its maximum is below 1.",
    edges="no pair within or none between clusters: undefined",
)
def tau(distances: PairwiseDistances) -> float | Values:
    """Return the difference of s+ and s- over the geometric mean of comparisons and pairs of pairs."""
    if lacking := missing_pairs(distances.geometry):
        return undefined(lacking)
    geometry, pairs = distances.geometry, float(distances.geometry.n_pairs)
    scale = math.sqrt(float(geometry.n_inner_pairs) * geometry.n_outer_pairs) * math.sqrt(pairs * (pairs - 1) / 2)
    return (float(distances.order_counts.s_plus) - float(distances.order_counts.s_minus)) / scale


BETWEEN = {
    1: "least distance of two documents (single linkage)",
    2: "largest distance of two documents (complete linkage)",
    3: "mean distance of two documents (average linkage)",
    4: "distance of the centres",
    5: "mean distance of the documents of both to their own centre",
    51: "mean distance of the documents of both to the other centre (as in the paper)",
    6: "Hausdorff distance",
}
WITHIN = {
    1: "largest distance of two documents",
    2: "mean distance of two documents",
    3: "twice the mean distance to the centre",
}
FROM_CENTRES = (4, 5, 51)


@pair_measure(
    "gdi",
    title="Generalised Dunn",
    range="[0, inf]",
    bounds=(0.0, None),
    formula="min_{i<j} delta_a(C_i, C_j)/max_i Delta_b(C_i), by default a = 3, b = 3",
    source="Bezdek & Pal 1998",
    meaning="The least distance of two clusters over the largest diameter, with distances and diameters that do not "
    "hang on two documents: by default average linkage and twice the mean distance to the centre.",
    edges="one cluster or all singletons: undefined; every diameter 0: inf; 0/0: undefined",
    parts=("per_cluster", "per_pair"),
    evidence_by_metric={"cosine": "geometry", "sqeuclidean": "geometry"},
)
def gdi(evidence: Any, *, between: int = 3, within: int = 3) -> Values:
    """Return the least distance of two clusters over the largest diameter of one.

    `between`: the distance delta of clusters. `within`: the diameter Delta of a cluster; those of the clusters come per
    cluster, the distances per pair.
    """
    if between not in BETWEEN or within not in WITHIN:
        raise InputError(
            f"between={between!r}, within={within!r} is not a form of the generalised Dunn index",
            remedy=(
                f"choose between from {', '.join(map(str, BETWEEN))} and within from {', '.join(map(str, WITHIN))}"
            ),
        )
    geometry = evidence.geometry
    if geometry.n_clusters == 1 or geometry.n_inner_pairs == 0:
        why = "there is only one cluster" if geometry.n_clusters == 1 else "every cluster is a single document"
        return undefined(why)
    if _needs_pairs(between, within) and evidence is geometry:
        evidence = PairwiseDistances(evidence)
    distances = _between(evidence, between)
    diameters = _within(evidence, within)
    parts: dict[str, Any] = {"per_cluster": diameters, "per_pair": distances}
    nearest, widest = float(off_diagonal(distances).min()), float(diameters.max())
    if widest > 0:
        return Values(nearest / widest, **parts)
    return Values(math.inf, **parts) if nearest > 0 else undefined("0/0: no distance and no diameter", **parts)


def _needs_pairs(between: int, within: int) -> bool:
    """Return whether a form takes distances of pairs of documents in any metric."""
    return between in (1, 2, 6) or within == 1


def _between(evidence: Any, form: int) -> Floats:
    geometry = evidence.geometry
    sizes = geometry.sizes.astype(np.float64)
    if form == 1:
        table = np.where(np.isfinite(evidence.block_least), evidence.block_least, 0.0)
    elif form == 2:
        table = evidence.block_largest.copy()
    elif form == 3:
        table = evidence.pairs.block_weights / np.outer(sizes, sizes)
    elif form == 4:
        table = geometry.centres.distances.copy()
    elif form == 6:
        table = evidence.hausdorff.copy()
    else:
        sums = geometry.centres.distance_sums
        within_sums = np.diagonal(sums)
        both = sums + sums.T if form == 51 else within_sums[:, None] + within_sums[None, :]
        table = both / (sizes[:, None] + sizes[None, :])
    np.fill_diagonal(table, 0.0)
    return np.asarray(table)


def _within(evidence: Any, form: int) -> Floats:
    geometry = evidence.geometry
    sizes = geometry.sizes.astype(np.float64)
    if form == 1:
        return np.diagonal(evidence.block_largest).copy()
    if form == 2:
        return np.asarray(evidence.pairs.cluster_weights[0] / np.maximum(sizes * (sizes - 1), 1))
    return np.asarray(2 * np.diagonal(geometry.centres.distance_sums) / sizes)


def _register_forms() -> None:
    for a in BETWEEN:
        for b in WITHIN:
            if a in FROM_CENTRES and b == 3:
                cost = {"evidence": "geometry", "evidence_by_metric": {}}
            elif _needs_pairs(a, b):
                cost = {"evidence": "pairwise", "evidence_by_metric": {}}
            else:
                cost = {}
            record = {
                "title": f"Generalised Dunn {a}, {b}",
                "formula": f"delta: {BETWEEN[a]}; Delta: {WITHIN[b]}",
                "parameters": {"between": a, "within": b},
            }
            if (a, b) == (1, 1):
                alias("gdi_1_1", of="dunn", function=gdi, parts=("per_cluster", "per_pair"), **record)
            elif (a, b) == (3, 3):
                alias("gdi_3_3", of="gdi", **record)
            else:
                variant(f"gdi_{a}_{b}", of="gdi", **record, **cost)


_register_forms()
