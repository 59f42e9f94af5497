"""Evaluations for people: plain text, HTML and LaTeX, grouped by family, with the better direction."""

from __future__ import annotations

import html
import math
from typing import TYPE_CHECKING

from doccluster.base.choices import FAMILIES
from doccluster.base.table_markup import html_table, latex_escaped
from doccluster.base.text_table import Column, table_lines
from doccluster.evaluation.truth import coverage_note
from doccluster.measures.registry import ARROWS

if TYPE_CHECKING:
    from doccluster.evaluation.result import Evaluation, Score

    # truth columns, and the families of measures that have a value for each of them
    Part = tuple[list[str | None], list[tuple[str, list[Score]]]]

HEADINGS = {
    "external": "External: against the truth",
    "internal": "Internal: from the vectors",
    "intrinsic": "Intrinsic: per cluster",
    "topic": "Topic words",
}


def format_score(score: Score) -> str:
    """Return the value of a score as `format_value` does; of one that was left out, that it was not computed."""
    return "not computed" if score.status == "skipped" else format_value(score.value)


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
    """Return for each measure its first score and one score (or None) per truth column; [None] stands for no truth."""
    result = []
    for name in dict.fromkeys(score.name for score in scores):
        mine = {score.truth: score for score in scores if score.name == name}
        result.append((next(iter(mine.values())), [mine.get(column) for column in columns]))
    return result


def _parts(evaluation: Evaluation) -> list[Part]:
    """Return the families with their columns; what needs no truth stands apart where there are several truths."""
    columns, families = truth_of(evaluation), families_of(evaluation)
    external = [family for family in families if family[0] == "external"]
    others = [family for family in families if family[0] != "external"]
    parts: list[Part] = [(columns, external), ([None], others)]
    return [part for part in parts if part[1]]


def text_table(evaluation: Evaluation, *, width: int = 140, rule: str = "─", mark: str = "…") -> str:
    """Return the scores as plain text, by family; with several truth columns, what needs no truth stands below.

    `width`, `rule`, `mark`: as for `table_lines`.
    """
    parts = _parts(evaluation)
    # one column of values serves all families
    together = [(parts[0][0], parts)] if all(len(heads) == 1 for heads, _ in parts) else [(p[0], [p]) for p in parts]
    told = [
        "\n".join(table_lines(_columns(evaluation, heads, own), width, rule=rule, mark=mark)) for heads, own in together
    ]
    captions = _captions(evaluation)
    return "\n\n".join([told[0] + (f"\n{captions}" if captions else ""), *told[1:]])


def _columns(evaluation: Evaluation, heads: list[str | None], parts: list[Part]) -> list[Column]:
    """Return the columns of parts that have as many columns of values."""
    rows: list[list[str]] = []
    n_values = len(heads)
    for columns, families in parts:
        for family, scores in families:
            rows.append([HEADINGS[family], *[""] * (n_values + 3)])
            for first, cells in by_measure(scores, columns):
                shown = ["" if score is None else format_score(score) for score in cells]
                row = [f"  {first.name}", ARROWS[first.measure.direction], *shown]
                rows.append([*row, first.measure.range, _notes(evaluation, cells)])
    names, arrows, *values, ranges, notes = zip(*rows, strict=True)
    value_names = ["value"] if n_values == 1 else [str(head) for head in heads]
    return [
        Column("measure", names, "left"),
        Column("", arrows, "left"),
        *(Column(name, cells) for name, cells in zip(value_names, values, strict=True)),
        Column("range", ranges, "left", leaves=2),
        Column("note", notes, "left", fit="wrap", leaves=1),
    ]


def _captions(evaluation: Evaluation) -> str:
    """Return one line for each truth column that leaves documents out."""
    notes = {column: coverage_note(counts) for column, counts in evaluation.coverage.items()}
    return "\n".join(f"{column}: {note}" for column, note in notes.items() if note)


def _notes(evaluation: Evaluation, cells: list[Score | None]) -> str:
    """Return the notes of a line, each once, without what the caption says."""
    said = [coverage_note(counts) for counts in evaluation.coverage.values()]
    notes = [note for score in cells if score for note in score.notes if note not in said]
    return "; ".join(dict.fromkeys(notes))


def notebook_table(evaluation: Evaluation) -> str:
    """Return the scores as a piece of HTML for notebooks: value, better direction, range and notes of each measure."""
    tables = []
    for columns, families in _parts(evaluation):
        for family, scores in families:
            heads = ["measure", "", *(["value"] if len(columns) == 1 else map(str, columns)), "range", "note"]
            rows = [
                [first.name, ARROWS[first.measure.direction]]
                + ["" if score is None else format_score(score) for score in cells]
                + [first.measure.range, _notes(evaluation, cells)]
                for first, cells in by_measure(scores, columns)
            ]
            tables.append(html_table(heads, rows, caption=HEADINGS[family]))
    said = _captions(evaluation)
    return "".join(tables) + (f"<p>{html.escape(said)}</p>" if said else "")


_LATEX_ARROWS = {"higher": r"$\uparrow$", "lower": r"$\downarrow$", "none": ""}


def latex_table(evaluation: Evaluation) -> str:
    """Return a booktabs table: one line per measure, one column of values per truth column.

    With several truth columns a value without truth spans them all, so that it stands under none of them.
    """
    truths = truth_of(evaluation)
    n = len(truths)
    heads = ["value"] if n == 1 else [latex_escaped(str(column)) for column in truths]
    lines = [r"\begin{tabular}{ll" + "r" * n + "}", r"\toprule"]
    lines += [" & ".join(["Measure", "", *heads]) + r" \\"]
    for columns, families in _parts(evaluation):
        for family, scores in families:
            lines += [r"\midrule", rf"\multicolumn{{{n + 2}}}{{l}}{{\emph{{{HEADINGS[family]}}}}} \\"]
            for first, cells in by_measure(scores, columns):
                values = ["" if score is None else _latex_value(score.value) for score in cells]
                if len(columns) < n:
                    values = [rf"\multicolumn{{{n}}}{{r}}{{{value}}}" for value in values]
                name = [latex_escaped(first.measure.title), _LATEX_ARROWS[first.measure.direction]]
                lines.append(" & ".join([*name, *values]) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def _latex_value(value: float) -> str:
    if math.isnan(value):
        return "--"
    if math.isinf(value):
        return r"$\infty$" if value > 0 else r"$-\infty$"
    return f"${format_value(value)}$".replace(",", "{,}")
