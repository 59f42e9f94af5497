"""Evaluations for people: a rich table, plain text and LaTeX, grouped by family, with the better direction."""

from __future__ import annotations

import io
import math
from typing import Any

from doccluster.evaluation.result import ARROWS, FAMILIES, Evaluation, Score
from doccluster.evaluation.truth import coverage_note

HEADINGS = {
    "external": "External: against the truth",
    "internal": "Internal: from the vectors",
    "intrinsic": "Intrinsic: per cluster",
    "topic": "Topic words",
}


def format_value(value: float) -> str:
    """Return a value in at most four decimals, or the word for one that is not finite.

    >>> format_value(0.36456), format_value(float("nan")), format_value(-12345.678)
    ('0.3646', 'undefined', '-12,345.7')
    """
    if math.isnan(value):
        return "undefined"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    return f"{value:,.1f}" if abs(value) >= 1000 else f"{value:.4f}"


def families_of(evaluation: Evaluation) -> list[tuple[str, list[Score]]]:
    """Return the scores by family, in the order external, internal, intrinsic, topic."""
    groups = [(family, [s for s in evaluation.scores if s.measure.family == family]) for family in FAMILIES]
    return [(family, scores) for family, scores in groups if scores]


def truth_of(evaluation: Evaluation) -> list[str | None]:
    """Return the truth columns of the scores, or [None] if there is none: one column of values for each."""
    return list(dict.fromkeys(score.truth for score in evaluation.scores if score.truth)) or [None]


def by_measure(scores: list[Score], columns: list[str | None]) -> list[tuple[Score, list[Score | None]]]:
    """Return for each measure its first score and one score (or None) per column; what has no truth is in the first."""
    result = []
    for name in dict.fromkeys(score.name for score in scores):
        mine = {score.truth: score for score in scores if score.name == name}
        cells = [mine.get(column, mine.get(None) if number == 0 else None) for number, column in enumerate(columns)]
        result.append((next(iter(mine.values())), cells))
    return result


def rich_table(evaluation: Evaluation) -> Any:
    """Return a rich table with one section per family, one column of values per truth column."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    columns = truth_of(evaluation)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, caption=_captions(evaluation) or None)
    table.caption_justify = "left"
    table.add_column("measure", no_wrap=True)
    table.add_column("", no_wrap=True)
    for column in columns:
        table.add_column(str(column) if len(columns) > 1 else "value", justify="right", no_wrap=True)
    table.add_column("range")
    table.add_column("note", style="dim")
    for family, scores in families_of(evaluation):
        table.add_row(Text(HEADINGS[family], style="bold"))
        for first, cells in by_measure(scores, columns):
            values = ["" if score is None else format_value(score.value) for score in cells]
            row = [f"  {first.name}", ARROWS[first.measure.direction], *values]
            table.add_row(*map(Text, [*row, first.measure.range, _notes(evaluation, cells)]))
        table.add_section()
    return table


def _captions(evaluation: Evaluation) -> str:
    """Return what each truth column leaves out, one line each."""
    notes = {column: coverage_note(counts) for column, counts in evaluation.coverage.items()}
    return "\n".join(f"{column}: {note}" for column, note in notes.items() if note)


def _notes(evaluation: Evaluation, cells: list[Score | None]) -> str:
    """Return the notes of a line, each once, without what the caption says."""
    said = [coverage_note(counts) for counts in evaluation.coverage.values()]
    notes = [note for score in cells if score and score.note for note in score.note.split("; ") if note not in said]
    return "; ".join(dict.fromkeys(notes))


def text_table(evaluation: Evaluation, *, width: int = 140) -> str:
    """Return the rich table as plain text."""
    from rich.console import Console

    stream = io.StringIO()
    Console(file=stream, width=width, color_system=None).print(rich_table(evaluation))
    return stream.getvalue().rstrip("\n")


_LATEX_ARROWS = {"higher": r"$\uparrow$", "lower": r"$\downarrow$", "none": ""}
_LATEX_SPECIAL = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
    }
)


def latex_table(evaluation: Evaluation) -> str:
    """Return a booktabs table: one line per measure, one column of values per truth column."""
    columns = truth_of(evaluation)
    heads = ["value"] if len(columns) == 1 else [_escaped(str(column)) for column in columns]
    lines = [r"\begin{tabular}{ll" + "r" * len(columns) + "}", r"\toprule"]
    lines += [" & ".join(["Measure", "", *heads]) + r" \\"]
    for family, scores in families_of(evaluation):
        lines += [r"\midrule", rf"\multicolumn{{{len(columns) + 2}}}{{l}}{{\emph{{{HEADINGS[family]}}}}} \\"]
        for first, cells in by_measure(scores, columns):
            values = ["" if score is None else _latex_value(score.value) for score in cells]
            name = [_escaped(first.measure.title), _LATEX_ARROWS[first.measure.direction]]
            lines.append(" & ".join([*name, *values]) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def _latex_value(value: float) -> str:
    if math.isnan(value):
        return "--"
    if math.isinf(value):
        return r"$\infty$" if value > 0 else r"$-\infty$"
    return f"${format_value(value)}$".replace(",", "{,}")


def _escaped(text: str) -> str:
    return text.translate(_LATEX_SPECIAL)
