"""The second stage: a corpus becomes vectors; what was chosen from the texts is shown, and kept with the run."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from doccluster.base.arrays import Integers
from doccluster.base.plain_values import ShortRepr
from doccluster.base.validation import unit_rows
from doccluster.corpus import Corpus
from doccluster.corpus.document_parts import in_two_documents
from doccluster.errors import InputError, listed_arguments
from doccluster.text.analysis import CUT, analysis_of
from doccluster.text.language import (
    Writing,
    choose_languages,
    guess_languages_of_terms,
    load_stop_words,
    survey_writing,
)
from doccluster.vectors import DocumentVectors, TfidfVectorizer, vectorize
from doccluster.vectors.other_vectorizers import OtherVectorizer, other_vectorizer
from doccluster.vectors.vectorize import choose_vectorizer, stop_words_of, weigh_counts
from doccluster.vectors.vectorizer import keep_terms

N_SHOWN = 5  # words that are left out
SHARED_FROM = 5  # documents in parts, from which on a term has to be in two of them


@dataclass(frozen=True, eq=False, repr=False)
class Vectorization(ShortRepr):
    """The vectors, what made them, the languages whose stop words were removed, and how the texts are written."""

    vectors: DocumentVectors
    vectorizer: TfidfVectorizer | None
    languages: tuple[str, ...]
    writing: Writing | None = None

    @property
    def analysis_told(self) -> dict[str, str]:
        """Which languages and scripts were found, and what was done about each: a line for each of the two."""
        if self.writing is None or self.vectorizer is None:
            return {}
        stemming = self.vectorizer.stemming
        stemmed = ", words cut to five letters" if stemming == CUT else ", words stemmed" if stemming else ""
        your_words = {"left out": self.vectorizer.added_stop_words, "kept": self.vectorizer.kept_words}
        yours = [f", {len(tuple(words))} of your words {what}" for what, words in your_words.items() if words]
        treatment = f"{self._function_words_told(self.writing)}{''.join(yours)}{stemmed}"
        lines = {"languages": f"{self.writing.languages_told()}; {treatment}"}
        if words := tuple(self.vectorizer.dropped_terms or ()):
            shown = ", ".join(words[:N_SHOWN]) + (", ..." if len(words) > N_SHOWN else "")
            occur = "words that occur" if len(words) > 1 else "word that occurs"
            share = f"{100 * self.writing.even_share:.0f} % of all words"
            lines["dropped"] = f"{len(words):,} {occur} evenly ({share}): {shown}"
        scripts = self.writing.scripts_told()
        if scripts and self.vectorizer.analyzer == "script":
            lines["scripts"] = f"{scripts}; without blanks between words, cut into pairs of letters"
        return lines

    def options_told(self, options: object) -> str | None:
        """Return which arguments of a TfidfVectorizer that was given as such were chosen; None of other options."""
        if not isinstance(options, VectorizerOptions) or options.other or self.vectorizer is None:
            return None
        usual, chosen = TfidfVectorizer().get_params(), self.vectorizer.get_params()
        added = [name for name in chosen if name not in options and chosen[name] not in (usual[name], ())]
        told = ", ".join(f"{name}={chosen[name]!r}" for name in added)
        return told and (
            f"What your TfidfVectorizer had as usual the run chose from the texts: {told}. "
            "To take it as it is, run on vectorize(corpus, vectorizer)."
        )

    def _function_words_told(self, writing: Writing) -> str:
        assert self.vectorizer is not None  # there is none without texts
        stop_words = self.vectorizer.stop_words
        if stop_words is None:
            return "stop words kept"
        if not isinstance(stop_words, str) or stop_words != stop_words_of(self.languages):
            return "your stop words removed"
        if set(self.languages) != set(writing.languages):
            return f"stop words of {' and '.join(map(str.title, self.languages))} removed, as you asked"
        return f"stop words removed{', by the language of each document' if len(self.languages) > 1 else ''}"

    @property
    def function_words(self) -> frozenset[str]:
        """The words that may not name a cluster."""
        return self.as_you_say(frozenset().union(*(load_stop_words(name) for name in self.languages)))

    def as_you_say(self, unwanted: frozenset[str]) -> frozenset[str]:
        """Return words that may not name a cluster, with the stop words of yours and without the words you keep."""
        if self.vectorizer is None:
            return unwanted
        analysis = analysis_of(self.vectorizer)
        return (unwanted - analysis.own_kept_words) | analysis.own_stop_words


class VectorizerOptions(dict[str, Any]):
    """The arguments of a TfidfVectorizer that are not as usual; none of another vectorizer, which is used whole."""

    other: OtherVectorizer | None = None

    def __bool__(self) -> bool:
        return True  # it was given


def vectorizer_options(vectorizer: object) -> Mapping[str, Any] | None:
    """Return the arguments of a vectorizer: a mapping as it is, of a TfidfVectorizer those that are not as usual.

    Another vectorizer, also of a subclass, is used whole. Raises InputError if it makes no vectors of texts.
    """
    if vectorizer is None or isinstance(vectorizer, Mapping):
        return vectorizer
    options = VectorizerOptions()
    if type(vectorizer) is not TfidfVectorizer:
        parameters, options.other = other_vectorizer(vectorizer)
        return parameters or options
    usual = inspect.signature(TfidfVectorizer).parameters
    arguments = vectorizer.get_params(deep=False)
    options |= {name: value for name, value in arguments.items() if value is not usual[name].default}
    return options


def vectorize_texts(
    corpus: Corpus,
    *,
    language: str | Sequence[str],
    options: Mapping[str, object],
    may_cut: bool = True,
    n_threads: int | None,
) -> Vectorization:
    """Return the vectors of a corpus; what `options` does not say is chosen from the texts by `choose_vectorizer`."""
    document_of = corpus.source_rows.document_of  # of documents in parts
    if (used_whole := getattr(options, "other", None)) is not None:
        languages = choose_languages(language) if language != "auto" else survey_writing(corpus.texts).languages
        other = used_whole.unfitted()
        vectors = vectorize(corpus, other)
        return Vectorization(
            vectors if document_of is None else vectors.with_order(document_of), other, tuple(languages)
        )
    vectorizer, languages, writing = choose_vectorizer(
        corpus.texts, language=language, options=options, may_cut=may_cut, n_threads=n_threads
    )
    vectors = vectorize(corpus, vectorizer)
    if document_of is not None:
        vectors = in_order_of_parts(vectors, vectorizer, document_of)
    return Vectorization(vectors, vectorizer, languages, writing)


def in_order_of_parts(vectors: DocumentVectors, vectorizer: TfidfVectorizer, document_of: Integers) -> DocumentVectors:
    """Return the vectors of parts of documents, which know their order, of terms that are in two documents.

    So do names of one novel make no cluster. Terms of fewer than five documents all stay.
    """
    counts = vectors.counts
    if counts is not None and has_many_documents(document_of):
        keep = in_two_documents(counts, document_of)
        if keep.any() and not keep.all():
            counts = keep_terms(vectorizer, keep, counts)
            matrix = unit_rows(weigh_counts(counts, vectorizer), warn=False)
            terms, display = vectorizer.get_feature_names_out(), vectorizer.display_terms_
            vectors = DocumentVectors(matrix, vectors.ids, terms, display, counts)
    return vectors.with_order(document_of)


def has_many_documents(document_of: Integers | None) -> bool:
    """Return whether there are enough documents for terms of one of them to be left out."""
    return document_of is not None and int(document_of.max(initial=-1)) + 1 >= SHARED_FROM


def adopt_vectors(
    vectors: DocumentVectors, *, language: str | Sequence[str], options: Mapping[str, object] | None = None
) -> Vectorization:
    """Return vectors that were ready, with the languages of their terms.

    Raises InputError if `options` has more than a weighting: there is no text to make terms of.
    """
    unused = [name for name, value in (options or {}).items() if value is not None and name != "weighting"]
    unused = unused or (["vectorizer"] if getattr(options, "other", None) else [])
    if unused:
        raise InputError(
            "the source is a matrix, whose terms are what they are", remedy=("leave out ", *listed_arguments(unused))
        )
    names = vectors.display_terms if vectors.display_terms is not None else vectors.terms
    if language != "auto":
        return Vectorization(vectors, None, choose_languages(language))
    return Vectorization(vectors, None, () if names is None else tuple(guess_languages_of_terms(map(str, names))))
