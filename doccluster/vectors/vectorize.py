"""`vectorize`: the step of a run from a corpus to its vectors; and what a vectorizer does not know of new texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from doccluster.base.parameter_fields import at_the_door
from doccluster.base.validation import is_missing, unit_rows
from doccluster.corpus.reading import read_corpus
from doccluster.errors import InputError
from doccluster.text.analysis import analysis_of
from doccluster.vectors.defaults import choose_vectorizer
from doccluster.vectors.document_vectors import DocumentVectors, with_values
from doccluster.vectors.term_counts import count_terms
from doccluster.vectors.vectorizer import TfidfVectorizer

if TYPE_CHECKING:
    from doccluster.corpus import Corpus


@at_the_door
def vectorize(
    corpus: Corpus | Iterable[str], vectorizer: Any = None, *, language: str | Sequence[str] = "auto", **options: Any
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
    corpus = read_corpus(corpus) if hasattr(corpus, "columns") else corpus
    texts = getattr(corpus, "texts", corpus)
    if vectorizer is None:
        if isinstance(texts, str):
            raise InputError("is one text", argument="corpus", received=texts, expected="a list of texts")
        texts = texts if isinstance(texts, Sequence) else list(texts)
        strange = next((text for text in texts if not isinstance(text, str) and not is_missing(text)), "")
        if strange:
            raise InputError(f"a document is of type {type(strange).__name__}", remedy="give a list of texts (str)")
        _check_known(options)
        vectorizer, _, _ = choose_vectorizer(texts, language=language, options=options)
    elif not hasattr(vectorizer, "transform"):
        raise InputError(
            "is not a vectorizer",
            argument="vectorizer",
            received=vectorizer,
            remedy="give a TfidfVectorizer, or its parameters by name, such as min_df=2",
        )
    elif options:
        raise InputError(
            f"both a vectorizer and {', '.join(sorted(options))} were given", remedy="set them on the vectorizer"
        )
    matrix, counts = _rows(vectorizer, texts)
    ids = getattr(corpus, "ids", None) or tuple(map(str, range(1, matrix.shape[0] + 1)))
    terms = vectorizer.get_feature_names_out()
    return DocumentVectors(
        matrix=unit_rows(matrix, warn=False),
        ids=ids,
        terms=terms,
        display_terms=getattr(vectorizer, "display_terms_", terms),
        counts=counts,
    )


def _rows(vectorizer: Any, texts: Any) -> tuple[Any, Any | None]:
    """Return weighted rows, and the counts they are made of where the vectorizer is ours."""
    is_fitted = _is_fitted(vectorizer)
    if not isinstance(vectorizer, TfidfVectorizer):
        return (vectorizer.transform(texts) if is_fitted else vectorizer.fit_transform(texts)), None
    counts = vectorizer.transform_counts(texts) if is_fitted else vectorizer.fit_counts(texts)
    return weigh_counts(counts, vectorizer), counts


def weigh_counts(counts: Any, vectorizer: TfidfVectorizer) -> Any:
    """Return the weighted rows of counts, csr array, by a fitted vectorizer."""
    matrix = with_values(counts, counts.data.copy())
    vectorizer.weigh(matrix)
    return matrix


def unknown_term_shares(texts: Sequence[Any], vectorizer: TfidfVectorizer) -> npt.NDArray[np.float64]:
    """Return the share of the distinct terms of each text that a vectorizer has no column for; nan without terms.

    >>> vectorizer = TfidfVectorizer().fit(["oil prices rise", "oil prices fall"])
    >>> unknown_term_shares(["oil prices soar", "wheat", ""], vectorizer)
    array([0.33333333, 1.        ,        nan])
    """
    rows = (counts := count_terms(texts, analysis_of(vectorizer), n_threads=vectorizer.n_threads)).rows
    n_terms = rows.lengths.astype(np.float64)
    rows.keep(vectorizer.columns_of(counts.terms) >= 0)
    with np.errstate(invalid="ignore"):
        shares: npt.NDArray[np.float64] = 1 - rows.lengths / n_terms
    return shares


def _check_known(options: dict[str, Any]) -> None:
    parameters = TfidfVectorizer().get_params(deep=False)
    unknown = sorted(set(options) - set(parameters))
    if unknown:
        raise InputError(
            f"unknown option(s) {', '.join(unknown)}", remedy=f"give one of {', '.join(sorted(parameters))}"
        )


def _is_fitted(vectorizer: Any) -> bool:
    if isinstance(vectorizer, TfidfVectorizer):
        return hasattr(vectorizer, "vocabulary_")
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    try:
        check_is_fitted(vectorizer)
    except NotFittedError:
        return False
    return True
