"""Lists of feeds: outlines (OPML) and pages of links, well-formed or not, and text with addresses in its lines.

Few lists are XML but by name, so the scanner of HTML reads them (`markup.scan`; Python's own `html.parser` takes time
with the square of the length). An address that it does not come to is found by its attribute, and named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from doccluster.corpus.draft import Draft, ReadFailure
from doccluster.corpus.encodings import declared_encoding
from doccluster.corpus.format import Format
from doccluster.corpus.input_file import InputFile
from doccluster.corpus.markup import Tag, scan, unescape
from doccluster.corpus.reader_options import ReadOptions

MOST_TITLE = 1000  # characters of a feed's title, and of the folders it lies in
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
    """One feed of a list.

    Attributes
    ----------
    category : str
        The folders of the list that it lies in, with slashes between them.
    line : int
        The line of the list, from 1; 0 for an address that was given by itself.
    trouble : str
        Why it cannot be asked; empty where it can.
    """

    url: str
    title: str = ""
    category: str = ""
    line: int = 0
    trouble: str = ""


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
    return (tag.get("title") or tag.get("text"))[:MOST_TITLE]


def _inner(folder: str, title: str) -> str:
    return folder if not title or len(folder) == MOST_TITLE else f"{folder}/{title}".lstrip("/")[:MOST_TITLE]


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
