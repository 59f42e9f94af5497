"""Documents in files: DOCX, PPTX, ODT, ODP and EPUB (zip archives of XML), RTF, and PDF with the extra `documents`.

Text that was deleted under tracking, comments, headers and footers are left out. Pages of a presentation or a PDF file
and chapters of a book are divided by form feeds, so that a place in the text says which one it is in. Scans are
pictures, and have no text.
"""

from __future__ import annotations

import io
import posixpath
import re
import urllib.parse
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import ParseError

import defusedxml.ElementTree
from defusedxml import DefusedXmlException

from doccluster.base.limited_process import Allowance, TooCostly
from doccluster.corpus.markup import read_page
from doccluster.corpus.reader import HEAD_SIZE, Draft, Format, InputFile, ReadFailure, with_title
from doccluster.corpus.reader_options import ReadOptions
from doccluster.errors import importing

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

MAX_FILE_BYTES = 256 * 1024**2  # of a zip archive inside another, which has to be held
PAGE_END = "\n\f\n"
_KINDS = {"[Content_Types].xml", "mimetype"}  # one of them is in every such file, and in no other archive
_SLIDE = re.compile(r"ppt/slides/slide(\d+)\.xml")
_UNREAD = {"Fallback", "annotation", "tracked-changes", "note-citation", "del", "moveFrom"}
_BREAKS = {"tab": "\t", "s": " ", "br": "\n", "cr": "\n", "line-break": "\n"}


def as_office_file(file: InputFile) -> tuple[InputFile, bool]:
    """Return a zip archive that can be read again, and whether it is a document rather than a pile of files."""
    if file.local is None:
        data = file.read(MAX_FILE_BYTES)
        file = replace(file, stream=io.BufferedReader(io.BytesIO(data), HEAD_SIZE))  # type: ignore[type-var]
        source: Any = io.BytesIO(data)
    else:
        source = file.local
    try:
        with zipfile.ZipFile(source) as archive:
            return file, not _KINDS.isdisjoint(archive.namelist())
    except (zipfile.BadZipFile, ValueError, NotImplementedError):
        return file, False  # the reader of archives says what is wrong with it


def read_office(file: InputFile, options: ReadOptions) -> Iterator[Draft]:
    """Return the one document that the file is."""
    with opened_archive(file, options) as archive:
        text, title, date = _read_parts(_Parts(archive, options.allowance.memory // 4))
    yield file.as_document(with_title(title, text), title=title, date=date)


@contextmanager
def opened_archive(file: InputFile, options: ReadOptions) -> Iterator[zipfile.ZipFile]:
    """Open the archive that a file is; inside, what is damaged or unsafe is a ReadFailure."""
    source: Any = file.local if file.local is not None else io.BytesIO(file.read(options.allowance.memory))
    try:
        with zipfile.ZipFile(source) as archive:
            yield archive
    except (zipfile.BadZipFile, KeyError, EOFError, NotImplementedError, ParseError) as error:
        raise ReadFailure("broken-file", f"it is damaged ({error})") from error
    except DefusedXmlException as error:
        raise ReadFailure("unsafe-xml", "it defines entities, which are not expanded") from error


class _Parts:
    """The parts of an office file by name; what they expand to is counted."""

    def __init__(self, archive: zipfile.ZipFile, max_bytes: int) -> None:
        self._archive = archive
        self._max_bytes = self._bytes_left = max_bytes
        self.names = frozenset(archive.namelist())

    def read(self, name: str) -> bytes:
        member = self._archive.getinfo(name)
        if member.flag_bits & 1:
            raise ReadFailure("encrypted", "it has a password")
        with self._archive.open(member) as stream:
            data = stream.read(self._bytes_left + 1)
        self._bytes_left -= len(data)
        if self._bytes_left < 0:
            raise TooCostly(f"unpacks to more than {self._max_bytes:,} bytes")
        return data

    def root(self, name: str) -> Element:
        root: Element = defusedxml.ElementTree.fromstring(self.read(name))
        return root


def _read_parts(parts: _Parts) -> tuple[str, str, str]:
    """Return text, title and date of whatever kind it is."""
    if "META-INF/container.xml" in parts.names:
        return _book(parts)
    if "content.xml" in parts.names:
        manifest = "META-INF/manifest.xml"
        if manifest in parts.names and b"encryption-data" in parts.read(manifest):
            raise ReadFailure("encrypted", "it has a password")
        meta = parts.root("meta.xml") if "meta.xml" in parts.names else None
        root = parts.root("content.xml")
        pages = [element for element in root.iter() if _local(element) == "page"] or [root]
        return PAGE_END.join(map(paragraphs, pages)), *_said(meta, "creation-date", "date")
    meta = parts.root("docProps/core.xml") if "docProps/core.xml" in parts.names else None
    slides = sorted((int(match[1]), match[0]) for match in map(_SLIDE.fullmatch, parts.names) if match)
    bodies = [name for _, name in slides] or [name for name in ("word/document.xml",) if name in parts.names]
    if not bodies:
        raise ReadFailure("unsupported-format", "an office file without text")
    notes = [name for name in ("word/footnotes.xml", "word/endnotes.xml") if name in parts.names]
    texts = [paragraphs(parts.root(name), of_office=True) for name in bodies]
    texts[-1] = "\n".join([texts[-1], *(paragraphs(parts.root(name), of_office=True) for name in notes)])
    return PAGE_END.join(texts).strip(), *_said(meta, "created", "modified")


def _said(meta: Element | None, *dates: str) -> tuple[str, str]:
    """Return the title and the first of these dates that the file says of itself."""
    properties = {_local(element): element.text or "" for element in meta.iter()} if meta is not None else {}
    return properties.get("title", "").strip(), next((properties[name] for name in dates if properties.get(name)), "")


def paragraphs(root: Element, *, of_office: bool = False) -> str:
    """Return the paragraphs below an element, a line for each; in Office's own XML only some elements hold text."""
    for parent in list(root.iter()):
        for child in list(parent):
            if _local(child) in _UNREAD:
                child.text = None
                child[:] = []
            elif _local(child) in _BREAKS:
                child.text = _BREAKS[_local(child)]
    # a paragraph may hold others (a text box, a note), which are read with it and not again
    lines, elements_seen = [], set()
    for element in root.iter():
        if _local(element) in ("p", "h") and element not in elements_seen:
            inside = list(element.iter())
            elements_seen.update(inside)
            if of_office:
                pieces = (
                    "\n" if _local(part) == "p" and part is not element else part.text or ""
                    for part in inside
                    if _local(part) in ("t", "p", *_BREAKS)
                )
                lines.append("".join(pieces).strip())
            else:
                lines.append("".join(element.itertext()).strip())
    return "\n".join(line for line in lines if line)


def _book(parts: _Parts) -> tuple[str, str, str]:
    """Return the chapters of a book in their order, its title and date."""
    package = next(element for element in parts.root("META-INF/container.xml").iter() if _local(element) == "rootfile")
    place = package.get("full-path", "")
    root = parts.root(place)
    properties: dict[str, str] = {}
    files: dict[str, str] = {}
    chapters = []
    for element in root.iter():
        if _local(element) in ("title", "date"):
            properties.setdefault(_local(element), (element.text or "").strip())
        elif _local(element) == "item":
            files[element.get("id", "")] = element.get("href", "")
        elif _local(element) == "itemref":
            path = urllib.parse.unquote(files.get(element.get("idref", ""), "")).partition("#")[0]
            chapters.append(posixpath.normpath(posixpath.join(posixpath.dirname(place), path)))
    if "META-INF/rights.xml" in parts.names:
        raise ReadFailure("encrypted", "the book is locked to a reader")
    names = [name for name in dict.fromkeys(chapters) if name in parts.names]
    texts = [read_page(parts.read(name).decode("utf-8", "replace")).text for name in names]
    return PAGE_END.join(filter(None, texts)), properties.get("title", ""), properties.get("date", "")


def _local(element: Element) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


OFFICE = Format(
    "office",
    read_office,
    "a file of a word processor, a presentation or a book",
    "title, date; pages of a presentation and chapters are divided by form feeds",
    suffixes=(".docx", ".pptx", ".odt", ".odp", ".epub"),
    aliases=("docx", "pptx", "odt", "odp", "epub"),
    recognises=lambda beginning: beginning.head.startswith(b"PK\x03\x04"),
    is_apart=True,
)

_RTF = re.compile(
    r"\\([a-z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-f]{2})|\\([^a-z])|([{}])|[\r\n]+|([^\\{}\r\n]+)", re.IGNORECASE
)
_RTF_UNREAD = {
    *("fonttbl", "colortbl", "stylesheet", "info", "pict", "header", "footer", "headerl", "headerr", "footerl"),
    *("footerr", "object", "themedata", "colorschememapping", "latentstyles", "datastore", "xmlnstbl", "listtable"),
    *("listoverridetable", "rsidtbl", "generator", "annotation", "fldinst"),
}
_RTF_SIGNS = {
    **dict.fromkeys(("par", "line", "row", "sect"), "\n"),
    **dict.fromkeys(("cell", "tab"), "\t"),
    **dict(zip(("emdash", "endash", "lquote", "rquote", "ldblquote", "rdblquote", "bullet"), "—–‘’“”•", strict=True)),
    "page": PAGE_END,
}


def read_rtf(file: InputFile, options: ReadOptions) -> Iterator[Draft]:
    """Return the one document that the file is."""
    source = file.read(options.allowance.memory).decode("latin-1")
    text = "".join(_rtf_pieces(source, options.allowance))
    yield file.as_document(text.strip())


def _rtf_pieces(source: str, allowance: Allowance) -> Iterator[str]:
    """Yield the pieces of text of an RTF file, in their order."""
    code_page = re.search(r"\\ansicpg(\d{3,5})", source[:2000])
    codec = f"cp{code_page[1]}" if code_page else "cp1252"
    groups: list[tuple[bool, int]] = []  # what holds in each open group: whether it is read, letters after a \u
    is_read, n_after, skip = True, 1, 0
    for match in _RTF.finditer(source):
        word, number, byte, sign, brace, plain = match.groups()
        if brace == "{":
            groups.append((is_read, n_after))
            if len(groups) > allowance.n_items:
                raise TooCostly(f"has more than {allowance.n_items:,} groups inside one another")
        elif brace == "}":
            is_read, n_after = groups.pop() if groups else (True, 1)
        elif word in _RTF_UNREAD or sign == "*":
            is_read = False
        elif word == "uc":
            n_after = int(number or 1)
        elif not is_read:
            continue
        elif word == "u" and number is not None:
            code = int(number) % 65536
            yield chr(code)
            skip = n_after
        elif byte is not None:
            if not skip:
                yield _rtf_letter(byte, codec)
            skip = max(skip - 1, 0)
        elif plain is not None:
            yield plain[skip:]
            skip = max(skip - len(plain), 0)
        elif word in _RTF_SIGNS:
            yield _RTF_SIGNS[word]
        elif sign is not None:
            yield {"~": " ", "_": "-", "-": "", "\n": "\n", "\r": "\n"}.get(sign, sign if sign in "\\{}" else "")


def _rtf_letter(byte: str, codec: str) -> str:
    try:
        return bytes.fromhex(byte).decode(codec, "replace")
    except LookupError:
        return bytes.fromhex(byte).decode("cp1252", "replace")


RTF = Format(
    "rtf",
    read_rtf,
    "a file of a word processor",
    suffixes=(".rtf",),
    recognises=lambda beginning: beginning.head.startswith(b"{\\rtf"),
    is_apart=True,
)


_DATE = re.compile(r"D:(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?")
_WORD_BREAK = re.compile("[\x02\ufffe]\r?\n?")  # a word that goes on in the next line


def read_pdf(file: InputFile, options: ReadOptions) -> Iterator[Draft]:
    """Return the one document that the file is. Raises MissingDependency if pypdfium2 is not installed."""
    with importing("PDF files need", "pypdfium2", install="doccluster[documents]"):
        import pypdfium2
    try:
        document = pypdfium2.PdfDocument(file.read(options.allowance.memory))
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).lower():
            raise ReadFailure("encrypted", "it has a password") from error
        raise ReadFailure("broken-file", f"it is damaged ({error})") from error
    try:
        pages, n_left = [], options.document_bytes
        if len(document) > options.allowance.n_items:
            raise TooCostly(f"has more than {options.allowance.n_items:,} pages")
        for number in range(len(document)):
            page = document[number]
            text_page = page.get_textpage()
            pages.append(_WORD_BREAK.sub("", text_page.get_text_range()).replace("\r\n", "\n"))
            text_page.close()
            page.close()
            n_left -= len(pages[-1])
            if n_left < 0:
                raise ReadFailure("too-long", f"more than {options.document_bytes:,} characters")
        properties = document.get_metadata_dict(skip_empty=True)
    finally:
        document.close()
    # pdfium finds no text in a scan, and says nothing of it
    if not any(map(str.strip, pages)):
        pictures = "a page that is a picture" if len(pages) == 1 else f"{len(pages):,} pages that are pictures"
        raise ReadFailure("no-text", f"{pictures}, as of a scan; recognise their text first")
    title = properties.get("Title", "").strip()
    creation_date = _DATE.match(properties.get("CreationDate", ""))
    date = "" if creation_date is None else "-".join(part for part in creation_date.groups()[:3] if part)
    yield file.as_document(with_title(title, PAGE_END.join(pages).strip()), title=title, date=date)


PDF = Format(
    "pdf",
    read_pdf,
    "a file",
    'title, date; pages are divided by form feeds; needs `pip install "doccluster[documents]"`',
    suffixes=(".pdf",),
    recognises=lambda beginning: beginning.head.startswith(b"%PDF-"),
    is_apart=True,
)
