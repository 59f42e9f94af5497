"""The map as a picture to share: names of clusters in a ring around it, names of sections on it, a hue for each."""

from __future__ import annotations

import itertools
import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from doccluster.base.arrays import Labels
from doccluster.report.canvas import NARROW, plain
from doccluster.report.still_map import circle_around, in_lines, matched, names_of, ring_slots
from doccluster.report.svg import CATEGORIES, INK, MUTED, RULE
from doccluster.report.wording import counted
from doccluster.results.prevalence import group_of_documents
from doccluster.results.record import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = npt.NDArray[np.float64]
Colour = tuple[float, float, float]


class Ground(NamedTuple):
    """What a map is drawn on: its colours, and how light those of names, points and the shades of a section are."""

    paper: str
    ink: str
    muted: str
    none: str  # of documents without a group
    of_names: float
    of_points: tuple[float, float]


LIGHT = Ground("#ffffff", INK, MUTED, RULE, 0.44, (0.5, 0.74))
DARK = Ground("#15181b", "#e7e4dd", "#a2a7ab", "#3c434a", 0.84, (0.82, 0.58))
SIZE, SIZE_OF_SECTIONS = 9.0, 12.0  # of names, in points
LETTER = 0.46  # mean width of a letter, as a share of the size of its text
LINE = 1.15  # height of a line, as a share of the size of its text
MAX_LETTERS = 40  # on a line of a name
MARGIN = 8.0  # around the map and the names, in points
GOLDEN = 0.381966  # of the circle of hues, from one cluster to the next
N_SHADES = 5
MAX_VECTORS = 5_000  # documents that are points of a vector figure; more are one picture in it


def colour_of(hue: float, lightness: float, chroma: float) -> Colour:
    """Return the colour of a hue (0 to 1, once around) in red, green and blue, each 0 to 1.

    Lightness is as people see it (Ottosson 2020, Oklab), so that all hues stand out alike from the ground.
    """
    a, b = chroma * math.cos(2 * math.pi * hue), chroma * math.sin(2 * math.pi * hue)
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    middle = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    light = (
        4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * middle + 1.7076147010 * short,
    )
    red, green, blue = (
        12.92 * part if part <= 0.0031308 else 1.055 * part ** (1 / 2.4) - 0.055
        for part in (min(1.0, max(0.0, channel)) for channel in light)
    )
    return red, green, blue


def hues_of(n: int) -> list[float]:
    """Return n hues evenly around the circle, in an order in which those that follow one another are far apart."""
    step = next(step for step in range(max(1, round(GOLDEN * n)), n + 1) if math.gcd(step, n) == 1)
    return [(0.08 + number * step / n) % 1.0 for number in range(n)]


def spread_out(centres: Floats, sizes: Sequence[tuple[float, float]], n_rounds: int = 200) -> Floats:
    """Return centres of boxes of these sizes (width, height), pushed apart until none covers another, or nearly so."""
    at = centres.astype(np.float64).copy()
    boxes = np.asarray(sizes, dtype=np.float64).reshape(-1, 2)
    for _ in range(n_rounds):
        is_done = True
        for first, second in itertools.combinations(range(len(at)), 2):
            apart = at[second] - at[first]
            overlap = (boxes[first] + boxes[second]) / 2 - np.abs(apart)
            if (overlap <= 0).any():
                continue
            axis, is_done = int(overlap.argmin()), False
            push = (overlap[axis] / 2 + 0.5) * (1 if apart[axis] >= 0 else -1)
            at[second, axis] += push
            at[first, axis] -= push
        if is_done:
            break
    return at


@dataclass(frozen=True)
class DrawnMap:
    """A map on axes whose units are points from their upper left corner.

    `places` are those of the documents, in a circle of this `radius` about the middle of the axes.
    """

    axes: Axes
    width: float
    height: float
    radius: float
    places: Floats
    ground: Ground

    @classmethod
    def on(cls, figure: Figure, axes: Axes, plane: Floats, ground: Ground) -> DrawnMap:
        """Return the map of a plane, as large as axes allow that leave room for names at both sides."""
        width, height = points_of(figure, axes)
        radius = min(height / 2 - 2 * MARGIN, 0.31 * width)
        centre, farthest = circle_around(plane)
        places = (plane - centre) * (radius / (farthest or 1.0)) + (width / 2, height / 2)
        return cls(axes, width, height, radius, places, ground)

    def draw_documents(self, groups: Groups) -> None:
        """Draw a point for each document in the colour of its group; those without one (-1) lie below all others."""
        codes, names, colours = groups
        n = len(codes)
        size = float(np.clip(60_000 / n, 3.0, 14.0)) * (self.radius / 280) ** 2
        for code in [-1, *range(len(names))]:
            members = self.places[codes == code]
            if members.size:
                self.axes.scatter(
                    members[:, 0],
                    members[:, 1],
                    s=size,
                    color=colours[code] if code >= 0 else self.ground.none,
                    alpha=0.85 if n < MAX_VECTORS else 0.65,
                    linewidths=0,
                    label=plain(names[code]) if code >= 0 else "",
                    rasterized=n > MAX_VECTORS,
                )

    def name_clusters(self, names: Sequence[str], centres: Floats, colours: Sequence[Colour | str]) -> int:
        """Write names in the ring, of the first clusters as many as it has room for; return how many these are."""
        for n_lines in (2, 1):
            slots = ring_slots(self.radius + MARGIN, self.height - MARGIN, (n_lines * LINE + 0.35) * SIZE)
            if len(names) <= len(slots):
                break
        slots += np.array([self.width / 2, self.height / 2])
        n = min(len(names), len(slots))
        for number, slot in enumerate(matched(centres[:n], slots).tolist()):
            x, y = slots[slot].tolist()
            is_left, colour = slot < len(slots) // 2, colours[number]
            room = (x if is_left else self.width - x) - MARGIN
            centre_x, centre_y = centres[number].tolist()
            self.axes.plot([centre_x, x], [centre_y, y], color=colour, linewidth=0.5, alpha=0.75)
            self.axes.plot(centre_x, centre_y, "o", markersize=3.5, color=colour, markeredgecolor=self.ground.paper)
            write_lines(
                self.axes,
                in_lines(names[number], min(MAX_LETTERS, int(room / (LETTER * SIZE))), n_lines),
                x - 4 if is_left else x + 4,
                y,
                colour,
                ha="right" if is_left else "left",
            )
        return n

    def name_sections(self, names: Sequence[str], centres: Floats, colours: Sequence[Colour | str]) -> None:
        """Write names of sections in the middle of their documents, moved apart where one would cover another."""
        from matplotlib.patheffects import withStroke

        texts = [in_lines(name, 20, 2) for name in names]
        letter, line = 1.15 * LETTER * SIZE_OF_SECTIONS, LINE * SIZE_OF_SECTIONS
        sizes = [(letter * max(map(len, text.split("\n"))), line * (text.count("\n") + 1)) for text in texts]
        halo = [withStroke(linewidth=3, foreground=self.ground.paper)]
        room = np.maximum(0, self.radius - np.array(sizes).reshape(-1, 2) / 2)
        middle = np.array([self.width / 2, self.height / 2])
        places = np.clip(spread_out(centres, sizes), middle - room, middle + room)
        for text, (x, y), colour in zip(texts, places.tolist(), colours, strict=True):
            write_lines(
                self.axes, text, x, y, colour, size=SIZE_OF_SECTIONS, ha="center", fontweight="bold", path_effects=halo
            )


def points_of(figure: Figure, axes: Axes) -> tuple[float, float]:
    """Make the units of axes points from their upper left corner, and return their width and height."""
    axes.set_axis_off()
    figure.draw_without_rendering()  # only now the axes have the size that they will be drawn in
    width, height = (72 * figure.get_size_inches() * axes.get_position().size).tolist()
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)
    return width, height


def write_lines(
    axes: Axes, text: str, x: float, y: float, colour: Colour | str, *, size: float = SIZE, **style: Any
) -> None:
    """Write lines around a level; each is a text of its own, so that it ends where it should in any face."""
    lines = plain(text).split("\n")
    for number, line in enumerate(lines):
        # a third of the size is half the height of most letters
        level = y + ((number - (len(lines) - 1) / 2) * LINE + 0.33) * size
        axes.text(x, level, line, color=colour, fontsize=size, family=NARROW, zorder=5, **style)


class Groups(NamedTuple):
    """The group of each document, -1 for none, with the name and colour of each group."""

    codes: npt.NDArray[np.int64]
    names: Sequence[str]
    colours: Sequence[Colour | str]


def groups_of(run: Run, column: str) -> Groups:
    """Return the groups of documents by a column, or by the period of their date.

    Raises InputError if there is no such column, or its values are all the same or all different.
    """
    if column in run.documents.labels:  # whose classes may be one, or all different
        rows, labels = run.classes(column)
    else:
        values = group_of_documents(run, column)[0]
        rows = np.flatnonzero(values != "")
        labels = tuple(values[rows].tolist())
    names, group_of_row = np.unique(np.array(labels, dtype=object).astype(str), return_inverse=True)
    codes = np.full(run.n_documents, -1, dtype=np.int64)
    codes[rows] = group_of_row
    several = [colour_of(hue, 0.62, 0.13) for hue in hues_of(names.size)]
    return Groups(codes, names.tolist(), CATEGORIES if names.size <= len(CATEGORIES) else several)


def draw_map(picture: DrawnMap, run: Run, groups: Groups | None, *, has_caption: bool) -> None:
    """Draw the documents of a run in the colours of groups, or of their clusters, and the names of these."""
    ground, top = picture.ground, run.levels[0]
    hue_of, sections = hues_of_clusters(run)
    hues = hues_of(top.n_clusters)
    inks = [colour_of(hue, ground.of_names, 0.12) if groups is None else ground.ink for hue in hue_of]
    if groups is None:
        ranks = [sections[:number].count(section) for number, section in enumerate(sections)] or range(run.n_clusters)
        strong, pale = ground.of_points
        shades = [strong + (pale - strong) * (rank % N_SHADES) / (N_SHADES - 1) for rank in ranks]
        colours = [colour_of(hue, shade, 0.13) for hue, shade in zip(hue_of, shades, strict=True)]
        codes = np.where(run.shown_labels < run.n_clusters, run.shown_labels, -1)
        picture.draw_documents(Groups(codes, [cluster.label for cluster in run.clusters], colours))
    else:
        picture.draw_documents(groups)
        if len(groups.names) <= len(CATEGORIES):
            picture.axes.legend(loc="upper left", labelcolor=ground.ink)
    n_named = picture.name_clusters(names_of(run), _centres(picture.places, run.partition.labels, run.n_clusters), inks)
    # a section of one cluster has its name in the ring
    several = [number for number in range(top.n_clusters) if sections.count(number) > 1]
    picture.name_sections(
        [top.clusters[number].name or top.clusters[number].label for number in several],
        _centres(picture.places, top.labels, top.n_clusters)[several],
        [colour_of(hues[number], ground.of_names, 0.14) if groups is None else ground.ink for number in several],
    )
    if has_caption:
        how_many = "" if n_named == run.n_clusters else f", the {n_named} largest named"
        in_clusters = f"{counted(run.n_documents, 'document')} in {counted(run.n_clusters, 'cluster')}{how_many}"
        lines = textwrap.fill(f"{in_clusters}. Alike documents lie close together; the axes mean nothing.", 44)
        middle = picture.height - MARGIN - LINE * SIZE * (lines.count("\n") + 1) / 2
        write_lines(picture.axes, lines, MARGIN, middle, ground.muted, ha="left")


def hues_of_clusters(run: Run) -> tuple[list[float], list[int]]:
    """Return the hue of each cluster, one for all of a section, and their sections; none where a run has none."""
    if not run.around.coarser:
        return [(GOLDEN * number) % 1.0 for number in range(run.n_clusters)], []
    sections = run.levels[len(run.around.coarser)].parents_on(run.levels[0]).tolist()
    hues = hues_of(run.levels[0].n_clusters)
    return [hues[section] for section in sections], sections


def _centres(places: Floats, labels: Labels, n: int) -> Floats:
    """Return for each of n clusters the place of a document nearest to the median of its documents."""
    centres = np.empty((n, 2))
    for cluster in range(n):
        members = places[labels == cluster]
        centres[cluster] = members[int(((members - np.median(members, axis=0)) ** 2).sum(axis=1).argmin())]
    return centres
