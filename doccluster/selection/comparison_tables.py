"""A comparison as a table for people: which measures are shown, how they are called, and a mean with its interval."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd

from doccluster.base.table_markup import html_table, latex_escaped, latex_table

HEADLINE = ("adjusted_rand", "nmi", "silhouette", "coherence", "seconds")
UNITS = {"seconds": "s"}


def headline(runs: pd.DataFrame) -> list[str]:
    """Return the measures that are shown, tested and drawn, of those of a table with a column measure.

    Of measures that are none of the usual ones, the first are shown, before seconds.
    """
    there = list(dict.fromkeys(map(str, runs["measure"])))
    quality = [name for name in HEADLINE if name in there and name not in UNITS]
    own = quality or [name for name in there if name not in UNITS][: len(HEADLINE)]
    return [*own, *(name for name in UNITS if name in there)]


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


def html_summary(summary: pd.DataFrame, measures: Sequence[str]) -> str:
    """Return the same table as a piece of HTML for notebooks."""
    columns = ["corpus", "algorithm", *map(title_of, measures)]
    rows = [[*names, *cells] for names, cells in _rows(summary, measures)]
    return html_table(columns, rows, caption="mean over seeds, with its 95 % interval")


def _rows(
    summary: pd.DataFrame, measures: Sequence[str], *, plus_minus: str = "±"
) -> list[tuple[list[str], list[str]]]:
    rows = []
    for (corpus, algorithm), group in summary.groupby(["corpus", "algorithm"], sort=False):
        own = group.set_index("measure")
        rows.append(([str(corpus), str(algorithm)], [_cell(own, name, plus_minus) for name in measures]))
    return rows


def _cell(own: pd.DataFrame, measure: str, plus_minus: str) -> str:
    if measure not in own.index:
        return "-"
    mean, low, high = (float(own[column].to_dict()[measure]) for column in ("mean", "low", "high"))
    return mean_and_interval(mean, low, high, plus_minus=plus_minus)
