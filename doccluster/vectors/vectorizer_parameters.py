"""The vectorizer's parameters, checked, and a fitted vectorizer as plain arrays and JSON values.

So a model can be saved without pickle.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.base.packed_strings import pack_strings, unpack_strings
from doccluster.base.validation import check_float_type, check_positive_int
from doccluster.errors import Argument, DocclusterWarning, InputError, NothingUsable, SchemaError, Words, words_of
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


VECTORIZER_SCHEMA = 3
# 2 knows the analyzer "script" and lists of several languages, 3 columns by a hash, which were given up again
_READABLE = (1, 2, 3)


def write_state(vectorizer: Any) -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any]]:
    """Return the arrays and the settings of a fitted vectorizer.

    Raises InputError if a parameter is a function, which cannot be saved.
    """
    terms = vectorizer.get_feature_names_out().tolist()
    arrays: dict[str, npt.NDArray[Any]] = {}
    arrays["term_characters"], arrays["term_ends"] = pack_strings(terms)
    arrays["display_characters"], arrays["display_ends"] = pack_strings(vectorizer.display_terms_.tolist())
    arrays["document_frequency"] = vectorizer.document_frequency_
    if hasattr(vectorizer, "idf_"):
        arrays["idf"] = vectorizer.idf_
    parameters = {name: _as_json(name, value) for name, value in vectorizer.get_params(deep=False).items()}
    parameters["vocabulary"] = None
    settings: dict[str, Any] = {
        "schema": VECTORIZER_SCHEMA,
        "parameters": parameters,
        "fixed_vocabulary": bool(vectorizer.fixed_vocabulary_),
        "n_documents": int(vectorizer.n_documents_),
        "mean_length": float(vectorizer.mean_length_),
        "stop_words_removed": list(vectorizer.stop_words_removed_),
    }
    return arrays, settings


def read_state(cls: Any, arrays: Mapping[str, npt.NDArray[Any]], settings: Mapping[str, Any]) -> Any:
    """Return the fitted vectorizer of class `cls` that `write_state` described."""
    if settings.get("schema") not in _READABLE:
        raise SchemaError(
            f"the vectorizer was saved with schema {settings.get('schema')!r}, this version reads {VECTORIZER_SCHEMA}",
            remedy="install a newer doccluster",
        )
    try:
        return _rebuild(cls, arrays, settings)
    except (KeyError, TypeError) as error:
        raise SchemaError(f"the saved vectorizer is incomplete ({error})", remedy="save the model again") from error


def parameters_of_state(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a saved vectorizer. Raises SchemaError if its columns are those of a hash."""
    if parameters.get("n_features") is not None:
        raise SchemaError(
            "the vectorizer was saved by an older version, which sent terms to columns by a hash",
            remedy="make the run again without n_features",
        )
    return {name: value for name, value in parameters.items() if name != "n_features"}


def _rebuild(cls: Any, arrays: Mapping[str, npt.NDArray[Any]], settings: Mapping[str, Any]) -> Any:
    terms = unpack_strings(arrays["term_characters"], arrays["term_ends"])
    parameters = parameters_of_state(settings["parameters"])
    parameters["ngram_range"] = tuple(parameters["ngram_range"])
    parameters["dtype"] = np.dtype(parameters["dtype"]).type
    parameters["vocabulary"] = terms if settings["fixed_vocabulary"] else None
    vectorizer = cls(**parameters)
    vectorizer.vocabulary_ = dict(zip(terms, range(len(terms)), strict=True))
    vectorizer.fixed_vocabulary_ = settings["fixed_vocabulary"]
    vectorizer.display_terms_ = np.array(
        unpack_strings(arrays["display_characters"], arrays["display_ends"]), dtype=object
    )
    vectorizer.document_frequency_ = np.asarray(arrays["document_frequency"])
    if "idf" in arrays:
        vectorizer.idf_ = np.asarray(arrays["idf"])
    vectorizer.n_documents_ = settings["n_documents"]
    vectorizer.mean_length_ = settings["mean_length"]
    vectorizer.stop_words_removed_ = tuple(settings["stop_words_removed"])
    lengths = {len(terms), vectorizer.display_terms_.size, vectorizer.document_frequency_.size}
    if len(lengths) != 1 or getattr(vectorizer, "idf_", vectorizer.document_frequency_).size != len(terms):
        raise SchemaError("the saved vectorizer is damaged: its arrays differ in length", remedy="save the model again")
    return vectorizer


def _as_json(name: str, value: Any) -> Any:
    if name == "dtype":
        return np.dtype(value).name
    if name == "vocabulary":
        return None
    if callable(value):
        raise InputError(
            f"{name} is a function, which cannot be saved", remedy="use a parameter that is not, or fit again"
        )
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return sorted(value) if name == "stop_words" else list(value)
