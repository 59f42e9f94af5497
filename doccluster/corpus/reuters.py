"""Reuters-21578: newswire in SGML that no XML parser takes, so its few fixed elements are found by patterns.

The collection's README (section VI) defines the elements; control characters are written as references such as
``&#2;``, and one file holds a byte that is not utf-8.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from doccluster.corpus.document import Skipped
from doccluster.corpus.draft import Draft, ReadFailure, record, with_title
from doccluster.corpus.format import Format
from doccluster.corpus.input_file import InputFile
from doccluster.corpus.reader_options import ReadOptions

LABELS = ("topics", "places", "people", "orgs", "exchanges")

# No pattern looks past the next < or the end of a word, so that tags repeated without an end are read in linear time.
_BEGIN = re.compile(r"<REUTERS\b([^<>]*)>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r'(?<![A-Za-z])([A-Za-z]++)="([^"]*)"')
_TAG = re.compile(r"<[/A-Za-z][^<>]*>")
_DATE = re.compile(
    r"\s*\d+-[A-Z]{3}-\d{4}(?: +\d\d:\d\d:\d\d\b)?"
)  # codes of the wire may follow, once the hour is 605
_CONTROL_REFERENCE = re.compile(r"&#(\d{1,5});")
_ENTITIES = (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"))


def read_reuters(file: InputFile, options: ReadOptions) -> Iterator[Draft | Skipped]:
    """Return the documents of one SGML file: title and body as text, five kinds of topics as labels.

    The metadata column ``split`` is the ModApte split (README, section VIII.B): train, test or unused.
    """
    content = file.text(declared="cp1252" if file.encoding is None else file.encoding)
    begins = list(_BEGIN.finditer(content))
    if not begins:
        raise ReadFailure("no-entries", "no <REUTERS> element in it")
    ends = [begin.start() for begin in begins[1:]] + [len(content)]
    for begin, end in zip(begins, ends, strict=True):
        attributes = {name.upper(): value for name, value in _ATTRIBUTE.findall(begin[1])}
        where = f"{file.name}:{_number(attributes)}"
        yield record(where, _draft, attributes, content[begin.end() : end], where)


def _number(attributes: dict[str, str]) -> str:
    return attributes.get("NEWID") or attributes.get("OLDID", "")


def _draft(attributes: dict[str, str], content: str, where: str) -> Draft:
    title = _plain(_element("title", content))
    date = _DATE.match(_plain(_element("date", content)))
    body = _element("body", content) or _unmarked_body(content)
    return Draft(
        text=with_title(" ".join(title.split()), _plain(body).strip("\n")),
        where=where,
        id=_number(attributes),
        title=title,
        date="" if date is None else date[0],
        labels={name: tuple(map(_plain, _elements("d", _element(name, content)))) for name in LABELS},
        extra={"split": modapte_split(attributes)},
    )


def modapte_split(attributes: dict[str, str]) -> str:
    """Return the part of the ModApte split that a document with these attributes belongs to."""
    if attributes.get("TOPICS", "").upper() != "YES":
        return "unused"
    return {"TRAIN": "train", "TEST": "test"}.get(attributes.get("LEWISSPLIT", "").upper(), "unused")


@cache
def _tags(name: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    return re.compile(rf"<{name}\b[^<>]*>", re.IGNORECASE), re.compile(f"</{name}>", re.IGNORECASE)


def _spans(name: str, content: str) -> Iterator[tuple[int, int, int, int]]:
    """Return where each element begins, where its content begins and ends, and where it ends."""
    opening, closing = _tags(name)
    position = 0
    while (first := opening.search(content, position)) and (last := closing.search(content, first.end())):
        yield first.start(), first.end(), last.start(), last.end()
        position = last.end()


def _elements(name: str, content: str) -> Iterator[str]:
    return (content[begin:end] for _, begin, end, _ in _spans(name, content))


def _element(name: str, content: str) -> str:
    return next(_elements(name, content), "")


def _without(name: str, content: str) -> str:
    kept, position = [], 0
    for start, _, _, end in _spans(name, content):
        kept.append(content[position:start])
        position = end
    return "".join([*kept, content[position:]])


def _unmarked_body(content: str) -> str:
    """Return the text in TEXT beside title, author and dateline: all of it for unprocessed documents."""
    text = _element("text", content)
    for name in ("title", "author", "dateline"):
        text = _without(name, text)
    return _TAG.sub("", text).strip()


def _plain(text: str) -> str:
    text = _CONTROL_REFERENCE.sub(lambda found: chr(int(found[1])) if 32 <= int(found[1]) < 55_296 else "", text)
    for entity, character in _ENTITIES:
        text = text.replace(entity, character)
    return text


REUTERS = Format(
    "reuters",
    read_reuters,
    "an element of Reuters-21578's SGML",
    "title, date, five kinds of labels (`topics`, `places`, ...), `split`",
    suffixes=(".sgm", ".sgml"),
    aliases=("sgml", "reuters21578", "reuters-21578"),
    recognises=lambda begins: begins.is_markup and (begins.doctype == "lewis" or begins.element == "reuters"),
)
