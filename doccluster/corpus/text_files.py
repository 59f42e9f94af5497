"""Files that are one document, or one a line: plain text, HTML pages (all their text, or the article), other XML.

Entities that an XML file defines are refused, so an entity bomb does nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING
from xml.etree.ElementTree import ParseError

import defusedxml.ElementTree
from defusedxml import DefusedXmlException

from doccluster.base.control_characters import CONTROLS
from doccluster.corpus.document import Skipped
from doccluster.corpus.draft import Draft, ReadFailure, with_title
from doccluster.corpus.encodings import declared_encoding
from doccluster.corpus.format import Beginning, Format
from doccluster.corpus.input_file import InputFile
from doccluster.corpus.mail import subject_of_message
from doccluster.corpus.markup import read_page
from doccluster.corpus.reader_options import ReadOptions
from doccluster.errors import Argument, importing

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_DECLARATION = re.compile(r"^[\s\ufeff]*<\?xml[^>]*\?>")
_CONTROLS = re.compile(f"[{CONTROLS}]")  # which no XML may hold
_SPACES = re.compile(r"[^\S\n]+")
_LINE_ENDS = re.compile(r" ?\n[ \n]*")


def read_text(file: InputFile, options: ReadOptions) -> Iterator[Draft | Skipped]:
    """Return the one document that the file is."""
    text = file.text(options.document_bytes)
    yield Draft(text, file.name, id=str(file.place), title=subject_of_message(text), is_whole_file=True)


def read_lines(file: InputFile, options: ReadOptions) -> Iterator[Draft | Skipped]:
    """Return one document for each line."""
    for number, line in enumerate(file.lines(options.document_bytes), 1):
        where = f"{file.name}:{number}"
        if line is None:
            yield Skipped(where, "too-long", f"a line of more than {options.document_bytes:,} bytes")
        else:
            yield Draft(line.rstrip("\r\n"), where)


TEXT = Format("text", read_text, "a file", "the subfolder is the label `class`", aliases=("folder", "txt"))
LINES = Format("lines", read_lines, "a line")


def read_html(file: InputFile, options: ReadOptions) -> Iterator[Draft]:
    """Return the one document that the page is, under its title."""
    data = file.read(options.document_bytes)
    markup = file.decode(data, declared=declared_encoding(data))
    page = read_page(markup)
    text = main_article(markup) or page.text if options.html == "article" else page.text
    yield Draft(
        text=with_title(page.title, text) if text else "",
        where=file.name,
        id=str(file.place),
        title=page.title,
        date=page.date,
        link=page.link,
        is_whole_file=True,
    )


def main_article(markup: str) -> str:
    """Return the main text of a page without menus and footers, "" when none is found.

    Raises MissingDependency if trafilatura is not installed, or cannot be imported.
    """
    with importing((Argument("html", "article"), " needs"), "trafilatura", install="doccluster[html]"):
        import trafilatura
    return trafilatura.extract(markup, include_comments=False) or ""


_PAGES = (".html", ".htm", ".xhtml")


def _is_page(beginning: Beginning) -> bool:
    is_named = beginning.doctype == "html" or beginning.element in ("html", "head", "body")
    return beginning.is_markup and (is_named or beginning.name.endswith(_PAGES))


HTML = Format(
    "html",
    read_html,
    "a page",
    "title, date, canonical link",
    suffixes=_PAGES,
    aliases=("htm",),
    recognises=_is_page,
)


def read_xml(file: InputFile, options: ReadOptions) -> Iterator[Draft]:
    """Return the one document that the file is: the texts of its elements, a title if an element has that name."""
    root = parse_xml(file, limit=options.document_bytes)
    named = ((element.tag.rpartition("}")[2].lower(), element.text) for element in root.iter("*"))
    title = next((text or "" for name, text in named if name in ("title", "headline")), "")
    text = "\n".join(_SPACES.sub(" ", piece) for piece in root.itertext())
    yield Draft(_LINE_ENDS.sub("\n", text).strip(), file.name, id=str(file.place), title=title, is_whole_file=True)


def parse_xml(file: InputFile, *, limit: int | None = None) -> Element:
    """Return the root element of a file; raise ReadFailure for what is not well-formed or defines entities."""
    data = file.read(limit)
    text = file.decode(data, declared=declared_encoding(data))
    try:
        root: Element = defusedxml.ElementTree.fromstring(_CONTROLS.sub(" ", _DECLARATION.sub("", text, count=1)))
    except DefusedXmlException as error:
        raise ReadFailure("unsafe-xml", "it defines entities, which are not expanded") from error
    except (ParseError, ValueError) as error:
        raise ReadFailure("broken-xml", str(error)) from error
    return root


XML = Format(
    "xml",
    read_xml,
    "a file other than a feed: its text",
    "title",
    recognises=lambda beginning: beginning.is_markup and beginning.name.endswith(".xml"),
)
