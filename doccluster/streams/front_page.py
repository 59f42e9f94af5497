"""What the front page of a store says: which stories lead, what is new, what has ended."""

from __future__ import annotations

import math
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Container, Mapping, Sequence
from pathlib import PurePath

from doccluster.report.stream_page import FrontPage, StoryLine
from doccluster.report.wording import one_line
from doccluster.streams.article import Moment, as_text
from doccluster.streams.corrections import muting, names_at, stories_apart
from doccluster.streams.settings import DAY, StreamSettings
from doccluster.streams.store import settings_of
from doccluster.streams.story_lines import (
    PageContext,
    StoryArticle,
    compact_stories,
    headline_of,
    lead_of,
    moment_told,
    span_of,
    story_line,
)
from doccluster.streams.story_pieces import pieces_of
from doccluster.streams.tables import batch_since
from doccluster.streams.title_columns import is_column

N_CARDS = 10
MOST_STORIES = 200
MOST_ENDED = 30

# CROSS JOIN keeps SQLite to the order written here: the few open stories first, of a store whose others are many
_MEMBERS = """
SELECT m.story_id, d.doc_id, d.published, d.family, d.source, d.title, SUBSTR(plain(d.text), 1, 800), d.link,
    d.batch_id, s.language, d.number = s.lead
FROM story s CROSS JOIN membership m ON m.story_id = s.story_id AND m.to_batch IS NULL
CROSS JOIN document d ON d.doc_id = m.doc_id
WHERE {} ORDER BY d.number
"""
_OPEN = "s.state = 'open'"
_ENDED = f"""s.story_id IN (SELECT story_id FROM story WHERE state = 'closed' AND n_documents > 1
    ORDER BY last DESC, story_id LIMIT {MOST_ENDED})"""
_ADVICE = {
    "failing": "It is polled less and less often; check whether its address has changed.",
    "gone": "Take it off the list, or give its new address.",
}


def front_page(connection: sqlite3.Connection, *, since: str | Moment | None = None, name: str = "") -> FrontPage:
    """Return the contents of the front page.

    Raises InputError if `since` is neither.

    Parameters
    ----------
    connection : sqlite3.Connection
        An open store.
    since : str or int, optional
        A moment, or the number of a batch: what has happened after it is new. Left out, a day before the last batch.
    name : str
        The path of the store, by which a browser tells its pages from those of others.
    """
    last = connection.execute("SELECT batch_id, clock FROM batch ORDER BY batch_id DESC LIMIT 1").fetchone()
    if last is None:
        return FrontPage("nothing has come in yet", "the beginning", troubles=_troubles(connection))
    now = int(last[1])
    since_batch, since_moment = batch_since(connection, since, now)
    members, settings = _members(connection, _OPEN), settings_of(connection) or StreamSettings()
    pinned, renamed = names_at(connection, "pin"), names_at(connection, "rename")
    ranked = _ordered(members, pinned, now, settings.half_life)
    spans = {story: (min(one.time for one in own), max(one.time for one in own)) for story, own in members.items()}
    n_pinned = sum(story in pinned for story in ranked)
    pieces = pieces_of(connection, ranked, spans, n_first=n_pinned, apart=stories_apart(connection))
    together = {story: [one for name in (story, *own) for one in members[name]] for story, own in pieces.items()}
    ordered = _ordered(together, pinned, now, settings.half_life)
    ended = _members(connection, _ENDED)
    shown, rest = ordered[:MOST_STORIES], ordered[MOST_STORIES:]
    first = max(min((one.time for story in shown for one in together[story]), default=now), now - 14 * DAY)
    page = PageContext(
        connection,
        members | ended,
        {story: renamed.get(story) or headline_of(lead_of(own)) for story, own in (members | ended).items()},
        pieces,
        _events_after(connection, since_batch),
        (first, now),
        since_batch,
        settings,
    )
    columns = [story for story in shown if story not in pinned and is_column(connection, together[story])]
    singles = [one for one in shown if len(together[one]) == 1 and one not in pinned and one not in columns]
    many = [one for one in shown if one not in singles and one not in columns]
    articles = [article for own in members.values() for article in own]
    (n_ended,) = connection.execute("SELECT COUNT(*) FROM story WHERE state = 'closed' AND n_documents > 1").fetchone()

    def lines(stories: Sequence[str], *, are_cards: bool = False) -> tuple[StoryLine, ...]:
        return tuple(story_line(page, story, is_card=are_cards) for story in stories)

    return FrontPage(
        moment=moment_told(now),
        moment_iso=as_text(now),
        since=moment_told(since_moment),
        since_iso=as_text(since_moment),
        name=PurePath(name).name,
        n_open=len(members),
        facts=(
            ("articles in open stories", len(articles)),
            ("new articles", sum(article.batch > since_batch for article in articles)),
            ("new stories", sum(page.events[story]["born"] > 0 for story in members)),
            ("outlets", len({article.source for article in articles if article.source})),
        ),
        cards=lines(many[:N_CARDS], are_cards=True),
        lines=lines(many[N_CARDS:]),
        singles=lines(sorted(singles, key=lambda story: (-members[story][0].time, story))),
        columns=lines(columns),
        rest=compact_stories(page, rest),
        n_rest=sum(1 + len(pieces[story]) for story in rest),
        period=(span_of(first, first), span_of(now, now)),
        ended=lines(sorted(ended, key=lambda story: (-max(article.time for article in ended[story]), story))),
        n_ended=n_ended,
        troubles=_troubles(connection),
        outlets=tuple(sorted({one_line(one.source, 60) for one in articles if one.source})),
        languages=tuple(sorted({code for story in members if (code := page.language_of(story))})),
    )


def _ordered(
    articles: Mapping[str, Sequence[StoryArticle]], pinned: Container[str], now: Moment, half_life: float
) -> list[str]:
    """Return stories by rank, the pinned ones first."""
    ranks = {story: _rank(own, now, half_life) for story, own in articles.items()}
    return sorted(ranks, key=lambda story: (story not in pinned, -ranks[story], story))


def _members(connection: sqlite3.Connection, condition: str) -> dict[str, list[StoryArticle]]:
    """Return the articles, if they are not muted, of the stories that meet a condition."""
    members: dict[str, list[StoryArticle]] = defaultdict(list)
    is_muted = muting(connection)
    for story, *values in connection.execute(_MEMBERS.format(condition)):
        one = StoryArticle(*values)
        if not is_muted(one.title, one.source):
            members[story].append(one)
    return members


def _rank(articles: Sequence[StoryArticle], now: Moment, half_life: float) -> float:
    """Return the weight of the outlets, decayed from their newest article on, times ln(1 + outlets).

    An outlet that repeats itself is one voice; where no outlet is known, each text is.
    """
    newest: dict[str | int, Moment] = {}
    for one in articles:
        voice = one.source or one.family
        newest[voice] = max(one.time, newest.get(voice, one.time))
    return math.fsum(2.0 ** (-max(0, now - time) / half_life) for time in newest.values()) * math.log1p(len(newest))


def _events_after(connection: sqlite3.Connection, batch: int) -> Mapping[str, Counter[str]]:
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for story, event, count in connection.execute(
        "SELECT story_id, event, SUM(n_documents) FROM lineage WHERE batch_id > ? GROUP BY 1, 2", (batch,)
    ):
        found[story][event] = count
    return found


def _troubles(connection: sqlite3.Connection) -> tuple[tuple[str, str, str], ...]:
    rows = connection.execute(
        "SELECT title, url, state, reason FROM feed WHERE state <> 'active' ORDER BY 1, 2 LIMIT 20"
    )
    return tuple(
        (one_line(f"{title} ({url})" if title else url, 200), one_line(f"{state}, {reason}", 200), _ADVICE[state])
        for title, url, state, reason in rows
    )
