"""What has to hold of every built page: its links lead somewhere on the site, and it asks nothing of the network."""

from __future__ import annotations

import functools
import html.parser
import pathlib
import re
import urllib.parse
from collections.abc import Iterator
from typing import NamedTuple

LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "embed": "src", "object": "data"}
LOADING = frozenset({"stylesheet", "icon", "preload", "prefetch", "preconnect", "dns-prefetch", "modulepreload"})
REMOTE = ("http://", "https://", "//")


class Page(NamedTuple):
    """What a page links to, what a browser fetches for it, and the places in it that can be linked to."""

    links: frozenset[str]
    loaded: frozenset[str]
    anchors: frozenset[str]


class _Reader(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.loaded: set[str] = set()
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if given.get(name)}
        if tag == "a" and "href" in given:
            self.links.add(given["href"])
        if tag in LOADED and given.get(LOADED[tag]):
            self.loaded.add(given[LOADED[tag]])
        if tag == "link" and LOADING & set(given.get("rel", "").split()):
            self.loaded.add(given.get("href", ""))


@functools.cache
def read_page(path: pathlib.Path) -> Page:
    """Return the links of a page, what it fetches and the places it offers."""
    reader = _Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    return Page(frozenset(reader.links), frozenset(reader.loaded), frozenset(reader.anchors))


def pages_of(output: pathlib.Path) -> list[pathlib.Path]:
    """Return the pages of the site; the theme keeps templates of its own in _static."""
    return [path for path in sorted(output.rglob("*.html")) if "_static" not in path.relative_to(output).parts]


def broken_links(output: pathlib.Path) -> Iterator[str]:
    """Return a line for each link of the site that leads to no file, or to a place that its page does not have."""
    for path in pages_of(output):
        page = read_page(path)
        for link in sorted(page.links | page.loaded):
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target = target / "index.html"
            anchor = urllib.parse.unquote(parts.fragment).partition("?")[
                0
            ]  # the report keeps its state behind the place
            if not target.is_file():
                yield f"{path.relative_to(output)}: {link} leads to no file"
            elif anchor and target.suffix == ".html" and anchor not in read_page(target).anchors:
                yield f"{path.relative_to(output)}: {link} leads to no place of that page"


def remote_parts(output: pathlib.Path) -> Iterator[str]:
    """Return a line for everything that a browser would ask another machine for."""
    for path in pages_of(output):
        for address in sorted(read_page(path).loaded):
            if address.startswith(REMOTE):
                yield f"{path.relative_to(output)} loads {address}"
    for path in sorted(output.rglob("*.css")):
        text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        for address in re.findall(r"(?:url\(|@import\s+)\s*[\"']?((?:https?:)?//[^\"')\s]+)", text):
            yield f"{path.relative_to(output)} loads {address}"
