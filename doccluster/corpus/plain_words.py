"""The words of an article, fast where its letters are those of ASCII: what is found is what the patterns find."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Collection, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt

MOST_WORDS_KNOWN = 1 << 17
_PUNCTUATION = re.compile("[\xa0\u2010-\u2027]")  # the quotes and dashes of typesetters, which are in no word
_BETWEEN_WORDS = "".join(
    character for character in map(chr, range(128)) if not (character.isalnum() or character == "_")
)
_LOWER_WORDS = str.maketrans(
    string.ascii_uppercase + _BETWEEN_WORDS, string.ascii_lowercase + " " * len(_BETWEEN_WORDS)
)


def plain_words(text: str) -> list[str] | None:
    r"""Return the words (``\w+``) of a text in small letters, or None if it has letters beyond ASCII.

    >>> plain_words("The \u201cold\u201d harbour \u2013 it's shut"), plain_words("Skerrow's caf\u00e9")
    (['the', 'old', 'harbour', 'it', 's', 'shut'], None)
    """
    if not text.isascii():
        text = _PUNCTUATION.sub(" ", text)
        if not text.isascii():
            return None
    return text.translate(_LOWER_WORDS).split()


class WordTable:
    """What is known of words, as rows of an array; forgotten all at once when they are too many.

    `know`: returns the row of a word. `row`: the shape of a row.
    """

    def __init__(self, know: Callable[[str], Any], dtype: npt.DTypeLike, row: tuple[int, ...] = ()) -> None:
        self._numbers = _Numbers()
        self._rows = np.zeros((1 << 10, *row), dtype=dtype)
        self._know = know

    def look_up(self, words: Collection[str]) -> npt.NDArray[Any]:
        """Return the rows of words: array of shape (n_words, *row)."""
        numbers = self._numbers
        n_before = len(numbers)
        if n_before > MOST_WORDS_KNOWN:
            numbers.clear()
            n_before = 0
        numbers_of_words = np.fromiter(map(numbers.__getitem__, words), dtype=np.int64, count=len(words))
        if numbers.fresh:
            if len(numbers) > self._rows.shape[0]:
                larger = np.zeros((2 * len(numbers), *self._rows.shape[1:]), dtype=self._rows.dtype)
                larger[:n_before] = self._rows[:n_before]
                self._rows = larger
            self._rows[n_before : len(numbers)] = [self._know(word) for word in numbers.fresh]
            numbers.fresh = []
        return self._rows[numbers_of_words]


class _Numbers(dict[str, int]):
    """Numbers words in the order of their first use, and notes the new ones."""

    def __init__(self) -> None:
        super().__init__()
        self.fresh: list[str] = []

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        self.fresh.append(word)
        return number


def word_codes(words: Sequence[str]) -> npt.NDArray[np.uint64]:
    """Return a number of 64 bits for each word, the same everywhere."""
    return _CODES.look_up(words)


def _code_of(word: str) -> int:
    return int.from_bytes(blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


_CODES = WordTable(_code_of, np.uint64)
