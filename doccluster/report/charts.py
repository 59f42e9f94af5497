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
    drawn,
    label_axes,
    new_axes,
    plain,
    reach,
    same_length,
    save_figure,
    set_scales,
    tick_step,
    written,
)
from doccluster.report.heat_maps import heat_map


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
        own = np.sort(widths[(member == kind) & defined])[::-1]
        _outline(axes, own, at, max_points=max(8, round(max_points * own.size / max(1, widths.size))))
        middle.append(at + own.size / 2)
        at += own.size + gap
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


def _outline(axes: Axes, own: npt.NDArray[np.float64], at: float, *, max_points: int) -> None:
    kept = np.unique(np.linspace(0, own.size - 1, min(own.size, max_points)).round().astype(np.int64))
    heights = at + kept + 0.5
    # the outline is closed at both ends, or the widest and the narrowest document would lose half their line
    x = np.concatenate([own[kept[:1]], own[kept], own[kept[-1:]]])
    y = np.concatenate([[at], heights, [at + own.size]])
    axes.fill_betweenx(y, 0, np.maximum(x, 0), color=ACCENT, linewidth=0)
    if own.size and own[-1] < 0:
        axes.fill_betweenx(y, np.minimum(x, 0), 0, color=WARNING, linewidth=0)
