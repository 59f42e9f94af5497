"""Files that are one document, or one a line: plain text and HTML pages; and Reuters-21578."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from doccluster.corpus.document import Skipped
from doccluster.corpus.encodings import declared_encoding
from doccluster.corpus.mail import subject_of_message
from doccluster.corpus.markup import read_page
from doccluster.corpus.reader import Beginning, Draft, Format, InputFile, ReadFailure, record, with_title
from doccluster.corpus.reader_options import ReadOptions
from doccluster.errors import Argument, importing

_LABEL = "__label__"  # of fastText
_WORD = re.compile(r"[^\s,\ufeff]++")


def read_text(file: InputFile, options: ReadOptions) -> Iterator[Draft | Skipped]:
    """Return the one document that the file is."""
    text = file.text(options.document_bytes)
    yield file.as_document(text, title=subject_of_message(text))


def read_lines(file: InputFile, options: ReadOptions) -> Iterator[Draft | Skipped]:
    """Return one document for each line; labels at its ends, as fastText has them (``__label__a``), are its labels."""
    for number, line in enumerate(file.lines(options.document_bytes), 1):
        where = f"{file.name}:{number}"
        if line is None:
            yield Skipped(where, "too-long", f"a line of more than {options.document_bytes:,} bytes")
        else:
            text, names = _without_labels(line) if _LABEL in line else (line, ())
            yield Draft(text.rstrip("\r\n"), where, labels={"label": names} if names else {})


def _without_labels(line: str) -> tuple[str, tuple[str, ...]]:
    """Return a line without the labels at its two ends, and these, each once."""
    words = list(_WORD.finditer(line))
    places = [place for place, word in enumerate(words) if not word[0].startswith(_LABEL)] or [len(words)]
    before, behind = words[: places[0]], words[places[-1] + 1 :]
    labels = dict.fromkeys(word[0].removeprefix(_LABEL) for word in (*before, *behind))
    return line[before[-1].end() if before else 0 : behind[0].start() if behind else None].strip(" ,\t"), tuple(labels)


TEXT = Format("text", read_text, "a file", "the subfolder is the label `class`", aliases=("folder", "txt"))
LINES = Format(
    "lines",
    read_lines,
    "a line",
    "the label `label`, of labels at its ends as fastText has them (`__label__a`)",
    recognises=lambda beginning: beginning.text.lstrip("\ufeff \t\r\n").startswith(_LABEL),
)


def read_html(file: InputFile, options: ReadOptions) -> Iterator[Draft]:
    """Return the one document that the page is, under its title; trafilatura finds the main text of an article."""
    data = file.read(options.document_bytes)
    markup = file.decode(data, declared=declared_encoding(data))
    page = read_page(markup)
    text = page.text
    if options.html == "article":
        with importing((Argument("html", "article"), " needs"), "trafilatura", install="doccluster[html]"):
            import trafilatura
        text = trafilatura.extract(markup, include_comments=False) or text
    text = with_title(page.title, text) if text else ""
    yield file.as_document(text, title=page.title, date=page.date, link=page.link)


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
    """Return the documents of one SGML file: title and body, five kinds of topics as labels, the ModApte split."""
    content = file.text(declared="cp1252" if file.encoding is None else file.encoding)
    begins = list(_BEGIN.finditer(content))
    if not begins:
        raise ReadFailure("no-entries", "neither <REUTERS> nor <DOC> elements in it")
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
    part = attributes.get("LEWISSPLIT", "").upper() if attributes.get("TOPICS", "").upper() == "YES" else ""
    return Draft(
        text=with_title(" ".join(title.split()), _plain(body).strip("\n")),
        where=where,
        id=_number(attributes),
        title=title,
        date="" if date is None else date[0],
        labels={name: tuple(map(_plain, _elements("d", _element(name, content)))) for name in LABELS},
        extra={"split": {"TRAIN": "train", "TEST": "test"}.get(part, "unused")},  # ModApte
    )


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
    pieces, position = [], 0
    for start, _, _, end in _spans(name, content):
        pieces.append(content[position:start])
        position = end
    return "".join([*pieces, content[position:]])


def _unmarked_body(content: str) -> str:
    """Return the text in TEXT beside title, author and dateline: all of it for unprocessed documents."""
    text = _element("text", content)
    for name in ("title", "author", "dateline"):
        text = _without(name, text)
    return _TAG.sub("", text).strip()


def _plain(text: str) -> str:
    text = _CONTROL_REFERENCE.sub(lambda match: chr(int(match[1])) if 32 <= int(match[1]) < 55_296 else "", text)
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
