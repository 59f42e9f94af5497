"""What holds between the rows of a store: each rule is a check and a query, which returns what breaks it."""

from __future__ import annotations

# moments that have a date with a year of four digits, and days to spare
_MOMENTS = "BETWEEN -62135596800 AND 253370764800"
_SHARE = "BETWEEN -0.001 AND 1.001"
_LAST_MOMENT = (
    "(SELECT MAX(COALESCE((SELECT MAX(moment) FROM batch), 0), COALESCE((SELECT MAX(published) FROM document), 0)))"
)
_FIRST_MOMENT = "(SELECT MIN(published) FROM document WHERE number IS NOT NULL)"


def _rule(check: str, what: str, table: str, where: str, told: str) -> tuple[str, str]:
    """Return a rule on the rows of one table: those for which `where` holds break it."""
    return check, f"SELECT '{what} ' || {told} FROM {table} WHERE {where}"


def _documents(check: str, where: str, told: str) -> tuple[str, str]:
    return _rule(check, "document", "document d", where, f"d.doc_id || ' {told}'")


def _stories(check: str, where: str, told: str) -> tuple[str, str]:
    return _rule(check, "story", "story s", where, f"s.story_id || ' {told}'")


def _lines(where: str, told: str) -> tuple[str, str]:
    return _rule("lineage", "line", "lineage e", where, f"e.seq || ' of the lineage {told}'")


_BATCHES = (
    (
        "batch",
        "SELECT 'batch ' || b.batch_id || ' has ' || COUNT(d.doc_id) || ' documents instead of ' || b.n_documents"
        " FROM batch b LEFT JOIN document d USING (batch_id) GROUP BY b.batch_id"
        " HAVING COUNT(d.doc_id) <> b.n_documents",
    ),
    (
        "batch",
        "SELECT 'batch ' || batch_id || ' does not follow the one before' FROM (SELECT batch_id, moment,"
        " LAG(batch_id, 1, 0) OVER (ORDER BY batch_id) AS former FROM batch) WHERE batch_id <> former + 1",
    ),
    (
        "batch",
        "SELECT 'batch ' || batch_id || ' has a clock that its moments do not give' FROM (SELECT batch_id, moment,"
        " clock, LAG(clock, 1, clock) OVER (ORDER BY batch_id) AS former FROM batch) own WHERE clock <> moment AND"
        " (clock < former OR NOT EXISTS (SELECT 1 FROM batch b WHERE b.moment = own.clock"
        " AND b.batch_id < own.batch_id))",
    ),
    _rule(
        "batch",
        "batch",
        "batch",
        f"moment NOT {_MOMENTS} OR clock NOT {_MOMENTS} OR kind NOT IN ('poll', 'replay', 'edit')",
        "batch_id || ' has no moment, or no kind, that can be'",
    ),
)
_FEEDS = (
    _rule(
        "feed",
        "feed",
        "feed",
        f"next_poll_at NOT {_MOMENTS} OR last_ok_at NOT {_MOMENTS} OR last_full_at NOT {_MOMENTS}"
        f" OR last_asked_at NOT {_MOMENTS} OR interval_s NOT BETWEEN 1 AND 864000"
        " OR failures NOT BETWEEN 0 AND 1000000 OR redirect_seen NOT BETWEEN 0 AND 1000",
        "feed_id || ' has a number that cannot be'",
    ),
    _rule(
        "feed",
        "request",
        "fetch",
        f"at NOT {_MOMENTS} OR status NOT BETWEEN 0 AND 999 OR n_bytes < 0 OR n_entries < 0"
        " OR n_new NOT BETWEEN 0 AND n_entries",
        "fetch_id || ' has a number that cannot be'",
    ),
)
_DOCUMENTS = (
    _documents(
        "placed",
        "(d.batch_id IS NULL) + (d.number IS NULL) + (d.family IS NULL) + (d.first_story IS NULL) NOT IN (0, 4)",
        "is half placed",
    ),
    _documents(
        "placed",
        "d.batch_id IS NOT NULL AND NOT EXISTS"
        " (SELECT 1 FROM membership m WHERE m.doc_id = d.doc_id AND m.to_batch IS NULL)",
        "was placed and is in no story",
    ),
    _documents(
        "first-story",
        "d.batch_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM lineage e WHERE e.doc_id = d.doc_id"
        " AND e.event IN ('born', 'grew') AND e.story_id = d.first_story AND e.batch_id = d.batch_id)",
        "was placed in another story than its first",
    ),
    _documents("sighting", "NOT EXISTS (SELECT 1 FROM sighting s WHERE s.doc_id = d.doc_id)", "was never met"),
    _documents(
        "family",
        "d.family > d.number OR (d.family IS NOT NULL AND NOT EXISTS"
        " (SELECT 1 FROM document f WHERE f.number = d.family AND f.family = f.number))",
        "is of a family that there is not",
    ),
    _documents(
        "document",
        f"d.published NOT {_MOMENTS} OR d.first_seen NOT {_MOMENTS} OR d.similarity NOT {_SHARE}"
        " OR d.is_edited NOT IN (0, MIN(1, d.n_versions - 1))",
        "has a number that cannot be",
    ),
    _documents(
        "document",
        "(SELECT COUNT(*) FROM document_version v WHERE v.doc_id = d.doc_id AND v.version < d.n_versions)"
        " NOT IN (d.n_versions - 1, IIF(d.number IS NULL, d.n_versions - 1, 0))",  # of old ones they are deleted
        "has not the versions that it should have",
    ),
    _documents("words", "(d.words IS NULL) <> (d.links IS NULL)", "has words without links, or links without words"),
)
_STORIES = (
    _stories(
        "story",
        f"s.first > s.last OR s.first NOT BETWEEN {_FIRST_MOMENT} AND {_LAST_MOMENT} OR s.last > {_LAST_MOMENT}"
        f" OR s.born NOT BETWEEN {_FIRST_MOMENT} AND {_LAST_MOMENT}"
        f" OR s.changed NOT BETWEEN 0 AND {_LAST_MOMENT}"
        f" OR s.touched NOT BETWEEN {_FIRST_MOMENT} AND {_LAST_MOMENT}",
        "has a moment that cannot be",
    ),
    _stories(
        "story",
        "(s.state <> 'merged' AND s.n_families NOT BETWEEN 1 AND s.n_documents) OR s.led_at < 0"
        " OR s.state NOT IN ('open', 'closed', 'merged')",
        "has a number or a state that cannot be",
    ),
    _stories(
        "story", "NOT EXISTS (SELECT 1 FROM document d WHERE d.doc_key = s.founder)", "was founded by no document"
    ),
    _stories(
        "story",
        "s.language = '' AND s.story_id IN (SELECT first_story FROM document WHERE language <> '')",
        "has no language, and an article that came to it has one",
    ),
    _stories(
        "story",
        "s.parent <> '' AND NOT EXISTS (SELECT 1 FROM lineage e WHERE (e.event = 'resumed' AND e.story_id = s.story_id"
        " AND e.other_id = s.parent) OR (e.event = 'split' AND e.story_id = s.parent AND e.other_id = s.story_id))",
        "has a parent that its lineage does not know",
    ),
    _stories(
        "lead",
        "(s.state <> 'merged' OR s.lead <> 0) AND NOT EXISTS (SELECT 1 FROM document d WHERE d.number = s.lead"
        " AND d.doc_id = (SELECT l.doc_id FROM story_lead l WHERE l.story_id = s.story_id"
        " ORDER BY l.from_batch DESC LIMIT 1))",
        "is not named by the article that is said to",
    ),
    (
        "lead",
        "SELECT 'story ' || m.story_id || ' has no name in batch ' || MIN(m.from_batch) FROM membership m"
        " WHERE NOT EXISTS (SELECT 1 FROM story_lead l WHERE l.story_id = m.story_id AND l.from_batch <= m.from_batch)"
        " GROUP BY m.story_id",
    ),
    (
        "lead",
        "SELECT 'story ' || l.story_id || ' is named by an article that was not in it in batch ' || l.from_batch"
        " FROM story_lead l WHERE NOT EXISTS (SELECT 1 FROM membership m WHERE m.doc_id = l.doc_id"
        " AND m.story_id = l.story_id AND m.from_batch <= l.from_batch"
        " AND (m.to_batch IS NULL OR m.to_batch > l.from_batch))",
    ),
    (
        "lineage",
        "SELECT 'story ' || s.story_id || ' is ' || s.state || ', by its lineage it is not' FROM story s"
        " WHERE (s.state <> 'merged' AND (s.state = 'closed') <> (SELECT COUNT(*) FROM lineage e"
        " WHERE e.event = 'closed' AND e.story_id = s.story_id)) OR (s.state <> 'merged') <>"
        " (SELECT COALESCE(SUM(CASE WHEN e.event = 'merged' THEN -1 ELSE 1 END), 0) FROM lineage e"
        " WHERE (e.event = 'born' AND e.story_id = s.story_id)"
        " OR (e.event IN ('split', 'merged') AND e.other_id = s.story_id))",
    ),
    _rule(
        "correction",
        "correction",
        "correction c",
        "c.verb NOT IN ('merge', 'split', 'move', 'rename', 'pin', 'mute') OR c.undone <= c.batch_id OR NOT"
        " (json_valid(c.documents) AND json_valid(c.together) AND json_valid(c.apart)) OR EXISTS (SELECT 1 FROM"
        " (SELECT value FROM json_each(c.documents) UNION SELECT value FROM json_each(c.together) UNION"
        " SELECT value FROM json_each(c.apart)) WHERE value NOT IN (SELECT doc_id FROM document WHERE number > 0))",
        "c.batch_id || ' is none, or names documents that there are not'",
    ),
)
_LINEAGE = (
    _lines(
        "e.event NOT IN ('born', 'grew', 'merged', 'split', 'moved', 'closed', 'resumed', 'renamed', 'pinned')"
        " OR (e.event IN ('born', 'grew', 'moved')) <> (e.doc_id IS NOT NULL)",
        "is about nothing that happens",
    ),
    _lines(
        f"e.moment NOT BETWEEN {_FIRST_MOMENT} AND {_LAST_MOMENT} OR e.similarity NOT {_SHARE} OR e.n_documents < 1"
        " OR (e.doc_id IS NOT NULL AND e.n_documents <> 1)",
        "has a number that cannot be",
    ),
    _lines(
        "(e.event NOT IN ('merged', 'split', 'moved', 'resumed')) <> (e.other_id = '') OR (e.other_id <> ''"
        " AND NOT EXISTS (SELECT 1 FROM story s WHERE s.story_id = e.other_id))",
        "names another story that there is not",
    ),
    _lines(
        "(e.event = 'resumed' AND NOT EXISTS"
        " (SELECT 1 FROM story s WHERE s.story_id = e.story_id AND s.parent = e.other_id))"
        " OR (e.event = 'split' AND NOT EXISTS (SELECT 1 FROM story s WHERE s.story_id = e.other_id"
        " AND s.parent = e.story_id) AND NOT EXISTS (SELECT 1 FROM lineage was WHERE was.event = 'merged'"
        " AND was.other_id = e.other_id))",  # one that has ended can be split off again, from another story
        "names another parent",
    ),
)

RULES: tuple[tuple[str, str], ...] = (*_BATCHES, *_FEEDS, *_DOCUMENTS, *_STORIES, *_LINEAGE)
