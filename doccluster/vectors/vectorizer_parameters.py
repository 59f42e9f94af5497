"""The vectorizer's parameters: each written once, checked, and turned into what the code below works with."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from numbers import Integral
from typing import Any

import numpy as np

from doccluster.base.validation import check_float_type, check_positive_int
from doccluster.errors import Argument, DocclusterWarning, InputError, NothingUsable, Words, words_of
from doccluster.vectors.weighting import Weighting, parse_weighting


def tell(messages: Iterable[Words]) -> None:
    """Warn the caller of `fit` of each message."""
    for message in messages:
        warnings.warn(DocclusterWarning(*words_of(message)), stacklevel=5)


def dtype_of(vectorizer: Any) -> np.dtype[Any]:
    """Return the type of the weights, or raise InputError if it is not float32 or float64."""
    return check_float_type(vectorizer.dtype)


def max_features_of(vectorizer: Any) -> int | None:
    """Return `max_features` as an int >= 1 or None."""
    limit = vectorizer.max_features
    return None if limit is None else check_positive_int(limit, "max_features")


def weighting_of(vectorizer: Any) -> Weighting:
    """Return the weighting of `vectorizer`: its `weighting` code, or scikit-learn's switches."""
    norm = vectorizer.norm
    if norm not in ("l1", "l2", None):
        raise InputError("is not known", argument="norm", received=norm, expected="'l2', 'l1' or None")
    if vectorizer.weighting is not None:
        if (vectorizer.use_idf, vectorizer.smooth_idf, vectorizer.sublinear_tf) != (True, True, False):
            raise InputError(
                ("replaces ", Argument("use_idf"), ", smooth_idf and sublinear_tf"),
                argument="weighting",
                received=vectorizer.weighting,
                remedy="leave those out",
            )
        return parse_weighting(vectorizer.weighting, norm=norm, k1=vectorizer.k1, b=vectorizer.b)
    smooth = "plus-one-smooth" if vectorizer.smooth_idf else "plus-one"
    return Weighting(
        term="l" if vectorizer.sublinear_tf else "n",
        collection=smooth if vectorizer.use_idf else "n",  # type: ignore[arg-type]
        norm=norm,
    )


def given_vocabulary(vocabulary: Any, *, lowercase: bool) -> dict[str, int]:
    """Return the caller's vocabulary as term -> column, the columns being 0..n_terms-1.

    Raises InputError if a term or a column is repeated, or a column is missing. Raises NothingUsable if it is empty.
    """
    if isinstance(vocabulary, str) or not isinstance(vocabulary, Iterable):
        raise InputError(
            "is not a collection of terms", argument="vocabulary", received=vocabulary, expected="a list or a mapping"
        )
    if isinstance(vocabulary, Mapping):
        columns = _checked_columns(vocabulary)
    else:
        terms = sorted(vocabulary) if isinstance(vocabulary, set | frozenset) else list(vocabulary)
        columns = dict(zip(terms, range(len(terms)), strict=True))
        if len(columns) != len(terms):
            repeated = next(term for place, term in enumerate(terms) if columns[term] != place)
            raise InputError(f"vocabulary holds {repeated!r} twice", remedy="give each term once")
    if not columns:
        raise NothingUsable(
            "the vocabulary that was given is empty", remedy="give at least one term, or None to learn it"
        )
    if lowercase and any(any(map(str.isupper, term)) for term in columns):
        tell(["vocabulary holds upper case letters, which never match while lowercase=True; give lower case terms."])
    return columns


def _checked_columns(vocabulary: Mapping[Any, Any]) -> dict[str, int]:
    if not all(isinstance(column, Integral) for column in vocabulary.values()):
        raise InputError("vocabulary maps a term to something that is not a whole number", remedy="give term -> column")
    numbers = sorted(int(column) for column in vocabulary.values())
    if numbers != list(range(len(numbers))):
        raise InputError(
            f"the columns of the vocabulary must be 0..{len(numbers) - 1}, each once",
            remedy="one is repeated or missing: number them again",
        )
    return {term: int(column) for term, column in vocabulary.items()}
