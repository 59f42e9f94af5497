"""Words of lines that stand in many documents: agency signs, footers, calls to subscribe. They name no cluster."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

MIN_DOCUMENTS = 10
MIN_SHARE = 0.01
LONGEST_LINE = 200
LOOKED_AT = 20_000  # characters of a document
N_SAMPLED = 5_000

_WORD = re.compile(r"\w+")


def boilerplate_words(texts: Sequence[str]) -> frozenset[str]:
    """Return the words (lower case) that most of their documents have only in lines which many documents share.

    A line is shared if a hundredth of the documents have it, and ten of them; a word is boilerplate if that holds for
    more than half of the documents it is in. Of many texts 5,000, evenly spaced, are looked at.

    Parameters
    ----------
    texts : sequence of str
        Each text once: the lines of near-copies are shared for another reason.

    Examples
    --------
    >>> texts = [f"Story {number} of the day\\nSubscribe now!" for number in range(20)]
    >>> sorted(boilerplate_words(texts))
    ['now', 'subscribe']
    """
    sample = texts[:: max(1, len(texts) // N_SAMPLED)]
    documents = [{line.strip() for line in text[:LOOKED_AT].lower().split("\n")} for text in sample]
    counts = Counter(line for lines in documents for line in lines if 0 < len(line) <= LONGEST_LINE)
    needed = max(MIN_DOCUMENTS, MIN_SHARE * len(documents))
    shared = {line for line, count in counts.items() if count >= needed}
    words_of = {line: frozenset(_WORD.findall(line)) for line in shared}
    suspects = frozenset().union(*words_of.values())
    n_shared: Counter[str] = Counter()
    n_own: Counter[str] = Counter()
    for lines in documents if suspects else ():
        own = suspects.intersection(_WORD.findall("\n".join(lines - shared)))
        n_own.update(own)
        n_shared.update(frozenset().union(*(words_of[line] for line in lines & shared)) - own)
    return frozenset(word for word in suspects if n_shared[word] > n_own[word])
