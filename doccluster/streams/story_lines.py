"""Stories and articles as the lines of a front page."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime

from doccluster.report.stream_page import ArticleLine, ClosedLine, StoryLine
from doccluster.report.wording import date_words, marked_excerpt, moment_words, one_line, safe_link, span_words
from doccluster.streams.article import Moment, as_text
from doccluster.streams.settings import HOUR, StreamSettings
from doccluster.streams.shared_terms import shared_terms
from doccluster.text.stopwords import STOP_WORD_LANGUAGES

HEADLINE = 220
MOST_OTHERS = 3
MOST_SEARCHED = 400  # characters of other titles in which the search box looks
N_BINS = 48
_KIN_WORDS = {"resumed": "Goes on from", "merged": "Has taken in", "split": "Was part of"}
_KIN = """
SELECT e.event, CASE WHEN e.story_id = ?1 THEN e.other_id ELSE e.story_id END, d.title, SUBSTR(plain(d.text), 1, 400)
FROM lineage e JOIN story s ON s.story_id = CASE WHEN e.story_id = ?1 THEN e.other_id ELSE e.story_id END
LEFT JOIN document d ON d.number = s.lead
WHERE (e.story_id = ?1 AND e.event IN ('resumed', 'merged')) OR (e.other_id = ?1 AND e.event = 'split')
ORDER BY e.seq DESC LIMIT 3
"""

_MEANINGS = {
    "new": "The story began since then",
    "grew": "Articles that have come in since then",
    "merged": "Another story has become part of it since then",
    "split": "A part of it has become a story of its own since then",
    "resumed": "It goes on where an ended story stopped",
}


@dataclass(frozen=True)
class StoryArticle:
    """An article of an open story, with the beginning of its text."""

    doc_id: int
    time: Moment
    family: int
    source: str
    title: str
    text: str
    link: str
    batch: int


@dataclass(frozen=True)
class PageContext:
    """What the lines of a page have in common.

    Attributes
    ----------
    names : mapping of story to headline
        Of the stories of the page.
    related : mapping of story to ids
        The stories most like it.
    period : (first, last)
        What the small charts show.
    since : int
        The last batch that is not new.
    """

    connection: sqlite3.Connection
    names: Mapping[str, str]
    related: Mapping[str, Sequence[str]]
    period: tuple[Moment, Moment]
    since: int
    settings: StreamSettings

    def language_of(self, story: str) -> str:
        """Return the code of a story's language, "" where that is not known."""
        (name,) = self.connection.execute("SELECT language FROM story WHERE story_id = ?", (story,)).fetchone()
        return STOP_WORD_LANGUAGES.get(name, "")


def story_line(
    page: PageContext,
    story: str,
    articles: Sequence[StoryArticle],
    lead_id: int | None,
    events: Counter[str],
    *,
    is_card: bool,
) -> StoryLine:
    """Return an open story as a line or a card of the page.

    Parameters
    ----------
    story : str
        Its id.
    articles : sequence of StoryArticle
    lead_id : int or None
        The document that names it.
    events : Counter
        What has happened to it since then.
    """
    lead = lead_of(articles, lead_id)
    families = {one.family: one for one in reversed(articles)}  # the first article of each
    families[lead.family] = lead
    others = sorted((one for one in families.values() if one is not lead), key=lambda one: (-one.time, one.doc_id))
    shared = shared_terms(page.connection, story, [lead.family], page.settings) if is_card else {}
    outlets = Counter(one_line(one.source, 60) for one in articles if one.source)
    n_new = sum(one.batch > page.since for one in articles)
    grown = ["new"] if events["born"] else [f"+{n_new}"] if n_new else []
    words = grown + [event for event in ("merged", "split", "resumed") if events[event]]
    times = [one.time for one in articles]
    related = [other for other in page.related.get(story, ()) if other in page.names]
    headline = page.names[story]
    return StoryLine(
        id=story,
        headline=headline,
        lang=page.language_of(story),
        badges=tuple((word, _MEANINGS["grew" if word.startswith("+") else word]) for word in words),
        n_documents=len(articles),
        n_copies=len(articles) - len(families),
        n_new=n_new,
        outlets=tuple(sorted(outlets.items(), key=lambda pair: (-pair[1], pair[0]))),
        n_outlets=len(outlets),
        span=span_words(_day(min(times)), _day(max(times))),
        bins=_bins(times, page.period) if is_card else (),
        lead=replace(_line(lead, articles, shared.get(lead.family)), name=headline),
        others=tuple(_line(one, articles, None) for one in others[:MOST_OTHERS]) if is_card else (),
        kin=_kin_of(page, story) if is_card else (),
        related=tuple((other, page.names[other]) for other in related) if is_card else (),
        newest=as_text(max(times)),
        words=one_line(" ".join(one.title for one in others if one.title), MOST_SEARCHED),
    )


def _kin_of(page: PageContext, story: str) -> tuple[tuple[str, str, str], ...]:
    """Return the stories that one came from or took in: words, an id if it is on the page, a headline."""
    rows = page.connection.execute(_KIN, (story,)).fetchall()
    return tuple(
        (_KIN_WORDS[event], other if other in page.names else "", one_line(title or text or other, HEADLINE))
        for event, other, title, text in rows
    )


def _bins(times: Sequence[Moment], period: tuple[Moment, Moment]) -> tuple[int, ...]:
    """Return how many articles fall into each part of the period: of an hour at least."""
    first, last = period
    length = max(HOUR, -(-(last - first + 1) // N_BINS))
    n_bins = (last - first) // length + 1
    counts = Counter(min((time - first) // length, n_bins - 1) for time in times if time >= first)
    return tuple(counts[place] for place in range(n_bins)) if n_bins > 1 else ()


def lead_of(articles: Sequence[StoryArticle], lead: int | None) -> StoryArticle:
    """Return the article that names a story."""
    return next((one for one in articles if one.doc_id == lead), articles[0])


def headline_of(article: StoryArticle) -> str:
    """Return the name of an article on the page."""
    return one_line(article.title or article.text, HEADLINE) or f"document {article.doc_id}"


def _line(article: StoryArticle, articles: Sequence[StoryArticle], terms: Mapping[str, float] | None) -> ArticleLine:
    """Return an article as a line, with the sentence of its text that has most of some terms."""
    copies = {one_line(one.source, 60) for one in articles if one.family == article.family and one.source}
    return ArticleLine(
        name=headline_of(article),
        link=safe_link(article.link),
        source=one_line(article.source, 60),
        date=moment_told(article.time),
        date_iso=as_text(article.time),
        excerpt=marked_excerpt(article.text, terms) if terms and article.title else (),
        copies=tuple(sorted(copies - {one_line(article.source, 60)})),
    )


def closed_line(row: Sequence[object]) -> ClosedLine:
    """Return a story that has ended as a line of the page.

    A row is its id, first and last moment, documents, outlets, and the title, text and link of what names it.
    """
    story, first, last, n_documents, n_outlets, title, text, link = row
    return ClosedLine(
        id=str(story),
        headline=one_line(str(title or text or story), HEADLINE),
        link=safe_link(str(link or "")),
        n_documents=int(str(n_documents)),
        n_outlets=int(str(n_outlets)),
        span=span_words(_day(int(str(first))), _day(int(str(last)))),
    )


def day_told(moment: Moment) -> str:
    """Return the day of a moment in words."""
    return date_words(_day(moment))


def _day(moment: Moment) -> date:
    return datetime.fromtimestamp(moment, UTC).date()


def moment_told(moment: Moment) -> str:
    """Return a moment in words."""
    return moment_words(datetime.fromtimestamp(moment, UTC))
