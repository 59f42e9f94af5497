"""Article -> its words: how often each stands in it, which are names or numbers, and in which language it is."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
import numpy.typing as npt

from doccluster.text.language import FULL_VOTE, STOP_WORD_LANGUAGES, SURE_COVERAGE, FunctionWords
from doccluster.text.scripts import separate_scripts, tokenize_separated
from doccluster.text.tokens import WordTable, plain_words

LANGUAGES = tuple(sorted(STOP_WORD_LANGUAGES))
MOST_CHARACTERS = 900  # at the beginning of an article that are looked at: what is new stands first
LANGUAGE_WORDS = 120  # words at the beginning of an article from which its language is told
SURE_HITS = 3  # function words of its language that an article must have to be sure of it
TITLE_TIMES = 2  # how often a word of the title counts
MOST_COUNTED = 127  # occurrences: what a byte holds


@dataclass(frozen=True, slots=True)
class ArticleWords:
    """The words of an article in the order of their first use, title before text, without function words."""

    words: tuple[str, ...]
    counts: npt.NDArray[np.int8]  # how often each occurs, a word of the title twice; negative for names and numbers
    language: str  # as in the stop lists; "" where no article says enough to tell


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
        tokens = [(_tokens_in(title), _tokens_in(text[:MOST_CHARACTERS])) for title, text, _ in rows]
        languages = [self._language({*in_title, *in_text[:LANGUAGE_WORDS]}) for in_title, in_text in tokens]
        for (_, _, outlet), language in zip(rows, languages, strict=True):
            if language:
                self.languages[outlet][language] += 1
        usual = self.main_language
        return [
            self._words(title, text, pair, language or _commonest(self.languages.get(outlet)) or usual)
            for (title, text, outlet), pair, language in zip(rows, tokens, languages, strict=True)
        ]

    @property
    def main_language(self) -> str:
        """The language of most articles so far, "" where none was told."""
        return _commonest(sum(self.languages.values(), Counter[str]()))

    def _words(self, title: str, text: str, tokens: tuple[list[str], list[str]], language: str) -> ArticleWords:
        in_title, in_text = tokens
        stop_words = self.stop_words[language]
        counted = Counter((*in_title * TITLE_TIMES, *in_text))
        words = tuple(word for word in counted if word not in stop_words)
        names = _names_in(title) | _names_in(text[:MOST_CHARACTERS])
        counts = np.fromiter(
            (
                -min(counted[word], MOST_COUNTED)
                if word in names or word[0].isdigit()
                else min(counted[word], MOST_COUNTED)
                for word in words
            ),
            dtype=np.int8,
            count=len(words),
        )
        return ArticleWords(words, counts, language)

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
    capitals = [chr(point) for point in range(0x10000) if unicodedata.category(chr(point)) == "Lu"]
    return re.compile(rf" (?<=[\w,] )([{_ranges(capitals)}]\w+)")  # a blank first is found fast


def _ranges(characters: Sequence[str]) -> str:
    """Return sorted characters as the inside of a class of a regular expression."""
    spans: list[list[str]] = []
    for letter in characters:
        if spans and ord(letter) == ord(spans[-1][1]) + 1:
            spans[-1][1] = letter
        else:
            spans.append([letter, letter])
    return "".join(f"{first}-{last}" for first, last in spans)
