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
from typing import Any

from doccluster.corpus.assembly import UniqueNames
from doccluster.corpus.columns import Columns, choose_columns, row_draft
from doccluster.corpus.document import Skipped
from doccluster.corpus.draft import Draft, ReadFailure, UnknownColumn, record
from doccluster.corpus.encodings import decode, encoding_by_mark
from doccluster.corpus.format import Format
from doccluster.corpus.input_file import InputFile
from doccluster.corpus.reader_options import ReadOptions
from doccluster.errors import Argument, importing, words_of

DELIMITERS = (",", "\t", ";", "|")
LARGEST_FIELD = 2**31 - 1  # the most that the csv module takes on every platform
_SAMPLE_ROWS = 50
_MOST_REPAIRS = 100  # rows with an open quote: each is followed by reading the rest of the file again
_ESCAPED_QUOTE = re.compile(r'\\"[^,;\t|\r\n]')  # within a cell; a cell may well end in a backslash
_NAMED_DELIMITER = re.compile(r"\ufeff?sep=(.)\r?\n", re.IGNORECASE)  # the line that spreadsheets put first


def read_delimited(file: InputFile, options: ReadOptions) -> Iterator[Draft | Skipped]:
    """Return the rows of a table with a header (or columns named 1, 2, ... when the options say there is none)."""
    # The limit of the csv module is one for the process and too small for articles; it is only ever raised.
    csv.field_size_limit(max(csv.field_size_limit(), LARGEST_FIELD))
    rows = TableRows(file, options)
    names: list[str] = []
    columns: Columns | None = None
    number = 0
    for row in rows.read():
        if isinstance(row, Skipped):
            yield row
            continue
        if columns is None:
            names = _header(row) if options.header else [str(place) for place in range(1, len(row) + 1)]
            columns = _columns(names, options, file)
            if options.header:
                continue
        number += 1
        where = f"{file.name}:{number}"
        cells = [rows.dialect.delimiter.join(row)] if len(names) == 1 else row  # one column has nothing to separate
        if any(cells[len(names) :]):
            detail = f"line {rows.line} has {len(cells)} cells, expected {len(names)}"
            yield Skipped(where, "bad-row", detail)
        else:
            yield record(where, row_draft, dict(zip(names, cells, strict=False)), columns, options, where)


def _columns(names: list[str], options: ReadOptions, file: InputFile) -> Columns:
    try:
        return choose_columns(names, options, table=file.name)
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
        delimiter = options.delimiter or ("\t" if file.place.suffix.lower() in (".tsv", ".tab") else None)
        named = _NAMED_DELIMITER.match(sample)
        self.line = 0
        self._name = file.name
        self._lines: Iterator[str | None] = file.lines(options.document_bytes)
        if named is not None and delimiter is None:
            delimiter = named[1]
            next(self._lines)
            self.line = 1
        self.dialect = choose_dialect(sample, delimiter)
        self._taken: list[str] = []
        self._too_long: list[Skipped] = []
        self._repairs = 0

    def read(self) -> Iterator[list[str] | Skipped]:
        """Return the cells of each row that is not blank, and the rows that cannot be read."""
        reader: Iterator[list[str]] = csv.reader(self._take_lines(), self.dialect)
        while True:
            self._taken.clear()
            try:
                row = next(reader)
            except StopIteration:
                yield from self._too_long
                return
            except csv.Error as error:
                yield Skipped(f"{self._name}, line {self.line}", "bad-row", str(error))
                continue
            yield from self._too_long
            self._too_long.clear()
            if self._is_open():
                first = self.line - len(self._taken) + 1
                yield Skipped(f"{self._name}, line {first}", "bad-row", "a quote in it is never closed")
                reader = self._restart()
            elif row and (len(row) > 1 or row[0].strip()):
                yield row

    def _take_lines(self) -> Iterator[str]:
        for line in self._lines:
            self.line += 1
            if line is None:
                place = f"{self._name}, line {self.line}"
                self._too_long.append(Skipped(place, "too-long", "a line longer than a document may be"))
            else:
                self._taken.append(line)
                yield line

    def _is_open(self) -> bool:
        """Say whether the row ran to the end of the file because a quote is never closed."""
        if len(self._taken) < 2 or self.dialect.escapechar is not None or self._repairs >= _MOST_REPAIRS:
            return False
        return sum(line.count('"') for line in self._taken) % 2 == 1

    def _restart(self) -> Iterator[list[str]]:
        """Read again from the line after the one with the open quote."""
        self._repairs += 1
        again = self._taken[1:]
        self.line -= len(again)
        self._lines = itertools.chain(again, self._lines)
        return csv.reader(self._take_lines(), self.dialect)


def _sample(file: InputFile) -> str:
    """Return the first whole lines, to judge the dialect by."""
    head = file.head
    if file.encoding is not None:
        return head.decode(file.encoding, "replace")
    if encoding_by_mark(head) is None:
        head = head[: head.rfind(b"\n") + 1 or len(head)]
    return decode(head).text


def _header(cells: Sequence[str]) -> list[str]:
    """Return column names without surrounding space, each once: a second "text" is "text.2", an unnamed one "3"."""
    names = UniqueNames(".")
    return [names.take(cell.strip("\ufeff \t\r\n") or str(place)) for place, cell in enumerate(cells, 1)]


def choose_dialect(sample: str, delimiter: str | None = None) -> type[csv.Dialect]:
    r"""Return how cells are separated and quoted, judged by the first rows.

    >>> choose_dialect("a;b\n1,5;2\n").delimiter
    ';'
    """
    chosen = delimiter or max(DELIMITERS, key=lambda one: (_regularity(sample, one), -DELIMITERS.index(one)))

    class Dialect(csv.excel):
        delimiter = chosen
        escapechar = "\\" if _ESCAPED_QUOTE.search(sample) and '""' not in sample else None
        skipinitialspace = f'{chosen} "' in sample and f'"{chosen}"' not in sample

    return Dialect


def _regularity(sample: str, delimiter: str) -> float:
    """Return how well a delimiter explains the rows: the share of rows of the commonest width, if it is above one."""
    reader = csv.reader(sample.splitlines(keepends=True), delimiter=delimiter)
    widths: list[int] = []
    try:
        for row in reader:
            if row:
                widths.append(len(row))
            if len(widths) >= _SAMPLE_ROWS:
                break
    except csv.Error:
        pass
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
_MOST_PACKED = 100  # times that columns of text may expand whatever the limit
_FEW_ROWS = 100_000  # more than these need at least a bit each in the file


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
        columns = choose_columns(list(table.schema_arrow.names), options, table=file.name)
        _check_claims(table.metadata, size, options.expanded_size)
        batches = table.iter_batches(_BATCH, columns=columns.needed)
        for number, row in enumerate((row for batch in batches for row in batch.to_pylist()), 1):
            where = f"{file.name}:{number}"
            yield record(where, row_draft, row, columns, options, where)
    except (pa.ArrowException, OSError, UnicodeError) as error:
        raise ReadFailure("broken-parquet", str(error)) from error


def _check_claims(metadata: Any, size: int, most: int) -> None:
    """Compare what a file says of itself with what it can hold, before anything is allocated for it.

    Single columns are not asked: pyarrow ends the process where what is said of one is damaged.
    """
    if not 0 <= metadata.num_rows <= max(_FEW_ROWS, 8 * size):
        raise ReadFailure("broken-parquet", f"it claims {metadata.num_rows:,} rows in {size:,} bytes")
    expanded = sum(metadata.row_group(number).total_byte_size for number in range(metadata.num_row_groups))
    if expanded > max(most, _MOST_PACKED * size):
        raise ReadFailure("expanded-too-large", f"it expands to more than {most:,} bytes")


PARQUET = Format(
    "parquet",
    read_parquet,
    "a row",
    'the columns below; needs `pip install "doccluster[parquet]"`',
    recognises=lambda beginning: beginning.head.startswith(b"PAR1"),
    has_columns=True,
)
