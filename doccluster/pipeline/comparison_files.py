"""A comparison in a folder: tables as csv and LaTeX, figures as svg, pdf and png."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from doccluster.artifacts import writing
from doccluster.errors import InputError
from doccluster.selection import Comparison
from doccluster.selection.comparison_result import NO_SEED
from doccluster.selection.comparison_tables import UNITS, headline, latex_summary, title_of
from doccluster.selection.significance import mean_with_interval

FIGURES = ("svg", "pdf", "png")


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
    (folder / "summary.tex").write_text(latex_summary(summary, measures), encoding="utf-8")


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
    from doccluster.report.plots import agreement

    if not found.agreement()["correlation"].isna().all():
        _save(agreement, folder, "agreement", found)


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
