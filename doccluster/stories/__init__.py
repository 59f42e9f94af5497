"""The one rule of stories: articles of a dump at once, and those of a stream by looking again at the last days."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doccluster.base.package import offer

_HOMES = {"NewsArticles": "doccluster.stories.dump", "find_stories": "doccluster.stories.dump"}

__all__ = ["NewsArticles", "find_stories"]
__getattr__, __dir__ = offer(__name__, _HOMES)

if TYPE_CHECKING:
    from doccluster.stories.dump import NewsArticles as NewsArticles
    from doccluster.stories.dump import find_stories as find_stories
