"""The stories of a whole dump of dated articles, with hindsight.

The likest two stories become one, again and again; then the tree of these joins is cut where it is stable.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.arrays import Integers, Labels, SingleFloats
from doccluster.base.compiled import jit
from doccluster.base.plain_values import ShortRepr
from doccluster.base.progress import told
from doccluster.stories.likeness import BACKGROUND, ArticleLikeness, ArticleRows, Crowd
from doccluster.stories.words import Cleaner, WordReader, outlet_of

NEAREST = 0.2  # share of the likest pair in the likeness of two stories; the rest is the mean of all their pairs
GROWTH = 0.25  # the mean of n pairs counts n ** GROWTH times: many weak links say more than one
SEVERAL = 3  # articles of each side of a join that can be undone


@jit(inner=True)
def count_pairs(first, second, window):
    """Return how many pairs of two sorted arrays of times lie within the window."""
    if first[-1] - second[0] <= window and second[-1] - first[0] <= window:
        return first.size * second.size
    n_pairs, low, high = 0, 0, 0
    for time in first:
        while low < second.size and second[low] < time - window:
            low += 1
        while high < second.size and second[high] <= time + window:
            high += 1
        n_pairs += high - low
    return n_pairs


@jit(inner=True)
def current(story, joined_into):
    """Return the story that one has become part of by now."""
    while joined_into[story] != story:
        joined_into[story] = joined_into[joined_into[story]]
        story = joined_into[story]
    return story


@jit(inner=True)
def likeness_of_stories(total, greatest, n_pairs, young):
    """Return .8 x the mean of n pairs x n^.25 + .2 x the greatest, less where few pairs speak for it."""
    mean = total / n_pairs * n_pairs**GROWTH
    return ((1 - NEAREST) * mean + NEAREST * greatest) / (1 + young / n_pairs)


@jit(inner=True)
def sorted_together(first, second):
    """Return the values of two sorted arrays as one."""
    times, i, j = np.empty(first.size + second.size, first.dtype), 0, 0
    for place in range(times.size):
        if j == second.size or (i < first.size and first[i] <= second[j]):
            times[place] = first[i]
            i += 1
        else:
            times[place] = second[j]
            j += 1
    return times


@jit
def join_stories(starts, neighbours, likeness, times, window, bar, young):
    """Join the likest two stories until none reach the bar; return the two of each join, and how like they were.

    `starts`, `neighbours`, `likeness`: the rows of a symmetric csr array of n articles. The joins make the stories n,
    n + 1, ...; below that a story is one article. `young`: the share by which a single pair counts less.
    """
    n = starts.size - 1
    joined_into, is_there = np.arange(2 * n), np.zeros(2 * n, np.bool_)
    is_there[:n] = True
    # of each story: which stories it has links to, the sum of these and the greatest, and its times
    near = [neighbours[starts[i] : starts[i + 1]].astype(np.int64) for i in range(n)]
    totals = [likeness[starts[i] : starts[i + 1]].astype(np.float64) for i in range(n)]
    greatest = [total.copy() for total in totals]
    moments = [times[i : i + 1].copy() for i in range(n)]
    nothing = np.zeros(0, np.int64), np.zeros(0, np.float64), np.zeros(0, times.dtype)
    heap = [(0.0, 0, 0)]
    heap.clear()
    for i in range(n):
        for place in range(starts[i], starts[i + 1]):
            value = likeness_of_stories(likeness[place], likeness[place], 1, young)
            if neighbours[place] < i and value >= bar:
                heap.append((-np.float64(value), np.int64(neighbours[place]), np.int64(i)))
    heapq.heapify(heap)
    firsts, seconds, heights = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.float64)
    place_of, new = np.full(2 * n, -1), n
    while len(heap):
        score, first, second = heapq.heappop(heap)
        if not (is_there[first] and is_there[second]):
            continue
        firsts[new - n], seconds[new - n], heights[new - n] = first, second, -score
        is_there[first] = is_there[second] = False
        is_there[new] = True
        joined_into[first] = joined_into[second] = new
        room = near[first].size + near[second].size
        stories, total, largest, n_near = np.empty(room, np.int64), np.zeros(room), np.zeros(room), 0
        for side in (first, second):
            for place in range(near[side].size):
                third = current(near[side][place], joined_into)
                if third == new:
                    continue
                at = place_of[third]
                if at < 0:
                    at = place_of[third] = n_near
                    stories[at] = third
                    n_near += 1
                total[at] += totals[side][place]
                largest[at] = max(largest[at], greatest[side][place])
        times_of_both = sorted_together(moments[first], moments[second])
        for side in (first, second):
            near[side], totals[side], greatest[side], moments[side] = nothing[0], nothing[1], nothing[1], nothing[2]
        near.append(stories[:n_near].copy())
        totals.append(total[:n_near].copy())
        greatest.append(largest[:n_near].copy())
        moments.append(times_of_both)
        for at in range(n_near):
            third = stories[at]
            place_of[third] = -1
            n_pairs = count_pairs(times_of_both, moments[third], window)
            if n_pairs:
                value = likeness_of_stories(total[at], largest[at], n_pairs, young)
                if value >= bar:
                    heapq.heappush(heap, (-value, third, np.int64(new)))
        new += 1
    return firsts[: new - n], seconds[: new - n], heights[: new - n]


@jit
def cut_where_stable(n, firsts, seconds, heights, bar):
    """Return the story of each article: a branch of the tree is one story where its life is longer than its parts'.

    The life of a story is the sum, over its articles, of the likeness that it spans; it goes on while it takes in fewer
    than `SEVERAL` articles at a time.
    """
    n_nodes = n + firsts.size
    size, above = np.ones(n_nodes, np.int64), np.full(n_nodes, -1)
    height, life = np.full(n_nodes, np.inf), np.zeros(n_nodes)
    parts, best = np.zeros(n_nodes), np.zeros(n_nodes)
    for node in range(n, n_nodes):
        first, second = firsts[node - n], seconds[node - n]
        above[first] = above[second] = node
        size[node] = size[first] + size[second]
        # joined stories can be liker than their parts were: the tree then has no step there
        height[node] = min(heights[node - n], height[first], height[second])
    for node in range(n, n_nodes):
        first, second = firsts[node - n], seconds[node - n]
        life[node] = size[node] * (height[node] - (height[above[node]] if above[node] >= 0 else bar))
        if min(size[first], size[second]) >= SEVERAL:
            parts[node] = best[first] + best[second]
        else:
            larger = first if size[first] >= size[second] else second
            parts[node] = parts[larger]
            life[node] += life[larger]
        best[node] = max(life[node], parts[node])
    story = np.arange(n_nodes)
    for node in range(n_nodes - 1, -1, -1):
        parent = above[node]
        if parent >= 0 and (life[parent] >= parts[parent] or story[parent] != parent):
            story[node] = story[parent]
    return story[:n]


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
    stories: Labels = cut_where_stable(times.size, *joins, crowd.bar)
    numbers: Labels = np.unique(stories, return_inverse=True)[1]
    return numbers


def _rows_by_language(
    articles: NewsArticles, order: Labels, progress: Callable[[int, int], None] | None
) -> Iterator[tuple[Labels, ArticleRows, int]]:
    """Yield, for each language, the places of its articles in the order of time, their rows, and how many terms."""
    cleaner, reader = Cleaner(), WordReader()
    numbers: defaultdict[str, dict[str, int]] = defaultdict(dict)
    outlets: dict[str, int] = {"": 0}
    read: defaultdict[str, list[tuple[int, int, list[int], npt.NDArray[np.int8]]]] = defaultdict(list)
    for start in range(0, order.size, AT_ONCE):
        block = order[start : start + AT_ONCE].tolist()
        names = [outlet_of(str(articles.sources[row])) for row in block]
        cleaned = [
            (*cleaner.clean(str(articles.titles[row]), articles.texts[row], name), name)
            for row, name in zip(block, names, strict=True)
        ]
        for place, (name, article) in enumerate(zip(names, reader.read(cleaned), strict=True), start):
            numbered = numbers[article.language]
            terms = [numbered.setdefault(word, len(numbered)) for word in article.words]
            read[article.language].append((place, outlets.setdefault(name, len(outlets)), terms, article.counts))
        if progress is not None:
            progress(min(start + AT_ONCE, order.size), order.size)
    for language, rows in read.items():
        columns = zip(*rows, strict=True)
        places = np.array(next(columns))
        yield places, ArticleRows.of(articles.times[order[places]], *columns), len(numbers[language])
