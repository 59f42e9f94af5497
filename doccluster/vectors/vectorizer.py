"""`TfidfVectorizer`: texts -> unit rows of weighted terms, equal to scikit-learn's for the parameters both have."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.arrays import AnyArray, Array, CsrArray, Flags
from doccluster.base.packed_strings import pack_strings, unpack_strings
from doccluster.base.parameter_fields import described_by, parameters_of
from doccluster.base.validation import check_matrix
from doccluster.errors import Argument, InputError, NothingUsable, SchemaError
from doccluster.text.analysis import Analysis, TfidfParameters, analysis_of, preprocessor_of, tokenizer_of
from doccluster.text.counting import as_text
from doccluster.text.language import languages_named, resolve_stop_words
from doccluster.vectors.term_counts import (
    TermCounts,
    TermStatistics,
    commonest_forms,
    count_terms,
    joined_statistics,
)
from doccluster.vectors.weighting import (
    collection_weights,
    dtype_of,
    given_vocabulary,
    max_features_of,
    tell,
    weigh_rows,
    weighting_of,
)

VECTORIZER_SCHEMA = 3
# 2 knows the analyzer "script" and lists of several languages, 3 columns by a hash, which were given up again
_READABLE = (1, 2, 3)


@described_by(TfidfParameters)
class TfidfVectorizer(TfidfParameters):
    r"""Return documents as rows of tf-idf weights, term for term and value for value as scikit-learn's vectorizer.

    Attributes
    ----------
    vocabulary_ : dict
        Term -> column.
    idf_ : array of shape (n_terms,)
        The factor of each column (absent if there is none).
    document_frequency_ : int64 array of shape (n_terms,)
        In how many of the fitted documents each term occurs.
    display_terms_ : object array of shape (n_terms,)
        The commonest written form of each term, the alphabetically first of equally common ones.
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

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name; `deep` changes nothing, since none of them is an estimator."""
        return {name: getattr(self, name) for name in self._defaults()}

    def set_params(self, **parameters: object) -> Self:
        """Change parameters; returns self.

        Raises
        ------
        InputError
            If there is no such parameter.
        """
        defaults = self._defaults()
        for name, value in parameters.items():
            if name not in defaults:
                raise InputError(
                    f"{type(self).__name__} has no parameter {name!r}", remedy=f"give one of {', '.join(defaults)}"
                )
            setattr(self, name, value)
        return self

    def set_output(self, *, transform: str | None = None) -> Self:
        """Accept that the output is as it is, a sparse array; returns self.

        Raises
        ------
        InputError
            If a table is asked for.
        """
        if transform not in (None, "default"):
            raise InputError(
                f"the rows are sparse, transform={transform!r} has no sparse tables",
                remedy="give 'default' and convert the part you need",
            )
        return self

    def require_fit(self) -> None:
        """Raise scikit-learn's NotFittedError when no terms have been learned."""
        if not hasattr(self, "vocabulary_"):
            from sklearn.exceptions import NotFittedError

            raise NotFittedError(f"this {type(self).__name__} is not fitted yet; call fit before using it.")

    def __repr__(self) -> str:
        changed = [
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if value is not (default := self._defaults()[name]) and repr(value) != repr(default)
        ]
        return f"{type(self).__name__}({', '.join(changed)})"

    def _repr_html_(self) -> str:
        from sklearn.utils import estimator_html_repr

        return str(estimator_html_repr(self))

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            transformer_tags=TransformerTags(),
            input_tags=InputTags(string=True, two_d_array=False),
        )

    @classmethod
    def _defaults(cls) -> dict[str, object]:
        parameters = inspect.signature(cls).parameters.values()
        return {parameter.name: parameter.default for parameter in parameters}

    def fit(self, documents: Iterable[object], y: object = None) -> TfidfVectorizer:
        """Learn the terms and their document frequencies; returns self."""
        self.fit_counts(documents)
        return self

    def fit_transform(self, documents: Iterable[object], y: object = None, **fit_params: object) -> CsrArray:
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
        return self._handed_over(matrix)

    def fit_counts(self, documents: Iterable[object]) -> CsrArray:
        """Learn the terms of `documents` and return how often each occurs, a csr array; `weigh` makes rows of it."""
        vocabulary, analysis = self._checked()
        counts = self._count(documents, analysis, vocabulary)
        keep = self._select(counts, analysis, fixed=vocabulary is not None)
        self._learn(counts, keep, analysis)
        return counts.matrix(keep, dtype=dtype_of(self))

    def fit_batches(self, batches: Iterable[Iterable[object]]) -> TfidfVectorizer:
        """Learn the terms of documents that come in batches, holding one batch at a time; returns self.

        The result is that of `fit` on all documents at once.
        """
        self._checked()
        return self.fit_statistics(joined_statistics(self.count_batch(documents)[1] for documents in batches))

    def count_batch(self, documents: Iterable[object]) -> tuple[TermCounts, TermStatistics]:
        """Return the counts of a batch of documents, and what `fit_statistics` learns from together with others."""
        counts, statistics = self._count(documents, self._analysis(), self._known()), TermStatistics()
        statistics.add(counts)
        return counts, statistics

    def fit_statistics(self, total: TermStatistics) -> TfidfVectorizer:
        """Learn the terms of documents that were counted elsewhere; returns self."""
        vocabulary, analysis = self._checked()
        counts = total.summary(vocabulary)
        self._learn(counts, self._select(counts, analysis, fixed=vocabulary is not None), analysis)
        return self

    def columns_of(self, terms: Sequence[str]) -> npt.NDArray[np.int32]:
        """Return the column of each term, -1 for one that was not learned."""
        self.require_fit()
        return np.fromiter((self.vocabulary_.get(term, -1) for term in terms), dtype=np.int32, count=len(terms))

    def transform(self, documents: Iterable[object]) -> CsrArray:
        """Return the rows of `documents` over the terms that were learned; unknown terms are ignored."""
        matrix = self.transform_counts(documents)
        self.weigh(matrix)
        return self._handed_over(matrix)

    def transform_counts(self, documents: Iterable[object]) -> CsrArray:
        """Return how often each term that was learned occurs in `documents`, a csr array."""
        self.require_fit()
        counts = self._count(documents, self._analysis(), self.vocabulary_)
        return counts.matrix(dtype=dtype_of(self))

    def get_feature_names_out(self, input_features: object = None) -> npt.NDArray[np.object_]:
        """Return the term of each column, stemmed when stemming is on: object array of shape (n_terms,)."""
        self.require_fit()
        names = np.empty(len(self.vocabulary_), dtype=object)
        for term, column in self.vocabulary_.items():
            names[column] = term
        return names

    def inverse_transform(self, X: Any) -> list[npt.NDArray[np.object_]]:
        """Return the terms of each row of `X`, csr or dense of shape (n_documents, n_terms), by their columns."""
        names, rows = self.get_feature_names_out(), sparse.csr_array(check_matrix(X), copy=True)
        if rows.shape[1] != names.size:
            raise InputError(f"has {rows.shape[1]:,} columns", argument="X", expected=f"{names.size:,}")
        rows.eliminate_zeros()
        return np.split(names[rows.indices], rows.indptr[1:-1])

    def decode(self, doc: object) -> Any:
        """Return a document as it is read: bytes as UTF-8, None and NaN as empty; tokens as they are, where it may."""
        return as_text(doc, 0, takes_others=analysis_of(self).takes_others)

    def build_preprocessor(self) -> Callable[[str], str]:
        """Return the function that prepares a text before it is cut: lower case and accents, or your own."""
        return preprocessor_of(self)

    def build_tokenizer(self) -> Callable[[str], Sequence[str]]:
        """Return the function that cuts a prepared text into tokens, stop words still among them."""
        return tokenizer_of(self)

    def get_stop_words(self) -> frozenset[str] | None:
        """Return the tokens that are left out, those of all languages together; None where none are."""
        own = analysis_of(self)
        if self.stop_words is None and not own.own_stop_words:
            return None
        how: Any = {"preprocess": self.build_preprocessor(), "tokenize": self.build_tokenizer()}
        names = languages_named(self.stop_words) or [self.stop_words]
        listed = frozenset[str]().union(*(resolve_stop_words(name, **how) for name in names))
        return (listed - own.own_kept_words) | own.own_stop_words

    def build_analyzer(self) -> Callable[[object], list[str]]:
        """Return the function from a document to its terms, with repeats: stop words left out, words stemmed."""
        analysis = analysis_of(self)
        left_out_by_you = analysis.terms_of(analysis.own_stop_words)

        def analyze(document: object) -> list[str]:
            forms = analysis.analyze(as_text(document, 0, takes_others=analysis.takes_others))
            if analysis.function_words is not None:
                left_out = analysis.function_words.leave_out(forms)
                forms = [form for form in forms if form not in left_out]
            return [term for term in map(analysis.term_of, forms) if term is not None and term not in left_out_by_you]

        return analyze

    def state(self) -> tuple[dict[str, Array], dict[str, object]]:
        """Return the learned state as plain arrays, and the parameters as JSON values: enough for `from_state`."""
        terms = self.get_feature_names_out().tolist()
        arrays: dict[str, Array] = {}
        arrays["term_characters"], arrays["term_ends"] = pack_strings(terms)
        arrays["display_characters"], arrays["display_ends"] = pack_strings(self.display_terms_.tolist())
        arrays["document_frequency"] = self.document_frequency_
        if hasattr(self, "idf_"):
            arrays["idf"] = self.idf_
        if self.folds_letters:  # what version 1.0 wrote has neither of these, and 1.0 passes over them
            arrays["broken_characters"], arrays["broken_ends"] = pack_strings(sorted(self.broken_words))
        parameters = {name: _as_json(name, value) for name, value in self.get_params(deep=False).items()}
        for name, usual in (("sparse_interface", "sparray"), ("added_stop_words", []), ("kept_words", [])):
            if parameters[name] == usual:  # as older versions have it, which know no other
                del parameters[name]
        settings: dict[str, object] = {
            "schema": VECTORIZER_SCHEMA,
            "parameters": parameters,
            "fixed_vocabulary": bool(self.fixed_vocabulary_),
            "n_documents": int(self.n_documents_),
            "mean_length": float(self.mean_length_),
            "stop_words_removed": list(self.stop_words_removed_),
        }
        return arrays, settings

    @classmethod
    def from_state(cls, arrays: Mapping[str, AnyArray], settings: Mapping[str, Any]) -> TfidfVectorizer:
        """Return the fitted vectorizer that `state` described.

        Raises
        ------
        SchemaError
            If the arrays are damaged, or written by a newer version.
        """
        schema = settings.get("schema")
        if schema not in _READABLE:
            problem = f"the vectorizer was saved with schema {schema!r}, this version reads {VECTORIZER_SCHEMA}"
            raise SchemaError(problem, remedy="install a newer doccluster")
        try:
            terms = unpack_strings(arrays["term_characters"], arrays["term_ends"])
            parameters = parameters_of_state(settings["parameters"])
            parameters["ngram_range"] = tuple(parameters["ngram_range"])
            parameters["dtype"] = np.dtype(parameters["dtype"]).type
            parameters["vocabulary"] = terms if settings["fixed_vocabulary"] else None
            vectorizer = cls(**parameters)
            vectorizer.folds_letters = "broken_ends" in arrays
            if vectorizer.folds_letters:
                words = unpack_strings(arrays["broken_characters"], arrays["broken_ends"])
                vectorizer.broken_words = frozenset(words)
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
        except (KeyError, TypeError) as error:
            raise SchemaError(f"the saved vectorizer is incomplete ({error})", remedy="save the model again") from error
        # a model may have been edited or cut off: what does not fit together is refused
        lengths = {len(terms), vectorizer.display_terms_.size, vectorizer.document_frequency_.size}
        if len(lengths) != 1 or getattr(vectorizer, "idf_", vectorizer.document_frequency_).size != len(terms):
            raise SchemaError(
                "the saved vectorizer is damaged: its arrays differ in length", remedy="save the model again"
            )
        return vectorizer

    def _handed_over(self, matrix: CsrArray) -> Any:
        """Return rows in the class that `sparse_interface` asks for, over the same values."""
        interface = self.sparse_interface
        if interface == "config":
            from sklearn import get_config

            interface = get_config().get("sparse_interface", "spmatrix")
        return matrix if interface == "sparray" else sparse.csr_matrix(matrix)

    def _count(
        self, documents: Iterable[object], analysis: Analysis, vocabulary: Mapping[str, int] | None
    ) -> TermCounts:
        return count_terms(documents, analysis, vocabulary=vocabulary, binary=self.binary, n_threads=self.n_threads)

    def _checked(self) -> tuple[dict[str, int] | None, Analysis]:
        """Check all parameters before any text is read; returns the given vocabulary and the analysis."""
        for check in (dtype_of, max_features_of, weighting_of):
            check(self)
        parameters_of(self)["sparse_interface"].check_value("sparse_interface", self.sparse_interface)
        vocabulary, analysis = self._known(), self._analysis()
        tell(analysis.warnings)
        return vocabulary, analysis

    def _analysis(self) -> Analysis:
        """Return the analysis of the parameters, with the functions that a subclass builds in their place."""
        names = ("preprocessor", "tokenizer", "analyzer")
        kinds = type(self), TfidfVectorizer
        own = [name for name in names if len({getattr(kind, f"build_{name}") for kind in kinds}) > 1]
        if not own:
            return analysis_of(self)
        other = copy.copy(self)
        vars(other).update({name: getattr(self, f"build_{name}")() for name in own})
        return analysis_of(other)

    def _known(self) -> dict[str, int] | None:
        return None if self.vocabulary is None else given_vocabulary(self.vocabulary, lowercase=self.lowercase)

    def _select(self, counts: TermCounts, analysis: Analysis, *, fixed: bool) -> Flags:
        """Return which terms stay; of equally frequent ones numpy decides exactly as in scikit-learn."""
        if not counts.terms or counts.n_documents == 0:
            raise NothingUsable(
                f"empty vocabulary: the {counts.n_documents} document(s) hold no term, perhaps only stop words",
                remedy="check the text and the parameters",
            )
        if fixed:
            return np.ones(len(counts.terms), dtype=bool)
        n_documents = counts.n_documents
        largest, smallest = (
            frequency_bound(self.max_df, "max_df", n_documents),
            frequency_bound(self.min_df, "min_df", n_documents),
        )
        if largest < smallest:
            raise InputError(
                (f"is {largest:g} documents, fewer than the {smallest:g} of ", Argument("min_df", self.min_df)),
                argument="max_df",
                received=self.max_df,
                remedy=("raise ", Argument("max_df"), " or lower ", Argument("min_df")),
            )
        dropped = analysis.terms_of(self.dropped_terms) - analysis.terms_of(analysis.own_kept_words)
        dropped |= analysis.terms_of(analysis.own_stop_words)
        is_dropped = np.fromiter((term in dropped for term in counts.terms), dtype=bool, count=len(counts.terms))
        df = counts.document_frequency
        keep: Flags = (df >= smallest) & (df <= largest) & ~is_dropped
        max_features = max_features_of(self)
        if max_features is not None and np.count_nonzero(keep) > max_features:
            candidates = np.flatnonzero(keep)
            # in the type of the weights and not stably, as scikit-learn sorts, so that ties fall alike
            order = (-counts.term_frequency[candidates].astype(dtype_of(self))).argsort()
            keep = np.zeros(keep.size, dtype=bool)
            keep[candidates[order[:max_features]]] = True
        if not keep.any():
            bounds = Argument("min_df", self.min_df), ", ", Argument("max_df", self.max_df)
            raise NothingUsable(
                (f"after pruning no terms remain of {keep.size} (", *bounds, ")"),
                remedy=("lower ", Argument("min_df"), " or raise ", Argument("max_df")),
            )
        return keep

    def _learn(self, counts: TermCounts, keep: Flags, analysis: Analysis) -> None:
        terms = counts.terms
        if not keep.all():
            terms = [term for term, stays in zip(counts.terms, keep.tolist(), strict=True) if stays]
        self.vocabulary_ = dict(zip(terms, range(len(terms)), strict=True))
        self.document_frequency_ = counts.document_frequency[keep]
        self.n_documents_ = counts.n_documents
        self.mean_length_ = max(1.0, float(counts.term_frequency[keep].sum()) / self.n_documents_)
        self.stop_words_removed_ = tuple(sorted(counts.stop_words_met))
        shown = terms if counts.form_counts is None else commonest_forms(terms, counts.form_counts, analysis)
        self.display_terms_ = np.array(shown, dtype=object)
        self.fixed_vocabulary_ = self.vocabulary is not None
        factors = collection_weights(
            self.document_frequency_, self.n_documents_, weighting=weighting_of(self), dtype=dtype_of(self)
        )
        if factors is not None:
            self.idf_ = factors
        elif hasattr(self, "idf_"):
            del self.idf_

    def weigh(self, counts: CsrArray) -> None:
        """Turn counts of the terms that were learned into weighted rows, in place."""
        weigh_rows(
            counts,
            getattr(self, "idf_", None),
            weighting=weighting_of(self),
            mean_length=self.mean_length_,
            n_threads=self.n_threads,
        )


def frequency_bound(value: object, name: str, n_documents: int) -> float:
    """Return `min_df` or `max_df` as a number of documents: a whole number counts them, a fraction is a share.

    >>> frequency_bound(0.5, "max_df", 30), frequency_bound(2, "min_df", 30)
    (15.0, 2.0)
    """
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and value >= 1:
        return float(value)
    if isinstance(value, float | np.floating) and 0.0 <= value <= 1.0:
        return float(value) * n_documents
    raise InputError(argument=name, received=value, expected="a whole number >= 1 or a share in [0.0, 1.0]")


def parameters_of_state(parameters: Mapping[str, object]) -> dict[str, Any]:
    """Return the parameters of a saved vectorizer. Raises SchemaError if its columns are those of a hash."""
    if parameters.get("n_features") is not None:
        raise SchemaError(
            "the vectorizer was saved by an older version, which sent terms to columns by a hash",
            remedy="make the run again without n_features",
        )
    return {name: value for name, value in parameters.items() if name != "n_features"}


def _as_json(name: str, value: Any) -> object:
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


def keep_terms(vectorizer: TfidfVectorizer, keep: Flags, counts: CsrArray) -> CsrArray:
    """Let a vectorizer forget some of the terms it learned of documents with these counts; return those of the others.

    `keep` of shape (n_terms,): which terms stay.
    """
    terms, kept = vectorizer.get_feature_names_out()[keep].tolist(), sparse.csr_array(counts[:, np.flatnonzero(keep)])
    vectorizer.vocabulary_ = dict(zip(terms, range(len(terms)), strict=True))
    for name in ("document_frequency_", "display_terms_", "idf_"):
        if hasattr(vectorizer, name):
            setattr(vectorizer, name, getattr(vectorizer, name)[keep])
    vectorizer.mean_length_ = max(1.0, float(kept.sum(dtype=np.float64)) / max(counts.shape[0], 1))
    return kept
