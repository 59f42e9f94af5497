"""The stories of a whole dump of dated articles, with hindsight."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.plain_values import ShortRepr
from doccluster.stories.cleaning import Cleaner, outlet_of
from doccluster.stories.crowd import Crowd
from doccluster.stories.likeness import BACKGROUND, ArticleLikeness, ArticleRows
from doccluster.stories.story_tree import cut_where_stable, join_stories
from doccluster.stories.words import WordReader

AT_ONCE = 1_000  # articles that are read together

Labels = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class NewsArticles(ShortRepr):
    """Dated articles in any order; sequences of one length.

    Attributes
    ----------
    titles, texts, sources : sequence of str
    times : int64 array, seconds
    """

    titles: Sequence[str]
    texts: Sequence[str]
    sources: Sequence[str]
    times: npt.NDArray[np.int64]


def find_stories(
    articles: NewsArticles, *, n_threads: int | None = None, progress: Callable[[int, int], None] | None = None
) -> Labels:
    """Return the story of each article.

    Titles and texts are cleaned of what their outlets repeat. Articles of one language are compared within a window by
    centred cosines of their words, less what they find in other weeks; the likest two stories are joined first, and the
    tree of joins is cut where it is stable (docs/explanation/stories.md).

    Parameters
    ----------
    n_threads : int, optional
        All processors by default; the stories do not depend on it.
    progress : callable, optional
        Called with the number of articles read, and of all.

    Returns
    -------
    labels : int64 array of shape (n_articles,)
        0, 1, ... in the order in which stories begin; an article that is like no other is a story of its own.

    Examples
    --------
    >>> titles = ["Ferry runs aground off Skerrow", "All safe on ferry aground off Skerrow", "Bank leaves rates alone"]
    >>> find_stories(NewsArticles(titles, ["", "", ""], ["a", "b", "c"], np.arange(3))).tolist()
    [0, 0, 1]
    """
    keys = list(zip(articles.times.tolist(), articles.titles, articles.sources, strict=True))
    order = np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64)
    labels = np.full(order.size, -1)
    n_stories = 0
    for places, rows, n_terms in _rows_by_language(articles, order, progress):
        stories = stories_of(rows, n_terms, n_threads=n_threads)
        labels[order[places]] = stories + n_stories
        n_stories += stories.size
    _, first, numbers = np.unique(labels[order], return_index=True, return_inverse=True)
    labels[order] = np.argsort(np.argsort(first))[numbers]
    return labels


def stories_of(rows: ArticleRows, n_terms: int, *, n_threads: int | None = None) -> Labels:
    """Return the stories of articles of one language, as numbers below how many articles there are."""
    vectors = rows.weighted(np.bincount(rows.terms, minlength=n_terms), len(rows))
    crowd, likeness = Crowd.of(rows.times), ArticleLikeness(vectors, rows.times, rows.outlets, slice(0, len(rows)))
    in_window = np.searchsorted(rows.times, rows.times + crowd.window, "right")
    in_window -= np.searchsorted(rows.times, rows.times - crowd.window)
    every = np.arange(len(rows))
    taken_off = BACKGROUND * likeness.background(every, crowd.window, in_window, n_threads)
    links = likeness.links(every, crowd.window, taken_off, every, n_threads)
    graph = symmetric(np.repeat(every, links.n_links), links.earlier, links.likeness, len(rows))
    return stories_in(graph, rows.times, crowd)


def symmetric(
    later: npt.NDArray[np.int64], earlier: npt.NDArray[np.int32], values: npt.NDArray[np.float32], n_rows: int
) -> sparse.csr_array:
    """Return links as a symmetric graph."""
    pairs = np.concatenate([later, earlier]), np.concatenate([earlier, later])
    return sparse.csr_array((np.concatenate([values, values]), pairs), shape=(n_rows, n_rows))


def stories_in(graph: sparse.csr_array, times: npt.NDArray[np.int64], crowd: Crowd) -> Labels:
    """Return the stories of a graph of likeness, as numbers below how many articles there are."""
    joins = join_stories(
        graph.indptr.astype(np.int64),
        graph.indices.astype(np.int64),
        graph.data.astype(np.float64),
        times,
        crowd.window,
        crowd.bar,
        crowd.young,
    )
    stories: Labels = cut_where_stable(times.size, *joins, crowd.bar)
    numbers: Labels = np.unique(stories, return_inverse=True)[1]
    return numbers


def _rows_by_language(
    articles: NewsArticles, order: Labels, progress: Callable[[int, int], None] | None
) -> list[tuple[Labels, ArticleRows, int]]:
    """Return, for each language, the places of its articles in the order of time, their rows, and how many terms."""
    cleaner, reader = Cleaner(), WordReader()
    numbers: defaultdict[str, dict[str, int]] = defaultdict(dict)
    outlets: dict[str, int] = {"": 0}
    places, terms, counts, outlet_of_row = (defaultdict[str, list[Any]](list) for _ in range(4))
    for start in range(0, order.size, AT_ONCE):
        block = order[start : start + AT_ONCE].tolist()
        names = [outlet_of(str(articles.sources[row])) for row in block]
        cleaned = [
            (*cleaner.clean(str(articles.titles[row]), articles.texts[row], name), name)
            for row, name in zip(block, names, strict=True)
        ]
        for place, (name, article) in enumerate(zip(names, reader.read(cleaned), strict=True), start):
            language, numbered = article.language, numbers[article.language]
            terms[language].append([numbered.setdefault(word, len(numbered)) for word in article.words])
            counts[language].append(article.counts)
            places[language].append(place)
            outlet_of_row[language].append(outlets.setdefault(name, len(outlets)))
        if progress is not None:
            progress(min(start + AT_ONCE, order.size), order.size)
    times = articles.times[order]
    return [
        (
            np.array(places[language]),
            ArticleRows(
                times[places[language]],
                np.array(outlet_of_row[language], np.int32),
                np.cumsum([0, *map(len, terms[language])]),
                np.fromiter(chain.from_iterable(terms[language]), np.int32),
                np.concatenate(counts[language]),
            ),
            len(numbers[language]),
        )
        for language in places
    ]
