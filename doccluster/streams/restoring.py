"""The state of a stream read back from disk, bit for bit what the last batch left."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from doccluster.streams.clusterer import Clusterer
from doccluster.streams.corrections import links_of
from doccluster.streams.frequencies import WeightedTerms
from doccluster.streams.joining import Scale, Usual
from doccluster.streams.settings import DAY
from doccluster.streams.store import clock_of, read_meta
from doccluster.streams.story import STORY_FIELDS, Member, Story


def restore(connection: sqlite3.Connection, clusterer: Clusterer) -> None:
    """Bring a new clusterer to the state that the last batch left; raise ValueError for bytes that cannot be that."""
    meta = read_meta(connection)
    if "next_number" not in meta:
        return
    clusterer.clock = clock_of(connection)
    clusterer.looked_on = clusterer.time // DAY
    for language, given in json.loads(meta["scales"]).items():
        clusterer.stories.scales[language] = Scale(**{name: Usual(**own) for name, own in given.items()})
    clusterer.next_number, n_terms = int(meta["next_number"]), int(meta["next_term"])
    terms = connection.execute("SELECT number, term, settled FROM term ORDER BY number").fetchall()
    clusterer.frequencies.restore(
        terms, Counter(json.loads(meta.get("n_settled", "{}"))), int(meta.get("settled_day", -1)), n_terms
    )
    settled = int(meta.get("settled_batch", 0))
    for number, data, language in connection.execute(
        "SELECT number, vectors, language FROM document WHERE batch_id > ? AND vectors IS NOT NULL ORDER BY number",
        (settled,),
    ):
        clusterer.frequencies.add_pending(number, WeightedTerms.from_bytes(data, n_terms=n_terms).ids, language)
    for story, state in _stories_of(connection, n_terms):
        (clusterer.stories.open_new if state == "open" else clusterer.stories.take_closed)(story)
    _restore_families(connection, clusterer)
    clusterer.links = links_of(connection)


def _stories_of(connection: sqlite3.Connection, n_terms: int) -> Iterator[tuple[Story, str]]:
    members: dict[str, list[Member]] = {}
    counts: Counter[tuple[str, int]] = Counter()
    for story_id, family, count in connection.execute(
        "SELECT m.story_id, d.family, COUNT(*) FROM membership m JOIN document d USING (doc_id) JOIN story s"
        " USING (story_id) WHERE m.to_batch IS NULL AND s.is_forgotten = 0 GROUP BY 1, 2"
    ):
        counts[story_id, family] = count
    for story_id, number, family, key, time, vectors, meaning in connection.execute(
        "SELECT m.story_id, d.number, d.family, d.doc_key, d.published, d.vectors, d.meaning"
        " FROM document d JOIN membership m ON m.doc_id = d.doc_id AND m.to_batch IS NULL"
        " WHERE d.in_sums = 1 AND d.vectors IS NOT NULL ORDER BY d.number"
    ):
        terms = WeightedTerms.from_bytes(vectors, n_terms=n_terms, meaning=meaning)
        member = Member(number, family, key, time, terms)
        members.setdefault(story_id, []).append(replace(member, n_documents=counts[story_id, family]))
    names = ", ".join(STORY_FIELDS)
    for story_id, state, *values in connection.execute(
        f"SELECT story_id, state, {names} FROM story WHERE is_forgotten = 0 ORDER BY born, story_id"
    ):
        given = dict(zip(STORY_FIELDS, values, strict=True))
        yield Story(id=story_id, members=members.get(story_id, []), **given), state


def _restore_families(connection: sqlite3.Connection, clusterer: Clusterer) -> None:
    rows = connection.execute(
        "SELECT d.number, d.published, b.clock, d.family, d.shingles, d.source, m.story_id"
        " FROM document d JOIN membership m ON m.doc_id = d.doc_id AND m.to_batch IS NULL"
        " JOIN batch b ON b.batch_id = d.batch_id WHERE d.shingles IS NOT NULL ORDER BY d.number"
    )
    for number, published, arrived, family, shingles, outlet, story in rows:
        clusterer.families.restore(number, published, shingles, family, outlet=outlet, arrived=arrived)
        clusterer.story_of_family[family] = story
