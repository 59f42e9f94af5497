"""Columns: articles that come again and again under one title from one outlet, such as "Morning briefing"."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence

from doccluster.streams.settings import DAY
from doccluster.streams.story_lines import StoryArticle

LEAST_TIMES = 3  # days on which a title has come back
WITHIN = 30 * DAY  # seconds
_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
_CHANGING = re.compile(rf"[\W\d_]+|\b(mon|tues|wednes|thurs|fri|satur|sun)day\b|\b({_MONTHS})\b")


def title_pattern(title: str) -> str:
    """Return the words of the title of a column that stay the same: without numbers, days and months.

    >>> title_pattern("Morning briefing: Tuesday 3 March"), title_pattern("Quick crossword No 16,204")
    ('morning briefing', 'quick crossword no')
    """
    return " ".join(_CHANGING.sub(" ", title.casefold()).split())


def is_column(connection: sqlite3.Connection, articles: Sequence[StoryArticle]) -> bool:
    """Return whether all articles of a story are of one column, whose title its outlet has had on several days."""
    newest = max(articles, key=lambda one: one.time)
    pattern = title_pattern(newest.title)
    return all(title_pattern(one.title) == pattern for one in articles) and _comes_back(connection, newest)


def _comes_back(connection: sqlite3.Connection, article: StoryArticle) -> bool:
    pattern = title_pattern(article.title)
    if not pattern:
        return False
    rows = connection.execute(
        "SELECT title, published FROM document WHERE source = ? AND published BETWEEN ? AND ? AND title LIKE ?",
        (article.source, article.time - WITHIN, article.time, f"{article.title[:1]}%"),
    )
    days = {published // DAY for title, published in rows if title_pattern(title) == pattern}
    return len(days) >= LEAST_TIMES
