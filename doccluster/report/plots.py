"""Figures for papers: what a run, a choice of k or a comparison looks like, drawn into axes of yours.

Each function returns the matplotlib figure; with ``ax`` it draws into that, with ``path`` it also writes a file (svg,
pdf or png).
"""

from __future__ import annotations

import colorsys
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.ticker import LogLocator

from doccluster.base.parameter_fields import at_the_door
from doccluster.base.text_table import shortened
from doccluster.errors import InputError
from doccluster.overview import overview
from doccluster.record import Run
from doccluster.report.canvas import (
    CATEGORIES,
    INK,
    MUTED,
    RULE,
    Path,
    category_style,
    drawn,
    label_axes,
    new_axes,
    plain,
    set_scales,
    written,
)
from doccluster.report.charts import heat_map, silhouette_plot
from doccluster.report.explore import GRID, grid_places
from doccluster.report.plane import plane_of
from doccluster.report.quality import confusion as confusion_of
from doccluster.report.still_map import SIDE, still_map
from doccluster.report.story_cards import name_of

if TYPE_CHECKING:
    from doccluster.selection import Comparison, Recommendation

WIDEST_NAME = 50  # characters
GOLDEN = 0.381966  # of the circle of colours, from one cluster to the next
MAX_IN_LEGEND = len(CATEGORIES)
__all__ = ["agreement", "confusion", "document_map", "k_curve", "silhouettes"]


@drawn
@at_the_door
def document_map(run: Run, *, color_by: str = "cluster", ax: Axes | None = None, path: Path | None = None) -> Figure:
    """Draw the documents in the plane (latent semantic analysis, then t-SNE), with labels at the central documents.

    Parameters
    ----------
    color_by : str
        "cluster", or a column of classes; documents with none or several classes are grey.

    Raises
    ------
    InputError
        If there is no such column, or there are fewer than four documents.
    """
    plane = plane_of(run)
    places = grid_places(plane) / GRID
    figure, axes = new_axes(7.2, 7.2, ax)
    codes, names = _groups(run, color_by)
    size = float(np.clip(2000 / run.n_documents, 0.8, 14))
    for code in [-1, *range(len(names))]:
        members = codes == code
        if members.any():
            colour = RULE if code < 0 else _colour(code, len(names))
            name = plain(names[code]) if code >= 0 else ""
            axes.scatter(places[members, 0], places[members, 1], s=size, color=colour, linewidths=0, label=name)
    for medoid in still_map(run, plane, {facts.cluster: name_of(facts) for facts in overview(run)}).medoids:
        if medoid.stands:
            axes.annotate(
                plain(medoid.label),
                (medoid.x / SIDE, medoid.y / SIDE),
                xytext=(medoid.stands.x / SIDE, medoid.stands.y / SIDE),
                ha="left" if medoid.stands.anchor == "start" else "right",
                va="center",
                fontsize=7,
                color=INK,
                arrowprops={"arrowstyle": "-", "linewidth": 0.5, "color": INK, "shrinkA": 0, "shrinkB": 0},
                path_effects=[withStroke(linewidth=2, foreground="white")],
            )
    if color_by != "cluster" and len(names) <= MAX_IN_LEGEND:
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), markerscale=max(1.0, 3 / size**0.5))
    axes.set_xlim(-0.02, 1.02)
    axes.set_ylim(1.02, -0.02)
    axes.set_aspect("equal")
    axes.set_axis_off()
    return written(figure, path)


def _groups(run: Run, color_by: str) -> tuple[npt.NDArray[np.int64], list[str]]:
    """Return the group of each document, -1 for none, and the names of the groups."""
    if color_by == "cluster":
        return run.partition.labels.astype(np.int64), [cluster.label for cluster in run.clusters]
    columns = list(run.documents.labels)
    if color_by not in columns:
        have = f"give cluster{''.join(f', {name}' for name in columns)}"
        raise InputError("names no column of classes", argument="color_by", received=color_by, remedy=have)
    rows, labels = run.classes(color_by)
    names, group_of_row = np.unique(np.array(labels, dtype=object).astype(str), return_inverse=True)
    codes = np.full(run.n_documents, -1, dtype=np.int64)
    codes[rows] = group_of_row
    return codes, names.tolist()


def _colour(code: int, n: int) -> str | tuple[float, float, float]:
    if n <= len(CATEGORIES):
        return CATEGORIES[code]
    return colorsys.hls_to_rgb((0.55 + GOLDEN * code) % 1.0, 0.36 + 0.08 * (code % 3), 0.65)


@at_the_door
def silhouettes(run: Run, *, ax: Axes | None = None, path: Path | None = None) -> Figure:
    """Draw the cosine silhouette of each document, cluster by cluster (Rousseeuw 1987).

    Raises
    ------
    InputError
        If the run has no silhouette, as with one cluster.
    """
    score = next((candidate for candidate in run.evaluation.scores if candidate.name == "silhouette"), None)
    if score is None or score.per_document is None or np.isnan(score.per_document).all():
        raise InputError("the run has no silhouette", remedy="cluster into two or more, with silhouette among measures")
    return silhouette_plot(score.per_document, run.partition.labels, mean=score.value, ax=ax, path=path)


@at_the_door
def confusion(run: Run, truth: str | None = None, *, ax: Axes | None = None, path: Path | None = None) -> Figure:
    """Draw how many documents of each class each cluster has; the largest 60 clusters and 24 classes.

    Parameters
    ----------
    truth : str, optional
        The column of classes; by default the first that the run was judged against.

    Raises
    ------
    InputError
        If there is no such column, or no document has exactly one class there.
    """
    columns = list(run.documents.labels)
    if not isinstance(truth, str | None):
        raise InputError("is not the name of a column", argument="truth", remedy="make the run of a table that has it")
    column = truth or next(iter(run.truth or columns), None)
    if column is None or column not in columns:
        have = f"the run has {', '.join(columns)}" if columns else "the run has no classes"
        raise InputError("names no column of classes", argument="truth", received=truth, remedy=have)
    table = confusion_of(run, column)
    if table is None:
        raise InputError(f"no document has exactly one class in {column!r}", argument="truth")
    return heat_map(
        [row.counts for row in table.rows],
        row_names=[shortened(f"{row.number} {row.label}", WIDEST_NAME) for row in table.rows],
        every_name=True,
        column_names=table.classes,
        x_label=table.column,
        scale_label="documents",
        digits=0,
        ax=ax,
        path=path,
    )


@drawn
@at_the_door
def k_curve(choice: Recommendation | Any, *, ax: Axes | None = None, path: Path | None = None) -> Figure:
    """Draw the stability of sections, topics and stories over the number of clusters, and the number chosen.

    Parameters
    ----------
    choice : Recommendation, or the Choice that `doccluster.choose_k` returns

    Raises
    ------
    InputError
        If there is no evidence, as with too few documents.
    """
    advice = getattr(choice, "recommendation", choice)
    if not hasattr(advice, "table"):
        raise InputError(f"is a {type(choice).__name__}", argument="choice", remedy="make one with choose_k(source)")
    table = advice.table
    if table.empty:
        raise InputError("there is no evidence to draw", remedy="give more documents")
    figure, axes = new_axes(7.2, 4.2, ax)
    levels = table[table["k"] > 1].groupby("as", sort=False)
    for number, (name, level) in enumerate(levels):  # from coarse to fine: very fine ones leave documents alone
        axes.plot(level["k"], level["agreement"], label=plain(name), **category_style(number))
    if advice.k is not None:
        axes.axvline(advice.k, color=MUTED, linewidth=1, linestyle=(0, (2, 3)), label=plain(f"chosen: {advice.k:,}"))
    set_scales(axes, log_x=True, log_y=False)
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.grid(axis="y")
    axes.legend(loc="best")
    y_label = "agreement of random parts (adjusted Rand)"
    label_axes(axes, title="Stability of the clusters", x_label="number of clusters k", y_label=y_label)
    return written(figure, path)


@at_the_door
def agreement(
    comparison: Comparison, *, reference: str = "adjusted_rand", ax: Axes | None = None, path: Path | None = None
) -> Figure:
    """Draw how far each measure without truth ranks the runs of a corpus as an external one does (Spearman).

    Raises
    ------
    InputError
        If fewer than five different runs of a corpus have both measures.
    """
    correlations = comparison.agreement(reference=reference).dropna(subset="correlation")
    if correlations.empty:
        raise InputError("no measure has a correlation to draw", remedy="compare five or more runs of a corpus")
    table = correlations.pivot(index="measure", columns="corpus", values="correlation")
    return heat_map(
        table.to_numpy(dtype=float),
        row_names=[str(name) for name in table.index],
        every_name=True,
        column_names=[str(name) for name in table.columns],
        title=f"rank correlation with {reference.replace('_', ' ')}",
        value_range=(-1, 1),
        ax=ax,
        path=path,
    )
