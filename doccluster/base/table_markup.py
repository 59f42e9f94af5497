"""Tables in other people's pages: HTML for notebooks and LaTeX for papers, with all text escaped."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence

from doccluster.base.control_characters import CONTROLS, DIRECTIONS, LATER_CONTROLS, SURROGATES

_UNSEEN = re.compile(f"[{CONTROLS}\f\r{LATER_CONTROLS}{DIRECTIONS}\ufeff]")
_SURROGATE = re.compile(f"[{SURROGATES}]")
_LATEX = str.maketrans(
    {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {sign: f"\\{sign}" for sign in "_&%$#{}"}
)
Cell = str | float | int | None


def visible(text: str) -> str:
    r"""Return `text` without characters that are not seen but act: controls and changes of writing direction.

    >>> visible("abc\u202egpj.exe\x00")
    'abcgpj.exe'
    """
    return _SURROGATE.sub("\ufffd", _UNSEEN.sub("", text))


def latex_escaped(text: str) -> str:
    r"""Return `text` for LaTeX, in which no character of it acts.

    >>> print(latex_escaped("a_b & 5 %"))
    a\_b \& 5 \%
    """
    return text.translate(_LATEX)


def latex_table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, alignment: str) -> str:
    """Return a LaTeX table (package booktabs) of cells that are LaTeX already; the column names are escaped here."""
    lines = [rf"\begin{{tabular}}{{{alignment}}}", r"\toprule", " & ".join(map(latex_escaped, columns)) + r" \\"]
    lines += [r"\midrule", *(" & ".join(row) + r" \\" for row in rows), r"\bottomrule", r"\end{tabular}"]
    return "\n".join(lines) + "\n"


def html_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[Cell]],
    *,
    caption: str = "",
    bar: str | None = None,
) -> str:
    """Return a table as a piece of HTML that a notebook shows: no script, no style but its own, all text escaped.

    `rows`: numbers are aligned right; None is an empty cell. `caption`: a sentence above the table. `bar`: the column
    of numbers that is also drawn: behind each, a bar as long as its share of the largest.
    """
    lines = [list(row) for row in rows]
    place = None if bar is None else list(columns).index(bar)
    largest = max((float(row[place] or 0) for row in lines), default=0.0) if place is not None else 0.0
    head = "".join(f'<th style="text-align:left">{_escaped(name)}</th>' for name in columns)
    body = "".join(
        f"<tr>{''.join(_cell(cell, largest if number == place else 0.0) for number, cell in enumerate(row))}</tr>"
        for row in lines
    )
    above = f'<caption style="text-align:left">{_escaped(caption)}</caption>' if caption else ""
    return f"<table>{above}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(cell: Cell, largest: float) -> str:
    if cell is None or isinstance(cell, str):
        return f'<td style="text-align:left">{_escaped(cell or "")}</td>'
    shown = f"{cell:,}" if isinstance(cell, int) else f"{cell:.4g}"
    width = 100 * float(cell) / largest if largest > 0 else 0.0
    bar = f";background:linear-gradient(to right,#c9d8ea {width:.0f}%,transparent 0)" if width > 0 else ""
    return f'<td style="text-align:right{bar}">{shown}</td>'


def _escaped(text: str) -> str:
    return html.escape(visible(text))
