"""Tables as shaded cells: adherence, separation, confusion, and any grid of results of an experiment."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from doccluster.errors import InputError
from doccluster.report.canvas import Path, Range, drawn, label_axes, new_axes, plain, tick_step, written
from doccluster.report.palette import INK, diverging_colormap, sequential_colormap


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
    width: float | None = None,
    height: float | None = None,
    ax: Axes | None = None,
    path: Path | None = None,
) -> Figure:
    """Return a figure of a table whose cells are shaded by their values; small tables show the numbers too.

    Raises InputError if the table does not have two dimensions.

    Parameters
    ----------
    table : array of shape (n_rows, n_columns)
        Undefined values (nan) are grey. If there are values below zero the scale is centred at zero.
    row_names, column_names : sequence of str, optional
        Every one is written as long as there is room, then every second, fifth, tenth ...
    value_range : pair of float or None
        The values of the ends of the scale; those of the table by default.
    ax : matplotlib Axes, optional
        Axes of a figure of yours to draw into; `width` and `height` then do nothing.
    path : str or path, optional
        Where to write the figure.
    """
    values = np.asarray(table, dtype=np.float64)
    if values.ndim != 2 or values.size == 0:
        raise InputError(f"heat_map takes a table with rows and columns, received shape {values.shape}.")
    n_rows, n_columns = values.shape
    # a cell is never smaller than its number, and a large table never larger than a page
    figure, axes = new_axes(
        width or float(np.clip(0.46 * n_columns + 2.4, 3.6, 8.6)),
        height or float(np.clip(0.3 * n_rows + 1.4, 2.2, 7.6)),
        ax,
    )
    low, high = _scale_ends(values, value_range)
    colours = diverging_colormap() if low < 0 else sequential_colormap()
    # one pixel per cell: a 1,000 x 1,000 table stays small in a vector figure
    image = axes.imshow(values, cmap=colours, vmin=low, vmax=high, aspect="auto", interpolation="none")
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    _name_cells(axes, row_names, n_rows, vertical=True)
    _name_cells(axes, column_names, n_columns, vertical=False)
    if n_rows <= 20 and n_columns <= 16:
        _write_numbers(axes, values, low, high, digits)
    bar = figure.colorbar(image, ax=axes, fraction=0.035, pad=0.02, aspect=40)
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0)
    bar.set_label(plain(scale_label))
    label_axes(axes, title=title, x_label=x_label, y_label=y_label)
    return written(figure, path)


def _name_cells(axes: Axes, names: Sequence[str] | None, n: int, *, vertical: bool) -> None:
    shown = np.arange(0, n, tick_step(n, 40 if vertical else 20))
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
