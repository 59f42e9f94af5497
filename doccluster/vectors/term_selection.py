"""Which terms stay: document frequency between two bounds, and at most a given number."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.errors import Argument, InputError, NothingUsable


def frequency_bound(value: Any, name: str, n_documents: int) -> float:
    """Return `min_df` or `max_df` as a number of documents: a whole number counts them, a fraction is a share.

    >>> frequency_bound(0.5, "max_df", 30), frequency_bound(2, "min_df", 30)
    (15.0, 2.0)
    """
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and value >= 1:
        return float(value)
    if isinstance(value, float | np.floating) and 0.0 <= value <= 1.0:
        return float(value) * n_documents
    raise InputError(argument=name, received=value, expected="a whole number >= 1 or a share in [0.0, 1.0]")


def select_terms(
    document_frequency: npt.NDArray[np.int64],
    term_frequency: npt.NDArray[np.int64],
    *,
    n_documents: int,
    min_df: int | float,
    max_df: int | float,
    max_features: int | None,
    dtype: npt.DTypeLike,
    is_dropped: npt.NDArray[np.bool_] | bool = False,
) -> npt.NDArray[np.bool_]:
    """Return which terms stay, bool array of shape (n_terms,).

    Terms for which `is_dropped` is true do not. Of more than `max_features` the most frequent in the whole collection
    stay; which of equally frequent ones is left to numpy's `argsort` exactly as in scikit-learn.

    Raises InputError if a bound is not one, or `max_df` is below `min_df`. Raises NothingUsable if no term stays.
    """
    largest, smallest = (
        frequency_bound(max_df, "max_df", n_documents),
        frequency_bound(min_df, "min_df", n_documents),
    )
    if largest < smallest:
        raise InputError(
            (f"is {largest:g} documents, fewer than the {smallest:g} of ", Argument("min_df", min_df)),
            argument="max_df",
            received=max_df,
            remedy=("raise ", Argument("max_df"), " or lower ", Argument("min_df")),
        )
    keep: npt.NDArray[np.bool_] = (document_frequency >= smallest) & (document_frequency <= largest)
    keep &= ~np.asarray(is_dropped)
    if max_features is not None and np.count_nonzero(keep) > max_features:
        candidates = np.flatnonzero(keep)
        order = (-term_frequency[candidates].astype(dtype)).argsort()
        keep = np.zeros(keep.size, dtype=bool)
        keep[candidates[order[:max_features]]] = True
    if not keep.any():
        raise NothingUsable(
            (
                f"after pruning no terms remain of {keep.size} (",
                Argument("min_df", min_df),
                ", ",
                Argument("max_df", max_df),
                ")",
            ),
            remedy=("lower ", Argument("min_df"), " or raise ", Argument("max_df")),
        )
    return keep
