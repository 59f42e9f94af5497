"""The silhouette plot: how well each document sits in its cluster, a cluster at a time."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from doccluster.report.canvas import Path, drawn, label_axes, new_axes, plain, same_length, tick_step, written
from doccluster.report.palette import ACCENT, INK, MUTED, WARNING


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

    Raises InputError if the lengths differ.

    Parameters
    ----------
    values : array of shape (n_documents,), in [-1, 1]
        The silhouette of each document; nan is left out.
    labels : int array of shape (n_documents,)
        The cluster of each document.
    max_points : int
        About how many documents are drawn; of more, evenly spaced ones, so the outlines keep their shape.
    mean : float, optional
        Where to draw the dashed line; by default at the mean of the values.
    ax : matplotlib Axes, optional
        Axes of a figure of yours to draw into.
    path : str or path, optional
        Where to write the figure.
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
