"""Evaluations for people: a rich table, plain text and LaTeX, grouped by family, with the better direction."""

from __future__ import annotations

import io
import math
from typing import Any

from doccluster.evaluation.result import ARROWS, FAMILIES, Evaluation, Score

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


def rich_table(evaluation: Evaluation) -> Any:
    """Return a rich table with one section per family."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    several = len({score.truth for score in evaluation.scores if score.truth}) > 1
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("measure", no_wrap=True)
    if several:
        table.add_column("truth")
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_column("range")
    table.add_column("note", style="dim")
    blank = [""] * (len(table.columns) - 1)
    for family, scores in families_of(evaluation):
        table.add_row(Text(HEADINGS[family], style="bold"), *blank)
        for score in scores:
            cells = [f"  {score.name}", *([score.truth or ""] if several else []), format_value(score.value)]
            cells += [ARROWS[score.measure.direction], score.measure.range, score.note or ""]
            table.add_row(*(Text(cell) for cell in cells))
        table.add_section()
    return table


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
    columns = list(dict.fromkeys(score.truth for score in evaluation.scores if score.truth)) or [None]
    heads = ["value"] if len(columns) == 1 else [_escaped(str(column)) for column in columns]
    lines = [r"\begin{tabular}{ll" + "r" * len(columns) + "}", r"\toprule"]
    lines += [" & ".join(["Measure", "", *heads]) + r" \\"]
    for family, scores in families_of(evaluation):
        lines += [r"\midrule", rf"\multicolumn{{{len(columns) + 2}}}{{l}}{{\emph{{{HEADINGS[family]}}}}} \\"]
        lines += [_latex_line(name, scores, columns) for name in dict.fromkeys(s.name for s in scores)]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def _latex_line(name: str, scores: list[Score], columns: list[str | None]) -> str:
    mine = [score for score in scores if score.name == name]
    by_truth = {score.truth: score for score in mine}
    cells = []
    for number, column in enumerate(columns):
        score = by_truth.get(column, by_truth.get(None) if number == 0 else None)
        cells.append("" if score is None else _latex_value(score.value))
    record = mine[0].measure
    return " & ".join([_escaped(record.title), _LATEX_ARROWS[record.direction], *cells]) + r" \\"


def _latex_value(value: float) -> str:
    if math.isnan(value):
        return "--"
    if math.isinf(value):
        return r"$\infty$" if value > 0 else r"$-\infty$"
    return f"${format_value(value)}$".replace(",", "{,}")


def _escaped(text: str) -> str:
    return text.translate(_LATEX_SPECIAL)
