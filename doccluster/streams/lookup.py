"""Stories looked up in a store: all of them, those that have some words, or one with its documents and its past."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from doccluster.errors import InputError
from doccluster.streams.corrections import Correction, names_at
from doccluster.streams.export import records
from doccluster.streams.feed_out import has_words
from doccluster.streams.tables import label_of

_HOLDING = """
SELECT s.story_id, s.n_documents
FROM json_each(?) JOIN membership m ON m.doc_id = value AND m.to_batch IS NULL JOIN story s USING (story_id)
GROUP BY s.story_id ORDER BY MIN(key)
"""


def stories_with(connection: sqlite3.Connection, words: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Return the stories that have all words in their name, or in the title of a document; the last to grow first."""
    rows = records(connection)
    titles: dict[Any, list[str]] = defaultdict(list)
    for one in rows["documents"] if words else ():
        titles[one["story"]].append(str(one["title"]))
    stories = sorted(rows["stories"], key=lambda one: (str(one["last"]), str(one["id"])), reverse=True)
    return [one for one in stories if has_words(words, str(one["label"]), titles[one["id"]])]


def story_told(connection: sqlite3.Connection, story: str) -> dict[str, Any]:
    """Return the row of a story, its documents, and what has happened to it, with the label of its partner in that.

    Raises InputError if there is none of that id.
    """
    rows = records(connection)
    row = next((one for one in rows["stories"] if one["id"] == story), None)
    if row is None:
        raise InputError(f"there is no story {story!r}; `doccluster stream list` shows those that there are.")
    own = [one for one in rows["documents"] if one["story"] == story]
    events = [one for one in rows["lineage"] if story in (one["story"], one["other"]) and one["event"] != "moved"]
    names = names_at(connection, "rename")
    for event in events:
        partner = str(event["other"] if event["story"] == story else event["story"])
        event["partner"], event["label"] = partner, _label(connection, partner, names)
    return {**row, "documents": own, "lineage": events}


def stories_of(connection: sqlite3.Connection, correction: Correction) -> list[dict[str, Any]]:
    """Return id, label and number of documents of the stories that a correction is about, as they are now."""
    names = names_at(connection, "rename")
    documents = (*correction.documents, *correction.together, *correction.apart)
    return [
        {"id": story, "label": _label(connection, story, names), "documents": n_documents}
        for story, n_documents in connection.execute(_HOLDING, (json.dumps(documents),))
    ]


def _label(connection: sqlite3.Connection, story: str, names: Mapping[str, str]) -> str:
    """Return the label of a story, also of one that has become part of another; "" for no story."""
    row = connection.execute("SELECT doc_id FROM story_lead WHERE story_id = ? ORDER BY from_batch DESC", (story,))
    lead = row.fetchone()
    return names.get(story) or (label_of(connection, lead[0]) if lead else "")
