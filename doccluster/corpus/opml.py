"""OPML: a list of feeds, which holds no documents; the feed files beside it are read as what they are."""

from __future__ import annotations

from collections.abc import Iterator

from doccluster.corpus.draft import Draft, ReadFailure
from doccluster.corpus.format import Format
from doccluster.corpus.input_file import InputFile
from doccluster.corpus.options import ReadOptions
from doccluster.corpus.xml_text import parse_xml


def read_opml(file: InputFile, options: ReadOptions) -> Iterator[Draft]:
    """Return no document; a list that was named, or that has addresses of the network, is listed with the reason."""
    outlines = parse_xml(file).iter("outline")
    addresses = [one.get("xmlUrl") or one.get("xmlurl") or one.get("url") or "" for one in outlines]
    if file.is_explicit or any("://" in address for address in addresses):
        raise ReadFailure(
            "list-of-feeds",
            f"{sum(map(bool, addresses)):,} feeds are listed, and nothing is fetched here; give files of feeds, or the "
            "list to `doccluster stream poll`",
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
