"""A comparison in a folder: tables as csv and LaTeX, figures as svg, pdf and png."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from doccluster.artifacts import writing
from doccluster.errors import InputError
from doccluster.selection import Comparison
from doccluster.selection.comparison_result import NO_SEED
from doccluster.selection.significance import mean_with_interval

HEADLINE = ("adjusted_rand", "nmi", "silhouette", "coherence", "seconds", "peak_memory")
FIGURES = ("svg", "pdf", "png")
UNITS = {"seconds": ("s", 1.0), "peak_memory": ("MiB", 2.0**-20)}  # as shown; the csv tables have seconds and bytes


def headline(runs: pd.DataFrame) -> list[str]:
    """Return the measures that are shown, tested and drawn, of those of a table with a column measure.

    Of measures that are none of the usual ones, the first are shown, before seconds and memory.
    """
    there = list(dict.fromkeys(map(str, runs["measure"])))
    quality = [name for name in HEADLINE if name in there and name not in UNITS]
    own = quality or [name for name in there if name not in UNITS][: len(HEADLINE)]
    return [*own, *(name for name in UNITS if name in there)]


def title_of(measure: str) -> str:
    """Return what a measure is called in tables and figures, with its unit."""
    name = measure.replace("_", " ")
    return f"{name} ({UNITS[measure][0]})" if measure in UNITS else name


def mean_and_interval(mean: float, low: float, high: float, measure: str, *, plus_minus: str = "±") -> str:
    """Return a mean with its interval: with plus and minus, or both ends where the range of the measure cuts one off.

    >>> mean_and_interval(0.9, 0.85, 0.95, "nmi"), mean_and_interval(0.98, 0.9, 1.0, "nmi")
    ('0.900 ± 0.050', '0.980 [0.900, 1.000]')
    """
    scale = UNITS.get(measure, ("", 1.0))[1]
    mean, low, high = mean * scale, low * scale, high * scale
    digits = 1 if measure == "peak_memory" else 3
    if math.isnan(mean):
        return "-"
    if math.isnan(low):
        return f"{mean:.{digits}f}"
    if math.isclose(high - mean, mean - low, rel_tol=1e-6, abs_tol=1e-12):
        return f"{mean:.{digits}f} {plus_minus} {high - mean:.{digits}f}"
    return f"{mean:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"


def write_comparison(found: Comparison, folder: Path, *, knobs: Sequence[str] = ()) -> None:
    """Write tables, LaTeX and figures of a comparison into a folder (made if it is not there).

    With `knobs`, columns of `Comparison.corpora`, each headline measure is also drawn over each knob.
    """
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        _write_tables(found, folder)
        _draw_bars(found, folder)
        _draw_agreement(found, folder)
        for knob in knobs:
            _draw_over(found, knob, folder)


def _write_tables(found: Comparison, folder: Path) -> None:
    summary, measures = found.summary(), headline(found.runs)
    tables = {
        "corpora": found.corpora,
        "runs": found.runs,
        "failures": found.failures,
        "summary": summary,
        "tests": found.tests(measures),
        "agreement": found.agreement(),
        "ranks": _ranks(found, measures),
    }
    for name, table in tables.items():
        table.to_csv(folder / f"{name}.csv", index=False, lineterminator="\n")
    (folder / "summary.tex").write_text(latex(summary, measures), encoding="utf-8")


def _ranks(found: Comparison, measures: Sequence[str]) -> pd.DataFrame:
    """Return mean ranks over corpora with Nemenyi's critical difference; no row where a test cannot be made."""
    rows = []
    for measure in measures:
        try:
            p, ranks, critical = found.ranks(measure)
        except InputError:  # too few corpora or algorithms, or a value is missing
            continue
        rows += [(measure, name, rank, p, critical) for name, rank in ranks.items()]
    return pd.DataFrame(rows, columns=["measure", "algorithm", "mean_rank", "friedman_p", "critical_difference"])


def latex(summary: pd.DataFrame, measures: Sequence[str]) -> str:
    """Return a LaTeX table (package booktabs): a line per corpus and algorithm, mean and interval of each measure."""
    lines = [
        r"\begin{tabular}{ll" + "r" * len(measures) + "}",
        r"\toprule",
        " & ".join(["corpus", "algorithm", *map(title_of, measures)]) + r" \\",
        r"\midrule",
    ]
    for (corpus, algorithm), group in summary.groupby(["corpus", "algorithm"], sort=False):
        own = group.set_index("measure")
        cells = [_cell(own, name) for name in measures]
        lines.append(" & ".join([_escaped(str(corpus)), _escaped(str(algorithm)), *cells]) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def _cell(own: pd.DataFrame, measure: str) -> str:
    if measure not in own.index:
        return "-"
    mean, low, high = (float(own[column].to_dict()[measure]) for column in ("mean", "low", "high"))
    return mean_and_interval(mean, low, high, measure, plus_minus=r"$\pm$")


def _escaped(text: str) -> str:
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return "".join(special.get(sign, f"\\{sign}" if sign in "_&%$#{}" else sign) for sign in text)


def _draw_bars(found: Comparison, folder: Path) -> None:
    """Draw the means of each headline measure as bars, with their intervals."""
    from doccluster.report.charts import bar_chart

    summary = found.summary()
    for measure in headline(found.runs):
        own = summary[summary["measure"] == measure]
        corpora, scale = list(dict.fromkeys(own["corpus"])), UNITS.get(measure, ("", 1.0))[1]
        series, spread = {}, {}
        for algorithm, group in own.groupby("algorithm", sort=False):
            rows = group.set_index("corpus").reindex(corpora)
            series[str(algorithm)] = rows["mean"].to_numpy() * scale
            spread[str(algorithm)] = _half_lengths(rows) * scale
        _save(bar_chart, folder, measure, corpora, series, spread=spread, title=title_of(measure))


def _half_lengths(rows: pd.DataFrame) -> Any:
    """Return how far intervals reach below and above the means, shape (2, n); 0 where there is none."""
    return np.nan_to_num(np.stack([rows["mean"] - rows["low"], rows["high"] - rows["mean"]]).astype(float))


def _draw_agreement(found: Comparison, folder: Path) -> None:
    from doccluster.report.charts import heat_map

    agreement = found.agreement().dropna(subset="correlation")
    if agreement.empty:
        return
    table = agreement.pivot(index="measure", columns="corpus", values="correlation")
    _save(
        heat_map,
        folder,
        "agreement",
        table.to_numpy(dtype=float),
        row_names=[str(name) for name in table.index],
        column_names=[str(name) for name in table.columns],
        title="rank correlation with adjusted Rand",
        value_range=(-1, 1),
    )


def _draw_over(found: Comparison, knob: str, folder: Path) -> None:
    """Draw each headline measure over the values of one knob: means over the others, with t intervals over seeds."""
    from doccluster.report.charts import line_chart

    of_corpus = found.corpora.set_index("corpus")[knob]
    if not pd.api.types.is_numeric_dtype(of_corpus) or of_corpus.nunique() < 2:
        return
    runs = found.runs[found.runs["seed"] != NO_SEED]
    runs = runs.assign(knob=runs["corpus"].map(of_corpus))
    places = sorted(of_corpus.unique())
    for measure in headline(found.runs):
        own, scale = runs[runs["measure"] == measure], UNITS.get(measure, ("", 1.0))[1]
        per_seed = own.groupby(["algorithm", "knob", "seed"], sort=False)["value"].mean().reset_index()
        series, spread = {}, {}
        for algorithm, group in per_seed.groupby("algorithm", sort=False):
            at = [_interval(group[group["knob"] == place]["value"], measure) for place in places]
            means, below, above = (np.array(part) * scale for part in zip(*at, strict=True))
            series[str(algorithm)], spread[str(algorithm)] = means, np.stack([below, above])
        names = {"x_label": knob, "y_label": title_of(measure), "title": f"{title_of(measure)} over {knob}"}
        _save(line_chart, folder, f"{measure}-over-{knob}", places, series, spread=spread, **names)


def _interval(values: pd.Series, measure: str) -> tuple[float, float, float]:
    """Return the mean, and how far its interval reaches below and above it within the range of the measure."""
    from doccluster.selection.comparison_result import cut_to_range

    mean, low, high = mean_with_interval(values)
    low, high = cut_to_range(low, high, measure)
    return mean, float(np.nan_to_num(mean - low)), float(np.nan_to_num(high - mean))


def _save(draw: Callable[..., Any], folder: Path, name: str, *data: Any, **options: Any) -> None:
    """Draw one figure, and write it in every format."""
    from doccluster.report.charts import save_figure

    figure = draw(*data, **options)
    for ending in FIGURES:
        save_figure(figure, folder / f"{name}.{ending}")
