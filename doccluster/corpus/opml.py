"""OPML: a list of feeds. Feeds that lie beside the list are read; addresses are listed, never fetched."""

from __future__ import annotations

import os
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from doccluster.corpus.document import Skipped
from doccluster.corpus.draft import LinkedFile, ReadFailure
from doccluster.corpus.format import Format
from doccluster.corpus.input_file import InputFile
from doccluster.corpus.options import ReadOptions
from doccluster.corpus.xml_text import parse_xml

_REMOTE = ("http", "https", "ftp", "feed", "feeds")


def read_opml(file: InputFile, options: ReadOptions) -> Iterator[LinkedFile | Skipped]:
    """Return the feeds that are files below the list's folder, and the reason for each of the others."""
    addresses = [
        (outline.get("xmlUrl") or outline.get("xmlurl") or outline.get("url") or "").strip()
        for outline in parse_xml(file).iter("outline")
    ]
    addresses = [address for address in addresses if address]
    if not addresses:
        raise ReadFailure("no-entries", "an outline that lists no feed")
    for address in addresses:
        yield _listed(address, file)


def _listed(address: str, file: InputFile) -> LinkedFile | Skipped:
    where = f"{file.name}: {address}"
    try:
        parts = urllib.parse.urlsplit(address)
    except ValueError as error:  # such as "[" without "]": taken for an address of version 6
        return Skipped(where, "remote-feed", f"not an address: {error}")
    if parts.scheme.lower() in _REMOTE or parts.netloc:
        return Skipped(where, "remote-feed", "feeds are read from files; nothing is fetched from the network")
    if file.local is None:
        return Skipped(where, "unresolved", "the list lies in an archive or stream; name the feed files themselves")
    folder = file.local.parent.resolve()
    target = urllib.request.url2pathname(parts.path) if parts.scheme == "file" else urllib.parse.unquote(address)
    try:
        path = (folder / target).resolve()
    except (OSError, ValueError) as error:
        return Skipped(where, "unreadable", str(error))
    if not path.is_relative_to(folder):
        return Skipped(where, "unsafe-path", "it lies outside the folder of the list")
    if not os.path.isfile(path):  # noqa: PTH113  Path.is_file raises where a name is too long
        return Skipped(where, "unreadable", "there is no such file")
    return LinkedFile(Path(path), where)


OPML = Format(
    "opml",
    read_opml,
    "the entries of the feed files it lists",
    "addresses are listed as skipped, never fetched",
    suffixes=(".opml",),
    recognises=lambda beginning: beginning.is_markup and beginning.element == "opml",
)
