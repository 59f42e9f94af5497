"""Tables: lines of a terminal, HTML for notebooks, LaTeX for papers, and csv files that are safe to open.

All text is escaped; no cell of a csv file that comes from a document is one that a spreadsheet runs.
"""

from __future__ import annotations

import csv
import html
import io
import itertools
import re
import textwrap
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TextIO

from doccluster.base.characters import CONTROLS, DIRECTIONS, LATER_CONTROLS, SURROGATES
from doccluster.base.validation import is_missing

if TYPE_CHECKING:
    import pandas as pd

GAP = 2  # blanks between two columns
MIN_WORDS = 36  # what a column of words keeps before a column may leave: most of a headline
FEWEST_LETTERS = 8  # what it keeps at least


@dataclass(frozen=True)
class Column:
    """One column of a table."""

    name: str
    cells: Sequence[str]  # a cell may have several lines
    align: Literal["left", "right"] = "right"
    # what happens where the table is too wide: nothing, the first line of a cell ends in "…" and those below, which are
    # lists, lose what has no room, each line ends in "…", or cells get more lines
    fit: Literal["whole", "cut", "cut all", "wrap"] = "whole"
    widest: int = 200  # the most characters of a line, where `fit` is not "whole"
    leaves: int = 0  # of the columns that may go where the table is too wide, the highest goes first; 0 stays

    @property
    def width(self) -> int:
        """The width in characters where there is room."""
        widest_line = max(
            (text_width(line) for cell in (self.name, *self.cells) for line in cell.split("\n")), default=0
        )
        return widest_line if self.fit == "whole" else max(text_width(self.name), min(widest_line, self.widest))

    def least(self, words: int) -> int:
        """Return the characters it takes at least, where a column of words keeps `words`; wrapped words stay whole."""
        if self.fit == "wrap":  # lines end at blanks and hyphens
            pieces = (piece for cell in self.cells for piece in textwrap.wrap(cell, 1, break_long_words=False))
            words = max(words, max(map(text_width, pieces), default=0))
        return self.width if self.fit == "whole" else min(self.width, max(words, text_width(self.name)))


def table_lines(
    columns: Sequence[Column],
    width: int,
    *,
    rule: str = "─",
    mark: str = "…",
    headings: Mapping[int, str] | None = None,
) -> list[str]:
    """Return the lines of a table, of `width` characters; only numbers without room beside the first column are longer.

    Columns without any content are left out; where none has a name, there is no line of names, nor the `rule` below it.
    `mark`: what stands where words are left out. `headings`: lines before rows, by the numbers of these.

    >>> sizes = Column("size", ["1,203", "7"])
    >>> headlines = Column("headline", ["A ferry ran aground off the islands", "Fog"], align="left", fit="cut")
    >>> print("\\n".join(table_lines([sizes, headlines], 32, rule="")))
     size  headline
    1,203  A ferry ran aground off…
        7  Fog
    """
    shown = [column for column in columns if any(column.cells)]
    while _least(shown, MIN_WORDS) > width and any(column.leaves for column in shown):
        shown.remove(max(shown, key=lambda column: column.leaves))
    lines: list[str] = []
    for part in _parts(shown, width):
        part_lines = _part_lines(part, width, rule, mark, headings or {})
        lines += ["", *part_lines] if lines else part_lines
    return lines


def _least(columns: Sequence[Column], words: int) -> int:
    return sum(column.least(words) for column in columns) + GAP * (len(columns) - 1)


def _parts(columns: list[Column], width: int) -> Iterator[list[Column]]:
    """Yield the columns that stand side by side; those without room follow below the first, which names the rows."""
    first, waiting = columns[:1], columns[1:]
    while waiting or first:
        part = list(first)
        while waiting and (len(part) == 1 or _least([*part, waiting[0]], FEWEST_LETTERS) <= width):
            part.append(waiting.pop(0))
        yield part
        if not waiting:
            return


def _part_lines(columns: Sequence[Column], width: int, rule: str, mark: str, headings: Mapping[int, str]) -> list[str]:
    widths = _widths(columns, width)
    rows = zip(*(column.cells for column in columns), strict=True)
    names = [column.name for column in columns]
    lines = _row_lines(names, columns, widths, mark) if any(names) else []
    if rule and lines:
        lines.append(rule * (sum(widths) + GAP * (len(widths) - 1)))
    for number, row in enumerate(rows):
        if number in headings:
            lines.append(shortened(headings[number], width, mark))
        lines += _row_lines(row, columns, widths, mark)
    return lines


def _widths(columns: Sequence[Column], width: int) -> list[int]:
    """Return the width of each column: the widest that can be shortened gives first."""
    widths = [column.width for column in columns]
    excess = sum(widths) + GAP * (len(widths) - 1) - width
    while excess > 0:
        able = [place for place, column in enumerate(columns) if widths[place] > column.least(FEWEST_LETTERS)]
        if not able:
            break
        widths[max(able, key=lambda place: widths[place])] -= 1
        excess -= 1
    return widths


def _row_lines(cells: Sequence[str], columns: Sequence[Column], widths: Sequence[int], mark: str) -> list[str]:
    stacks = [_fitted(cell, column, size, mark) for cell, column, size in zip(cells, columns, widths, strict=True)]
    lines = []
    for row in itertools.zip_longest(*stacks, fillvalue=""):
        parts = [_padded(line, column.align, size) for line, column, size in zip(row, columns, widths, strict=True)]
        lines.append((" " * GAP).join(parts).rstrip())
    return lines


def _fitted(cell: str, column: Column, width: int, mark: str) -> list[str]:
    lines = cell.split("\n")
    if column.fit == "wrap":
        return [part for line in lines for part in textwrap.wrap(line, width) or [""]]
    if column.fit == "whole":
        return lines
    cut_below = shortened if column.fit == "cut all" else fewer_words
    return [shortened(lines[0], width, mark), *(cut_below(line, width, mark) for line in lines[1:])]


def _padded(line: str, align: str, width: int) -> str:
    blanks = " " * (width - text_width(line))
    return line + blanks if align == "left" else blanks + line


def text_width(text: str) -> int:
    """Return how many columns of a terminal a text takes: Chinese, Japanese and Korean letters take two.

    >>> text_width("ferry"), text_width("船"), text_width("e\\u0301")
    (5, 2, 1)
    """
    if text.isascii():
        return len(text)
    return sum(map(_letter_width, text))


def _letter_width(letter: str) -> int:
    if unicodedata.category(letter) in ("Mn", "Me", "Cf"):  # accents, and signs that are not seen
        return 0
    return 2 if unicodedata.east_asian_width(letter) in ("W", "F") else 1


def fewer_words(text: str, width: int, mark: str = "…") -> str:
    """Return the first members of a list that fit in `width` columns of a terminal; at least a part of the first.

    >>> fewer_words("index, consumer prices, industrial output", 30)
    'index, consumer prices'
    """
    while text_width(text) > width and ", " in text:
        text = text.rpartition(", ")[0]
    return shortened(text, width, mark)


def shortened(text: str, width: int, mark: str = "…") -> str:
    """Return a text cut to `width` columns of a terminal, with a mark at its end where something is left out.

    >>> shortened("A ferry ran aground", 10)
    'A ferry r…'
    """
    if text_width(text) <= width:
        return text
    room, widths = width - text_width(mark), itertools.accumulate(map(_letter_width, text))
    return text[: sum(1 for _ in itertools.takewhile(room.__ge__, widths))].rstrip() + mark


_UNSEEN = re.compile(f"[{CONTROLS}\f\r{LATER_CONTROLS}{DIRECTIONS}\ufeff]")
_NOT_IN_A_LINE = re.compile(f"[{CONTROLS}\t-\r{LATER_CONTROLS}\u2028\u2029{DIRECTIONS}\ufeff]")
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


def in_one_line(name: str) -> str:
    r"""Return the name of a column with single blanks for line ends, tabs and controls; other names as they are.

    >>> in_one_line("\r=1+1"), in_one_line("party\n(2026)"), in_one_line("two  blanks")
    ('=1+1', 'party (2026)', 'two  blanks')
    """
    return " ".join(_NOT_IN_A_LINE.sub(" ", name).split()) if _NOT_IN_A_LINE.search(name) else name


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
    """Return a table as HTML for a notebook: no script, all text escaped; behind numbers of the column `bar`, bars."""
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


# What a spreadsheet takes for the beginning of a formula (OWASP, "CSV injection"): tab, the ends of lines and the
# full-width signs of East Asian keyboards included.
_FORMULA_SIGNS = frozenset("=+-@\t\n＝＋－＠")
_UNPRINTABLE = re.compile(f"[{CONTROLS}\f]")
_RETURNS = re.compile("\r\n?")
_NUMBER = re.compile(r"[+-][0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")


def safe_cell(value: object) -> object:
    """Return a text without control characters, and with ``'`` before it where a spreadsheet would run it.

    A return becomes a line feed: the csv module quotes no lone one, and what follows it would be a row of its own.
    A number with a sign stays as it is, such as -1, the topic of documents without one.

    >>> safe_cell("=HYPERLINK(1)"), safe_cell("- a dash"), safe_cell("plain"), safe_cell(-1.5)
    ("'=HYPERLINK(1)", "'- a dash", 'plain', -1.5)
    >>> safe_cell("-1"), safe_cell("+0.5"), safe_cell("-1+cmd|' /C calc'!A0")
    ('-1', '+0.5', "'-1+cmd|' /C calc'!A0")
    >>> safe_cell("＝HYPERLINK(1)")  # the signs of East Asian keyboards
    "'＝HYPERLINK(1)"
    """
    if not isinstance(value, str):
        return value
    cleaned = value if value.isprintable() else _UNPRINTABLE.sub("", _RETURNS.sub("\n", storable(value)))
    runs = cleaned[:1] in _FORMULA_SIGNS and not _NUMBER.fullmatch(cleaned)
    return f"'{cleaned}" if runs else cleaned


def storable(text: str) -> str:
    """Return a text that UTF-8 can hold: lone surrogates, as in names of files that do not decode, become escapes."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


def csv_text(table: Mapping[str, Sequence[object]] | pd.DataFrame) -> str:
    r"""Return a table as csv; texts and names of columns are made safe, undefined is empty, numbers keep every digit.

    >>> csv_text({"title": ["=1+1", None], "value": [0.1, float("nan")]})
    "title,value\n'=1+1,0.1\n,\n"
    >>> csv_text({"@class": ["oil"]})
    "'@class\noil\n"
    """
    text = io.StringIO()
    _write(*_names_and_rows(table), text)
    return text.getvalue()


def _names_and_rows(
    table: Mapping[str, Sequence[object]] | pd.DataFrame,
) -> tuple[list[str], Iterator[Sequence[object]]]:
    columns = table if isinstance(table, Mapping) else {name: table[name].tolist() for name in table.columns}
    return [*columns], zip(*columns.values(), strict=True)


def _write(names: Sequence[str], rows: Iterable[Sequence[object]], file: TextIO) -> None:
    writer = csv.writer(file, lineterminator="\n")
    for row in itertools.chain([map(in_one_line, names)], rows):
        writer.writerow([safe_cell(value) if isinstance(value, str) or not is_missing(value) else "" for value in row])


def write_csv(table: Mapping[str, Sequence[object]] | pd.DataFrame, path: Path) -> None:
    """Write `csv_text` to a file, in UTF-8."""
    write_csv_parts([table], path)


def write_csv_parts(tables: Iterable[Mapping[str, Sequence[object]] | pd.DataFrame], path: Path) -> None:
    """Write tables of the same columns one below the other to a csv file; only one of them is held at a time."""
    parts = map(_names_and_rows, tables)
    names, rows = next(parts)
    write_csv_rows(names, itertools.chain(rows, itertools.chain.from_iterable(rows for _, rows in parts)), path)


def write_csv_rows(names: Sequence[str], rows: Iterable[Sequence[object]], path: Path) -> None:
    """Write rows as they come, as `csv_text` writes a table, so that a long one is never in memory."""
    with path.open("w", encoding="utf-8", newline="") as file:
        _write(names, rows, file)
