"""An article: its text without what its outlet repeats, and its words: how often each stands in it, in which language.

Runs of words that earlier articles of an outlet had, ends of titles, tags and walls are not news. Everything is learned
from what came before, so an article is cleaned the same in a dump and in a stream.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import compress
from typing import NamedTuple, TypeVar
from urllib.parse import urlsplit

import numpy as np
import numpy.typing as npt

from doccluster.text.language import FULL_VOTE, STOP_WORD_LANGUAGES, SURE_COVERAGE, FunctionWords
from doccluster.text.scripts import as_ranges, separate_scripts, tokenize_separated
from doccluster.text.tokens import WordTable, plain_words

LANGUAGES = tuple(sorted(STOP_WORD_LANGUAGES))
MAX_CHARACTERS = 900  # at the beginning of an article that are looked at: what is new stands first
LANGUAGE_WORDS = 120  # words at the beginning of an article from which its language is told
SURE_HITS = 3  # function words of its language that an article must have to be sure of it
TITLE_TIMES = 2  # how often a word of the title counts
MAX_COUNTED = 127  # occurrences: what a byte holds


@dataclass(frozen=True, slots=True)
class ArticleWords:
    """The words of an article in the order of their first use, title before text, without function words."""

    words: tuple[str, ...]
    counts: npt.NDArray[np.int8]  # how often each occurs, a word of the title twice; negative for names and numbers
    language: str  # as in the stop lists; "" where no article says enough to tell


class CountedWords(NamedTuple):
    """The words of an article as plain values, with function words where its language is not sure."""

    words: tuple[str, ...]
    counts: bytes  # of int8, as in `ArticleWords`
    language: str  # "" where that is not sure


@cache
def function_words() -> FunctionWords:
    """Return the function words of all languages."""
    return FunctionWords(LANGUAGES, preprocess=str.lower, tokenize=tokenize_separated)


class WordReader:
    """Cuts articles into words, leaving out the function words of each article's own language.

    An article that says too little to be sure (a title alone) is in the language that most articles of its outlet are
    in, else most of all.
    """

    def __init__(self) -> None:
        self.languages: defaultdict[str, Counter[str]] = defaultdict(Counter)  # of the articles so far, by outlet
        self._function_words = function_words()
        self.stop_words = {
            "": frozenset[str](),
            **dict(zip(LANGUAGES, self._function_words.lists, strict=True)),
        }
        self._numbers_of_votes: dict[tuple[int, ...], int] = {}  # many words, few different votes
        self._votes = np.zeros((0, len(LANGUAGES)), dtype=np.int64)
        self._votes_of = WordTable(self._number_of_votes, np.int32)

    def read(self, articles: Iterable[tuple[str, str, str]]) -> list[ArticleWords]:
        """Return the words of articles that came in together, given as title, text and outlet."""
        rows = list(articles)
        return self.settle([self.count(title, text) for title, text, _ in rows], [outlet for *_, outlet in rows])

    def settle(self, counted: Sequence[CountedWords], outlets: Sequence[str]) -> list[ArticleWords]:
        """Return the words of articles that came in together, without the function words of their languages."""
        for outlet, article in zip(outlets, counted, strict=True):
            if article.language:
                self.languages[outlet][article.language] += 1
        usual, settled = self.main_language, []
        for outlet, (words, counts, told) in zip(outlets, counted, strict=True):
            language, numbers = told or _commonest(self.languages.get(outlet)) or usual, np.frombuffer(counts, np.int8)
            if not told:
                is_said = [word not in self.stop_words[language] for word in words]
                words, numbers = tuple(compress(words, is_said)), numbers[is_said]
            settled.append(ArticleWords(words, numbers, language))
        return settled

    def count(self, title: str, text: str) -> CountedWords:
        """Return the words of an article and its language, where it says enough to be sure of that."""
        in_title, in_text = _tokens_in(title), _tokens_in(text[:MAX_CHARACTERS])
        language = self._language({*in_title, *in_text[:LANGUAGE_WORDS]})
        counted, stop_words = Counter((*in_title * TITLE_TIMES, *in_text)), self.stop_words[language]
        words = tuple(word for word in counted if word not in stop_words)
        names = _names_in(title) | _names_in(text[:MAX_CHARACTERS])
        counts = np.array([min(counted[word], MAX_COUNTED) for word in words], np.int8)
        counts[[word in names or word[0].isdigit() for word in words]] *= -1
        return CountedWords(words, counts.tobytes(), language)

    @property
    def main_language(self) -> str:
        """The language of most articles so far, "" where none was told."""
        return _commonest(sum(self.languages.values(), Counter[str]()))

    def _language(self, words: set[str]) -> str:
        """Return the language that most distinct words speak for; "" where that is not sure."""
        if not words:
            return ""
        numbers = self._votes_of.look_up(words)
        votes: list[int] = (np.bincount(numbers, minlength=len(self._votes)) @ self._votes).tolist()
        second, first = sorted(votes)[-2:]
        best = votes.index(first)
        hits = len(words & self._function_words.lists[best])
        is_sure = first - second >= FULL_VOTE and hits >= max(SURE_HITS, SURE_COVERAGE * len(words))
        return LANGUAGES[best] if is_sure else ""

    def _number_of_votes(self, word: str) -> int:
        """Return the row of the votes of a word."""
        votes = tuple(self._function_words.votes(word))
        number = self._numbers_of_votes.setdefault(votes, len(self._numbers_of_votes))
        if number == len(self._votes):
            self._votes = np.vstack([self._votes, votes])
        return number


def _commonest(languages: Counter[str] | None) -> str:
    """Return the commonest language, of equal ones the first by name; "" of none."""
    return min(languages, key=lambda name: (-languages[name], name)) if languages else ""


def _tokens_in(text: str) -> list[str]:
    """Return the words of two or more letters, cut by the rules of their scripts."""
    words = plain_words(text)
    if words is None:
        return tokenize_separated(separate_scripts(text.lower()))
    return [word for word in words if len(word) > 1]


def _names_in(text: str) -> frozenset[str]:
    """Return the words written with a capital after a word or a comma, in small letters.

    >>> sorted(_names_in("The mayor of Port Ellery, Ada Lund, spoke. Nobody listened."))
    ['ada', 'ellery', 'lund', 'port']
    """
    return frozenset(word.lower() for word in _name_pattern().findall(text))


@lru_cache(1)
def _name_pattern() -> re.Pattern[str]:
    capitals = "".join(chr(point) for point in range(0x10000) if unicodedata.category(chr(point)) == "Lu")
    return re.compile(rf" (?<=[\w,] )([{as_ranges(''.join(capitals))}]\w+)")  # a blank first is found fast


Key = TypeVar("Key")

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


class _Repeatable(NamedTuple):
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
            oldest = self.articles.popleft()
            _count_down(self.n_with_run, oldest.runs)
            _count_down(self.n_with_end, (oldest.title_end,))
            self.titles_of_text[oldest.text].pop(0)
            if not self.titles_of_text[oldest.text]:
                del self.titles_of_text[oldest.text]

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
        text = _plain(text[: 4 * MAX_CHARACTERS])[:MAX_CHARACTERS]
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


def counted_words(titles: Iterable[str], texts: Iterable[str], outlets: Iterable[str]) -> list[CountedWords]:
    """Return the words of all articles of some outlets, which are in the order of time."""
    cleaner, reader = Cleaner(), WordReader()
    return [reader.count(*cleaner.clean(*article)) for article in zip(titles, texts, outlets, strict=True)]


def body_of(title: str, text: str) -> str:
    """Return a text without the title that it begins with."""
    return text[len(title) :].lstrip() if title and text.startswith(title) else text


def _count_down(counts: Counter[Key], keys: Iterable[Key]) -> None:
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
