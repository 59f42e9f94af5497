"""The report's figures as parts of the page: vector graphics whose colours follow the page, light or dark."""

from __future__ import annotations

import html
import re

import numpy as np
from markupsafe import Markup
from matplotlib.figure import Figure

from doccluster.record import Run
from doccluster.report.canvas import ACCENT, INK, MUTED, RULE, WARNING, figure_bytes
from doccluster.report.charts import bar_chart, heat_map, line_chart, silhouette_plot
from doccluster.report.quality import PairTable
from doccluster.report.summary import Summary

MAX_BARS = 300
MAX_OUTLINE_POINTS = 2000
MAX_SILHOUETTES = 100  # clusters in the silhouette plot

_VARIABLES = {INK: "--ink", MUTED: "--muted", RULE: "--rule", ACCENT: "--accent", WARNING: "--warning"}
_HEAD = re.compile(r"^.*?<svg[^>]*?viewBox=\"([^\"]+)\"[^>]*>", re.DOTALL)
_METADATA = re.compile(r"<metadata>.*?</metadata>|<style type=\"text/css\">.*?</style>", re.DOTALL)
_FONT = re.compile(r"font: (?:(\d+|bold) )?([\d.]+px) [^;\"]*")
_REFERENCE = re.compile(r'( id="|href="#|url\(#)')


def figures_of(run: Run, summary: Summary) -> dict[str, Markup]:
    """Return the figures of the quality tab that this run has: sizes, silhouette, adherence, separation."""
    figures = {"sizes": _sizes(run)}
    silhouette = _silhouette(run)
    if silhouette is not None:
        figures["silhouette"] = silhouette
    for name, table in (("adherence", summary.adherence), ("separation", summary.separation)):
        if table is not None and not table.shows_numbers:
            figures[name] = _pairs(name, table)
    return figures


def _sizes(run: Run) -> Markup:
    sizes = run.shown_sizes[: run.n_clusters]
    described = f"Sizes of {sizes.size} clusters, from {int(sizes.max())} to {int(sizes.min())} documents"
    if sizes.size > MAX_BARS:
        ranks = np.arange(1, sizes.size + 1)
        ordered = np.sort(sizes)[::-1]
        figure = line_chart(
            ranks, {"size": ordered}, x_label="rank of the cluster", y_label="documents", markers=False, height=3.0
        )
    else:
        names = [str(number) for number in range(sizes.size)]
        figure = bar_chart(names, sizes, x_label="cluster", y_label="documents", height=3.0)
    return inline_svg(figure, "sizes", described)


def _silhouette(run: Run) -> Markup | None:
    score = next((s for s in run.evaluation.scores if s.name == "silhouette"), None)
    if score is None or score.per_document is None or run.n_clusters < 2 or np.isnan(score.per_document).all():
        return None
    shown = run.partition.labels < MAX_SILHOUETTES
    figure = silhouette_plot(
        score.per_document[shown], run.partition.labels[shown], max_points=MAX_OUTLINE_POINTS, mean=score.value
    )
    return inline_svg(
        figure, "silhouette", f"Silhouettes of the documents, cluster by cluster; their mean is {score.value:.2f}"
    )


def _pairs(name: str, table: PairTable) -> Markup:
    names = [str(number) for number in table.numbers]
    figure = heat_map(
        table.values,
        row_names=names,
        column_names=names,
        x_label="cluster",
        y_label="cluster",
        scale_label=name,
        width=7.2,
        height=6.2,
    )
    return inline_svg(figure, name, f"{name.capitalize()} between {len(table.numbers)} clusters")


def inline_svg(figure: Figure, name: str, description: str) -> Markup:
    """Return a figure as an svg element to stand in a page.

    Its size is that of the room it gets, its font that of the page, its house colours the page's variables; the ids
    in it begin with `name`, since a page may hold several figures.
    """
    text = figure_bytes(figure, "svg").decode("utf-8")
    box = _HEAD.match(text)
    assert box is not None  # matplotlib writes one
    body = _METADATA.sub("", text[box.end() :])
    body = _REFERENCE.sub(rf"\g<1>{name}-", body)
    body = _FONT.sub(lambda font: f"font-size: {font[2]}" + ("; font-weight: 700" if font[1] else ""), body)
    for colour, variable in _VARIABLES.items():
        body = body.replace(colour, f"var({variable})")
    body = body.replace("#ffffff", "none")
    head = f'<svg viewBox="{box[1]}" role="img" aria-label="{html.escape(description)}" class="figure">'
    return Markup(head + re.sub(r">\s+<", "><", body))
