"""Tables for a terminal or a file, as wide as that is: words are shortened or wrapped, numbers are never cut.

Where the columns do not fit, those that may leave go, in the order they say; where none may, the rest follows below.
"""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

GAP = 2  # blanks between two columns
LEAST_WORDS = 36  # what a column of words keeps before a column may leave: most of a headline
FEWEST_LETTERS = 8  # what it keeps at least


@dataclass(frozen=True)
class Column:
    """One column of a table."""

    name: str
    cells: Sequence[str]  # a cell may have several lines
    align: Literal["left", "right"] = "right"
    # what happens where the table is too wide: nothing, the first line of a cell ends in "…" and those below, which are
    # lists, lose what has no room, or cells get more lines
    fit: Literal["whole", "cut", "wrap"] = "whole"
    widest: int = 200  # the most characters of a line, where `fit` is not "whole"
    leaves: int = 0  # of the columns that may go where the table is too wide, the highest goes first; 0 stays

    @property
    def width(self) -> int:
        """The characters it takes where there is room."""
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


def table_lines(columns: Sequence[Column], width: int, *, rule: str = "─", mark: str = "…") -> list[str]:
    """Return the lines of a table.

    `columns`: columns without any content are left out; where none has a name, there is no line of names. `width`: the
    characters of a line. Only a line of numbers that have no room beside the first column is longer. `rule`: what the
    line below the names is made of; empty for none. `mark`: what stands where words are left out.

    >>> sizes = Column("size", ["1,203", "7"])
    >>> headlines = Column("headline", ["A ferry ran aground off the islands", "Fog"], align="left", fit="cut")
    >>> print("\\n".join(table_lines([sizes, headlines], 32, rule="")))
     size  headline
    1,203  A ferry ran aground off…
        7  Fog
    """
    shown = [column for column in columns if any(column.cells)]
    while _least(shown, LEAST_WORDS) > width and any(column.leaves for column in shown):
        shown.remove(max(shown, key=lambda column: column.leaves))
    lines: list[str] = []
    for part in _parts(shown, width):
        lines += ["", *_part_lines(part, width, rule, mark)] if lines else _part_lines(part, width, rule, mark)
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


def _part_lines(columns: Sequence[Column], width: int, rule: str, mark: str) -> list[str]:
    widths = _widths(columns, width)
    rows = zip(*(column.cells for column in columns), strict=True)
    names = [column.name for column in columns]
    lines = _row_lines(names, columns, widths, mark) if any(names) else []
    if rule and lines:
        lines.append(rule * (sum(widths) + GAP * (len(widths) - 1)))
    for row in rows:
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
    for number in range(max(map(len, stacks))):
        parts = [
            _padded(stack[number] if number < len(stack) else "", column.align, size)
            for stack, column, size in zip(stacks, columns, widths, strict=True)
        ]
        lines.append((" " * GAP).join(parts).rstrip())
    return lines


def _fitted(cell: str, column: Column, width: int, mark: str) -> list[str]:
    lines = cell.split("\n")
    if column.fit == "wrap":
        return [part for line in lines for part in textwrap.wrap(line, width) or [""]]
    if column.fit == "whole":
        return lines
    return [shortened(lines[0], width, mark), *(fewer_words(line, width, mark) for line in lines[1:])]


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
    n_letters, taken_width = 0, 0
    for letter in text:
        taken_width += _letter_width(letter)
        if taken_width > width - text_width(mark):
            break
        n_letters += 1
    return text[:n_letters].rstrip() + mark
