"""What is in a file, judged by its first bytes and, where these leave it open, by its name."""

from __future__ import annotations

import codecs
import json
import re

from doccluster.corpus.columns import looks_like_header
from doccluster.corpus.delimited import choose_dialect
from doccluster.corpus.draft import ReadFailure
from doccluster.corpus.encodings import decode, encoding_by_mark
from doccluster.corpus.input_file import InputFile
from doccluster.corpus.options import ReadOptions

_SIGNATURES = (  # formats that hold text but not in a form that is read here, and those that hold none
    (b"%PDF-", "PDF; convert it to text first"),
    (b"\xd0\xcf\x11\xe0", "an old office file; save it as text"),
    (b"{\\rtf", "RTF; save it as text"),
    (b"\x28\xb5\x2f\xfd", "Zstandard; decompress it first"),
    (b"7z\xbc\xaf\x27\x1c", "7-Zip; unpack it first"),
    (b"Rar!\x1a", "RAR; unpack it first"),
    (b"SQLite format 3\0", "a database; export a table as csv"),
    (b"\x89HDF", "HDF5; export a table as csv"),
)
_MATRIX_NAMES = re.compile(r"\.(mat|mtx|npz|npy|rclass|clabel|rlabel)$", re.IGNORECASE)
_ASIDE = re.compile(r"^(\s+|<!--.*?(-->|\Z)|<\?.*?(\?>|\Z))+", re.DOTALL)
_DOCTYPE = re.compile(r"<!doctype\s+([a-z:]+)", re.IGNORECASE)
_INTERNAL = re.compile(r"\A<!doctype[^\[<>]*+(?:\[.*?\]\s*+)?>", re.IGNORECASE | re.DOTALL)
_ROOT = re.compile(r"<([a-z][\w.:-]*)", re.IGNORECASE)
_HEADER = re.compile(r"([A-Za-z][A-Za-z0-9-]*):(?:[ \t]|\r?$)|[ \t]")
_MAILBOX = re.compile(r"From \S.*\r?\n(?:>?[A-Za-z-]+: )")
_FEED_ROOTS = {"rss", "feed", "rdf", "channel", "rdf:rdf"}
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


def recognise(file: InputFile, options: ReadOptions) -> str:
    """Return the name of the format.

    Raises
    ------
    ReadFailure
        If the file is empty, binary, or of a format that is not read.
    """
    head = check_is_text(file)
    if _MATRIX_NAMES.search(file.place.name):
        raise ReadFailure("unsupported-format", "part of a matrix; give the matrix alone")
    if head.startswith(b"PAR1"):
        return "parquet"
    text = _beginning(head).lstrip("\ufeff \t\r\n")
    name = file.place.name.lower()
    found = _by_content(text, name) or _by_name(name)
    if found is None and file.is_explicit and _is_table(text, options):
        return "csv"
    if found is not None:
        return found
    return "lines" if file.is_only else "text"


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
    if head.startswith(b"PAR1") or encoding_by_mark(head) is not None:
        return head
    if b"\0" in head[:4096] or len(_CONTROL.findall(head)) > 0.1 * len(head):
        raise ReadFailure("binary", "not a text file")
    return head


def _by_content(text: str, name: str) -> str | None:
    if text.startswith("<"):
        return _markup_kind(text, name)
    if text.startswith(("{", "[")):
        return _json_kind(text, name)
    if _MAILBOX.match(text):
        return "mbox"
    return _message_kind(text, name)


def _markup_kind(text: str, name: str) -> str | None:
    """Return the kind of a file that begins like markup, by its doctype or its first element."""
    text = _ASIDE.sub("", text[:HEAD_FOR_ROOT], count=1)
    doctype = _DOCTYPE.match(text)
    if doctype is not None and doctype[1].lower() in ("html", "lewis"):
        return "html" if doctype[1].lower() == "html" else "reuters"
    text = _ASIDE.sub("", _INTERNAL.sub("", text, count=1), count=1)
    root = _ROOT.search(text)
    element = root[1].lower() if root is not None else ""
    local = element.rpartition(":")[2]
    if element == "reuters":
        return "reuters"
    if element == "opml":
        return "opml"
    if element in _FEED_ROOTS or local in _FEED_ROOTS or name.endswith((".rss", ".atom", ".rdf")):
        return "feed"
    if element in ("html", "head", "body") or name.endswith((".html", ".htm", ".xhtml")):
        return "html"
    return "xml" if name.endswith(".xml") else None


HEAD_FOR_ROOT = 65_536


def _json_kind(text: str, name: str) -> str | None:
    if name.endswith((".jsonl", ".ndjson", ".jsonlines")):
        return "jsonl"
    first, _, rest = text.partition("\n")
    if text.startswith("{") and rest.lstrip().startswith("{") and _is_json(first):
        return "jsonl"
    if name.endswith((".json", ".jsonfeed", ".geojson")):
        return "json"
    if text.startswith("{") and _is_json(first):
        return "jsonl"
    return "json" if re.match(r'\{\s*"|\[\s*[\[{"]', text) else None


def _is_json(line: str) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _message_kind(text: str, name: str) -> str | None:
    """Return eml or newsgroups for text that begins with mail headers, From and Subject among them."""
    names: set[str] = set()
    for line in text[:16_384].split("\n"):
        header = _HEADER.match(line)
        if not line.strip() or header is None:
            break
        if header[1]:
            names.add(header[1].lower())
    if not {"from", "subject"} <= names:
        return "eml" if name.endswith(".eml") else None
    is_mail = name.endswith(".eml") or bool(names & {"mime-version", "received", "to", "delivered-to", "content-type"})
    is_news = "newsgroups" in names or (not is_mail and bool(names & {"organization", "lines", "nntp-posting-host"}))
    if is_news:
        return "newsgroups"
    return "eml" if is_mail or "message-id" in names or "date" in names else None


def _by_name(name: str) -> str | None:
    endings = {
        "csv": (".csv",),
        "tsv": (".tsv", ".tab"),
        "jsonl": (".jsonl", ".ndjson", ".jsonlines"),
        "json": (".json",),
        "html": (".html", ".htm", ".xhtml"),
        "feed": (".rss", ".atom"),
        "reuters": (".sgm", ".sgml"),
        "opml": (".opml",),
        "mbox": (".mbox", ".mbx"),
        "eml": (".eml",),
    }
    return next((format for format, ends in endings.items() if name.endswith(ends)), None)


def _is_table(text: str, options: ReadOptions) -> bool:
    """Say whether a file without a telling name is a table: its first line names a text column, others are as wide."""
    lines = text.splitlines()[:20]
    if len(lines) < 2:
        return False
    delimiter = choose_dialect("\n".join(lines)).delimiter
    cells = [cell.strip().strip('"') for cell in lines[0].split(delimiter)]
    return len(cells) > 1 and looks_like_header(cells, options) and all(len(cell) < 60 for cell in cells)
