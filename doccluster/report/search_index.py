"""Which words the documents of a page hold, packed: what its search box looks in beyond what can be seen."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from doccluster.record import Run
from doccluster.report.explore import packed_gaps, page_order
from doccluster.report.story_cards import explored_sizes, listed_sizes

MOST_PAIRS = 400_000  # of a word and a place; with whole texts in the page one for every LETTERS_PER_PAIR of them
LETTERS_PER_PAIR = 10
MOST_READ = 50_000  # documents: of more only the listed ones are read
LONGEST_WORD = 40
MOST_SHARED = 35  # letters that a word takes from the one before it, as one digit to the base 36

_WORD = re.compile(r"[^\W_]+")
_LAST_OF_ONE_UNIT = "\uffff"  # a script counts the letters beyond it twice


class _Letters(dict[int, int | None]):
    """What `str.translate` makes of each letter: nothing of a mark."""

    def __missing__(self, code: int) -> int | None:
        self[code] = None if unicodedata.category(chr(code)).startswith("M") else code
        return self[code]


_WITHOUT_MARKS = _Letters()


def search_index(run: Run, texts: Sequence[str] | None) -> dict[str, Any]:
    """Return the words of documents and where they are, as plain data for JSON.

    A place is the number of a document that the page lists, or n + the number of its cluster for all that it does not.
    Read are whole texts where the page holds them, else how each document begins; where that comes to too many pairs,
    only how the listed ones begin.
    """
    order, places = page_order(run), _places(run)
    is_listed = places < order.size
    titles, excerpts = run.documents.titles, run.documents.excerpts

    def begins(row: int) -> str:
        return f"{titles[row]} {excerpts[row]}"

    if order.size <= MOST_READ:
        if texts is not None:
            most = max(MOST_PAIRS, sum(map(len, texts)) // LETTERS_PER_PAIR)
            found = _places_of_words((texts[row] for row in order.tolist()), places, most)
            if found is not None:
                return _index("the whole texts", order.size, found)
        found = _places_of_words(map(begins, order.tolist()), places, MOST_PAIRS)
        if found is not None:
            return _index("how each document begins", order.size, found)
    found = _places_of_words(map(begins, order[is_listed].tolist()), places[is_listed], None)
    return _index("how the documents listed here begin", order.size, found or {})


def plain_words(text: str) -> set[str]:
    """Return the words of a text in small letters without marks, as the page's script makes them of what is typed.

    >>> sorted(plain_words("Café, 3 cafés and B2B_x"))
    ['and', 'b2b', 'cafe', 'cafes', 'x']
    """
    bare = text if text.isascii() else unicodedata.normalize("NFD", text).translate(_WITHOUT_MARKS)
    return {word for word in _WORD.findall(bare.lower()) if len(word) <= LONGEST_WORD and not word.isdecimal()}


def _places(run: Run) -> Any:
    """Return the place of each document of the page, in its order, int64 array of shape (n_explored,)."""
    sizes, listed = explored_sizes(run), listed_sizes(run)
    n = int(sizes.sum())
    clusters = np.repeat(np.arange(sizes.size), sizes)
    rank = np.arange(n) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.where(rank < listed[clusters], np.arange(n), n + clusters)


def _places_of_words(texts: Iterable[str], places: Any, most: int | None) -> dict[str, set[int]] | None:
    """Return the places of each word; None where they are more than `most` together."""
    found: dict[str, set[int]] = {}
    for text, place in zip(texts, places.tolist(), strict=True):
        for word in plain_words(text):
            found.setdefault(word, set()).add(place)
    return found if most is None or sum(map(len, found.values())) <= most else None


def _index(said: str, n: int, found: dict[str, set[int]]) -> dict[str, Any]:
    """Return the index: words in their order, each as the number of letters it shares with the last, and the rest."""
    words, before, gaps = [], "", []
    for word in sorted(found):
        shared = 0
        while shared < min(len(word), len(before), MOST_SHARED) and word[shared] == before[shared] <= _LAST_OF_ONE_UNIT:
            shared += 1
        words.append(np.base_repr(shared, 36).lower() + word[shared:])
        before = word
        gaps.append(np.diff(np.array(sorted(found[word])), prepend=0))
    return {
        "said": said,
        "n": n,
        "words": " ".join(words),
        "counts": packed_gaps(np.array([own.size for own in gaps], dtype=np.int64)),
        "gaps": packed_gaps(np.concatenate(gaps) if gaps else np.zeros(0, dtype=np.int64)),
    }
