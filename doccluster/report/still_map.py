"""The map as a picture that needs no script, what it says in words, and the sizes of clusters as areas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from doccluster.report.explore import GRID, grid_places
from doccluster.report.plane import N_NEIGHBOURS, Plane
from doccluster.report.story_cards import MAX_STORIES
from doccluster.report.wording import one_line
from doccluster.results.record import Run

SIDE = 720  # of the picture, in its own units
CELLS = 96  # of the density, along a side
LEVELS = (0.04, 0.12, 0.3, 0.6)  # of the densest cell
MAX_LABEL_LETTERS = 28
BESIDE = 3  # clusters named as neighbours on the map
TREEMAP = (720, 300)

Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

LETTER, LINE = 5.7, 14  # room for a letter and a line of 11 units
CELL = 4  # units along the side of a cell that a document takes up
RINGS = tuple(range(8, 153, 8))  # units from a point to its label, the nearest first
DIRECTIONS = tuple(
    (np.cos(turn), np.sin(turn)) for turn in np.pi / 8 * np.array([0, 8, 1, -1, 7, -7, 2, -2, 6, -6, 3, -3, 5, -5])
)


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


@dataclass(frozen=True)
class Medoid:
    """The most central document of a cluster on the map: where it is, in the picture and in percent, and who is near.

    `label` is what the cluster is called, with the place where it stands; None where there is no room for it.
    """

    number: int
    x: float
    y: float
    across: int
    down: int
    label: str
    stands: LabelPlace | None
    beside: tuple[int, ...]


@dataclass(frozen=True)
class StillMap:
    """The map as a picture: one path for each level of density, the thin one first."""

    levels: tuple[str, ...]
    medoids: tuple[Medoid, ...]
    method: str
    n_of_meaning: int
    judged_by: str
    n_neighbours: int
    purity: float
    purity_before: float


@dataclass(frozen=True)
class Tile:
    """A cluster in the treemap of sizes."""

    number: int
    size: int
    name: str
    label: str
    x: float
    y: float
    width: float
    height: float


def still_map(run: Run, plane: Plane, names: Mapping[int, str]) -> StillMap:
    """Return the picture of a plane; `names` says what each cluster is called."""
    places = grid_places(plane)
    return StillMap(
        levels=tuple(_level(_density(places), share) for share in LEVELS),
        medoids=_medoids(run, places, names),
        method=plane.method,
        n_of_meaning=0 if run.vectors.meaning is None or run.by_meaning is None else run.vectors.meaning.n_dimensions,
        judged_by=one_line(plane.judged_by, 40),
        n_neighbours=N_NEIGHBOURS,
        purity=plane.purity,
        purity_before=plane.purity_before,
    )


def tiles_of(run: Run) -> tuple[Tile, ...]:
    """Return the treemap of the sizes of the clusters that have a card."""
    shown = run.clusters[:MAX_STORIES]
    boxes = squarified([cluster.size for cluster in shown], *TREEMAP)
    tiles = []
    for cluster, box in zip(shown, boxes, strict=True):
        name = one_line(cluster.label, 120) or f"cluster {cluster.cluster}"
        n_letters = int((box.width - 8) / LETTER)
        label = one_line(name, n_letters) if n_letters >= 5 and box.height >= LINE + 4 else ""
        tiles.append(Tile(cluster.cluster, cluster.size, name, label, *(round(value, 1) for value in box)))
    return tuple(tiles)


def _density(places: Counts) -> npt.NDArray[np.float64]:
    """Return the smoothed number of documents in each cell, array of shape (CELLS, CELLS), rows from the top."""
    cells = np.minimum(places * CELLS // (GRID + 1), CELLS - 1)
    counts = np.bincount(cells[:, 1] * CELLS + cells[:, 0], minlength=CELLS * CELLS).reshape(CELLS, CELLS)
    density: npt.NDArray[np.float64] = counts.astype(np.float64)
    for _ in range(2):
        for axis in (0, 1):
            density = _smoothed(density, axis)
    return density


def _smoothed(values: npt.NDArray[np.float64], axis: int) -> npt.NDArray[np.float64]:
    """Return binomial means of five along an axis."""
    wide = np.pad(values, [(2, 2) if this == axis else (0, 0) for this in (0, 1)])
    n = values.shape[axis]
    means = np.zeros_like(values)
    for first, weight in enumerate((1, 4, 6, 4, 1)):
        means += weight / 16 * wide.take(range(first, first + n), axis=axis)
    return means


def _level(density: npt.NDArray[np.float64], share: float) -> str:
    """Return a path around the cells that have this share of the densest, line by line."""
    size = SIDE / CELLS
    path = []
    for line, there in enumerate(density >= share * density.max()):
        edges = np.flatnonzero(np.diff(np.concatenate([[False], there, [False]]).astype(np.int8)))
        for start, stop in edges.reshape(-1, 2).tolist():
            path.append(
                f"M{start * size:g} {line * size:g}h{(stop - start) * size:g}v{size:g}h{(start - stop) * size:g}z"
            )
    return "".join(path)


def _medoids(run: Run, places: Counts, names: Mapping[int, str]) -> tuple[Medoid, ...]:
    shown = [cluster for cluster in run.clusters[:MAX_STORIES] if cluster.representatives]
    at = np.array([places[cluster.representatives[0].row] for cluster in shown]) / GRID
    labels = [one_line(names[cluster.cluster], MAX_LABEL_LETTERS) for cluster in shown]
    stands = placed_labels(at * SIDE, labels, places / GRID * SIDE, SIDE)
    numbers = [cluster.cluster for cluster in shown]
    medoids = []
    for index, cluster in enumerate(shown):
        apart = ((at - at[index]) ** 2).sum(axis=1)
        # the nearest on the map, not in the space of terms: a reader of the table looks for what lies beside it
        near = [numbers[place] for place in np.argsort(apart, kind="stable").tolist() if place != index][:BESIDE]
        x, y = at[index]
        medoids.append(
            Medoid(
                number=cluster.cluster,
                x=round(float(x) * SIDE, 1),
                y=round(float(y) * SIDE, 1),
                across=round(100 * float(x)),
                down=round(100 * float(y)),
                label=labels[index],
                stands=stands[index],
                beside=tuple(near),
            )
        )
    return tuple(medoids)


@dataclass(frozen=True)
class LabelPlace:
    """Where a label stands: its `anchor` ("start" or "end") at (x, y), in the middle of its line."""

    x: float
    y: float
    anchor: str


def placed_labels(at: Floats, labels: Sequence[str], documents: Floats, side: float) -> list[LabelPlace | None]:
    """Return where each label of a point stands, the most important first; None where there is no room for it.

    No label covers a document, or leaves the picture, a square of this side.
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
        self._is_taken = np.zeros((self._n, self._n), dtype=bool)
        across, down = np.clip(documents // CELL, 0, self._n - 1).astype(np.int64).T
        self._is_taken[down, across] = True

    def take(self, x: float, y: float, width: float) -> LabelPlace | None:
        """Return the nearest free place for a label of this width beside a point, and take it."""
        for far in RINGS:
            for across, down in DIRECTIONS:
                edge, middle = x + far * across, y + far * down
                start = edge if across >= 0 else edge - width
                cells = self._cells(start, middle - LINE / 2, start + width, middle + LINE / 2)
                if cells is not None and not self._is_taken[cells].any():
                    self._is_taken[cells] = True
                    return LabelPlace(round(edge, 1), round(middle, 1), "start" if across >= 0 else "end")
        return None

    def _cells(self, start: float, top: float, end: float, bottom: float) -> tuple[slice, slice] | None:
        """Return the cells of a box, None where it leaves the picture."""
        if min(start, top) < 0 or max(end, bottom) > self._side:
            return None
        return slice(int(top // CELL), int(bottom // CELL) + 1), slice(int(start // CELL), int(end // CELL) + 1)
