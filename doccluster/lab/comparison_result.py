"""What a comparison gave: every measure of every run, and what is made of them (means, tests, ranks, agreement).

Whether a difference could be chance, paired tests over seeds say: Wilcoxon 1945 (signed ranks); Holm 1979; the
matched-pairs rank-biserial correlation (Kerby 2014) as effect size.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats

from doccluster.base.text_table import html_table, latex_escaped, latex_table
from doccluster.errors import InputError
from doccluster.measures import get_measure
from doccluster.measures.chance import holm

NO_SEED = -1  # of labels made elsewhere
COSTS = ("seconds",)
MIN_RUNS = 5  # different ones; of fewer even a perfect rank correlation is not significant at 5 %


def _empty(*columns: str) -> pd.DataFrame:
    return pd.DataFrame(columns=list(columns))


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Scores of algorithms over corpora and seeds.

    Attributes
    ----------
    runs : DataFrame
        One row per corpus, algorithm, seed and measure: value; the measure "seconds" among them. Labels made elsewhere
        have the seed -1.
    failures : DataFrame
        One row per fit that failed: corpus, algorithm, seed, kind (the name of the exception) and message.
    corpora : DataFrame
        One row per corpus: its sizes, the number of clusters asked for, and what its `about` says.
    """

    runs: pd.DataFrame
    failures: pd.DataFrame = field(default_factory=lambda: _empty("corpus", "algorithm", "seed", "kind", "message"))
    corpora: pd.DataFrame = field(default_factory=lambda: _empty("corpus"))

    def __repr__(self) -> str:
        kinds = (("algorithm", "algorithms"), ("corpus", "corpora"), ("seed", "seeds"), ("measure", "measures"))
        numbers = [(self.runs[kind].nunique(), kind, several) for kind, several in kinds]
        counted = ", ".join(f"{n:,} {kind if n == 1 else several}" for n, kind, several in numbers)
        return f"Comparison({counted}; {len(self.failures):,} fits failed)"

    def summary(self, *, confidence: float = 0.95) -> pd.DataFrame:
        """Return mean and t interval over seeds for each corpus, algorithm and measure.

        An interval that would leave the range of its measure is cut at the end of the range.
        """
        rows = []
        for keys, group in self.runs.groupby(["corpus", "algorithm", "measure"], sort=False):
            mean, low, high = mean_with_interval(group["value"], confidence=confidence)
            low, high = cut_to_range(low, high, str(keys[-1]))
            rows.append((*keys, mean, low, high, int(group["value"].notna().sum())))
        return pd.DataFrame(rows, columns=["corpus", "algorithm", "measure", "mean", "low", "high", "n"])

    def to_pandas(self) -> pd.DataFrame:
        """Return `summary`: mean and interval for each corpus, algorithm and measure."""
        return self.summary()

    def to_latex(self) -> str:
        """Return a LaTeX table (booktabs): a line per corpus and algorithm, mean and interval of each measure."""
        return latex_summary(self.summary(), headline(self.runs))

    def _repr_html_(self) -> str:
        measures = headline(self.runs)
        columns = ["corpus", "algorithm", *map(title_of, measures)]
        rows = [[*names, *cells] for names, cells in _rows(self.summary(), measures)]
        return html_table(columns, rows, caption="mean over seeds, with its 95 % interval")

    def tests(self, measures: Iterable[str]) -> pd.DataFrame:
        """Return paired tests over seeds, one row per corpus, measure and pair of algorithms.

        Labels made elsewhere are one clustering, which is compared with each seed of an algorithm.
        """
        frames = []
        for measure in measures:
            for corpus, group in self.runs[self.runs["measure"] == measure].groupby("corpus", sort=False):
                wide = group.pivot(index="seed", columns="algorithm", values="value")
                if NO_SEED in wide.index:
                    elsewhere = wide.loc[NO_SEED].dropna()
                    wide = wide.drop(index=NO_SEED).assign(**{str(k): v for k, v in elsewhere.items()})
                values = {name: wide[name].to_numpy() for name in group["algorithm"].unique()}
                tests = paired_tests(values, higher_is_better=higher_is_better(measure))
                frames.append(tests.assign(corpus=corpus, measure=measure))
        columns = ["corpus", "measure", "first", "second", "mean_difference", "effect", "p", "p_holm", "n"]
        frames = [frame for frame in frames if len(frame)]
        return pd.concat(frames)[columns].reset_index(drop=True) if frames else _empty(*columns)

    def agreement(self, *, reference: str = "adjusted_rand") -> pd.DataFrame:
        """Return how each measure without truth ranks the runs of a corpus beside an external one.

        One row per corpus and measure: Spearman's correlation over all runs of the corpus, turned so that positive
        means that what the measure calls better the reference calls better; p value; n runs that differ. Fewer than
        five of these give no correlation (nan).
        """
        rows = []
        for corpus, group in self.runs.groupby("corpus", sort=False):
            wide = group.pivot(index=["algorithm", "seed"], columns="measure", values="value")
            if reference not in wide:
                continue
            for name in wide:
                record = None if name in COSTS else get_measure(str(name))
                if record is None or record.family == "external" or record.direction == "none":
                    continue
                rows.append((corpus, name, *_correlation(wide[name], wide[reference], record.direction == "higher")))
        return pd.DataFrame(rows, columns=["corpus", "measure", "correlation", "p", "n"])


def higher_is_better(measure: str) -> bool:
    """Return whether a larger value of the measure (or of seconds) is better."""
    return measure not in COSTS and get_measure(measure).direction == "higher"


def cut_to_range(low: float, high: float, measure: str) -> tuple[float, float]:
    """Return an interval without what is outside the range of a measure (or of seconds)."""
    least, highest = (0.0, None) if measure in COSTS else get_measure(measure).bounds
    return (
        low if least is None or math.isnan(low) else max(low, least),
        high if highest is None or math.isnan(high) else min(high, highest),
    )


def _correlation(values: pd.Series, reference: pd.Series, higher: bool) -> tuple[float, float, int]:
    pairs = np.column_stack([values.to_numpy(), reference.to_numpy()])
    # what comes out the same for every seed is one run
    first, two = np.unique(pairs[np.isfinite(pairs).all(axis=1)], axis=0).T
    n = int(first.size)
    if n < MIN_RUNS or np.all(first == first[0]) or np.all(two == two[0]):
        return math.nan, math.nan, n
    correlation = stats.spearmanr(first if higher else -first, two)
    return float(correlation.statistic), float(correlation.pvalue), n


MAX_SIGNS_TRIED = 13  # pairs up to which every choice of signs is tried: 8,192 of them


def mean_with_interval(values: npt.ArrayLike, *, confidence: float = 0.95) -> tuple[float, float, float]:
    """Return (mean, low, high): the mean and its t interval, without nan; none (nan) of one value, or infinite ones."""
    numbers = np.asarray(values, dtype=np.float64)
    numbers = numbers[~np.isnan(numbers)]
    if numbers.size == 0:
        return math.nan, math.nan, math.nan
    mean = float(numbers.mean())
    if numbers.size == 1 or math.isinf(mean):
        return mean, math.nan, math.nan
    half = float(stats.t.ppf((1 + confidence) / 2, numbers.size - 1) * numbers.std(ddof=1) / math.sqrt(numbers.size))
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
    first_values, two = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if first_values.shape != two.shape:
        raise InputError(f"{first_values.size} and {two.size} values cannot be paired", remedy="give as many of each")
    difference = first_values - two
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


def paired_tests(values: Mapping[str, npt.ArrayLike], *, higher_is_better: bool = True) -> pd.DataFrame:
    """Return one row per pair of algorithms on the same seeds of one corpus.

    Columns: first, second, mean_difference, effect (rank-biserial, positive if `first` is better), p, p_holm, and n,
    the seeds that both have a value for; a pair without such a seed has no row.
    """
    rows = []
    for first, second in itertools.combinations(values, 2):
        first_values, two = np.asarray(values[first], dtype=np.float64), np.asarray(values[second], dtype=np.float64)
        # a seed for which one of the two is undefined is no pair
        is_known = ~(np.isnan(first_values) | np.isnan(two))
        if not is_known.any():
            continue
        first_values, two = first_values[is_known], two[is_known]
        sign = 1 if higher_is_better else -1
        rows.append(
            {
                "first": first,
                "second": second,
                "mean_difference": float(first_values.mean() - two.mean()),
                "effect": sign * rank_biserial(first_values, two),
                "p": wilcoxon_p(first_values, two),
                "n": int(is_known.sum()),
            }
        )
    frame = pd.DataFrame(rows, columns=["first", "second", "mean_difference", "effect", "p", "n"])
    frame.insert(5, "p_holm", holm(frame["p"].tolist()))
    return frame


HEADLINE = ("adjusted_rand", "nmi", "silhouette", "cluster_similarity", "seconds")
UNITS = {"seconds": "s"}


def headline(runs: pd.DataFrame) -> list[str]:
    """Return the measures that are shown, tested and drawn, of those of a table with a column measure.

    Of measures that are none of the usual ones, the first are shown, before seconds.
    """
    there = list(dict.fromkeys(map(str, runs["measure"])))
    quality = [name for name in HEADLINE if name in there and name not in UNITS]
    columns = quality or [name for name in there if name not in UNITS][: len(HEADLINE)]
    return [*columns, *(name for name in UNITS if name in there)]


def title_of(measure: str) -> str:
    """Return the name of a measure in tables and figures, with its unit."""
    name = measure.replace("_", " ")
    return f"{name} ({UNITS[measure]})" if measure in UNITS else name


def mean_and_interval(mean: float, low: float, high: float, *, plus_minus: str = "±") -> str:
    """Return a mean with its interval: with plus and minus, or both ends where the range of the measure cuts one off.

    >>> mean_and_interval(0.9, 0.85, 0.95), mean_and_interval(0.98, 0.9, 1.0)
    ('0.900 ± 0.050', '0.980 [0.900, 1.000]')
    """
    if math.isnan(mean):
        return "-"
    if math.isnan(low):
        return f"{mean:.3f}"
    if math.isclose(high - mean, mean - low, rel_tol=1e-6, abs_tol=1e-12):
        return f"{mean:.3f} {plus_minus} {high - mean:.3f}"
    return f"{mean:.3f} [{low:.3f}, {high:.3f}]"


def latex_summary(summary: pd.DataFrame, measures: Sequence[str]) -> str:
    """Return a LaTeX table (package booktabs): a line per corpus and algorithm, mean and interval of each measure."""
    rows = [[*map(latex_escaped, names), *cells] for names, cells in _rows(summary, measures, plus_minus=r"$\pm$")]
    columns = ["corpus", "algorithm", *map(title_of, measures)]
    return latex_table(columns, rows, alignment="ll" + "r" * len(measures))


def _rows(
    summary: pd.DataFrame, measures: Sequence[str], *, plus_minus: str = "±"
) -> list[tuple[list[str], list[str]]]:
    rows = []
    for (corpus, algorithm), group in summary.groupby(["corpus", "algorithm"], sort=False):
        intervals = zip(group["measure"], group["mean"], group["low"], group["high"], strict=True)
        cells = {name: mean_and_interval(*interval, plus_minus=plus_minus) for name, *interval in intervals}
        rows.append(([str(corpus), str(algorithm)], [cells.get(name, "-") for name in measures]))
    return rows
