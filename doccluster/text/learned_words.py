"""Function words of languages without a list, learned from the texts: they stand in every part of what is said.

A word of content comes with its subject; a function word is spread evenly. In a long text it is in many of its
passages. Short texts are compared with one another: of those in its language, which share their commonest words, many
have it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from itertools import chain

import numpy as np
from scipy import sparse

from doccluster.text.scripts import is_unspaced, separate_scripts, tokenize_separated

N_SAMPLED = 2_000
LOOKED_AT = 5_000  # characters of a text
LEAST_WORDS = 8  # of a text that says something of its language
LISTED = 0.1  # of the words of a text on one list: it is in that language; short texts with half of it may be
PASSAGE = 25  # words
LEAST_PASSAGES = 8  # of a long text
LEAST_TEXTS = 15  # short ones that have a word
MOST_BESIDE = 10  # words that come with a word in half of its short texts: a subject has more
MOST_WORDS = 5_000  # the commonest of short texts
SPREAD = 0.25  # of the passages, or of the short texts of its language


def learned_function_words(texts: Sequence[str], lists: Sequence[Collection[str]]) -> frozenset[str]:
    """Return the function words (lower case) of the texts that are in none of the languages with a list.

    Scripts without blanks between words are left aside.

    Examples
    --------
    >>> text = " ".join(f"omu{one}{other} mu obu{other}{one} na kwa" for one in "bdgklmn" for other in "bdgklmn")
    >>> sorted(learned_function_words([text], [{"the", "of"}]))
    ['kwa', 'mu', 'na']
    """
    long: list[list[str]] = []
    short: list[list[str]] = []
    known: Counter[str] = Counter()
    for text in texts[:: max(1, len(texts) // N_SAMPLED)]:
        pieces = tokenize_separated(separate_scripts(text[:LOOKED_AT].lower()))
        words = [word for word in pieces if not is_unspaced(word)]
        n_listed = max((sum(word in listed for word in words) for listed in lists), default=0)
        if n_listed >= LISTED * len(words):
            known.update(set(words))
        elif len(words) >= PASSAGE * LEAST_PASSAGES:
            long.append(words)
        elif len(words) >= LEAST_WORDS and n_listed <= LISTED * len(words) / 2:
            short.append(words)
    found = _of_long_texts(long) | _of_short_texts(short)
    unlisted = Counter(chain.from_iterable(map(set, chain(long, short))))
    return frozenset(word for word in found if word.isalpha() and unlisted[word] > known[word])


def _of_long_texts(texts: Sequence[list[str]]) -> set[str]:
    """Return the words that are in many passages of a quarter of the texts that have them; of a tenth if very short.

    In texts of many languages, a function word of one is a rare word of others.
    """
    having: Counter[str] = Counter()
    spread: Counter[str] = Counter()
    for words in texts:
        passages = [set(words[start : start + PASSAGE]) for start in range(0, len(words), PASSAGE)]
        counts = Counter(chain.from_iterable(passages))
        having.update(counts.keys())
        spread.update(word for word, count in counts.items() if count >= SPREAD * len(passages))
    return {word for word, count in spread.items() if count >= having[word] / (10 if len(word) <= 2 else 4)}


def _of_short_texts(texts: Sequence[list[str]]) -> set[str]:
    """Return the words that many texts have of those in which the commonest word beside them is."""
    counts = Counter(chain.from_iterable(map(set, texts)))
    names = [word for word, count in counts.most_common(MOST_WORDS) if count >= LEAST_TEXTS]
    if not names:
        return set()
    column = {word: place for place, word in enumerate(names)}
    places = [sorted(column[word] for word in set(words) if word in column) for words in texts]
    edges = np.cumsum([0, *map(len, places)])
    has = sparse.csr_array((np.ones(edges[-1]), np.fromiter(chain.from_iterable(places), np.int64), edges))
    both = sparse.csr_array(has.T @ has)
    own = both.diagonal()
    rows = np.repeat(np.arange(own.size), np.diff(both.indptr))
    beside = both.data >= own[rows] / 2
    commonest = np.zeros(own.size)
    np.maximum.at(commonest, rows[beside], own[both.indices[beside]])
    n_beside = np.bincount(rows[beside], minlength=own.size) - 1
    is_spread = (own >= SPREAD * commonest) & (n_beside <= MOST_BESIDE)
    return {names[place] for place in np.flatnonzero(is_spread).tolist()}
