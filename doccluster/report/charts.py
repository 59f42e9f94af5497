"""Every figure of the package is drawn here: for the report, for choosing k, and for the experiments.

Each function takes plain arrays and returns a matplotlib ``Figure``; with ``path=`` it also writes it (svg, png or pdf,
as the suffix says). Nothing goes through pyplot, so that figures may be drawn in any thread and leave no state behind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from doccluster.errors import InputError
from doccluster.report.canvas import (
    ACCENT,
    CATEGORIES,
    INK,
    MUTED,
    WARNING,
    Path,
    Range,
    add_legend,
    category_style,
    diverging_colormap,
    drawn,
    label_axes,
    new_axes,
    plain,
    reach,
    same_length,
    save_figure,
    sequential_colormap,
    set_scales,
    tick_step,
    written,
)

LETTER = 0.06  # inches that a letter of a name takes


@drawn
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
    width: float | None = None,
    height: float | None = None,
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
        width or float(np.clip(0.46 * n_columns + 2.4, 3.6, 8.6)) + wide,
        height or float(np.clip(0.3 * n_rows + 1.4, 2.2, max(7.6, 0.19 * n_rows * every_name))) + high,
        ax,
    )
    low, high = _scale_ends(values, value_range)
    colours = diverging_colormap() if low < 0 else sequential_colormap()
    # one pixel per cell: a 1,000 x 1,000 table stays small in a vector figure
    image = axes.imshow(values, cmap=colours, vmin=low, vmax=high, aspect="auto", interpolation="none")
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    _name_cells(axes, row_names, n_rows, max_names=n_rows if every_name else 40, vertical=True)
    _name_cells(axes, column_names, n_columns, max_names=20, vertical=False)
    if n_rows <= 20 and n_columns <= 16:
        _write_numbers(axes, values, low, high, digits)
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


def _write_numbers(axes: Axes, values: npt.NDArray[np.float64], low: float, high: float, digits: int) -> None:
    for (row, column), value in np.ndenumerate(values):
        if np.isnan(value):
            continue
        depth = abs(value) / max(abs(low), high) if low < 0 else (value - low) / (high - low)
        colour = "white" if depth > 0.55 else INK
        axes.text(column, row, f"{value:.{digits}f}", ha="center", va="center", fontsize=8, color=colour)


def _scale_ends(values: npt.NDArray[np.float64], value_range: Range) -> tuple[float, float]:
    finite = values[np.isfinite(values)]
    low = float(finite.min()) if value_range[0] is None and finite.size else value_range[0] or 0.0
    high = float(finite.max()) if value_range[1] is None and finite.size else value_range[1] or 0.0
    if low < 0:
        reach = max(abs(low), abs(high))
        return -reach, reach
    return low, high if high > low else low + 1.0


def similar_next_to_one_another(distances: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Return the order of rows in which neighbours are as near as a tree of average linkage allows.

    `distances` of shape (k, k): the diagonal is not looked at; an undefined distance (nan) counts as the largest there
    is. At most a few hundred rows: the time grows with the cube of k.

    Notes
    -----
    Bar-Joseph, Gifford & Jaakkola 2001, doi:10.1093/bioinformatics/17.suppl_1.S22. Of the two directions the one that
    begins with the lower number is taken.

    >>> near_and_far = np.array([[0, 0.9, 0.1], [0.9, 0, 0.8], [0.1, 0.8, 0]])
    >>> similar_next_to_one_another(near_and_far).tolist()
    [0, 2, 1]
    """
    k = len(distances)
    if k < 3:
        return np.arange(k, dtype=np.int64)
    off_diagonal = ~np.eye(k, dtype=bool)
    measured = distances[off_diagonal & ~np.isnan(distances)]
    filled = np.where(np.isnan(distances), measured.max(initial=0.0), distances)
    filled = np.maximum((filled + filled.T) / 2, 0.0)  # rounding may leave -1e-17
    np.fill_diagonal(filled, 0.0)
    tree = linkage(squareform(filled, checks=False), method="average", optimal_ordering=True)
    order: npt.NDArray[np.int64] = leaves_list(tree).astype(np.int64)
    return order if order[0] <= order[-1] else order[::-1]


@drawn
def line_chart(
    x: npt.ArrayLike,
    series: Mapping[str, npt.ArrayLike],
    *,
    spread: Mapping[str, npt.ArrayLike] | None = None,
    title: str = "",
    x_label: str = "",
    y_label: str = "",
    log_x: bool = False,
    log_y: bool = False,
    y_range: Range = (None, None),
    chosen: float | None = None,
    markers: bool = True,
    height: float = 4.2,
    ax: Axes | None = None,
    path: Path | None = None,
) -> Figure:
    """Return a figure with one line per series over the same x; undefined values (nan) leave a gap.

    `spread` is half the height of the band around a series, for instance a standard error; two rows say how far it
    reaches below and above. `chosen` is an x to mark. Raises InputError if a series has not as many values as `x`.
    """
    places = np.asarray(x)
    figure, axes = new_axes(7.2, height, ax)
    for index, (name, values) in enumerate(series.items()):
        heights = same_length(name, values, places.size)
        style = category_style(index) if markers else {**category_style(index), "marker": ""}
        axes.plot(places, heights, label=plain(name), **style)
        if spread is not None and name in spread:
            below, above = reach(f"the spread of {name}", spread[name], places.size)
            axes.fill_between(places, heights - below, heights + above, color=style["color"], alpha=0.16, linewidth=0)
    if chosen is not None:
        axes.axvline(chosen, color=MUTED, linewidth=1, linestyle=(0, (2, 3)))
    set_scales(axes, log_x=log_x, log_y=log_y)
    if log_x and places.size <= 12:
        axes.set_xticks(places)
    axes.set_ylim(*y_range)
    axes.grid(axis="y")
    add_legend(axes, len(series))
    label_axes(axes, title=title, x_label=x_label, y_label=y_label)
    return written(figure, path)


@drawn
def bar_chart(
    names: Sequence[str],
    series: Mapping[str, npt.ArrayLike] | npt.ArrayLike,
    *,
    spread: Mapping[str, npt.ArrayLike] | None = None,
    title: str = "",
    x_label: str = "",
    y_label: str = "",
    height: float = 4.2,
    path: Path | None = None,
) -> Figure:
    """Return a figure with one bar per name, or one group of bars per name if there are several series.

    `spread` is as for `line_chart`. Raises InputError if a series has not as many values as there are names.
    """
    groups = dict(series) if isinstance(series, Mapping) else {"": series}
    figure, axes = new_axes(7.2, height)
    places = np.arange(len(names), dtype=float)
    thickness = 0.78 / max(1, len(groups))
    for index, (name, values) in enumerate(groups.items()):
        lengths = same_length(name or "the series", values, len(names))
        error = None
        if spread is not None and name in spread:
            error = reach(f"the spread of {name}", spread[name], len(names))
        at = places + (index - (len(groups) - 1) / 2) * thickness
        colour = CATEGORIES[index % len(CATEGORIES)] if len(groups) > 1 else ACCENT
        line = {"ecolor": INK, "elinewidth": 1, "capsize": 2}
        axes.bar(at, lengths, thickness * 0.94, yerr=error, color=colour, label=plain(name), error_kw=line)
    shown = np.arange(0, len(names), tick_step(len(names)))
    texts = [plain(names[index]) for index in shown.tolist()]
    crowded = sum(len(name) for name in texts) > 70
    axes.set_xticks(places[shown], texts, rotation=40 if crowded else 0, ha="right" if crowded else "center")
    axes.tick_params(axis="x", length=0)
    axes.grid(axis="y")
    add_legend(axes, len(groups))
    label_axes(axes, title=title, x_label=x_label, y_label=y_label)
    return written(figure, path)


__all__ = ["bar_chart", "heat_map", "line_chart", "save_figure", "silhouette_plot"]


@drawn
def silhouette_plot(
    values: npt.ArrayLike,
    labels: npt.ArrayLike,
    *,
    title: str = "",
    max_points: int = 4000,
    mean: float | None = None,
    ax: Axes | None = None,
    path: Path | None = None,
) -> Figure:
    """Return the classical silhouette plot: the documents of each cluster, widest first, as one outline per cluster.

    Silhouettes that are nan are left out. About `max_points` documents are drawn, evenly spaced, so that outlines keep
    their shape; the dashed line is at `mean`, by default that of the values. Raises InputError if the lengths differ.
    """
    widths = np.asarray(values, dtype=np.float64)
    member = same_length("labels", labels, widths.size).astype(np.int64)
    defined = ~np.isnan(widths)
    kinds = np.unique(member)
    figure, axes = new_axes(7.2, float(np.clip(0.3 * kinds.size + 1.6, 2.6, 9.0)), ax)
    gap = 0.012 * max(1, widths.size)
    middle, at = [], 0.0
    for kind in kinds:
        widths_of_cluster = np.sort(widths[(member == kind) & defined])[::-1]
        _outline(
            axes,
            widths_of_cluster,
            at,
            max_points=max(8, round(max_points * widths_of_cluster.size / max(1, widths.size))),
        )
        middle.append(at + widths_of_cluster.size / 2)
        at += widths_of_cluster.size + gap
    if defined.any():
        axes.axvline(
            float(widths[defined].mean()) if mean is None else mean, color=INK, linewidth=1, linestyle=(0, (2, 3))
        )
    axes.axvline(0, color=MUTED, linewidth=0.8)
    axes.set_ylim(max(at, 1.0), -gap)
    shown = np.arange(0, kinds.size, tick_step(kinds.size))
    axes.set_yticks(np.asarray(middle)[shown], [plain(kinds[i]) for i in shown.tolist()])
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x")
    label_axes(axes, title=title, x_label="silhouette", y_label="cluster")
    return written(figure, path)


def _outline(axes: Axes, widths: npt.NDArray[np.float64], at: float, *, max_points: int) -> None:
    places = np.unique(np.linspace(0, widths.size - 1, min(widths.size, max_points)).round().astype(np.int64))
    heights = at + places + 0.5
    # the outline is closed at both ends, or the widest and the narrowest document would lose half their line
    x = np.concatenate([widths[places[:1]], widths[places], widths[places[-1:]]])
    y = np.concatenate([[at], heights, [at + widths.size]])
    axes.fill_betweenx(y, 0, np.maximum(x, 0), color=ACCENT, linewidth=0)
    if widths.size and widths[-1] < 0:
        axes.fill_betweenx(y, np.minimum(x, 0), 0, color=WARNING, linewidth=0)
