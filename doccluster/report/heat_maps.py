"""Tables as shaded cells: adherence, separation, confusion, any grid of results, in an order that shows groups."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from doccluster.errors import InputError
from doccluster.report.canvas import (
    INK,
    Path,
    Range,
    diverging_colormap,
    drawn,
    label_axes,
    new_axes,
    plain,
    sequential_colormap,
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
    _name_cells(axes, row_names, n_rows, most=n_rows if every_name else 40, vertical=True)
    _name_cells(axes, column_names, n_columns, most=20, vertical=False)
    if n_rows <= 20 and n_columns <= 16:
        _write_numbers(axes, values, low, high, digits)
    bar = figure.colorbar(image, ax=axes, fraction=0.035, pad=0.02, aspect=40)
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0)
    bar.set_label(plain(scale_label))
    label_axes(axes, title=title, x_label=x_label, y_label=y_label)
    return written(figure, path)


def _name_cells(axes: Axes, names: Sequence[str] | None, n: int, *, most: int, vertical: bool) -> None:
    shown = np.arange(0, n, tick_step(n, most))
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
    known = distances[off_diagonal & ~np.isnan(distances)]
    filled = np.where(np.isnan(distances), known.max(initial=0.0), distances)
    filled = np.maximum((filled + filled.T) / 2, 0.0)  # rounding may leave -1e-17
    np.fill_diagonal(filled, 0.0)
    tree = linkage(squareform(filled, checks=False), method="average", optimal_ordering=True)
    order: npt.NDArray[np.int64] = leaves_list(tree).astype(np.int64)
    return order if order[0] <= order[-1] else order[::-1]
