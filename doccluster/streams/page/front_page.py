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
from doccluster.streams.page._story_lines import (
    PageContext,
    StoryArticle,
    compact_stories,
    is_column,
    moment_told,
    span_of,
    story_line,
)
from doccluster.streams.page._story_words import pieces_of
from doccluster.streams.settings import DAY
from doccluster.streams.store.batches import last_batch, settings_of
from doccluster.streams.store.corrections import muting, names_at, stories_apart
from doccluster.streams.store.database import read_column
from doccluster.streams.store.tables import StoryNames, batch_since

N_CARDS = 10
MOST_STORIES = 200
MOST_ENDED = 30

# CROSS JOIN keeps SQLite to the order written here: the few open stories first, of a store whose others are many
_MEMBERS = """
SELECT m.story_id, d.doc_id, d.published, d.family, d.source, d.title, SUBSTR(plain(d.text), 1, 800), d.link,
    d.batch_id, s.language, d.outlet, d.number = s.lead
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
    """Return the contents of the front page; what has happened after a moment or batch (or a day before now) is new.

    `name`: the path of the store, by which a browser tells its pages apart. Raises InputError if `since` is neither.
    """
    last, now = last_batch(connection)
    if not last:
        return FrontPage("nothing has come in yet", "the beginning", troubles=_troubles(connection))
    since_batch, since_moment = batch_since(connection, since, now)
    members, closed = _members(connection, _OPEN), _members(connection, _ENDED)
    pinned, half_life = names_at(connection, "pin"), settings_of(connection).half_life
    ranked = _ordered(members, pinned, now, half_life)
    times = {story: [article.time for article in articles] for story, articles in (members | closed).items()}
    spans = {story: (min(times[story]), max(times[story])) for story in ranked}
    n_pinned = sum(story in pinned for story in ranked)
    pieces = pieces_of(connection, ranked, spans, n_first=n_pinned, apart=stories_apart(connection))
    together = {lead: [article for story in (lead, *pieces[lead]) for article in members[story]] for lead in pieces}
    ordered = _ordered(together, pinned, now, half_life)
    shown, unlisted = ordered[:MOST_STORIES], ordered[MOST_STORIES:]
    first = max(min((article.time for story in shown for article in together[story]), default=now), now - 14 * DAY)
    names, events = StoryNames(connection), _events_after(connection, since_batch)
    page = PageContext(connection, members | closed, names, pieces, events, (first, now), since_batch, half_life)
    columns = [story for story in shown if story not in pinned and is_column(connection, together[story])]
    singles = [story for story in shown if len(together[story]) == 1 and story not in pinned and story not in columns]
    stories = [story for story in shown if story not in singles and story not in columns]
    articles = [article for group in members.values() for article in group]
    (n_ended,) = read_column(connection, "SELECT COUNT(*) FROM story WHERE state = 'closed' AND n_documents > 1")

    def lines(names: Sequence[str], *, are_cards: bool = False) -> tuple[StoryLine, ...]:
        return tuple(story_line(page, name, is_card=are_cards) for name in names)

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
            ("new stories", sum(events[story]["born"] > 0 for story in members)),
            ("outlets", len({article.source for article in articles if article.source})),
        ),
        cards=lines(stories[:N_CARDS], are_cards=True),
        lines=lines(stories[N_CARDS:]),
        singles=lines(sorted(singles, key=lambda story: (-times[story][0], story))),
        columns=lines(columns),
        unlisted=compact_stories(page, unlisted),
        n_unlisted=sum(1 + len(pieces[story]) for story in unlisted),
        period=(span_of(first, first), span_of(now, now)),
        ended_stories=lines(sorted(closed, key=lambda story: (-max(times[story]), story))),
        n_ended=n_ended,
        troubles=_troubles(connection),
        outlets=tuple(sorted({article.voice for article in articles if article.source})),
        languages=tuple(sorted({code for story in members if (code := page.language_of(story))})),
    )


def _ordered(
    articles: Mapping[str, Sequence[StoryArticle]], pinned: Container[str], now: Moment, half_life: float
) -> list[str]:
    """Return stories by rank, the pinned ones first."""
    ranks = {story: _rank(members, now, half_life) for story, members in articles.items()}
    return sorted(ranks, key=lambda story: (story not in pinned, -ranks[story], story))


def _members(connection: sqlite3.Connection, condition: str) -> dict[str, list[StoryArticle]]:
    """Return the articles, if they are not muted, of the stories that meet a condition."""
    members: dict[str, list[StoryArticle]] = defaultdict(list)
    is_muted = muting(connection)
    for story, *values in connection.execute(_MEMBERS.format(condition)):
        article = StoryArticle(*values)
        if not is_muted(article.title, article.source):
            members[story].append(article)
    return members


def _rank(articles: Sequence[StoryArticle], now: Moment, half_life: float) -> float:
    """Return the weight of the outlets, decayed from their newest article on, times ln(1 + outlets).

    An outlet that repeats itself is one voice; where no outlet is known, each text is.
    """
    newest: dict[str | int, Moment] = {}
    for article in articles:
        voice = article.source or article.family
        newest[voice] = max(article.time, newest.get(voice, article.time))
    return math.fsum(2.0 ** (-max(0, now - time) / half_life) for time in newest.values()) * math.log1p(len(newest))


def _events_after(connection: sqlite3.Connection, batch: int) -> Mapping[str, Counter[str]]:
    events: dict[str, Counter[str]] = defaultdict(Counter)
    for story, event, count in connection.execute(
        "SELECT story_id, event, SUM(n_documents) FROM lineage WHERE batch_id > ? GROUP BY 1, 2", (batch,)
    ):
        events[story][event] = count
    return events


def _troubles(connection: sqlite3.Connection) -> tuple[tuple[str, str, str], ...]:
    rows = connection.execute(
        "SELECT title, url, state, reason FROM feed WHERE state <> 'active' ORDER BY 1, 2 LIMIT 20"
    )
    return tuple(
        (one_line(f"{title} ({url})" if title else url, 200), one_line(f"{state}, {reason}", 200), _ADVICE[state])
        for title, url, state, reason in rows
    )
