"""HTML to text by one pass over the tags, in time proportional to the length whatever the input; also in tables.

The standard library's HTMLParser takes quadratic time on some broken pages and gives up on others, so the scanner is
written here; entities are resolved by the standard library's `html.unescape`.
"""

from __future__ import annotations

import html
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from doccluster.corpus._written_cells import are_escaped, without_escapes
from doccluster.corpus.reader import Draft, Found, ReadFailure

_HAS_MARKUP = re.compile(r"<[a-zA-Z/!?]|&[#a-zA-Z]")
_USUAL_TAG = re.compile(r"</(?:a|b|i|p|em|li|td|div|span|strong|h[1-6])>|<br ?/?>", re.IGNORECASE)
_TAG = re.compile(r"<(/?)([a-zA-Z][^\s/>]*)")
# possessive: with a way back for each letter, a tag without an end would take a hundred times its length
_TAG_END = re.compile(r"""(?:"[^"]*+"|'[^']*+'|[^"'>]++)*+>""")
# a word without a value is matched too, so that no word is looked at twice however long it is
_ATTRIBUTE = re.compile(r"""([^\s=/>"']++)(?:\s*+=\s*+(?:"([^"]*)"|'([^']*)'|([^\s>"']++)))?""")
_LONG_REFERENCE = re.compile(r"&#[0-9]{8,}+;?")  # no character has such a number; thousands of digits are no int either
# an ampersand or a tag that is not escaped, or a word of those who write about references
_BARE = re.compile(
    r"&(?!#[0-9]{1,7};|#x[0-9a-f]{1,6};|[a-z][a-z0-9]{1,31};)|<[a-z/!]|\b(?:x?html5?|entit(?:y|ies)|ampersands?)\b",
    re.I,
)
_SPACES = re.compile(r"\s+")
_BLANKS = re.compile(r" {2,}")
_LINE_ENDS = re.compile(r" ?\n[ \n]*")
_BLOCK_NAMES = """
address article aside blockquote body br caption dd details dialog div dl dt fieldset figcaption figure footer form h1
h2 h3 h4 h5 h6 header hr legend li main nav ol option p pre section summary table tbody tfoot thead tr ul
"""
BLOCKS = frozenset(_BLOCK_NAMES.split())
_INTERNAL_SUBSET = re.compile(r"<!doctype[^>\[]*\[", re.IGNORECASE)
_CDATA = "<![CDATA["
_CELLS = frozenset({"td", "th"})
_SILENT = {"script", "style", "template", "noscript", "applet", "svg"}  # what is in a page but not read by people
_DATES = ("article:published_time", "datepublished", "date", "dc.date", "dcterms.created", "pubdate")
_Row = TypeVar("_Row", bound=Found)
_LOOKED_AT = 1000  # rows that say whether the texts of a table are HTML
_FEWEST = 10  # texts: fewer with tags may be about HTML, and of more one with a reference may mean it


@dataclass(frozen=True)
class Tag:
    """One tag: its name in lower case, whether it closes, its attributes as written, and where it stands."""

    name: str
    is_closing: bool
    attributes: str
    start: int

    def get(self, attribute: str) -> str:
        """Return the value of an attribute, "" when it is not there."""
        return next((value for name, value in self.pairs() if name == attribute), "")

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Yield the attributes that have values; one is there again where the end of the tag is missing."""
        for match in _ATTRIBUTE.finditer(self.attributes):
            if match.lastindex != 1:
                yield match[1].lower(), unescape(match[2] or match[3] or match[4] or "").strip()


@dataclass(frozen=True)
class Page:
    """The text of a page and what its head says; empty strings for what is missing."""

    text: str
    title: str = ""
    date: str = ""
    link: str = ""


def holds_tags(text: str) -> bool:
    """Return whether the tags that HTML text is full of stand in `text`.

    >>> holds_tags("The <b>ship</b> sails"), holds_tags("if a<b and c>d")
    (True, False)
    """
    return _USUAL_TAG.search(text) is not None


def strip_markup(text: str) -> str:
    r"""Return `text` without tags, scripts and styles, with entities resolved; plain text comes back as it is.

    >>> strip_markup("<p>Fish &amp; chips<br>for <b>two</b></p>")
    'Fish & chips\nfor two'
    >>> strip_markup("a < b")
    'a < b'
    """
    return read_page(text).text if _HAS_MARKUP.search(text) else text


def unescape(text: str) -> str:
    """Return `text` with its entities resolved; a number without a character becomes U+FFFD."""
    return html.unescape(_LONG_REFERENCE.sub("\ufffd", text))


def read_page(markup: str) -> Page:
    """Return the text of an HTML page or fragment, its title, date and canonical address."""
    body: list[str] = []
    title: list[str] = []
    head: dict[str, str] = {}
    in_title = False
    for piece in scan(markup):
        if isinstance(piece, str):
            (title if in_title else body).append(_SPACES.sub(" ", unescape(piece)))
        elif piece.name == "title":
            in_title = not piece.is_closing and not title
        elif piece.name in BLOCKS:
            body.append("\n")
        elif piece.name in _CELLS:
            body.append(" ")
        elif piece.name in ("meta", "link", "time") and not piece.is_closing:
            _note_head(piece, head)
    text = _LINE_ENDS.sub("\n", _BLANKS.sub(" ", "".join(body))).strip()
    date = next((head[name] for name in (*_DATES, "time") if name in head), "")
    return Page(text, " ".join("".join(title).split()), date, head.get("canonical", ""))


def _note_head(tag: Tag, head: dict[str, str]) -> None:
    if tag.name == "time":
        name, value = "time", tag.get("datetime")
    elif tag.name == "link":
        name, value = tag.get("rel").lower(), tag.get("href")
    else:
        name, value = (tag.get("property") or tag.get("name") or tag.get("itemprop")).lower(), tag.get("content")
    if value and (name in _DATES or name in ("time", "canonical")):
        head.setdefault(name, value)


def scan(markup: str) -> Iterator[str | Tag]:
    """Return texts (entities unresolved) and tags in order, without comments and what is between silent tags."""
    position, quotes_close = 0, True
    endless: set[str] = set()
    while position < len(markup):
        start = markup.find("<", position)
        if start < 0:
            break
        if start > position:
            yield markup[position:start]
        if markup.startswith(_CDATA, start):
            position = _end(markup, "]]>", start)
            yield html.escape(markup[start + len(_CDATA) : position].removesuffix("]]>"), quote=False)
            continue
        match = _TAG.match(markup, start)
        if match is None:
            position = _end_of_declaration(markup, start)
            if position == start:  # a lone < is text
                yield "<"
                position += 1
            continue
        closed = _TAG_END.match(markup, match.end()) if quotes_close else None
        quotes_close = closed is not None  # after one broken tag, quotes are not trusted again: no second long search
        end = closed.end() if closed is not None else markup.find(">", match.end()) + 1
        if end == 0:
            position = start
            break
        tag = Tag(match[2].lower(), bool(match[1]), markup[match.end() : end - 1], start)
        yield tag
        position = _after_silent(markup, tag, end, endless)
    if position < len(markup):
        yield markup[position:]


def _end_of_declaration(markup: str, start: int) -> int:
    """Return where a comment, CDATA mark, doctype or instruction ends; `start` itself when it is none of them."""
    subset = _INTERNAL_SUBSET.match(markup, start)
    if subset is not None:
        return _end(markup, ">", _end(markup, "]", subset.end()))
    for opening, ending in (("<!--", "-->"), ("<!", ">"), ("<?", ">"), ("</", ">")):
        if markup.startswith(opening, start):
            return _end(markup, ending, start + len(opening))
    return start


def _end(markup: str, ending: str, start: int) -> int:
    """Return where the next `ending` ends, the end of the markup when there is none."""
    end = markup.find(ending, start)
    return len(markup) if end < 0 else end + len(ending)


def _after_silent(markup: str, tag: Tag, end: int, endless: set[str]) -> int:
    """Return where reading goes on: after the closing tag of a silent element, if it is ever closed."""
    if tag.name not in _SILENT or tag.is_closing or tag.attributes.endswith("/") or tag.name in endless:
        return end
    closing = re.compile(f"</{tag.name}", re.IGNORECASE).search(markup, end)
    closed = markup.find(">", closing.end()) + 1 if closing is not None else 0
    if closed == 0:
        endless.add(tag.name)
        return end
    return closed


def without_markup(rows_read: Iterable[_Row], note: Callable[[str], None]) -> Iterator[_Row]:
    """Hand over rows of a table as plain text, where most are HTML, or escaped.

    `note` is called with what was left out: "tags" or "references" of HTML, and "escapes".
    """
    rows = iter(rows_read)
    first: list[_Row] = []
    failure: ReadFailure | None = None
    try:
        for row in itertools.islice(rows, _LOOKED_AT):
            first.append(row)
    except ReadFailure as error:  # what came before it is handed over first
        failure = error
    drafts = [row for row in first if isinstance(row, Draft)]
    cells = {name: [cell for draft in drafts if (cell := getattr(draft, name))] for name in ("text", "title")}
    escaped = [name for name in cells if are_escaped(cells[name])]
    cells |= {name: list(map(without_escapes, cells[name])) for name in escaped}
    if escaped:
        note("escapes")
    plain_text = _plain_reader(cells["text"])
    plain_title = _plain_reader(cells["title"]) or plain_text
    if plain_text or plain_title:
        note("tags" if plain_text is strip_markup or plain_text is _strip_escaped else "references")
    for row in itertools.chain(first, rows):
        if isinstance(row, Draft):
            for name in escaped:
                setattr(row, name, without_escapes(getattr(row, name)))
            row.text = plain_text(row.text) if plain_text else row.text
            row.title = plain_title(row.title) if plain_title else row.title
        yield row
    if failure is not None:
        raise failure


def _plain_reader(texts: Sequence[str]) -> Callable[[str], str] | None:
    """Return the function from cells of a column, judged by the first ones, to plain text; None where they are plain.

    Whoever escapes a column escapes all of it: no ampersand stands bare, nor a tag; escaped tags are meant so.
    """
    bare = sum(_BARE.search(text) is not None for text in texts)
    escaped = sum(_BARE.search(text) is None and unescape(text) != text for text in texts)
    is_escaped = escaped > bare and (escaped > 1 or len(texts) < _FEWEST)
    once = list(map(unescape, texts)) if is_escaped else texts
    if len(texts) >= _FEWEST and sum(map(holds_tags, once)) > len(texts) / 2:
        return _strip_escaped if is_escaped else strip_markup
    if not is_escaped:
        return None
    return unescape if any(map(_TAG.search, once)) else lambda text: unescape(unescape(text))


def _strip_escaped(text: str) -> str:
    return strip_markup(unescape(text))
