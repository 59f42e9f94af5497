"""The vectorizer for some texts: what you leave open is chosen from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.validation import unit_rows
from doccluster.errors import NothingUsable
from doccluster.text.language import Writing, survey_writing
from doccluster.text.stemming import STEMMING_LANGUAGES
from doccluster.text.stopwords import choose_languages
from doccluster.vectors.vectorizer import TfidfVectorizer

RARE_TERMS_FROM = 100  # from this many documents on, a term of a single document is left out
N_SAMPLED = 2_000  # documents, evenly spaced, that show which terms say nothing
MAIN_SHARE = 0.9  # of the texts whose language is known: words are stemmed by that one
LEAST_DOCUMENTS = 100  # of fewer, chance says which terms come together
LEAST_SHARE = 0.05  # of the documents that have the term,
LEAST_WITH = 20  # and their number: the mean of 190 cosines
LIKE_ANY = 1.25  # times as alike as any two documents
MAY_BE_EMPTIED = 0.01  # of the documents
_TOGETHER = 64  # terms whose documents are added up at once
# with one of these the caller has said what a term is
OWN_ANALYSIS = ("analyzer", "tokenizer", "token_pattern", "preprocessor")


def choose_vectorizer(
    texts: Sequence[str],
    *,
    language: str | Sequence[str] = "auto",
    options: Mapping[str, Any],
    n_threads: int | None = None,
) -> tuple[TfidfVectorizer, tuple[str, ...], Writing]:
    """Return the vectorizer for some texts, not fitted, the languages of its stop words, and how the texts are written.

    Unless `options` say otherwise: function words of the languages found (or named) are left out, in each document
    those of its own language; words are stemmed by the language nearly all texts are in, where it has a stemmer; terms
    of a single document are left out where there are many documents, and so are terms that are spread evenly over them
    (see `even_terms`); text is cut into terms by its script. With the language "none", no word is stemmed or left out.
    An option of None is open, and stemming "none" says no.
    """
    writing = survey_writing(texts)
    languages = tuple(writing.languages) if language == "auto" else choose_languages(language)
    settings = {name: value for name, value in options.items() if value is not None}
    has_own_analysis = not settings.keys().isdisjoint(OWN_ANALYSIS)
    settings.setdefault("stop_words", stop_words_of(languages))
    settings.setdefault("min_df", 2 if len(texts) >= RARE_TERMS_FROM else 1)
    if not has_own_analysis:
        settings["analyzer"] = "script"
        settings.setdefault("stemming", _stemmer_of(writing.languages if language == "auto" else languages))
    if settings.get("stemming") == "none":
        settings["stemming"] = None
    if str(settings.get("analyzer", "word")).startswith("char"):
        settings["stop_words"] = None  # runs of characters are not words
    if settings.get("weighting") == "none":
        settings["weighting"] = "nnc"  # counts as they are; rows are unit all the same
    is_open = settings.keys().isdisjoint(("dropped_terms", "vocabulary", "ngram_range"))
    if is_open and language != "none" and not has_own_analysis:
        settings["dropped_terms"] = _even_terms_of(texts, settings, n_threads)
    return TfidfVectorizer(**settings, n_threads=n_threads), languages, writing


def stop_words_of(languages: Sequence[str]) -> str | None:
    """Return languages as the parameter `stop_words` names them."""
    return ",".join(languages) or None


def _stemmer_of(languages: Mapping[str, float] | Sequence[str]) -> str | None:
    """Return the stemmer of the language that is named alone, or that nearly all texts are in; None without one."""
    main = next(iter(languages), None)
    if main not in STEMMING_LANGUAGES:
        return None
    if isinstance(languages, Mapping):
        return main if languages[main] >= MAIN_SHARE * sum(languages.values()) else None
    return main if len(languages) == 1 else None


def _even_terms_of(texts: Sequence[str], settings: Mapping[str, Any], n_threads: int | None) -> tuple[str, ...]:
    sample = texts[:: -(-len(texts) // N_SAMPLED) or 1]
    fixed_options: dict[str, Any] = {name: settings.get(name) for name in ("analyzer", "stop_words", "stemming")}
    vectorizer = TfidfVectorizer(**fixed_options, min_df=min(2, len(sample)), n_threads=n_threads)
    try:
        counts = vectorizer.fit_counts(sample)
    except NothingUsable:  # which the whole collection will say better
        return ()
    return tuple(vectorizer.display_terms_[even_terms(counts)].tolist())


def even_terms(counts: Any) -> npt.NDArray[np.bool_]:
    """Return which terms of counts (csr) are spread evenly over documents with nothing else in common.

    Such are function words, in a language without a list too, and what a collection has around its texts ("writes" and
    "edu" in messages, "Reuter" at the end of news). A row is w(t) = ln(N / df(t)) for each term of the document, made
    unit. Over the m documents with a term, the mean cosine of two, that term apart, is
    (|sum of rows|^2 - sum of |row|^2) / (m (m - 1)). The term is spread evenly when that is at most 1.25 times the mean
    over all pairs, and the term in one of twenty documents or more. If more than one document in a hundred had nothing
    but such terms, none is found.
    """
    has = sparse.csr_array(counts, dtype=np.float64, copy=True)
    has.data[:] = 1.0
    n_documents, n_terms = has.shape
    even = np.zeros(n_terms, dtype=bool)
    if n_documents < LEAST_DOCUMENTS:
        return even
    frequency = np.asarray(has.sum(axis=0)).ravel()
    weights = np.log(n_documents / np.maximum(frequency, 1.0))
    rows = unit_rows(sparse.csr_array(has * weights[np.newaxis, :]), warn=False)
    squares = sparse.csr_array(rows * rows)
    squared_norms = np.asarray(squares.sum(axis=1)).ravel()
    total = np.asarray(rows.sum(axis=0)).ravel()
    of_all = (total @ total - squared_norms.sum()) / (n_documents * (n_documents - 1))
    common = np.flatnonzero(frequency >= max(LEAST_SHARE * n_documents, LEAST_WITH))
    with_term = sparse.csr_array(has[:, common].T)
    for start in range(0, common.size, _TOGETHER):
        columns, members = common[start : start + _TOGETHER], with_term[start : start + _TOGETHER]
        sums = sparse.csr_array(members @ rows)
        diagonal = np.arange(columns.size), columns
        length = np.asarray((sums * sums).sum(axis=1)).ravel() - sums[diagonal] ** 2
        own_parts = members @ squared_norms - sparse.csr_array(members @ squares)[diagonal]
        m = frequency[columns]
        even[columns] = length - own_parts <= LIKE_ANY * of_all * m * (m - 1)
    emptied = np.count_nonzero((has.sum(axis=1) > 0) & ~(has @ (~even).astype(np.float64) > 0))
    return even if emptied <= MAY_BE_EMPTIED * n_documents else np.zeros_like(even)
