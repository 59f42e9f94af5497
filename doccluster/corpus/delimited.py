"""csv and tsv in the dialects that are found in the wild, row by row."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Sequence

from doccluster.corpus.columns import choose_columns, row_draft
from doccluster.corpus.document import Skipped
from doccluster.corpus.draft import Draft
from doccluster.corpus.input_file import InputFile
from doccluster.corpus.options import ReadOptions

DELIMITERS = (",", "\t", ";", "|")
_LARGEST_FIELD = 2**31 - 1  # the most that the csv module takes on every platform
_SAMPLE_ROWS = 50


def read_delimited(file: InputFile, options: ReadOptions) -> Iterator[Draft | Skipped]:
    """Return the rows of a table with a header (or columns named 1, 2, ... when the options say there is none)."""
    # The limit of the csv module is one for the process and too small for articles; it is only ever raised.
    csv.field_size_limit(max(csv.field_size_limit(), _LARGEST_FIELD))
    sample = file.decode(_whole_lines(file.head))
    dialect = choose_dialect(
        sample, options.delimiter or ("\t" if file.place.suffix.lower() in (".tsv", ".tab") else None)
    )
    rows = _rows(file, options, dialect)
    first = next(rows, None)
    while isinstance(first, Skipped):
        yield first
        first = next(rows, None)
    if first is None:
        return
    names = _header(first[1]) if options.header else [str(place + 1) for place in range(len(first[1]))]
    columns = choose_columns(names, options, table=file.name)
    number = 0
    if not options.header:
        number = 1
        yield row_draft(dict(zip(names, first[1], strict=False)), columns, options, f"{file.name}:1")
    for row in rows:
        if isinstance(row, Skipped):
            yield row
            continue
        number += 1
        where = f"{file.name}:{number}"
        if any(row[1][len(names) :]):
            detail = f"line {row[0]} has {len(row[1])} cells, expected {len(names)}"
            yield Skipped(where, "bad-row", detail)
            continue
        yield row_draft(dict(zip(names, row[1], strict=False)), columns, options, where)


def _whole_lines(head: bytes) -> bytes:
    end = head.rfind(b"\n") + 1
    return head[: end or len(head)] if not head.startswith((b"\xff\xfe", b"\xfe\xff")) else head


def _rows(
    file: InputFile, options: ReadOptions, dialect: type[csv.Dialect]
) -> Iterator[tuple[int, list[str]] | Skipped]:
    """Return line number and cells of each row that is not blank."""
    too_long: list[Skipped] = []
    reader = csv.reader(_lines(file, options, too_long), dialect)
    while True:
        try:
            row = next(reader)
        except StopIteration:
            break
        except csv.Error as error:
            yield Skipped(f"{file.name}, line {reader.line_num}", "bad-row", str(error))
            continue
        finally:
            yield from too_long
            too_long.clear()
        if row and (len(row) > 1 or row[0].strip()):
            yield reader.line_num, row


def _lines(file: InputFile, options: ReadOptions, too_long: list[Skipped]) -> Iterator[str]:
    for number, line in enumerate(file.lines(options.limits.document_bytes), 1):
        if line is None:
            too_long.append(Skipped(f"{file.name}, line {number}", "too-long", "a line longer than a document may be"))
        else:
            yield line


def _header(cells: Sequence[str]) -> list[str]:
    """Return column names without surrounding space, each once: a second "text" is "text.2", an unnamed one "3"."""
    names: list[str] = []
    for place, cell in enumerate(cells, 1):
        name = cell.strip("\ufeff \t\r\n") or str(place)
        count = 1
        chosen = name
        while chosen in names:
            count += 1
            chosen = f"{name}.{count}"
        names.append(chosen)
    return names


def choose_dialect(sample: str, delimiter: str | None = None) -> type[csv.Dialect]:
    r"""Return how cells are separated and quoted, judged by the first rows.

    >>> choose_dialect("a;b\n1,5;2\n").delimiter
    ';'
    """
    chosen = delimiter or max(DELIMITERS, key=lambda one: (_regularity(sample, one), -DELIMITERS.index(one)))

    class Dialect(csv.excel):
        delimiter = chosen
        escapechar = "\\" if '\\"' in sample and '""' not in sample else None
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
