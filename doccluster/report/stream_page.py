"""The front page of a stream: plain data -> one self-contained page without scripts, pictures or requests."""

from __future__ import annotations

from dataclasses import dataclass

from doccluster.report.page import rendered
from doccluster.report.wording import Pieces


@dataclass(frozen=True)
class ArticleLine:
    """One article as a line; `link` is None unless it leads to a web page.

    `excerpt` is a sentence in pieces; those that are terms which the article shares with its story are marked.
    """

    name: str
    link: str | None
    source: str
    date: str
    date_iso: str
    excerpt: Pieces = ()


@dataclass(frozen=True)
class StoryLine:
    """One story as the page shows it.

    Attributes
    ----------
    badges : tuple of (word, meaning)
        What has happened to it since the moment the page looks back to.
    outlets : tuple of (name, number of articles)
    bins : tuple of int
        Articles by equal parts of the time that the page shows.
    others : tuple of ArticleLine
        The newest other articles.
    kin : tuple of (words, story id, headline)
        Stories it came from or goes on; the id is "" where that story is not on the page.
    """

    id: str
    headline: str
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
class Thread:
    """One story in the picture of the lineage.

    Attributes
    ----------
    id : str
        "" if it is not among the stories of the page.
    name, told : str
        A short headline, and a sentence about the story.
    begins, ends : float
        Where its line begins and ends, as parts of the time of the picture.
    state : {"open", "closed", "merged"}
    is_born : bool
        Whether it was born within that time.
    """

    id: str
    name: str
    told: str
    begins: float
    ends: float
    state: str
    is_born: bool


@dataclass(frozen=True)
class Turn:
    """A merge, split or resumption: when (a part of the time), and from which thread to which."""

    event: str
    at: float
    source: int
    target: int


@dataclass(frozen=True)
class LineageGraph:
    """What became of stories: threads from top to bottom, the turns between them, and days as (part of time, words)."""

    threads: tuple[Thread, ...]
    turns: tuple[Turn, ...]
    days: tuple[tuple[float, str], ...]


@dataclass(frozen=True)
class FrontPage:
    """All that the page says.

    Attributes
    ----------
    moment, since : str
        Of the last batch, and the moment that "new" is counted from.
    facts : tuple of (name, number)
    stories : tuple of StoryLine
        The first of the open ones, by rank.
    n_more : int
        How many open stories are not shown.
    bins_told : str
        What one bar of a sparkline stands for.
    closed : tuple of ClosedLine
        Those that ended last.
    troubles : tuple of (feed, reason)
    """

    moment: str
    since: str
    facts: tuple[tuple[str, int], ...]
    stories: tuple[StoryLine, ...]
    n_more: int
    bins_told: str
    closed: tuple[ClosedLine, ...]
    n_more_closed: int
    troubles: tuple[tuple[str, str], ...]
    lineage: LineageGraph | None = None


def render_front_page(page: FrontPage) -> str:
    """Return the page as HTML."""
    return rendered("front_page.html", page=page)
