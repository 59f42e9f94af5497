"""XML other than feeds: one document, or a collection of records, which are the element that the root repeats.

Records are read one by one, so that the size of a file does not matter. What stands in elements and attributes becomes
columns. Entities that a file defines are refused, so an entity bomb does nothing.
"""

from __future__ import annotations

import io
import itertools
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from html.entities import name2codepoint
from importlib import resources
from typing import Any
from xml.etree.ElementTree import Element, ParseError, TreeBuilder

import defusedxml.ElementTree
from defusedxml import DefusedXmlException

from doccluster.base.characters import CONTROLS
from doccluster.base.limited_process import TooCostly
from doccluster.corpus.columns import SAMPLED_ROWS, SHORTEST_PROSE, has_text_column, prose_length
from doccluster.corpus.document import Skipped
from doccluster.corpus.encodings import declared_encoding, decode, encoding_by_mark
from doccluster.corpus.json_records import record_drafts
from doccluster.corpus.markup import BLOCKS, holds_tags, strip_markup
from doccluster.corpus.reader import Beginning, Draft, Format, InputFile, ReadFailure, failure_listed
from doccluster.corpus.reader_options import ReadOptions

_DECLARATION = re.compile(r"^[\s\ufeff]*<\?xml[^>]*\?>")
_CONTROLS = re.compile(f"[{CONTROLS}]")  # which no XML may hold
_ENTITIES = {name: chr(code) for name, code in name2codepoint.items()}  # that a DTD which is not here defines (DBLP)
_SPACES = re.compile(r"[^\S\n]+")
_LINE_ENDS = re.compile(r" ?\n[ \n]*")
_NO_BREAK = "\x01"  # stands for <lb break="no"/>: a word goes on there, without the blanks around it
_LIST_OF_TAGS = re.compile(r"(?:<[^<>\s]+>)+|\|(?:[^|\s]+\|)+")  # <python><pandas>, as Stack Exchange writes them
_TABLE = tomllib.loads(resources.files("doccluster.corpus").joinpath("xml_elements.toml").read_text("utf-8"))
_REFUSED, _NAMED_BY, _USUAL_NAMES = _TABLE["refused"], _TABLE["named_by"], _TABLE["usual_names"]
_PARTS_OF_DATES = ("year", "month", "day")
_INLINE, _LINES, _PARTS, _RECORDS, _BREAKS, _LEFT_OUT = (
    frozenset(_TABLE[name].split()) for name in ("inline", "lines", "parts", "records", "breaks", "left_out")
)
_BLOCKS = (BLOCKS - {"article", "details", "main", "form"}).union(_LINES)
_INSIDE_TEXTS = _BLOCKS.union(_INLINE, _BREAKS)
_XML_ID = "{http://www.w3.org/XML/1998/namespace}id"
_MAX_LEVELS = 20  # of elements above a value, that its path names
_Path = tuple[str, ...]  # the names of the elements that lead to another
_Record = tuple[str, list[tuple[_Path, object]]]  # where it is, and its values


class _Characters:
    """The text of a file, piece by piece as the parser asks for it, whatever its encoding."""

    def __init__(self, file: InputFile) -> None:
        head, mark = file.head, encoding_by_mark(file.head)
        decoded = decode(head[: head.rfind(b">") + 1] or head, declared=declared_encoding(head))
        file.guessed |= {decoded.guess} - {""}
        if file.encoding is None and mark is not None:
            file.stream.read(mark[1])
        strictness = "replace" if file.encoding is None else "strict"
        self._file = file
        self._text = io.TextIOWrapper(file.stream, file.encoding or decoded.encoding, strictness, newline="")
        self.n_read = 0  # characters since the last element that was handed over
        self._is_first = True

    def read(self, size: int) -> str:
        text = self._text.read(size)
        self.n_read += len(text)
        self._file.n_nuls += text.count("\0")
        text = _CONTROLS.sub(" ", text.replace("\0", ""))
        if self._is_first:
            text, self._is_first = _DECLARATION.sub("", text, count=1).lstrip("\ufeff \t\r\n"), False
        return text


def xml_elements(file: InputFile, path: _Path, options: ReadOptions) -> Iterator[Element]:
    """Yield the elements below those that a path of local names leads to, whole, and forget each; of () the root.

    Raises ReadFailure where the file is no XML, or defines entities, and for an element longer than a document may be.
    """
    source, max_elements = _Characters(file), 20 * options.allowance.n_items
    above: list[Element] = []
    n_elements = 0
    builder = TreeBuilder() if path else TreeBuilder(lambda tag, values: Element(tag, _of_texts(values)))
    try:
        for event, element in _parsed(source, ("start", "end"), builder):
            if event == "start":
                above.append(element)
                n_elements += 1
                if source.n_read > options.document_bytes:
                    raise ReadFailure("too-long", f"an element of more than {options.document_bytes:,} characters")
                if n_elements > max_elements:
                    raise TooCostly(f"has more than {max_elements:,} elements inside one")
                continue
            above.pop()
            if len(above) == len(path) and tuple(map(local_name, above)) == path:
                yield element
                n_elements = source.n_read = 0
                if above:
                    above[-1].remove(element)
    except DefusedXmlException as error:
        raise ReadFailure("unsafe-xml", "it defines entities, which are not expanded") from error
    except UnicodeError as error:
        raise ReadFailure("undecodable", f"not {file.encoding}: {error}") from error
    except (ParseError, ValueError) as error:
        raise ReadFailure("broken-xml", str(error)) from error


def _parsed(source: Any, events: tuple[str, ...], builder: TreeBuilder) -> Iterator[tuple[str, Element]]:
    parser = defusedxml.ElementTree.XMLParser(target=builder)
    parser.entity.update(_ENTITIES)
    events_of_file: Iterator[tuple[str, Element]] = defusedxml.ElementTree.iterparse(source, events, parser)
    return events_of_file


def _of_texts(attributes: dict[str, str]) -> dict[str, str]:
    """Return the attributes that a text needs; of one of a million words the others would fill the memory."""
    return {name: attributes[name] for name in ("break", "when") if name in attributes}


def local_name(element: Element) -> str:
    return element.tag.rpartition("}")[2].lower()


def read_xml(file: InputFile, options: ReadOptions) -> Iterator[Draft]:
    """Return the one document that the file is: its text; title and date of its header, else of an element `title`."""
    for root in xml_elements(file, (), options):
        if local_name(root) in _REFUSED:
            raise ReadFailure("unsupported-format", _REFUSED[local_name(root)])
        document = _document_under_header(root)
        if document is None:
            titles = (element for element in root.iter("*") if local_name(element) in ("title", "headline"))
            document = {"title": next(map(_text, titles), ""), "text": _text(root)}
        yield file.as_document(document["text"], title=document["title"], date=document.get("date", ""))


def _document_under_header(root: Element) -> dict[str, str] | None:
    """Return the text, title, date and id of what has a header about it (TEI, JATS); None for anything else."""
    parts = {local_name(child): child for child in reversed(root)}
    header = parts.get("teiheader", parts.get("front"))
    texts = [child for child in root if local_name(child) in ("text", "body")]
    if header is None or not (texts or local_name(root) == "article"):
        return None
    inside: dict[str, list[Element]] = {}
    for element in header.iter("*"):
        inside.setdefault(local_name(element), []).append(element)
    titles = [*inside.get("article-title", []), *inside.get("title", [])]
    dates = [
        date for creation in inside.get("creation", []) for date in creation.iter("*") if local_name(date) == "date"
    ]
    dates += [*inside.get("date", []), *sorted(inside.get("pub-date", []), key=len, reverse=True)]
    return {
        "title": next(filter(None, map(_text, titles)), ""),
        "date": next(filter(None, map(_value, dates)), ""),
        "text": "\n\n".join(filter(None, map(_text, [*inside.get("abstract", []), *texts]))),
        "id": next(map(_text, inside.get("article-id", [])), root.get(_XML_ID, "")),
    }


def _text(root: Element) -> str:
    """Return the text in an element: blocks, and elements beside which no text stands, have lines of their own."""
    pieces: list[str] = []
    rest: list[Element | str] = [root]
    while rest:
        item = rest.pop()
        if isinstance(item, str):
            pieces.append(item)
            continue
        is_mixed = _is_mixed(item)
        contents: list[Element | str] = [item.text or ""]
        for child in item:
            name = local_name(child)
            if name in _BREAKS:
                contents.append(_NO_BREAK if child.get("break") == "no" else "\n")
            elif name not in _LEFT_OUT:
                is_inline = name in _INLINE or (is_mixed and name not in _BLOCKS)
                contents += [child] if is_inline else ["\n", child, "\n"]
            contents.append(child.tail or "")
        rest += reversed(contents)
    return _LINE_ENDS.sub("\n", _SPACES.sub(" ", "".join(map(str.strip, "".join(pieces).split(_NO_BREAK))))).strip()


def _is_mixed(element: Element) -> bool:
    return any(text and not text.isspace() for text in (element.text, *(child.tail for child in element)))


XML = Format(
    "xml",
    read_xml,
    "a file other than a feed: its text; of TEI the `text`, of JATS the abstract and the body",
    "title; of TEI and JATS title and date of the header",
    recognises=lambda beginning: _is_xml(beginning),
    is_apart=True,
)


def _is_xml(beginning: Beginning) -> bool:
    return beginning.is_markup and (beginning.text.startswith("<?xml") or beginning.name.endswith((".xml", ".nxml")))


def read_xml_records(file: InputFile, options: ReadOptions) -> Iterator[Draft | Skipped]:
    """Return the records of a file: the children of the element in which the most likely one is repeated."""
    head = replace(file, stream=io.BufferedReader(io.BytesIO(file.head)))  # type: ignore[type-var]
    root = _outline(_Characters(head))
    path = () if root is None else _path_of_records(root) or _path_of_records(root, is_sure=False)
    if not path:
        raise ReadFailure("no-entries", "no element is repeated in it")
    yield from record_drafts(_as_rows(_records(file, path, options)), file, options)


def _records(file: InputFile, path: _Path, options: ReadOptions) -> Iterator[_Record | Skipped]:
    """Yield where each record is and what it holds: elements of that name, and those beside them that have fields."""
    number = 0
    for item in failure_listed(xml_elements(file, path[:-1], options), file.name):
        if isinstance(item, Skipped):  # the end of what can be read
            yield item
        elif local_name(item) == path[-1] or (len(item) > 1 and local_name(item) != "teiheader"):
            number += 1
            yield f"{file.name}:{number}", list(_fields(item, options))


def _outline(source: Any) -> Element | None:
    """Return the tree of the beginning of a file, whose last elements may be cut; None where there is none."""
    root = None
    with suppress(ParseError, DefusedXmlException, ValueError):
        for _, element in _parsed(source, ("start",), TreeBuilder()):
            root = element if root is None else root
    return root


def _path_of_records(root: Element, *, is_sure: bool = True) -> _Path:
    """Return the names of the root, of the element in it that holds records if any, and of a record; () without any."""
    if local_name(root) in _REFUSED or (_document_under_header(root) and local_name(root) != "teicorpus"):
        return ()
    size = _size(root)
    for parent in (root, *root):
        for name, n_children in Counter(map(local_name, parent)).most_common(3):
            children = [child for child in parent if local_name(child) == name]
            is_set = local_name(parent).endswith(tuple(name + end for end in ("s", "set", "list", "corpus")))
            if n_children + is_set > 1 and (not is_sure or _are_records(children, size)):
                return (local_name(root), *([] if parent is root else [local_name(parent)]), name)
    return ()


def _are_records(elements: Sequence[Element], size: int) -> bool:
    """Say whether elements have fields, are most of the file, and hold texts."""
    name = local_name(elements[0])
    has_fields = name in _RECORDS or any(len(element) or element.attrib for element in elements)
    if name in _BLOCKS.union(_PARTS) or not has_fields or sum(map(_size, elements)) < size / 2:
        return False
    records = _as_rows(("", list(_fields(element, ReadOptions()))) for element in elements)
    rows = [item[1] for item in records if isinstance(item, tuple)]
    names = dict.fromkeys(name for row in rows for name in row)
    is_prose = (prose_length([row.get(name) for row in rows]) >= SHORTEST_PROSE for name in names)
    return has_text_column(names, ReadOptions()) or any(is_prose)


def _size(element: Element) -> int:
    return sum(len(part.text or "") + sum(map(len, part.attrib.values())) for part in element.iter("*"))


def _fields(element: Element, options: ReadOptions) -> Iterator[tuple[_Path, object]]:
    """Yield the values in a record, each with its path: attributes, and the texts of elements that hold no others."""
    document = _document_under_header(element)
    if document is not None:
        yield from (((name,), value) for name, value in document.items())
        return
    for name, value in element.attrib.items():
        tags = re.split(r"[<>|]+", value)[1:-1] if _LIST_OF_TAGS.fullmatch(value) else None
        yield (name.rpartition("}")[2],), tags or _plain(value, options)
    if not len(element) or _is_mixed(element):
        yield ("text" if local_name(element) in _RECORDS else local_name(element),), _plain(_text(element), options)
        return
    rest: list[tuple[_Path, Element]] = [((), child) for child in reversed(element)]
    while rest:
        above, part = rest.pop()
        path = (*above[1 - _MAX_LEVELS :], part.get(_NAMED_BY.get(local_name(part), "")) or part.tag.rpartition("}")[2])
        names = set(map(local_name, part))
        if names <= _INSIDE_TEXTS or _is_mixed(part) or names <= {*_PARTS_OF_DATES}:
            yield path, _plain(_value(part), options)
        elif local_name(part) not in _LEFT_OUT:
            rest += [(path, child) for child in reversed(part)]


def _plain(value: str, options: ReadOptions) -> str:
    """Return a value without the tags of HTML: they were escaped, since others would be elements."""
    return strip_markup(value) if options.strip_html is not False and holds_tags(value) else value


def _value(element: Element) -> str:
    """Return the text in an element, the year, month and day in one, or an attribute that stands for its text."""
    parts = {local_name(child): (child.text or "").strip() for child in element}
    date = "-".join(parts[name].zfill(2) for name in _PARTS_OF_DATES if parts.get(name))
    attributes = (element.get(name) for name in ("value", "term", "content", "href", "url"))
    return date or element.get("when") or _text(element) or next(filter(None, attributes), "")


def _as_rows(records: Iterator[_Record | Skipped]) -> Iterator[tuple[str, dict[str, object]] | Skipped]:
    """Yield records by column: the last name of a path, with those before it where a shorter path has that name."""
    names: dict[_Path, str] = {}
    taken: set[str] = set()

    def name_of(path: _Path) -> str:
        if path not in names:
            ends = [
                _USUAL_NAMES.get(path[-1].lower(), path[-1]),
                *("_".join(path[-n:]) for n in range(2, len(path) + 1)),
            ]
            names[path] = next((name for name in ends if name.lower() not in taken), "/".join(path))
            taken.add(names[path].lower())
        return names[path]

    first = list(itertools.islice(records, SAMPLED_ROWS))
    for path in sorted({path: None for item in first if isinstance(item, tuple) for path, _ in item[1]}, key=len):
        name_of(path)
    for item in itertools.chain(first, records):
        if isinstance(item, Skipped):
            yield item
            continue
        row: dict[str, list[object]] = {}
        for path, value in item[1]:
            row.setdefault(name_of(path), []).append(value)
        yield item[0], {name: values if len(values) > 1 else values[0] for name, values in row.items()}


def _holds_records(beginning: Beginning) -> bool:
    if not _is_xml(beginning) and not (beginning.is_markup and "." not in beginning.name):
        return False
    root = _outline(io.StringIO(_CONTROLS.sub(" ", _DECLARATION.sub("", beginning.text, count=1))))
    return root is not None and bool(_path_of_records(root))


XML_RECORDS = Format(
    "xml-records",
    read_xml_records,
    "an element that the root of XML, or an element in it, repeats (PubMed, EndNote, Stack Exchange, OAI, Solr, DBLP)",
    "the columns below, from elements and attributes",
    recognises=lambda beginning: _holds_records(beginning),
    has_columns=True,
    is_apart=True,
)
