"""The second stage: settings nobody has to give are chosen from the texts, said aloud, and kept with the run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from doccluster.corpus import Corpus
from doccluster.errors import InputError
from doccluster.text.language import guess_languages, guess_languages_of_terms, share_without_blanks
from doccluster.text.stopwords import STOP_WORD_LANGUAGES, load_stop_words
from doccluster.text.tokens import DEFAULT_TOKEN_PATTERN, build_tokenizer
from doccluster.vectors import DocumentVectors, TfidfVectorizer, vectorize

RARE_TERMS_FROM = 100  # from so many documents on, a term of a single document is left out
CJK_FROM = 0.1  # share of letters of scripts without blanks


@dataclass(frozen=True, eq=False)
class Vectorized:
    """The vectors, what made them, and the languages the texts are in."""

    vectors: DocumentVectors
    vectorizer: TfidfVectorizer | None
    languages: tuple[str, ...]

    @property
    def function_words(self) -> frozenset[str]:
        """The words that may not name a cluster."""
        return frozenset().union(*(load_stop_words(name) for name in self.languages))


def vectorize_texts(
    corpus: Corpus, *, language: str | Sequence[str], options: Mapping[str, Any], n_threads: int | None
) -> Vectorized:
    """Return the vectors of a corpus; what `options` does not say is chosen from the texts.

    Function words of the languages found (or named) are no terms; terms of a single document are left out where there
    are many documents; scripts written without blanks are cut into pairs of characters.
    """
    languages = choose_languages(language, corpus.texts)
    settings = {name: value for name, value in options.items() if value is not None}
    settings.setdefault("stop_words", _stop_words(languages))
    settings.setdefault("min_df", 2 if len(corpus) >= RARE_TERMS_FROM else 1)
    if "analyzer" not in settings and share_without_blanks(corpus.texts) >= CJK_FROM:
        settings["analyzer"] = "cjk"
    if str(settings.get("analyzer", "word")).startswith("char"):
        settings["stop_words"] = None  # runs of characters are not words
    if settings.get("weighting") == "none":
        settings["weighting"] = "nnc"  # counts as they are; rows are unit all the same
    vectorizer = TfidfVectorizer(**settings, n_threads=n_threads)
    return Vectorized(vectorize(corpus, vectorizer), vectorizer, languages)


def adopt_vectors(
    vectors: DocumentVectors, *, language: str | Sequence[str], options: Mapping[str, Any] | None = None
) -> Vectorized:
    """Return vectors that were ready, with the languages of their terms.

    Raises
    ------
    InputError
        If `options` has more than a weighting: there is no text to make terms of.
    """
    unused = ", ".join(
        f"{name}=" for name, value in (options or {}).items() if value is not None and name != "weighting"
    )
    if unused:
        raise InputError(f"the source is a matrix, whose terms are what they are; leave out {unused}.")
    names = vectors.display_terms if vectors.display_terms is not None else vectors.terms
    if language != "auto":
        return Vectorized(vectors, None, choose_languages(language, ()))
    return Vectorized(vectors, None, () if names is None else tuple(guess_languages_of_terms(map(str, names))))


def choose_languages(language: str | Sequence[str], texts: Sequence[str]) -> tuple[str, ...]:
    """Return the languages meant: guessed from the texts for "auto", none for "none", else those named.

    Raises
    ------
    InputError
        If a named language has no stop list.
    """
    if language == "auto":
        return tuple(guess_languages(texts))
    if language == "none":
        return ()
    named = [language] if isinstance(language, str) else list(language)
    names_of_codes = {code: name for name, code in STOP_WORD_LANGUAGES.items()}
    found = [names_of_codes.get(name.lower(), name.lower()) for name in named]
    for name in found:
        if name not in STOP_WORD_LANGUAGES:
            raise InputError(
                f"language={name!r} is not known; give auto, none, or one of {', '.join(STOP_WORD_LANGUAGES)}."
            )
    return tuple(found)


def _stop_words(languages: tuple[str, ...]) -> str | list[str] | None:
    if len(languages) <= 1:
        return languages[0] if languages else None
    tokenize = build_tokenizer(DEFAULT_TOKEN_PATTERN)
    return sorted({token for name in languages for word in load_stop_words(name) for token in tokenize(word)})
