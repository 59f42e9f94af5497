"""The vectorizer for some texts: what you leave open is chosen from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from doccluster.errors import NothingUsable
from doccluster.text.language import Writing, survey_writing
from doccluster.text.stemming import STEMMING_LANGUAGES
from doccluster.text.stopwords import choose_languages
from doccluster.vectors.even_terms import even_terms
from doccluster.vectors.vectorizer import TfidfVectorizer

RARE_TERMS_FROM = 100  # from this many documents on, a term of a single document is left out
N_SAMPLED = 2_000  # documents, evenly spaced, that show which terms say nothing
MAIN_SHARE = 0.9  # of the texts whose language is known: words are stemmed by that one
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

    Parameters
    ----------
    texts : sequence of str
        Those to be clustered; of many, evenly spaced ones are read.
    language : str or sequence of str
        "auto", "none", or the languages by name or code.
    options : mapping
        Parameters of `TfidfVectorizer`; None leaves one open, and "none" says no for `stemming`.
    n_threads : int, optional
        How many threads the vectorizer uses.
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
    known: dict[str, Any] = {name: settings.get(name) for name in ("analyzer", "stop_words", "stemming")}
    vectorizer = TfidfVectorizer(**known, min_df=min(2, len(sample)), n_threads=n_threads)
    try:
        counts = vectorizer.fit_counts(sample)
    except NothingUsable:  # which the whole collection will say better
        return ()
    return tuple(vectorizer.display_terms_[even_terms(counts)].tolist())
