"""The state of a stream read back from disk, bit for bit what the last batch left."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable

import numpy as np

from doccluster.stories.looking_again import DeskArticle
from doccluster.streams.clusterer import Clusterer
from doccluster.streams.corrections import bonds_of
from doccluster.streams.kept_words import links_from_bytes, words_from_bytes
from doccluster.streams.settings import StreamSettings
from doccluster.streams.store import DESK_FIELDS, clock_of, read_meta, settings_of
from doccluster.streams.story import STORY_FIELDS, Story


class StoredPast:
    """What a store knows of the stream besides what is in memory; see `clusterer.Past`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def articles_of(self, outlet: str, n: int) -> Iterable[tuple[str, str]]:
        """Return the titles and texts of the last n articles of an outlet, in the order in which they were placed."""
        rows = self._connection.execute(
            "SELECT title, plain(text) FROM document WHERE outlet = ? AND number IS NOT NULL"
            " ORDER BY number DESC LIMIT ?",
            (outlet, n),
        )
        return [(str(title), str(text)) for title, text in rows.fetchall()[::-1]]

    def has_story(self, name: str) -> bool:
        """Return whether there is, or was, a story of an id."""
        return self._connection.execute("SELECT 1 FROM story WHERE story_id = ?", (name,)).fetchone() is not None


def restored(connection: sqlite3.Connection) -> Clusterer:
    """Return a clusterer in the state that the last batch left; raise ValueError for bytes that cannot be that."""
    clusterer = Clusterer(settings_of(connection) or StreamSettings(), StoredPast(connection))
    clusterer.bonds = bonds_of(connection)
    meta = read_meta(connection)
    if "next_number" not in meta:
        return clusterer
    clusterer.clock, clusterer.next_number = clock_of(connection), int(meta["next_number"])
    for outlet, languages in json.loads(meta["languages"]).items():
        clusterer.reader.languages[outlet] = Counter(languages)
    for language, values in json.loads(meta["desks"]).items():
        for name in DESK_FIELDS:
            setattr(clusterer.desks[language], name, int(values[name]))
        clusterer.desks[language].make_room()
    for language, number, term, n_articles in connection.execute(
        "SELECT language, number, term, n_articles FROM term ORDER BY language, number"
    ):
        desk = clusterer.desks[language]
        if not 0 <= number < desk.next_term:
            raise ValueError(f"the term {number} of {language!r} is not below {desk.next_term}")
        desk.numbers_of_terms[term] = number
        desk.n_with_term[number] = n_articles
    names = ", ".join(STORY_FIELDS)
    for story_id, n_documents, *values in connection.execute(
        f"SELECT story_id, n_documents, {names} FROM story WHERE state = 'open' ORDER BY born, story_id"
    ):
        story = Story(story_id, **dict(zip(STORY_FIELDS, values, strict=True)), n_documents=n_documents)
        clusterer.stories[story_id] = story
    for number, key, time, language, outlet, family, background, words, links, story_id in connection.execute(
        "SELECT d.number, d.doc_key, d.published, d.language, d.outlet, d.family, d.background, d.words, d.links,"
        " m.story_id FROM document d JOIN membership m ON m.doc_id = d.doc_id AND m.to_batch IS NULL"
        " WHERE d.words IS NOT NULL ORDER BY d.number"
    ):
        place = clusterer.outlets.setdefault(outlet, len(clusterer.outlets))
        terms, counts = words_from_bytes(words)
        if terms.max(initial=-1) >= clusterer.desks[language].next_term:
            raise ValueError(f"document {number} has terms that there are not")
        one = DeskArticle(number, time, place, terms, counts, *links_from_bytes(links), float(np.float32(background)))
        one.family, one.story = family, story_id
        clusterer.take_known(language, one, key)
    return clusterer
