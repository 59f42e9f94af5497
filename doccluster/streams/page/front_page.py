"""What the front page of a store says: which stories lead, what is new, what has ended.

And the stories as a feed for readers: Atom (RFC 4287) or JSON Feed 1.1, an entry for each story.
"""

from __future__ import annotations

import json
import math
import re
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import PurePath
from typing import Any
from xml.etree import ElementTree

from doccluster.report.page import ArticleLine, FrontPage, Span, StoryLine
from doccluster.report.wording import counted, marked_excerpt, moment_words, one_line, safe_link, span_words
from doccluster.streams.article import Moment, as_text
from doccluster.streams.page._story_words import pieces_of, shared_terms
from doccluster.streams.settings import DAY, HOUR
from doccluster.streams.store.batches import last_batch, settings_of
from doccluster.streams.store.corrections import muting, names_at, stories_apart
from doccluster.streams.store.database import read_column
from doccluster.streams.store.tables import Row, StoryNames, batch_at, batch_since, has_words, records
from doccluster.text.language import STOP_WORD_LANGUAGES

HEADLINE = 220
MAX_OTHERS = 3
MAX_LISTED = 200  # articles to which a story opens
MAX_COMPACT = 20_000  # articles of the stories that are listed only when they are looked for
N_BINS = 48
MIN_TIMES = 3  # days on which a title has come back
WITHIN = 30 * DAY  # seconds
_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
_CHANGING = re.compile(rf"[\W\d_]+|\b(mon|tues|wednes|thurs|fri|satur|sun)day\b|\b({_MONTHS})\b")
_MEANINGS = {
    "new": "The story began since then",
    "grew": "Articles that have come in since then",
    "merged": "Another story has become part of it since then",
    "split": "A part of it has become a story of its own since then",
}
MAX_ENTRIES = 100  # of the feed
MAX_TITLES = 10  # of a story's newest documents in its entry
_ATOM = "http://www.w3.org/2005/Atom"
_UPDATED = """
SELECT story_id, MAX(b.moment) FROM lineage JOIN batch b USING (batch_id) WHERE event <> 'closed' GROUP BY story_id
"""


@dataclass(frozen=True)
class StoryArticle:
    """An article of a story, with the beginning of its text."""

    doc_id: int
    time: Moment
    family: int
    source: str
    title: str
    text: str
    link: str
    batch: int
    language: str
    outlet: str
    is_lead: bool

    @property
    def name(self) -> str:
        """What it is called on the page."""
        return one_line(self.title or self.text, HEADLINE) or f"document {self.doc_id}"

    @property
    def voice(self) -> str:
        """Its outlet, as the page shows it."""
        return one_line(self.source, 60)


@dataclass(frozen=True)
class PageContext:
    """What the lines of a page have in common."""

    connection: sqlite3.Connection
    members: Mapping[str, Sequence[StoryArticle]]  # the articles of each story
    names: StoryNames
    pieces: Mapping[str, Sequence[str]]  # for each story that leads, those that are shown under it
    # what has happened to each story since the batch `since`, the last that is not new
    events: Mapping[str, Counter[str]]
    period: tuple[Moment, Moment]  # the first and the last moment of the small charts
    since: int
    half_life: float

    def headline_of(self, story: str) -> str:
        """Return the name of a story on the page."""
        lead = lead_of(self.members[story])
        title = self.names.headline(lead.title, lead.outlet)
        return self.names.renamed.get(story) or replace(lead, title=title).name

    def language_of(self, story: str) -> str:
        """Return the code of a story's language, "" where that is not known."""
        return STOP_WORD_LANGUAGES.get(self.members[story][0].language, "")


def story_line(page: PageContext, story: str, *, is_card: bool = False) -> StoryLine:
    """Return an open story, with its pieces, as a line or a card of the page."""
    members, pieces = page.members[story], page.pieces.get(story, ())
    articles = [article for name in (story, *pieces) for article in page.members[name]]
    lead = lead_of(members)
    families = {article.family: article for article in reversed(members)}  # the first article of each
    families[lead.family] = lead
    others = _newest_first(article for article in families.values() if article is not lead)
    terms = shared_terms(page.connection, story, lead.family, page.half_life) if is_card else {}
    outlets = Counter(article.voice for article in articles if article.source)
    times = [article.time for article in articles]
    headline = page.headline_of(story)
    return StoryLine(
        id=story,
        headline=headline,
        lang=page.language_of(story),
        badges=_badges(page, (story, *pieces), sum(article.batch > page.since for article in articles)),
        n_documents=len(articles),
        n_copies=len(articles) - len({article.family for article in articles}),
        outlets=tuple(sorted(outlets.items(), key=lambda pair: (-pair[1], pair[0]))),
        n_outlets=len(outlets),
        span=span_of(min(times), max(times)),
        bins=_bins(times, page.period) if is_card else (),
        lead=replace(_line(lead, members, terms), name=headline),
        other_articles=tuple(_line(article, members) for article in others[:MAX_OTHERS]) if is_card else (),
        articles=tuple(_line(article) for article in _newest_first(members)[:MAX_LISTED]),
        n_unlisted=max(0, len(members) - MAX_LISTED),
        pieces=tuple(story_line(page, piece) for piece in pieces),
        newest=as_text(max(times)),
    )


def compact_stories(page: PageContext, stories: Sequence[str]) -> dict[str, Any]:
    """Return stories that the page lists only when they are looked for, with their pieces, as plain data for JSON.

    A story is its id, the code of its language, its headline, how many articles it has, and these, the one that names
    it first: title (empty where that is the headline), link, number of the outlet, and moment.
    """
    outlets: dict[str, int] = {}
    rows, n_listed = [], 0
    for story in stories:
        articles = [article for name in (story, *page.pieces[story]) for article in page.members[name]]
        lead, headline = lead_of(articles), page.headline_of(story)
        others = [article for article in _newest_first(articles) if article is not lead]
        listed = [lead, *(others[: MAX_LISTED - 1] if n_listed < MAX_COMPACT else ())]
        n_listed += len(listed)
        lines = [
            (
                "" if article.name == headline else article.name,
                safe_link(article.link) or "",
                outlets.setdefault(article.voice, len(outlets)),
                article.time,
            )
            for article in listed
        ]
        rows.append((story, page.language_of(story), headline, len(articles), lines))
    return {"outlets": list(outlets), "stories": rows}


def _newest_first(articles: Iterable[StoryArticle]) -> list[StoryArticle]:
    return sorted(articles, key=lambda article: (-article.time, article.doc_id))


def _badges(page: PageContext, stories: Sequence[str], n_new: int) -> tuple[tuple[str, str], ...]:
    """Return the words that say how a story and its pieces have changed since then, each with its meaning."""
    events = [page.events[story] for story in stories]
    growth = "new" if all(counts["born"] for counts in events) else f"+{n_new}" if n_new else ""
    badges = [(growth, _MEANINGS["new" if growth == "new" else "grew"])] if growth else []
    words = [word for word in ("merged", "split") if any(counts[word] for counts in events)]
    return (*badges, *((word, _MEANINGS[word]) for word in words))


def _bins(times: Sequence[Moment], period: tuple[Moment, Moment]) -> tuple[int, ...]:
    """Return how many articles fall into each part of the period: of an hour at least."""
    first, last = period
    length = max(HOUR, -(-(last - first + 1) // N_BINS))
    n_bins = (last - first) // length + 1
    counts = Counter(min((time - first) // length, n_bins - 1) for time in times if time >= first)
    return tuple(counts[place] for place in range(n_bins)) if n_bins > 1 else ()


def lead_of(articles: Sequence[StoryArticle]) -> StoryArticle:
    """Return the article that names a story: the first one's, where its pieces follow."""
    return next((article for article in articles if article.is_lead), articles[0])


def _line(
    article: StoryArticle, articles: Sequence[StoryArticle] = (), terms: Mapping[str, float] | None = None
) -> ArticleLine:
    """Return an article as a line, with the sentence of its text that has most of some terms."""
    copies = {copy.voice for copy in articles if copy.family == article.family and copy.source}
    return ArticleLine(
        name=article.name,
        link=safe_link(article.link),
        source=article.voice,
        date=moment_told(article.time),
        date_iso=as_text(article.time),
        excerpt=marked_excerpt(article.text, terms) if terms and article.title else (),
        copies=tuple(sorted(copies - {article.voice})),
    )


def title_pattern(title: str) -> str:
    """Return the words of the title of a column that stay the same: without numbers, days and months.

    >>> title_pattern("Morning briefing: Tuesday 3 March"), title_pattern("Quick crossword No 16,204")
    ('morning briefing', 'quick crossword no')
    """
    return " ".join(_CHANGING.sub(" ", title.casefold()).split())


def is_column(connection: sqlite3.Connection, articles: Sequence[StoryArticle]) -> bool:
    """Return whether all articles of a story are of one column, whose title its outlet has had on several days."""
    newest = max(articles, key=lambda article: article.time)
    pattern = title_pattern(newest.title)
    if not pattern or any(title_pattern(article.title) != pattern for article in articles):
        return False
    rows = connection.execute(
        "SELECT title, published FROM document WHERE source = ? AND published BETWEEN ? AND ? AND title LIKE ?",
        (newest.source, newest.time - WITHIN, newest.time, f"{newest.title[:1]}%"),
    )
    return len({published // DAY for title, published in rows if title_pattern(title) == pattern}) >= MIN_TIMES


def span_of(first: Moment, last: Moment) -> Span:
    """Return the days from a moment to another."""
    return Span(span_words(_day(first), _day(last)), as_text(first), as_text(last))


def _day(moment: Moment) -> date:
    return datetime.fromtimestamp(moment, UTC).date()


def moment_told(moment: Moment) -> str:
    """Return a moment in words."""
    return moment_words(datetime.fromtimestamp(moment, UTC))


_KINDS = ("story", "single", "column")
N_CARDS = 10
MAX_STORIES = 200
MAX_ENDED = 30

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
    ORDER BY last DESC, story_id LIMIT {MAX_ENDED})"""
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
    pieces = _pieces(connection, members, pinned, now, half_life)
    together = {lead: [article for story in (lead, *pieces[lead]) for article in members[story]] for lead in pieces}
    ordered = _ordered(together, pinned, now, half_life)
    shown, unlisted = ordered[:MAX_STORIES], ordered[MAX_STORIES:]
    kinds = {story: "story" if story in pinned else _kind_of(connection, together[story]) for story in shown}
    first = max(min((article.time for story in shown for article in together[story]), default=now), now - 14 * DAY)
    names, events = StoryNames(connection), _events_after(connection, since_batch)
    page = PageContext(connection, members | closed, names, pieces, events, (first, now), since_batch, half_life)
    articles = [article for group in members.values() for article in group]
    stories, singles, columns = ([story for story in shown if kinds[story] == kind] for kind in _KINDS)
    (n_ended,) = read_column(connection, "SELECT COUNT(*) FROM story WHERE state = 'closed' AND n_documents > 1")

    def lines(stories: Iterable[str], *, are_cards: bool = False) -> tuple[StoryLine, ...]:
        return tuple(story_line(page, story, is_card=are_cards) for story in stories)

    def latest_first(stories: Iterable[str]) -> list[str]:
        return sorted(stories, key=lambda story: (-max(article.time for article in page.members[story]), story))

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
        singles=lines(latest_first(singles)),
        columns=lines(columns),
        unlisted=compact_stories(page, unlisted),
        n_unlisted=sum(1 + len(pieces[story]) for story in unlisted),
        period=(span_of(first, first), span_of(now, now)),
        ended_stories=lines(latest_first(closed)),
        n_ended=n_ended,
        troubles=_troubles(connection),
        outlets=tuple(sorted({article.voice for article in articles if article.source})),
        languages=tuple(sorted({code for story in members if (code := page.language_of(story))})),
    )


def _kind_of(connection: sqlite3.Connection, articles: Sequence[StoryArticle]) -> str:
    """Return the kind under which a story is listed, one of `_KINDS`."""
    if is_column(connection, articles):
        return "column"
    return "single" if len(articles) == 1 else "story"


def _pieces(
    connection: sqlite3.Connection,
    members: Mapping[str, Sequence[StoryArticle]],
    pinned: Container[str],
    now: Moment,
    half_life: float,
) -> dict[str, list[str]]:
    """Return for each story that leads those that are shown under it; under those that are pinned is none."""
    ranked = _ordered(members, pinned, now, half_life)
    times = {story: [article.time for article in members[story]] for story in ranked}
    spans = {story: (min(times[story]), max(times[story])) for story in ranked}
    n_pinned = sum(story in pinned for story in ranked)
    return pieces_of(connection, ranked, spans, n_first=n_pinned, apart=stories_apart(connection))


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
    """Return the weight of the outlets, one voice each, decayed from their newest article on, times ln(1 + outlets)."""
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


def feed_of(connection: sqlite3.Connection, words: Sequence[str] = (), *, name: str, is_json: bool = False) -> str:
    """Return the stories that have grown last as a feed: one entry each, under the story's id, updated when it grows.

    Stories of several articles lead; single articles have the places that are left. `words`: only stories that have all
    of them in their name, or in the title of a document.
    """
    _, now = batch_at(connection, None)
    tables = records(connection)
    documents: dict[str, list[Row]] = defaultdict(list)
    for document in tables["documents"]:
        documents[document["story"]].append(document)
    updated = dict(connection.execute(_UPDATED))
    entries = [
        {**story, "updated": as_text(updated[story["id"]]), "articles": articles[::-1]}
        for story in tables["stories"]
        if (articles := documents[story["id"]])
        and has_words(words, story["label"], [article["title"] for article in articles])
    ]
    entries.sort(key=lambda entry: (entry["documents"] > 1, entry["updated"], entry["id"]), reverse=True)
    write = _json_feed if is_json else _atom
    return write([_entry(entry) for entry in entries[:MAX_ENTRIES]], name, as_text(now or 0))


def _entry(story: Row) -> dict[str, str]:
    extent = f"{counted(story['documents'], 'article')} from {counted(max(1, story['outlets']), 'outlet')}"
    articles = story["articles"]
    lines = [one_line(f"{article['title']} ({article['source']})", HEADLINE) for article in articles[:MAX_TITLES]]
    return {
        "id": f"urn:doccluster:story:{story['id']}",
        "title": one_line(story["label"] or story["id"], HEADLINE),
        "url": next((link for article in articles if (link := safe_link(article["link"]))), ""),
        "date_published": story["born"],
        "date_modified": story["updated"],
        "content_text": "\n".join([extent, *lines]),
    }


def _json_feed(entries: list[dict[str, str]], name: str, now: str) -> str:
    items = [{key: value for key, value in entry.items() if value} for entry in entries]
    feed = {"version": "https://jsonfeed.org/version/1.1", "title": name, "items": items}
    return json.dumps(feed, indent=1, ensure_ascii=False) + "\n"


def _atom(entries: list[dict[str, str]], name: str, now: str) -> str:
    feed = ElementTree.Element("feed", xmlns=_ATOM)
    for tag, text in (("id", f"urn:doccluster:stories:{name}"), ("title", name), ("updated", now)):
        ElementTree.SubElement(feed, tag).text = text
    ElementTree.SubElement(ElementTree.SubElement(feed, "author"), "name").text = "doccluster"
    tags = {"id": "id", "title": "title", "published": "date_published", "updated": "date_modified"}
    for entry in entries:
        element = ElementTree.SubElement(feed, "entry")
        for tag, key in {**tags, "content": "content_text"}.items():
            ElementTree.SubElement(element, tag).text = entry[key]
        if entry["url"]:
            ElementTree.SubElement(element, "link", href=entry["url"])
    ElementTree.indent(feed, " ")
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(feed, encoding="unicode") + "\n"
