"""Large files in ranges that are read by themselves, as if each were read after the ones before it.

A file of lines, json lines or rows is cut at ends of lines, a Parquet table between groups of rows. What a reader
learns from the beginning (the format, the columns, whether texts are HTML) is looked up once, and the records before
each range are counted, so that documents get the names they have in one piece. A file that does not clearly come apart
is read in one piece: one that is packed or not UTF-8, a csv of which a row is skipped, or goes on behind a cut, or a
Parquet table behind an address.
"""

from __future__ import annotations

import codecs
import io
import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from typing import Any

from doccluster.corpus.delimited import TableRows, column_names
from doccluster.corpus.document import Skipped
from doccluster.corpus.draft import Draft, ReadFailure
from doccluster.corpus.formats import FORMATS, check_format, check_is_text, recognise
from doccluster.corpus.input_file import FileRange, InputFile
from doccluster.corpus.json_records import line_values, names_of_first
from doccluster.corpus.markup import holds_html
from doccluster.corpus.opening import open_path
from doccluster.corpus.parquet import row_groups
from doccluster.corpus.reader_options import ReadOptions
from doccluster.corpus.walking import ListedFile, Walk
from doccluster.errors import DocclusterError

RANGE_BYTES = 16 * 2**20  # files of more than two of these are read in ranges
_TABLES = ("csv", "tsv", "jsonl")
_PIECE = 2**20
_SENTINEL = "the end of a range\n"


@dataclass(frozen=True)
class Counted:
    """How many lines and rows a range holds; None: it does not come apart from the next."""

    lines: int
    rows: int


MapFiles = Callable[..., Iterator[Any]]  # yields function(item, *shared) for each item, wherever that is done


def in_ranges(files: Sequence[ListedFile], map_files: MapFiles, options: ReadOptions) -> list[list[ListedFile]]:
    """Return each file as its ranges in order; one that is small, or does not come apart, as itself."""
    large = [file for file in files if is_large(file)]
    cut = dict(zip(large, map_files(cut_file, large, options), strict=True))
    ranges = [replace(file, part=part) for file, parts in cut.items() for part in parts]
    counted = map_files(count_range, ranges, options)
    found = {}
    for file, parts in cut.items():
        counts = list(itertools.islice(counted, len(parts)))
        found[file] = _numbered(file, parts, counts) if parts and all(counts) else [file]
    return [found.get(file, [file]) for file in files]


def _numbered(file: ListedFile, parts: Sequence[FileRange], counts: Sequence[Counted]) -> list[ListedFile]:
    """Return the ranges of a file, each with how much is before it."""
    lines = itertools.accumulate((count.lines for count in counts), initial=0)
    rows = itertools.accumulate((count.rows for count in counts), initial=0)
    numbered = zip(parts, lines, rows, strict=False)
    return [replace(file, part=replace(part, lines=before, rows=above)) for part, before, above in numbered]


def is_large(file: ListedFile) -> bool:
    """Say whether a file is worth reading in ranges."""
    return file.size > 2 * RANGE_BYTES


def cut_file(listed: ListedFile, options: ReadOptions) -> list[FileRange]:
    """Return the ranges of a file, with what its beginning says of all of them; none if it cannot be cut."""
    try:
        with _opened(listed) as file:
            file.encoding = options.encoding
            kind = check_format(options.format) or recognise(file, options)
            check_is_text(file)
            if kind == "parquet":
                return [] if file.local is None else _cut_table(file, listed, options)
            if kind not in ("lines", *_TABLES) or not file.is_plain_utf8:
                return []
        return _cut_lines(listed, kind, options)
    except (ReadFailure, DocclusterError, OSError, ValueError, ImportError):
        return []  # reading it says what is wrong with it


@contextmanager
def _opened(listed: ListedFile) -> Iterator[InputFile]:
    """Yield the plain file that was listed, open; raise ReadFailure if it is packed, or holds others."""
    items = Walk([], 0).read(listed)
    with closing(items):  # type: ignore[type-var]  # it is a generator, and has the file open
        item = next(items, None)
        if not isinstance(item, InputFile) or not item.is_seekable:
            raise ReadFailure("unreadable", "not a plain file")
        yield item


def _bytes_of(listed: ListedFile) -> io.BufferedReader:
    """Return a file, or what is behind an address, open for reading from any byte on."""
    return io.BufferedReader(open_path(listed.path, is_explicit=listed.is_explicit)[0])


def _cut_lines(listed: ListedFile, kind: str, options: ReadOptions) -> list[FileRange]:
    columns: tuple[str, ...] = ()
    with _opened(listed) as file:
        if kind == "jsonl":
            columns = names_of_first(line_values(file, options))
        elif kind != "lines":
            columns = tuple(column_names(file, options))
    is_html = kind in _TABLES and options.strip_html is None and _is_html(listed, kind, options)
    size = listed.size
    edges = [0]
    with _bytes_of(listed) as raw:
        while edges[-1] + RANGE_BYTES < size:
            raw.seek(edges[-1] + RANGE_BYTES)
            raw.readline()
            edges.append(min(raw.tell(), size))
    if edges[-1] < size:
        edges.append(size)
    return [FileRange(first, last, kind, columns, is_html) for first, last in itertools.pairwise(edges)]


def _is_html(listed: ListedFile, kind: str, options: ReadOptions) -> bool:
    with _opened(listed) as file:
        file.format = kind
        return holds_html(one for one in FORMATS[kind].read(file, options) if isinstance(one, Draft | Skipped))


def _cut_table(file: InputFile, listed: ListedFile, options: ReadOptions) -> list[FileRange]:
    groups = row_groups(file)
    is_html = options.strip_html is None and _is_html(listed, "parquet", options)
    ranges: list[FileRange] = []
    filled = 0
    for number, (_, n_bytes) in enumerate(groups):
        if not ranges or filled + n_bytes > RANGE_BYTES:
            ranges.append(FileRange(number, number, "parquet", (), is_html))
            filled = 0
        ranges[-1] = replace(ranges[-1], last=number + 1)
        filled += n_bytes
    return ranges


def count_range(listed: ListedFile, options: ReadOptions) -> Counted | None:
    """Return how much a range holds; None if it is not UTF-8, or what is in it goes on in the next."""
    part = listed.part
    assert part is not None  # only ranges are counted
    try:
        if part.format == "parquet":
            with _opened(listed) as file:
                return Counted(0, sum(n_rows for n_rows, _ in row_groups(file)[part.first : part.last]))
        lines = _count_lines(listed, part)
        if lines is None or part.format not in ("csv", "tsv"):
            return None if lines is None else Counted(lines, 0)
        with _opened(listed) as file:
            rows = _count_rows(file, options)
        return None if rows is None else Counted(lines, rows)
    except (ReadFailure, DocclusterError, OSError, ValueError):
        return None


def _count_lines(listed: ListedFile, part: FileRange) -> int | None:
    decoder = codecs.getincrementaldecoder("utf-8")()
    lines, left = 0, part.last - part.first
    with _bytes_of(listed) as raw:
        raw.seek(part.first)
        while left and (piece := raw.read(min(_PIECE, left))):
            left -= len(piece)
            lines += piece.count(b"\n")
            try:
                decoder.decode(piece, final=not left)
            except UnicodeDecodeError:
                return None
    return None if left else lines


def _count_rows(file: InputFile, options: ReadOptions) -> int | None:
    """Return the rows of a range of a csv, its header not counted; None if a row goes on in the next range."""
    rows = TableRows(file, options, then=[_SENTINEL])
    found: list[list[str]] = []
    number = -1 if file.part is not None and file.part.first == 0 and options.header else 0
    for row in rows.read():
        if isinstance(row, Skipped):
            return None
        found = [row]
        number += 1
    ended = bool(found) and rows.dialect.delimiter.join(found[0]) == _SENTINEL.rstrip("\n")
    return number - 1 if ended else None
