"""Is a store sound? Its file, its references, and that its history leads to what it says today."""

from __future__ import annotations

import sqlite3
from collections import Counter
from dataclasses import dataclass


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


def folded_sizes(connection: sqlite3.Connection) -> Counter[str]:
    """Return how many documents each story has, by its lineage alone."""
    sizes: Counter[str] = Counter()
    for event, story, other, n_documents in connection.execute(
        "SELECT event, story_id, other_id, n_documents FROM lineage ORDER BY seq"
    ):
        if event in ("born", "grew"):
            sizes[story] += n_documents
        elif event == "merged":
            sizes[story] += n_documents
            sizes[other] -= n_documents
        elif event == "split":
            sizes[story] -= n_documents
            sizes[other] += n_documents
    return sizes


def _lineage_findings(connection: sqlite3.Connection) -> list[Finding]:
    folded = folded_sizes(connection)
    counted = Counter(
        dict(connection.execute("SELECT story_id, COUNT(*) FROM membership WHERE to_batch IS NULL GROUP BY story_id"))
    )
    kept = Counter(dict(connection.execute("SELECT story_id, n_documents FROM story WHERE state <> 'merged'")))
    stories = sorted({*folded, *counted, *kept})
    return [
        Finding(
            "lineage", f"story {one} has {counted[one]} documents, by its lineage {folded[one]}, by its row {kept[one]}"
        )
        for one in stories
        if not folded[one] == counted[one] == kept[one]
    ]
