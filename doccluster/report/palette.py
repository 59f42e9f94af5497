"""The colours of every figure and of the report, in one place, so that a colour means the same thing everywhere."""

from __future__ import annotations

from typing import Any

from matplotlib.colors import Colormap, LinearSegmentedColormap

INK = "#22262a"
MUTED = "#6b7176"
RULE = "#d5d3cc"
ACCENT = "#17677a"
WARNING = "#b4502b"
MISSING = "#e7e5df"

# Okabe & Ito (2008): told apart with any kind of colour vision; the yellow is left out, it is lost on white
CATEGORIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#5b5b5b")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
DASHES = ("-", "--", "-.", ":")

_RISING = ("#f6f4ee", "#cfe2df", "#93c3c4", "#4f9aa6", "#1f6f82", "#0d4254")
_FALLING = ("#7d3116", "#b4502b", "#d98e69", "#f0cfbb")


def sequential_colormap() -> Colormap:
    """Return the scale from paper (little) to deep teal (much); lightness falls all the way, so it prints in grey."""
    return LinearSegmentedColormap.from_list("doccluster", _RISING).with_extremes(bad=MISSING)


def diverging_colormap() -> Colormap:
    """Return the scale from rust (below zero) through paper to deep teal (above zero)."""
    return LinearSegmentedColormap.from_list(
        "doccluster-diverging", (*_FALLING, *_RISING[:1], *_RISING[2:])
    ).with_extremes(bad=MISSING)


def category_style(index: int) -> dict[str, Any]:
    """Return colour, marker and line style of the series number `index`; 28 combinations before one comes again."""
    return {
        "color": CATEGORIES[index % len(CATEGORIES)],
        "marker": MARKERS[index % len(MARKERS)],
        "linestyle": DASHES[(index // len(CATEGORIES)) % len(DASHES)],
    }
