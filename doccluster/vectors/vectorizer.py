"""`TfidfVectorizer`: texts -> unit rows of weighted terms, equal to scikit-learn's for the parameters both have."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.errors import NothingUsable
from doccluster.text.analysis import Analysis
from doccluster.text.tokens import DEFAULT_TOKEN_PATTERN
from doccluster.vectors.estimator import TextEstimator
from doccluster.vectors.hashed_terms import (
    HashedStatistics,
    columns_of_hashes,
    hash_columns,
    hashes_of,
    naming_step,
)
from doccluster.vectors.parameters import (
    analysis_of,
    check_hashing,
    dtype_of,
    given_vocabulary,
    max_features_of,
    tell,
    weighting_of,
)
from doccluster.vectors.term_counts import (
    TermCounts,
    TermStatistics,
    commonest_forms,
    count_terms,
    joined_statistics,
)
from doccluster.vectors.term_selection import select_terms
from doccluster.vectors.vectorizer_state import read_state, write_state
from doccluster.vectors.weighting import collection_weights, weigh_rows


class TfidfVectorizer(TextEstimator):
    r"""Return documents as rows of tf-idf weights, term for term and value for value as scikit-learn's vectorizer.

    Parameters
    ----------
    strip_accents : {"ascii", "unicode"}, callable or None
        Remove accents, after lower case.
    lowercase : bool
        Put the text into lower case first.
    preprocessor : callable or None
        Document -> text, in place of lower case and accents.
    tokenizer : callable or None
        Text -> list of tokens, in place of `token_pattern`.
    analyzer : {"word", "char", "char_wb", "cjk", "script"} or callable
        What a term is: a word, a run of characters, such a run inside a word, or (cjk) a pair of characters in scripts
        without blanks and a word elsewhere; or (script) what suits the script of each stretch of text, see
        `doccluster.text.scripts.tokens_by_script`. A function gets the document and returns its terms.
    stop_words : str, collection of str or None
        Tokens that are no terms: a language ("english", "de", ...: a short audited list, cut into tokens like the
        text), several with commas between them ("en,de": each document loses the words of its own language), or your
        own words, taken as they are.
    token_pattern : str
        A regular expression that matches a token.
    ngram_range : (int, int)
        Shortest and longest run of tokens (or characters) that is a term.
    max_df, min_df : int or float
        A term stays if it is in at most and at least so many documents: a number of them, or a share in [0, 1].
    max_features : int or None
        Keep only so many terms, those most frequent in the whole collection.
    vocabulary : mapping term -> column, collection of terms, or None
        The terms, if they are known beforehand.
    n_features : int or None
        Send terms to so many columns by a hash, as `HashingTfidf` does; terms that share a column are added up, and
        `min_df`, `max_df` and `max_features` choose among the columns that occur. The term of a column is then the one
        that most documents have (of 100,000 documents at most, evenly spread over all).
    binary : bool
        Count a term once per document.
    dtype : float32 or float64
        The type of the weights. scikit-learn's default is float64; ours is float32.
    norm : {"l2", "l1"} or None
        The length every row gets; the rest of the package wants "l2".
    use_idf, smooth_idf, sublinear_tf : bool
        Multiply by idf = ln(N / df) + 1; as if one more document held every term; take 1 + ln(tf) for tf.
    stemming : str or None
        Put the forms of a word into one column: a language of the Snowball stemmers, or "porter".
    weighting : str or None
        Instead of the three switches above: "bm25" (with `k1` and `b`), or SMART's letters such as "ltc" (then `norm`
        is the third letter). See `doccluster.vectors.weighting.Weighting`.
    k1, b : float
        The parameters of BM25.
    n_threads : int or None
        How many threads read text; None for all there are. The result does not depend on it.

    Attributes
    ----------
    vocabulary_ : dict
        Term -> column; with `n_features` the terms that columns are named by (`columns_of` knows the others too).
    idf_ : array of shape (n_terms,)
        The factor of each column (absent if there is none).
    document_frequency_ : int64 array of shape (n_terms,)
        In how many of the fitted documents each term occurs.
    display_terms_ : object array of shape (n_terms,)
        The commonest written form of each term, the alphabetically first of equally common ones.
    hashes_, sharing_ : int32 and int64 arrays of shape (n_terms,)
        With `n_features`: the hash of each column, ascending, and how many of the terms met have it.
    stop_words_removed_ : tuple of str
        The stop words that were met in the fitted documents, sorted.
    n_documents_ : int
        The number of fitted documents.
    mean_length_ : float
        The mean number of counted terms in them (BM25 compares lengths with it).

    Examples
    --------
    >>> vectorizer = TfidfVectorizer(stop_words="english", stemming="english")
    >>> matrix = vectorizer.fit_transform(["The elections were held.", "An election is held, voters elected.", ""])
    >>> vectorizer.get_feature_names_out().tolist()
    ['elect', 'held', 'voter']
    >>> vectorizer.display_terms_.tolist()
    ['elected', 'held', 'voters']
    >>> matrix.shape, matrix.dtype.name
    ((3, 3), 'float32')
    """

    hashes_: npt.NDArray[np.int32]
    sharing_: npt.NDArray[np.int64]

    def __init__(
        self,
        *,
        strip_accents: str | Callable[[str], str] | None = None,
        lowercase: bool = True,
        preprocessor: Callable[[str], str] | None = None,
        tokenizer: Callable[[str], Sequence[str]] | None = None,
        analyzer: str | Callable[[str], Sequence[str]] = "word",
        stop_words: str | Iterable[str] | None = None,
        token_pattern: str | None = DEFAULT_TOKEN_PATTERN,
        ngram_range: tuple[int, int] = (1, 1),
        max_df: int | float = 1.0,
        min_df: int | float = 1,
        max_features: int | None = None,
        vocabulary: Mapping[str, int] | Iterable[str] | None = None,
        n_features: int | None = None,
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
        self.strip_accents = strip_accents
        self.lowercase = lowercase
        self.preprocessor = preprocessor
        self.tokenizer = tokenizer
        self.analyzer = analyzer
        self.stop_words = stop_words
        self.token_pattern = token_pattern
        self.ngram_range = ngram_range
        self.max_df = max_df
        self.min_df = min_df
        self.max_features = max_features
        self.vocabulary = vocabulary
        self.n_features = n_features
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

    def fit(self, documents: Iterable[Any], y: Any = None) -> TfidfVectorizer:
        """Learn the terms and their document frequencies; returns self."""
        self._fit(documents)
        return self

    def fit_transform(self, documents: Iterable[Any], y: Any = None, **fit_params: Any) -> Any:
        """Learn the terms of `documents` and return their rows, a csr array of shape (n_documents, n_terms).

        Parameters
        ----------
        documents : iterable of str
            None, NaN and NA count as empty documents, bytes are read as UTF-8.

        Raises
        ------
        NothingUsable
            If no term is found, or none stays.
        InputError
            If `documents` is one string, or a parameter cannot be used.
        """
        matrix = self.fit_counts(documents)
        self.weigh(matrix)
        return matrix

    def fit_counts(self, documents: Iterable[Any]) -> Any:
        """Learn the terms of `documents` and return how often each occurs, a csr array; `weigh` makes rows of it."""
        return self._fit(documents)

    def fit_batches(self, batches: Iterable[Iterable[Any]]) -> TfidfVectorizer:
        """Learn the terms of documents that come in batches, holding one batch at a time; returns self.

        The result is that of `fit` on all documents at once. (With `n_features` all documents name columns.)
        """
        self._checked()
        return self.fit_statistics(joined_statistics(self.count_batch(documents)[1] for documents in batches))

    def count_batch(
        self, documents: Iterable[Any], *, first: int = 0, n_documents: int | None = None
    ) -> tuple[TermCounts, TermStatistics]:
        """Return the counts of a batch of documents, and what `fit_statistics` learns from together with others.

        first, n_documents: the place of the first in the collection, and the size of that, where they are known.
        """
        known, analysis = self._known(), analysis_of(self)
        like: dict[str, Any] = {"binary": self.binary, "n_threads": self.n_threads}
        if self.n_features is None:
            counts = count_terms(documents, analysis, vocabulary=known, **like)
            total = TermStatistics()
            total.add(counts)
            return counts, total
        texts = documents if isinstance(documents, Sequence) else list(documents)
        counts, step = count_terms(texts, analysis, **like), naming_step(n_documents)
        named = counts if step == 1 else count_terms(texts[-first % step :: step], analysis, **like)
        hashed, by_hash = hash_columns(counts, self.n_features, **like), HashedStatistics()
        by_hash.add_hashed(hashed, named, self.n_features)
        return hashed, by_hash

    def fit_statistics(self, total: TermStatistics) -> TfidfVectorizer:
        """Learn the terms of documents that were counted elsewhere; returns self."""
        known, analysis = self._checked()
        counts = total.summary(known)
        self._learn(counts, self._select(counts, fixed=known is not None), analysis)
        return self

    def columns_of(self, terms: Sequence[str]) -> npt.NDArray[np.int32]:
        """Return the column of each term, -1 for one that was not learned."""
        self.require_fit("vocabulary_")
        if self.n_features is not None:
            return columns_of_hashes(hashes_of(terms, self.n_features), self.hashes_)
        return np.fromiter((self.vocabulary_.get(term, -1) for term in terms), dtype=np.int32, count=len(terms))

    def transform(self, documents: Iterable[Any]) -> Any:
        """Return the rows of `documents` over the terms that were learned; unknown terms are left out."""
        matrix = self.transform_counts(documents)
        self.weigh(matrix)
        return matrix

    def transform_counts(self, documents: Iterable[Any]) -> Any:
        """Return how often each term that was learned occurs in `documents`, a csr array."""
        self.require_fit("vocabulary_")
        known = None if self.n_features is not None else self.vocabulary_
        like: dict[str, Any] = {"binary": self.binary, "n_threads": self.n_threads}
        counts = count_terms(documents, analysis_of(self), vocabulary=known, **like)
        if self.n_features is not None:
            counts.rows.settle([self.columns_of(counts.terms)], len(self.vocabulary_), **like)
        return counts.rows.to_matrix(len(self.vocabulary_), dtype=dtype_of(self))

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Return the term of each column, stemmed when stemming is on: object array of shape (n_terms,)."""
        self.require_fit("vocabulary_")
        names = np.empty(len(self.vocabulary_), dtype=object)
        for term, column in self.vocabulary_.items():
            names[column] = term
        return names

    def state(self) -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any]]:
        """Return what was learned as plain arrays, and the parameters as JSON values: enough for `from_state`."""
        self.require_fit("vocabulary_")
        return write_state(self)

    @classmethod
    def from_state(cls, arrays: Mapping[str, npt.NDArray[Any]], settings: Mapping[str, Any]) -> TfidfVectorizer:
        """Return the fitted vectorizer that `state` described.

        Raises
        ------
        SchemaError
            If the arrays are damaged, or written by a newer version.
        """
        vectorizer: TfidfVectorizer = read_state(cls, arrays, settings)
        return vectorizer

    def _fit(self, documents: Iterable[Any]) -> Any:
        """Learn, and return the counts of the terms that stay."""
        known, analysis = self._checked()
        if self.n_features is None:
            like: dict[str, Any] = {"binary": self.binary, "n_threads": self.n_threads}
            counts = count_terms(documents, analysis, vocabulary=known, **like)
        else:
            texts = documents if isinstance(documents, Sequence) else list(documents)
            hashed, total = self.count_batch(texts, n_documents=len(texts))
            counts = replace(total.summary(None), rows=hashed.rows)
        keep = self._select(counts, fixed=known is not None)
        self._learn(counts, keep, analysis)
        return counts.matrix(keep, dtype=dtype_of(self))

    def _checked(self) -> tuple[dict[str, int] | None, Analysis]:
        """Check all parameters before any text is read; returns the given vocabulary and the analysis."""
        for check in (dtype_of, max_features_of, check_hashing, weighting_of):
            check(self)
        known, analysis = self._known(), analysis_of(self)
        tell(analysis.warnings)
        return known, analysis

    def _known(self) -> dict[str, int] | None:
        return None if self.vocabulary is None else given_vocabulary(self.vocabulary, lowercase=self.lowercase)

    def _select(self, counts: TermCounts, *, fixed: bool) -> npt.NDArray[np.bool_]:
        if not counts.terms or counts.n_documents == 0:
            raise NothingUsable(
                f"empty vocabulary: the {counts.n_documents} document(s) hold no term, perhaps only stop words",
                remedy="check the text and the parameters",
            )
        if fixed:
            return np.ones(len(counts.terms), dtype=bool)
        return select_terms(
            counts.document_frequency,
            counts.term_frequency,
            n_documents=counts.n_documents,
            min_df=self.min_df,
            max_df=self.max_df,
            max_features=max_features_of(self),
            dtype=dtype_of(self),
        )

    def _learn(self, counts: TermCounts, keep: npt.NDArray[np.bool_], analysis: Analysis) -> None:
        terms = counts.terms
        if not keep.all():
            terms = [term for term, stays in zip(counts.terms, keep.tolist(), strict=True) if stays]
        self.vocabulary_ = dict(zip(terms, range(len(terms)), strict=True))
        self.document_frequency_ = counts.document_frequency[keep]
        self.n_documents_ = counts.n_documents
        self.mean_length_ = max(1.0, float(counts.term_frequency[keep].sum()) / self.n_documents_)
        self.stop_words_removed_ = tuple(sorted(counts.stop_words_met))
        shown = terms if counts.written is None else commonest_forms(terms, counts.written, analysis)
        self.display_terms_ = np.array(shown, dtype=object)
        self.fixed_vocabulary_ = self.vocabulary is not None
        for name, values in (("hashes_", counts.hashes), ("sharing_", counts.sharing)):
            if values is not None:
                setattr(self, name, values[keep])
            elif hasattr(self, name):
                delattr(self, name)
        factors = collection_weights(
            self.document_frequency_, self.n_documents_, weighting=weighting_of(self), dtype=dtype_of(self)
        )
        if factors is not None:
            self.idf_ = factors
        elif hasattr(self, "idf_"):
            del self.idf_

    def weigh(self, counts: Any) -> None:
        """Turn counts of the terms that were learned into weighted rows, in place."""
        weigh_rows(
            counts,
            getattr(self, "idf_", None),
            weighting=weighting_of(self),
            mean_length=self.mean_length_,
            n_threads=self.n_threads,
        )
