"""What a reader is: the file that it is given, the documents that it hands over, and the record of its format.

A file is a name, its first bytes, and a stream that is read once. Every byte that comes out of a decompressor is
counted here, and every way a compressed file can be broken becomes a `ReadFailure`, so that readers need not know about
archives. A format is one record, written beside its reader; `formats.py` gathers them, and menus, recognition, the
docs' table and the tests are made from these records.

Readers stand on libraries that raise what they like on a file that is damaged or made to harm. Their calls are not
wrapped one by one: `reading.py` and `archives.py` draw every item through the border here, which turns what is raised
into a listed reason, and readers of many records make each record through it, so that one bad record costs that record
alone.
"""

from __future__ import annotations

import errno
import io
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any, AnyStr, ParamSpec, TypeVar

from doccluster.base.limited_process import Allowance, doubled
from doccluster.corpus.encodings import BOMS, UNKNOWN, Decoded, decode, detect, encoding_by_mark
from doccluster.corpus.reader_options import ReadOptions
from doccluster.errors import DocclusterError, InputError

RENAMED = "duplicate-id"
_Parameters = ParamSpec("_Parameters")
_Item = TypeVar("_Item")


@dataclass(frozen=True)
class Skipped:
    """One input that gave no document, or a document under another id: where it was, why, and details for a person."""

    source: str
    reason: str  # a short fixed word: empty, undecodable, unreadable, too-long, duplicate-id, unsafe-path, ...
    detail: str = ""

    @property
    def is_renamed(self) -> bool:
        """Whether the document was kept after all, under an id that was free."""
        return self.reason == RENAMED


@dataclass(slots=True)
class Draft:
    """One document as a reader found it; empty strings stand for what the input does not say."""

    text: str
    where: str  # the place for a person; it is the id of a document that has none
    id: str = ""
    title: str = ""
    date: object = ""  # as it is written, or a value that stands for a moment
    source: str = ""
    link: str = ""
    labels: dict[str, tuple[str, ...]] = field(default_factory=dict)
    extra: dict[str, str] = field(default_factory=dict)
    is_whole_file: bool = False  # the file is the document, so that its folder can be its class
    text_columns: tuple[str, ...] = ()  # of a table: where the text stands,
    renamed_columns: tuple[str, ...] = ()  # and the columns kept under another name, since theirs had line ends
    date_remark: str = ""  # and which columns hold dates, where no name says which is the date
    has_id: bool = True  # and not the number or the index of its row
    # of a table in memory: those in `extra` as they came, by their old and new names
    values: dict[tuple[str, str], object] = field(default_factory=dict)


Found = Draft | Skipped  # what a reader may hand over


class ReadFailure(Exception):
    """A file (or what is left of it) cannot be read; the run goes on and lists `reason` and `detail`."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


class UnknownColumn(InputError):
    """A column that was named, or one with the text, is not in a table; the message lists the columns there are."""


def with_title(title: str, body: str) -> str:
    """Return the body under its title, unless it begins with it."""
    if not title or body.lstrip().startswith(title):
        return body
    return f"{title}\n\n{body}" if body.strip() else title


@contextmanager
def boundary(reason: str) -> Iterator[None]:
    """Turn whatever is raised inside into a ReadFailure with this reason; doccluster's own errors pass."""
    try:
        yield
    except (ReadFailure, DocclusterError):
        raise
    except Exception as error:  # no list of what libraries raise on hostile input is ever complete
        raise ReadFailure(reason, described(error)) from error


def guarded(source: Iterable[_Item], reason: str) -> Iterator[_Item]:
    """Hand over what `source` gives; what it raises after that is a ReadFailure."""
    items = iter(source)
    end = object()
    while True:
        with boundary(reason):
            item = next(items, end)
        if item is end:
            return
        yield item  # type: ignore[misc]  # the end is told apart by identity


def failure_listed(source: Iterable[_Item], name: str) -> Iterator[_Item | Skipped]:
    """Hand over what `source` gives; a ReadFailure ends it, and is handed over as what was skipped."""
    try:
        yield from source
    except ReadFailure as failure:
        yield Skipped(name, failure.reason, failure.detail)


def record(
    where: str,
    make: Callable[_Parameters, _Item],
    *arguments: _Parameters.args,
    **options: _Parameters.kwargs,
) -> _Item | Skipped:
    """Return the value that `make` makes of one record, or why there is none; other records go on."""
    try:
        with boundary("bad-record"):
            return make(*arguments, **options)
    except ReadFailure as failure:
        return Skipped(where, failure.reason, failure.detail)


def described(error: Exception) -> str:
    """Return an exception in words for the list of skipped documents."""
    if isinstance(error, MemoryError):
        return "it asks for more memory than there is"
    if isinstance(error, RecursionError):
        return "it is nested too deep"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    message = str(error)
    is_telling = message and isinstance(error, ValueError | OSError)
    return message if is_telling else f"{type(error).__name__}: {message}".rstrip(": ")


HEAD_SIZE = 65_536
_PIECE = 2**20  # bytes


# of a packed file, beside what any file may: to how many times its bytes it may expand, how many bytes it takes for
# each document at least, and how many tags, values or lines one text in it may have for each byte
TIMES_PACKED, BYTES_OF_A_DOCUMENT, PARTS_OF_A_BYTE = 50, 2, 8


class Budget:
    """How many bytes and documents a packed file may still expand to; far more than any has that is not made to harm.

    `n_packed`: how many bytes it takes, as far as that is known.
    """

    def __init__(self, limit: int, n_packed: int = 0) -> None:
        self.limit = limit
        self.bytes_left = limit
        self.is_exceeded = False
        self._allowance = Allowance.within(limit)
        self._n_packed, self._n_documents = n_packed, 0

    def receive(self, n_bytes: int) -> None:
        """Count bytes of the packed file itself, where its size is not known before it ends."""
        self._n_packed += n_bytes

    def spend(self, n_bytes: int) -> None:
        """Count bytes that were expanded; raise ReadFailure above the limit."""
        self.bytes_left -= n_bytes
        if self.bytes_left < 0:
            self.is_exceeded = True
            raise ReadFailure("expanded-too-large", f"the archive expands to more than {self.limit:,} bytes")
        if self.limit - self.bytes_left > self._allowance.memory + TIMES_PACKED * self._n_packed:
            self.is_exceeded = True
            raise self._too_costly("far more than")

    def add_document(self) -> None:
        """Count a document; raise ReadFailure above the limit."""
        self._n_documents += 1
        if self._n_documents > max(self._allowance.n_items, self._n_packed // BYTES_OF_A_DOCUMENT):
            self.is_exceeded = True
            raise self._too_costly("too many documents for")

    def check_parts(self, n_parts: int) -> None:
        """Raise ReadFailure where one text has so many parts (tags, values, lines) that they would fill the memory."""
        if n_parts > max(self._allowance.n_items, PARTS_OF_A_BYTE * self._n_packed):
            raise self._too_costly("too many parts for")

    def _too_costly(self, what: str) -> ReadFailure:
        remedy = f"--max-expanded-size {doubled(self.limit)} allows twice as much"
        return ReadFailure("too-costly", f"it unpacks to {what} its {self._n_packed:,} bytes; {remedy}")


class _CountedStream(io.RawIOBase):
    """Read from `source`, filling the buffer as far as the source goes; failures come after the bytes before them."""

    def __init__(self, source: Any, spend: Callable[[int], None] | None, broken: str) -> None:
        self._read_some = getattr(source, "read1", source.read)
        self._spend = spend
        self._broken = broken
        self._failure: ReadFailure | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self._failure is not None:
            raise self._failure
        view, filled = memoryview(buffer), 0
        while filled < len(view):
            try:
                piece = self._read_some(len(view) - filled)
                if piece is None:
                    raise BlockingIOError(errno.EAGAIN, "it is not a plain file, and nothing comes from it")
                if self._spend is not None:
                    self._spend(len(piece))
            except ReadFailure as failure:
                self._failure = failure
            except Exception as error:  # noqa: BLE001  the stream's own border: its failure comes after what it gave
                self._failure = ReadFailure(self._broken, described(error))
            if self._failure is not None:
                break
            if not piece:
                return filled
            view[filled : filled + len(piece)] = piece
            filled += len(piece)
        if filled == 0 and self._failure is not None:
            raise self._failure
        return filled


def counted_stream(
    source: object, *, spend: Callable[[int], None] | None = None, broken: str = "unreadable"
) -> io.BufferedReader:
    """Return a buffered stream over `source` whose failures are `ReadFailure` with the reason `broken`.

    `spend` gets the number of bytes of each piece that is read.
    """
    return io.BufferedReader(_CountedStream(source, spend, broken), HEAD_SIZE)


@dataclass
class InputFile:
    """A file to read once, from start to end."""

    name: str  # how a person finds it
    place: PurePosixPath  # where it lies below the source; its parent is the class of a text file
    stream: io.BufferedReader
    root: str = ""
    is_explicit: bool = False  # the user named this file,
    is_only: bool = False  # and no other
    in_archive: bool = False
    local: Path | None = None  # its path when it is a plain file
    encoding: str | None = None
    format: str = ""
    guessed: set[str] = field(default_factory=set)  # the encodings that nothing but the bytes spoke for
    n_nuls: int = 0  # that were left out of its text
    budget: Budget | None = None  # of the archive it is in
    is_partly_read: bool = False  # its front matter, of which the rest stays in the text

    @property
    def head(self) -> bytes:
        """The first bytes, without reading them away."""
        return self.stream.peek(HEAD_SIZE)[:HEAD_SIZE]

    @property
    def folder(self) -> str:
        """The name of the folder it lies in, empty at the top of the source."""
        return self.place.parent.name

    def as_document(self, text: str, **facts: Any) -> Draft:
        """Return the one document that the file is; `facts` are fields of `Draft`."""
        return Draft(text, self.name, id=str(self.place), is_whole_file=True, **facts)

    def read(self, limit: int | None = None) -> bytes:
        """Return all bytes; raise ReadFailure when there are more than `limit`."""
        if limit is None:
            return self.stream.read()
        pieces, n_left = [], limit
        while n_left >= 0 and (piece := self.stream.read(_PIECE)):  # memory for all of `limit` is not asked for at once
            pieces.append(piece)
            n_left -= len(piece)
        if n_left < 0:
            raise ReadFailure("too-long", f"more than {limit:,} bytes")
        return b"".join(pieces)

    def text(self, limit: int | None = None, *, declared: str | None = None) -> str:
        """Return all text; raise ReadFailure when it cannot be decoded or is too long."""
        return self.decode(self.read(limit), declared=declared)

    def decode(self, data: bytes, *, declared: str | None = None) -> str:
        """Return `data`, a part of this file, as text; a guess is remembered for the warning at the end."""
        if self.encoding is not None:
            mark = next((mark for mark, name in BOMS if data.startswith(mark) and name == self.encoding), b"")
            try:
                decoded = Decoded(data[len(mark) :].decode(self.encoding), self.encoding).without_nuls()
            except UnicodeError as error:
                raise ReadFailure("undecodable", f"not {self.encoding}: {error}") from error
        else:
            decoded = decode(data, declared=declared)
        self.n_nuls += decoded.n_nuls
        self.check_parts(decoded.text)
        if decoded.guess == UNKNOWN:
            start = decoded.text[:100_000]
            odd = sum(character == "\ufffd" or (character < " " and character not in "\t\r\n\f") for character in start)
            if odd > 0.05 * len(start):
                raise ReadFailure("undecodable", "neither utf-8 nor another encoding that makes it text")
        self.guessed |= {decoded.guess} - {""}
        return decoded.text

    def check_parts(self, text: str | bytes, marks: str = "<[{,;\t") -> None:
        """Raise ReadFailure where a packed file has one text of far too many parts, which begin with these marks."""
        if self.budget is not None and len(text) > HEAD_SIZE:
            counts = map(text.count, marks) if isinstance(text, str) else map(text.count, marks.encode())
            self.budget.check_parts(sum(counts))

    def lines(self, limit: int) -> Iterator[str | None]:
        """Return the lines with their ends (LF or CR), without NULs; None for one of more than `limit` bytes."""
        for line in self._counted(self._decoded_lines(limit)):
            self.check_parts(line or "")
            if line is None or ("\0" not in line and "\r" not in line[:-2]):
                yield line
                continue
            self.n_nuls += line.count("\0")
            text = line.replace("\0", "")
            *pieces, last = text.rstrip("\r\n").split("\r")
            yield from (f"{piece}\r" for piece in pieces)
            yield last + text[len(text.rstrip("\r\n")) :]

    def _decoded_lines(self, limit: int) -> Iterator[str | None]:
        encoding, skip = self._encoding_of_lines()
        self.stream.read(skip)
        if encoding is None:
            yield from self._utf8_lines(limit)
            return
        text = io.TextIOWrapper(self.stream, encoding, "replace", newline="" if b"\n" in self.head else None)
        try:
            yield from _bounded_lines(text.readline, "\n", limit)
        finally:
            if not self.stream.closed:  # where a reader stopped in the middle
                text.detach()

    def stream_lines(self, limit: int) -> Iterator[bytes | None]:
        """Return the lines as bytes; None stands for one of more than `limit` bytes."""
        return self._counted(_bounded_lines(self.stream.readline, b"\n", limit))

    def _counted(self, lines: Iterator[_Item]) -> Iterator[_Item]:
        """Hand over lines; raise ReadFailure where a packed file has far too many."""
        if self.budget is None:
            yield from lines
            return
        for number, line in enumerate(lines, 1):
            self.budget.check_parts(number)
            yield line

    def _encoding_of_lines(self) -> tuple[str | None, int]:
        """Return the encoding that is known before the first line (None: utf-8 line by line) and the BOM's length."""
        head = self.head
        encoding_and_skip = encoding_by_mark(head)
        if self.encoding is not None:
            mark, marked = next(
                (encoding_mark for encoding_mark in BOMS if head.startswith(encoding_mark[0])),
                (b"", f"{self.encoding}-le"),
            )
            return marked if self.encoding in ("utf-16", "utf-32") else self.encoding, len(mark)
        if encoding_and_skip is not None and encoding_and_skip[0] != "utf-8":
            return encoding_and_skip
        skip = encoding_and_skip[1] if encoding_and_skip is not None else 0
        if b"\x1b$" in head or b"~{" in head or (b"\r" in head and b"\n" not in head):
            return decode(head[: head.rfind(b"\r") + 1] or head).encoding, skip
        return None, skip

    def _utf8_lines(self, limit: int) -> Iterator[str | None]:
        """Decode line by line; the first line that is not utf-8 decides on the encoding of those that are not."""
        fallback: str | None = None
        for line in _bounded_lines(self.stream.readline, b"\n", limit):
            if line is None:
                yield None
                continue
            try:
                yield line.decode()
                continue
            except UnicodeDecodeError:
                pass
            if fallback is None:
                detected = detect(line + b"\n" + self.head)
                fallback = detected or "cp1252"
                self.guessed.add(detected or UNKNOWN)
            yield line.decode(fallback, "replace")


def _bounded_lines(read_line: Callable[[int], AnyStr], end: AnyStr, limit: int) -> Iterator[AnyStr | None]:
    while line := read_line(limit + 1):
        is_whole = len(line) <= limit or line.endswith(end)
        yield line if is_whole else None
        while not is_whole and line and not line.endswith(end):
            line = read_line(HEAD_SIZE)


_ASIDE = re.compile(r"\A(?:\s++|<!--(?:(?!-->).)*+(?:-->|\Z)|<\?(?:(?!\?>).)*+(?:\?>|\Z))++", re.DOTALL)
_DOCTYPE = re.compile(r"<!doctype\s+([a-z:]+)", re.IGNORECASE)
_INTERNAL = re.compile(r"\A<!doctype[^\[<>]*+(?:\[.*?\]\s*+)?>", re.IGNORECASE | re.DOTALL)
_ROOT = re.compile(r"<([a-z][\w.:-]*)", re.IGNORECASE)

Reader = Callable[[InputFile, ReadOptions], Iterator[Found]]


@dataclass(frozen=True)
class Beginning:
    """The beginning of a file, by which its format is recognised: its text without a mark and blanks, and its name."""

    text: str
    name: str
    head: bytes = b""

    @property
    def is_markup(self) -> bool:
        """Whether it begins like XML, SGML or HTML."""
        return self.text.startswith("<")

    @property
    def is_json(self) -> bool:
        """Whether it begins like JSON."""
        return self.text.startswith(("{", "["))

    @cached_property
    def doctype(self) -> str:
        """The name after ``<!doctype``, in lower case; "" without one."""
        match = _DOCTYPE.match(_ASIDE.sub("", self.text, count=1))
        return "" if match is None else match[1].lower()

    @cached_property
    def element(self) -> str:
        """The name of the first element of markup, in lower case; "" without one."""
        text = _INTERNAL.sub("", _ASIDE.sub("", self.text, count=1), count=1)
        match = _ROOT.search(_ASIDE.sub("", text, count=1))
        return "" if match is None else match[1].lower()


@dataclass(frozen=True)
class Format:
    """One format of files."""

    name: str  # as `format` and ``--format`` take it
    read: Reader  # yields the documents of a file, and what was skipped
    document: str  # what a document is,
    brings: str = ""  # and what comes with it: a line of the docs' table
    suffixes: tuple[str, ...] = ()  # how the names of such files end, where their content leaves it open
    aliases: tuple[str, ...] = ()  # what else people call it
    # whether a file that begins so has this format; asked of one format after another, in the order of `FORMATS`
    recognises: Callable[[Beginning], bool] | None = None
    # parameters of `read_corpus` that only this format has; ``--format NAME:parameter=value`` sets them
    parameters: tuple[str, ...] = ()
    has_columns: bool = False  # whether a document is a row, with columns
    is_apart: bool = False  # whether files are read in a process of their own, which they may harm,
    is_apart_packed: bool = False  # or those that come out of an archive

    @property
    def unit(self) -> str:
        """The noun of what a document is: "row" for "a row", "entry" for "an entry of RSS"."""
        return self.document.split()[1].strip(",:")
