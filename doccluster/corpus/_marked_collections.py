"""Collections whose documents stand between marks: <DOC> ... </DOC> (TREC, CLEF, FIRE, LDC), and SMART's .I, .T, .W.

Neither is XML: elements stay open, ampersands stand bare, and documents follow one another without a root. A file is
read line by line, so that its size does not matter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from doccluster.corpus.columns import MAX_MEDIAN_LENGTH, kept_name
from doccluster.corpus.document import Skipped
from doccluster.corpus.markup import BLOCKS, Tag, scan, unescape
from doccluster.corpus.reader import Beginning, Draft, Format, InputFile, record, with_title
from doccluster.corpus.reader_options import ReadOptions

_ELEMENT = re.compile(r"(</?doc(?:\s[^<>]*)?>)", re.IGNORECASE)
_NEXT_ELEMENT = re.compile(r"</doc>\s*+<doc[\s>]", re.IGNORECASE)
_TELLING = re.compile(r"<(?:docno|docid|text)\b|<doc\s", re.IGNORECASE)
_DATE_IN_ID = re.compile(r"_((?:19|20)[0-9]{6})\.")  # AFP_ENG_20021216.0001, as the LDC names articles
# what elements and attributes hold, by their names
_ROLES = {
    **dict.fromkeys(("docno", "docid", "id"), "id"),
    **dict.fromkeys(("headline", "head", "title", "hl", "ti", "contenttitle"), "title"),
    **dict.fromkeys(("date", "date1", "date_time", "datetime", "dd", "pubdate"), "date"),
    **dict.fromkeys(("text", "lp", "abstract", "summary", "body", "content"), "text"),
    **dict.fromkeys(("url", "link"), "link"),
    **dict.fromkeys(("source", "so", "pub"), "source"),
}
_Item = TypeVar("_Item")
_MAX_OPEN = 100  # elements inside one another; deeper ones belong to the text around them
_PARTS_OF_TEXTS = BLOCKS - {"section", *_ROLES}


def between_marks(
    file: InputFile, mark: re.Pattern[str], options: ReadOptions, make: Callable[[str, str, str], _Item]
) -> Iterator[_Item | Skipped]:
    """Yield what `make` makes of each document: of where it is, the mark at which it begins, and all up to the next.

    A mark is in one line, and the only group of its pattern; one that begins with ``</`` ends a document.
    """
    begins, pieces, number, n_left = "", [""], 0, 0

    def document() -> _Item | Skipped:
        where = f"{file.name}:{number}"
        if n_left < 0:
            return Skipped(where, "too-long", f"more than {options.document_bytes:,} bytes")
        return record(where, make, where, begins, "".join(pieces))

    for line in file.lines(options.document_bytes):
        n_left -= options.document_bytes + 1 if line is None else len(line)
        for place, piece in enumerate(mark.split((line or "").rstrip("\r\n") + "\n")):
            if not place % 2:
                pieces += [piece] * (n_left >= 0)
                continue
            if begins:
                yield document()
            begins = "" if piece.startswith("</") else piece
            number += bool(begins)
            pieces, n_left = [], options.document_bytes
    if begins:
        yield document()


def read_elements(file: InputFile, options: ReadOptions) -> Iterator[Draft | Skipped]:
    """Return the documents of a file: text, title, id and date by the usual names, other short elements as columns."""
    return between_marks(file, _ELEMENT, options, _element_draft)


def _element_draft(where: str, begins: str, content: str) -> Draft:
    said = {_ROLES.get(name, name): value for name, value in Tag("doc", False, begins[4:-1], 0).pairs()}
    parts = _parts(content)
    text = parts.pop("text", "").strip()
    lines = said | {name: " ".join(part.split()) for name, part in parts.items()}
    values: dict[str, Any] = {role: lines.pop(role, "") for role in dict.fromkeys(_ROLES.values())}
    if text:
        extra = {kept_name(name): line for name, line in lines.items() if name and len(line) <= MAX_MEDIAN_LENGTH}
    else:
        text, extra = "".join(part for name, part in parts.items() if name not in values).strip(), {}
    values["id"] = values["id"].partition(" ")[0] or said.get("id", "")
    date = _DATE_IN_ID.search(values["id"])
    values["date"] = values["date"] or ("" if date is None else date[1])
    return Draft(**values | {"text": with_title(values["title"], text)}, where=where, extra=extra)


def _parts(content: str) -> dict[str, str]:
    """Return the texts of the elements by role, else by the name of the outermost; elements may stay open."""
    pieces: dict[str, list[str]] = {}
    names, roles = [""], [""]  # of the open elements
    for piece in scan(content):
        role = roles[-1]
        if isinstance(piece, str):  # &hyph; and &blank; are of TREC's discs alone
            pieces.setdefault(role, []).append(unescape(piece.replace("&hyph;", "-").replace("&blank;", " ")))
            continue
        if piece.name in BLOCKS or piece.name in _ROLES:
            pieces.setdefault(role, []).append("\n")
        if piece.is_closing and piece.name in names:
            place = len(names) - 1 - names[::-1].index(piece.name)
            del names[place:], roles[place:]
        elif not piece.is_closing and piece.name not in _PARTS_OF_TEXTS and len(names) < _MAX_OPEN:
            names.append(piece.name)
            roles.append(_ROLES.get(piece.name) or role or piece.name)
    return {name: "".join(part) for name, part in pieces.items()}


def _is_collection(beginning: Beginning) -> bool:
    is_telling = not beginning.name.endswith(".xml") and _TELLING.search(beginning.text) is not None
    return beginning.element == "doc" and (is_telling or _NEXT_ELEMENT.search(beginning.text) is not None)


TREC = Format(
    "trec",
    read_elements,
    "an element `<DOC>` of a collection in SGML, as TREC, CLEF, FIRE and the LDC have them",
    "`DOCNO` or the attribute `id`, title (`HEADLINE`, `HEAD`, `TITLE`, `HL`, ...), date, link, source; of the other "
    "elements the short ones",
    recognises=_is_collection,
)


_FIELD = re.compile(r"^\.([A-Z])[ \t]*$", re.MULTILINE)
_NUMBER = re.compile(r"\A(\.I\s+\S+)\s*\Z")
_BEGINS_SMART = re.compile(r"\.I[ \t]+\S+\s+\.[A-Z][ \t]*[\r\n]")
_SMART_COLUMNS = {"A": "author", "B": "published", "K": "keywords"}


def read_smart(file: InputFile, options: ReadOptions) -> Iterator[Draft | Skipped]:
    """Return the documents of a file: .W under .T, .I as the id, .A, .B and .K as columns."""
    return between_marks(file, _NUMBER, options, _smart_draft)


def _smart_draft(where: str, begins: str, content: str) -> Draft:
    _, *pieces = _FIELD.split(content)
    fields: dict[str, str] = {}
    for field, lines in zip(pieces[::2], pieces[1::2], strict=True):
        fields[field] = f"{fields.get(field, '')}\n{lines}".strip()
    title = fields.get("T", "")
    extra = {column: fields[field] for field, column in _SMART_COLUMNS.items() if field in fields}
    return Draft(with_title(title, fields.get("W", "")), where, begins.split()[1], title, extra=extra)


SMART = Format(
    "smart",
    read_smart,
    "a record of an old test collection in the form of SMART (Cranfield, CISI, CACM, MED): `.W` under `.T`",
    "the number behind `.I`, title, and `.A`, `.B`, `.K` as `author`, `published`, `keywords`",
    recognises=lambda beginning: _BEGINS_SMART.match(beginning.text) is not None,
)
