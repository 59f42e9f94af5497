"""Spreadsheets (XLSX, ODS): zip archives of XML, whose sheet with the most prose is read as a table.

Rows go the way of those of a csv. A cell that is repeated a million times costs nothing where it is empty.
"""

from __future__ import annotations

import datetime as dt
import functools
import itertools
import posixpath
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from xml.etree.ElementTree import Element

from doccluster.base.limited_process import TooCostly
from doccluster.corpus._delimited import Row, read_rows
from doccluster.corpus._office_files import opened_archive, paragraphs
from doccluster.corpus._xml_files import local_name, xml_elements
from doccluster.corpus.columns import SAMPLED_ROWS, listed, prose_length
from doccluster.corpus.document import Skipped
from doccluster.corpus.reader import Beginning, Draft, Format, InputFile, ReadFailure, UnknownColumn, counted_stream
from doccluster.corpus.reader_options import ReadOptions

_VALUES = {"date": "date-value", "boolean": "boolean-value"}  # attributes of cells in ODS,
_VALUES |= dict.fromkeys(("float", "percentage", "currency"), "value")  # whose texts are written for people
_MAX_COLUMNS = 16_384  # of a sheet, in every program
_DATE_FORMATS = {*map(str, (*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)))}  # those built in
_TARGETS = "xl/_rels/workbook.xml.rels"
_NOT_IN_DATES = re.compile(r'"[^"]*"|\[[^\]]*\]|\\.')
_FIRST_PART = re.compile(
    rb"PK\x03\x04.{26}(xl|word|ppt)/|mimetypeapplication/vnd\.oasis\.opendocument\.(sp)", re.DOTALL
)
_SUFFIXES = (".xlsx", ".xlsm", ".ods")
_Sheets = dict[str, Callable[[], Iterator[list[str]]]]  # the rows of each sheet


def read_spreadsheet(file: InputFile, options: ReadOptions) -> Iterator[Draft | Skipped]:
    """Return the rows of the sheet that was named, else of that with the most prose; others are listed."""
    with opened_archive(file, options) as archive:
        sheets = _sheets(archive, file, options)
        samples = {name: list(itertools.islice(rows(), SAMPLED_ROWS)) for name, rows in sheets.items()}
        name = _chosen(samples, file, options)
        width = max(map(len, samples[name]))
        n_cells = 8 * sum(entry.compress_size for entry in archive.infolist()) + 100 * options.allowance.n_items
        yield from read_rows(_padded(sheets[name](), width, n_cells), file, options)
        remedy = f"read was {name!r}; --format xlsx:sheet=NAME reads another"
        others = [other for other, sample in samples.items() if sample and other != name]
        yield from (Skipped(f"{file.name}, sheet {other}", "other-sheet", remedy) for other in others)


def _chosen(samples: dict[str, list[list[str]]], file: InputFile, options: ReadOptions) -> str:
    """Return the name of the sheet to read."""
    names = {name.lower(): name for name in samples}
    if options.sheet is not None:
        if str(options.sheet).lower() not in names:
            shown = listed(list(samples))
            raise UnknownColumn(f"{file.name} has no sheet {options.sheet!r}", remedy=f"its sheets are {shown}")
        names = {"": names[str(options.sheet).lower()]}

    def prose(name: str) -> float:
        columns = itertools.zip_longest(*samples[name], fillvalue="")
        return max((len(column) * prose_length(column) for column in columns), default=-1.0)

    name = max(names.values(), key=prose, default="")
    if not samples.get(name):
        raise ReadFailure("empty", "a spreadsheet without rows")
    return name


def _padded(rows: Iterator[list[str]], width: int, n_cells: int) -> Iterator[Row]:
    """Yield rows that are as wide as the table; raise TooCostly beyond a number of cells."""
    for number, row in enumerate(rows, 1):
        if number * width > n_cells:
            raise TooCostly(f"has more than {n_cells:,} cells, empty ones included")
        yield Row(number, [*row, *[""] * (width - len(row))])


def _sheets(archive: zipfile.ZipFile, file: InputFile, options: ReadOptions) -> _Sheets:
    """Return how to read the rows of each sheet."""

    def elements(part: str, *path: str) -> Iterator[Element]:
        if part in archive.namelist():
            with archive.open(part) as stream:
                data = replace(file, stream=counted_stream(stream, broken="broken-file"), encoding=None)
                yield from xml_elements(data, path, options)

    if "xl/workbook.bin" in archive.namelist():
        raise ReadFailure("unsupported-format", "a binary workbook; save it as xlsx or csv")
    if "content.xml" in archive.namelist():
        entries = elements("META-INF/manifest.xml", "manifest")
        if any(local_name(part) == "encryption-data" for entry in entries for part in entry):
            raise ReadFailure("encrypted", "it has a password")
        tables = elements("content.xml", "document-content", "body", "spreadsheet")
        return {_attribute(table, "name"): partial(_rows_of_table, table) for table in tables if len(table)}
    targets = {entry.get("Id"): entry.get("Target", "") for entry in elements(_TARGETS, "relationships")}
    book = {local_name(part): part for part in elements("xl/workbook.xml", "workbook")}
    styles = {local_name(part): part for part in elements("xl/styles.xml", "stylesheet")}
    starts_1904 = "workbookpr" in book and _attribute(book["workbookpr"], "date1904") in ("1", "true")
    cells = _Cells(
        strings=["".join(_runs(item)) for item in elements("xl/sharedStrings.xml", "sst")],
        date_styles=_date_styles(styles.get("numfmts", ()), styles.get("cellxfs", ())),
        first_day=dt.datetime(1904, 1, 1) if starts_1904 else dt.datetime(1899, 12, 30),
    )

    def rows(part: str) -> Iterator[list[str]]:
        return filter(None, map(cells.row, elements(part, "worksheet", "sheetdata")))

    places = {sheet.get("name", ""): targets.get(_attribute(sheet, "id"), "") for sheet in book.get("sheets", ())}
    return {name: partial(rows, posixpath.join("/xl", place)[1:]) for name, place in places.items()}


def _attribute(element: Element, name: str) -> str:
    return next((value for key, value in element.attrib.items() if key.rpartition("}")[2] == name), "")


def _runs(item: Element) -> Iterator[str]:
    """Yield the pieces of a text, without how its words are pronounced."""
    for run in (item, *item):
        if local_name(run) != "rph":
            yield from (part.text or "" for part in run if local_name(part) == "t")


def _date_styles(codes: Iterable[Element], styles: Iterable[Element]) -> frozenset[int]:
    """Return the numbers of the styles that show a number as a date or a time."""
    by_number = {code.get("numFmtId", ""): _NOT_IN_DATES.sub("", code.get("formatCode", "")).lower() for code in codes}
    dates = _DATE_FORMATS | {number for number, code in by_number.items() if not set("ymdhs").isdisjoint(code)}
    return frozenset(place for place, style in enumerate(styles) if style.get("numFmtId") in dates)


@dataclass
class _Cells:
    """What the cells of a workbook in XLSX refer to."""

    strings: list[str]
    date_styles: frozenset[int]
    first_day: dt.datetime

    def row(self, row: Element) -> list[str]:
        """Return the cells of a row as texts, without blank ones at its end."""
        cells: list[str] = []
        for cell in row:
            letters = cell.get("r", "").rstrip("0123456789").encode()[:4]
            column = functools.reduce(lambda number, letter: 26 * number + letter - 64, letters, 0) or len(cells) + 1
            text = self._text(cell)
            if text:
                _extend(cells, column - len(cells) - 1, text)
        return cells

    def _text(self, cell: Element) -> str:
        kind, value = cell.get("t", "n"), next((part.text or "" for part in cell if local_name(part) == "v"), "")
        if kind in ("s", "inlineStr", "str"):
            inline = "".join(text for part in cell if local_name(part) == "is" for text in _runs(part))
            return self.strings[int(value)] if kind == "s" and value else inline or value
        if kind == "b":
            return {"1": "True", "0": "False"}.get(value, value)
        if kind == "n" and value and int(cell.get("s", 0)) in self.date_styles:
            with suppress(ValueError, OverflowError):
                moment = self.first_day + dt.timedelta(seconds=round(86_400 * float(value)))
                text = moment.time().isoformat() if float(value) < 1 else moment.isoformat()
                return text.removesuffix("T00:00:00")
        return "" if kind == "e" else value


def _extend(cells: list[str], n_blank: int, text: str, times: int = 1) -> None:
    if len(cells) + n_blank + times > _MAX_COLUMNS:
        raise TooCostly(f"has more than {_MAX_COLUMNS:,} columns")
    cells += [*[""] * n_blank, *[text] * times]


def _rows_of_table(table: Element) -> Iterator[list[str]]:
    """Yield the rows of a sheet in ODS as texts, without blank ones and blank cells at their ends."""
    for row in table.iter("*"):
        if local_name(row) != "table-row":
            continue
        cells: list[str] = []
        n_blank = 0
        for cell in row:
            text = _text_of_cell(cell) if local_name(cell) == "table-cell" else ""
            times = int(_attribute(cell, "number-columns-repeated") or 1)
            if text:
                _extend(cells, n_blank, text, times)
            n_blank = 0 if text else n_blank + times
        yield from itertools.repeat(cells, int(_attribute(row, "number-rows-repeated") or 1) if cells else 0)


def _text_of_cell(cell: Element) -> str:
    name = _VALUES.get(_attribute(cell, "value-type"), "")
    return _attribute(cell, name).removesuffix("T00:00:00") or paragraphs(cell)


XLSX = Format(
    "xlsx",
    read_spreadsheet,
    "a row of a spreadsheet (XLSX, ODS), of the sheet with the most prose or the one that `sheet` names",
    "the columns below",
    suffixes=_SUFFIXES,
    aliases=("ods", "excel"),
    recognises=lambda beginning: _is_spreadsheet(beginning),
    parameters=("sheet", "header"),
    has_columns=True,
    is_apart=True,
)


def _is_spreadsheet(beginning: Beginning) -> bool:
    first = _FIRST_PART.search(beginning.head)
    is_book = first is not None and (first[1] or first[2]) in (b"xl", b"sp")
    return beginning.head.startswith(b"PK\x03\x04") and (is_book or beginning.name.endswith((*_SUFFIXES, ".xlsb")))
