"""Vectorizers of other libraries: which can make the vectors of a run, and one in the place of `TfidfVectorizer`.

scikit-learn's CountVectorizer and TfidfVectorizer are that one with other defaults, so all that is kept of them are
their parameters. Others are used whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from doccluster.base.arrays import Array
from doccluster.base.validation import check_matrix
from doccluster.errors import Argument, InputError
from doccluster.vectors.vectorizer import TfidfVectorizer

NAMELESS = "has no names for its columns, and clusters are named by them"
# many copies, so that terms of one document alone, or of nearly all, may be left out
TRIED = ("Boats land herring at the pier.", "Dough and bread in the oven.", "Rain falls on the orchard.") * 50


class OtherVectorizer(TfidfVectorizer):
    """A vectorizer of another library in the place of `TfidfVectorizer`: its rows and names are taken as they are."""

    def __init__(self, vectorizer: Any) -> None:
        self.vectorizer = vectorizer

    def unfitted(self) -> OtherVectorizer:
        """Return one that has learned nothing."""
        from sklearn.base import clone

        try:
            return OtherVectorizer(clone(self.vectorizer, safe=False))
        except Exception as error:  # its library decides what can be copied
            raise _refusal("cannot be copied", self.vectorizer, error) from error

    def analyzer(self, text: str) -> Sequence[str]:  # type: ignore[override]  # a function here
        """Return the terms of a text; none where the vectorizer does not tell them."""
        build = getattr(self.vectorizer, "build_analyzer", None)
        return () if build is None else list(build()(text))

    def fit_counts(self, documents: Iterable[object]) -> Any:
        """Learn the terms of `documents` and return their rows, csr or dense; `weigh` changes nothing in them."""
        rows, terms = self._rows("fit_transform", documents)
        self.vocabulary_ = {term: column for column, term in enumerate(terms)}
        # a union of several puts the name of each before its terms
        self.display_terms_ = np.array([term.rpartition("__")[2] or term for term in terms], dtype=object)
        return rows

    def transform_counts(self, documents: Iterable[object]) -> Any:
        """Return the rows of `documents`, csr or dense."""
        return self._rows("transform", documents)[0]

    def weigh(self, counts: Any) -> None:
        """Multiply csr rows, which have their weights, by the factors of terms that were learned since, in place."""
        if hasattr(self, "idf_"):
            counts.data *= self.idf_[counts.indices]

    def state(self) -> tuple[dict[str, Array], dict[str, object]]:
        """Raise InputError: only its own library could write it."""
        raise cannot_be_written(f"is a {type(self.vectorizer).__name__}")

    def _rows(self, method: str, documents: Iterable[object]) -> tuple[Any, list[str]]:
        """Return the rows of `documents` and the names of their columns."""
        texts = list(documents)
        try:
            rows = check_matrix(getattr(self.vectorizer, method)(texts), name="rows")
            names = [str(name) for name in part_with_names(self.vectorizer).get_feature_names_out()]
            if rows.shape != (len(texts), len(set(names))):
                raise ValueError(f"{len(texts):,} texts and {len(set(names)):,} names gave rows of shape {rows.shape}")
        except Exception as error:  # whatever another library raises
            raise _refusal("makes no rows of these texts", self.vectorizer, error) from error
        return rows, names


def cannot_be_written(what: str) -> InputError:
    """Return the error for a vectorizer that no file of a run can hold, by what it is or has."""
    remedy = "leave out ", Argument("output"), ", or give parameters that are text and numbers"
    return InputError(f"the vectorizer {what}, which cannot be written into the folder of a run", remedy=remedy)


def _refusal(problem: str, vectorizer: Any, error: Exception | None = None) -> InputError:
    reason = "" if error is None else f" ({' '.join(str(error).split())[:200].rstrip('.')})"
    remedy = "give a TfidfVectorizer, or its arguments by name, such as min_df=2"
    return InputError(problem + reason, argument="vectorizer", received=vectorizer, remedy=remedy)


def check_vectorizer(vectorizer: Any) -> None:
    """Raise InputError unless a value has what a vectorizer of texts needs, and does not cluster itself."""
    if isinstance(vectorizer, type) or not (hasattr(vectorizer, "fit_transform") and hasattr(vectorizer, "transform")):
        raise _refusal("is a class" if isinstance(vectorizer, type) else "is not a vectorizer", vectorizer)
    if hasattr(vectorizer, "fit_predict"):
        raise _refusal("clusters rows and makes none of texts", vectorizer)
    named = part_with_names(vectorizer)
    parts = [part[1] for part in getattr(named, "steps", ()) if part[1] not in (None, "passthrough")]
    for part in (vectorizer, *parts):
        if not hasattr(part, "get_feature_names_out"):
            raise _refusal(NAMELESS, part)


def part_with_names(vectorizer: Any) -> Any:
    """Return a pipeline from its last step that says it takes texts on, as those before it clean them; else itself."""
    steps = [part for _, part in getattr(vectorizer, "steps", ())]
    takers = [place for place, part in enumerate(steps) if _says_it_takes_texts(part)]
    return vectorizer[takers[-1] :] if takers else vectorizer


def _says_it_takes_texts(part: Any) -> bool:
    return hasattr(part, "__sklearn_tags__") and bool(part.__sklearn_tags__().input_tags.string)


def other_vectorizer(vectorizer: Any) -> tuple[dict[str, Any], OtherVectorizer | None]:
    """Return another vectorizer as parameters of `TfidfVectorizer`, or else in its place, not fitted.

    Raises InputError if it cannot make rows of texts with named columns.
    """
    from sklearn.feature_extraction import text

    check_vectorizer(vectorizer)
    if type(vectorizer) not in (text.CountVectorizer, text.TfidfVectorizer):
        _check_takes_texts(vectorizer)
        return {}, OtherVectorizer(vectorizer).unfitted()
    parameters: dict[str, Any] = vectorizer.get_params(deep=False)
    if {name: parameters.pop(name) for name in ("input", "encoding", "decode_error")}["input"] != "content":
        raise _refusal("reads files itself, which are given as the source", vectorizer)
    if "use_idf" not in parameters:
        parameters |= {"use_idf": False, "norm": None}
    dtype = np.dtype(parameters["dtype"])
    # what a run would else choose has a value too
    words = sorted(vectorizer.get_stop_words() or ())
    return parameters | {"dtype": dtype.name if dtype.kind == "f" else "float32", "stop_words": words}, None


def _check_takes_texts(vectorizer: Any) -> None:
    """Raise InputError unless what gets the texts first says that it takes them, or takes some that it is given."""
    check_vectorizer(vectorizer)
    parts = getattr(part_with_names(vectorizer), "steps", ())[:1] or getattr(vectorizer, "transformer_list", ())
    for part in parts:
        if part[1] not in ("drop", "passthrough"):
            _check_takes_texts(part[1])
    if not parts and not _says_it_takes_texts(vectorizer):
        OtherVectorizer(vectorizer).unfitted().fit_counts(TRIED)
