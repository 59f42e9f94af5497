"""What happened when: the largest clusters by year, month or day, and the documents of one cluster on a line."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from doccluster.base.parameter_fields import at_the_door
from doccluster.corpus.dates import PERIODS
from doccluster.errors import InputError
from doccluster.report.canvas import NARROW, Path, house_style, new_axes, plain, written
from doccluster.report.drawn_map import (
    DARK,
    LETTER,
    LIGHT,
    MARGIN,
    SIZE,
    Floats,
    colour_of,
    hues_of_clusters,
    points_of,
    write_lines,
)
from doccluster.report.still_map import in_lines, matched, names_of
from doccluster.report.story_cards import Lines
from doccluster.report.svg import tick_step
from doccluster.report.wording import counted, date_words, span_words
from doccluster.results.overview import days_of, outlets_of, overview
from doccluster.results.prevalence import MIN_GROUP, GroupCounts, group_counts
from doccluster.results.record import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_CLUSTERS = 24  # of the largest
MIN_PERIODS = 3  # years that are drawn by year; of fewer, months
ROOM = 0.82  # of a row for its highest bar
MAX_BINS, MAX_HEADLINES, N_SLOTS, N_DATES = 60, 14, 22, 6  # along a timeline
TAIL = 0.02  # of the documents at each end, which may be far from the others
LENGTHS = (1, 7, 14, 28, 91, 182, 365)  # of a bin, in days
AXIS, LONGEST, TITLES, DATES = 160.0, 80.0, 215.0, 62.0  # in points: where the line of time is, the longest bar, ...


@house_style()
@at_the_door
def over_time(
    run: Run, *, by: str | None = None, is_dark: bool = False, ax: Axes | None = None, path: Path | None = None
) -> Figure:
    """Draw the share of each period's documents that are in each of the 24 largest clusters, the earliest at the top.

    Each row is as high as its highest share, which stands beside it.

    Parameters
    ----------
    by : str, optional
        "year", "month" or "day"; by default the longest of which there are three.
    is_dark : bool
        Whether the figure is for a dark ground.

    Raises
    ------
    InputError
        If `by` is no period, documents have no dates, or fewer than two periods have five documents.
    """
    if by is not None and by not in PERIODS:
        raise InputError(argument="by", received=by, expected="year, month or day")
    ground = DARK if is_dark else LIGHT
    table = _by_period(run) if by is None else group_counts(run, by)
    periods = _without_gaps(table.groups)
    all_counts = np.zeros((len(table.labels), len(periods)), dtype=np.int64)
    all_counts[:, np.searchsorted(periods, table.groups)] = table.counts
    counts = all_counts[: min(run.n_clusters, MAX_CLUSTERS)]
    shares = counts / all_counts.sum(axis=0).clip(min=1)
    # rows by the middle of their documents, so that what comes up later stands lower
    order = np.argsort(counts @ np.arange(len(periods)) / counts.sum(axis=1).clip(min=1), kind="stable")
    figure, axes = new_axes(9.0, 1.0 + 0.3 * len(order), ax)
    if ax is None:
        figure.set_facecolor(ground.paper)
    axes.set_facecolor("none")
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0, labelcolor=ground.ink)
    hues, names = hues_of_clusters(run)[0], names_of(run)
    places = np.arange(len(periods))
    for row, cluster in enumerate(order.tolist()):
        highest = shares[cluster].max() or 1.0
        colour = colour_of(hues[cluster], ground.of_points[0], 0.13)
        axes.bar(places, -ROOM * shares[cluster] / highest, bottom=row + 0.45, width=0.86, color=colour)
        peak = f"{100 * highest:.1f} % in {periods[int(shares[cluster].argmax())]}"
        axes.text(places[-1] + 0.7, row + 0.3, peak, color=ground.muted, fontsize=8.5, family=NARROW)
    axes.hlines(np.arange(len(order)) + 0.45, -0.5, places[-1] + 0.5, color=ground.none, linewidth=0.6)
    labels = [plain(in_lines(names[cluster], 44, 1)) for cluster in order.tolist()]
    axes.set_yticks(np.arange(len(order)) + 0.15, labels, family=NARROW, fontsize=10)
    step = tick_step(len(places), 12)
    axes.set_xticks(places[::step], [plain(name) for name in periods[::step]], family=NARROW, fontsize=9)
    axes.set_ylim(len(order) - 0.4, -0.6)
    return written(figure, path)


def _by_period(run: Run) -> GroupCounts:
    """Return how many documents of each cluster each year has, or each month or day where there are few years.

    Raises InputError if no document has a date, or there are fewer than two periods.
    """
    if not any(run.documents.dates):
        raise InputError("no document has a date", remedy="make the run of a source with dates")
    table = None
    for period in PERIODS:
        try:
            table = group_counts(run, period)
        except InputError:  # all documents are of one, it has too few of them, or the dates name none
            continue
        if len(table.groups) >= MIN_PERIODS:
            break
    if table is not None:
        return table
    raise InputError(
        f"no two years, months or days have {MIN_GROUP} documents each", remedy="draw a run with more dated documents"
    )


def _without_gaps(periods: list[str]) -> list[str]:
    """Return years, months or days in their order, with those between them.

    >>> _without_gaps(["2024-11", "2025-02"]), _without_gaps(["2024", "2026"])
    (['2024-11', '2024-12', '2025-01', '2025-02'], ['2024', '2025', '2026'])
    """
    kind = {4: "Y", 7: "M", 10: "D"}[len(periods[0])]
    return [
        str(period) for period in np.arange(periods[0], np.datetime64(periods[-1]) + 1, dtype=f"datetime64[{kind}]")
    ]


@house_style()
@at_the_door
def timeline(
    run: Run, cluster: int, *, is_dark: bool = False, ax: Axes | None = None, path: Path | None = None
) -> Figure:
    """Draw when the documents of a cluster appeared, from top to bottom, with titles of typical ones of each time.

    Parameters
    ----------
    cluster : int
        Its number.
    is_dark : bool
        Whether the figure is for a dark ground.

    Raises
    ------
    InputError
        If there is no such cluster, or its documents are of fewer than two days.
    """
    if not 0 <= cluster < run.n_clusters:
        raise InputError(argument="cluster", received=cluster, expected=f"a number from 0 to {run.n_clusters - 1}")
    members = run.members(cluster)
    days = days_of(run.documents.dates)[members]
    members, days = members[days > 0], days[days > 0]
    if np.unique(days).size < 2:
        raise InputError(
            f"cluster {cluster} has documents of fewer than two days", remedy="choose one with more dated documents"
        )
    # a few that are far from all others would leave these no room
    low, high = np.quantile(days, [TAIL, 1 - TAIL])
    is_near = np.abs(days - (low + high) / 2) <= 0.6 * (high - low) + 1
    n_far = int(days.size - is_near.sum())
    members, days = members[is_near], days[is_near]
    ground, facts = DARK if is_dark else LIGHT, overview(run)[cluster]
    figure, axes = new_axes(9.0, 6.0, ax)
    width, height = points_of(figure, axes)
    first, last = int(days.min()), int(days.max())
    length = next((length for length in LENGTHS if (last - first) // length < MAX_BINS), (last - first) // MAX_BINS + 1)
    counts = np.bincount((days - first) // length)
    top, bottom = 4.5 * SIZE, height - SIZE

    def level(day: npt.ArrayLike) -> Floats:
        return top + (np.asarray(day, np.float64) - first) / (counts.size * length) * (bottom - top)

    hue = hues_of_clusters(run)[0][cluster]
    colour, ink = (colour_of(hue, lightness, 0.13) for lightness in (ground.of_points[0], ground.of_names))
    middles = level(first + length * (np.arange(counts.size) + 0.5))
    thickness = 0.86 * (bottom - top) / counts.size
    axes.barh(middles, -LONGEST * counts / counts.max(), left=AXIS, height=thickness, color=colour)
    axes.vlines(AXIS, top, bottom, color=ground.muted, linewidth=0.8)
    # the last first, so that of days with the same words the first has the mark
    marks = {date_words(date.fromordinal(round(day)), facts.period): day for day in np.linspace(last, first, N_DATES)}
    for words, day in marks.items():
        write_lines(axes, words, AXIS - LONGEST - 8, float(level(day)), ground.muted, ha="right")
    # as many documents lie between one title and the next, so that a busy time has more of them
    parts = np.array_split(np.argsort(days, kind="stable"), min(days.size, MAX_HEADLINES))
    typical = np.array([part[int(run.similarity[members[part]].argmax())] for part in parts])
    slots = np.column_stack([np.full(N_SLOTS, TITLES), np.linspace(top + SIZE / 2, bottom - SIZE / 2, N_SLOTS)])
    points = np.column_stack([np.full(typical.size, AXIS), level(days[typical] + 0.5)])
    lines = Lines(run, outlets_of(run.documents), 0)
    for (x, y), document, slot in zip(points.tolist(), typical.tolist(), matched(points, slots).tolist(), strict=True):
        end = float(slots[slot, 1])
        axes.plot([x, TITLES], [y, end], color=colour, linewidth=0.5)
        line = lines.of(int(members[document]))
        write_lines(axes, line.date, TITLES + 4, end, ground.muted, ha="left")
        n_letters = int((width - TITLES - DATES) / (LETTER * SIZE))
        write_lines(axes, in_lines(line.name, n_letters, 1), TITLES + DATES, end, ground.ink, ha="left")
    write_lines(axes, in_lines(facts.name, 70, 1), MARGIN, 1.2 * SIZE, ink, ha="left", size=14, weight="bold")
    outlets = f", {counted(len(facts.outlets), 'outlet')}" if facts.outlets else ""
    far = f"; {n_far:,} earlier or later" if n_far else ""
    span = span_words(date.fromordinal(first), date.fromordinal(last), facts.period)
    size_and_span = f"{counted(days.size, 'document')}{outlets}, {span}{far}"
    write_lines(axes, size_and_span, MARGIN, 2.8 * SIZE, ground.muted, ha="left")
    if ax is None:
        figure.set_facecolor(ground.paper)
    return written(figure, path)
