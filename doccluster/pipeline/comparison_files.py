"""A comparison in a folder: the runs and their summary as csv, the summary as LaTeX, and a figure of each measure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from doccluster.artifacts.new_folder import writing
from doccluster.selection import Comparison
from doccluster.selection.comparison_tables import headline, latex_summary, title_of

FIGURES = ("svg", "pdf", "png")


def write_comparison(found: Comparison, folder: Path) -> None:
    """Write runs.csv, summary.csv, summary.tex and a figure of each headline measure into a folder, made if missing."""
    summary, measures = found.summary(), headline(found.runs)
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        found.runs.to_csv(folder / "runs.csv", index=False, lineterminator="\n")
        summary.to_csv(folder / "summary.csv", index=False, lineterminator="\n")
        (folder / "summary.tex").write_text(latex_summary(summary, measures), encoding="utf-8")
        for measure in measures:
            _draw_bars(summary[summary["measure"] == measure], measure, folder)


def _draw_bars(own: Any, measure: str, folder: Path) -> None:
    """Draw the means of a measure as bars with their intervals, and write the figure in every format."""
    from doccluster.report.charts import bar_chart, save_figure

    corpora = list(dict.fromkeys(own["corpus"]))
    series, spread = {}, {}
    for algorithm, group in own.groupby("algorithm", sort=False):
        rows = group.set_index("corpus").reindex(corpora)
        series[str(algorithm)], spread[str(algorithm)] = rows["mean"].to_numpy(), _half_lengths(rows)
    figure = bar_chart(corpora, series, spread=spread, title=title_of(measure))
    for ending in FIGURES:
        save_figure(figure, folder / f"{measure}.{ending}")


def _half_lengths(rows: Any) -> Any:
    """Return how far intervals reach below and above the means, shape (2, n); 0 where there is none."""
    return np.nan_to_num(np.stack([rows["mean"] - rows["low"], rows["high"] - rows["mean"]]).astype(float))
