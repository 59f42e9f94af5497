"""Measures of pair order: is a pair of documents of one cluster closer than a pair of different clusters?

Only the order of distances counts, ties count for neither side, and both are exact; a seeded sample of pairs,
with its standard error, is taken only when asked for.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

from doccluster.choices import METRICS
from doccluster.measures.distances import PairwiseDistances
from doccluster.measures.registry import Values, measure, undefined
from doccluster.measures.within_between import missing_pairs
from doccluster.validation import RandomState

order_measure = partial(
    measure,
    family="internal",
    evidence="pairwise",
    metrics=METRICS,
    compares_pairs=True,
)

SAMPLED = "estimated from {:,} pairs within and as many between clusters"


def _from_counts(
    distances: PairwiseDistances,
    sample: int | None,
    random_state: RandomState,
    formula: Callable[[float, float, float], float | None],
    why_not: str,
) -> float | Values:
    """Return ``formula(s+, s-, 0)``; of a sample also what its standard error changes, given as the last argument."""
    geometry = distances.geometry
    if geometry.n_inner_pairs == 0 or geometry.n_outer_pairs == 0:
        return undefined(missing_pairs(geometry))
    if sample is None:
        counts = distances.order_counts
        value = formula(float(counts.s_plus), float(counts.s_minus), 0.0)
        return undefined(why_not) if value is None else value
    comparisons = float(geometry.n_inner_pairs) * geometry.n_outer_pairs
    plus, minus, error = distances.sampled_order(sample, random_state)
    value = formula(plus * comparisons, minus * comparisons, 0.0)
    if value is None:
        return undefined(why_not)
    spread = abs((formula(plus * comparisons, minus * comparisons, error * comparisons) or 0.0) - value)
    return Values(value, note=SAMPLED.format(sample), standard_error=spread)


@order_measure(
    "gamma",
    title="Gamma (Baker-Hubert)",
    direction="higher",
    range="[-1, 1]",
    bounds=(-1.0, 1.0),
    formula="(s+ - s-)/(s+ + s-), s+ (s-) = comparisons of a pair within and a pair between with w_in < (>) w_out",
    source="Baker & Hubert 1975",
    meaning="Of the comparisons that are no tie, how many more are in the right order than in the wrong one.",
    edges="no pair within or none between clusters, or only ties: undefined",
)
def gamma(distances: PairwiseDistances, *, sample: int | None = None, random_state: RandomState = 0) -> float | Values:
    """Return Gamma; with `sample` pairs of each kind, an estimate with its standard error."""

    def formula(plus: float, minus: float, error: float) -> float | None:
        return (plus - minus + error) / (plus + minus) if plus + minus > 0 else None

    return _from_counts(distances, sample, random_state, formula, "all comparisons are ties")


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
def g_plus(distances: PairwiseDistances, *, sample: int | None = None, random_state: RandomState = 0) -> float | Values:
    """Return G+; with `sample` pairs of each kind, an estimate with (a bound on) its standard error."""
    pairs = float(distances.geometry.n_pairs)

    def formula(plus: float, minus: float, error: float) -> float | None:
        return 2 * (minus + error) / (pairs * (pairs - 1)) if pairs > 1 else None

    return _from_counts(distances, sample, random_state, formula, "there is only one pair of documents")


@order_measure(
    "tau",
    title="Tau",
    direction="higher",
    range="(-1, 1)",
    bounds=(-1.0, 1.0),
    formula="(s+ - s-)/sqrt(N_in N_out M(M-1)/2)",
    source="Rohlf 1974",
    meaning="The rank correlation of distance with 'in different clusters'; its maximum is below 1.",
    edges="no pair within or none between clusters: undefined",
)
def tau(distances: PairwiseDistances, *, sample: int | None = None, random_state: RandomState = 0) -> float | Values:
    """Return tau; with `sample` pairs of each kind, an estimate with its standard error."""
    geometry = distances.geometry
    pairs = float(geometry.n_pairs)
    scale = math.sqrt(float(geometry.n_inner_pairs) * geometry.n_outer_pairs) * math.sqrt(pairs * (pairs - 1) / 2)

    def formula(plus: float, minus: float, error: float) -> float | None:
        return (plus - minus + error) / scale if scale > 0 else None

    return _from_counts(distances, sample, random_state, formula, "there is only one pair of documents")
