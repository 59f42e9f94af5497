"""The formats by name, each with its reader: one table that messages, `--format` and recognition share."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from doccluster.corpus.delimited import read_delimited
from doccluster.corpus.draft import Found
from doccluster.corpus.feeds import read_feed
from doccluster.corpus.input_file import InputFile
from doccluster.corpus.json_records import read_json, read_json_lines
from doccluster.corpus.mail import read_eml, read_mbox
from doccluster.corpus.newsgroups import read_newsgroups
from doccluster.corpus.opml import read_opml
from doccluster.corpus.options import ReadOptions
from doccluster.corpus.parquet import read_parquet
from doccluster.corpus.plain_text import read_lines, read_text
from doccluster.corpus.reuters import read_reuters
from doccluster.corpus.web_pages import read_html
from doccluster.corpus.xml_text import read_xml
from doccluster.errors import InputError

Reader = Callable[[InputFile, ReadOptions], Iterator[Found]]

FORMATS: dict[str, Reader] = {
    "text": read_text,
    "lines": read_lines,
    "csv": read_delimited,
    "tsv": read_delimited,
    "jsonl": read_json_lines,
    "json": read_json,
    "parquet": read_parquet,
    "reuters": read_reuters,
    "newsgroups": read_newsgroups,
    "feed": read_feed,
    "opml": read_opml,
    "mbox": read_mbox,
    "eml": read_eml,
    "html": read_html,
    "xml": read_xml,
}
_ALIASES = {
    "folder": "text",
    "txt": "text",
    "ndjson": "jsonl",
    "jsonlines": "jsonl",
    "json-lines": "jsonl",
    "json-feed": "json",
    "jsonfeed": "json",
    "rss": "feed",
    "atom": "feed",
    "rdf": "feed",
    "feeds": "feed",
    "sgml": "reuters",
    "reuters21578": "reuters",
    "reuters-21578": "reuters",
    "20newsgroups": "newsgroups",
    "20news": "newsgroups",
    "mail": "eml",
    "htm": "html",
}


def check_format(format: str | None) -> str | None:
    """Return the format's own name; raise InputError for one that is not known."""
    if format is None or format == "auto":
        return None
    name = str(format).lower().lstrip(".")
    name = _ALIASES.get(name, name)
    if name not in FORMATS:
        raise InputError(
            "is not known",
            argument="format",
            received=format,
            remedy=f"choose among {', '.join(FORMATS)}, or leave it out",
        )
    return name
