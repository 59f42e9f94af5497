"""A fitted vectorizer as plain arrays and JSON values, so that a model can be saved without pickle."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.base.packed_strings import pack_strings, unpack_strings
from doccluster.errors import InputError, SchemaError

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
