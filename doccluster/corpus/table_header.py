"""Where a table in a file begins: after comments, a title and other lines, and with a header of up to three rows.

Three rows are those of Orange: names, types and roles; its one row writes the roles before the names (``cD#topic``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from doccluster.corpus.assembly import UniqueNames
from doccluster.corpus.columns import looks_like_header
from doccluster.corpus.reader_options import ReadOptions

MOST_BEFORE = 20  # rows before a header
_SPREADSHEET = re.compile(r'\ufeff?"?sep=(.)"?\s*', re.IGNORECASE)
_CELL_ENDS = re.compile(r"[,;\t|~^](?! )")
_TYPES = "continuous|discrete|string|time|text|str|int|integer|float|double|number|date|datetime|categorical"
_UNIT = re.compile(rf"\[.*\]|\(.*\)|-+|{_TYPES}", re.IGNORECASE)
_SHORT_UNIT = re.compile(r"[^\d\s]{0,3}")
_TYPE = re.compile(f"[cdst]|{_TYPES}", re.IGNORECASE)
_ROLE = re.compile(r"c|class|m|meta|w|weight|i|ignore|skip|[a-z_]+=.*", re.IGNORECASE)
_MARKED = re.compile(r"(?=[mciwCDST])([mciw]?)[CDST]?#\s*(\S.*)")


@dataclass(frozen=True)
class Header:
    """The names of the columns, those that hold classes, and the rows that stand before and below the names."""

    names: list[str]
    classes: list[str]
    n_before: int = 0
    n_below: int = 0


def stands_before(line: str, options: ReadOptions) -> bool:
    """Say whether a line stands before a table: a blank one, ``sep=;``, a comment other than the names of columns.

    >>> stands_before("# of letters", ReadOptions()), stands_before("#id,text", ReadOptions())
    (True, False)
    """
    text = line.strip("\ufeff \t\r\n\"'")
    cells = _CELL_ENDS.split(text.lstrip("# "))
    is_comment = options.header and text.startswith("#") and not (len(cells) > 1 and looks_like_header(cells, options))
    return not text or is_comment or delimiter_in(line) is not None


def delimiter_in(line: str) -> str | None:
    """Return the delimiter that a line ``sep=;`` names, as spreadsheets put it first."""
    named = _SPREADSHEET.fullmatch(line)
    return None if named is None else named[1]


def rows_before(rows: Sequence[Sequence[str]], options: ReadOptions) -> int:
    """Return how many rows stand before the header of a table.

    These are titles (one cell of several words, or of one above three columns, where all rows below are of one width),
    or whatever is narrower than a row with usual names.

    >>> rows_before([["Letters", "2026"], ["id", "text", "class"], ["1", "Rain.", "a"]], ReadOptions())
    1
    """
    widths = [sum(map(bool, map(str.strip, row))) for row in rows]
    for place, row in enumerate(rows[:MOST_BEFORE]):
        if looks_like_header(row, options) and widths[place] > max(widths[:place], default=0):
            return place
    is_title = [width == 1 and not _CELL_ENDS.search(row[0]) for width, row in zip(widths, rows, strict=True)]
    place = is_title.index(False) if False in is_title else 0
    wide = {len(row) for row in rows[place:]}
    least = 2 if all(len(row[0].split()) > 1 for row in rows[:place]) else 3
    return place if len(rows) - place > 1 and len(wide) == 1 and min(wide) >= least else 0


def header_of(rows: Sequence[Sequence[str]], options: ReadOptions) -> Header:
    """Return the header of a table by its first rows; without one the columns are called 1, 2, ...."""
    if not options.header:
        return Header([str(place) for place in range(1, len(rows[0]) + 1)], [])
    before = rows_before(rows, options)
    cells = [cell.strip("\ufeff \t\r\n") for cell in rows[before]]
    marked = [_MARKED.fullmatch(cell) for cell in cells]
    below = rows[before + 1 : before + 3]
    n_below = int(len(below) > 1 and _has_units(below[0]))
    is_class = [mark is not None and mark[1] == "c" for mark in marked]
    roles = [cell.lower().split() for row in below[1:] for cell in row]
    is_role = [_ROLE.fullmatch(role) is not None for cell in roles for role in cell]
    if is_role and all(is_role) and any(map(_TYPE.fullmatch, below[0])):
        n_below, is_class = 2, [bool({"c", "class"}.intersection(cell)) for cell in roles]
    taken = UniqueNames(".")
    written = [cell if mark is None else mark[2] for cell, mark in zip(cells, marked, strict=True)]
    # each name once: a second "text" is "text.2", an unnamed one "3"; a header in a comment begins with #
    names = [taken.take(name.lstrip("# " * (place == 1)) or str(place)) for place, name in enumerate(written, 1)]
    return Header(names, [name for name, flag in zip(names, is_class, strict=False) if flag], before, n_below)


def _has_units(row: Sequence[str]) -> bool:
    """Say whether all cells of a row, one of them without doubt, are units or types, as they stand below a header."""
    is_unit = [_UNIT.fullmatch(cell) is not None for cell in row]
    pairs = zip(is_unit, row, strict=True)
    return sum(map(bool, row)) > 1 and any(is_unit) and all(unit or _SHORT_UNIT.fullmatch(cell) for unit, cell in pairs)
