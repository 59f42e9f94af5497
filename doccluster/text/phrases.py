"""Phrases of two to four words that many documents have, found in texts as they are written.

A phrase lies between two breaks (punctuation, an empty line). It is kept if it is complete, as in the labels of Lingo
(Osinski, Stefanowski and Weiss 2004): where most of its occurrences go on with the same word, or follow the same word,
the longer phrase stands for it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from itertools import count

import numpy as np
import numpy.typing as npt

from doccluster.text.scripts import is_unspaced

LONGEST = 4
MIN_DOCUMENTS = 2
COMPLETE = 0.6  # a phrase is a part of a longer one that covers so much of its occurrences
MAX_FUNCTION_WORDS = 1  # inside a phrase: "Bank of England"

Integers = npt.NDArray[np.int64]

_TOKEN = re.compile(r"\n\s*\n|\w+(?:['’]\w+)*|[^\w\s]+")
_BREAK = 0


@dataclass(frozen=True)
class Phrase:
    """The words of a phrase, and the documents (positions, ascending) that have it."""

    words: tuple[str, ...]
    documents: Integers


def find_phrases(
    texts: Iterable[str], *, function_words: Collection[str] = frozenset(), prepare: Callable[[str], str] = str.lower
) -> list[Phrase]:
    """Return the complete phrases that at least two texts have, in the order of their first occurrence.

    Parameters
    ----------
    texts : iterable of str
    function_words : collection of str
        Words, as `prepare` leaves them, that begin and end no phrase; one may stand inside.
    prepare : callable
        What is done to a text before it is cut into words.

    Notes
    -----
    A phrase begins and ends with a word that begins with a letter. Words with an apostrophe and words of scripts
    without blanks break phrases.

    Examples
    --------
    >>> texts = ["War in the Middle East", "The Middle East, again", "a middle east war"]
    >>> [(" ".join(phrase.words), phrase.documents.tolist()) for phrase in find_phrases(texts, function_words={"the"})]
    [('middle east', [0, 1, 2])]
    """
    words, tokens, text_of = _tokens(texts, prepare)
    may_end = np.array([word[:1].isalpha() and word not in function_words for word in words], dtype=bool)
    is_function = np.array([word in function_words for word in words], dtype=bool)
    found: list[tuple[int, Phrase]] = []
    shorter = _Runs.of_words(tokens, len(words))
    for length in range(2, LONGEST + 1):
        runs = shorter.longer(text_of)
        if length > 2:
            found += _complete_phrases(shorter, runs, tokens, text_of, words, may_end, is_function)
        if runs.first.size == 0:
            break
        shorter = runs
    else:
        found += _complete_phrases(shorter, None, tokens, text_of, words, may_end, is_function)
    return [phrase for _, phrase in sorted(found, key=lambda pair: (pair[0], len(pair[1].words)))]


@dataclass(frozen=True, eq=False)
class _Runs:
    """The runs of so many words that are frequent, by number from 1; `number` says which begins at each token."""

    length: int
    number: Integers
    first: Integers  # the token at which each begins for the first time
    times: Integers

    @classmethod
    def of_words(cls, tokens: Integers, n_words: int) -> _Runs:
        """Return the runs of one word, none of them left out; number 0 is a break."""
        times = np.bincount(tokens, minlength=n_words)[1:]
        return cls(1, tokens, np.zeros(n_words - 1, dtype=np.int64), times)

    def longer(self, text_of: Integers) -> _Runs:
        """Return the runs of one word more that are in enough texts; both their shorter parts are frequent too."""
        places = np.flatnonzero((self.number[:-1] > 0) & (self.number[1:] > 0))
        keys = self.number[places] * np.int64(self.times.size + 1) + self.number[places + 1]
        _, first, run, times = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
        n_texts = int(text_of[-1]) + 1 if text_of.size else 0
        pairs = np.unique(run * np.int64(max(n_texts, 1)) + text_of[places])
        kept = np.bincount(pairs // max(n_texts, 1), minlength=times.size) >= MIN_DOCUMENTS
        number = np.zeros_like(self.number)
        number[places] = (np.cumsum(kept) * kept)[run]
        return _Runs(self.length + 1, number, places[first[kept]], times[kept])


def _tokens(texts: Iterable[str], prepare: Callable[[str], str]) -> tuple[list[str], Integers, Integers]:
    """Return the distinct words (a break first), the words of all texts by number, and the text of each."""
    numbers: defaultdict[str, int] = defaultdict(count(1).__next__)
    found: list[int] = []
    lengths: list[int] = []
    for text in texts:
        own = [numbers[token] for token in _TOKEN.findall(prepare(text)) if token != "-"]
        found += own
        found.append(_BREAK)
        lengths.append(len(own) + 1)
    words = ["", *numbers]
    breaks = np.array([not word.replace("_", "").isalnum() or is_unspaced(word) for word in words], dtype=bool)
    tokens = np.array(found, dtype=np.int64)
    tokens[breaks[tokens]] = _BREAK
    return words, tokens, np.repeat(np.arange(len(lengths), dtype=np.int64), lengths)


def _complete_phrases(
    runs: _Runs,
    longer: _Runs | None,
    tokens: Integers,
    text_of: Integers,
    words: list[str],
    may_end: npt.NDArray[np.bool_],
    is_function: npt.NDArray[np.bool_],
) -> list[tuple[int, Phrase]]:
    """Return the phrases of one length that are no part of a longer one, each with its first place."""
    if runs.first.size == 0:
        return []
    written = tokens[runs.first[:, None] + np.arange(runs.length)]
    kept = may_end[written[:, 0]] & may_end[written[:, -1]]
    kept &= is_function[written].sum(axis=1) <= MAX_FUNCTION_WORDS
    if longer is not None:
        covered = np.zeros(runs.times.size + 1, dtype=np.int64)
        places = np.flatnonzero(longer.number)
        times = longer.times[longer.number[places] - 1]
        for part, added in ((places, places + runs.length), (places + 1, places)):
            counts = may_end[tokens[added]]  # a function word before or after it makes no other phrase
            np.maximum.at(covered, runs.number[part[counts]], times[counts])
        kept &= covered[1:] < COMPLETE * runs.times
    places = np.flatnonzero(runs.number)
    order = places[np.argsort(runs.number[places], kind="stable")]
    bounds = np.searchsorted(runs.number[order], np.arange(1, runs.times.size + 2))
    return [
        (
            int(runs.first[run]),
            Phrase(
                tuple(words[token] for token in written[run].tolist()),
                np.unique(text_of[order[bounds[run] : bounds[run + 1]]]),
            ),
        )
        for run in np.flatnonzero(kept).tolist()
    ]
