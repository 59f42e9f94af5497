"""What an outlet repeats is not news: runs of words that its earlier articles had, ends of titles, tags and walls.

Everything is learned from what came before, so an article is cleaned the same in a dump and in a stream.
"""

from __future__ import annotations

import html
import re
from collections import Counter, defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from doccluster.stories.words import MOST_CHARACTERS

RUN = 6  # words
TIMES = 3  # earlier articles of the outlet that had a run, or an end of a title
REMEMBERED = 200  # articles of an outlet that are looked back at
OTHER_TITLE = 0.5  # Jaccard index below which two titles are of different articles
_TAG = re.compile(r"<[^>]{1,200}>")
_WORD = re.compile(r"\w+")
_TITLE_END = re.compile(r"\s+[-–—|]\s+([^-–—|]{2,40})\s*$")
_SUFFIXES = ("info", "news")  # of addresses, besides those of two or three letters


def outlet_of(source: str) -> str:
    """Return the name of an outlet, which is one under all of its addresses.

    >>> outlet_of("www.bbc.com") == outlet_of("https://bbc.co.uk/news"), outlet_of("The Daily Tide")
    (True, 'the daily tide')
    """
    name = " ".join(source.casefold().split())
    if "://" in name:
        try:
            name = urlsplit(name).hostname or name
        except ValueError:
            return name
    if " " in name or "." not in name:
        return name
    parts = [part for part in name.removeprefix("www.").split(".") if part]
    while len(parts) > 1 and (len(parts[-1]) <= 3 or parts[-1] in _SUFFIXES):
        parts.pop()
    return parts[-1] if parts else name


@dataclass(frozen=True, slots=True)
class _Repeatable:
    """What one article had that later ones may repeat."""

    runs: frozenset[int]
    title_end: str
    text: int


@dataclass(slots=True)
class _Outlet:
    """The last articles of an outlet, and how many of them had each run, each end of a title and each text."""

    articles: deque[_Repeatable] = field(default_factory=deque)
    n_with_run: Counter[int] = field(default_factory=Counter)
    n_with_end: Counter[str] = field(default_factory=Counter)
    titles_of_text: dict[int, list[frozenset[str]]] = field(default_factory=dict)

    def add(self, article: _Repeatable, title: frozenset[str]) -> None:
        self.articles.append(article)
        self.n_with_run.update(article.runs)
        self.n_with_end[article.title_end] += 1
        self.titles_of_text.setdefault(article.text, []).append(title)
        if len(self.articles) > REMEMBERED:
            self._forget(self.articles.popleft())

    def _forget(self, article: _Repeatable) -> None:
        _count_down(self.n_with_run, article.runs)
        _count_down(self.n_with_end, (article.title_end,))
        titles = self.titles_of_text[article.text]
        titles.pop(0)
        if not titles:
            del self.titles_of_text[article.text]

    def is_wall(self, text: int, title: frozenset[str]) -> bool:
        """Return whether an earlier article of another title had the same text."""
        earlier = self.titles_of_text.get(text, ())
        return any(len(title & words) < OTHER_TITLE * len(title | words) for words in earlier)


def title_end(title: str) -> str:
    """Return the end of a title that may be the name of its outlet, with its dash; "" if it has none.

    >>> title_end("Ferry aground off Skerrow - The Daily Tide")
    ' - The Daily Tide'
    """
    end = _TITLE_END.search(title)
    return end.group() if end else ""


class Cleaner:
    """Takes titles and texts in the order of time, and leaves out what their outlets repeat."""

    def __init__(self) -> None:
        self._outlets: defaultdict[str, _Outlet] = defaultdict(_Outlet)

    def clean(self, title: str, text: str, outlet: str) -> tuple[str, str]:
        """Return the title and the beginning of the text without what earlier articles of the outlet had.

        Of an article that is nothing but its outlet's wall the title alone is left.
        """
        title = _plain(title)
        text = _plain(text[: 4 * MOST_CHARACTERS])[:MOST_CHARACTERS]
        if not outlet:
            return title, text
        past = self._outlets[outlet]
        end = _TITLE_END.search(title)
        title_end = end.group(1).strip().casefold() if end else ""
        if end and past.n_with_end[title_end] >= TIMES:
            title = title[: end.start()]
        spans = [word.span() for word in _WORD.finditer(text)]
        words = ["0" if text[start].isdigit() else text[start:end] for start, end in spans]
        size = min(RUN, len(words))  # a short text is one run
        runs = list(map(hash, zip(*(words[place:] for place in range(size)), strict=False))) if size > 1 else []
        whole, title_words = hash(tuple(words)), frozenset(title.casefold().split())
        is_wall = bool(words) and past.is_wall(whole, title_words)
        repeated = [place for place, run in enumerate(runs) if past.n_with_run.get(run, 0) >= TIMES]
        past.add(_Repeatable(frozenset(runs), title_end, whole), title_words)
        if is_wall:
            return title, ""
        return title, _without(text, [(spans[place][0], spans[place + size - 1][1]) for place in repeated])


def body_of(title: str, text: str) -> str:
    """Return a text without the title that it begins with."""
    return text[len(title) :].lstrip() if title and text.startswith(title) else text


def _count_down(counts: Counter[Any], keys: Iterable[Any]) -> None:
    for key in keys:
        if counts[key] == 1:
            counts.pop(key)
        else:
            counts[key] -= 1


def _plain(text: str) -> str:
    if "&" in text:
        text = html.unescape(text)
    return _TAG.sub(" ", text) if "<" in text else text


def _without(text: str, spans: list[tuple[int, int]]) -> str:
    """Return a text without some stretches, which are in order and may overlap."""
    if not spans:
        return text
    parts, place = [], 0
    for start, end in spans:
        parts.append(text[place : max(start, place)])
        place = max(place, end)
    return " ".join(" ".join([*parts, text[place:]]).split())
