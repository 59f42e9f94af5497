"""How figures for papers look, and how they are written: by matplotlib, without pyplot, the same bytes every time."""

from __future__ import annotations

import io
import os
import pathlib
import re
import textwrap
import threading
import unicodedata
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from doccluster.errors import DocclusterWarning, InputError, importing
from doccluster.report.svg import CATEGORIES, INK, MISSING, MUTED, RISING, RULE

with importing("doccluster.plots needs", "matplotlib", install="doccluster[plots]"):
    import matplotlib
    from matplotlib.axes import Axes
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.colors import Colormap, LinearSegmentedColormap
    from matplotlib.figure import Figure
    from matplotlib.font_manager import FontProperties, findfont, fontManager, get_font
    from matplotlib.text import Text

MARKERS = ("o", "s", "^", "D", "v", "P", "X")
DASHES = ("-", "--", "-.", ":")

_FALLING = ("#7d3116", "#b4502b", "#d98e69", "#f0cfbb")
Path = str | os.PathLike[str]

FONT = "DejaVu Sans"  # comes with matplotlib, so that a figure looks the same on every machine
NARROW = ["STIXGeneral", FONT]  # for long names: comes with matplotlib too, but for the signs it lacks
_NARROW_IN_SVG = "STIXGeneral, 'STIX Two Text', 'Times New Roman', Times, 'Liberation Serif', serif"  # as wide
STYLE = {
    "font.family": [FONT],
    "font.size": 10.0,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.titlesize": 11.0,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 10.0,
    "axes.labelsize": 10.0,
    "axes.edgecolor": MUTED,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.unicode_minus": True,
    "axes.formatter.useoffset": False,
    "grid.color": RULE,
    "grid.linewidth": 0.6,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.labelsize": 9.0,
    "ytick.labelsize": 9.0,
    "legend.frameon": False,
    "legend.fontsize": 9.0,
    "lines.linewidth": 1.8,
    "lines.markersize": 5.0,
    "text.usetex": False,
    "text.parse_math": False,
    "svg.fonttype": "none",  # text stays text: it can be searched, read aloud and copied
    "svg.hashsalt": "doccluster",
}
RESOLUTION = 160  # of a png, in dots per inch
_NARROWEST_TITLE = 16  # letters on a line
_DRAWING = threading.RLock()  # matplotlib's settings belong to the process
# of the figure that is being drawn: signs that no font has, and the fonts that have those which the usual font lacks
_LACKING: set[str] = set()
_OTHER_FONTS: dict[str, None] = {}
_STOOD_IN = re.compile("\ufffd([\ufe00-\ufe0f]{6})")


def sequential_colormap() -> Colormap:
    """Return the scale from paper (little) to deep teal (much); lightness falls all the way, so it prints in grey."""
    return LinearSegmentedColormap.from_list("doccluster", RISING).with_extremes(bad=MISSING)


def diverging_colormap() -> Colormap:
    """Return the scale from rust (below zero) through paper to deep teal (above zero)."""
    return LinearSegmentedColormap.from_list(
        "doccluster-diverging", (*_FALLING, *RISING[:1], *RISING[2:])
    ).with_extremes(bad=MISSING)


def category_style(index: int) -> dict[str, Any]:
    """Return colour, marker and line style of the series number `index`; 28 combinations before one comes again."""
    return {
        "color": CATEGORIES[index % len(CATEGORIES)],
        "marker": MARKERS[index % len(MARKERS)],
        "linestyle": DASHES[(index // len(CATEGORIES)) % len(DASHES)],
    }


@contextmanager
def house_style() -> Iterator[None]:
    """Set matplotlib's settings to the house style, and put them back; also a decorator of functions that draw."""
    with _DRAWING, matplotlib.rc_context(STYLE):
        yield


class ShownFigure(Figure):
    """A figure that a notebook shows where it is the last value of a cell; pyplot is not needed for that."""

    def _repr_png_(self) -> bytes:
        return figure_bytes(self, "png")


def new_axes(width: float, height: float, ax: Axes | None = None) -> tuple[Figure, Axes]:
    """Return a figure of this size in inches and its only axes; or the axes that the caller has, and their figure."""
    if ax is not None:
        figure = ax.get_figure(root=True)
        assert isinstance(figure, Figure)  # axes that were removed from theirs have none
        return figure, ax
    figure = ShownFigure(figsize=(width, height), layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    return figure, figure.add_subplot()


def label_axes(axes: Axes, *, title: str, x_label: str, y_label: str) -> None:
    """Write the title and the names of the axes; an empty one takes no room."""
    for write, text in ((axes.set_xlabel, x_label), (axes.set_ylabel, y_label)):
        if text:
            write(plain(text))
    if not title:
        return
    # it begins at the axes, which long names may push to the right, and takes as many lines as it needs
    figure, drawn = axes.get_figure(), axes.set_title(plain(title))
    assert isinstance(figure, Figure)
    _use_other_fonts(figure)
    for width in range(len(title), _NARROWEST_TITLE, -4):
        figure.draw_without_rendering()
        if drawn.get_window_extent().x1 <= figure.bbox.x1:
            return
        drawn.set_text(plain(textwrap.fill(title, width - 4)))


def plain(text: object) -> str:
    """Return `text` so that matplotlib draws it as it is: no hidden series, no warning for a sign no font has.

    Signs that the usual font lacks are drawn in another font of this machine. Those that no font has stand as U+FFFD,
    and behind it their number in marks without width, from which an svg gets them back.
    """
    # a leading underscore would keep the series out of the legend
    shown = f" {text}" if str(text).startswith("_") else str(text)
    lacking = set(shown) - _signs(findfont(FontProperties(family=[FONT]))) - {"\n"}
    for font in sorted(fontManager.ttflist, key=lambda font: font.name) if lacking else ():
        # those of last resort draw boxes
        if font.style == "normal" and "Last Resort" not in font.name and lacking & _signs(font.fname):
            lacking -= _signs(font.fname)
            _OTHER_FONTS[font.name] = None
    _LACKING.update(lacking)
    return "".join(_stand_in(sign) if sign in lacking else sign for sign in shown)


def _use_other_fonts(figure: Figure) -> None:
    """Let texts fall back on the fonts that have the signs which the usual font lacks."""
    for text in figure.findobj(Text) if _OTHER_FONTS else ():
        if not _signs(findfont(FontProperties(family=[FONT]))).issuperset(text.get_text()):
            text.set_fontfamily(list(dict.fromkeys([*text.get_fontfamily(), *_OTHER_FONTS])))


@cache
def _signs(path: str) -> frozenset[str]:
    return frozenset(map(chr, get_font(path).get_charmap()))


def _stand_in(sign: str) -> str:
    return "\ufffd" + "".join(chr(0xFE00 + int(digit, 16)) for digit in f"{ord(sign):06x}")


def _as_written(drawn: re.Match[str]) -> str:
    return chr(int("".join(f"{ord(mark) - 0xFE00:x}" for mark in drawn[1]), 16))


def _warn_of_lacking_signs() -> None:
    scripts = sorted({unicodedata.name(sign, "unknown").split()[0].title() for sign in _LACKING if sign.isalpha()})
    if scripts:
        names = " and ".join("Chinese" if script == "Cjk" else script for script in scripts)
        warning = f"no font of this machine has the {names} letters of this figure; install one that has them (as Noto"
        warnings.warn(DocclusterWarning(f"{warning} Sans), or write an svg, which keeps the text"), stacklevel=3)


def figure_bytes(figure: Figure, kind: str) -> bytes:
    """Return the figure in the format `kind` (svg, png or pdf); the same figure gives the same bytes.

    Raises InputError if `kind` is none of these.
    """
    without_time: dict[str, dict[str, Any]] = {
        "svg": {"Date": None, "Creator": None},
        "png": {"Software": None},
        "pdf": {"CreationDate": None, "Producer": None, "Creator": None},
    }
    if kind not in without_time:
        raise InputError(
            f"a figure cannot be written as {kind!r}", remedy="give a file name that ends in .svg, .png or .pdf"
        )
    stream = io.BytesIO()
    with house_style():
        figure.savefig(stream, format=kind, dpi=RESOLUTION, metadata=without_time[kind])
    if kind != "svg":
        return stream.getvalue()
    # a page that lacks the face takes one that is as wide
    page = stream.getvalue().decode().replace(f"'{NARROW[0]}', '{FONT}'", _NARROW_IN_SVG)
    return _STOOD_IN.sub(_as_written, page).encode()


def written(figure: Figure, path: Path | None) -> Figure:
    """Return the figure; with a path write it first, as its suffix says (svg, png or pdf), without the time.

    Raises InputError if the suffix is none of these.
    """
    _use_other_fonts(figure)
    if path is not None:
        target = pathlib.Path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(figure_bytes(figure, target.suffix.lower().lstrip(".")))
    if path is None or target.suffix.lower() != ".svg":
        _warn_of_lacking_signs()
    _LACKING.clear()
    _OTHER_FONTS.clear()
    return figure
