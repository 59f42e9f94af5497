"""From a criterion over k to a choice of k: the rules of the papers as plain functions of already computed values."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping
from typing import Literal

import numpy as np

from doccluster.errors import InputError

GapRule = Literal["zaki", "zaki_2sd", "tibshirani", "max"]


def best_k(values: Mapping[int, float], *, largest: bool = True) -> int | None:
    """Return the k whose value is the largest (or the smallest), the smaller k on ties, ignoring nan.

    Examples
    --------
    >>> best_k({2: 0.3, 3: 0.5, 4: 0.5, 5: float("nan")})
    3
    """
    known = {k: value for k, value in sorted(values.items()) if not math.isnan(value)}
    if not known:
        return None
    extreme = max(known.values()) if largest else min(known.values())
    return next(k for k, value in known.items() if value == extreme)


def delta_ch(calinski_harabasz: Mapping[int, float]) -> dict[int, float]:
    """Return Delta(k) = (CH(k+1) - CH(k)) - (CH(k) - CH(k-1)) where k-1, k and k+1 are known and k-1 >= 2.

    The chosen k is the arg min. Zaki & Meira, section 17.3.1, write k > 3 and choose k = 3: k >= 3 is meant.

    Examples
    --------
    >>> delta_ch({2: 1.0, 3: 5.0, 4: 6.0})
    {3: -3.0}
    """
    ch = calinski_harabasz
    inner = [k for k in sorted(ch) if k - 1 >= 2 and k - 1 in ch and k + 1 in ch]
    return {k: (ch[k + 1] - ch[k]) - (ch[k] - ch[k - 1]) for k in inner}


def gap_statistic(
    observed: Mapping[int, float], reference: Iterable[Mapping[int, float]], *, base: float = 2.0
) -> tuple[dict[int, float], dict[int, float]]:
    """Return gap(k) = mean log W(R_i) - log W(D) and the (population) standard deviation of the log W(R_i).

    A dispersion of zero has no logarithm: the gap is nan for that k (Zaki & Meira, section 17.3.1).
    """
    samples = list(reference)
    gap: dict[int, float] = {}
    sd: dict[int, float] = {}
    for k, value in observed.items():
        drawn = np.array([sample[k] for sample in samples])
        if value <= 0 or drawn.size == 0 or np.any(drawn <= 0):
            gap[k] = sd[k] = math.nan
            continue
        logs = np.log(drawn) / math.log(base)
        gap[k], sd[k] = float(logs.mean() - math.log(value, base)), float(logs.std())
    return gap, sd


def gap_k(
    gap: Mapping[int, float], sd: Mapping[int, float], *, rule: GapRule = "zaki", n_samples: int | None = None
) -> int | None:
    """Return the number of clusters that the gap statistic chooses, or None when no k qualifies.

    Parameters
    ----------
    gap, sd : mapping of k to the gap and to the standard deviation of the reference dispersions
    rule : {"zaki", "zaki_2sd", "tibshirani", "max"}
        The least k with gap(k) >= gap(k+1) - c sd(k+1), with c = 1 (Zaki & Meira, section 17.3.1), c = 2, or
        c = sqrt(1 + 1/t) (Tibshirani, Walther & Hastie 2001); or the k of the largest gap. Where k + 1 is not among the
        gaps, the next k that is takes its place.
    n_samples : int
        The number t of reference sets; needed by "tibshirani".

    Raises
    ------
    InputError
        If the rule is unknown or n_samples is missing where it is needed.
    """
    if rule == "max":
        return best_k(gap)
    if rule == "tibshirani" and (n_samples is None or n_samples < 1):
        raise InputError("the rule 'tibshirani' needs n_samples, the number of reference sets")
    factors = {"zaki": 1.0, "zaki_2sd": 2.0, "tibshirani": math.sqrt(1 + 1 / (n_samples or 1))}
    if rule not in factors:
        raise InputError(
            "is not a rule of the gap statistic",
            argument="rule",
            received=rule,
            expected=f"one of {', '.join([*factors, 'max'])}",
        )
    for k, after in itertools.pairwise(sorted(gap)):
        if gap[k] >= gap[after] - factors[rule] * sd[after]:
            return k
    return None


def penalised_k(rss: Mapping[int, float], *, penalty: float) -> int | None:
    """Return the k that minimises RSS(k) + penalty * k, the smallest on ties.

    There is no default: the penalty scales with the number of documents, and the AIC form (2 x terms) chooses k = 1 on
    text. Source: the slides of Manning, Raghavan & Schuetze, Introduction to Information Retrieval, chapter 16.
    """
    if not penalty >= 0:
        raise InputError(argument="penalty", received=penalty, expected="a number >= 0")
    return best_k({k: value + penalty * k for k, value in rss.items()}, largest=False)


def knee_k(rss: Mapping[int, float]) -> int | None:
    """Return the k farthest below the chord from the first to the last point of the curve, both axes scaled to [0, 1].

    A heuristic in place of the eye (the slides choose a knee of "4 or 9" by looking). None for fewer than three points
    or a curve that does not fall.
    """
    ks = [k for k in sorted(rss) if not math.isnan(rss[k])]
    if len(ks) < 3 or not rss[ks[0]] > rss[ks[-1]]:
        return None
    width, height = ks[-1] - ks[0], rss[ks[0]] - rss[ks[-1]]
    depth = {k: 1 - (k - ks[0]) / width - (rss[k] - rss[ks[-1]]) / height for k in ks}
    best = best_k(depth)
    return best if best is not None and depth[best] > 0 else None


def second_difference(rss: Mapping[int, float]) -> dict[int, float]:
    """Return RSS(k-1) - 2 RSS(k) + RSS(k+1) where all three are known; a large value is a bend in the curve."""
    return {k: rss[k - 1] - 2 * rss[k] + rss[k + 1] for k in sorted(rss) if k - 1 in rss and k + 1 in rss}


def hartigan(rss: Mapping[int, float], *, n_documents: int) -> dict[int, float]:
    """Return (RSS(k) / RSS(k+1) - 1)(n - k - 1) for each k with a successor; infinite where RSS(k+1) = 0.

    Source: Hartigan 1975, Clustering Algorithms.
    """
    pairs = [(k, rss[k], rss[k + 1]) for k in sorted(rss) if k + 1 in rss]
    return {k: (here / after - 1) * (n_documents - k - 1) if after > 0 else math.inf for k, here, after in pairs}


def hartigan_k(values: Mapping[int, float], *, threshold: float = 10.0) -> int | None:
    """Return the least k whose Hartigan value is at most the threshold, or None."""
    return next((k for k in sorted(values) if values[k] <= threshold), None)


def krzanowski_lai(rss: Mapping[int, float], *, n_terms: int) -> dict[int, float]:
    """Return |DIFF(k) / DIFF(k+1)| with DIFF(k) = (k-1)^(2/d) RSS(k-1) - k^(2/d) RSS(k); the largest is chosen.

    With as many dimensions d as a vocabulary has, the exponent vanishes and only plain differences of RSS are left.
    Source: Krzanowski & Lai 1988, Biometrics 44.
    """
    power = 2 / n_terms
    diff = {k: (k - 1) ** power * rss[k - 1] - k**power * rss[k] for k in sorted(rss) if k - 1 in rss}
    known = [k for k in diff if k + 1 in diff]
    return {k: abs(diff[k] / diff[k + 1]) if diff[k + 1] else math.inf for k in known}


def sd_index(scatter: Mapping[int, float], separation: Mapping[int, float]) -> dict[int, float]:
    """Return alpha Scat(k) + Dis(k) with alpha = Dis(k_max); the smallest is chosen.

    Source: Halkidi, Vazirgiannis & Batistakis 2000.
    """
    ks = sorted(set(scatter) & set(separation))
    if not ks:
        return {}
    alpha = separation[ks[-1]]
    return {k: alpha * scatter[k] + separation[k] for k in ks}
