"""Stories of news, which take the place of a fit: those of the rule that a store follows, of dated documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from doccluster.base.arrays import Integers
from doccluster.base.packed_strings import MadeItems
from doccluster.base.progress import Progress
from doccluster.clustering.algorithms import QUALITIES
from doccluster.corpus import Corpus
from doccluster.corpus.dates import as_moment
from doccluster.corpus.stored_texts import PickedTexts
from doccluster.pipeline.fit import Fit, fit_of_labels
from doccluster.pipeline.run_settings import RunSettings
from doccluster.results.document_table import DocumentTable
from doccluster.results.overview import days_of, doubt, outlets_of
from doccluster.stories import NewsArticles, find_stories
from doccluster.stories.words import body_of, outlet_of
from doccluster.vectors import DocumentVectors

MIN_OUTLETS = 3
DATED_SHARE = 0.5  # of the documents, for a collection that is dated


class News(NamedTuple):
    """Dated articles of several outlets."""

    rows: Integers  # the documents that are dated
    articles: NewsArticles
    n_outlets: int


def is_dated(documents: DocumentTable) -> bool:
    """Return whether at least half of the documents have a date, and these are not all of one day."""
    days = days_of(documents.dates)
    return bool((days > 0).sum() >= DATED_SHARE * len(documents) and np.unique(days[days > 0]).size > 1)


def news_among(documents: DocumentTable, corpus: Corpus | None) -> News | None:
    """Return the dated documents as articles, None where they are no news of three outlets or more."""
    outlets = [outlet_of(name) for name in outlets_of(documents)]
    n_outlets = len(set(filter(None, outlets)))
    if corpus is None or n_outlets < MIN_OUTLETS or not is_dated(documents):
        return None
    moments = [None if doubt(date) else as_moment(date) for date in documents.dates]
    rows = np.array([row for row, moment in enumerate(moments) if moment is not None], dtype=np.int64)
    titles = [documents.titles[row] for row in rows.tolist()]
    articles = NewsArticles(
        titles,
        _Bodies(PickedTexts(corpus.texts, documents.positions[rows]), titles),
        [outlets[row] for row in rows.tolist()],
        np.array([moments[row] for row in rows.tolist()], dtype=np.int64),
    )
    return News(rows, articles, n_outlets)


class _Bodies(MadeItems[str]):
    """Texts without the titles that they begin with, each made when it is looked at."""

    def __init__(self, texts: Sequence[str], titles: Sequence[str]) -> None:
        self._texts, self._titles = texts, titles

    def __len__(self) -> int:
        return len(self._titles)

    def _item(self, row: int) -> str:
        return body_of(self._titles[row], self._texts[row])


def stories_of_run(
    settings: RunSettings,
    vectors: DocumentVectors,
    documents: DocumentTable,
    corpus: Corpus | None,
    progress: Progress,
) -> Fit | None:
    """Return the stories that a run shows, articles in none of them as Other; None where it clusters by an algorithm.

    Stories are shown of news whose number of clusters, granularity and algorithm are left open, or where they are asked
    for by name.
    """
    is_open = settings.granularity in (None, "stories") and isinstance(settings.n_clusters, str)
    is_open = is_open and settings.labels is None and not settings.apart_columns and settings.parts is None
    if settings.topics is not None:  # clusters grow from words; of examples of stories each is a story
        is_open = is_open and settings.granularity == "stories" and not any(topic.words for topic in settings.topics)
    if not is_open or settings.algorithm != QUALITIES["default"] or settings.has_meaning:
        return None
    news = news_among(documents, corpus)
    if news is None:
        return None
    labels = np.full(len(documents), -1)
    labels[news.rows] = find_stories(
        news.articles,
        n_threads=settings.n_threads,
        progress=lambda n_read, n_all: progress("cluster", n_read, n_all),
    )
    several = np.bincount(labels[news.rows]) > 1
    is_alone = (labels < 0) | ~several[labels]
    if is_alone.all():
        return None
    return replace(fit_of_labels(vectors, labels, is_alone), n_outlets=news.n_outlets)
