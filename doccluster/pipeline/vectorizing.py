"""The second stage: settings that you leave open are chosen from the texts, shown, and kept with the run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from doccluster.corpus import Corpus
from doccluster.errors import InputError, listed_arguments
from doccluster.short_repr import ShortRepr
from doccluster.text.language import Writing, guess_languages_of_terms, survey_writing
from doccluster.text.stopwords import STOP_WORD_LANGUAGES, load_stop_words
from doccluster.vectors import DocumentVectors, TfidfVectorizer, vectorize

RARE_TERMS_FROM = 100  # from this many documents on, a term of a single document is left out
# with one of these the caller has said what a term is
OWN_ANALYSIS = ("analyzer", "tokenizer", "token_pattern", "preprocessor")


@dataclass(frozen=True, eq=False, repr=False)
class Vectorized(ShortRepr):
    """The vectors, what made them, the languages whose function words were left out, and how the texts are written."""

    vectors: DocumentVectors
    vectorizer: TfidfVectorizer | None
    languages: tuple[str, ...]
    writing: Writing | None = None

    @property
    def analysis_told(self) -> dict[str, str]:
        """Which languages and scripts were found, and what was done about each: a line for each of the two."""
        if self.writing is None or self.vectorizer is None:
            return {}
        told = {"languages": f"{self.writing.languages_told()}; {self._function_words_told(self.writing)}"}
        scripts = self.writing.scripts_told()
        if scripts and self.vectorizer.analyzer in ("script", "cjk"):
            told["scripts"] = f"{scripts}; without blanks between words, cut into pairs of letters"
        if self.vectorizer.n_features is not None:
            n_sharing = int((self.vectorizer.sharing_ - 1).sum())
            told["columns"] = (
                f"{len(self.vectorizer.vocabulary_):,} of {self.vectorizer.n_features:,} hashes; {n_sharing:,} terms "
                "share that of a more common one"
            )
        return told

    def _function_words_told(self, writing: Writing) -> str:
        assert self.vectorizer is not None  # there is none without texts
        given = self.vectorizer.stop_words
        if given is None:
            return "no function words left out"
        if given != _stop_words(self.languages):
            return "the stop words given left out"
        if set(self.languages) != set(writing.languages):
            return f"function words of {' and '.join(map(str.title, self.languages))} left out, as asked"
        return "function words left out" + (
            ", of each document those of its language" if len(self.languages) > 1 else ""
        )

    @property
    def function_words(self) -> frozenset[str]:
        """The words that may not name a cluster."""
        return frozenset().union(*(load_stop_words(name) for name in self.languages))


def vectorize_texts(
    corpus: Corpus,
    *,
    language: str | Sequence[str],
    options: Mapping[str, Any],
    n_threads: int | None,
    writing: Writing | None = None,
) -> Vectorized:
    """Return the vectors of a corpus; what `options` does not say is chosen from the texts.

    Function words of the languages found (or named) are left out, in each document those of its own language; terms of
    a single document are left out where there are many documents; text is cut into terms by its script. `writing` is
    what `survey_writing` says of the texts, where that is known.
    """
    vectorizer, languages, found = choose_vectorizer(
        corpus, language=language, options=options, n_threads=n_threads, writing=writing
    )
    return Vectorized(vectorize(corpus, vectorizer), vectorizer, languages, found)


def choose_vectorizer(
    corpus: Corpus,
    *,
    language: str | Sequence[str],
    options: Mapping[str, Any],
    n_threads: int | None,
    writing: Writing | None = None,
) -> tuple[TfidfVectorizer, tuple[str, ...], Writing]:
    """Return the vectorizer for the texts of a corpus, not fitted, the languages of its stop words, and the writing."""
    writing = survey_writing(corpus.texts) if writing is None else writing
    languages = tuple(writing.languages) if language == "auto" else choose_languages(language)
    settings = {name: value for name, value in options.items() if value is not None}
    settings.setdefault("stop_words", _stop_words(languages))
    settings.setdefault("min_df", 2 if len(corpus) >= RARE_TERMS_FROM else 1)
    if settings.keys().isdisjoint(OWN_ANALYSIS):
        settings["analyzer"] = "script"
    if str(settings.get("analyzer", "word")).startswith("char"):
        settings["stop_words"] = None  # runs of characters are not words
    if settings.get("weighting") == "none":
        settings["weighting"] = "nnc"  # counts as they are; rows are unit all the same
    return TfidfVectorizer(**settings, n_threads=n_threads), languages, writing


def adopt_vectors(
    vectors: DocumentVectors, *, language: str | Sequence[str], options: Mapping[str, Any] | None = None
) -> Vectorized:
    """Return vectors that were ready, with the languages of their terms.

    Raises InputError if `options` has more than a weighting: there is no text to make terms of.
    """
    unused = [name for name, value in (options or {}).items() if value is not None and name != "weighting"]
    if unused:
        raise InputError(
            "the source is a matrix, whose terms are what they are", remedy=("leave out ", *listed_arguments(unused))
        )
    names = vectors.display_terms if vectors.display_terms is not None else vectors.terms
    if language != "auto":
        return Vectorized(vectors, None, choose_languages(language))
    return Vectorized(vectors, None, () if names is None else tuple(guess_languages_of_terms(map(str, names))))


def choose_languages(language: str | Sequence[str]) -> tuple[str, ...]:
    """Return the languages that are named, none for "none". Raises InputError if a named language has no stop list."""
    if language == "none":
        return ()
    named = [language] if isinstance(language, str) else list(language)
    names_of_codes = {code: name for name, code in STOP_WORD_LANGUAGES.items()}
    found = [names_of_codes.get(name.lower(), name.lower()) for name in named]
    for name in found:
        if name not in STOP_WORD_LANGUAGES:
            raise InputError(
                "is not known",
                argument="language",
                received=name,
                remedy=f"give auto, none, or one of {', '.join(STOP_WORD_LANGUAGES)}",
            )
    return tuple(dict.fromkeys(found))


def _stop_words(languages: tuple[str, ...]) -> str | None:
    return ",".join(languages) or None
