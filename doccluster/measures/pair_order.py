"""Measures of pair order: is a pair of documents of one cluster closer than a pair of different clusters?

Only the order of distances counts, ties count for neither side, and both are exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

from doccluster.base.choices import METRICS
from doccluster.measures.distances import PairwiseDistances
from doccluster.measures.registry import Values, measure, undefined
from doccluster.measures.within_between import missing_pairs

order_measure = partial(
    measure,
    family="internal",
    evidence="pairwise",
    metrics=METRICS,
    compares_pairs=True,
)


def _from_counts(
    distances: PairwiseDistances, formula: Callable[[float, float], float | None], why_not: str
) -> float | Values:
    """Return ``formula(s+, s-)``, or undefined where it is None or there is no comparison."""
    geometry = distances.geometry
    if geometry.n_inner_pairs == 0 or geometry.n_outer_pairs == 0:
        return undefined(missing_pairs(geometry))
    counts = distances.order_counts
    value = formula(float(counts.s_plus), float(counts.s_minus))
    return undefined(why_not) if value is None else value


@order_measure(
    "gamma",
    title="Gamma (Baker-Hubert)",
    bounds=(-1.0, 1.0),
    formula="(s+ - s-)/(s+ + s-), s+ (s-) = comparisons of a pair within and a pair between with w_in < (>) w_out",
    source="Baker & Hubert 1975",
    meaning="Of the comparisons without ties, how many more are in the right order than in the wrong one.",
    edges="no pair within or none between clusters, or only ties: undefined",
)
def gamma(distances: PairwiseDistances) -> float | Values:
    """Return Gamma."""

    def formula(plus: float, minus: float) -> float | None:
        return (plus - minus) / (plus + minus) if plus + minus > 0 else None

    return _from_counts(distances, formula, "all comparisons are ties")


@order_measure(
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
    """Return G+."""
    pairs = float(distances.geometry.n_pairs)

    def formula(plus: float, minus: float) -> float | None:
        return 2 * minus / (pairs * (pairs - 1)) if pairs > 1 else None

    return _from_counts(distances, formula, "there is only one pair of documents")


@order_measure(
    "tau",
    title="Tau",
    range="(-1, 1)",
    bounds=(-1.0, 1.0),
    formula="(s+ - s-)/sqrt(N_in N_out M(M-1)/2)",
    source="Rohlf 1974",
    meaning="The rank correlation of distance with 'in different clusters'; its maximum is below 1.",
    edges="no pair within or none between clusters: undefined",
)
def tau(distances: PairwiseDistances) -> float | Values:
    """Return tau."""
    geometry = distances.geometry
    pairs = float(geometry.n_pairs)
    scale = math.sqrt(float(geometry.n_inner_pairs) * geometry.n_outer_pairs) * math.sqrt(pairs * (pairs - 1) / 2)

    def formula(plus: float, minus: float) -> float | None:
        return (plus - minus) / scale if scale > 0 else None

    return _from_counts(distances, formula, "there is only one pair of documents")
