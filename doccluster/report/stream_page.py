"""The front page of a stream: plain data -> one self-contained page that can be read without its script."""

from __future__ import annotations

from dataclasses import dataclass

from doccluster.report.page import page_part, rendered
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
class StoryLine:
    """One story as the page shows it.

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
        The newest other articles.
    kin : tuple of (words, story id, headline)
        Stories it came from or goes on; the id is "" where that story is not on the page.
    related : tuple of (story id, headline)
        Other stories of the same topic on the page.
    words : str
        Titles of its articles, for the search box.
    """

    id: str
    headline: str
    lang: str
    badges: tuple[tuple[str, str], ...]
    n_documents: int
    n_copies: int
    n_new: int
    outlets: tuple[tuple[str, int], ...]
    n_outlets: int
    span: str
    bins: tuple[int, ...]
    lead: ArticleLine
    others: tuple[ArticleLine, ...]
    kin: tuple[tuple[str, str, str], ...]
    related: tuple[tuple[str, str], ...]
    newest: str
    words: str


@dataclass(frozen=True)
class Section:
    """Stories under one heading."""

    id: str
    name: str
    stories: tuple[StoryLine, ...]


@dataclass(frozen=True)
class ClosedLine:
    """One story that has ended, as a row."""

    id: str
    headline: str
    link: str | None
    n_documents: int
    n_outlets: int
    span: str


@dataclass(frozen=True)
class FrontPage:
    """All that the page says.

    Attributes
    ----------
    moment, since : str
        Of the last batch, and the moment that "new" is counted from.
    moment_iso : str
    name : str
        Of the store, under which the browser keeps when the page was read last.
    facts : tuple of (name, number)
    cards : tuple of StoryLine
        The first of the open ones, by rank.
    sections : tuple of Section
        The others, as lines by topic.
    singles, columns : tuple of StoryLine
        Articles that are alone, and columns that come again and again under one title; both are folded.
    n_more : int
        How many open stories are not shown.
    period : (str, str)
        The first and the last day of the small charts.
    closed : tuple of ClosedLine
        Those that ended last.
    troubles : tuple of (feed, reason, what to do)
    outlets, languages, days : tuple of str
        What can be chosen from.
    """

    moment: str
    since: str
    moment_iso: str = ""
    name: str = ""
    facts: tuple[tuple[str, int], ...] = ()
    cards: tuple[StoryLine, ...] = ()
    sections: tuple[Section, ...] = ()
    singles: tuple[StoryLine, ...] = ()
    columns: tuple[StoryLine, ...] = ()
    n_more: int = 0
    period: tuple[str, str] = ("", "")
    closed: tuple[ClosedLine, ...] = ()
    n_more_closed: int = 0
    troubles: tuple[tuple[str, str, str], ...] = ()
    outlets: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    days: tuple[str, ...] = ()

    @property
    def n_open(self) -> int:
        """How many stories are open."""
        lines = sum(len(one.stories) for one in self.sections)
        return len(self.cards) + lines + len(self.singles) + len(self.columns) + self.n_more


def render_front_page(page: FrontPage) -> str:
    """Return the page as HTML."""
    return rendered("front_page.html", page=page, script=page_part("scripts/front_page.js"))
