"""The figures of the report, of choose-k and of compare: each function takes plain arrays and returns a `SvgFigure`."""

from __future__ import annotations

import itertools
import math
import struct
import zlib
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from doccluster.base.text_table import shortened
from doccluster.clustering.nesting import joins_of, products_of_sums
from doccluster.errors import InputError
from doccluster.report.svg import (
    CATEGORIES,
    HEIGHT,
    LINE_HEIGHT,
    MARGIN,
    MAX_NAME_LETTERS,
    MISSING,
    RISING,
    TEXT_SIZE,
    Floats,
    Picture,
    Range,
    Scale,
    SvgFigure,
    drawn_width,
    framed,
    named_places,
    path_through,
    scale_of,
    tick_step,
)

if TYPE_CHECKING:
    import pandas as pd

    from doccluster.results.record import Run
    from doccluster.results.tree import TreeLevel
    from doccluster.results.views import Prevalence

MAX_BARS, MAX_GROUPS = 6, 24  # groups side by side, and groups in all
MAX_LETTERS = 14  # of the label of a cluster below its bars
MAX_CLUSTERS, MAX_LINES = 10, 4  # clusters that are drawn by groups side by side, and in each of many groups
DASHES = ("", "5 2.5", "6 2 1.5 2", "1.5 2")
MARKERS = (  # circle, square, triangles, diamond, cross and plus, about a point
    "m-2.5 0a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0 -5 0z",
    "m-2.3 -2.3h4.6v4.6h-4.6z",
    "m0 -3l2.8 5h-5.6z",
    "m0 3l2.8 -5h-5.6z",
    "m0 -3.2l3.2 3.2l-3.2 3.2l-3.2 -3.2z",
    "m-2.8 -1.6l1.2 -1.2l1.6 1.6l1.6 -1.6l1.2 1.2l-1.6 1.6l1.6 1.6l-1.2 1.2l-1.6 -1.6l-1.6 1.6l-1.2 -1.2l1.6 -1.6z",
    "m-1 -3h2v2h2v2h-2v2h-2v-2h-2v-2h2z",
)
STABILITY_TITLE = "Stability of the clusters"
STABILITY_LABEL = "agreement of random parts (adjusted Rand)"
CHOSEN = {"stroke": "muted", "dashes": "2 3"}  # the line at what was chosen
MAX_LEAVES = 48  # of a tree that one screen holds
ROW_HEIGHT = 14.0


def _values(name: str, values: npt.ArrayLike, n: int) -> Floats:
    """Return `values` as an array of shape (n,). Raises InputError if they are not n."""
    array = np.asarray(values, dtype=np.float64)
    if array.shape != (n,):
        raise InputError(f"has shape {array.shape}, expected ({n},): one value per place on the axis", argument=name)
    return array


def _reach(name: str, spread: npt.ArrayLike, n: int) -> Floats:
    """Return how far a spread reaches below and above, shape (2, n), from one row (both alike) or two.

    Raises InputError if the rows are not n long.
    """
    array = np.asarray(spread, dtype=np.float64)
    return array if array.shape == (2, n) else np.stack([_values(f"the spread of {name}", array, n)] * 2)


def line_chart(
    lines: Mapping[str, tuple[npt.ArrayLike, npt.ArrayLike]],
    *,
    spread: Mapping[str, npt.ArrayLike] | None = None,
    title: str = "",
    x_label: str = "",
    y_label: str = "",
    log_x: bool = False,
    log_y: bool = False,
    y_range: Range = (None, None),
    chosen: float | None = None,
    has_markers: bool = True,
    height: float = HEIGHT,
) -> SvgFigure:
    """Return a figure with a line through the places (x, y) of each series; undefined values (nan) leave a gap.

    `spread` is half the height of the band around a series, for instance a standard error; two rows say how far it
    reaches below and above. `chosen` is an x to mark. Values beyond `y_range` are drawn at its ends. Raises InputError
    if a series has not as many y as x.
    """
    places = {name: np.asarray(x, np.float64) for name, (x, _) in lines.items()}
    values = {name: _values(name, y, places[name].size) for name, (_, y) in lines.items()}
    bands = {}
    for name, width in (spread or {}).items():
        below, above = _reach(name, width, places[name].size)
        bands[name] = values[name] - below, values[name] + above
    styles = {name: _line_style(index) for index, name in enumerate(lines)}
    legend: list[Any] = [
        (name, [("m-9 0h18", line), *([(mark, {"fill": line["stroke"]})] if has_markers else [])])
        for name, (line, mark) in styles.items()
    ]
    if chosen is not None:
        legend.append((f"chosen: {chosen:,g}", [("m-9 0h18", CHOSEN)]))
    figure = SvgFigure(height=height)
    across, up = framed(
        figure,
        scale_of(np.concatenate([*places.values(), [] if chosen is None else [chosen]]), is_log=log_x),
        scale_of(np.concatenate([*values.values(), *itertools.chain(*bands.values())]), is_log=log_y, ends=y_range),
        title=title,
        x_label=x_label,
        y_label=y_label,
        legend=legend if len(legend) > 1 else (),
    )

    def points(name: str, heights: Floats) -> list[tuple[float, float]]:
        inside = up.at(np.clip(heights, up.low, up.high))
        return list(zip(across.at(places[name]).tolist(), inside.tolist(), strict=True))

    # bands lie below all lines, lines below their markers
    for name, (below, above) in bands.items():
        outline = points(name, below) + points(name, above)[::-1]
        figure.draw(path_through(outline, is_closed=True), fill=styles[name][0]["stroke"], opacity=0.16)
    if chosen is not None:
        at = float(across.at(chosen))
        figure.draw(path_through([(at, up.start), (at, up.end)]), **CHOSEN)
    for name, (line, mark) in styles.items():
        line_points = points(name, values[name])
        figure.draw(path_through(line_points), **line)
        if has_markers:
            marks = (f"M{x:.1f} {y:.1f}{mark}" for x, y in line_points if math.isfinite(y))
            figure.draw("".join(marks), fill=line["stroke"])
    return figure


def _line_style(index: int) -> tuple[dict[str, Any], str]:
    """Return the line of the series number `index` and its marker; 28 of them before one comes again."""
    dashes = DASHES[(index // len(CATEGORIES)) % len(DASHES)]
    colour = CATEGORIES[index % len(CATEGORIES)]
    return {"stroke": colour, "width": 1.8, "dashes": dashes}, MARKERS[index % len(MARKERS)]


def stability_chart(table: pd.DataFrame, chosen: int | None) -> SvgFigure:
    """Return the agreement of random parts over the number of clusters, from the table of a recommendation."""
    lines = {
        str(name): (level["k"].to_numpy(), level["agreement"].to_numpy())
        for name, level in table[table["k"] > 1].groupby("as", sort=False)  # one cluster agrees with itself always
    }
    return line_chart(
        lines,
        title=STABILITY_TITLE,
        x_label="number of clusters k",
        y_label=STABILITY_LABEL,
        log_x=True,
        chosen=chosen,
    )


def bar_chart(
    names: Sequence[object],
    series: Mapping[str, npt.ArrayLike],
    *,
    spread: Mapping[str, npt.ArrayLike] | None = None,
    title: str = "",
    x_label: str = "",
    y_label: str = "",
    height: float = HEIGHT,
) -> SvgFigure:
    """Return a figure with one bar per name, or one group of bars per name if there are several series.

    `spread` is as for `line_chart`. Raises InputError if a series has not as many values as there are names.
    """
    values = {name: _values(name, lengths, len(names)) for name, lengths in series.items()}
    reaches = {name: _reach(name, width, len(names)) for name, width in (spread or {}).items()}
    tops = [values[name] + above for name, (_, above) in reaches.items()]
    feet = [values[name] - below for name, (below, _) in reaches.items()]
    colours = dict(zip(values, itertools.cycle(CATEGORIES) if len(values) > 1 else ["accent"], strict=False))
    figure = SvgFigure(height=height)
    heights = np.concatenate([*values.values(), *tops, *feet, [0.0]])
    falls = bool((heights < 0).any())
    ends = (None if falls else 0.0, 0.0 if falls and not (heights > 0).any() else None)
    across, up = framed(
        figure,
        named_places(names),
        scale_of(heights, ends=ends),
        title=title,
        x_label=x_label,
        y_label=y_label,
        legend=[(name, [("m-6 -4h12v8h-12z", {"fill": colour})]) for name, colour in colours.items()]
        if len(values) > 1
        else (),
    )
    room = 0.78 / max(1, len(values))  # of a bar; a place is 1 wide
    foot = float(up.at(0.0))
    for index, (name, lengths) in enumerate(values.items()):
        middles = np.arange(len(names)) + (index - (len(values) - 1) / 2) * room
        starts, width = across.at(middles - 0.47 * room), float(across.at(0.94 * room) - across.at(0.0))
        bars = zip(starts.tolist(), (up.at(lengths) - foot).tolist(), strict=True)
        path = "".join(f"M{x:.1f} {foot:.1f}h{width:.1f}v{y:.1f}h-{width:.1f}z" for x, y in bars if math.isfinite(y))
        figure.draw(path, fill=colours[name])
        if name in reaches:
            below, above = up.at(lengths - reaches[name][0]), up.at(lengths + reaches[name][1])
            errors = zip(across.at(middles).tolist(), below.tolist(), above.tolist(), strict=True)
            figure.draw(
                "".join(f"M{x - 2:.1f} {low:.1f}h4m-2 0V{high:.1f}m-2 0h4" for x, low, high in errors if low == low),
                stroke="ink",
            )
    return figure


def prevalence_chart(result: Prevalence) -> SvgFigure:
    """Return a figure of shares with Wilson's intervals: the largest clusters by group, or each group by cluster.

    Up to six groups are bars beside one another for each of the ten largest clusters; more of them (the largest 24, in
    their order) have bars for the four largest clusters.
    """
    largest = sorted(result.group_sizes, key=lambda group: -result.group_sizes[group])[:MAX_GROUPS]
    groups = [group for group in result.group_sizes if group in largest]
    labels = dict(zip(result.table["cluster"].tolist(), result.table["label"].tolist(), strict=True))
    cells = result.table.set_index(["cluster", "group"])[["share", "low", "high"]].mul(100)
    series, spread = {}, {}
    is_wide = len(groups) <= MAX_BARS
    clusters = list(labels)[: MAX_CLUSTERS if is_wide else MAX_LINES]
    pairs = {group: [(cluster, group) for cluster in clusters] for group in groups}
    if not is_wide:
        pairs = {labels[cluster]: [(cluster, group) for group in groups] for cluster in clusters}
    for name, keys in pairs.items():
        share, low, high = cells.loc[keys].to_numpy().T
        series[name], spread[name] = share, np.stack([share - low, high - share])
    return bar_chart(
        [shortened(labels[cluster], MAX_LETTERS) for cluster in clusters] if is_wide else groups,
        series,
        spread=spread,
        title=f"share of the documents by {result.by}",
        y_label="percent",
    )


def heat_map(
    table: npt.ArrayLike,
    *,
    names: Sequence[object],
    label: str,
    scale_label: str,
    height: float = 446.0,
) -> SvgFigure:
    """Return a figure of a square table whose cells are shaded by their values, those of nan in a grey of their own.

    `names` are those of its rows and columns, which are called `label`.
    """
    values = np.asarray(table, dtype=np.float64)
    scale = scale_of(values, margin=0.0)
    figure = SvgFigure(height=height)
    rows = named_places(names)
    across, down = framed(
        figure,
        named_places(names, max_names=20),
        Scale(rows.high, rows.low, rows.ticks, rows.names),  # the first row is at the top
        x_label=label,
        y_label=label,
        grid="",
        right=36 + LINE_HEIGHT + max(map(drawn_width, scale.names), default=0.0),
    )
    width, height = across.end - across.start, down.start - down.end
    shares = (values - scale.low) / (scale.high - scale.low)
    figure.pictures.append(Picture(across.start, down.end, round(width, 1), round(height, 1), _shaded(shares)))
    # the bar that says what a shade means
    bar = replace(scale, start=down.start, end=down.end)
    x = across.end + 12
    figure.pictures.append(Picture(x, down.end, 10.0, round(height, 1), _shaded(np.linspace(1, 0, 100)[:, None])))
    for place, name in zip(bar.at(scale.ticks).tolist(), scale.names, strict=True):
        figure.write(x + 15, place + 0.36 * TEXT_SIZE, name, anchor="start")
    figure.write(figure.width - MARGIN, (down.start + down.end) / 2, scale_label, size=10.0, turn=-90)
    return figure


def _shaded(shares: Floats) -> str:
    """Return a picture with one pixel for each share, 0 to 1, from pale to dark; nan is grey."""
    anchors = np.array([[int(colour[place : place + 2], 16) for place in (1, 3, 5)] for colour in (*RISING, MISSING)])
    at = np.linspace(0, len(RISING) - 1, 255)
    palette = np.stack([np.interp(at, np.arange(len(RISING)), channel[:-1]) for channel in anchors.T], axis=1)
    colours = np.vstack([palette, anchors[-1:]]).round().astype(np.uint8)
    pixels = np.where(np.isnan(shares), 255, np.nan_to_num(np.clip(shares, 0, 1) * 254).round()).astype(np.uint8)
    height, width = pixels.shape
    lines = np.pad(pixels, [(0, 0), (1, 0)])  # each line begins with the number of its filter, none

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    png = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0))
    png += chunk(b"PLTE", colours.tobytes()) + chunk(b"IDAT", zlib.compress(lines.tobytes(), 9)) + chunk(b"IEND", b"")
    return f"data:image/png;base64,{b64encode(png).decode('ascii')}"


def silhouette_plot(widths: npt.ArrayLike, labels: npt.ArrayLike, *, mean: float, max_points: int = 2000) -> SvgFigure:
    """Return the classical silhouette plot: the documents of each cluster, widest first, as one outline per cluster.

    Silhouettes that are nan are left out. About `max_points` documents are drawn, evenly spaced, so that outlines keep
    their shape; the dashed line is at `mean`. Raises InputError if the lengths differ.
    """
    clusters, outlines, middles, ends = silhouette_outlines(widths, labels, max_points)
    step = tick_step(clusters.size)
    down = Scale(*ends, tuple(middles[::step]), tuple(f"{cluster:g}" for cluster in clusters[::step]))
    figure = SvgFigure(height=72 * float(np.clip(0.3 * clusters.size + 1.6, 2.6, 9.0)))
    across, up = framed(
        figure, scale_of([*np.ravel(widths), 0.0]), down, x_label="silhouette", y_label="cluster", grid="x"
    )
    foot = float(across.at(0.0))
    for outline, places in outlines:
        heights = up.at(places).tolist()
        for side, colour in ((np.maximum(outline, 0), "accent"), (np.minimum(outline, 0), "warning")):
            if side.any():
                edge = list(zip(across.at(side).tolist(), heights, strict=True))
                closed = [(foot, heights[0]), *edge, (foot, heights[-1])]
                figure.draw(path_through(closed, is_closed=True), fill=colour)
    for value, style in ((mean, {"stroke": "ink", "dashes": "2 3"}), (0.0, {"stroke": "muted", "width": 0.8})):
        at = float(across.at(value))
        figure.draw(path_through([(at, up.start), (at, up.end)]), **style)
    return figure


def silhouette_outlines(
    widths: npt.ArrayLike, labels: npt.ArrayLike, max_points: int
) -> tuple[Floats, list[tuple[Floats, Floats]], Floats, tuple[float, float]]:
    """Return the clusters, the outline of each, the middles of their documents, and the ends of the axis of these.

    An outline has the silhouettes at its corners, widest first, and their places on that axis, the first at the top.
    """
    values = np.asarray(widths, dtype=np.float64)
    clusters = _values("labels", labels, values.size)
    numbers, gap = np.unique(clusters), 0.012 * max(1, values.size)
    members = [np.sort(values[(clusters == number) & ~np.isnan(values)])[::-1] for number in numbers]
    sizes = np.array([own_widths.size for own_widths in members])
    starts = np.cumsum([0.0, *(sizes + gap)])
    outlines = []
    for own_widths, start in zip(members, starts.tolist(), strict=False):
        n = own_widths.size
        n_points = min(n, max(8, round(max_points * n / values.size)))
        rows = np.unique(np.linspace(0, n - 1, n_points).round().astype(np.int64))
        # the outline is closed at both ends, or the widest and the narrowest document would lose half their line
        corners = own_widths[np.concatenate([rows[:1], rows, rows[-1:]])]
        outlines.append((corners, np.concatenate([[start], start + rows + 0.5, [start + n]])[: corners.size]))
    return numbers, outlines, starts[:-1] + sizes / 2, (max(float(starts[-1]), 1.0), -gap)


def leaves_of(run: Run) -> TreeLevel | None:
    """Return the clusters of the run, or those of the finest level above that one screen holds; None without any."""
    levels = run.levels[len(run.around.coarser) :: -1]
    return next((level for level in levels if 1 < level.n_clusters <= MAX_LEAVES), None)


def joins_on(run: Run, level: TreeLevel) -> Floats:
    """Return the joins of the clusters of a level, first inside what they are part of on the coarsest level.

    As `scipy.cluster.hierarchy` takes them; heights are what the criterion I2 of the tf-idf rows loses.
    """
    groups = level.parents_on(run.levels[0]) if run.around.coarser else np.zeros(level.n_clusters, dtype=np.int64)
    return joins_of(products_of_sums(run.vectors.documents.unit, level.labels, level.n_clusters), groups)


def dendrogram_of(run: Run, level: TreeLevel) -> SvgFigure:
    """Return the figure: names on the left, joins to the right of them, branches inside a section in its colour."""
    from scipy.cluster import hierarchy

    k, joins = level.n_clusters, joins_on(run, level)
    names = [shortened(cluster.label, MAX_NAME_LETTERS) for cluster in level.clusters]
    figure = SvgFigure(height=2 * MARGIN + ROW_HEIGHT * k)
    left = 3 * MARGIN + max(map(drawn_width, names))
    right_of = (figure.width - MARGIN - left) / max(float(joins[-1, 2]), np.finfo(float).tiny)
    x, y = np.full(2 * k - 1, left), np.empty(2 * k - 1)
    y[hierarchy.leaves_list(joins)] = MARGIN + ROW_HEIGHT * (np.arange(k) + 0.5)
    for leaf, name in enumerate(names):
        figure.write(left - MARGIN, y[leaf] + 0.36 * TEXT_SIZE, name, anchor="end")
    sections = level.parents_on(run.levels[0]).tolist() if run.around.coarser else [0] * k
    sections += [-1] * (k - 1)  # of joins: -1 where they join several
    for node, (first, second, height, _) in enumerate(joins.tolist(), k):
        a, b = int(first), int(second)
        x[node], y[node] = left + height * right_of, (y[a] + y[b]) / 2
        sections[node] = sections[a] if sections[a] == sections[b] else -1
        # the last of the colours is a grey, as that of joins of several sections
        colour = "muted" if sections[node] < 0 else CATEGORIES[sections[node] % (len(CATEGORIES) - 1)]
        path = f"M{x[a]:.1f} {y[a]:.1f}H{x[node]:.1f}V{y[b]:.1f}H{x[b]:.1f}"
        figure.draw(path, stroke=colour, width=1.2)
    return figure
