"""The stories of a store as a feed for readers: Atom (RFC 4287) or JSON Feed 1.1, an entry for each story."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Sequence
from xml.etree import ElementTree

from doccluster.report.wording import counted, one_line, safe_link
from doccluster.streams.article import as_text
from doccluster.streams.store.tables import Row, batch_at, has_words, records

MOST_ENTRIES = 100
MOST_TITLES = 10  # of a story's newest documents in its entry
TITLE = 220
_ATOM = "http://www.w3.org/2005/Atom"
_UPDATED = """
SELECT story_id, MAX(b.moment) FROM lineage JOIN batch b USING (batch_id) WHERE event <> 'closed' GROUP BY story_id
"""


def feed_of(connection: sqlite3.Connection, words: Sequence[str] = (), *, name: str, is_json: bool = False) -> str:
    """Return the stories that have grown last as a feed: one entry each, under the story's id, updated when it grows.

    Stories of several articles lead; single articles have the places that are left. `words`: only stories that have all
    of them in their name, or in the title of a document.
    """
    _, now = batch_at(connection, None)
    tables = records(connection)
    documents: dict[str, list[Row]] = defaultdict(list)
    for document in tables["documents"]:
        documents[document["story"]].append(document)
    updated = dict(connection.execute(_UPDATED))
    entries = [
        {**story, "updated": as_text(updated[story["id"]]), "articles": articles[::-1]}
        for story in tables["stories"]
        if (articles := documents[story["id"]])
        and has_words(words, story["label"], [article["title"] for article in articles])
    ]
    entries.sort(key=lambda entry: (entry["documents"] > 1, entry["updated"], entry["id"]), reverse=True)
    write = _json_feed if is_json else _atom
    return write([_entry(entry) for entry in entries[:MOST_ENTRIES]], name, as_text(now or 0))


def _entry(story: Row) -> dict[str, str]:
    extent = f"{counted(story['documents'], 'article')} from {counted(max(1, story['outlets']), 'outlet')}"
    articles = story["articles"]
    lines = [one_line(f"{article['title']} ({article['source']})", TITLE) for article in articles[:MOST_TITLES]]
    return {
        "id": f"urn:doccluster:story:{story['id']}",
        "title": one_line(story["label"] or story["id"], TITLE),
        "url": next((link for article in articles if (link := safe_link(article["link"]))), ""),
        "date_published": story["born"],
        "date_modified": story["updated"],
        "content_text": "\n".join([extent, *lines]),
    }


def _json_feed(entries: list[dict[str, str]], name: str, now: str) -> str:
    items = [{key: value for key, value in entry.items() if value} for entry in entries]
    feed = {"version": "https://jsonfeed.org/version/1.1", "title": name, "items": items}
    return json.dumps(feed, indent=1, ensure_ascii=False) + "\n"


def _atom(entries: list[dict[str, str]], name: str, now: str) -> str:
    feed = ElementTree.Element("feed", xmlns=_ATOM)
    for tag, text in (("id", f"urn:doccluster:stories:{name}"), ("title", name), ("updated", now)):
        ElementTree.SubElement(feed, tag).text = text
    ElementTree.SubElement(ElementTree.SubElement(feed, "author"), "name").text = "doccluster"
    tags = {"id": "id", "title": "title", "published": "date_published", "updated": "date_modified"}
    for entry in entries:
        element = ElementTree.SubElement(feed, "entry")
        for tag, key in {**tags, "content": "content_text"}.items():
            ElementTree.SubElement(element, tag).text = entry[key]
        if entry["url"]:
            ElementTree.SubElement(element, "link", href=entry["url"])
    ElementTree.indent(feed, " ")
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(feed, encoding="unicode") + "\n"
