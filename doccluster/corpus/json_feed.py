"""JSON Feed (jsonfeed.org, versions 1 and 1.1): the items of a feed as documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from doccluster.corpus.boundary import record
from doccluster.corpus.columns import cell_labels, cell_text
from doccluster.corpus.dates import iso_date
from doccluster.corpus.document import Skipped
from doccluster.corpus.draft import Draft, ReadFailure
from doccluster.corpus.input_file import InputFile
from doccluster.corpus.markup import strip_markup


def is_json_feed(content: Any) -> bool:
    """Say whether decoded JSON is a feed."""
    return isinstance(content, Mapping) and "jsonfeed.org/version" in str(content.get("version", ""))


def read_json_feed(content: Mapping[str, Any], file: InputFile) -> Iterator[Draft | Skipped]:
    """Return one document for each item: its title and its content, tags as labels."""
    items = content.get("items")
    if not isinstance(items, list) or not items:
        raise ReadFailure("no-entries", "a JSON Feed without items")
    feed_title = strip_markup(cell_text(content.get("title")))
    for number, item in enumerate(items, 1):
        where = f"{file.name}:{number}"
        if not isinstance(item, Mapping):
            yield Skipped(where, "bad-record", f"{type(item).__name__}, expected an item")
        else:
            yield record(where, _item_draft, item, where, feed_title)


def _item_draft(item: Mapping[str, Any], where: str, feed_title: str) -> Draft:
    title = strip_markup(cell_text(item.get("title")))
    body = cell_text(item.get("content_text")) or strip_markup(cell_text(item.get("content_html")))
    body = body or cell_text(item.get("summary"))
    link = cell_text(item.get("url")) or cell_text(item.get("external_url"))
    return Draft(
        text=with_title(title, body),
        where=where,
        id=cell_text(item.get("id")) or link,
        title=title,
        date=iso_date(cell_text(item.get("date_published")) or cell_text(item.get("date_modified"))),
        source=feed_title,
        link=link,
        labels={"category": cell_labels(item.get("tags"))},
    )


def with_title(title: str, body: str) -> str:
    """Return the body under its title, unless it begins with it."""
    if not title or body.lstrip().startswith(title):
        return body
    return f"{title}\n\n{body}" if body.strip() else title
