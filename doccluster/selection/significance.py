"""Which of several algorithms is better, and could that be chance: paired tests over seeds.

Wilcoxon 1945 (signed ranks); Holm 1979; the matched-pairs rank-biserial correlation (Kerby 2014) as effect size.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats

from doccluster.errors import InputError

MAX_SIGNS_TRIED = 13  # pairs up to which every choice of signs is tried: 8,192 of them


def mean_with_interval(values: npt.ArrayLike, *, confidence: float = 0.95) -> tuple[float, float, float]:
    """Return (mean, low, high): the mean and its t interval, without nan; none (nan) of one value, or infinite ones."""
    known = np.asarray(values, dtype=np.float64)
    known = known[~np.isnan(known)]
    if known.size == 0:
        return math.nan, math.nan, math.nan
    mean = float(known.mean())
    if known.size == 1 or math.isinf(mean):
        return mean, math.nan, math.nan
    half = float(stats.t.ppf((1 + confidence) / 2, known.size - 1) * known.std(ddof=1) / math.sqrt(known.size))
    return mean, mean - half, mean + half


def rank_biserial(first: npt.ArrayLike, second: npt.ArrayLike) -> float:
    """Return the matched-pairs rank-biserial correlation, in [-1, 1]: 1 if `first` is larger in every pair.

    (W+ - W-) / (W+ + W-) over the ranks of the absolute differences, equal pairs left out; 0 if all are equal.
    """
    difference = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    difference = difference[~np.isnan(difference) & (difference != 0)]
    if difference.size == 0:
        return 0.0
    ranks = stats.rankdata(np.abs(difference))
    return float((ranks[difference > 0].sum() - ranks[difference < 0].sum()) / ranks.sum())


def wilcoxon_p(first: npt.ArrayLike, second: npt.ArrayLike) -> float:
    """Return the two-sided p value of Wilcoxon's signed-rank test on pairs; 1 if all pairs are equal.

    It is exact for up to 50 pairs without equal ones or ties, and for up to 13 pairs with them (all 2**n signs are
    tried); otherwise the normal approximation. Equal pairs are dropped, as Wilcoxon (1945) does.
    """
    one, two = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if one.shape != two.shape:
        raise InputError(f"{one.size} and {two.size} values cannot be paired", remedy="give as many of each")
    difference = one - two
    difference = difference[~np.isnan(difference) & (difference != 0)]
    if difference.size == 0:
        return 1.0
    tied = np.unique(np.abs(difference)).size < difference.size
    if not tied and difference.size <= 50:
        return float(stats.wilcoxon(difference, method="exact").pvalue)
    if difference.size <= MAX_SIGNS_TRIED:
        every_sign = stats.PermutationMethod(n_resamples=2**MAX_SIGNS_TRIED)  # exact, as there are no more of them
        return float(stats.wilcoxon(difference, method=every_sign).pvalue)
    return float(stats.wilcoxon(difference, method="approx").pvalue)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p values adjusted for their number by Holm's step-down rule, in the order given.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    adjusted, running = [0.0] * len(p_values), 0.0
    for place, index in enumerate(order):
        running = max(running, (len(p_values) - place) * p_values[index])
        adjusted[index] = min(1.0, running)
    return adjusted


def paired_tests(values: Mapping[str, npt.ArrayLike], *, higher_is_better: bool = True) -> pd.DataFrame:
    """Return one row per pair of algorithms on the same seeds of one corpus.

    Columns: first, second, mean_difference, effect (rank-biserial, positive if `first` is better), p, p_holm, and n,
    the seeds that both have a value for; a pair without such a seed has no row.
    """
    rows = []
    for first, second in itertools.combinations(values, 2):
        one, two = np.asarray(values[first], dtype=np.float64), np.asarray(values[second], dtype=np.float64)
        known = ~(np.isnan(one) | np.isnan(two))
        if not known.any():
            continue
        one, two = one[known], two[known]
        sign = 1 if higher_is_better else -1
        rows.append(
            {
                "first": first,
                "second": second,
                "mean_difference": float(one.mean() - two.mean()),
                "effect": sign * rank_biserial(one, two),
                "p": wilcoxon_p(one, two),
                "n": int(known.sum()),
            }
        )
    frame = pd.DataFrame(rows, columns=["first", "second", "mean_difference", "effect", "p", "n"])
    frame.insert(5, "p_holm", holm(frame["p"].tolist()))
    return frame
