"""Made streams of news with the true lineage of their stories: what stories are measured on."""

from __future__ import annotations

from experiments.news_stream.stream import NewsArticle, NewsEvent, NewsStream, make_news_stream

__all__ = ["NewsArticle", "NewsEvent", "NewsStream", "make_news_stream"]
