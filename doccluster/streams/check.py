"""Is a store sound? Its file, its references, and that its history leads to what it says today."""

from __future__ import annotations

import sqlite3
from collections import Counter
from dataclasses import dataclass
from sys import intern


@dataclass(frozen=True)
class Finding:
    """Something wrong with a store: which check found it, and what."""

    check: str
    detail: str


_RULES = {
    "one-story": (
        "SELECT doc_id || ' is in ' || COUNT(*) || ' stories' FROM membership WHERE to_batch IS NULL"
        " GROUP BY doc_id HAVING COUNT(*) <> 1"
    ),
    "placed": (
        "SELECT d.doc_id || ' was placed and is in no story' FROM document d WHERE d.batch_id IS NOT NULL"
        " AND NOT EXISTS (SELECT 1 FROM membership m WHERE m.doc_id = d.doc_id AND m.to_batch IS NULL)"
    ),
    "first-story": (
        "SELECT d.doc_id || ' has no first story' FROM document d LEFT JOIN story s ON s.story_id = d.first_story"
        " WHERE d.batch_id IS NOT NULL AND s.story_id IS NULL"
    ),
    "sighting": (
        "SELECT d.doc_id || ' was never met' FROM document d"
        " WHERE NOT EXISTS (SELECT 1 FROM sighting s WHERE s.doc_id = d.doc_id)"
    ),
    "history": (
        "SELECT a.doc_id || ' is in two stories at one batch' FROM membership a JOIN membership b"
        " ON a.doc_id = b.doc_id AND a.from_batch < b.from_batch AND (a.to_batch IS NULL OR a.to_batch > b.from_batch)"
    ),
}


def check_store(connection: sqlite3.Connection) -> list[Finding]:
    """Return what is wrong: of the file, of references, of the membership, and where the lineage does not give it."""
    found = [
        Finding("integrity", str(row[0])) for row in connection.execute("PRAGMA integrity_check") if row[0] != "ok"
    ]
    found += [
        Finding("reference", f"row {row[1]} of {row[0]} refers to nothing in {row[2]}")
        for row in connection.execute("PRAGMA foreign_key_check")
    ]
    for name, query in _RULES.items():
        found += [Finding(name, f"document {row[0]}") for row in connection.execute(query)]
    return found + _lineage_findings(connection)


def _lineage_findings(connection: sqlite3.Connection) -> list[Finding]:
    """Return where the lineage, folded from the start, does not give the membership and sizes of today."""
    today = dict(connection.execute("SELECT doc_id, story_id FROM membership WHERE to_batch IS NULL"))
    sizes: Counter[str] = Counter()
    found: list[Finding] = []
    folded: dict[int, str] = {}
    for event, story, other, n_documents, doc_id in connection.execute(
        "SELECT event, story_id, other_id, n_documents, doc_id FROM lineage WHERE event IN ('born', 'grew', 'moved')"
        " ORDER BY seq"
    ):
        before = folded.get(doc_id, "")
        if before != (other if event == "moved" else ""):
            found.append(Finding("lineage", f"document {doc_id} is in {before or 'no story'} when it has {event}"))
        folded[doc_id] = intern(story)
        sizes[story] += n_documents
        sizes[before] -= n_documents if event == "moved" else 0
    found += [
        Finding("lineage", f"document {one} is in {today.get(one)}, by its lineage in {folded.get(one)}")
        for one in sorted({*today, *folded})
        if today.get(one) != folded.get(one)
    ]
    return found + _size_findings(connection, sizes, Counter(today.values()))


def _size_findings(connection: sqlite3.Connection, folded: Counter[str], counted: Counter[str]) -> list[Finding]:
    kept = Counter(dict(connection.execute("SELECT story_id, n_documents FROM story WHERE state <> 'merged'")))
    return [
        Finding(
            "lineage", f"story {one} has {counted[one]} documents, by its lineage {folded[one]}, by its row {kept[one]}"
        )
        for one in sorted({*folded, *counted, *kept} - {""})
        if not folded[one] == counted[one] == kept[one]
    ]
