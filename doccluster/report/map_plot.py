"""The map of documents as a figure for papers."""

from __future__ import annotations

import colorsys

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke

from doccluster.errors import InputError
from doccluster.overview import overview
from doccluster.record import Run
from doccluster.report.canvas import Path, drawn, new_axes, plain, written
from doccluster.report.explore import GRID, grid_places
from doccluster.report.palette import CATEGORIES, INK, RULE
from doccluster.report.plane import plane_of
from doccluster.report.still_map import SIDE, still_map
from doccluster.report.stories import headline_of

GOLDEN = 0.381966  # of the circle of colours, from one cluster to the next
MOST_IN_LEGEND = len(CATEGORIES)


@drawn
def map_plot(run: Run, *, color_by: str = "cluster", ax: Axes | None = None, path: Path | None = None) -> Figure:
    """Draw the documents in the plane, with labels at the most central document of each cluster."""
    plane = plane_of(run)
    places = grid_places(plane) / GRID
    figure, axes = new_axes(7.2, 7.2, ax)
    codes, names = _groups(run, color_by)
    size = float(np.clip(2000 / run.n_documents, 0.8, 14))
    for code in [-1, *range(len(names))]:
        own = codes == code
        if own.any():
            colour = RULE if code < 0 else _colour(code, len(names))
            name = plain(names[code]) if code >= 0 else ""
            axes.scatter(places[own, 0], places[own, 1], s=size, color=colour, linewidths=0, label=name)
    for one in still_map(run, plane, {seen.cluster: headline_of(seen) for seen in overview(run)}).medoids:
        if one.stands:
            axes.annotate(
                plain(one.label),
                (one.x / SIDE, one.y / SIDE),
                xytext=(one.stands.x / SIDE, one.stands.y / SIDE),
                ha="left" if one.stands.anchor == "start" else "right",
                va="center",
                fontsize=7,
                color=INK,
                arrowprops={"arrowstyle": "-", "linewidth": 0.5, "color": INK, "shrinkA": 0, "shrinkB": 0},
                path_effects=[withStroke(linewidth=2, foreground="white")],
            )
    if color_by != "cluster" and len(names) <= MOST_IN_LEGEND:
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), markerscale=max(1.0, 3 / size**0.5))
    axes.set_xlim(-0.02, 1.02)
    axes.set_ylim(1.02, -0.02)
    axes.set_aspect("equal")
    axes.set_axis_off()
    return written(figure, path)


def _groups(run: Run, color_by: str) -> tuple[npt.NDArray[np.int64], list[str]]:
    """Return the group of each document, -1 for none, and the names of the groups."""
    if color_by == "cluster":
        return run.partition.labels.astype(np.int64), [one.label for one in run.clusters]
    columns = list(run.documents.labels)
    if color_by not in columns:
        have = f"give cluster{''.join(f', {name}' for name in columns)}"
        raise InputError("names no column of classes", argument="color_by", received=color_by, remedy=have)
    rows, labels = run.classes(color_by)
    names, found = np.unique(np.array(labels, dtype=object).astype(str), return_inverse=True)
    codes = np.full(run.n_documents, -1, dtype=np.int64)
    codes[rows] = found
    return codes, names.tolist()


def _colour(code: int, n: int) -> str | tuple[float, float, float]:
    if n <= len(CATEGORIES):
        return CATEGORIES[code]
    return colorsys.hls_to_rgb((0.55 + GOLDEN * code) % 1.0, 0.36 + 0.08 * (code % 3), 0.65)
