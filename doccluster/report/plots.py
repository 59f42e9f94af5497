"""Figures for papers: what a run, a choice of k or a comparison looks like, drawn into axes of yours.

Each function returns the matplotlib figure; with ``ax`` it draws into that, with ``path`` it also writes a file (svg,
pdf or png).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from doccluster.base.parameter_fields import at_the_door
from doccluster.base.text_table import shortened
from doccluster.base.validation import check_matrix
from doccluster.errors import InputError
from doccluster.report.canvas import (
    Path,
    category_style,
    diverging_colormap,
    house_style,
    label_axes,
    new_axes,
    plain,
    sequential_colormap,
    written,
)
from doccluster.report.drawn_map import DARK, LIGHT, DrawnMap, draw_map, groups_of
from doccluster.report.drawn_time import over_time, timeline
from doccluster.report.figures import STABILITY_LABEL, STABILITY_TITLE, joins_on, silhouette_outlines
from doccluster.report.plane import plane_of
from doccluster.report.quality import confusion as confusion_of
from doccluster.report.svg import ACCENT, INK, MUTED, WARNING, Range, tick_step
from doccluster.results.record import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from doccluster.selection import Comparison, Recommendation

WIDEST_NAME = 50  # characters
MAX_LEAVES = 300  # of a tree
MAX_EDGES = 200_000  # of a graph, beyond which it is black
__all__ = [
    "agreement",
    "cluster_graph",
    "confusion",
    "critical_difference",
    "dendrogram",
    "document_map",
    "k_curve",
    "over_time",
    "silhouette_plot",
    "silhouettes",
    "timeline",
]


@house_style()
@at_the_door
def document_map(
    run: Run,
    *,
    color_by: str = "cluster",
    is_dark: bool = False,
    ax: Axes | None = None,
    path: Path | None = None,
) -> Figure:
    """Draw the documents in the plane (latent semantic analysis, then t-SNE), with the names of clusters around them.

    The largest clusters have a name, as many as there is room for; a line leads to the middle of each. Where there are
    sections, their names stand on the map, and each has one hue, of which its clusters are shades.

    Parameters
    ----------
    color_by : str
        "cluster", a column, or "year", "month" or "day"; documents without a value, or with several classes, are grey.
        Numbers with more than ten values are cut into quarters.
    is_dark : bool
        Whether the figure is for a dark ground.

    Raises
    ------
    InputError
        If there is no such column, its values are all the same or all different, or documents are fewer than four.
    """
    ground = DARK if is_dark else LIGHT
    groups = None if color_by == "cluster" else groups_of(run, color_by)
    places = plane_of(run).places
    figure, axes = new_axes(12.8, 8.0, ax)
    if ax is None:
        figure.set_facecolor(ground.paper)
    draw_map(DrawnMap.on(figure, axes, places, ground), run, groups, has_caption=ax is None)
    return written(figure, path)


@house_style()
@at_the_door
def dendrogram(run: Run, *, ax: Axes | None = None, path: Path | None = None) -> Figure:
    """Draw how clusters join into their sections (or topics), and these with one another.

    Lengths are what the criterion I2 of the tf-idf rows loses by each join.

    Raises
    ------
    InputError
        If the run has a single cluster, or more than 300.
    """
    from scipy.cluster import hierarchy

    k = run.n_clusters
    if not 1 < k <= MAX_LEAVES:
        raise InputError(f"a tree of {k:,} clusters cannot be drawn", remedy=f"give a run of 2 to {MAX_LEAVES}")
    shown = run.levels[len(run.around.coarser)]
    joins = joins_on(run, shown)
    figure, axes = new_axes(7.2, 1.0 + 0.16 * k, ax)
    names = [plain(shortened(cluster.label, WIDEST_NAME)) for cluster in run.clusters]
    how: dict[str, Any] = {"color_threshold": 0, "above_threshold_color": ACCENT, "leaf_font_size": 7}
    hierarchy.dendrogram(joins, orientation="left", labels=names, ax=axes, **how)
    label_axes(axes, title="", x_label="loss of the criterion I2", y_label="")
    return written(figure, path)


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


@house_style()
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
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

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
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    # matplotlib's own labels of a logarithmic axis are formulas, and text is never read as a formula here
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.grid(axis="y")
    axes.legend(loc="best")
    label_axes(axes, title=STABILITY_TITLE, x_label="number of clusters k", y_label=STABILITY_LABEL)
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


@house_style()
@at_the_door
def critical_difference(
    comparison: Comparison, *, measure: str = "adjusted_rand", ax: Axes | None = None, path: Path | None = None
) -> Figure:
    """Draw the mean ranks of algorithms over corpora; thick bars join those that Nemenyi's test does not tell apart.

    Demšar (2006), figure 1; 1 is best.

    Raises
    ------
    InputError
        If the comparison has not two corpora and two algorithms with that measure.
    """
    table = comparison.ranks([measure])
    if table.empty:
        raise InputError(f"there are no ranks of {measure} to draw", remedy="compare two algorithms on two corpora")
    difference = float(table["critical_difference"][0])
    means = table.iloc[0, [*table.columns].index("critical_difference") + 1 :].sort_values()  # of the algorithms
    k, n_left = len(means), (len(means) + 1) // 2
    # from each rank to the last that is nearer than the difference, where that is not part of a wider group
    ends = [means[means - rank < difference].max() for rank in means]
    spans = zip(means, ends, [0.0, *ends], strict=False)
    groups = [(low, high) for low, high, before in spans if high > before and means.between(low, high).sum() > 1]
    figure, axes = new_axes(7.2, 1.2 + 0.1 * len(groups) + 0.22 * n_left, ax)
    beside: dict[str, Any] = {"textcoords": "offset points", "va": "center", "fontsize": 8}
    end = min(1 + difference, k)
    axes.plot([1, end], [0.9, 0.9], color=INK, marker="|", linewidth=1)
    axes.annotate(f"critical difference {difference:.2f}", (end, 0.9), (5, 0), **beside)
    for place, (low, high) in enumerate(groups, 1):
        axes.plot([low - 0.03, high + 0.03], [-0.4 * place] * 2, color=INK, linewidth=3, solid_capstyle="butt")
    for place, (name, rank) in enumerate(means.items()):
        # the better half stands on the left, the best at the top, and so does the worst on the right
        is_left = place < n_left
        y, edge = -0.4 * len(groups) - 0.8 * (1 + (place if is_left else k - 1 - place)), 0.95 if is_left else k + 0.05
        axes.plot([rank, rank, edge], [0, y, y], color=MUTED, linewidth=0.8)
        axes.annotate(plain(name), (edge, y), (-4 if is_left else 4, 0), ha="right" if is_left else "left", **beside)
    axes.set_xticks(range(1, k + 1))
    axes.spines[["left", "right", "bottom"]].set_visible(False)
    axes.spines["top"].set(visible=True, position=("data", 0))
    axes.xaxis.tick_top()
    axes.set_yticks([])
    label_axes(axes, title=f"{measure.replace('_', ' ')}: mean ranks", x_label="", y_label="")
    return written(figure, path)


LETTER = 0.06  # inches that a letter of a name takes


@house_style()
def heat_map(
    table: npt.ArrayLike,
    *,
    row_names: Sequence[str] | None = None,
    column_names: Sequence[str] | None = None,
    title: str = "",
    x_label: str = "",
    y_label: str = "",
    scale_label: str = "",
    value_range: Range = (None, None),
    digits: int = 2,
    every_name: bool = False,
    ax: Axes | None = None,
    path: Path | None = None,
) -> Figure:
    """Return a figure of a table whose cells are shaded by their values; small tables show the numbers too.

    With `every_name` no name of a row is left out, however many there are, and long names have the room they need.
    Raises InputError if the table does not have two dimensions.
    """
    values = np.asarray(table, dtype=np.float64)
    if values.ndim != 2 or values.size == 0:
        raise InputError(f"heat_map takes a table with rows and columns, received shape {values.shape}.")
    n_rows, n_columns = values.shape
    # a cell is never smaller than its number, and a large table never larger than a page, unless its names need more
    wide, high = (max(map(len, names or [""])) * LETTER if every_name else 0.0 for names in (row_names, column_names))
    figure, axes = new_axes(
        float(np.clip(0.46 * n_columns + 2.4, 3.6, 8.6)) + wide,
        float(np.clip(0.3 * n_rows + 1.4, 2.2, max(7.6, 0.19 * n_rows * every_name))) + high,
        ax,
    )
    finite = values[np.isfinite(values)]
    low = float(finite.min()) if value_range[0] is None and finite.size else value_range[0] or 0.0
    high = float(finite.max()) if value_range[1] is None and finite.size else value_range[1] or 0.0
    high = max(abs(low), abs(high)) if low < 0 else high if high > low else low + 1.0
    low = -high if low < 0 else low
    colours = diverging_colormap() if low < 0 else sequential_colormap()
    # one pixel per cell: a 1,000 x 1,000 table stays small in a vector figure
    image = axes.imshow(values, cmap=colours, vmin=low, vmax=high, aspect="auto", interpolation="none")
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    _name_cells(axes, row_names, n_rows, max_names=n_rows if every_name else 40, vertical=True)
    _name_cells(axes, column_names, n_columns, max_names=20, vertical=False)
    if n_rows <= 20 and n_columns <= 16:
        for (row, column), value in np.ndenumerate(values):
            if not np.isnan(value):
                depth = abs(value) / high if low < 0 else (value - low) / (high - low)
                colour = "white" if depth > 0.55 else INK
                axes.text(column, row, f"{value:.{digits}f}", ha="center", va="center", fontsize=8, color=colour)
    bar = figure.colorbar(image, ax=axes, fraction=0.035, pad=0.02, aspect=40)
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0)
    bar.set_label(plain(scale_label))
    label_axes(axes, title=title, x_label=x_label, y_label=y_label)
    return written(figure, path)


def _name_cells(axes: Axes, names: Sequence[str] | None, n: int, *, max_names: int, vertical: bool) -> None:
    shown = np.arange(0, n, tick_step(n, max_names))
    texts = [plain(names[index] if names is not None else index) for index in shown.tolist()]
    if vertical:
        axes.set_yticks(shown, texts)
    else:
        long = max((len(name) for name in texts), default=0) > 4
        axes.set_xticks(shown, texts, rotation=40 if long else 0, ha="right" if long else "center")


@house_style()
def silhouette_plot(
    values: npt.ArrayLike,
    labels: npt.ArrayLike,
    *,
    mean: float,
    max_points: int = 4000,
    ax: Axes | None = None,
    path: Path | None = None,
) -> Figure:
    """Return the classical silhouette plot: the documents of each cluster, widest first, as one outline per cluster.

    Silhouettes that are nan are left out. About `max_points` documents are drawn, evenly spaced, so that outlines keep
    their shape; the dashed line is at `mean`.
    """
    clusters, outlines, middles, ends = silhouette_outlines(values, labels, max_points)
    figure, axes = new_axes(7.2, float(np.clip(0.3 * clusters.size + 1.6, 2.6, 9.0)), ax)
    for widths, places in outlines:
        axes.fill_betweenx(places, 0, np.maximum(widths, 0), color=ACCENT, linewidth=0)
        if widths.size and widths[-1] < 0:
            axes.fill_betweenx(places, np.minimum(widths, 0), 0, color=WARNING, linewidth=0)
    axes.axvline(mean, color=INK, linewidth=1, linestyle=(0, (2, 3)))
    axes.axvline(0, color=MUTED, linewidth=0.8)
    axes.set_ylim(ends)  # the first cluster at the top
    step = tick_step(clusters.size)
    axes.set_yticks(middles[::step], [f"{cluster:g}" for cluster in clusters[::step]])
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x")
    label_axes(axes, title="", x_label="silhouette", y_label="cluster")
    return written(figure, path)


@house_style()
@at_the_door
def cluster_graph(
    points: npt.ArrayLike,
    labels: npt.ArrayLike,
    *,
    with_edges: bool = True,
    title: str = "",
    ax: Axes | None = None,
    path: Path | None = None,
) -> Figure:
    """Return a figure of a clustering as a graph: a line joins any two points of one cluster.

    Lines between clusters are left out, as in figure 17.2 of Zaki & Meira, Data Mining and Analysis;
    `doccluster.measures.cluster_distances` has the sums of their lengths, the matrix W.

    Parameters
    ----------
    points : array of shape (n_documents, 2)
    labels : array of shape (n_documents,)
        Names or numbers; each has a colour and a sign of its own.
    with_edges : bool
        Without lines this is figure 17.1.

    Raises
    ------
    InputError
        If the points are not in a plane, there is not one label for each, or a figure would have over 200,000 lines.
    """
    places, names = np.asarray(check_matrix(np.asarray(points), name="points"), np.float64), np.asarray(labels)
    if places.shape[1] != 2 or names.shape != places.shape[:1]:
        raise InputError(
            f"points of shape {places.shape} and labels of shape {names.shape} are no clustering in a plane",
            remedy="give two numbers and a label for each point",
        )
    clusters = [(name, places[names == name]) for name in dict.fromkeys(names.tolist())]
    n_edges = sum(len(members) * (len(members) - 1) // 2 for _, members in clusters) if with_edges else 0
    if n_edges > MAX_EDGES:
        raise InputError(f"{n_edges:,} lines would be one black area", remedy="draw fewer points, or no edges")
    figure, axes = new_axes(6.0, 4.8, ax)
    for number, (name, members) in enumerate(clusters):
        style = category_style(number)
        if with_edges:
            ends = members[np.array(np.triu_indices(len(members), 1)).T]  # (n_edges, 2, 2)
            # one line with gaps is drawn at once
            lines = np.insert(ends, 2, np.nan, axis=1).reshape(-1, 2)
            axes.plot(lines[:, 0], lines[:, 1], color=style["color"], linewidth=0.3, alpha=0.3)
        axes.scatter(
            members[:, 0],
            members[:, 1],
            s=26,
            color=style["color"],
            marker=style["marker"],
            alpha=0.85,
            label=plain(name),
        )
    axes.legend(loc="best")
    label_axes(axes, title=title, x_label="", y_label="")
    return written(figure, path)
