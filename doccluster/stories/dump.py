"""The stories of a whole dump of dated articles, with hindsight.

The likest two stories become one, again and again; then the tree of these joins is cut where it is stable.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.arrays import Floats, Integers, Labels, SingleFloats
from doccluster.base.compiled import jit
from doccluster.base.plain_values import ShortRepr
from doccluster.base.progress import told
from doccluster.base.worker_processes import in_shares, shares_of
from doccluster.stories.likeness import BACKGROUND, ArticleLikeness, ArticleRows, Crowd
from doccluster.stories.words import MAX_CHARACTERS, CountedWords, WordReader, counted_words, outlet_of

NEAREST = 0.2  # share of the likest pair in the likeness of two stories; the rest is the mean of all their pairs
GROWTH = 0.25  # the mean of n pairs counts n ** GROWTH times: many weak links say more than one
SEVERAL = 3  # articles of each side of a join that can be undone


HALF = np.int64(32)  # bits: two stories are one number, so that pairs are compared at once
MASK = np.int64(2**32 - 1)


class StoryLinks(NamedTuple):
    """Which stories are like which, each pair once for each of the two; arrays of shape (n_links,)."""

    stories: Integers  # the other story, at the time of the link
    totals: Floats  # the sum of the likeness of their articles
    greatest: Floats
    following: Integers  # the next link of the same story, -1 after the last


class StoryRoom(NamedTuple):
    """The stories 0..n - 1 of one article each and those that joins make after them; arrays of shape (2n,)."""

    joined_into: Integers  # the story each has become part of, itself while there is none
    first_link: Integers  # -1 without one
    first: Integers  # the earliest of its articles
    last: Integers
    sizes: Integers
    places: Integers  # -1: room


@jit(inner=True)
def current(story, joined_into):
    """Return the story that one has become part of by now."""
    while joined_into[story] != story:
        joined_into[story] = joined_into[joined_into[story]]
        story = joined_into[story]
    return story


@jit(inner=True)
def put(scores, pairs, n, score, pair):
    """Put a pair of stories into a heap of n pairs, the lowest score first."""
    while n > 0:
        above = (n - 1) >> 1
        if scores[above] < score or (scores[above] == score and pairs[above] < pair):
            break
        scores[n], pairs[n] = scores[above], pairs[above]
        n = above
    scores[n], pairs[n] = score, pair


@jit(inner=True)
def put_again(scores, pairs, n, joined_into):
    """Make a heap of those of n pairs whose stories are not part of others; return how many they are."""
    n_kept = np.int64(0)
    for place in range(n):
        first, second = pairs[place] >> HALF, pairs[place] & MASK
        if joined_into[first] == first and joined_into[second] == second:
            put(scores, pairs, n_kept, scores[place], pairs[place])
            n_kept += 1
    return n_kept


@jit(inner=True)
def take_first(scores, pairs, n):
    """Take the first out of a heap of n + 1 pairs."""
    score, pair, place, below = scores[n], pairs[n], 0, 1
    while below < n:
        if below + 1 < n and (
            scores[below + 1] < scores[below]
            or (scores[below + 1] == scores[below] and pairs[below + 1] < pairs[below])
        ):
            below += 1
        if score < scores[below] or (score == scores[below] and pair < pairs[below]):
            break
        scores[place], pairs[place] = scores[below], pairs[below]
        place, below = below, 2 * below + 1
    scores[place], pairs[place] = score, pair


@jit(inner=True)
def count_near(article, other, times, later, window):
    """Return how many pairs of articles of two stories, from their first on, lie within the window."""
    n_pairs, n_near, high = 0, 0, other
    while article >= 0:
        while high >= 0 and times[high] <= times[article] + window:
            n_near, high = n_near + 1, later[high]
        while other >= 0 and times[other] < times[article] - window:
            n_near, other = n_near - 1, later[other]
        n_pairs, article = n_pairs + n_near, later[article]
    return n_pairs


@jit
def join_all(links, stories, times, later, heap, joins, bounds):
    """Join the likest two stories until none reach the bar; return how many joins there are.

    What two stories have, links and articles, is put together in place. `later`: the next article of the same story, -1
    after the last. `heap`: pairs of articles to begin with, and room for one at each link: as many pairs are left at
    most when those that are gone are thrown out. `joins`: room for the two of each join and how like they were.
    `bounds`: how many pairs there are at first, and window, bar and young.
    """
    others, totals, greatest, following = links
    joined_into, first_link, first_article, last_article, sizes, places = stories
    (scores, pairs), (firsts, seconds, heights), (n_pairs, window, bar, young) = heap, joins, bounds
    n, new = times.size, times.size
    n_heap = put_again(scores, pairs, n_pairs, joined_into)
    while n_heap > 0:
        score, first, second = scores[0], pairs[0] >> HALF, pairs[0] & MASK
        n_heap -= 1
        take_first(scores, pairs, n_heap)
        if joined_into[first] != first or joined_into[second] != second:
            continue
        firsts[new - n], seconds[new - n], heights[new - n] = first, second, -score
        joined_into[first] = joined_into[second] = new
        # links of both, those to one story added up at the first of them
        last = -1
        for side in (first, second):
            link = first_link[side]
            while link >= 0:
                story, after = current(others[link], joined_into), following[link]
                if story != new:
                    place = places[story]
                    if place < 0:
                        places[story], others[link] = link, story
                        if last < 0:
                            first_link[new] = link
                        else:
                            following[last] = link
                        last = link
                    else:
                        totals[place] += totals[link]
                        if greatest[link] > greatest[place]:
                            greatest[place] = greatest[link]
                link = after
        if last >= 0:
            following[last] = -1
        # articles of both, in the order of time
        one, other, last = first_article[first], first_article[second], -1
        while one >= 0 or other >= 0:
            if other < 0 or (one >= 0 and times[one] <= times[other]):
                article, one = one, later[one]
            else:
                article, other = other, later[other]
            if last < 0:
                first_article[new] = article
            else:
                later[last] = article
            last = article
        last_article[new], sizes[new] = last, sizes[first] + sizes[second]
        earliest, latest = times[first_article[new]], times[last]
        link = first_link[new]
        while link >= 0:
            story = others[link]
            places[story] = -1
            if latest - times[first_article[story]] <= window and times[last_article[story]] - earliest <= window:
                n_pairs = sizes[new] * sizes[story]
            else:
                n_pairs = count_near(first_article[new], first_article[story], times, later, window)
            if n_pairs > 0:
                mean = totals[link] / n_pairs * n_pairs**GROWTH
                likeness = ((1 - NEAREST) * mean + NEAREST * greatest[link]) / (1 + young / n_pairs)
                if likeness >= bar:
                    if n_heap == scores.size:
                        n_heap = put_again(scores, pairs, n_heap, joined_into)
                    put(scores, pairs, n_heap, -likeness, (story << HALF) | new)
                    n_heap += 1
            link = following[link]
        new += 1
    return new - n


def join_stories(
    starts: Integers, neighbours: Integers, likeness: Floats, times: Integers, window: int, bar: float, young: float
) -> tuple[Integers, Integers, Floats]:
    """Join the likest two stories until none reach the bar; return the two of each join, and how like they were.

    The likeness of two stories is .8 x the mean of their n pairs x n^.25 + .2 x the greatest, less where few pairs
    speak for it. The joins make the stories n, n + 1, ...; below that a story is one article.

    `starts`, `neighbours`, `likeness`: the rows of a symmetric csr array of n articles. `young`: the share by which a
    single pair counts less.
    """
    n, n_links = times.size, neighbours.size
    following, first_link, one_each = np.arange(1, n_links + 1), np.full(2 * n, -1), np.arange(2 * n)
    is_linked = starts[1:] > starts[:-1]
    following[starts[1:][is_linked] - 1], first_link[:n][is_linked] = -1, starts[:-1][is_linked]
    links = StoryLinks(neighbours.copy(), likeness.copy(), likeness.copy(), following)
    stories = StoryRoom(
        one_each, first_link, one_each.copy(), one_each.copy(), np.ones_like(one_each), np.full(2 * n, -1)
    )
    rows, of_pairs = np.repeat(np.arange(n), np.diff(starts)), ((1 - NEAREST) * likeness + NEAREST * likeness)
    of_pairs /= 1 + young
    is_pair = np.flatnonzero((neighbours < rows) & (of_pairs >= bar))
    heap = np.empty(n_links), np.empty(n_links, np.int64)
    heap[0][: is_pair.size], heap[1][: is_pair.size] = -of_pairs[is_pair], neighbours[is_pair] << HALF | rows[is_pair]
    joins = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n)
    n_joins = join_all(links, stories, times, np.full(n, -1), heap, joins, (is_pair.size, window, bar, young))
    return joins[0][:n_joins], joins[1][:n_joins], joins[2][:n_joins]


def cut_where_stable(n: int, firsts: Integers, seconds: Integers, heights: Floats, bar: float) -> Labels:
    """Return the story of each article: a branch of the tree is one story where its life is longer than its parts'.

    The life of a story is the sum, over its articles, of the likeness that it spans; it goes on while it takes in fewer
    than `SEVERAL` articles at a time.
    """
    n_nodes, joins = n + firsts.size, list(zip(firsts.tolist(), seconds.tolist(), strict=True))
    size, above, height = [1] * n, [-1] * n_nodes, [np.inf] * n
    for node, ((first, second), likeness) in enumerate(zip(joins, heights.tolist(), strict=True), n):
        above[first] = above[second] = node
        size.append(size[first] + size[second])
        # joined stories can be liker than their parts were: the tree then has no step there
        height.append(min(likeness, height[first], height[second]))
    life, parts, best = [0.0] * n_nodes, [0.0] * n_nodes, [0.0] * n_nodes
    for node, (first, second) in enumerate(joins, n):
        life[node] = size[node] * (height[node] - (height[above[node]] if above[node] >= 0 else bar))
        if min(size[first], size[second]) >= SEVERAL:
            parts[node] = best[first] + best[second]
        else:
            larger = first if size[first] >= size[second] else second
            parts[node] = parts[larger]
            life[node] += life[larger]
        best[node] = max(life[node], parts[node])
    story = list(range(n_nodes))
    for node in range(n_nodes - 1, -1, -1):
        parent = above[node]
        if parent >= 0 and (life[parent] >= parts[parent] or story[parent] != parent):
            story[node] = story[parent]
    return np.array(story[:n], dtype=np.int64)


AT_ONCE = 1_000  # articles that are read together


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
    times: Integers


def find_stories(
    articles: NewsArticles, *, n_threads: int | None = None, progress: Callable[[int, int], None] | bool | None = None
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
    progress = partial(told, "stories") if progress is True else progress or None
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


def symmetric(later: Integers, earlier: npt.NDArray[np.int32], values: SingleFloats, n_rows: int) -> sparse.csr_array:
    """Return links as a symmetric graph."""
    pairs = np.concatenate([later, earlier]), np.concatenate([earlier, later])
    return sparse.csr_array((np.concatenate([values, values]), pairs), shape=(n_rows, n_rows))


def stories_in(graph: sparse.csr_array, times: Integers, crowd: Crowd) -> Labels:
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
    stories = cut_where_stable(times.size, *joins, crowd.bar)
    numbers: Labels = np.unique(stories, return_inverse=True)[1]
    return numbers


def _rows_by_language(
    articles: NewsArticles, order: Labels, progress: Callable[[int, int], None] | None
) -> Iterator[tuple[Labels, ArticleRows, int]]:
    """Yield, for each language, the places of its articles in the order of time, their rows, and how many terms."""
    numbers: defaultdict[str, dict[str, int]] = defaultdict(dict)
    outlets: dict[str, int] = {"": 0}
    read: defaultdict[str, list[tuple[int, int, list[int], npt.NDArray[np.int8]]]] = defaultdict(list)
    counted, names, reader = *_counted(articles, order), WordReader()
    for start in range(0, order.size, AT_ONCE):
        block = slice(start, start + AT_ONCE)
        settled = reader.settle(counted[block], names[block])
        for place, (name, article) in enumerate(zip(names[block], settled, strict=True), start):
            numbered = numbers[article.language]
            terms = [numbered.setdefault(word, len(numbered)) for word in article.words]
            read[article.language].append((place, outlets.setdefault(name, len(outlets)), terms, article.counts))
        if progress is not None:
            progress(min(start + AT_ONCE, order.size), order.size)
    for language, rows in read.items():
        columns = zip(*rows, strict=True)
        places = np.array(next(columns))
        yield places, ArticleRows.of(articles.times[order[places]], *columns), len(numbers[language])


def _counted(articles: NewsArticles, order: Labels) -> tuple[list[CountedWords], list[str]]:
    """Return the words and the outlet of each article in the order of time.

    What an outlet repeats is learned from its earlier articles, so all of one are read in one process.
    """
    rows = order.tolist()
    names = [outlet_of(str(articles.sources[row])) for row in rows]
    places_of: defaultdict[str, list[int]] = defaultdict(list)
    for place, name in enumerate(names):
        places_of[name].append(place)
    by_outlet = [*places_of.values()]
    places = [sorted(chain(*by_outlet[share])) for share in shares_of([*map(len, by_outlet)], len(rows))]
    arguments = [
        (
            [str(articles.titles[rows[place]]) for place in of_share],
            [articles.texts[rows[place]][: 4 * MAX_CHARACTERS] for place in of_share],
            [names[place] for place in of_share],
        )
        for of_share in places
    ]
    counted = chain(*in_shares(counted_words, arguments))
    by_place = dict(zip(chain(*places), counted, strict=True))
    return [by_place[place] for place in range(len(rows))], names
