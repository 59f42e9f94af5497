"""Letters beside words: runs of letters inside words, a second view of short texts.

Of two short texts on one matter many share no word, but parts of words: forms of one, compounds, and what is written
wrongly. A second graph of neighbours and a second latent space see these; labels are settled by the words alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from doccluster.base.arrays import CsrArray, Integers
from doccluster.base.place import Place
from doccluster.base.plain_values import ShortRepr
from doccluster.base.validation import unit_rows
from doccluster.corpus.document_parts import in_two_documents
from doccluster.errors import NothingUsable
from doccluster.vectors.vectorizer import TfidfVectorizer, keep_terms

FULL_UP_TO, NONE_FROM = 20, 35  # known words in a document on average, between which letters fade out
FULL_WEIGHT = 1.5  # of their graph beside that of the words
MIN_TEXTS = 50  # of fewer, chance says which runs of letters come together
MAX_UNSPACED = 0.1  # of the texts with letters of scripts without blanks between words, or Hangul
OF_EAST_ASIA = frozenset(["Chinese characters", "kana", "Hangul"])  # a letter of which says more than one of others
Lengths = tuple[int, int]
OF_WORDS: Lengths = (4, 4)  # the shortest and the longest run of letters of a word,
OF_CHARACTERS: Lengths = (2, 3)  # and in texts of those scripts


@dataclass(frozen=True, eq=False, repr=False)
class Letters(ShortRepr):
    """Documents by the runs of letters in them."""

    rows: CsrArray  # unit rows, 1 + ln(count) of each run of letters, times ln(N / df); a row may be zero
    # of the graph of neighbours by letters beside that by words; their latent space has half of it
    weight: float = FULL_WEIGHT

    def take(self, documents: Integers, place: Place | None = None) -> Letters:
        """Return the letters of these documents, in this order; with a place, where it keeps them."""
        return replace(self, rows=(place or Place(1)).take(self.rows, documents))


def usual_weight(n_words: float) -> float:
    """Return how much letters count beside words, by the mean number of known words in a document.

    >>> usual_weight(6), usual_weight(27.5), usual_weight(35)
    (1.5, 0.75, 0.0)
    """
    return FULL_WEIGHT * float(np.clip((NONE_FROM - n_words) / (NONE_FROM - FULL_UP_TO), 0, 1))


def lengths_of_runs(scripts: Mapping[str, float]) -> Lengths | None:
    """Return how long runs of letters are, by the shares of texts that use scripts without blanks between words.

    None where runs of letters have not been shown to say anything.

    >>> lengths_of_runs({}), lengths_of_runs({"kana": 0.9}), lengths_of_runs({"Thai": 0.9})
    ((4, 4), (2, 3), None)
    """
    unspaced = {name for name, share in scripts.items() if share > MAX_UNSPACED}
    if not unspaced:
        return OF_WORDS
    return OF_CHARACTERS if unspaced <= OF_EAST_ASIA else None


def letters_of(
    texts: Sequence[object],
    weight: float,
    lengths: Lengths = OF_WORDS,
    *,
    document_of: Integers | None = None,
    n_threads: int | None = None,
) -> Letters | None:
    """Return the letters of texts; None where no run of letters is in two of them.

    `document_of`: the document that each text is a part of; runs of letters are then in two documents.

    >>> letters_of(["two houses", "the housing", "rain", ""], 1.5).rows.shape
    (4, 2)
    """
    vectorizer = letters_vectorizer(lengths, n_threads)
    try:
        rows = vectorizer.fit_counts(texts)
    except NothingUsable:
        return None
    if document_of is not None:
        rows = keep_terms(vectorizer, in_two_documents(rows, document_of), rows)
    vectorizer.weigh(rows)
    return Letters(unit_rows(rows, warn=False), weight)


def letters_vectorizer(lengths: Lengths, n_threads: int | None = None) -> TfidfVectorizer:
    """Return the vectorizer that makes the rows of `Letters`, not fitted."""
    return TfidfVectorizer(analyzer="char_wb", ngram_range=lengths, min_df=2, weighting="ltc", n_threads=n_threads)


def letters_note(letters: Letters | None, n_words: float) -> str | None:
    """Return in a sentence that letters counted; None where they did not.

    >>> letters_note(Letters(None), 6.2)
    'Parts of words counted beside words (6 known words in a document on average); `--no-letters` leaves them out.'
    """
    if letters is None:
        return None
    known = f"{n_words:.0f} known words in a document on average"
    return f"Parts of words counted beside words ({known}); `--no-letters` leaves them out."
