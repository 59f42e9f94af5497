"""The formats by name, in the order in which they are recognised, and which of them a file has.

It is judged by its first bytes and, where these leave it open, by its name.
"""

from __future__ import annotations

import codecs
import itertools
import re

from doccluster.corpus.columns import looks_like_header
from doccluster.corpus.delimited import CSV, MOST_BEFORE, PARQUET, TSV, choose_dialect, stands_before
from doccluster.corpus.draft import ReadFailure
from doccluster.corpus.encodings import decode, encoding_by_mark, is_binary
from doccluster.corpus.feed_lists import OPML
from doccluster.corpus.feeds import FEED
from doccluster.corpus.format import Beginning, Format
from doccluster.corpus.input_file import InputFile
from doccluster.corpus.json_records import JSON, JSON_LINES
from doccluster.corpus.mail import EML, MBOX, NEWSGROUPS
from doccluster.corpus.office_files import OFFICE, PDF, RTF
from doccluster.corpus.reader_options import ReadOptions
from doccluster.corpus.text_files import HTML, LINES, REUTERS, TEXT, XML
from doccluster.errors import InputError

_RECORDS = (
    TEXT,
    LINES,
    CSV,
    TSV,
    JSON_LINES,
    JSON,
    PARQUET,
    OFFICE,
    RTF,
    PDF,
    REUTERS,
    OPML,
    FEED,
    HTML,
    XML,
    MBOX,
    NEWSGROUPS,
    EML,
)
FORMATS: dict[str, Format] = {record.name: record for record in _RECORDS}
_BY_ALIAS = {alias: record.name for record in _RECORDS for alias in record.aliases}
_SIGNATURES = (  # formats that hold text but not in a form that is read here, and those that hold none
    (b"\xd0\xcf\x11\xe0", "an old office file, or one with a password; save it as docx, odt or text"),
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
    """Return the name of the format.

    Raises ReadFailure if the file is empty, binary, or of a format that is not read.
    """
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
    """Return the first bytes, or raise ReadFailure when they are not of a text (or Parquet) file."""
    head = file.head
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
    lines = text.splitlines()[:MOST_BEFORE]
    lines = list(itertools.dropwhile(lambda line: stands_before(line, options), lines))
    if len(lines) < 2:
        return False
    n_tabs = {line.count("\t") for line in lines}
    if len(lines) > 2 and len(n_tabs) == 1 and n_tabs != {0} and not any(line.startswith("\t") for line in lines):
        return True
    delimiter = choose_dialect("\n".join(lines)).delimiter
    cells = [cell.strip().strip('"') for cell in lines[0].split(delimiter)]
    return len(cells) > 1 and looks_like_header(cells, options) and all(len(cell) < 60 for cell in cells)
