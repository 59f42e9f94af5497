"""Article -> its terms: how often each stands in it, and which are names or numbers."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
import numpy.typing as npt

from doccluster.corpus.plain_words import WordTable, plain_words
from doccluster.text.language import FULL_VOTE, FunctionWords
from doccluster.text.scripts import separate_scripts, tokenize_separated
from doccluster.text.stopwords import STOP_WORD_LANGUAGES

LANGUAGES = tuple(sorted(STOP_WORD_LANGUAGES))
MOST_CHARACTERS = 900  # at the beginning of an article that are looked at: what is new stands first
TOLD_BY = 120  # words at the beginning of an article that tell its language
SURE_HITS = 3  # function words of its language that an article must have to be sure of it


@dataclass(frozen=True, slots=True)
class ArticleTerms:
    """The terms of an article in the order of their first use, title before text.

    Attributes
    ----------
    terms : tuple of str
    counts : int32 array of shape (n_terms,)
    is_name : bool array of shape (n_terms,)
        Numbers, and words written with a capital where no sentence begins.
    language : str
        As in the stop lists; "" where the function words do not tell.
    """

    terms: tuple[str, ...]
    counts: npt.NDArray[np.int32]
    is_name: npt.NDArray[np.bool_]
    language: str


@cache
def function_words() -> FunctionWords:
    """Return the function words of all languages."""
    return FunctionWords(LANGUAGES, preprocess=str.lower, tokenize=tokenize_separated)


class TermReader:
    """Cuts articles into terms, leaving out the function words of each article's own language."""

    def __init__(self, *, most_characters: int = MOST_CHARACTERS) -> None:
        self._most_characters = most_characters
        self._function_words = function_words()
        self._numbers_of_votes: dict[tuple[int, ...], int] = {}  # many words, few different votes
        self._votes = np.zeros((0, len(LANGUAGES)), dtype=np.int64)
        self._votes_of = WordTable(self._number_of_votes, np.int32)

    def read(self, title: str, text: str) -> ArticleTerms:
        """Return the terms of an article."""
        text = text[: self._most_characters]
        in_title, in_text = _tokens_in(title), _tokens_in(text)
        language = self._language({*in_title, *in_text[:TOLD_BY]})
        words: Iterable[str] = dict.fromkeys((*in_title, *in_text))
        if language:
            words = itertools.filterfalse(self._function_words.lists[LANGUAGES.index(language)].__contains__, words)
        terms, counted = tuple(words), Counter((*in_title, *in_text))
        counts = np.fromiter(map(counted.__getitem__, terms), dtype=np.int32, count=len(terms))
        names = _names_in(text) | {word for word in terms if word[0].isdigit()}
        is_name = np.fromiter(map(names.__contains__, terms), dtype=np.bool_, count=len(terms))
        return ArticleTerms(terms, counts, is_name, language)

    def _language(self, words: set[str]) -> str:
        """Return the language that most distinct words speak for; "" where that is not sure."""
        if not words:
            return ""
        numbers = self._votes_of.look_up(words)
        votes: list[int] = (np.bincount(numbers, minlength=len(self._votes)) @ self._votes).tolist()
        second, first = sorted(votes)[-2:]
        best = votes.index(first)
        hits = len(words & self._function_words.lists[best])
        return LANGUAGES[best] if first - second >= FULL_VOTE and hits >= SURE_HITS else ""

    def _number_of_votes(self, word: str) -> int:
        """Return the row of the votes of a word."""
        votes = tuple(self._function_words.votes(word))
        number = self._numbers_of_votes.setdefault(votes, len(self._numbers_of_votes))
        if number == len(self._votes):
            self._votes = np.vstack([self._votes, votes])
        return number


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
    for one in characters:
        if spans and ord(one) == ord(spans[-1][1]) + 1:
            spans[-1][1] = one
        else:
            spans.append([one, one])
    return "".join(f"{first}-{last}" for first, last in spans)
