"""The front page of a stream: plain data -> one self-contained page that can be read without its script."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from doccluster.report.page import as_json, page_part, rendered
from doccluster.report.wording import Pieces


@dataclass(frozen=True)
class ArticleLine:
    """One article as a line; `link` is None unless it leads to a web page.

    `excerpt` is a sentence in pieces; those that are terms which the article shares with its story are marked.
    `copies` are other outlets with the same text.
    """

    name: str
    link: str | None
    source: str
    date: str
    date_iso: str
    excerpt: Pieces = ()
    copies: tuple[str, ...] = ()


@dataclass(frozen=True)
class Span:
    """Days from a first to a last moment: in words of universal time, and the moments, for the reader's own."""

    words: str
    first: str
    last: str


@dataclass(frozen=True)
class StoryLine:
    """One story as the page shows it, and its pieces with it: counts, outlets, span and bins are of all of them.

    Attributes
    ----------
    lang : str
        The code of its language, "" where that is not known.
    badges : tuple of (word, meaning)
        What has happened to it since the moment the page looks back to.
    outlets : tuple of (name, number of articles)
    bins : tuple of int
        Articles by equal parts of the time that the page shows.
    others : tuple of ArticleLine
        The newest other articles, which a card shows.
    articles : tuple of ArticleLine
        What it opens to: its own articles, the newest first; `n_unlisted` are left out.
    pieces : tuple of StoryLine
        Other stories that are so much alike that they are shown under this one.
    """

    id: str
    headline: str
    lang: str
    badges: tuple[tuple[str, str], ...]
    n_documents: int
    n_copies: int
    outlets: tuple[tuple[str, int], ...]
    n_outlets: int
    span: Span
    bins: tuple[int, ...]
    lead: ArticleLine
    other_articles: tuple[ArticleLine, ...]
    articles: tuple[ArticleLine, ...]
    n_unlisted: int
    pieces: tuple[StoryLine, ...]
    newest: str


@dataclass(frozen=True)
class FrontPage:
    """The data of the front page.

    Attributes
    ----------
    moment, since : str
        Of the last batch, and the moment that "new" is counted from.
    moment_iso : str
    name : str
        Of the store, under which the browser keeps when the page was read last.
    facts : tuple of (name, number)
    n_open : int
        How many stories are open, each piece of one counted.
    cards, lines : tuple of StoryLine
        The first of the open ones, by rank, and those that follow.
    singles, columns : tuple of StoryLine
        Articles that are alone, and columns that come again and again under one title; both are folded.
    unlisted : mapping
        The open stories that show only in a search, as plain data for JSON, and `n_unlisted` of them.
    period : (Span, Span)
        The first and the last day of the small charts.
    ended_stories : tuple of StoryLine
        The stories that ended last, of `n_ended`.
    troubles : tuple of (feed, reason, what to do)
    outlets, languages : tuple of str
        What can be chosen from.
    """

    moment: str
    since: str
    moment_iso: str = ""
    since_iso: str = ""
    name: str = ""
    n_open: int = 0
    facts: tuple[tuple[str, int], ...] = ()
    cards: tuple[StoryLine, ...] = ()
    lines: tuple[StoryLine, ...] = ()
    singles: tuple[StoryLine, ...] = ()
    columns: tuple[StoryLine, ...] = ()
    unlisted: Mapping[str, Any] = field(default_factory=dict)
    n_unlisted: int = 0
    period: tuple[Span, ...] = ()
    ended_stories: tuple[StoryLine, ...] = ()
    n_ended: int = 0
    troubles: tuple[tuple[str, str, str], ...] = ()
    outlets: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()


def render_front_page(page: FrontPage) -> str:
    """Return the page as HTML."""
    return rendered(
        "front_page.html", page=page, rest=as_json(page.unlisted), script=page_part("scripts/front_page.js")
    )
