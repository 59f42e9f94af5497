"""Feeds that lie in files, well-formed or not: RSS, Atom, RDF, CDF and JSON Feed.

feedparser is given bytes in memory, so that nothing in a file can make it open a file or an address; it resolves no
external entity and expands no nested one. JSON Feed is that of jsonfeed.org, versions 1 and 1.1.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urljoin

from doccluster.corpus.columns import cell_labels, cell_text
from doccluster.corpus.dates import in_universal_time, read_date
from doccluster.corpus.document import Skipped
from doccluster.corpus.draft import Draft, ReadFailure, record, with_title
from doccluster.corpus.encodings import declared_encoding, decode
from doccluster.corpus.format import Beginning, Format
from doccluster.corpus.input_file import InputFile
from doccluster.corpus.markup import strip_markup
from doccluster.corpus.reader_options import ReadOptions

_PROLOG = re.compile(r"\A(?:[\s\ufeff]++|<\?(?:(?!\?>).)*+(?:\?>|\Z))++", re.DOTALL)
_ROOT = re.compile(r"<(?:[\w.-]+:)?(?:rss|feed|rdf|channel)\b", re.IGNORECASE)
_DOCTYPE = re.compile(r"<!doctype[^\[<>]*+(?:\[.*?\]\s*+)?>", re.IGNORECASE | re.DOTALL)
_CERTAIN_ROOT = re.compile(r"<(?:rss[\s>]|(?:[\w.-]+:)?feed\s[^<>]*xmlns|rdf:rdf[\s>])", re.IGNORECASE)
_NO_CHARACTER = re.compile(r"&#(?:x[0-9a-f]{7,}+|[0-9]{8,}+);?", re.IGNORECASE)


def read_feed(file: InputFile, options: ReadOptions) -> Iterator[Draft | Skipped]:
    """Return one document for each entry: its title and its content (else its summary), categories as labels."""
    data = file.read()
    feed = parse_feed(data, file)
    entries = feed["entries"]
    if not entries:
        raise ReadFailure("no-entries", "a feed without entries" if dict.get(feed, "version") else "not a feed")
    feed_title, home = _plain(feed["feed"], "title"), str(dict.get(feed["feed"], "link", "") or "")
    for number, entry in enumerate(entries, 1):
        where = f"{file.name}:{number}"
        yield record(where, _entry_draft, entry, where, feed_title, home)


def parse_feed(data: bytes, file: InputFile) -> Any:
    """Return feedparser's result for text that was decoded here, as every other reader has it.

    What stands before the root is left out but for its document type, and so are numbers without a character:
    feedparser searches for declarations in quadratic time, believes any codec that is declared, and fails on such
    numbers; and servers put their warnings there.
    """
    import feedparser

    if file.encoding is not None:
        text = file.decode(data)
    else:
        decoded = decode(data, declared=declared_encoding(data[max(0, data.find(b"<?xml")) :]))
        text, file.n_nuls = decoded.text, decoded.n_nuls
        file.guessed |= {decoded.encoding} if decoded.guess else set()
    root = _ROOT.search(text)
    if root is None:
        text = _PROLOG.sub("", text, count=1)
    else:
        doctype = _DOCTYPE.match(text, max(0, text.lower().find("<!doctype", 0, root.start())))
        text = (doctype[0] if doctype else "") + text[root.start() :]
    text = _NO_CHARACTER.sub("\ufffd", text)
    return feedparser.parse(
        io.BytesIO(text.encode("utf-8", "replace")),
        response_headers={"content-type": "application/xml; charset=utf-8"},
        resolve_relative_uris=False,
    )


def absolute_link(base: str, link: str) -> str:
    """Return a link as it is followed from a page at `base`, on one line; as it is where nothing can be made of it.

    >>> absolute_link("http://harbour.example/feed", "/news/1"), absolute_link("", "www.harbour.example/1")
    ('http://harbour.example/news/1', 'http://www.harbour.example/1')
    """
    bare = "".join(map(str.strip, link.splitlines()))
    if not bare:
        return ""
    try:
        return urljoin(base, f"http://{bare}" if bare.lower().startswith("www.") else bare)
    except ValueError:
        return bare


def _entry_draft(entry: Any, where: str, feed_title: str, home: str) -> Draft:
    title = _plain(entry, "title")
    contents = [_text_of(content) for content in dict.get(entry, "content", [])]
    body = "\n\n".join(text for text in contents if text) or _plain(entry, "summary") or _plain(entry, "description")
    link, name = (str(dict.get(entry, key, "") or "") for key in ("link", "id"))
    # feedparser has heeded xml:base; a guid is a link where its feed does not deny it, but "1234" is none
    link = absolute_link(home, link) if link != name or "/" in link else ""
    tags = [dict.get(tag, "term") or dict.get(tag, "label") or "" for tag in dict.get(entry, "tags", [])]
    return Draft(
        text=with_title(title, body),
        where=where,
        id=name or link,
        title=title,
        date=_date(entry),
        source=_plain(dict.get(entry, "source", {}), "title") or feed_title,
        link=link,
        labels={"category": tuple(str(tag) for tag in tags if tag)},
    )


# `dict.get` because feedparser's own look-up answers for other names, with a DeprecationWarning


def _plain(element: Any, name: str) -> str:
    """Return a text construct without markup."""
    detail = dict.get(element, f"{name}_detail")
    if detail is not None:
        return _text_of(detail)
    return strip_markup(str(dict.get(element, name, "") or ""))


def _text_of(detail: Any) -> str:
    value = str(dict.get(detail, "value", "") or "")
    return value.strip() if dict.get(detail, "type") == "text/plain" else strip_markup(value).strip()


def _date(entry: Any) -> str:
    """Return when the entry was published, else changed: in universal time, or as it is written if its column decides.

    What feedparser reads of a date is left aside: its readers take a part of one for the whole.
    """
    dates = [str(dict.get(entry, name) or "") for name in ("published", "updated", "created")]
    for text in dates:
        reading = read_date(text)
        if reading.iso or reading.order:
            return text if reading.order else in_universal_time(reading.iso)
    return next(filter(None, dates), "")


_NAMES = (".rss", ".atom", ".rdf", ".xml", ".php")  # the first three are those of feeds alone
_ROOTS = {"rss", "feed", "rdf", "channel", "rdf:rdf"}


def _is_feed(beginning: Beginning) -> bool:
    if beginning.doctype == "html" or beginning.element == "html":
        return False
    may_have_junk = beginning.name.endswith(_NAMES) or (beginning.is_markup and "." not in beginning.name)
    if may_have_junk and _CERTAIN_ROOT.search(beginning.text):
        return True
    if not beginning.is_markup:
        return False
    names = {beginning.element, beginning.element.rpartition(":")[2]}
    return not names.isdisjoint(_ROOTS) or beginning.name.endswith(_NAMES[:3])


FEED = Format(
    "feed",
    read_feed,
    "an entry of RSS, Atom, RDF or CDF",
    "title, date, link, feed, the label `category`",
    suffixes=(".rss", ".atom"),
    aliases=("rss", "atom", "rdf", "feeds"),
    recognises=_is_feed,
)


def is_json_feed(content: Any) -> bool:
    """Say whether decoded JSON is a feed."""
    return isinstance(content, Mapping) and "jsonfeed.org/version" in str(content.get("version", ""))


def read_json_feed(content: Mapping[str, Any], file: InputFile) -> Iterator[Draft | Skipped]:
    """Return one document for each item: its title and its content, tags as labels."""
    items = content.get("items")
    if not isinstance(items, list) or not items:
        raise ReadFailure("no-entries", "a JSON Feed without items")
    feed_title = strip_markup(cell_text(content.get("title")))
    home = cell_text(content.get("home_page_url")) or cell_text(content.get("feed_url"))
    for number, item in enumerate(items, 1):
        where = f"{file.name}:{number}"
        if not isinstance(item, Mapping):
            yield Skipped(where, "bad-record", f"{type(item).__name__}, expected an item")
        else:
            yield record(where, _item_draft, item, where, feed_title, home)


def _item_draft(item: Mapping[str, Any], where: str, feed_title: str, home: str) -> Draft:
    title = strip_markup(cell_text(item.get("title")))
    body = cell_text(item.get("content_text")) or strip_markup(cell_text(item.get("content_html")))
    body = body or cell_text(item.get("summary"))
    link = absolute_link(home, cell_text(item.get("url")) or cell_text(item.get("external_url")))
    return Draft(
        text=with_title(title, body),
        where=where,
        id=cell_text(item.get("id")) or link,
        title=title,
        date=cell_text(item.get("date_published")) or cell_text(item.get("date_modified")),
        source=feed_title,
        link=link,
        labels={"category": cell_labels(item.get("tags"))},
    )
