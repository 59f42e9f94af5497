"""The stories of a whole dump of dated articles, with hindsight."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
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
    rank = np.empty(first.size, dtype=np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(first.size)
    found = np.empty_like(labels)
    found[order] = rank[numbers]
    return found


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
    places, ids, counts, voices = (defaultdict[str, list[Any]](list) for _ in range(4))
    for start in range(0, order.size, AT_ONCE):
        some = order[start : start + AT_ONCE].tolist()
        names = [outlet_of(str(articles.sources[row])) for row in some]
        cleaned = [
            (*cleaner.clean(str(articles.titles[row]), articles.texts[row], name), name)
            for row, name in zip(some, names, strict=True)
        ]
        for place, article in enumerate(reader.read(cleaned), start):
            known = numbers[article.language]
            found = (known.setdefault(word, len(known)) for word in article.words)
            ids[article.language].append(np.fromiter(found, np.int32, len(article.words)))
            counts[article.language].append(article.counts)
            places[article.language].append(place)
            voices[article.language].append(outlets.setdefault(names[place - start], len(outlets)))
        if progress is not None:
            progress(min(start + AT_ONCE, order.size), order.size)
    times = articles.times[order]
    made = []
    for language, own in places.items():
        starts = np.concatenate([[0], np.cumsum([one.size for one in ids[language]])])
        rows = ArticleRows(
            times[own],
            np.array(voices[language], np.int32),
            starts,
            np.concatenate(ids[language]),
            np.concatenate(counts[language]),
        )
        made.append((np.array(own), rows, len(numbers[language])))
    return made
