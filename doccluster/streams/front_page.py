"""What the front page of a store says: which stories lead, what is new, what has ended."""

from __future__ import annotations

import math
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from doccluster.report.stream_page import FrontPage
from doccluster.report.wording import one_line
from doccluster.streams.article import Moment
from doccluster.streams.corrections import muting, names_at
from doccluster.streams.lineage_graph import lineage_graph
from doccluster.streams.settings import DAY, StreamSettings
from doccluster.streams.store import settings_of
from doccluster.streams.story_lines import StoryArticle, closed_line, headline_of, lead_of, moment_told, story_line
from doccluster.streams.tables import batch_since

MOST_STORIES = 100
MOST_CLOSED = 100

# CROSS JOIN keeps SQLite to the order written here: the few open stories first, of a store whose others are many
_MEMBERS = """
SELECT m.story_id, d.doc_id, d.published, d.family, d.source, d.title, SUBSTR(d.text, 1, 800), d.link, d.batch_id
FROM story s CROSS JOIN membership m ON m.story_id = s.story_id AND m.to_batch IS NULL
CROSS JOIN document d ON d.doc_id = m.doc_id
WHERE s.state = 'open' ORDER BY d.number
"""
_LEADS = "SELECT s.story_id, d.doc_id FROM story s JOIN document d ON d.number = s.lead WHERE s.state = 'open'"
_CLOSED = """
SELECT s.story_id, s.first, s.last, s.n_documents, COUNT(DISTINCT NULLIF(d.source, '')), l.title,
    SUBSTR(l.text, 1, 400), l.link
FROM (SELECT * FROM story WHERE state = 'closed' ORDER BY last DESC, story_id LIMIT ?) s
CROSS JOIN membership m ON m.story_id = s.story_id AND m.to_batch IS NULL CROSS JOIN document d ON d.doc_id = m.doc_id
LEFT JOIN document l ON l.number = s.lead
GROUP BY s.story_id ORDER BY s.last DESC, s.story_id
"""


def front_page(connection: sqlite3.Connection, *, since: str | Moment | None = None) -> FrontPage:
    """Return the contents of the front page.

    Raises InputError if `since` is neither.

    Parameters
    ----------
    connection : sqlite3.Connection
        An open store.
    since : str or int, optional
        A moment, or the number of a batch: what has happened after it is new. Left out, a day before the last batch.
    """
    last = connection.execute("SELECT batch_id, clock FROM batch ORDER BY batch_id DESC LIMIT 1").fetchone()
    if last is None:
        return FrontPage("nothing has come in yet", "the beginning", (), (), 0, "", (), 0, _troubles(connection))
    now = int(last[1])
    since_batch, since_moment = batch_since(connection, since, now)
    settings = settings_of(connection) or StreamSettings()
    members: dict[str, list[StoryArticle]] = defaultdict(list)
    is_muted = muting(connection)
    for story, *values in connection.execute(_MEMBERS):
        one = StoryArticle(*values)
        if not is_muted(one.title, one.source):
            members[story].append(one)
    pinned, renamed = names_at(connection, "pin"), names_at(connection, "rename")
    ranks = {story: _rank(articles, now, settings.half_life) for story, articles in members.items()}
    ordered = sorted(members, key=lambda story: (story not in pinned, -ranks[story], story))
    shown = ordered[:MOST_STORIES]
    first = min((article.time for story in shown for article in members[story]), default=now)
    first = max(first, now - 14 * DAY)
    events = _events_after(connection, since_batch)
    leads = dict(connection.execute(_LEADS))
    names = {story: renamed.get(story) or headline_of(lead_of(members[story], leads.get(story))) for story in shown}
    stories = tuple(
        story_line(
            connection,
            story,
            members[story],
            leads.get(story),
            events[story],
            names,
            (first, now),
            since_batch,
            settings,
        )
        for story in shown
    )
    closed = connection.execute(_CLOSED, (MOST_CLOSED,)).fetchall()
    (n_closed,) = connection.execute("SELECT COUNT(*) FROM story WHERE state = 'closed'").fetchone()
    articles = [article for own in members.values() for article in own]
    facts = (
        ("articles in open stories", len(articles)),
        ("new articles", sum(article.batch > since_batch for article in articles)),
        ("new stories", sum(events[story]["born"] > 0 for story in members)),
        ("outlets", len({article.source for article in articles if article.source})),
    )
    return FrontPage(
        moment=moment_told(now),
        since=moment_told(since_moment),
        facts=facts,
        stories=stories,
        n_more=len(ordered) - len(shown),
        bins_told=f"A small chart shows articles from {moment_told(first)} to {moment_told(now)}." if stories else "",
        closed=tuple(closed_line(row) for row in closed),
        n_more_closed=n_closed - len(closed),
        troubles=_troubles(connection),
        lineage=lineage_graph(connection, shown, (first, now)),
    )


def _rank(articles: Sequence[StoryArticle], now: Moment, half_life: float) -> float:
    """Return the decayed weight of the families times ln(1 + outlets); an outlet counts once."""
    newest: dict[int, Moment] = {}
    for article in articles:
        newest[article.family] = max(article.time, newest.get(article.family, article.time))
    weight = math.fsum(2.0 ** (-max(0, now - time) / half_life) for time in newest.values())
    return weight * math.log1p(max(1, len({article.source for article in articles if article.source})))


def _events_after(connection: sqlite3.Connection, batch: int) -> Mapping[str, Counter[str]]:
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for story, event, count in connection.execute(
        "SELECT story_id, event, SUM(n_documents) FROM lineage WHERE batch_id > ? GROUP BY 1, 2", (batch,)
    ):
        found[story][event] = count
    return found


def _troubles(connection: sqlite3.Connection) -> tuple[tuple[str, str], ...]:
    rows = connection.execute("SELECT url, state, reason FROM feed WHERE state <> 'active' ORDER BY url LIMIT 20")
    return tuple((one_line(url, 200), one_line(f"{state}, {reason}", 200)) for url, state, reason in rows)
