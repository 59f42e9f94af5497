"""Feeds that lie in files, well-formed or not (RSS, Atom, RDF, CDF, JSON Feed), and lists of the addresses of feeds.

feedparser is given bytes in memory, so that nothing in a file can make it open a file or an address; it resolves no
external entity and expands no nested one. JSON Feed is that of jsonfeed.org, versions 1 and 1.1.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin

from doccluster.corpus.columns import cell_labels, cell_text
from doccluster.corpus.dates import in_universal_time, read_date
from doccluster.corpus.document import Skipped
from doccluster.corpus.encodings import declared_encoding, decode
from doccluster.corpus.markup import Tag, scan, strip_markup, unescape
from doccluster.corpus.reader import Beginning, Draft, Format, InputFile, ReadFailure, record, with_title
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

    feedparser searches for declarations in quadratic time, believes any codec that is declared, and fails on numbers
    without a character.
    """
    import feedparser

    if file.encoding is not None:
        text = file.decode(data)
    else:
        decoded = decode(data, declared=declared_encoding(data[max(0, data.find(b"<?xml")) :]))
        text, file.n_nuls = decoded.text, decoded.n_nuls
        file.guessed |= {decoded.encoding} if decoded.guess else set()
        file.check_parts(text)
    # what stands before the root, such as the warning of a server, goes; a doctype stays, since it declares entities
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
    """Return when the entry was published, else changed: in universal time, or as written if its column decides."""
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
    is_apart_packed=True,
)


def is_json_feed(content: object) -> bool:
    """Say whether decoded JSON is a feed."""
    return isinstance(content, Mapping) and "jsonfeed.org/version" in str(content.get("version", ""))


def read_json_feed(content: Mapping[str, object], file: InputFile) -> Iterator[Draft | Skipped]:
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


def _item_draft(item: Mapping[str, object], where: str, feed_title: str, home: str) -> Draft:
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


MAX_TITLE = 1000  # characters of a feed's title, and of the folders it lies in
_SHOWN = 80  # characters of a line without an address
_MARKUP = re.compile(r"<(?:opml|outline|html|body|a|link)\b|\bxml_?url\s*=", re.IGNORECASE)
_ATTRIBUTES = {"outline": ("xmlurl", "xml_url", "url"), "a": ("feedurl", "href"), "bookmark": ("href",)}
_OF_A_FEED = re.compile("rss|atom|feed")  # the type of a link that leads to one
_OTHER = re.compile("html|text|title|desc|comment|xmlns|icon|favicon|image")  # how attributes of other addresses begin
_OUTLINE = re.compile(r"(?=</?outline\b)", re.IGNORECASE)
_COMMENT = re.compile(r"<!--(?:.*?-->|.*)", re.DOTALL)
_IN_LINE = re.compile(r"""\b(?:feed:)?(?:https?|feed)://[^\s"<>|]+""", re.IGNORECASE)
_BARE = re.compile(r"&(?!#?\w{1,31};)")  # an ampersand that begins no reference
_REFERENCE = re.compile(r"&[a-z]\w*;", re.IGNORECASE)
_CUT = re.compile('[<>"]')  # of a quote that was lost


@dataclass(frozen=True)
class ListedFeed:
    """One feed of a list."""

    url: str
    title: str = ""
    category: str = ""  # the folders of the list that it lies in, with slashes between them
    line: int = 0  # of the list, from 1; 0 for an address that was given by itself
    trouble: str = ""  # why it cannot be asked; empty where it can


def web_address(text: str) -> str:
    """Return an address without the scheme ``feed:``, which readers put before others or in their place.

    >>> web_address("feed://a.example/f"), web_address("feed:https://a.example/f")
    ('http://a.example/f', 'https://a.example/f')
    """
    bare = "".join(map(str.strip, text.strip(" \t\r\n'\"“”").splitlines()))
    if bare[:5].lower() != "feed:":
        return bare
    bare = bare[5:].lstrip("/")
    return bare if bare.lower().startswith(("http://", "https://")) else f"http://{bare}"


def listed_feeds(text: str) -> list[ListedFeed]:
    """Return the feeds that a list names, in their order, and what stands in the place of one but cannot be asked."""
    is_markup = text.lstrip("\ufeff \t\r\n").startswith("<") or _MARKUP.search(text)
    return list(_in_markup(text) if is_markup else _in_lines(text))


def _in_lines(text: str) -> Iterator[ListedFeed]:
    """Yield the addresses of each line, and the lines without any where others have one; # begins a remark."""
    lines = [re.split(r"(?:^|\s)#", line, maxsplit=1)[0] for line in text.splitlines()]
    addresses_of_lines = [_IN_LINE.findall(line) for line in lines]
    header = next(filter(None, map(str.strip, lines)), "")
    separator = next((mark for mark in "\t;," if mark in header and "://" not in header), None)
    for number, (line, addresses) in enumerate(zip(lines, addresses_of_lines, strict=True), 1):
        for address in addresses:
            bare = address.split(separator)[0].rstrip(",;")
            yield ListedFeed(web_address(bare if "(" in bare else bare.rstrip(")")), line=number)
        is_said = line.strip() != header or separator is None
        if not addresses and is_said and any(addresses_of_lines) and any(map(str.isalnum, line)):
            yield ListedFeed(
                line.strip()[:_SHOWN], line=number, trouble="no address that begins with http:// or https://"
            )


def _in_markup(text: str) -> Iterator[ListedFeed]:
    """Yield the feeds of outlines and links with the folders they lie in, then those that no tag names."""
    text = _BARE.sub("&amp;", text).replace("/>", " />")
    folders = [""]
    in_feed = False
    addresses_read: set[str] = set()
    for line, tag in _tags(text):
        kind = tag.name.rpartition(":")[2]
        in_feed |= kind in ("item", "entry")  # the list is a feed, and its articles may have links
        if tag.is_closing:
            del folders[max(1, len(folders) - (kind == "outline")) :]
        elif not (in_feed and kind == "a"):
            addresses = _addresses(tag, kind)
            further = [value for name, value in tag.pairs() if kind == "outline" and _OTHER.match(name)]
            addresses_read.update(address for value in (*addresses, *further) for address in _IN_LINE.findall(value))
            yield from _feeds_of(tag, kind, addresses, folders[-1], line)
            if kind == "outline" and not tag.attributes.endswith("/"):
                folders.append(folders[-1] if addresses else _inner(folders[-1], _title(tag)))
    first = _OUTLINE.search(text)
    start = len(text) if first is None or in_feed else first.start()
    body = _without_comments(text[start:], open_too=False)
    for number, text_line in enumerate(body.split("\n"), text.count("\n", 0, start) + 1):
        for address in _IN_LINE.findall(unescape(text_line)):
            if address.rstrip("'") not in addresses_read:
                yield ListedFeed(web_address(address), line=number, trouble="its tag is broken")


def _without_comments(text: str, *, open_too: bool) -> str:
    """Return a text with nothing but line ends in place of its comments, also of one that is never closed."""
    return _COMMENT.sub(
        lambda match: "\n" * match[0].count("\n") if open_too or match[0].endswith("-->") else match[0], text
    )


def _tags(text: str) -> Iterator[tuple[int, Tag]]:
    """Yield the tags with their lines; each outline is scanned apart, so that a stray quote spoils no other."""
    line = 1
    for piece in _OUTLINE.split(_without_comments(text, open_too=True)):
        place = 0
        for tag in scan(f"{piece}>"):
            if isinstance(tag, Tag):
                line, place = line + piece.count("\n", place, tag.start), tag.start
                yield line, tag
        line += piece.count("\n", place)


def _addresses(tag: Tag, kind: str) -> list[str]:
    """Return the addresses of a tag: several where its end is missing, and others stand in it."""
    names = _ATTRIBUTES.get(kind, ("href",) if kind == "link" and _OF_A_FEED.search(tag.get("type").lower()) else ())
    return next(filter(None, ([value for name, value in tag.pairs() if name == attribute] for attribute in names)), [])


def _feeds_of(tag: Tag, kind: str, addresses: Sequence[str], folder: str, line: int) -> Iterator[ListedFeed]:
    for address in addresses:
        url = _cleaned(address)
        reference = _REFERENCE.search(url)
        trouble = f"{reference[0]} stands for no character" if reference else ""
        if url and not url.startswith("#"):
            yield ListedFeed(url, _title(tag) if len(addresses) == 1 else "", folder, line, trouble)
    if kind == "outline" and not addresses and tag.get("type").lower() in ("rss", "atom"):
        yield ListedFeed(tag.get("htmlurl") or _title(tag), line=line, trouble="it names no address of a feed")


def _title(tag: Tag) -> str:
    return (tag.get("title") or tag.get("text"))[:MAX_TITLE]


def _inner(folder: str, title: str) -> str:
    return folder if not title or len(folder) == MAX_TITLE else f"{folder}/{title}".lstrip("/")[:MAX_TITLE]


def _cleaned(address: str) -> str:
    """Return the address that an attribute holds, which may be escaped twice, or have lost the quote at its end."""
    text = address.replace("&amp;", "&")
    match = _IN_LINE.search(text) if _CUT.search(text) else None
    return web_address(match[0] if match else text)


def read_opml(file: InputFile, options: ReadOptions) -> Iterator[Draft]:
    """Return no document; a list that was named, or that has addresses of the network, is listed with the reason."""
    data = file.read()
    feeds = listed_feeds(file.decode(data, declared=declared_encoding(data)))
    if file.is_explicit or any("://" in feed.url for feed in feeds):
        raise ReadFailure(
            "list-of-feeds",
            f"{len(feeds):,} feeds are listed, and nothing is fetched here; give files of feeds, or the list to "
            "`doccluster stream poll`",
        )
    return iter(())


OPML = Format(
    "opml",
    read_opml,
    "nothing: a list of feeds holds no documents",
    "the feed files beside it are read; `stream poll` asks the addresses",
    suffixes=(".opml",),
    recognises=lambda beginning: beginning.is_markup and beginning.element == "opml",
)
