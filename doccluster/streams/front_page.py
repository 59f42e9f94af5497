"""What the front page of a store says: which stories lead, what is new, what has ended."""

from __future__ import annotations

import math
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime

from doccluster.errors import InputError
from doccluster.report.excerpts import marked_excerpt
from doccluster.report.front_page import ArticleLine, ClosedLine, FrontPage, StoryLine
from doccluster.report.wording import moment_words, one_line, safe_link, span_words
from doccluster.streams.article import Moment, as_moment, as_text
from doccluster.streams.lineage_graph import HEADLINE, kin_of, lineage_graph
from doccluster.streams.settings import DAY, HOUR, StreamSettings
from doccluster.streams.shared_terms import shared_terms
from doccluster.streams.store import settings_of

MOST_STORIES = 100
MOST_CLOSED = 100
MOST_OTHERS = 5
MOST_OUTLETS = 5
N_BINS = 48
N_EXCERPTS = 2  # other articles of a story with one, besides the lead

_MEMBERS = """
SELECT m.story_id, d.doc_id, d.published, d.family, d.source, d.title, SUBSTR(d.text, 1, 800), d.link, d.batch_id
FROM membership m JOIN document d USING (doc_id) JOIN story s USING (story_id)
WHERE m.to_batch IS NULL AND s.state = 'open' ORDER BY d.number
"""
_CLOSED = """
SELECT s.story_id, s.first, s.last, s.n_documents, COUNT(DISTINCT NULLIF(d.source, '')), l.title,
    SUBSTR(l.text, 1, 400), l.link
FROM story s JOIN membership m ON m.story_id = s.story_id AND m.to_batch IS NULL JOIN document d USING (doc_id)
LEFT JOIN document l ON l.number = s.lead
WHERE s.state = 'closed' GROUP BY s.story_id ORDER BY s.last DESC, s.story_id LIMIT ?
"""
_MEANINGS = {
    "new": "The story began since then",
    "grew": "Articles that have come in since then",
    "merged": "Another story has become part of it since then",
    "split": "A part of it has become a story of its own since then",
    "resumed": "It goes on where an ended story stopped",
}


@dataclass(frozen=True)
class _Article:
    doc_id: int
    time: Moment
    family: int
    source: str
    title: str
    text: str
    link: str
    batch: int


def front_page(connection: sqlite3.Connection, *, since: str | Moment | None = None) -> FrontPage:
    """Return what the front page says.

    Parameters
    ----------
    connection : sqlite3.Connection
        An open store.
    since : str or int, optional
        A moment, or the number of a batch: what has happened after it is new. Left out, a day before the last batch.

    Raises
    ------
    InputError
        If `since` is neither.
    """
    last = connection.execute("SELECT batch_id, moment FROM batch ORDER BY batch_id DESC LIMIT 1").fetchone()
    if last is None:
        return FrontPage("nothing has come in yet", "the beginning", (), (), 0, "", (), 0, _troubles(connection))
    now = int(last[1])
    since_batch, since_moment = _since(connection, since, now)
    settings = settings_of(connection) or StreamSettings()
    members: dict[str, list[_Article]] = defaultdict(list)
    for story, *values in connection.execute(_MEMBERS):
        members[story].append(_Article(*values))
    ranks = {story: _rank(articles, now, settings.half_life) for story, articles in members.items()}
    ordered = sorted(members, key=lambda story: (-ranks[story], story))
    shown = ordered[:MOST_STORIES]
    first = min((article.time for story in shown for article in members[story]), default=now)
    first = max(first, now - 14 * DAY)
    events = _events_after(connection, since_batch)
    leads = dict(connection.execute("SELECT s.story_id, d.doc_id FROM story s JOIN document d ON d.number = s.lead"))
    names = {story: _name(_lead(members[story], leads.get(story))) for story in shown}
    stories = tuple(
        _story(
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
        moment=_told(now),
        since=_told(since_moment),
        facts=facts,
        stories=stories,
        n_more=len(ordered) - len(shown),
        bins_told=f"A small chart shows articles from {_told(first)} to {_told(now)}." if stories else "",
        closed=tuple(_closed(row) for row in closed),
        n_more_closed=n_closed - len(closed),
        troubles=_troubles(connection),
        lineage=lineage_graph(connection, shown, (first, now)),
    )


def _since(connection: sqlite3.Connection, since: str | Moment | None, now: Moment) -> tuple[int, Moment]:
    """Return the last batch that is not new, and its moment (the moment given, if one is)."""
    if isinstance(since, str) and since.isdecimal() and len(since) != 4:
        row = connection.execute("SELECT batch_id, moment FROM batch WHERE batch_id = ?", (int(since),)).fetchone()
        if row is None:
            raise InputError(f"since={since!r} is not a batch of the store; give a moment or another number.")
        return int(row[0]), int(row[1])
    moment = now - DAY if since is None else since if isinstance(since, int) else as_moment(since)
    if moment is None:
        raise InputError(f"since={since!r} is neither a moment nor a batch; give for instance 2026-03-02T08:00:00Z.")
    row = connection.execute("SELECT MAX(batch_id) FROM batch WHERE moment <= ?", (moment,)).fetchone()
    return int(row[0] or 0), moment


def _rank(articles: Sequence[_Article], now: Moment, half_life: float) -> float:
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


def _story(
    connection: sqlite3.Connection,
    story: str,
    articles: Sequence[_Article],
    lead_id: int | None,
    events: Counter[str],
    names: Mapping[str, str],
    period: tuple[Moment, Moment],
    since: int,
    settings: StreamSettings,
) -> StoryLine:
    lead = _lead(articles, lead_id)
    others = sorted((one for one in articles if one is not lead), key=lambda one: (-one.time, one.doc_id))
    told = shared_terms(connection, story, [one.family for one in (lead, *others[:N_EXCERPTS])], settings)
    outlets = Counter(one_line(one.source, 60) for one in articles if one.source)
    n_new = sum(one.batch > since for one in articles)
    grown = ["new"] if events["born"] else [f"+{n_new}"] if n_new else []
    words = grown + [event for event in ("merged", "split", "resumed") if events[event]]
    times = [one.time for one in articles]
    return StoryLine(
        id=story,
        headline=_name(lead),
        badges=tuple((word, _MEANINGS["grew" if word.startswith("+") else word]) for word in words),
        n_documents=len(articles),
        n_copies=len(articles) - len({one.family for one in articles}),
        n_new=n_new,
        outlets=tuple(sorted(outlets.items(), key=lambda pair: (-pair[1], pair[0]))[:MOST_OUTLETS]),
        n_outlets=len(outlets),
        span=span_words(_day(min(times)), _day(max(times))),
        bins=_bins(times, period),
        lead=_line(lead, told.get(lead.family)),
        others=tuple(
            _line(one, told.get(one.family) if place < N_EXCERPTS else None)
            for place, one in enumerate(others[:MOST_OTHERS])
        ),
        kin=kin_of(connection, story, names),
    )


def _bins(times: Sequence[Moment], period: tuple[Moment, Moment]) -> tuple[int, ...]:
    """Return how many articles fall into each part of the period: of an hour at least."""
    first, last = period
    length = max(HOUR, -(-(last - first + 1) // N_BINS))
    n_bins = (last - first) // length + 1
    counts = Counter(min((time - first) // length, n_bins - 1) for time in times if time >= first)
    return tuple(counts[place] for place in range(n_bins)) if n_bins > 1 else ()


def _lead(articles: Sequence[_Article], lead: int | None) -> _Article:
    return next((one for one in articles if one.doc_id == lead), articles[0])


def _name(article: _Article) -> str:
    return one_line(article.title or article.text, HEADLINE) or f"document {article.doc_id}"


def _line(article: _Article, terms: Mapping[str, float] | None) -> ArticleLine:
    """Return an article as a line, with the sentence of its text that has most of some terms."""
    return ArticleLine(
        name=_name(article),
        link=safe_link(article.link),
        source=one_line(article.source, 60),
        date=_told(article.time),
        date_iso=as_text(article.time),
        excerpt=marked_excerpt(article.text, terms) if terms and article.title else (),
    )


def _closed(row: Sequence[object]) -> ClosedLine:
    story, first, last, n_documents, n_outlets, title, text, link = row
    return ClosedLine(
        id=str(story),
        headline=one_line(str(title or text or story), HEADLINE),
        link=safe_link(str(link or "")),
        n_documents=int(str(n_documents)),
        n_outlets=int(str(n_outlets)),
        span=span_words(_day(int(str(first))), _day(int(str(last)))),
    )


def _troubles(connection: sqlite3.Connection) -> tuple[tuple[str, str], ...]:
    rows = connection.execute("SELECT url, state, reason FROM feed WHERE state <> 'active' ORDER BY url LIMIT 20")
    return tuple((one_line(url, 200), one_line(f"{state}, {reason}", 200)) for url, state, reason in rows)


def _day(moment: Moment) -> date:
    return datetime.fromtimestamp(moment, UTC).date()


def _told(moment: Moment) -> str:
    return moment_words(datetime.fromtimestamp(moment, UTC))
