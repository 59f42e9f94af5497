"""Algorithms over several corpora: mean ranks, Friedman's test, Nemenyi's critical difference (Demšar 2006).

A corpus counts once, with the mean over its seeds: seeds say how an algorithm does on one corpus, corpora how it does
on others like them.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

from doccluster.base.arrays import Floats

MAX_ARRANGEMENTS = 20_000  # of ranks, up to which Friedman's test goes through all of them


@dataclass(frozen=True, eq=False)
class RankTest:
    """Friedman's test of algorithms over corpora: mean ranks (1 is best; equal ones share the mean of theirs), p.

    `friedman_p` is of all arrangements of the ranks where these are at most 20,000 (`is_exact`), else of F. Two
    algorithms differ by Nemenyi if their mean ranks are at least the critical difference apart.
    """

    mean_ranks: Floats
    n_corpora: int
    friedman_chi_squared: float
    friedman_f: float
    friedman_p: float
    critical_difference: float
    is_exact: bool


def rank_test(values: npt.ArrayLike, *, higher_is_better: bool = True, level: float = 0.05) -> RankTest:
    """Return Friedman's test of values of shape (n_corpora, n_algorithms), at least two of each and none of them nan.

    chi_squared = 12 N / (k (k + 1)) (sum of R_j^2 - k (k + 1)^2 / 4), f = (N - 1) chi_squared / (N (k - 1) -
    chi_squared) for k algorithms with mean ranks R_j on N corpora, without a correction for ties; the critical
    difference is q sqrt(k (k + 1) / (6 N)) (Demšar 2006, section 3.2.2).

    >>> round(rank_test([[0.9, 0.8, 0.7], [0.6, 0.5, 0.1], [0.8, 0.7, 0.6]]).friedman_p, 3)
    0.028
    """
    table = np.asarray(values, dtype=np.float64).round(10)  # what is equal to ten decimals shares a rank
    n, k = table.shape
    ranks = stats.rankdata(-table if higher_is_better else table, axis=1)
    mean_ranks = ranks.mean(axis=0)
    chi_squared = 12 * n / (k * (k + 1)) * float(mean_ranks @ mean_ranks - k * (k + 1) ** 2 / 4)
    left = n * (k - 1) - chi_squared  # nothing where all corpora have the same order
    f = (n - 1) * chi_squared / left if left > 1e-9 else math.inf
    is_exact = math.factorial(k) ** (n - 1) <= MAX_ARRANGEMENTS
    p = _share_of_arrangements(ranks) if is_exact else float(stats.f.sf(f, k - 1, (k - 1) * (n - 1)))
    difference = float(stats.studentized_range.ppf(1 - level, k, np.inf)) * math.sqrt(k * (k + 1) / (12 * n))
    return RankTest(mean_ranks, n, chi_squared, f, p, difference, is_exact)


def _share_of_arrangements(ranks: Floats) -> float:
    """Return the share of arrangements of the ranks within each corpus whose mean ranks differ as much, or more.

    The first corpus stays as it is: to arrange it too would only name the algorithms anew.
    """
    sums = ranks[:1]
    for row in ranks[1:]:
        sums = (sums[:, None, :] + np.array(list(itertools.permutations(row)))).reshape(-1, row.size)
    return float(np.mean((sums**2).sum(axis=1) >= (ranks.sum(axis=0) ** 2).sum() - 1e-6))


def nemenyi_p(rank_difference: float, n_algorithms: int, n_corpora: int) -> float:
    """Return the p value of a difference of mean ranks, corrected for all pairs of algorithms (Nemenyi 1963)."""
    error = math.sqrt(n_algorithms * (n_algorithms + 1) / (12 * n_corpora))  # as the studentized range has it
    return float(stats.studentized_range.sf(abs(rank_difference) / error, n_algorithms, np.inf))
