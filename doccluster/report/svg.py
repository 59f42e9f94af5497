"""Parts of figures: shapes and texts at places, axes with names at round numbers, and a legend.

The template `figure.svg` writes them, into a page or a file of its own. Lengths are in points.
"""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from markupsafe import Markup

from doccluster.base.paths import finished_file, writing
from doccluster.base.text_table import shortened, text_width
from doccluster.errors import InputError
from doccluster.report.page import page_templates

Floats = npt.NDArray[np.float64]
Range = tuple[float | None, float | None]
Legend = Sequence[tuple[str, Sequence[tuple[str, Mapping[str, Any]]]]]

INK = "#22262a"
MUTED = "#6b7176"
RULE = "#d5d3cc"
ACCENT = "#17677a"
WARNING = "#b4502b"
MISSING = "#e7e5df"
COLOURS_IN_FILE = {"ink": INK, "muted": MUTED, "rule": RULE, "accent": ACCENT, "warning": WARNING}
COLOURS_IN_PAGE = {name: f"var(--{name})" for name in COLOURS_IN_FILE}  # which follow the reader's choice of dark pages

# Okabe & Ito (2008): told apart with any kind of colour vision; the yellow is left out, it is lost on white
CATEGORIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#5b5b5b")
RISING = ("#f6f4ee", "#cfe2df", "#93c3c4", "#4f9aa6", "#1f6f82", "#0d4254")  # from little to much, darker all the way

WIDTH = 520.0
HEIGHT = 300.0
TEXT_SIZE = 9.0
LETTER_WIDTH = 0.58  # of the size of its text
MARGIN = 6.0
LINE_HEIGHT = 15.0
MAX_TICKS = 6
MAX_NAME_LETTERS = 40
MAX_LOG_TICKS = 12  # beyond that only powers of ten


@dataclass(frozen=True)
class Shape:
    """A path, and how it is filled and outlined: by the name of a colour of the page, or by a colour itself."""

    path: str
    fill: str = "none"
    stroke: str = "none"
    width: float = 1
    dashes: str = ""
    opacity: float = 1


@dataclass(frozen=True)
class Label:
    """A text at a place; `turn` in degrees about it."""

    x: float
    y: float
    text: str
    anchor: str = "middle"
    size: float = TEXT_SIZE
    turn: float = 0
    is_bold: bool = False


@dataclass(frozen=True)
class Picture:
    """A table of pixels stretched over a rectangle."""

    x: float
    y: float
    width: float
    height: float
    address: str


@dataclass
class SvgFigure:
    """A figure of `width` x `height` points: its shapes, texts and pictures."""

    width: float = WIDTH
    height: float = HEIGHT
    shapes: list[Shape] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)

    def draw(self, path: str, **style: Any) -> None:
        """Add a shape."""
        self.shapes.append(Shape(path, **style))

    def write(self, x: float, y: float, text: object, **style: Any) -> None:
        """Add a text."""
        self.labels.append(Label(round(x, 1), round(y, 1), str(text), **style))

    def inline(self, description: str) -> Markup:
        """Return the figure as an element of a page, as large as the room it gets, in the page's colours."""
        return Markup(self._svg(colours=COLOURS_IN_PAGE, in_file=False, description=description).replace("\n", ""))

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the figure as a file of its own, in its own colours, and return its path.

        Raises InputError if the path does not end in .svg, or the file cannot be written.
        """
        place = Path(path)
        if place.suffix.lower() != ".svg":
            raise InputError(f"a figure cannot be written as {place.name!r}", remedy="give a name that ends in .svg")
        content = self._svg(colours=COLOURS_IN_FILE, in_file=True, description="")
        with writing(place):
            place.parent.mkdir(parents=True, exist_ok=True)
            with finished_file(place) as unfinished:
                unfinished.write_text(content, encoding="utf-8")
        return place

    def _svg(self, **values: Any) -> str:
        return page_templates().get_template("figure.svg").render(figure=self, **values)


@dataclass(frozen=True)
class Scale:
    """Values from `low` to `high`, of which `ticks` have names; in a figure they lie from `start` to `end`."""

    low: float
    high: float
    ticks: tuple[float, ...]
    names: tuple[str, ...]
    is_log: bool = False
    start: float = 0.0
    end: float = 1.0

    def at(self, values: npt.ArrayLike) -> Floats:
        """Return where values lie."""
        shares = np.asarray(values, np.float64)
        low, high = self.low, self.high
        if self.is_log:
            shares, low, high = np.log10(shares), math.log10(low), math.log10(high)
        return np.asarray(self.start + (shares - low) / (high - low) * (self.end - self.start))


def scale_of(values: npt.ArrayLike, *, is_log: bool = False, margin: float = 0.05, ends: Range = (None, None)) -> Scale:
    """Return the scale of some values, with a margin at the ends that are not given; ticks are round numbers."""
    finite = np.asarray(values, np.float64).ravel()
    finite = finite[np.isfinite(finite) & ((finite > 0) | (not is_log))]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (1.0, 1.0)
    if is_log:
        beyond = (high / low) ** margin if high > low else 2.0
        low, high = low / beyond, high * beyond
    else:
        beyond = (high - low) * margin if high > low else abs(high) or 1.0
        low, high = low - beyond, high + beyond
    low, high = low if ends[0] is None else ends[0], high if ends[1] is None else ends[1]
    if is_log:
        return Scale(low, high, *_log_ticks(low, high), is_log=True)
    # the smallest of 1, 2, 2.5, 5 times a power of ten with which there are not too many
    least = (high - low) / MAX_TICKS
    power = 10.0 ** math.floor(math.log10(least))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= least * (1 - 1e-9))
    ticks = np.arange(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1) * step
    # as many decimals as tell the ticks apart; numbers too small for that are written with their power of ten
    digits = next((digits for digits in range(13) if abs(round(step, digits) - step) < 1e-6 * step), None)
    form = "g" if digits is None else f",.{digits}f"
    return Scale(low, high, tuple(ticks), tuple(f"{tick + 0.0:{form}}".replace("-", "−") for tick in ticks))


def _log_ticks(low: float, high: float) -> tuple[tuple[float, ...], tuple[str, ...]]:
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [factor * 10.0**power for power in powers for factor in (1, 2, 5)]
    ticks = [tick for tick in ticks if low <= tick <= high]
    if len(ticks) > MAX_LOG_TICKS:
        ticks = [10.0**power for power in powers if low <= 10.0**power <= high]
    return tuple(ticks), tuple(f"{tick:,.10g}" for tick in ticks)


def named_places(names: Sequence[object], *, max_names: int = 40) -> Scale:
    """Return the scale of n places 0, 1, 2 ... with names, which are thinned out by round steps."""
    shown = range(0, len(names), tick_step(len(names), max_names))
    return Scale(
        -0.5,
        max(len(names), 1) - 0.5,
        tuple(map(float, shown)),
        tuple(shortened(str(names[place]), MAX_NAME_LETTERS) for place in shown),
    )


def tick_step(n: int, max_names: int = 40) -> int:
    """Return the smallest of 1, 2, 5, 10, 20, 50 ... by which n names thin out to at most `max_names`."""
    step, factors = 1, itertools.cycle((2, 2.5, 2))
    while n > max_names * step:
        step = round(step * next(factors))
    return step


def drawn_width(text: str, size: float = TEXT_SIZE) -> float:
    """Return about how wide a text is in points."""
    return size * LETTER_WIDTH * text_width(text)


def framed(
    figure: SvgFigure,
    x: Scale,
    y: Scale,
    *,
    title: str = "",
    x_label: str = "",
    y_label: str = "",
    legend: Legend = (),
    grid: str = "y",
    right: float = 10.0,
) -> tuple[Scale, Scale]:
    """Draw axes with the names of their ticks, title and legend, and return the scales of what is drawn between them.

    `legend` names each series, with paths from the middle of its sample and their styles; `right` is room to leave
    there. The axis of y runs upwards, unless its scale does not.
    """
    top = MARGIN
    if title:
        top += LINE_HEIGHT
        figure.write(MARGIN, top - 3, title, anchor="start", size=11.0, is_bold=True)
    top = _draw_legend(figure, legend, top) + MARGIN
    left = 2 * MARGIN + max((drawn_width(name) for name in y.names), default=0.0) + (LINE_HEIGHT if y_label else 0)
    end = figure.width - right
    # names that have no room side by side are turned, and then they need room below
    widest = max((drawn_width(name) for name in x.names), default=0.0)
    is_turned = widest * len(x.names) > 0.95 * (end - left)
    turned_height = 0.64 * widest if is_turned else TEXT_SIZE  # the sine of 40 degrees
    bottom = figure.height - MARGIN - (LINE_HEIGHT if x_label else 0) - turned_height - MARGIN
    across, up = replace(x, start=left, end=end), replace(y, start=bottom, end=top)
    for place, name in zip(up.at(y.ticks).tolist(), y.names, strict=True):
        figure.write(left - 5, place + 0.36 * TEXT_SIZE, name, anchor="end")
    for place, name in zip(across.at(x.ticks).tolist(), x.names, strict=True):
        style: dict[str, Any] = {"anchor": "end", "turn": -40} if is_turned else {}
        figure.write(place, bottom + TEXT_SIZE + 4, name, **style)
    lines = [path_through([(left, place), (end, place)]) for place in up.at(y.ticks).tolist() if grid == "y"]
    lines += [path_through([(place, top), (place, bottom)]) for place in across.at(x.ticks).tolist() if grid == "x"]
    if lines:
        figure.draw("".join(lines), stroke="rule", width=0.6)
    figure.draw(path_through([(left, top), (left, bottom), (end, bottom)]), stroke="muted", width=0.8)
    if x_label:
        figure.write((left + end) / 2, figure.height - MARGIN, x_label, size=10.0)
    if y_label:
        middle = (top + bottom) / 2
        figure.write(MARGIN + 8, middle, y_label, size=10.0, turn=-90)
    return across, up


def _draw_legend(figure: SvgFigure, legend: Legend, top: float) -> float:
    """Write names of series beside their samples, on as many lines as they need, and return where the last one ends."""
    x, top = MARGIN, top + (LINE_HEIGHT if legend else 0)
    for series, sample in legend:
        name = shortened(series, MAX_NAME_LETTERS)
        width = drawn_width(name) + 34
        if x > MARGIN and x + width > figure.width:
            x, top = MARGIN, top + LINE_HEIGHT
        for path, style in sample:
            figure.draw(f"M{x + 9:.1f} {top - 3:.1f}{path}", **style)
        figure.write(x + 22, top, name, anchor="start")
        x += width
    return top


def path_through(points: Iterable[tuple[float, float]], *, is_closed: bool = False) -> str:
    """Return a path through points, with a gap at those that are not finite."""
    pieces, begins = [], True
    for x, y in points:
        if math.isfinite(y):
            pieces.append(f"{'M' if begins else 'L'}{x:.1f} {y:.1f}")
        begins = not math.isfinite(y)
    return "".join(pieces) + ("z" if is_closed and pieces else "")
