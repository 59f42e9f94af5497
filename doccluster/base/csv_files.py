"""Tables as csv files that are safe to open: UTF-8, ISO dates, and no cell from a document that a spreadsheet runs."""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from doccluster.base.plain_values import CONTROLS
from doccluster.base.validation import is_missing

if TYPE_CHECKING:
    import pandas as pd

# What a spreadsheet takes for the beginning of a formula (OWASP, "CSV injection"): tab, return and the full-width signs
# of East Asian keyboards included.
_FORMULA_SIGNS = frozenset("=+-@\t\r＝＋－＠")
_UNPRINTABLE = re.compile(f"[{CONTROLS}\f]")


def safe_cell(value: Any) -> Any:
    """Return a text without control characters, and with ``'`` before it where a spreadsheet would run it.

    >>> safe_cell("=HYPERLINK(1)"), safe_cell("- a dash"), safe_cell("plain"), safe_cell(-1.5)
    ("'=HYPERLINK(1)", "'- a dash", 'plain', -1.5)
    >>> safe_cell("＝HYPERLINK(1)")  # the signs of East Asian keyboards
    "'＝HYPERLINK(1)"
    """
    if not isinstance(value, str):
        return value
    cleaned = value if value.isprintable() else _UNPRINTABLE.sub("", storable(value))
    return f"'{cleaned}" if cleaned[:1] in _FORMULA_SIGNS else cleaned


def storable(text: str) -> str:
    """Return a text that UTF-8 (and a column of text in a data frame) can hold: lone surrogates become escapes.

    Names of files whose bytes do not decode hold them.
    """
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


def csv_text(table: Mapping[str, Sequence[Any]] | pd.DataFrame) -> str:
    r"""Return a table as csv; texts and names of columns are made safe, undefined is empty, numbers keep every digit.

    >>> csv_text({"title": ["=1+1", None], "value": [0.1, float("nan")]})
    "title,value\n'=1+1,0.1\n,\n"
    >>> csv_text({"@class": ["oil"]})
    "'@class\noil\n"
    """
    columns = table if isinstance(table, Mapping) else {name: table[name].tolist() for name in table.columns}
    text = io.StringIO()
    _write(tuple(columns), zip(*columns.values(), strict=True), text)
    return text.getvalue()


def _write(names: Sequence[str], rows: Iterable[Sequence[Any]], file: TextIO) -> None:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerows([_cell(value) for value in row] for row in itertools.chain([names], rows))


def _cell(value: Any) -> Any:
    return safe_cell(value) if isinstance(value, str) or not is_missing(value) else ""


def write_csv(table: Mapping[str, Sequence[Any]] | pd.DataFrame, path: Path) -> None:
    """Write `csv_text` to a file, in UTF-8."""
    write_csv_parts([table], path)


def write_csv_parts(tables: Iterable[Mapping[str, Sequence[Any]] | pd.DataFrame], path: Path) -> None:
    """Write tables of the same columns one below the other to a csv file; only one of them is held at a time."""
    with path.open("w", encoding="utf-8", newline="") as file:
        for number, table in enumerate(tables):
            text = csv_text(table)
            file.write(text if number == 0 else text[text.index("\n") + 1 :])


def write_csv_rows(names: Sequence[str], rows: Iterable[Sequence[Any]], path: Path) -> None:
    """Write rows as they come, as `csv_text` writes a table, so that a long one is never in memory."""
    with path.open("w", encoding="utf-8", newline="") as file:
        _write(names, rows, file)
