"""Tables in files: csv and tsv in the dialects that are found in the wild, row by row; and Parquet (its extra).

Parquet is read in batches of rows, and only the columns that are needed.
"""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from doccluster.corpus.columns import Columns, choose_columns, listed, looks_like_header, row_draft
from doccluster.corpus.document import Skipped
from doccluster.corpus.draft import Draft, ReadFailure, UnknownColumn, record
from doccluster.corpus.encodings import decode, encoding_by_mark
from doccluster.corpus.format import Format
from doccluster.corpus.input_file import InputFile
from doccluster.corpus.reader_options import ReadOptions
from doccluster.corpus.table_header import Header, delimiter_in, header_of, rows_before, stands_before
from doccluster.corpus.text_column import SAMPLED_ROWS, is_like_its_cells
from doccluster.errors import Argument, importing, words_of

DELIMITERS = (",", "\t", ";", "|", "~", "^", "\x01")
ABOUT_TABLE = "about-the-table"  # why a line that belongs to a header, or stands before it, gives no document
LARGEST_FIELD = 2**31 - 1  # the most that the csv module takes on every platform
_SAMPLE_ROWS = 50
_ESCAPED_QUOTE = re.compile(r'\\"[^,;\t|\r\n]')  # within a cell; a cell may well end in a backslash
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
    rows = table.read()
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
        cells_here = [table.dialect.delimiter.join(row.cells)] if len(names) == 1 else row.cells
        if number <= 0:
            if n_rows != header.n_before + options.header and any(row.cells):
                yield Skipped(f"{file.name}, line {row.line}", ABOUT_TABLE, table.dialect.delimiter.join(row.cells))
        elif any(cells_here[len(names) :]):
            yield Skipped(where, "bad-row", f"line {row.line} has {len(cells_here)} cells, expected {len(names)}")
        else:
            yield record(where, row_draft, dict(zip(names, cells_here, strict=False)), columns, options, where)


def _columns(header: Header, rows: Sequence[Sequence[str]], options: ReadOptions, file: InputFile) -> Columns:
    names = header.names
    parts = _NO_WORD.split(names[0])
    if len(names) == 1 and len(parts) > 1 and looks_like_header(parts, options) and not options.text_columns:
        raise UnknownColumn(
            f"{file.name} has the one column {listed(names)}",
            remedy=("name what separates its columns with ", Argument("delimiter")),
        )
    records = [dict(zip(names, row, strict=False)) for row in rows]
    try:
        columns = choose_columns(names, options, table=file.name, first_rows=lambda: records, classes=header.classes)
        text = columns.text[-1]
        if options.header and not options.text_columns and is_like_its_cells(text, records):
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
        self._taken: list[str] = []
        self._skipped: list[Skipped] = []  # lines before the next row

    def read(self) -> Iterator[Row | Skipped]:
        """Return the cells of each row that is not blank, and the rows that cannot be read."""
        for line in self._before:
            self.line += 1
            if line.strip() and delimiter_in(line) is None:
                yield Skipped(f"{self._name}, line {self.line}", ABOUT_TABLE, line)
        reader = self._reader()
        while True:
            self._taken.clear()
            try:
                cells = next(reader, None)
            except csv.Error:  # a quote is closed within a cell, or never
                if len(self._taken) == 1:
                    cells = next(csv.reader(self._taken, self.dialect))
                else:
                    place = f"{self._name}, line {self.line - len(self._taken) + 1}"
                    self._skipped.append(Skipped(place, "bad-row", "a quote in it is never closed"))
                    # what follows it is read again
                    self.line -= len(self._taken) - 1
                    self._again += self._taken[:0:-1]
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
                self._taken.append(line)
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
    chosen = delimiter or max(DELIMITERS, key=lambda one: (_regularity(sample, one, options), -DELIMITERS.index(one)))

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
        texts = [field.name for field in table.schema_arrow if "string" in str(field.type)]
        columns = choose_columns(
            list(table.schema_arrow.names),
            options,
            table=file.name,
            first_rows=lambda: (
                row for batch in table.iter_batches(SAMPLED_ROWS, columns=texts) for row in batch.to_pylist()
            ),
        )
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
