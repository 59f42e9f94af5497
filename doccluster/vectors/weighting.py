"""Counts -> weights: scikit-learn's tf-idf, the SMART codes, and BM25, all in place on the values of a csr matrix.

Beside them the checks of the vectorizer's parameters.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from doccluster.base.arrays import Array, CsrArray, DType, Floats, Integers, Matrix, Reals
from doccluster.base.blocks import map_blocks, row_blocks
from doccluster.base.sparse_structure import checked_csr
from doccluster.base.validation import check_float_type, check_positive_int
from doccluster.errors import Argument, DocclusterWarning, InputError, NothingUsable, Words, words_of
from doccluster.text.analysis import TfidfParameters

TermPart = Literal["n", "l", "a", "b", "L", "bm25"]
CollectionPart = Literal["n", "t", "p", "plus-one", "plus-one-smooth", "bm25"]
Norm = Literal["l1", "l2"]

_ROWS_PER_BLOCK = 8192


@dataclass(frozen=True)
class Weighting:
    """How a count becomes a weight: Manning, Raghavan, Schuetze (2008), figure 6.15 and equation 11.32."""

    # n: tf; l: 1 + ln tf; a: 1/2 + 1/2 tf / max tf; b: 1; L: (1 + ln tf) / (1 + ln mean tf); bm25: tf (k1 + 1) / (tf
    # + k1 (1 - b + b length / mean length))
    term: TermPart = "n"
    # n: 1; t: ln(N / df); p: max(0, ln((N - df) / df)); plus-one: ln(N / df) + 1 and plus-one-smooth: ln((1 + N) / (1
    # + df)) + 1 as in scikit-learn; bm25: ln(1 + (N - df + 1/2) / (df + 1/2))
    collection: CollectionPart = "plus-one-smooth"
    norm: Norm | None = "l2"  # the length every row gets
    k1: float = 1.2
    b: float = 0.75


def parse_weighting(code: str, *, norm: Norm | None = "l2", k1: float = 1.2, b: float = 0.75) -> Weighting:
    """Return the weighting a code names: "tfidf", "bm25", or the three letters of SMART's document part.

    The third SMART letter is n (no norm) or c (cosine); the others take `norm`.

    >>> parse_weighting("ltc")
    Weighting(term='l', collection='t', norm='l2', k1=1.2, b=0.75)
    """
    if code == "tfidf":
        return Weighting(norm=norm)
    if code == "bm25":
        if not (k1 >= 0 and 0 <= b <= 1):
            raise InputError(
                (Argument("k1", k1), ", ", Argument("b", b), " are not parameters of BM25"),
                remedy="give k1 >= 0 and 0 <= b <= 1",
            )
        return Weighting(term="bm25", collection="bm25", norm=norm, k1=float(k1), b=float(b))
    if not isinstance(code, str) or re.fullmatch("[nlabL][ntp][nc]", code) is None:
        raise InputError(
            "is not known",
            argument="weighting",
            received=code,
            expected="'tfidf', 'bm25' or the three letters of SMART's document part: one of n, l, a, b and L, one of "
            "n, t and p, and one of n and c (for instance 'ltc')",
        )
    letters: Any = code
    return Weighting(term=letters[0], collection=letters[1], norm="l2" if code[2] == "c" else None)


def collection_weights(
    document_frequency: Integers, n_documents: int, *, weighting: Weighting, dtype: npt.DTypeLike
) -> Reals | None:
    """Return the factor of each column, of shape (n_terms,), or None when there is none."""
    if weighting.collection == "n":
        return None
    if weighting.collection.startswith("plus-one"):
        return _plus_one(document_frequency, n_documents, weighting.collection == "plus-one-smooth", dtype)
    df = document_frequency.astype(np.float64)
    if weighting.collection == "bm25":
        return np.log1p((n_documents - df + 0.5) / (df + 0.5)).astype(dtype)
    df = np.maximum(df, 1.0)
    if weighting.collection == "t":
        return np.log(n_documents / df).astype(dtype)
    odds = np.maximum(n_documents - df, 0.0) / df
    return np.log(np.maximum(odds, 1.0)).astype(dtype)


def _plus_one(document_frequency: Integers, n_documents: int, smooth: bool, dtype: npt.DTypeLike) -> Reals:
    # In the order and precision of scikit-learn's TfidfTransformer, so that values agree to the last bit.
    df = document_frequency.astype(dtype)
    df += float(smooth)
    weights = np.full_like(df, n_documents + int(smooth))
    with np.errstate(divide="ignore"):  # without smoothing a term of no document gets inf, as in scikit-learn
        weights /= df
    np.log(weights, out=weights)
    weights += 1.0
    return weights


def weigh_rows(
    matrix: Matrix,
    factors: Array | None,
    *,
    weighting: Weighting,
    mean_length: float = 1.0,
    n_threads: int | None = None,
) -> None:
    """Turn the counts of a csr array into weights, in place. Raises InputError if they do not fit the factors."""
    matrix = _checked_counts(matrix, factors)

    def weigh(rows: slice) -> tuple[slice, Reals]:
        indptr = matrix.indptr[rows.start : rows.stop + 1]
        entries = slice(int(indptr[0]), int(indptr[-1]))
        values = matrix.data[entries].copy()
        local = (indptr - indptr[0]).astype(np.int64)
        _weigh_terms(values, local, weighting, mean_length)
        if factors is not None:
            values *= factors[matrix.indices[entries]]
        if weighting.norm is not None:
            _normalise(values, local, weighting.norm == "l2")
        return entries, values

    for entries, values in map_blocks(weigh, row_blocks(matrix.shape[0], _ROWS_PER_BLOCK), n_threads=n_threads):
        matrix.data[entries] = values


def _checked_counts(matrix: Matrix, factors: Array | None) -> CsrArray:
    """Return counts whose indices are sound, over the same values: these are changed in place."""
    if getattr(matrix, "format", None) != "csr":
        raise InputError("is not a csr array", argument="counts", remedy="give counts.tocsr()")
    if factors is not None and matrix.shape[1] != factors.size:
        raise InputError(f"has {matrix.shape[1]:,} columns", argument="counts", expected=f"{factors.size:,}")
    return checked_csr(matrix, name="counts")[0]


def _normalise(values: Array, indptr: Integers, squared: bool) -> None:
    """Divide each row by its length, in place: the Euclidean one, or the sum of absolute values."""
    sizes = np.diff(indptr)
    row = np.repeat(np.arange(sizes.size), sizes)
    # one value after the other, as scikit-learn adds them
    totals = np.bincount(row, np.square(values, dtype=np.float64) if squared else np.abs(values), sizes.size)
    lengths = np.sqrt(totals) if squared else totals
    np.divide(values, np.repeat(np.where(lengths > 0, lengths, 1.0), sizes), out=values, casting="same_kind")


def _weigh_terms(values: Reals, indptr: Integers, weighting: Weighting, mean_length: float) -> None:
    if weighting.term == "n" or not values.size:
        return
    if weighting.term == "b":
        values[:] = values != 0
        return
    if weighting.term == "l":
        np.log(values, out=values)
        values += 1.0
    elif weighting.term == "L":
        sizes = np.diff(indptr)
        mean_tf = _per_entry(np.add, values, indptr) / np.repeat(sizes, sizes)
        values[:] = (1.0 + np.log(values)) / (1.0 + np.log(mean_tf))
    elif weighting.term == "a":
        values[:] = 0.5 + 0.5 * values / _per_entry(np.maximum, values, indptr)
    else:
        k1, b = weighting.k1, weighting.b
        length = _per_entry(np.add, values, indptr)
        values[:] = values * (k1 + 1.0) / (values + k1 * (1.0 - b + b * length / mean_length))


def _per_entry(reduce: np.ufunc, values: Array, indptr: Integers) -> Floats:
    """Return for each entry the reduction of its row, in float64."""
    sizes = np.diff(indptr)
    filled = sizes > 0
    reduced = reduce.reduceat(values.astype(np.float64), indptr[:-1][filled])
    return np.repeat(reduced, sizes[filled])


def tell(messages: Iterable[Words]) -> None:
    """Warn the caller of `fit` of each message."""
    for message in messages:
        warnings.warn(DocclusterWarning(*words_of(message)), stacklevel=5)


def dtype_of(vectorizer: TfidfParameters) -> DType:
    """Return the type of the weights, or raise InputError if it is not float32 or float64."""
    return check_float_type(vectorizer.dtype)


def max_features_of(vectorizer: TfidfParameters) -> int | None:
    """Return `max_features` as an int >= 1 or None."""
    limit = vectorizer.max_features
    return None if limit is None else check_positive_int(limit, "max_features")


def weighting_of(vectorizer: TfidfParameters) -> Weighting:
    """Return the weighting of `vectorizer`: its `weighting` code, or scikit-learn's switches."""
    norm: Any = vectorizer.norm
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


def given_vocabulary(vocabulary: object, *, lowercase: bool) -> dict[str, int]:
    """Return the caller's vocabulary as term -> column, the columns being 0..n_terms-1."""
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


def _checked_columns(vocabulary: Mapping[str, Any]) -> dict[str, int]:
    if not all(isinstance(column, Integral) for column in vocabulary.values()):
        raise InputError("vocabulary maps a term to something that is not a whole number", remedy="give term -> column")
    numbers = sorted(int(column) for column in vocabulary.values())
    if numbers != list(range(len(numbers))):
        raise InputError(
            f"the columns of the vocabulary must be 0..{len(numbers) - 1}, each once",
            remedy="one is repeated or missing: number them again",
        )
    return {term: int(column) for term, column in vocabulary.items()}
