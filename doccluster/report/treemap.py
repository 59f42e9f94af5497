"""Sizes as areas: squarified treemaps (Bruls, Huizing & van Wijk 2000, "Squarified treemaps", VisSym)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Box(NamedTuple):
    """A rectangle; `x` and `y` are its left and upper edge."""

    x: float
    y: float
    width: float
    height: float


def squarified(sizes: Sequence[float], width: float, height: float) -> list[Box]:
    """Return a rectangle for each size, the largest first, that together fill `width` x `height`.

    >>> [tuple(box) for box in squarified([2, 1, 1], 2, 2)]
    [(0.0, 0.0, 1.0, 2.0), (1.0, 0.0, 1.0, 1.0), (1.0, 1.0, 1.0, 1.0)]
    """
    total = float(sum(sizes))
    areas = [size * width * height / total for size in sizes]
    boxes: list[Box] = []
    x, y, w, h = 0.0, 0.0, float(width), float(height)
    first = 0
    while first < len(areas):
        side = min(w, h)
        last, filled = first + 1, areas[first]
        # a row grows as long as its worst rectangle becomes squarer
        while last < len(areas) and _worst(areas[first], areas[last], filled + areas[last], side) <= _worst(
            areas[first], areas[last - 1], filled, side
        ):
            filled += areas[last]
            last += 1
        depth = filled / side if side else 0.0
        at = 0.0
        for area in areas[first:last]:
            length = area / depth if depth else 0.0
            boxes.append(Box(x, y + at, depth, length) if w >= h else Box(x + at, y, length, depth))
            at += length
        if w >= h:
            x, w = x + depth, w - depth
        else:
            y, h = y + depth, h - depth
        first = last
    return boxes


def _worst(largest: float, smallest: float, filled: float, side: float) -> float:
    """Return the worst ratio of sides in a row of this area along a side."""
    if not smallest or not side:
        return float("inf")
    return max(side * side * largest / (filled * filled), filled * filled / (side * side * smallest))
