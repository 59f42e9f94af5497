"""The stories of a stream of one language: what is new is put to a story, and the last days are looked at again.

It is the rule of a dump with inertia: links of two articles that are in one story already count more, links across two
stories less, and a story keeps its name by overlap. An article that is older than the window never moves.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.arrays import Integers, SingleFloats
from doccluster.stories.dump import stories_in, symmetric
from doccluster.stories.likeness import BACKGROUND, ArticleLikeness, ArticleRows, Crowd

STAYS, CROSSES = 2.0, 0.5  # what a link within a story that is there already, and one across two, counts
KEPT = 4_000  # newest articles that are compared with, where two windows hold fewer
CENTRE = 1_000  # newest articles that the centre is taken from
TOUCHED = 0.5  # of the bar: a story that is so like a new article is looked at with it
OF_LATE = 200  # newest articles from which the crowd of today is told
COLD = 2_000  # articles: until a language has them, links are made anew when it has
GROWTH = 1.05  # times as many as when that was done last
HALVED_ABOVE = 100_000  # articles; then every count is halved, so that terms are forgotten with time


@dataclass(slots=True)
class DeskArticle:
    """An article that later ones are compared with."""

    number: int  # its place in the stream
    time: int  # seconds
    outlet: int  # 0 for one that is not known
    terms: npt.NDArray[np.int32]  # of shape (n_terms,), as are the counts
    counts: npt.NDArray[np.int8]
    # of shape (n_links,): the numbers of articles that were there before
    earlier: Integers = field(default_factory=lambda: np.zeros(0, np.int64))
    likeness: SingleFloats = field(default_factory=lambda: np.zeros(0, np.float32))  # and how like they are
    background: float = 0.0  # the likeness that it has to articles of other weeks by chance
    copy_of: int = 0  # the number of an earlier article with the same text, 0 if there is none
    family: int = 0  # the number of the first article of those with its text, its own where it is no copy
    story: str = ""  # "" for an article that is in none yet


@dataclass(frozen=True, slots=True)
class Move:
    """An article that goes to another story, or to its first one."""

    number: int
    former: str  # "" for an article that was in none
    story: str  # "" for a new one
    founder: int  # the number of the article that a new story is named after, 0 for a story that is there
    likeness: float  # the mean likeness with the other articles of the story; 0 without any
    former_likeness: float  # and of the former one


@dataclass(slots=True)
class Bonds:
    """What an editor has said of articles, by their numbers: which stay where they are, together, and apart."""

    fixed: set[int] = field(default_factory=set)
    together: list[set[int]] = field(default_factory=list)
    apart: list[tuple[set[int], set[int]]] = field(default_factory=list)


class Desk:
    """The articles of one language that can still be compared, and how like they are."""

    def __init__(self) -> None:
        self.articles: dict[int, DeskArticle] = {}
        self.numbers_of_terms: dict[str, int] = {}
        self.n_with_term = np.zeros(1 << 10, dtype=np.int64)  # articles; terms are forgotten when it is halved to none
        self.next_term = 0
        self.n_articles = 0  # that were counted; halved with the terms
        self.n_when_linked = 0  # articles that were counted when all links were made last
        self.looked_at = 0  # the moment of the last look at all articles
        self.fresh_terms: list[str] = []  # not stored yet, as the changed ones
        self.changed_terms: set[int] = set()
        self.has_halved = False

    def numbered(self, words: Sequence[str], *, is_counted: bool = True) -> npt.NDArray[np.int32]:
        """Return the numbers of the words of an article, and count it unless it was counted before."""
        for word in words:
            if word not in self.numbers_of_terms:
                self.numbers_of_terms[word] = self.next_term
                self.fresh_terms.append(word)
                self.next_term += 1
        terms = np.fromiter(map(self.numbers_of_terms.__getitem__, words), np.int32, len(words))
        self.make_room()
        if is_counted:
            self.n_with_term[terms] += 1
            self.changed_terms.update(terms.tolist())
            self.n_articles += 1
        return terms

    def make_room(self) -> None:
        """Have a count for each term."""
        if self.n_with_term.size < self.next_term:
            self.n_with_term = np.concatenate([self.n_with_term, np.zeros(self.next_term, dtype=np.int64)])

    def add(self, articles: Iterable[DeskArticle]) -> list[DeskArticle]:
        """Take in articles, and find their links; return those whose links are new, which can be others too."""
        new = list(articles)
        self.articles |= {article.number: article for article in new}
        if self.n_articles > HALVED_ABOVE:
            self._halve()
        if self.n_articles < COLD and self.n_articles >= GROWTH * self.n_when_linked:
            new, self.n_when_linked = [self.articles[number] for number in sorted(self.articles)], self.n_articles
        self._link(new)
        return new

    def remove(self, number: int) -> DeskArticle:
        """Take an article out, with the links to it."""
        for article in self.articles.values():
            if number in article.earlier:
                stays = article.earlier != number
                article.earlier, article.likeness = article.earlier[stays], article.likeness[stays]
        return self.articles.pop(number)

    def leave_out(self, words: Collection[str]) -> None:
        """Leave words out of all articles, which turn out to be function words, and link these anew."""
        terms = [self.numbers_of_terms[word] for word in words if word in self.numbers_of_terms]
        for article in self.articles.values():
            is_other = ~np.isin(article.terms, terms)
            article.terms, article.counts = article.terms[is_other], article.counts[is_other]
        self.n_when_linked = 0

    def crowd(self) -> Crowd:
        """Return the window and the bars of today."""
        times = np.sort([article.time for article in self.articles.values()]).astype(np.int64)
        return Crowd.of(times[-OF_LATE:], is_part=True)

    def forget(self, clock: int, window: int) -> list[int]:
        """Let go of articles that are older than two windows and not among the newest; return their numbers."""
        if len(self.articles) <= KEPT:
            return []
        older = self._in_order()[:-KEPT]
        numbers = [article.number for article in older if article.time < clock - 2 * window]
        for number in numbers:
            del self.articles[number]
        return numbers

    def look(
        self, clock: int, crowd: Crowd, open_stories: Collection[str], bonds: Bonds, new: Collection[int] | None = None
    ) -> list[Move]:
        """Return which articles go to another story, or to their first one.

        Looked at are those of open stories of two windows; with `new` only these and the stories like one of them.
        """
        least, stories = clock - 2 * crowd.window, set(open_stories)
        if new is not None:
            stories &= self._touched(new, TOUCHED * crowd.bar)
            crowd = replace(crowd, bar=crowd.at_once)
        pool = [
            article
            for article in self._in_order()
            if not article.story or (article.time >= least and article.story in stories)
        ]
        if not pool:
            return []
        graph, times = self._graph(pool), np.array([article.time for article in pool], np.int64)
        labels = stories_in(_with_inertia(graph, pool, bonds), times, crowd)
        stays = [
            bool(article.story) and (article.time < clock - crowd.window or article.number in bonds.fixed)
            for article in pool
        ]
        return _moves(pool, graph, _named(pool, labels, stays, graph, bonds))

    def _in_order(self) -> list[DeskArticle]:
        return sorted(self.articles.values(), key=lambda article: (article.time, article.number))

    def _touched(self, new: Collection[int], least: float) -> set[str]:
        """Return the stories that are like some articles."""
        linked = {
            number
            for article in map(self.articles.__getitem__, new)
            for number in article.earlier[article.likeness >= least].tolist()
        }
        return {self.articles[number].story for number in linked if number in self.articles}

    def _graph(self, pool: Sequence[DeskArticle]) -> sparse.csr_array:
        """Return the links of some articles as a symmetric graph."""
        numbers = np.array([article.number for article in pool], dtype=np.int64)
        order = np.argsort(numbers)
        later = np.repeat(np.arange(len(pool)), [article.earlier.size for article in pool])
        earlier = np.concatenate([article.earlier for article in pool])
        likeness = np.concatenate([article.likeness for article in pool])
        at = np.minimum(np.searchsorted(numbers, earlier, sorter=order), len(pool) - 1)
        is_there = numbers[order[at]] == earlier
        return symmetric(later[is_there], order[at][is_there].astype(np.int32), likeness[is_there], len(pool))

    def _link(self, new: list[DeskArticle]) -> None:
        """Find the links of articles to those that were there before, or come before them in the list."""
        order = self._in_order()
        place_of = {article.number: place for place, article in enumerate(order)}
        places = np.array([place_of[article.number] for article in new], dtype=np.int64)
        arrival = np.full(len(order), -1, dtype=np.int64)
        arrival[places] = np.arange(places.size)
        facts = ((article.outlet, article.terms, article.counts) for article in order)
        times = np.array([article.time for article in order], np.int64)
        rows = ArticleRows.of(times, *zip(*facts, strict=True))
        vectors = rows.weighted(self.n_with_term, self.n_articles)
        newest = slice(max(0, len(order) - CENTRE), len(order))
        likeness, window = ArticleLikeness(vectors, rows.times, rows.outlets, newest), self.crowd().window
        # what is to come in the window is as much as what was
        n_in_window = 2 * (np.arange(len(order)) - np.searchsorted(rows.times, rows.times - window))
        background = np.array([article.background for article in order], np.float32)
        background[places] = likeness.background(places, window, n_in_window)
        links = likeness.links(places, window, (BACKGROUND * background).astype(np.float32), arrival)
        numbers = np.array([article.number for article in order], np.int64)
        ends = np.cumsum(links.n_links)[:-1]
        linked = zip(np.split(numbers[links.earlier], ends), np.split(links.likeness, ends), strict=True)
        for article, place, first_copy, (earlier, values) in zip(
            new, places.tolist(), links.first_copy.tolist(), linked, strict=True
        ):
            article.background = float(background[place])
            article.earlier, article.likeness = earlier, values
            article.copy_of = int(numbers[first_copy]) if first_copy >= 0 else 0

    def _halve(self) -> None:
        self.n_with_term >>= 1
        self.n_articles //= 2
        in_use = {term for article in self.articles.values() for term in article.terms.tolist()}
        self.numbers_of_terms = {
            word: number
            for word, number in self.numbers_of_terms.items()
            if self.n_with_term[number] > 0 or number in in_use
        }
        self.fresh_terms = [word for word in self.fresh_terms if word in self.numbers_of_terms]
        self.changed_terms, self.has_halved = set(self.numbers_of_terms.values()), True


Name = tuple[str, int]  # of a story that is there, and 0; or "", and the number of the article that founds a new one


def _with_inertia(graph: sparse.csr_array, pool: Sequence[DeskArticle], bonds: Bonds) -> sparse.csr_array:
    """Return a graph whose links count more within a story, less across two, and as an editor has put together or
    apart.
    """
    numbers = {"": -1}
    story = np.array([numbers.setdefault(article.story, len(numbers)) for article in pool])
    row, column = np.repeat(np.arange(len(pool)), np.diff(graph.indptr)), graph.indices
    have_stories = (story[row] >= 0) & (story[column] >= 0)
    counts = np.where(have_stories, np.where(story[row] == story[column], STAYS, CROSSES), 1.0)
    data = (graph.data * counts).astype(np.float32)
    number_of = np.array([article.number for article in pool])
    for group in bonds.together:
        inside = np.isin(number_of, list(group))
        data[inside[row] & inside[column]] = 1.0
    for group, parted in bonds.apart:
        here, there = np.isin(number_of, list(group)), np.isin(number_of, list(parted))
        data[(here[row] & there[column]) | (there[row] & here[column])] = 0.0
    return sparse.csr_array((data, graph.indices, graph.indptr), shape=graph.shape)


def _named(
    pool: Sequence[DeskArticle], labels: Integers, stays: Sequence[bool], graph: sparse.csr_array, bonds: Bonds
) -> list[Name]:
    """Return the name of each article's story: each label takes over the story that it shares most articles with.

    Of equal ones that whose first article came first. A label with articles that an editor has placed is theirs.
    """
    first: dict[str, int] = {}
    shared: Counter[tuple[int, str]] = Counter()
    placed: defaultdict[int, set[str]] = defaultdict(set)
    founder: dict[int, int] = {}
    for article, label, is_fixed in zip(pool, labels.tolist(), stays, strict=True):
        if article.story:
            first[article.story] = min(first.get(article.story, article.number), article.number)
            shared[label, article.story] += 1
            if article.number in bonds.fixed:
                placed[label].add(article.story)
        if not is_fixed:
            founder.setdefault(label, article.number)
    name_of = {
        label: min(stories, key=lambda story: (-shared[label, story], first[story]))
        for label, stories in placed.items()
    }
    inherited = set(name_of.values())
    for (label, story), _ in sorted(shared.items(), key=lambda pair: (-pair[1], first[pair[0][1]], pair[0][0])):
        if label not in name_of and story not in inherited:
            name_of[label] = story
            inherited.add(story)
    names = [
        (article.story, 0) if is_fixed else (name_of[label], 0) if label in name_of else ("", founder[label])
        for article, label, is_fixed in zip(pool, labels.tolist(), stays, strict=True)
    ]
    for label, stories in placed.items():  # an editor has parted what is alike: each goes where it is likest
        if len(stories) > 1:
            for place in np.flatnonzero(labels == label).tolist():
                if not stays[place]:
                    names[place] = (_likest(place, pool, graph, stories) or name_of[label], 0)
    return names


def _likest(place: int, pool: Sequence[DeskArticle], graph: sparse.csr_array, stories: Collection[str]) -> str:
    """Return that of several stories whose articles are likest to an article; "" where it is like none."""
    sums: defaultdict[str, float] = defaultdict(float)
    for near, value in _links_of(place, graph):
        if pool[near].story in stories:
            sums[pool[near].story] += value
    return min(sums, key=lambda story: (-sums[story], story)) if sums else ""


def _moves(pool: Sequence[DeskArticle], graph: sparse.csr_array, names: Sequence[Name]) -> list[Move]:
    sizes, former_sizes = Counter(names), Counter(article.story for article in pool)
    moves = []
    for place, (article, name) in enumerate(zip(pool, names, strict=True)):
        former = article.story
        if name == (former, 0):
            continue
        links = _links_of(place, graph)
        likeness = sum(value for near, value in links if names[near] == name) / max(sizes[name] - 1, 1)
        former_sum = sum(value for near, value in links if former and pool[near].story == former)
        moves.append(Move(article.number, former, *name, likeness, former_sum / max(former_sizes[former] - 1, 1)))
    return moves


def _links_of(place: int, graph: sparse.csr_array) -> list[tuple[int, float]]:
    """Return the places of the articles that one is linked to, and how like they are."""
    row = slice(graph.indptr[place], graph.indptr[place + 1])
    return list(zip(graph.indices[row].tolist(), graph.data[row].tolist(), strict=True))
