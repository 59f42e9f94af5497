"""`vectorize`: the step of a run from a corpus to its vectors, and what is chosen from the texts for you."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from doccluster.base.arrays import CsrArray, Flags, Floats
from doccluster.base.parameter_fields import at_the_door
from doccluster.base.sparse_structure import with_values
from doccluster.base.validation import check_matrix, is_missing, unit_rows
from doccluster.corpus.reading import read_corpus
from doccluster.errors import InputError, NothingUsable
from doccluster.text.analysis import CUT, STEMMING_LANGUAGES, analysis_of, has_digit
from doccluster.text.language import Writing, choose_languages, survey_writing
from doccluster.text.letter_forms import broken_candidates, learned_broken_words
from doccluster.vectors.document_vectors import DocumentVectors, is_counts
from doccluster.vectors.letters import (
    FULL_WEIGHT,
    MIN_TEXTS,
    OF_WORDS,
    Lengths,
    lengths_of_runs,
    letters_of,
    usual_weight,
)
from doccluster.vectors.other_vectorizers import OtherVectorizer, check_vectorizer, part_with_names
from doccluster.vectors.term_counts import count_terms
from doccluster.vectors.vectorizer import TfidfVectorizer

if TYPE_CHECKING:
    from doccluster.corpus import Corpus


@at_the_door
def vectorize(
    corpus: Corpus | Iterable[str],
    vectorizer: Any = None,
    *,
    language: str | Sequence[str] = "auto",
    letters: bool | None = None,
    **options: object,
) -> DocumentVectors:
    """Return the documents of `corpus` as unit rows of weighted terms.

    Parameters
    ----------
    corpus : Corpus, table, or iterable of str
        Plain texts are named "1", "2", ... in their order.
    vectorizer : TfidfVectorizer or None
        One that is fitted is used as it is; one that is not is fitted to these documents (and keeps what it learned).
        Without one the vectorizer of a run: `choose_vectorizer` sets from the texts what `options` leave open.
    language : str or sequence of str
        "auto", "none", or the languages of the texts, whose function words are left out.
    letters : bool, optional
        Whether to make the letters of the documents too (see `doccluster.vectors.letters.Letters`). By default
        where no vectorizer is given and a run would.
    **options
        Parameters of `TfidfVectorizer`, where no vectorizer is given; ``stemming="none"`` stems no word.

    Returns
    -------
    DocumentVectors
        With the terms and their written forms; `empty_ids` names the documents that have no term.

    Raises
    ------
    InputError
        If what is given is no vectorizer, if options are given too, or an option is not known.
    NothingUsable
        If no term is found.

    >>> vectors = vectorize(["two cats", "", "one cat, two dogs"])
    >>> vectors.matrix.shape, vectors.empty_ids
    ((3, 5), ('2',))
    """
    corpus = read_corpus(corpus) if hasattr(type(corpus), "columns") else corpus
    is_series = hasattr(type(corpus), "iloc")  # whose rows may be called texts or ids
    texts: Any = corpus if is_series else getattr(corpus, "texts", corpus)
    writing = None
    texts = list(texts) if letters and not hasattr(texts, "__getitem__") else texts  # they are read twice
    if vectorizer is None:
        if isinstance(texts, str):
            raise InputError("is one text", argument="corpus", received=texts, expected="a list of texts")
        texts = texts if isinstance(texts, Sequence) else list(texts)
        strange = next((text for text in texts if not isinstance(text, str) and not is_missing(text)), "")
        if strange:
            raise InputError(f"a document is of type {type(strange).__name__}", remedy="give a list of texts (str)")
        parameters = TfidfVectorizer().get_params(deep=False)
        unknown = sorted(set(options) - set(parameters))
        if unknown:
            raise InputError(
                f"unknown option(s) {', '.join(unknown)}", remedy=f"give one of {', '.join(sorted(parameters))}"
            )
        vectorizer, _, writing = choose_vectorizer(texts, language=language, options=options)
    elif options:
        raise InputError(
            f"both a vectorizer and {', '.join(sorted(options))} were given", remedy="set them on the vectorizer"
        )
    check_vectorizer(vectorizer)
    n_threads = getattr(vectorizer, "n_threads", None)
    matrix, counts = _rows(vectorizer, texts)
    ids = (None if is_series else getattr(corpus, "ids", None)) or tuple(map(str, range(1, matrix.shape[0] + 1)))
    terms = part_with_names(vectorizer).get_feature_names_out()
    vectors = DocumentVectors(
        matrix=unit_rows(matrix, warn=False),
        ids=ids,
        terms=terms,
        display_terms=getattr(vectorizer, "display_terms_", terms),
        counts=counts,
    )
    weight, lengths = letters_weight(vectors, vectorizer, writing, wanted=letters)
    return vectors.with_letters(letters_of(texts, weight, lengths, n_threads=n_threads)) if weight else vectors


def letters_weight(
    vectors: DocumentVectors, vectorizer: TfidfVectorizer, writing: Writing | None, *, wanted: bool | None
) -> tuple[float, Lengths]:
    """Return how much letters count beside the words of vectors, 0 for not at all, and how long their runs are.

    They count as much as they can where they are wanted, and by themselves where documents are short, their script is
    one that gains by it (see `lengths_of_runs`), and their words are no runs of letters already. `writing`: how the
    texts are written; None where it is not known.
    """
    lengths = lengths_of_runs({} if writing is None else writing.scripts)
    if wanted is not None:
        return FULL_WEIGHT * wanted, lengths or OF_WORDS
    n_filled = int(np.count_nonzero(vectors.documents.squared_norms))
    has_runs = writing is None or str(vectorizer.analyzer).startswith("char")
    if lengths is None or has_runs or n_filled < MIN_TEXTS:
        return 0.0, OF_WORDS
    return usual_weight(vectors.mean_words * vectors.n_documents / n_filled), lengths


def _rows(vectorizer: TfidfVectorizer, texts: Iterable[object]) -> tuple[CsrArray, CsrArray | None]:
    """Return weighted rows, and the counts they are made of where the vectorizer is ours."""
    is_fitted = _is_fitted(vectorizer)
    if not isinstance(vectorizer, TfidfVectorizer):
        rows = vectorizer.transform(texts) if is_fitted else vectorizer.fit_transform(texts)
        return check_matrix(rows, name="rows"), None
    counts = vectorizer.transform_counts(texts) if is_fitted else vectorizer.fit_counts(texts)
    if isinstance(vectorizer, OtherVectorizer) and not (sparse.issparse(counts) and is_counts(counts.data)):
        return counts, None
    return weigh_counts(counts, vectorizer), counts


def weigh_counts(counts: CsrArray, vectorizer: TfidfVectorizer) -> CsrArray:
    """Return the weighted rows of counts, csr array, by a fitted vectorizer."""
    matrix = with_values(counts, counts.data.copy())
    vectorizer.weigh(matrix)
    return matrix


def unknown_term_shares(texts: Sequence[object], vectorizer: TfidfVectorizer) -> Floats:
    """Return the share of the distinct terms of each text that a vectorizer has no column for; nan without terms.

    >>> vectorizer = TfidfVectorizer().fit(["oil prices rise", "oil prices fall"])
    >>> unknown_term_shares(["oil prices soar", "wheat", ""], vectorizer)
    array([0.33333333, 1.        ,        nan])
    """
    counts = count_terms(texts, analysis_of(vectorizer), n_threads=vectorizer.n_threads)
    is_known = vectorizer.columns_of(counts.terms) >= 0
    n_terms, n_known = (np.diff(rows.indptr) for rows in (counts.rows, counts.rows[:, is_known]))
    with np.errstate(invalid="ignore"):
        shares: Floats = 1 - n_known / n_terms
    return shares


def _is_fitted(vectorizer: object) -> bool:
    if isinstance(vectorizer, TfidfVectorizer):
        return hasattr(vectorizer, "vocabulary_")
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    try:
        check_is_fitted(vectorizer)
    except NotFittedError:
        return False
    return True


RARE_TERMS_FROM = 100  # from this many documents on, a term of a single document is left out
N_SAMPLED = 2_000  # documents, evenly spaced, that show which terms say nothing
BETTER_CUT = ("finnish", "german", "hungarian")  # than stemmed, by measurement
WORDS_LOOKED_AT, LONG_WORD, VARIED = 15_000, 5.3, 0.35  # letters of a word on average, share of different words
MAIN_SHARE = 0.9  # of the texts whose language is known: words are stemmed by that one
MIN_DOCUMENTS = 100  # of fewer, chance says which terms come together
MIN_SHARE = 0.05  # of the documents that have the term,
MIN_WITH = 20  # and their number: the mean of 190 cosines
LIKE_ANY = 1.25  # times as alike as any two documents
MAY_BE_EMPTIED = 0.01  # of the documents
MAY_BE_EVEN = 0.8  # of the common terms: beyond it the documents are of one kind, whatever they share
_TOGETHER = 64  # terms whose documents are added up at once
# with one of these the caller has said what a term is
OWN_ANALYSIS = ("analyzer", "tokenizer", "token_pattern", "preprocessor")


def choose_vectorizer(
    texts: Sequence[str],
    *,
    language: str | Sequence[str] = "auto",
    options: Mapping[str, Any],
    may_cut: bool = True,
    n_threads: int | None = None,
) -> tuple[TfidfVectorizer, tuple[str, ...], Writing]:
    """Return the vectorizer for some texts, not fitted, the languages of its stop words, and how the texts are written.

    Unless `options` say otherwise (None is open): function words are left out, in each document those of its language,
    and so are terms of a single document among many, and those spread evenly; words are stemmed by the language of
    nearly all texts, or cut to five letters where that does better, or it has no stemmer and many endings. With
    the language "none" no word is stemmed or left out. Where words are searched for they may not be cut.
    """
    writing = survey_writing(texts)
    languages = tuple(writing.languages) if language == "auto" else choose_languages(language)
    settings = {name: value for name, value in options.items() if value is not None}
    has_own_analysis = not settings.keys().isdisjoint(OWN_ANALYSIS)
    settings.setdefault("stop_words", stop_words_of(languages))
    settings.setdefault("min_df", 2 if len(texts) >= RARE_TERMS_FROM else 1)
    if not has_own_analysis:
        settings["analyzer"] = "script"
        if "stemming" not in settings:
            stemmer = _stemmer_of(writing.languages if language == "auto" else languages)
            may_lack_one = may_cut and stemmer is None and language == "auto"
            is_cut = (may_cut and stemmer in BETTER_CUT) or (may_lack_one and has_many_endings(texts, writing))
            settings["stemming"] = CUT if is_cut else stemmer
    if settings.get("stemming") == "none":
        settings["stemming"] = None
    if str(settings.get("analyzer", "word")).startswith("char"):
        settings["stop_words"] = None  # runs of characters are not words
    if settings.get("weighting") == "none":
        settings["weighting"] = "nnc"  # counts as they are; rows are unit all the same
    is_open = settings.keys().isdisjoint(("dropped_terms", "vocabulary", "ngram_range")) and language != "none"
    broken_words = frozenset[str]()
    if not has_own_analysis:
        sample = texts[:: -(-len(texts) // N_SAMPLED) or 1]
        candidates = broken_candidates(sample)
        if is_open or candidates:
            times, even, share = _words_of(sample, settings, n_threads)
            broken_words = learned_broken_words(candidates, times)
            if is_open:
                settings["dropped_terms"], writing = even, replace(writing, even_share=share)
    vectorizer = TfidfVectorizer(**{"n_threads": n_threads, **settings})
    vectorizer.broken_words = broken_words
    return vectorizer, languages, writing


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


def has_many_endings(texts: Sequence[str], writing: Writing) -> bool:
    """Return whether the words of texts in one language without a stemmer are as long and varied as endings make."""
    shares = list(writing.languages.values())
    is_mixed = bool(shares) and shares[0] < MAIN_SHARE * sum(shares)
    if is_mixed or next(iter(writing.languages), None) in STEMMING_LANGUAGES or len(texts) < MIN_TEXTS:
        return False
    analysis, words = analysis_of(TfidfVectorizer(analyzer="script")), list[str]()
    for text in texts:
        words += (word for word in analysis.analyze(text) if not has_digit(word)) if isinstance(text, str) else ()
        if len(words) >= WORDS_LOOKED_AT:
            break
    words = words[:WORDS_LOOKED_AT]
    return bool(words) and sum(map(len, words)) >= LONG_WORD * len(words) and len(set(words)) >= VARIED * len(words)


def _words_of(
    sample: Sequence[str], settings: Mapping[str, object], n_threads: int | None
) -> tuple[Mapping[str, int], tuple[str, ...], float]:
    """Return how often each word is written in some texts, those that occur evenly, and their share of all counted."""
    fixed_names = ("analyzer", "stop_words", "stemming")
    fixed_options: dict[str, Any] = {name: settings.get(name) for name in fixed_names}
    own_words: dict[str, Any] = {name: settings.get(name, ()) for name in ("added_stop_words", "kept_words")}
    vectorizer = TfidfVectorizer(**fixed_options, **own_words, min_df=min(2, len(sample)), n_threads=n_threads)
    counts, statistics = vectorizer.count_batch(sample)
    times = statistics.form_counts or dict(zip(counts.terms, counts.term_frequency.tolist(), strict=True))
    times = {**dict.fromkeys(counts.stop_words_met, 1), **times}
    try:
        vectorizer.fit_statistics(statistics)
    except NothingUsable:  # which the whole collection will say better
        return times, (), 0.0
    matrix = counts.matrix(vectorizer.columns_of(counts.terms) >= 0, dtype=np.float32)
    analysis = analysis_of(vectorizer)
    is_kept = np.isin(vectorizer.get_feature_names_out(), list(analysis.terms_of(analysis.own_kept_words)))
    is_even = even_terms(matrix) & ~is_kept
    share = float(matrix[:, is_even].sum() / matrix.sum())
    return times, tuple(vectorizer.display_terms_[is_even].tolist()), share


def even_terms(counts: CsrArray) -> Flags:
    """Return which terms of counts (csr) are spread evenly over documents with nothing else in common.

    Such are function words, in a language without a list too, and what a collection has around its texts. Over the m
    documents with a term, the mean cosine of two, that term apart, is (|sum of rows|^2 - sum of |row|^2) / (m (m - 1)),
    at most `LIKE_ANY` times the mean over all pairs, in rows of ln(N / df). None where many documents had no others, or
    most of the common terms would be: any two documents of one kind are alike.
    """
    has = sparse.csr_array(counts, dtype=np.float64, copy=True)
    has.data[:] = 1.0
    n_documents, n_terms = has.shape
    even = np.zeros(n_terms, dtype=bool)
    if n_documents < MIN_DOCUMENTS:
        return even
    frequency = np.asarray(has.sum(axis=0)).ravel()
    weights = np.log(n_documents / frequency)
    rows = unit_rows(sparse.csr_array(has * weights[np.newaxis, :]), warn=False)
    squares = sparse.csr_array(rows * rows)
    squared_norms = np.asarray(squares.sum(axis=1)).ravel()
    total = np.asarray(rows.sum(axis=0)).ravel()
    of_all = (total @ total - squared_norms.sum()) / (n_documents * (n_documents - 1))
    common = np.flatnonzero(frequency >= max(MIN_SHARE * n_documents, MIN_WITH))
    with_term = sparse.csr_array(has[:, common].T)
    for start in range(0, common.size, _TOGETHER):
        columns, members = common[start : start + _TOGETHER], with_term[start : start + _TOGETHER]
        # the cosines of all documents with a term sum to the squared length of their sum; the term itself is taken out
        sums = sparse.csr_array(members @ rows)
        diagonal = np.arange(columns.size), columns
        length = np.asarray((sums * sums).sum(axis=1)).ravel() - sums[diagonal] ** 2
        own_parts = members @ squared_norms - sparse.csr_array(members @ squares)[diagonal]
        m = frequency[columns]
        even[columns] = length - own_parts <= LIKE_ANY * of_all * m * (m - 1)
    if np.count_nonzero(even) > MAY_BE_EVEN * common.size:
        return np.zeros_like(even)
    emptied = np.count_nonzero((has.sum(axis=1) > 0) & ~(has @ (~even).astype(np.float64) > 0))
    return even if emptied <= MAY_BE_EMPTIED * n_documents else np.zeros_like(even)
