"""`HashingTfidf`: terms go to columns by a hash, so one pass and a fixed width do, whatever the stream brings."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.text.analysis import Analysis
from doccluster.text.counting import CounterPool
from doccluster.text.tokens import DEFAULT_TOKEN_PATTERN
from doccluster.validation import check_positive_int
from doccluster.vectors.estimator import TextEstimator
from doccluster.vectors.function_words import leave_out_function_words
from doccluster.vectors.parameters import analysis_of, dtype_of, tell, weighting_of
from doccluster.vectors.row_store import RowStore
from doccluster.vectors.weighting import collection_weights, weigh_rows


class HashingTfidf(TextEstimator):
    """Return documents as rows of tf-idf weights over a fixed number of columns, without a vocabulary.

    The column of a term is its murmur hash modulo `n_features`, as in scikit-learn's HashingVectorizer with
    ``alternate_sign=False``; terms that share a column are added up. Document frequencies grow with `partial_fit`.

    Parameters
    ----------
    n_features : int
        The number of columns.
    strip_accents, lowercase, preprocessor, tokenizer, analyzer, stop_words, token_pattern, ngram_range, stemming
        As in `TfidfVectorizer`.
    binary, dtype, norm, use_idf, smooth_idf, sublinear_tf, weighting, k1, b, n_threads
        As in `TfidfVectorizer`.

    Attributes
    ----------
    document_frequency_ : int64 array of shape (n_features,)
        In how many of the documents seen so far each column occurs.
    n_documents_ : int
        The number of documents seen so far.
    mean_length_ : float
        The mean number of terms in them.

    Examples
    --------
    >>> hashing = HashingTfidf(n_features=64)
    >>> rows = hashing.partial_fit(["two cats", "one cat"]).transform(["two dogs"])
    >>> rows.shape, rows.nnz
    ((1, 64), 2)
    """

    def __init__(
        self,
        *,
        n_features: int = 1 << 18,
        strip_accents: str | Callable[[str], str] | None = None,
        lowercase: bool = True,
        preprocessor: Callable[[str], str] | None = None,
        tokenizer: Callable[[str], Sequence[str]] | None = None,
        analyzer: str | Callable[[str], Sequence[str]] = "word",
        stop_words: str | Iterable[str] | None = None,
        token_pattern: str | None = DEFAULT_TOKEN_PATTERN,
        ngram_range: tuple[int, int] = (1, 1),
        binary: bool = False,
        dtype: npt.DTypeLike = np.float32,
        norm: str | None = "l2",
        use_idf: bool = True,
        smooth_idf: bool = True,
        sublinear_tf: bool = False,
        stemming: str | None = None,
        weighting: str | None = None,
        k1: float = 1.2,
        b: float = 0.75,
        n_threads: int | None = None,
    ) -> None:
        self.n_features = n_features
        self.strip_accents = strip_accents
        self.lowercase = lowercase
        self.preprocessor = preprocessor
        self.tokenizer = tokenizer
        self.analyzer = analyzer
        self.stop_words = stop_words
        self.token_pattern = token_pattern
        self.ngram_range = ngram_range
        self.binary = binary
        self.dtype = dtype
        self.norm = norm
        self.use_idf = use_idf
        self.smooth_idf = smooth_idf
        self.sublinear_tf = sublinear_tf
        self.stemming = stemming
        self.weighting = weighting
        self.k1 = k1
        self.b = b
        self.n_threads = n_threads

    def fit(self, documents: Iterable[Any], y: Any = None) -> HashingTfidf:
        """Learn the document frequencies of `documents` alone; returns self."""
        self.fit_counts(documents)
        return self

    def partial_fit(self, documents: Iterable[Any], y: Any = None) -> HashingTfidf:
        """Add `documents` to the document frequencies; returns self."""
        self.count(documents)
        return self

    def fit_transform(self, documents: Iterable[Any], y: Any = None, **fit_params: Any) -> Any:
        """Learn the document frequencies of `documents` alone and return their rows; the text is read once."""
        matrix = self.fit_counts(documents)
        self.weigh(matrix)
        return matrix

    def transform(self, documents: Iterable[Any]) -> Any:
        """Return the rows of `documents`, a csr array of shape (n_documents, n_features)."""
        matrix, _ = self._count(documents)
        self.weigh(matrix)
        return matrix

    def fit_counts(self, documents: Iterable[Any]) -> Any:
        """Forget what was learned, and return what `count` returns."""
        for name in ("document_frequency_", "n_documents_", "mean_length_"):
            if hasattr(self, name):
                delattr(self, name)
        return self.count(documents)

    def count(self, documents: Iterable[Any]) -> Any:
        """Add `documents` to the document frequencies and return their counts, to be weighed later.

        Returns
        -------
        csr array of shape (n_documents, n_features)
            Counts, not weights; see `weigh`.
        """
        matrix, frequencies = self._count(documents)
        seen = getattr(self, "n_documents_", 0)
        length = getattr(self, "mean_length_", 0.0) * seen + float(matrix.data.sum(dtype=np.float64))
        self.document_frequency_ = getattr(self, "document_frequency_", 0) + frequencies
        self.n_documents_ = seen + matrix.shape[0]
        self.mean_length_ = length / max(1, self.n_documents_)
        return matrix

    def weigh(self, counts: Any) -> None:
        """Turn counts into weights, in place, by the document frequencies known now."""
        weighting = weighting_of(self)
        if weighting.needs_collection and not hasattr(self, "document_frequency_"):
            from sklearn.exceptions import NotFittedError

            raise NotFittedError("HashingTfidf has seen no documents yet; call partial_fit, or set use_idf=False.")
        factors = None
        if weighting.needs_collection:
            factors = collection_weights(
                self.document_frequency_, self.n_documents_, weighting=weighting, dtype=dtype_of(self)
            )
        mean_length = max(1.0, getattr(self, "mean_length_", 1.0))
        weigh_rows(counts, factors, weighting=weighting, mean_length=mean_length, n_threads=self.n_threads)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = bool(self.use_idf)
        return tags

    def _count(self, documents: Iterable[Any]) -> tuple[Any, npt.NDArray[np.int64]]:
        width = check_positive_int(self.n_features, "n_features")
        analysis = analysis_of(self)
        tell(analysis.warnings)
        pool = CounterPool(analysis, n_threads=self.n_threads)
        rows = RowStore(pool.count(documents))
        forms, numbers = pool.sorted_forms()
        if analysis.function_words is not None:
            leave_out_function_words(rows, forms, numbers, analysis.function_words, n_threads=self.n_threads)
            numbers = [np.arange(len(forms), dtype=np.int32)]
        column = hashed_columns(forms, analysis, width)
        rows.settle([column[of_counter] for of_counter in numbers], width, binary=self.binary, n_threads=self.n_threads)
        document_frequency, _ = rows.frequencies(width)
        return rows.to_matrix(width, dtype=dtype_of(self)), document_frequency


def hashed_columns(forms: Sequence[str], analysis: Analysis, n_features: int) -> npt.NDArray[np.int32]:
    """Return the column of the term of each written form, -1 for stop words."""
    columns = np.empty(len(forms), dtype=np.int32)
    for place, term in enumerate(map(analysis.term_of, forms)):
        columns[place] = -1 if term is None else hashed_column(term, n_features)
    return columns


def hashed_column(term: str, n_features: int) -> int:
    """Return the column of a term: the absolute value of its signed 32-bit murmur hash, modulo the width."""
    code = int(_murmurhash()(term.encode("utf-8", "surrogatepass"), seed=0))
    if code == -(2**31):  # its absolute value is no 32-bit number; scikit-learn sends it here
        return (2**31 - 1 - (n_features - 1)) % n_features
    return abs(code) % n_features


@functools.cache
def _murmurhash() -> Callable[..., int]:
    from sklearn.utils import murmurhash3_32  # imported here: `TfidfVectorizer` does without scikit-learn

    hash_of_bytes: Callable[..., int] = murmurhash3_32
    return hash_of_bytes
