"""The stories of a store as a feed for readers: Atom (RFC 4287) or JSON Feed 1.1, an entry for each story."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

from doccluster.report.wording import counted, one_line, safe_link
from doccluster.streams.article import as_text
from doccluster.streams.export import records
from doccluster.streams.tables import batch_at

MOST_ENTRIES = 100
MOST_TITLES = 10  # of a story's newest documents in its entry
TITLE = 220
_ATOM = "http://www.w3.org/2005/Atom"
_UPDATED = """
SELECT story_id, MAX(b.moment) FROM lineage JOIN batch b USING (batch_id) WHERE event <> 'closed' GROUP BY story_id
"""


def feed_of(connection: sqlite3.Connection, words: Sequence[str] = (), *, name: str, is_json: bool = False) -> str:
    """Return the stories that have grown last as a feed: one entry each, under the story's id, updated when it grows.

    Stories of several articles lead; single articles have the places that are left.

    Parameters
    ----------
    words : sequence of str
        Only stories that have all of them in their name, or in the title of a document.
    name : str
        What the feed is called.
    is_json : bool
        Whether it is a JSON Feed instead of Atom.
    """
    _, now = batch_at(connection, None)
    rows = records(connection)
    own: dict[Any, list[dict[str, Any]]] = defaultdict(list)
    for document in rows["documents"]:
        own[document["story"]].append(document)
    updated = {story: as_text(moment) for story, moment in connection.execute(_UPDATED)}
    entries: list[dict[str, Any]] = [
        {**story, "updated": updated[str(story["id"])], "own": own[story["id"]][::-1]}
        for story in rows["stories"]
        if story["documents"] and has_words(words, str(story["label"]), [one["title"] for one in own[story["id"]]])
    ]
    entries.sort(key=lambda one: (one["documents"] > 1, one["updated"], one["id"]), reverse=True)
    write = _json_feed if is_json else _atom
    return write([_entry(one) for one in entries[:MOST_ENTRIES]], name, as_text(now or 0))


def has_words(words: Sequence[str], label: str, titles: Sequence[str]) -> bool:
    """Return whether all words are in the name of a story, or all in one of some titles."""
    return any(all(word.casefold() in text.casefold() for word in words) for text in (label, *titles))


def _entry(story: dict[str, Any]) -> dict[str, str]:
    told = f"{counted(story['documents'], 'article')} from {counted(max(1, story['outlets']), 'outlet')}"
    lines = [one_line(f"{one['title']} ({one['source']})", TITLE) for one in story["own"][:MOST_TITLES]]
    return {
        "id": f"urn:doccluster:story:{story['id']}",
        "title": one_line(story["label"] or story["id"], TITLE),
        "url": next((link for one in story["own"] if (link := safe_link(one["link"]))), ""),
        "date_published": story["born"],
        "date_modified": story["updated"],
        "content_text": "\n".join([told, *lines]),
    }


def _json_feed(entries: list[dict[str, str]], name: str, now: str) -> str:
    items = [{key: value for key, value in one.items() if value} for one in entries]
    feed = {"version": "https://jsonfeed.org/version/1.1", "title": name, "items": items}
    return json.dumps(feed, indent=1, ensure_ascii=False) + "\n"


def _atom(entries: list[dict[str, str]], name: str, now: str) -> str:
    feed = ElementTree.Element("feed", xmlns=_ATOM)
    for tag, text in (("id", f"urn:doccluster:stories:{name}"), ("title", name), ("updated", now)):
        ElementTree.SubElement(feed, tag).text = text
    ElementTree.SubElement(ElementTree.SubElement(feed, "author"), "name").text = "doccluster"
    tags = {"id": "id", "title": "title", "published": "date_published", "updated": "date_modified"}
    for one in entries:
        entry = ElementTree.SubElement(feed, "entry")
        for tag, key in {**tags, "content": "content_text"}.items():
            ElementTree.SubElement(entry, tag).text = one[key]
        if one["url"]:
            ElementTree.SubElement(entry, "link", href=one["url"])
    ElementTree.indent(feed, " ")
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(feed, encoding="unicode") + "\n"
