"""Where the labels of a map stand: beside their points, on no document and on no other label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

LETTER, LINE = 5.7, 14  # room for a letter and a line of 11 units
CELL = 4  # units along the side of a cell that a document takes up
RINGS = tuple(range(8, 153, 8))  # units from a point to its label, the nearest first
DIRECTIONS = tuple(
    (np.cos(turn), np.sin(turn)) for turn in np.pi / 8 * np.array([0, 8, 1, -1, 7, -7, 2, -2, 6, -6, 3, -3, 5, -5])
)


@dataclass(frozen=True)
class Place:
    """Where a label stands: its `anchor` ("start" or "end") at (x, y), in the middle of its line."""

    x: float
    y: float
    anchor: str


def placed_labels(at: Floats, labels: Sequence[str], documents: Floats, side: float) -> list[Place | None]:
    """Return where each label stands; None where there is no room for it.

    Parameters
    ----------
    at : float64 array of shape (n_labels, 2)
        The points that are labelled, the most important first: these get their room first.
    documents : float64 array of shape (n, 2)
        What no label may cover.
    side : float
        Of the square picture; no label leaves it.
    """
    room = _Room(documents, side)
    return [
        room.take(x, y, LETTER * len(label)) if label else None
        for (x, y), label in zip(at.tolist(), labels, strict=True)
    ]


class _Room:
    """The cells of a picture that are taken, by documents and by the labels placed so far."""

    def __init__(self, documents: Floats, side: float) -> None:
        self._n = int(np.ceil(side / CELL))
        self._side = side
        self._taken = np.zeros((self._n, self._n), dtype=bool)
        across, down = np.clip(documents // CELL, 0, self._n - 1).astype(np.int64).T
        self._taken[down, across] = True

    def take(self, x: float, y: float, width: float) -> Place | None:
        """Return the nearest free place for a label of this width beside a point, and take it."""
        for far in RINGS:
            for across, down in DIRECTIONS:
                edge, middle = x + far * across, y + far * down
                left = edge if across >= 0 else edge - width
                cells = self._cells(left, middle - LINE / 2, left + width, middle + LINE / 2)
                if cells is not None and not self._taken[cells].any():
                    self._taken[cells] = True
                    return Place(round(edge, 1), round(middle, 1), "start" if across >= 0 else "end")
        return None

    def _cells(self, left: float, top: float, right: float, bottom: float) -> tuple[slice, slice] | None:
        """Return the cells of a box, None where it leaves the picture."""
        if min(left, top) < 0 or max(right, bottom) > self._side:
            return None
        return slice(int(top // CELL), int(bottom // CELL) + 1), slice(int(left // CELL), int(right // CELL) + 1)
