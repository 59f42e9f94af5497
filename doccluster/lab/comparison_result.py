"""What a comparison gave: every measure of every run, and what is made of them (means, tests, ranks, agreement).

Whether a difference could be chance, paired tests over seeds say: Wilcoxon 1945 (signed ranks); Holm 1979; the
matched-pairs rank-biserial correlation (Kerby 2014) as effect size. Tests over corpora are in `comparison_ranks`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats

from doccluster.base.text_table import html_table
from doccluster.base.validation import check_choice
from doccluster.errors import InputError
from doccluster.lab.comparison_ranks import RankTest, nemenyi_p, rank_test
from doccluster.lab.comparison_tables import STAR, UNITS, PaperTable, mean_and_interval, table_of, title_of
from doccluster.measures import Evaluation, Measure, get_measure
from doccluster.measures.chance import holm
from doccluster.measures.registry import get_measures

NO_SEED = -1  # of labels made elsewhere
COSTS = ("seconds",)
MIN_RUNS = 5  # different ones; of fewer even a perfect rank correlation is not significant at 5 %
SIGNIFICANT = 0.05
TABLES = ("summary", "tests", "agreement", "ranks", "corpus_tests")
# beside the ranks; no algorithm has such a name
STATISTICS = ("n_corpora", "friedman_chi_squared", "friedman_f", "friedman_p", "critical_difference")
BEST = "best"
Marks = dict[tuple[object, object, object], str]  # of a corpus, an algorithm and a measure
NOTES = {
    "summary": "mean over seeds, with its 95 % interval",
    STAR: "; *: differs from the best of its corpus (Wilcoxon over seeds, p below 0.05 after Holm)",
    "ranks": "mean rank over corpora, 1 is best",
    "agreement": "Spearman's correlation with adjusted Rand over runs",
}
CLUSTERS = ("largest", "smallest", "min", "max", "mean")  # behind a measure and a colon: of which clusters it is


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
    measures : tuple of str
        Those that were asked for by name, which are shown and tested; empty where all were computed.
    ceiling : str or None
        What stands among the algorithms and is none: it is shown, but not tested or ranked.
    """

    runs: pd.DataFrame
    failures: pd.DataFrame = field(default_factory=lambda: _empty("corpus", "algorithm", "seed", "kind", "message"))
    corpora: pd.DataFrame = field(default_factory=lambda: _empty("corpus"))
    measures: tuple[str, ...] = ()
    ceiling: str | None = None

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

    @property
    def shown(self) -> list[str]:
        """The measures of screens, tables and figures: those asked for by name, else the usual ones; last seconds."""
        return headline(self.runs, self.measures)

    def to_latex(self, table: str = "summary") -> str:
        """Return a table in LaTeX (booktabs), the best values bold: that of the method of this name.

        The summary has a line per corpus and algorithm, and a star where the best differs by the paired tests.
        """
        return self.table(table).latex()

    def to_markdown(self, table: str = "summary") -> str:
        """Return a table in Markdown; see `to_latex`."""
        return self.table(table).markdown()

    def _repr_html_(self) -> str:
        table = self._summary_table({})
        return html_table(table.columns, table.rows, caption="mean over seeds, with its 95 % interval")

    def tests(self, measures: Iterable[str] | None = None) -> pd.DataFrame:
        """Return paired tests over seeds, one row per corpus, measure and pair of algorithms.

        Labels made elsewhere are one clustering, which is compared with each seed of an algorithm. By default the
        measures are those that are shown.
        """
        frames = []
        for measure in self._tested(measures):
            runs = self.runs[(self.runs["measure"] == measure) & (self.runs["algorithm"] != self.ceiling)]
            for corpus, group in runs.groupby("corpus", sort=False):
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

    def _tested(self, measures: Iterable[str] | None) -> list[str]:
        return [name for name in self.shown if name not in COSTS] if measures is None else list(measures)

    def _over_corpora(self, measures: Iterable[str] | None) -> Iterator[tuple[str, pd.DataFrame, RankTest]]:
        """Yield each measure with its means by corpus and algorithm, where there are two or more of both.

        Corpora without any value are left out, then algorithms that lack one on a corpus.
        """
        means = self.summary()
        for measure in self._tested(measures):
            rows = means[(means["measure"] == measure) & (means["algorithm"] != self.ceiling)]
            wide = rows.pivot(index="corpus", columns="algorithm", values="mean")[[*rows["algorithm"].unique()]]
            wide = wide.dropna(how="all").dropna(axis=1)
            if min(wide.shape) > 1:
                yield measure, wide, rank_test(wide, higher_is_better=higher_is_better(measure))

    def ranks(self, measures: Iterable[str] | None = None) -> pd.DataFrame:
        """Return the mean ranks of algorithms over corpora (1 is best), and whether they differ: one row per measure.

        Columns: measure, n_corpora, friedman_chi_squared, friedman_f, friedman_p, critical_difference (Nemenyi, 5 %),
        and each algorithm that has a value on every corpus. There are no rows for a single corpus.
        """
        rows = [
            {
                "measure": measure,
                **{name: getattr(test, name) for name in STATISTICS},
                **dict(zip(wide.columns, test.mean_ranks.tolist(), strict=True)),
            }
            for measure, wide, test in self._over_corpora(measures)
        ]
        return pd.DataFrame(rows) if rows else _empty("measure", *STATISTICS)

    def corpus_tests(self, measures: Iterable[str] | None = None) -> pd.DataFrame:
        """Return paired tests over corpora, one row per measure and pair of algorithms.

        Columns: rank_difference and p_nemenyi (of mean ranks, corrected for all pairs), and those of `tests`, of which
        each pair is here a corpus.
        """
        frames = []
        for measure, wide, test in self._over_corpora(measures):
            values = {str(name): column.to_numpy() for name, column in wide.items()}
            tests = paired_tests(values, higher_is_better=higher_is_better(measure))
            ranks = dict(zip(values, test.mean_ranks.tolist(), strict=True))
            differences = tests["first"].map(ranks) - tests["second"].map(ranks)
            tests["p_nemenyi"] = [nemenyi_p(difference, len(ranks), test.n_corpora) for difference in differences]
            frames.append(tests.assign(measure=measure, rank_difference=differences))
        columns = ["measure", "first", "second", "rank_difference", "p_nemenyi", "mean_difference", "effect"]
        columns += ["p", "p_holm", "n"]
        return pd.concat(frames)[columns].reset_index(drop=True) if frames else _empty(*columns)

    def table(self, name: str) -> PaperTable:
        """Return a table for a paper; see `to_latex`."""
        check_choice(name, TABLES, "table")
        if name == "summary":
            return self._summary_table(self.marks())
        frame = getattr(self, name)()
        frame["measure"] = frame["measure"].map(title_of)
        if name == "ranks":
            algorithms = frame.drop(columns=["measure", *STATISTICS])
            best = algorithms.eq(algorithms.min(axis=1), axis=0)
            return table_of(frame, best, NOTES[name], names_kept=[*algorithms])
        if name == "agreement":
            largest = frame.groupby("corpus")["correlation"].transform("max")
            return table_of(frame, frame[["correlation"]].eq(largest, axis=0), NOTES[name])
        return table_of(frame)

    def _summary_table(self, marks: Marks) -> PaperTable:
        measures = self.shown
        rows: list[list[str]] = []
        bold: set[tuple[int, int]] = set()
        for (corpus, algorithm), group in self.summary().groupby(["corpus", "algorithm"], sort=False):
            intervals = zip(group["measure"], group["mean"], group["low"], group["high"], strict=True)
            cells = {name: mean_and_interval(*interval) for name, *interval in intervals}
            marked = [marks.get((corpus, algorithm, name), "") for name in measures]
            bold |= {(len(rows), column) for column, mark in enumerate(marked, 2) if mark == BEST}
            stars = [mark.replace(BEST, "") for mark in marked]
            values = [cells.get(name, "-") + star for name, star in zip(measures, stars, strict=True)]
            rows.append([str(corpus), str(algorithm), *values])
        note = NOTES["summary"] + (NOTES[STAR] if STAR in marks.values() else "")
        return PaperTable(["corpus", "algorithm", *map(title_of, measures)], rows, 2, bold, note)

    def marks(self) -> Marks:
        """Return which means are best, and which ("*") differ from the first of the best by the tests over seeds."""
        marks: Marks = {}
        tests, summary = self.tests(), self.summary()
        of_algorithms = summary[(summary["algorithm"] != self.ceiling) & summary["mean"].notna()]
        for (corpus, name), group in of_algorithms.groupby(["corpus", "measure"], sort=False):
            measure = str(name)
            if len(group) < 2 or (measure not in COSTS and measure_of(measure).direction == "none"):
                continue
            best = group["mean"].max() if higher_is_better(measure) else group["mean"].min()
            names = group.loc[group["mean"] == best, "algorithm"].tolist()
            of_measure = tests[(tests["corpus"] == corpus) & (tests["measure"] == measure)]
            for pair in of_measure.loc[of_measure["p_holm"] < SIGNIFICANT, ["first", "second"]].to_numpy().tolist():
                marks |= {(corpus, name, measure): STAR for name in pair if names[0] in pair}
            marks |= {(corpus, name, measure): BEST for name in names}
        return marks

    def agreement(self, *, reference: str = "adjusted_rand") -> pd.DataFrame:
        """Return how each measure without truth ranks the runs of a corpus beside an external one.

        One row per corpus and measure: Spearman's correlation over all runs of the corpus, turned so that positive
        means that what the measure calls better the reference calls better; p value; n runs that differ. Fewer than
        five of these give no correlation (nan).
        """
        rows = []
        for corpus, group in self.runs.groupby("corpus", sort=False):
            wide = group.pivot(index=["algorithm", "seed"], columns="measure", values="value")
            column = column_of(reference, wide)
            if column is None:
                continue
            for name in wide:
                record = None if name in COSTS else measure_of(str(name))
                if record is None or record.family == "external" or record.direction == "none":
                    continue
                rows.append((corpus, name, *_correlation(wide[name], wide[column], record.direction == "higher")))
        return pd.DataFrame(rows, columns=["corpus", "measure", "correlation", "p", "n"])


def measure_of(name: str) -> Measure:
    """Return the measure of a compared value, which may be that of some clusters, as in ``coherence:largest``."""
    return get_measure(name.partition(":")[0])


def column_of(measure: str, columns: Iterable[object]) -> str | None:
    """Return the column that has a measure: under its name, or under an alias of the same values; None if none has."""
    records = {name: get_measure(name) for name in map(str, columns) if name not in COSTS and ":" not in name}
    same = [name for name, record in records.items() if record.function is get_measure(measure).function]
    return measure if measure in same else next((name for name in same if records[name].alias_of == measure), None)


def asked_measures(measures: object) -> tuple[Any, tuple[str, ...]]:
    """Return the measures that `evaluate` is to compute, and the values that were asked for by name (of all: none).

    Raises InputError if a measure is not known, or a name asks for clusters that the measure has no values of.
    """
    if measures is None or measures == "all":
        return measures, ()
    names: Any = [measures] if isinstance(measures, str) else measures
    pairs = [str(name).partition(":")[::2] for name in names]
    records = get_measures([name for name, _ in pairs])
    for record, (_, clusters) in zip(records, pairs, strict=True):
        if clusters and clusters not in CLUSTERS:
            raise InputError(
                f"{record.name}:{clusters} names no clusters", remedy=f"write one of {', '.join(CLUSTERS)}"
            )
        # those of gdi are diameters, which say nothing of better or worse
        if clusters and ("per_cluster" not in record.parts or record.name.startswith("gdi")):
            raise InputError(f"{record.name} has no value for each cluster", remedy="name the measure alone")
    parameters = [names[name] if isinstance(names, Mapping) else {} for name in names]
    shown = [
        f"{record.name}:{clusters}" if clusters else record.name
        for record, (_, clusters) in zip(records, pairs, strict=True)
    ]
    computed = {record.name: arguments for record, arguments in zip(records, parameters, strict=True)}
    return computed, tuple(dict.fromkeys(shown))


def compared_value(evaluation: Evaluation, name: str, sizes: npt.NDArray[np.int64]) -> float:
    """Return a value that was asked for: that of a measure, or that of some of its clusters, which have `sizes`.

    Of clusters of the same size the first counts; those without a value are left out of least, largest value and mean.
    """
    measure, _, clusters = name.partition(":")
    score = evaluation[measure]
    if not clusters or score.per_cluster is None:
        return math.nan if clusters else score.value
    values = score.per_cluster
    if clusters in ("largest", "smallest"):
        return float(values[sizes.argmax() if clusters == "largest" else sizes.argmin()])
    known = values[~np.isnan(values)]
    return float(getattr(known, clusters)()) if known.size else math.nan


def higher_is_better(measure: str) -> bool:
    """Return whether a larger value of the measure (or of seconds) is better."""
    return measure not in COSTS and measure_of(measure).direction == "higher"


def cut_to_range(low: float, high: float, measure: str) -> tuple[float, float]:
    """Return an interval without what is outside the range of a measure (or of seconds)."""
    least, highest = (0.0, None) if measure in COSTS else measure_of(measure).bounds
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
        effect, difference = sign * rank_biserial(first_values, two), float(first_values.mean() - two.mean())
        rows.append((first, second, difference, effect, wilcoxon_p(first_values, two), int(is_known.sum())))
    frame = pd.DataFrame(rows, columns=["first", "second", "mean_difference", "effect", "p", "n"])
    frame.insert(5, "p_holm", holm(frame["p"].tolist()))
    return frame


HEADLINE = ("adjusted_rand", "nmi", "silhouette", "cluster_similarity", "seconds")


def headline(runs: pd.DataFrame, asked: Sequence[str] = ()) -> list[str]:
    """Return the measures that are shown, tested and drawn, of those of a table with a column measure.

    They are those that were asked for, else the usual ones; of measures that are none of these, the first are shown.
    Seconds come last.
    """
    there = list(dict.fromkeys(map(str, runs["measure"])))
    quality = [name for name in asked or HEADLINE if name in there and name not in UNITS]
    columns = quality or [name for name in there if name not in UNITS][: len(HEADLINE)]
    return [*columns, *(name for name in UNITS if name in there)]
