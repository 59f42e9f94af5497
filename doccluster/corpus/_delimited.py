"""Tables in files: csv and tsv in the dialects that are found in the wild, row by row; and Parquet (its extra).

Parquet is read in batches of rows, and only the columns that are needed.

A table may begin after comments, a title and other lines, and with a header of up to three rows, those of Orange:
names, types and roles; its one row writes the roles before the names (``cD#topic``).
"""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from doccluster.corpus.column_names import PLAIN_DATES, PLAIN_IDS, UniqueNames, plain_name
from doccluster.corpus.columns import (
    SAMPLED_ROWS,
    Columns,
    choose_columns,
    has_id_column,
    is_like_its_cells,
    is_missing_cell,
    is_value,
    listed,
    looks_like_header,
    row_draft,
)
from doccluster.corpus.document import Skipped
from doccluster.corpus.encodings import decode, encoding_by_mark
from doccluster.corpus.reader import Draft, Format, InputFile, ReadFailure, UnknownColumn, record
from doccluster.corpus.reader_options import ReadOptions
from doccluster.errors import Argument, importing, words_of

DELIMITERS = (",", "\t", ";", "|", "~", "^", "\x01")
ABOUT_TABLE = "about-the-table"  # why a line that belongs to a header, or stands before it, gives no document
LARGEST_FIELD = 2**31 - 1  # the most that the csv module takes on every platform
_SAMPLE_ROWS = 50
_ESCAPED_QUOTE = re.compile(r'\\"[^,;\t|\r\n]')  # within a cell; a cell may well end in a backslash
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_QUESTION = ("?", "？", "؟")
_NO_WORD = re.compile(r"[^\w ]+")
_USUAL = ReadOptions()


class Row(NamedTuple):
    """The cells of a row, and the line in which it ends."""

    line: int
    cells: list[str]


def read_delimited(file: InputFile, options: ReadOptions) -> Iterator[Draft | Skipped]:
    """Return the rows of a table with a header (or columns named 1, 2, ... when the options say there is none)."""
    # The limit of the csv module is one for the process and too small for articles; it is only ever raised.
    csv.field_size_limit(max(csv.field_size_limit(), LARGEST_FIELD))
    table = TableRows(file, options)
    yield from read_rows(table.read(), file, options, table.dialect.delimiter)


def read_rows(
    rows: Iterator[Row | Skipped], file: InputFile, options: ReadOptions, delimiter: str = " "
) -> Iterator[Draft | Skipped]:
    """Return the rows of a table as documents; the delimiter joins the cells of a row that is shown, or is none."""
    first = list(itertools.islice(rows, SAMPLED_ROWS))
    cells = [row.cells for row in first if not isinstance(row, Skipped)]
    if not cells:
        yield from (row for row in first if isinstance(row, Skipped))
        return
    header = header_of(cells, options)
    columns = _columns(header, cells[header.n_before + header.n_below + options.header :], options, file)
    names, n_rows = header.names, 0
    for row in itertools.chain(first, rows):
        if isinstance(row, Skipped):
            yield row
            continue
        n_rows += 1
        number = n_rows - header.n_before - header.n_below - options.header
        where = f"{file.name}:{number}"
        # one column has nothing to separate
        cells_here = [delimiter.join(row.cells)] if len(names) == 1 else row.cells
        if number <= 0:
            if n_rows != header.n_before + options.header and any(row.cells):
                yield Skipped(f"{file.name}, line {row.line}", ABOUT_TABLE, delimiter.join(row.cells))
        elif any(cells_here[len(names) :]):
            yield Skipped(where, "bad-row", f"line {row.line} has {len(cells_here)} cells, expected {len(names)}")
        else:
            yield record(where, row_draft, dict(zip(names, cells_here, strict=False)), columns, options, where)


def _columns(header: Header, rows: Sequence[Sequence[str]], options: ReadOptions, file: InputFile) -> Columns:
    names = header.names
    # one column whose name looks like several was cut at the wrong character
    parts = _NO_WORD.split(names[0])
    if len(names) == 1 and len(parts) > 1 and looks_like_header(parts, options) and not options.text_columns:
        raise UnknownColumn(
            f"{file.name} has the one column {listed(names)}",
            remedy=("name what separates its columns with ", Argument("delimiter")),
        )
    records = [dict(zip(names, row, strict=False)) for row in rows]
    try:
        columns = choose_columns(names, options, table=file.name, first_rows=records, classes=header.classes)
        text = columns.text[-1]
        is_like_cells = options.header and not options.text_columns and is_like_its_cells(text, records)
        if is_like_cells and not _names_columns(names, rows):
            raise UnknownColumn(
                f"the first row of {file.name} reads like a document, not like the names of columns",
                remedy=("name the text with ", Argument("text_column"), f", its columns are {listed(names)}"),
            )
        return columns
    except UnknownColumn as error:
        if not options.header:
            raise
        raise UnknownColumn(
            error.problem,
            remedy=(
                *words_of(error.remedy or ""),
                "; if its first row is not a header, give ",
                Argument("header", False),
            ),
        ) from error


def _names_columns(names: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Say whether a first row that reads like a document names columns, as the questions of a form do."""
    if plain_name(names[0]) in PLAIN_IDS | PLAIN_DATES:
        return True
    for place, name in enumerate(names):
        cells = [row[place].strip() for row in rows if place < len(row) and row[place].strip()]
        n_questions = sum(cell.endswith(_QUESTION) for cell in cells)
        is_question = name.endswith(_QUESTION) and n_questions < len(cells) / 2
        is_over_values = len(cells) > 1 and all(map(is_value, cells)) and any(map(str.isalpha, name))
        n_words = max((len(cell.split()) for cell in cells), default=0) if len(cells) > 2 else 0
        if is_question or (is_over_values and not is_value(name)) or 0 < 2 * n_words <= len(name.split()):
            return True
    return False


class TableRows:
    """The rows of a file as the csv module splits them, with what it cannot know: a quote that is never closed."""

    def __init__(self, file: InputFile, options: ReadOptions) -> None:
        sample = _sample(file)
        self.line = 0
        self._name = file.name
        self._lines: Iterator[str | None] = file.lines(options.document_bytes)
        self._before: list[str] = []
        self._again: list[str | None] = []  # lines to read again, the last first
        for line in self._lines:
            if line is None or not stands_before(line, options):
                self._again.append(line)
                break
            self._before.append(line)
        by_name = "\t" if file.place.suffix.lower() in (".tsv", ".tab") else None
        delimiter = options.delimiter or by_name or next(filter(None, map(delimiter_in, self._before)), None)
        self.dialect = choose_dialect(sample[sum(map(len, self._before)) :], delimiter, options)
        self._escaped = f'"\\\r\n{self.dialect.delimiter}'
        self._lines_of_row: list[str] = []
        self._skipped: list[Skipped] = []  # lines before the next row

    def read(self) -> Iterator[Row | Skipped]:
        """Return the cells of each row that is not blank, and the rows that cannot be read."""
        for line in self._before:
            self.line += 1
            if line.strip() and delimiter_in(line) is None:
                yield Skipped(f"{self._name}, line {self.line}", ABOUT_TABLE, line)
        reader = self._reader()
        while True:
            self._lines_of_row.clear()
            try:
                cells = next(reader, None)
            except csv.Error:  # a quote is closed within a cell, or never
                if len(self._lines_of_row) == 1:
                    cells = next(csv.reader(self._lines_of_row, self.dialect))
                else:
                    place = f"{self._name}, line {self.line - len(self._lines_of_row) + 1}"
                    self._skipped.append(Skipped(place, "bad-row", "a quote in it is never closed"))
                    # what follows it is read again
                    self.line -= len(self._lines_of_row) - 1
                    self._again += self._lines_of_row[:0:-1]
                    reader, cells = self._reader(), []
            yield from self._skipped
            self._skipped.clear()
            if cells is None:
                return
            if cells and (len(cells) > 1 or cells[0].strip()):
                yield Row(self.line, cells)

    def _reader(self) -> Iterator[list[str]]:
        return csv.reader(self._take_lines(), self.dialect, strict=True)

    def _take_lines(self) -> Iterator[str]:
        again = (self._again.pop() for _ in range(len(self._again)))
        for line in itertools.chain(again, self._lines):
            self.line += 1
            if line is None:
                place = f"{self._name}, line {self.line}"
                self._skipped.append(Skipped(place, "too-long", "a line longer than a document may be"))
            else:
                if self.dialect.escapechar:  # what the dialect does not escape stands for itself
                    line = _ESCAPE.sub(lambda match: match[0] if match[1] in self._escaped else rf"\{match[0]}", line)
                self._lines_of_row.append(line)
                yield line


def _sample(file: InputFile) -> str:
    """Return the first whole lines, to judge the dialect by."""
    head = file.head
    if file.encoding is not None:
        return head.decode(file.encoding, "replace")
    if encoding_by_mark(head) is None:
        head = head[: head.rfind(b"\n") + 1 or len(head)]
    return decode(head).text


def choose_dialect(sample: str, delimiter: str | None = None, options: ReadOptions = _USUAL) -> type[csv.Dialect]:
    r"""Return how cells are separated and quoted, judged by the first rows from the header on.

    >>> choose_dialect("a;b\n1,5;2\n").delimiter
    ';'
    """
    chosen = delimiter or max(
        DELIMITERS, key=lambda candidate: (_regularity(sample, candidate, options), -DELIMITERS.index(candidate))
    )

    class Dialect(csv.excel):
        delimiter = chosen
        escapechar = "\\" if _ESCAPED_QUOTE.search(sample) and '""' not in sample else None
        skipinitialspace = f'{chosen} "' in sample and f'"{chosen}"' not in sample

    return Dialect


def _regularity(sample: str, delimiter: str, options: ReadOptions) -> float:
    """Return how well a delimiter explains the rows: the share of rows of the commonest width, if it is above one."""
    rows: list[list[str]] = []
    try:
        reader = csv.reader(sample.splitlines(keepends=True), delimiter=delimiter)
        rows.extend(itertools.islice(filter(None, reader), _SAMPLE_ROWS))
    except csv.Error:
        pass
    widths = [len(row) for row in rows[rows_before(rows, options) if options.header else 0 :]]
    if not widths or widths[0] < 2:  # the header is in the first row, and it has every column
        return 0.0
    if len(widths) > 1 and set(widths[1:]) == {widths[0] + 1}:  # each row has a delimiter more, or the name of the row
        widths[0] += 1
    return Counter(widths)[widths[0]] / len(widths) + min(widths[0], 50) / 1000


CSV = Format(
    "csv",
    read_delimited,
    "a row",
    "the columns below",
    suffixes=(".csv",),
    parameters=("header", "delimiter"),
    has_columns=True,
)
TSV = replace(CSV, name="tsv", suffixes=(".tsv", ".tab"))


_BATCH = 4096  # rows held as Python objects at a time


def read_parquet(file: InputFile, options: ReadOptions) -> Iterator[Draft | Skipped]:
    """Return the rows of a table. Raises MissingDependency if pyarrow is not installed."""
    with importing("Parquet files need", "pyarrow", install="doccluster[parquet]"):
        import pyarrow as pa
        import pyarrow.parquet as pq
    source: Any = str(file.local) if file.local is not None else io.BytesIO(file.read())
    size = file.local.stat().st_size if file.local is not None else source.getbuffer().nbytes
    try:
        # no name and no list in the footer is longer than the file that holds it
        table = pq.ParquetFile(source, thrift_string_size_limit=size, thrift_container_size_limit=size)
        n_rows = table.metadata.num_rows  # more than a few need at least a bit each in the file
        if not 0 <= n_rows <= max(options.allowance.n_items, 8 * size):
            raise ReadFailure("broken-parquet", f"it claims {n_rows:,} rows in {size:,} bytes")
        telling = re.compile("string|date|timestamp")
        texts = [field.name for field in table.schema_arrow if telling.search(str(field.type))]
        first = (row for batch in table.iter_batches(SAMPLED_ROWS, columns=texts) for row in batch.to_pylist())
        columns = choose_columns(list(table.schema_arrow.names), options, table=file.name, first_rows=first)
        batches = table.iter_batches(_BATCH, columns=columns.needed)
        for number, row in enumerate((row for batch in batches for row in batch.to_pylist()), 1):
            where = f"{file.name}:{number}"
            yield record(where, row_draft, row, columns, options, where)
    except (pa.ArrowException, OSError, UnicodeError) as error:
        raise ReadFailure("broken-parquet", str(error)) from error


PARQUET = Format(
    "parquet",
    read_parquet,
    "a row",
    'the columns below; needs `pip install "doccluster[parquet]"`',
    recognises=lambda beginning: beginning.head.startswith(b"PAR1"),
    has_columns=True,
    is_apart=True,
)


MAX_BEFORE = 20  # rows before a header
_SPREADSHEET = re.compile(r'\ufeff?"?sep=(.)"?\s*', re.IGNORECASE)
_NUMBERED = re.compile(r'#"?[,;]\S')  # a first column may be called #
_CELL_ENDS = re.compile(r"[,;\t|~^](?! )")
_TYPES = "continuous|discrete|string|time|text|str|int|integer|float|double|number|date|datetime|categorical"
_UNIT = re.compile(rf"\[.*\]|\(.*\)|-+|{_TYPES}", re.IGNORECASE)
_SHORT_UNIT = re.compile(r"[^\d\s]{0,3}")
_TYPE = re.compile(f"[cdst]|{_TYPES}", re.IGNORECASE)
_ROLE = re.compile(r"c|class|m|meta|w|weight|i|ignore|skip|[a-z_]+=.*", re.IGNORECASE)
_IMPORT_ID = re.compile(r'\s*\{"ImportId":')
_LONGEST_ANSWER_KIND = 40  # characters: Open-Ended Response
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
    is_header = _NUMBERED.match(text) or (len(cells) > 1 and looks_like_header(cells, options))
    is_comment = options.header and text.startswith("#") and not is_header
    return not text or is_comment or delimiter_in(line) is not None


def delimiter_in(line: str) -> str | None:
    """Return the delimiter that a line ``sep=;`` names, as spreadsheets put it first."""
    match = _SPREADSHEET.fullmatch(line)
    return None if match is None else match[1]


def rows_before(rows: Sequence[Sequence[str]], options: ReadOptions) -> int:
    """Return how many rows stand before the header of a table.

    These are titles (one cell of several words, or of one above three columns, where all rows below are of one width),
    or whatever is narrower than a row with usual names.

    >>> rows_before([["Letters", "2026"], ["id", "text", "class"], ["1", "Rain.", "a"]], ReadOptions())
    1
    """
    widths = [sum(map(bool, map(str.strip, row))) for row in rows]
    for place, row in enumerate(rows[:MAX_BEFORE]):
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
    ends = {row[-1] if len(row) == len(cells) + 1 else "" for row in rows[before + 1 :]}
    if len(cells) > 1 and ends and "" not in ends:  # R puts no name over those of rows
        cells.insert(0, "row" if has_id_column(cells) else "id")
    marked = [_MARKED.fullmatch(cell) for cell in cells]
    below = rows[before + 1 : before + 3]
    n_below = int(len(below) > 1 and _has_units(below[0]))
    is_class = [mark is not None and mark[1] == "c" for mark in marked]
    roles = [cell.lower().split() for row in below[1:] for cell in row]
    is_role = [_ROLE.fullmatch(role) is not None for cell in roles for role in cell]
    if is_role and all(is_role) and any(map(_TYPE.fullmatch, below[0])):
        n_below, is_class = 2, [bool({"c", "class"}.intersection(cell)) for cell in roles]
    n_below = n_below or _further_rows(cells, rows[before + 1 :])
    unique_names = UniqueNames(".")
    titles = [cell if mark is None else mark[2] for cell, mark in zip(cells, marked, strict=True)]
    # each name once: a second "text" is "text.2", an unnamed one "3"; a header in a comment begins with #
    names = [unique_names.take(name.lstrip("# " * (place == 1)) or str(place)) for place, name in enumerate(titles, 1)]
    return Header(names, [name for name, flag in zip(names, is_class, strict=False) if flag], before, n_below)


def _further_rows(names: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    """Return how many of the first rows below the names of columns belong to the header, as in tables of surveys."""
    with_ids = [number for number, row in enumerate(rows[:3], 1) if any(map(_IMPORT_ID.match, row))]  # of Qualtrics
    if with_ids:
        return with_ids[-1]
    return next((number for number in range(2) if not _explains(names, rows[number:])), 2) if len(rows) > 3 else 0


def _explains(names: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Say whether two cells of the first row repeat names, are words over values, ask, or are the only empty ones."""
    n_signs = n_empty = 0
    for name, cell, *others in zip(names, *rows, strict=False):
        filled = [other for other in others if other]
        is_typed = len(filled) > 2 and all(map(is_value, filled))
        if is_typed and is_value(cell):
            return False
        n_signs += bool(cell) and (plain_name(cell) == plain_name(name) or (is_typed and not is_missing_cell(cell)))
        n_signs += cell.endswith(_QUESTION) and not any(other.endswith(_QUESTION) for other in others)
        n_empty += not cell and len(filled) == len(others) > 2
    is_without = n_empty > 1 and not rows[0][0] and max(map(len, rows[0])) <= _LONGEST_ANSWER_KIND
    return n_signs > 1 or is_without


def _has_units(row: Sequence[str]) -> bool:
    """Say whether all cells of a row, one of them without doubt, are units or types, as they stand below a header."""
    is_unit = [_UNIT.fullmatch(cell) is not None for cell in row]
    pairs = zip(is_unit, row, strict=True)
    return sum(map(bool, row)) > 1 and any(is_unit) and all(unit or _SHORT_UNIT.fullmatch(cell) for unit, cell in pairs)
