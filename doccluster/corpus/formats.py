"""The formats by name, in the order in which they are recognised, and which of them a file has.

A file is judged by its first bytes and, where these leave it open, by its name. Formats that may unpack to far more
than they take, or break what reads them, are read in a process of their own; what a file may take there grows with
`max_expanded_size`. The same process answers queries of databases.
"""

from __future__ import annotations

import codecs
import io
import itertools
import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from importlib import resources
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any

from doccluster.base.limited_process import Piece, TooCostly, WorkFailure, doubled, pieces_of_work
from doccluster.corpus._delimited import CSV, MAX_BEFORE, PARQUET, TSV, choose_dialect, stands_before
from doccluster.corpus._marked_collections import SMART, TREC
from doccluster.corpus._office_files import OFFICE, PDF, RTF
from doccluster.corpus._spreadsheets import XLSX
from doccluster.corpus._text_files import HTML, LINES, REUTERS, TEXT
from doccluster.corpus._xml_files import XML, XML_RECORDS
from doccluster.corpus.columns import looks_like_header
from doccluster.corpus.dates import iso_date
from doccluster.corpus.document import Skipped
from doccluster.corpus.encodings import decode, encoding_by_mark, is_binary
from doccluster.corpus.feeds import FEED, OPML
from doccluster.corpus.json_records import BESIDE_MESSAGES, JSON, JSON_LINES
from doccluster.corpus.mail import EML, MBOX, NEWSGROUPS
from doccluster.corpus.markdown import MARKDOWN
from doccluster.corpus.reader import (
    HEAD_SIZE,
    Beginning,
    Draft,
    Format,
    Found,
    InputFile,
    ReadFailure,
    counted_stream,
    guarded,
)
from doccluster.corpus.reader_options import ReadOptions
from doccluster.corpus.references import BIBTEX, MEDLINE, RIS, WOS
from doccluster.errors import Argument, InputError

_RECORDS: tuple[Format, ...] = (
    *(TEXT, LINES, CSV, TSV, MARKDOWN, JSON_LINES, JSON, PARQUET, XLSX, OFFICE, RTF, PDF),
    *(RIS, MEDLINE, WOS, BIBTEX, TREC, SMART, REUTERS),
    *(OPML, FEED, HTML, XML_RECORDS, XML, MBOX, NEWSGROUPS, EML),
)
FORMATS: dict[str, Format] = {record.name: record for record in _RECORDS}
_BY_ALIAS = {alias: record.name for record in _RECORDS for alias in record.aliases}
_SIGNATURES = (  # formats that hold text but not in a form that is read here, and those that hold none
    (b"\xd0\xcf\x11\xe0", "an old office file, or one with a password; save it as docx, xlsx, odt or text"),
    (b"\x28\xb5\x2f\xfd", "Zstandard; decompress it first"),
    (b"7z\xbc\xaf\x27\x1c", "7-Zip; unpack it first"),
    (b"Rar!\x1a", "RAR; unpack it first"),
    (b"SQLite format 3\0", "a database; export a table as csv"),
    (b"\x89HDF", "HDF5; export a table as csv"),
)
_MATRIX_NAMES = re.compile(r"\.(mat|mtx|npz|npy|rclass|clabel|rlabel)$", re.IGNORECASE)


def check_format(format: str | None) -> str | None:
    """Return the format's own name; raise InputError for one that is not known."""
    if format is None or format == "auto":
        return None
    name = str(format).lower().lstrip(".")
    name = _BY_ALIAS.get(name, name)
    if name not in FORMATS:
        raise InputError(
            "is not known",
            argument="format",
            received=format,
            remedy=f"choose among {', '.join(FORMATS)}, or leave it out",
        )
    return name


def recognise(file: InputFile, options: ReadOptions) -> str:
    """Return the name of the format."""
    head = check_is_text(file)
    if _MATRIX_NAMES.search(file.place.name):
        raise ReadFailure("unsupported-format", "part of a matrix; give the matrix alone")
    beginning = Beginning(_beginning(head).replace("\0", "").lstrip("\ufeff \t\r\n"), file.place.name.lower(), head)
    for candidate in FORMATS.values():
        if candidate.recognises is not None and candidate.recognises(beginning):
            return candidate.name
    for candidate in FORMATS.values():
        if beginning.name.endswith(candidate.suffixes):
            return candidate.name
    if file.is_explicit and _is_table(beginning.text, options):
        return CSV.name
    if file.is_only and (kind := looks_like(beginning)) is not None:
        raise InputError(
            f"{file.name} looks like {kind}, and each of its lines would be a document",
            remedy=("save it as a table, or each text in a file; or take its lines with ", Argument("format", "lines")),
        )
    return LINES.name if file.is_only else TEXT.name


def _beginning(head: bytes) -> str:
    """Return the first bytes as text; what gives a format away is ASCII, so that a wrong guess does no harm."""
    if encoding_by_mark(head) is not None:
        return decode(head[: len(head) // 4 * 4]).text
    try:
        return codecs.getincrementaldecoder("utf-8")().decode(head)  # the last character may be cut
    except UnicodeDecodeError:
        return head.decode("cp1252", "replace")


def check_is_text(file: InputFile) -> bytes:
    """Return the first bytes, or raise ReadFailure when they are not of a text (or Parquet) file with documents."""
    head = file.head
    if not file.is_explicit and BESIDE_MESSAGES.fullmatch(file.place.name):
        raise ReadFailure("about-the-collection", "a list of people or channels; to read it, name the file")
    if not head:
        raise ReadFailure("empty", "a file of zero bytes")
    for signature, what in _SIGNATURES:
        if head.startswith(signature):
            raise ReadFailure("unsupported-format", what)
    if head.startswith((b"PAR1", b"PK\x03\x04", b"%PDF-", b"{\\rtf")) or encoding_by_mark(head) is not None:
        return head
    if is_binary(head):
        raise ReadFailure("binary", "not a text file")
    return head


def _is_table(text: str, options: ReadOptions) -> bool:
    """Say whether a file without a telling name is a table: its first line names a text, or tabs part all lines."""
    lines = text.splitlines()[:MAX_BEFORE]
    lines = list(itertools.dropwhile(lambda line: stands_before(line, options), lines))
    if len(lines) < 2:
        return False
    n_tabs = {line.count("\t") for line in lines[1:]}
    # below the names of columns there may be a tab more in each row
    n_tabs |= {lines[0].count("\t")} - ({number - 1 for number in n_tabs} - {0})
    if len(lines) > 2 and len(n_tabs) == 1 and n_tabs != {0} and not any(line.startswith("\t") for line in lines):
        return True
    delimiter = choose_dialect("\n".join(lines)).delimiter
    cells = [cell.strip().strip('"') for cell in lines[0].split(delimiter)]
    return len(cells) > 1 and looks_like_header(cells, options) and all(len(cell) < 60 for cell in cells)


@dataclass(frozen=True)
class LookAlike:
    """A kind of file whose lines are no documents, in words, known by the end of its name or by its first lines."""

    what: str
    pattern: str
    min_lines: int = 1  # that the pattern covers
    min_share: float = 0.0  # of the lines that are not blank
    suffixes: Sequence[str] = ()


_TABLE = tomllib.loads(resources.files("doccluster.corpus").joinpath("look_alikes.toml").read_text("utf-8"))
LOOK_ALIKES = tuple(LookAlike(**kind) for kind in _TABLE["kinds"])


def looks_like(beginning: Beginning) -> str | None:
    r"""Return the kind, in words, of a file whose lines cannot be documents; None where they may well be.

    >>> looks_like(Beginning("1\n00:00:01,000 --> 00:00:02,000\nThe ferry sails.\n", "a.txt"))
    'subtitles'
    """
    text = re.sub(r"\r\n?", "\n", beginning.text)
    whole, end, rest = text.rpartition("\n")
    lines = f"{whole}{end}" if len(beginning.head) >= HEAD_SIZE and whole else f"{whole}{end}{rest}"
    n_lines = sum(map(bool, map(str.strip, lines.split("\n"))))
    for kind in LOOK_ALIKES:
        if beginning.name.endswith(tuple(kind.suffixes)):
            return kind.what
        matches = re.finditer(kind.pattern, lines, re.MULTILINE)
        if sum(match[0].strip("\n").count("\n") + 1 for match in matches) >= max(
            kind.min_lines, kind.min_share * n_lines
        ):
            return kind.what
    return None


DOCUMENTS_AT_A_TIME = 500
TIMES_EXPANDED = 20  # of its size: what the texts of a part may have, and with 8 rows for each byte its items


def read_apart(file: InputFile, options: ReadOptions) -> Iterator[Found]:
    """Yield the documents of a file; raise ReadFailure where it needs more than it may, or breaks its reader."""
    body = b"" if file.local is not None else file.read(options.allowance.memory)
    file.check_parts(body)
    size = file.local.stat().st_size if file.local is not None else len(body)
    task = {"format": file.format, "name": file.name, "place": str(file.place), "encoding": file.encoding}
    task |= {"local": None if file.local is None else str(file.local.absolute())}
    try:
        yield from found_apart(f"{__name__}:read_piece", task, body, size, options, file)
    except TooCostly as error:
        remedy = f"--max-expanded-size {doubled(options.expanded_size)} allows twice as much"
        raise ReadFailure("too-costly", f"it {error}; {remedy}") from error
    except WorkFailure as error:
        raise ReadFailure("broken-file", f"it {error}") from error


def found_apart(
    function: str,
    task: dict[str, Any],
    body: bytes,
    size: int,
    options: ReadOptions,
    file: InputFile | None = None,
) -> Iterator[Found]:
    """Yield the documents that a function (``module:name``) reads in a process, bounded by a size in bytes."""
    allowance = options.allowance
    task |= {"options": asdict(replace(options, labels_file=None))}
    allowed = replace(allowance, memory=allowance.memory + size)
    characters, most_rows = allowance.memory + TIMES_EXPANDED * size, max(allowance.n_items, 8 * size)
    failure: list[str] = []
    for rows, _ in pieces_of_work(function, task, body, allowance=allowed):
        # the process bounds its own memory; what it hands over may still be far more than the file holds
        most_rows -= len(rows)
        characters -= sum(map(_n_characters, rows))
        if most_rows < 0 or characters < 0:
            raise TooCostly(f"unpacks to too {'many' if most_rows < 0 else 'long'} documents for its {size:,} bytes")
        for row in rows:
            if "failure" in row:
                failure = row["failure"]
            elif "n_nuls" in row and file is not None:
                file.n_nuls, file.guessed = row["n_nuls"], set(row["guessed"])
            elif "text" in row:
                row["labels"] = {name: tuple(values) for name, values in row["labels"].items()}
                yield Draft(**row | {"text_columns": tuple(row["text_columns"])})
            else:
                yield Skipped(**row)
    if failure:
        raise ReadFailure(*failure)


def _n_characters(value: object) -> int:
    """Return how long all texts in a value of JSON are together."""
    values = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return len(value) if isinstance(value, str) else sum(map(_n_characters, values))


def read_piece(task: dict[str, Any], body: bytes) -> Iterator[Piece]:
    """Yield the documents of a file, some at a time, in the process that reads it."""
    options = ReadOptions(**task["options"])
    local = None if task["local"] is None else Path(task["local"])
    with io.BytesIO(body) if local is None else local.open("rb") as source:
        place, stream = PurePosixPath(task["place"]), counted_stream(source)
        file = InputFile(task["name"], place, stream, local=local, encoding=task["encoding"], format=task["format"])
        try:
            yield from some_at_a_time(guarded(FORMATS[file.format].read(file, options), "broken-file"))
        except ReadFailure as failure:
            if isinstance(failure.__cause__, MemoryError | TooCostly):
                raise failure.__cause__ from failure
            yield [{"failure": [failure.reason, failure.detail]}], b""
        yield [{"n_nuls": file.n_nuls, "guessed": sorted(file.guessed)}], b""


def some_at_a_time(items: Iterator[Found]) -> Iterator[Piece]:
    """Yield documents as pieces of JSON, many in each."""
    while batch := list(islice(items, DOCUMENTS_AT_A_TIME)):
        yield [{field.name: _as_json(getattr(item, field.name)) for field in fields(item)} for item in batch], b""


def _as_json(value: object) -> object:
    """Return the value of a field of a document; a moment is written as a date."""
    return value if isinstance(value, str | int | float | dict | tuple) else iso_date(value)
