"""Whether rows have the columns that an estimator was fitted with, in scikit-learn's words."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import validate_data

from doccluster.errors import InputError


def check_columns(estimator: Any, X: Any) -> None:
    """Raise InputError when `X`, a checked matrix or the table it was made from, has other columns than were fitted."""
    try:
        validate_data(estimator, X, skip_check_array=True, reset=False)
    except (TypeError, ValueError) as error:
        sentence = " ".join(str(error).split()).rstrip(".")
        raise InputError(
            f"{sentence}", remedy=f"use the vectorizer that {type(estimator).__name__} was fitted with"
        ) from error
