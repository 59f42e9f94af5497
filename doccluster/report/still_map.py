"""The map as a picture that needs no script, what it says in words, and the sizes of clusters as areas."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.ndimage import correlate1d
from scipy.sparse.csgraph import min_weight_full_bipartite_matching

from doccluster.base.text_table import text_width
from doccluster.report.explore import GRID, grid_places
from doccluster.report.plane import Plane
from doccluster.report.story_cards import MAX_STORIES
from doccluster.report.wording import one_line
from doccluster.results.overview import overview
from doccluster.results.record import Run

SIDE = 720  # of the picture, in its own units
CELLS = 96  # of the density, along a side
LEVELS = (0.04, 0.12, 0.3, 0.6)  # of the densest cell
MAX_LABEL_LETTERS = 26
BESIDE = 3  # clusters named as neighbours on the map
TREEMAP = (720, 300)

Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

TEXT, LETTER_SHARE = 17.0, 0.58  # height of a name of the map, in units of the picture; width of a letter, as its share
LETTER, LINE = 5.7, 14  # room for a letter and a line of the areas


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
    """The most central document of a cluster on the map: where it is, in the picture and in percent."""

    number: int
    x: float
    y: float
    across: int
    down: int
    label: str  # what the cluster is called
    stands: LabelPlace | None  # where the label does; None where there is no room for it
    beside: tuple[int, ...]  # the clusters that are nearest to it


@dataclass(frozen=True)
class StillMap:
    """The map as a picture: one path for each level of density, the thin one first."""

    view: str  # the edges of the picture, as a viewBox
    levels: tuple[str, ...]
    medoids: tuple[Medoid, ...]
    n_of_meaning: int
    plane: Plane


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


def still_map(run: Run, plane: Plane) -> StillMap:
    """Return the picture of a plane."""
    places = grid_places(plane)
    centre, radius = circle_around(places / GRID * SIDE)
    cells = np.minimum(places * CELLS // (GRID + 1), CELLS - 1)
    counts = np.bincount(cells[:, 1] * CELLS + cells[:, 0], minlength=CELLS * CELLS)
    density: Floats = counts.reshape(CELLS, CELLS).astype(np.float64)  # rows from the top
    for axis in (0, 1, 0, 1):  # binomial means of five
        density = correlate1d(density, np.array([1, 4, 6, 4, 1]) / 16, axis, mode="constant")
    left, top = centre - (radius + TEXT * (1.5 + LETTER_SHARE * MAX_LABEL_LETTERS), radius + TEXT)
    width, height = 2 * (centre - (left, top))
    return StillMap(
        view=f"{left:.0f} {top:.0f} {width:.0f} {height:.0f}",
        levels=tuple(_level(density, share) for share in LEVELS),
        medoids=_medoids(run, places, ring_slots(radius + TEXT, height, 1.45 * TEXT) + centre),
        n_of_meaning=0 if run.vectors.meaning is None or run.by_meaning is None else run.vectors.meaning.n_dimensions,
        plane=plane,
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


def _medoids(run: Run, places: Counts, slots: Floats) -> tuple[Medoid, ...]:
    shown = [cluster for cluster in run.clusters[:MAX_STORIES] if cluster.representatives]
    at = np.array([places[cluster.representatives[0].row] for cluster in shown]) / GRID
    names = names_of(run)
    labels = [in_lines(one_line(names[cluster.cluster]), MAX_LABEL_LETTERS, 1) for cluster in shown]
    stands: list[LabelPlace | None] = [None] * len(shown)
    for index, slot in enumerate(matched(at[: len(slots)] * SIDE, slots).tolist()):
        x, y = slots[slot].tolist()
        stands[index] = LabelPlace(round(x, 1), round(y, 1), "end" if slot < len(slots) // 2 else "start")
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


def matched(points: Floats, slots: Floats) -> npt.NDArray[np.int64]:
    """Return the slot of each point. The lines between them are together as short as they can be, so none cross."""
    lengths = np.hypot(*(points[:, None, :] - slots[None, :, :]).transpose(2, 0, 1))
    if not lengths.size:
        return np.zeros(0, dtype=np.int64)
    # an entry of 0 would be no line at all; as many lines are drawn in any case
    return np.asarray(min_weight_full_bipartite_matching(sparse.csr_array(lengths + 1))[1], dtype=np.int64)


def in_lines(name: str, n_letters: int, n_lines: int) -> str:
    """Return a name on at most `n_lines` lines; of a longer one the first of its words between commas, if they fit.

    >>> in_lines("health insurance, Obamacare", 17, 2), in_lines("health insurance, Obamacare", 20, 1)
    ('health insurance,\\nObamacare', 'health insurance')
    """
    width = max(2, n_letters * len(name) // max(1, text_width(name)))  # some scripts have signs of twice the width
    for shorter in (name, *(name.rsplit(", ", n)[0] for n in range(1, name.count(", ") + 1))):
        lines = textwrap.wrap(shorter, width, break_long_words=False)
        if lines and len(lines) <= n_lines and max(map(len, lines)) <= width:
            return _even(shorter, len(lines))
    return "\n".join(textwrap.wrap(name, width, max_lines=n_lines, placeholder="…"))


def _even(text: str, n_lines: int) -> str:
    """Return a text on this many lines, about as long as one another."""
    width = len(text) // n_lines + 1
    while len(textwrap.wrap(text, width, break_long_words=False)) > n_lines:
        width += 1
    return textwrap.fill(text, width, break_long_words=False)


def circle_around(places: Floats) -> tuple[Floats, float]:
    """Return the centre and radius of nearly the smallest circle around places (Bădoiu & Clarkson 2003)."""
    centre = places.mean(axis=0)
    for step in range(2, 500):
        apart = places - centre
        centre = centre + apart[int((apart**2).sum(axis=1).argmax())] / step
    return centre, float(np.hypot(*(places - centre).T).max())


def ring_slots(radius: float, height: float, slot_height: float) -> Floats:
    """Return where names can begin beside a circle about (0, 0), of shape (n_slots, 2): down the left, then the right.

    Names grow away from the circle, so that no line to the inside meets one.
    """
    n = int(height / slot_height)
    levels = (np.arange(n) - (n - 1) / 2) * slot_height
    # the edge of a slot that is nearest to the middle has to be outside too
    near = np.maximum(0.0, np.abs(levels) - slot_height / 2)
    reach = np.sqrt(np.maximum(radius**2 - near**2, (0.12 * radius) ** 2))
    slots: Floats = np.concatenate([np.column_stack([side * reach, levels]) for side in (-1, 1)])
    return slots


def names_of(run: Run) -> list[str]:
    """Return the name of each cluster: that of an editor, else the headline of a story, else the words of a cluster."""
    if run.shows_stories:
        return [facts.name for facts in overview(run)[: run.n_clusters]]
    return [cluster.label for cluster in run.clusters]
