"""The words of documents and where they are, for the search of the page; this module imports little."""

from __future__ import annotations

import itertools
import re
import string
import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import numpy as np

MAX_PAIRS = 400_000  # of a word and a place; with whole texts in the page one for every LETTERS_PER_PAIR of them
LETTERS_PER_PAIR = 10
MAX_WORD_LETTERS = 40
MAX_SHARED_LETTERS = 35  # letters that a word takes from the one before it, as one digit to the base 36

_WORD = re.compile(r"[^\W_]+")
_DIGITS = string.digits + string.ascii_lowercase  # to the base 36
_LAST_OF_ONE_UNIT = "\uffff"  # a script counts the letters beyond it twice


class _Letters(dict[int, int | None]):
    """A table for `str.translate` that drops marks and keeps all other letters."""

    def __missing__(self, code: int) -> int | None:
        self[code] = None if unicodedata.category(chr(code)).startswith("M") else code
        return self[code]


_WITHOUT_MARKS = _Letters()


def words_and_places(texts: list[str] | None, beginnings: list[str], places: Any, n: int) -> dict[str, Any]:
    """Return the words of `n` documents and where they are: how many places each has, and the gaps between these.

    A place is the number of a document that the page lists, or n + the number of its cluster for all that it does not.
    Read are whole texts where the page holds them, else how each document begins; where that comes to too many pairs,
    only how the listed ones begin.
    """
    is_listed = places < n
    if len(beginnings) == n:
        if texts is not None:
            max_pairs = max(MAX_PAIRS, sum(map(len, texts)) // LETTERS_PER_PAIR)
            places_of = _places_of_words(texts, places, max_pairs)
            if places_of is not None:
                return _index("the whole texts", n, places_of)
        places_of = _places_of_words(beginnings, places, MAX_PAIRS)
        if places_of is not None:
            return _index("how each document begins", n, places_of)
        beginnings = list(itertools.compress(beginnings, is_listed.tolist()))
    places_of = _places_of_words(beginnings, places[is_listed], None)
    return _index("how the documents listed here begin", n, places_of or {})


def plain_words(text: str) -> set[str]:
    """Return the words of a text in small letters without marks, as the script of the page splits what is typed.

    >>> sorted(plain_words("Café, 3 cafés and B2B_x"))
    ['and', 'b2b', 'cafe', 'cafes', 'x']
    """
    return set(filter(_is_searched, _words_of(text)))


def _words_of(text: str) -> list[str]:
    bare = text if text.isascii() else unicodedata.normalize("NFD", text).translate(_WITHOUT_MARKS)
    return _WORD.findall(bare.lower())


def _is_searched(word: str) -> bool:
    return len(word) <= MAX_WORD_LETTERS and not word.isdecimal()


def _places_of_words(texts: Iterable[str], places: Any, max_pairs: int | None) -> dict[str, set[int]] | None:
    """Return the places of each word; None where they are more than `max_pairs` together."""
    places_of_all: defaultdict[str, set[int]] = defaultdict(set)
    for text, place in zip(texts, places.tolist(), strict=True):
        for word in set(_words_of(text)):
            places_of_all[word].add(place)
    places_of = {word: word_places for word, word_places in places_of_all.items() if _is_searched(word)}
    return places_of if max_pairs is None or sum(map(len, places_of.values())) <= max_pairs else None


def _index(scope: str, n: int, places_of: dict[str, set[int]]) -> dict[str, Any]:
    words, before, in_order = [], "", sorted(places_of)
    for word in in_order:
        shared = 0
        # a letter beyond the first 65,536 is two units to the script, which takes the shared ones by their number
        while (
            shared < min(len(word), len(before), MAX_SHARED_LETTERS)
            and word[shared] == before[shared] <= _LAST_OF_ONE_UNIT
        ):
            shared += 1
        words.append(_DIGITS[shared] + word[shared:])
        before = word
    counts = np.array([len(places_of[word]) for word in in_order], dtype=np.int64)
    places = np.array([place for word in in_order for place in sorted(places_of[word])], dtype=np.int64)
    gaps = np.diff(places, prepend=0)
    firsts = np.cumsum(counts) - counts
    gaps[firsts] = places[firsts]
    return {"said": scope, "n": n, "words": " ".join(words), "counts": counts, "gaps": gaps}
