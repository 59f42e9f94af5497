"""Every score as plain data, grouped by family: value, better direction, range, and the reason where there is none."""

from __future__ import annotations

import math
from dataclasses import dataclass

from doccluster.evaluation import Score
from doccluster.evaluation.result import HEADINGS, by_measure, families_of, truth_of
from doccluster.measures.registry import ARROWS, Measure
from doccluster.record import Run
from doccluster.report.wording import decimal, one_line

BETTER = {"higher": "higher is better", "lower": "lower is better", "none": "no better direction"}
EXPLAINED = {
    "external": "How well the clusters agree with labels that came with the documents.",
    "internal": "How tight and how well separated the clusters are, computed from the document vectors alone.",
    "intrinsic": "What each cluster is like, and how it relates to the others.",
    "topic": "How well the top terms of the clusters go together.",
}


@dataclass(frozen=True)
class ScoreCell:
    """One value: its text, its worth for sorting, and whether it is a value, undefined, skipped or absent.

    `gauge` is where it lies in the range of the measure, 0 to 1; None without fixed bounds or a better direction.
    """

    text: str
    sort: str
    status: str
    gauge: float | None = None


@dataclass(frozen=True)
class ScoreRow:
    """One measure, which direction is better, and its value for each column of the table."""

    measure: Measure
    arrow: str
    better: str
    cells: tuple[ScoreCell, ...]
    note: str


@dataclass(frozen=True)
class ScoreFamily:
    """The measures of one family; `columns` are the truth columns, or one column called "value"."""

    key: str
    heading: str
    explained: str
    columns: tuple[str, ...]
    rows: tuple[ScoreRow, ...]

    @property
    def left_out(self) -> tuple[str, ...]:
        """The names of the measures that were not computed, but would be if they were asked for."""
        return tuple(row.measure.name for row in self.rows if any(cell.status == "skipped" for cell in row.cells))


def score_families(run: Run) -> tuple[ScoreFamily, ...]:
    """Return all scores of a run, by family."""
    truths = truth_of(run.evaluation)
    families = []
    for key, scores in families_of(run.evaluation):
        columns: list[str | None] = [*truths] if key == "external" else [None]
        rows = tuple(_row(first, cells) for first, cells in by_measure(scores, columns))
        names = tuple(one_line(str(column), 60) if column else "value" for column in columns)
        families.append(ScoreFamily(key, HEADINGS[key], EXPLAINED[key], names, rows))
    return tuple(families)


def _row(first: Score, scores: list[Score | None]) -> ScoreRow:
    record = first.measure
    return ScoreRow(
        measure=record,
        arrow=ARROWS[record.direction],
        better=BETTER[record.direction],
        cells=tuple(_cell(score) for score in scores),
        note=_note(scores),
    )


def _cell(score: Score | None) -> ScoreCell:
    if score is None:
        return ScoreCell("", "", "absent")
    if score.is_defined:
        spread = "" if score.standard_error is None else f" ± {decimal(score.standard_error, 4)}"
        return ScoreCell(f"{decimal(score.value, 4)}{spread}", repr(score.value), "value", _gauge(score))
    return ScoreCell("not computed" if score.status == "skipped" else "undefined", "", score.status)


def _note(scores: list[Score | None]) -> str:
    notes = dict.fromkeys(note for score in scores if score is not None for note in score.notes)
    return one_line("; ".join(notes), 400)


def _gauge(score: Score) -> float | None:
    low, high = score.measure.bounds
    if low is None or high is None or score.measure.direction == "none" or not math.isfinite(score.value):
        return None
    return min(1.0, max(0.0, (score.value - low) / (high - low)))
