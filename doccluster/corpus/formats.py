"""The formats by name, in the order in which they are recognised: made of the records that stand beside the readers."""

from __future__ import annotations

from doccluster.corpus.delimited import CSV, TSV
from doccluster.corpus.feeds import FEED
from doccluster.corpus.format import Format
from doccluster.corpus.json_records import JSON, JSON_LINES
from doccluster.corpus.mail import EML, MBOX
from doccluster.corpus.newsgroups import NEWSGROUPS
from doccluster.corpus.opml import OPML
from doccluster.corpus.parquet import PARQUET
from doccluster.corpus.plain_text import LINES, TEXT
from doccluster.corpus.reuters import REUTERS
from doccluster.corpus.web_pages import HTML
from doccluster.corpus.xml_text import XML
from doccluster.errors import InputError

_RECORDS = (
    TEXT,
    LINES,
    CSV,
    TSV,
    JSON_LINES,
    JSON,
    PARQUET,
    REUTERS,
    OPML,
    FEED,
    HTML,
    XML,
    MBOX,
    NEWSGROUPS,
    EML,
)
FORMATS: dict[str, Format] = {one.name: one for one in _RECORDS}
_BY_ALIAS = {alias: one.name for one in _RECORDS for alias in one.aliases}


def check_format(format: str | None) -> str | None:
    """Return the format's own name; raise InputError for one that is not known."""
    if format is None or format == "auto":
        return None
    name = str(format).lower().lstrip(".")
    name = _BY_ALIAS.get(name, name)
    if name not in FORMATS:
        raise InputError(
            "is not known",
            argument="format",
            received=format,
            remedy=f"choose among {', '.join(FORMATS)}, or leave it out",
        )
    return name
