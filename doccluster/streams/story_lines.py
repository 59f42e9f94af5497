"""Stories and articles as the lines of a front page."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime

from doccluster.report.stream_page import ArticleLine, ClosedLine, StoryLine
from doccluster.report.wording import marked_excerpt, moment_words, one_line, safe_link, span_words
from doccluster.streams.article import Moment, as_text
from doccluster.streams.lineage_graph import HEADLINE, kin_of
from doccluster.streams.settings import HOUR, StreamSettings
from doccluster.streams.shared_terms import shared_terms

MOST_OTHERS = 5
MOST_OUTLETS = 5
N_BINS = 48
N_EXCERPTS = 2  # other articles of a story with one, besides the lead

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


def story_line(
    connection: sqlite3.Connection,
    story: str,
    articles: Sequence[StoryArticle],
    lead_id: int | None,
    events: Counter[str],
    names: Mapping[str, str],
    period: tuple[Moment, Moment],
    since: int,
    settings: StreamSettings,
) -> StoryLine:
    """Return an open story as a line of the page.

    Parameters
    ----------
    story : str
        Its id.
    articles : sequence of StoryArticle
    lead_id : int or None
        The document that names it.
    events : Counter
        What has happened to it since then.
    names : mapping of story to headline
    period : (first, last)
        What its small chart shows.
    since : int
        The last batch that is not new.
    """
    lead = lead_of(articles, lead_id)
    others = sorted((one for one in articles if one is not lead), key=lambda one: (-one.time, one.doc_id))
    told = shared_terms(connection, story, [one.family for one in (lead, *others[:N_EXCERPTS])], settings)
    outlets = Counter(one_line(one.source, 60) for one in articles if one.source)
    n_new = sum(one.batch > since for one in articles)
    grown = ["new"] if events["born"] else [f"+{n_new}"] if n_new else []
    words = grown + [event for event in ("merged", "split", "resumed") if events[event]]
    times = [one.time for one in articles]
    return StoryLine(
        id=story,
        headline=names[story],
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


def lead_of(articles: Sequence[StoryArticle], lead: int | None) -> StoryArticle:
    """Return the article that names a story."""
    return next((one for one in articles if one.doc_id == lead), articles[0])


def headline_of(article: StoryArticle) -> str:
    """Return the name of an article on the page."""
    return one_line(article.title or article.text, HEADLINE) or f"document {article.doc_id}"


def _line(article: StoryArticle, terms: Mapping[str, float] | None) -> ArticleLine:
    """Return an article as a line, with the sentence of its text that has most of some terms."""
    return ArticleLine(
        name=headline_of(article),
        link=safe_link(article.link),
        source=one_line(article.source, 60),
        date=moment_told(article.time),
        date_iso=as_text(article.time),
        excerpt=marked_excerpt(article.text, terms) if terms and article.title else (),
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


def _day(moment: Moment) -> date:
    return datetime.fromtimestamp(moment, UTC).date()


def moment_told(moment: Moment) -> str:
    """Return a moment in words."""
    return moment_words(datetime.fromtimestamp(moment, UTC))
