"""XML other than feeds: its text. Entities that a file defines are refused, so an entity bomb does nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING
from xml.etree.ElementTree import ParseError

import defusedxml.ElementTree
from defusedxml import DefusedXmlException

from doccluster.corpus.draft import Draft, ReadFailure
from doccluster.corpus.encodings import declared_encoding
from doccluster.corpus.format import Format
from doccluster.corpus.input_file import InputFile
from doccluster.corpus.options import ReadOptions

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_DECLARATION = re.compile(r"^[\s\ufeff]*<\?xml[^>]*\?>")
_SPACES = re.compile(r"[^\S\n]+")
_LINE_ENDS = re.compile(r" ?\n[ \n]*")


def read_xml(file: InputFile, options: ReadOptions) -> Iterator[Draft]:
    """Return the one document that the file is: the texts of its elements, a title if an element has that name."""
    root = parse_xml(file, limit=options.limits.document_bytes)
    title = next((element.text or "" for element in root.iter() if _local_name(element) in ("title", "headline")), "")
    text = "\n".join(_SPACES.sub(" ", piece) for piece in root.itertext())
    yield Draft(_LINE_ENDS.sub("\n", text).strip(), file.name, id=str(file.place), title=title, is_whole_file=True)


def parse_xml(file: InputFile, *, limit: int | None = None) -> Element:
    """Return the root element of a file; raise ReadFailure for what is not well-formed or defines entities."""
    data = file.read(limit)
    return root_of(file.decode(data, declared=declared_encoding(data)))


def root_of(text: str) -> Element:
    """Return the root element of a text; raise ReadFailure for what is not well-formed or defines entities."""
    try:
        root: Element = defusedxml.ElementTree.fromstring(_DECLARATION.sub("", text, count=1))
    except DefusedXmlException as error:
        raise ReadFailure("unsafe-xml", "it defines entities, which are not expanded") from error
    except (ParseError, ValueError) as error:
        raise ReadFailure("broken-xml", str(error)) from error
    return root


def _local_name(element: Element) -> str:
    return element.tag.rpartition("}")[2].lower() if isinstance(element.tag, str) else ""


XML = Format(
    "xml",
    read_xml,
    "a file other than a feed: its text",
    "title",
    recognises=lambda beginning: beginning.is_markup and beginning.name.endswith(".xml"),
)
