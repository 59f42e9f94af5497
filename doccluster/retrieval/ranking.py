"""Documents ranked for a query by BM25."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.errors import InputError, NothingUsable
from doccluster.vectors import TfidfVectorizer
from doccluster.vectors.weighting import collection_weights, parse_weighting, weigh_rows


@dataclass(frozen=True, eq=False)
class Bm25Index:
    """BM25 weights of documents, to be ranked for queries.

    score(q, d) = sum over the terms t of q of
    n(t, q) ln(1 + (N - df + 1/2) / (df + 1/2)) tf (k1 + 1) / (tf + k1 (1 - b + b length / mean length))

    (Robertson and Zaragoza 2009, doi:10.1561/1500000019, with the idf that is never negative). A term that the query
    has twice counts twice.

    Attributes
    ----------
    vectorizer : TfidfVectorizer, fitted
        It counts the terms of queries.
    weights : csc array of shape (n_documents, n_terms), float64
    """

    vectorizer: TfidfVectorizer
    weights: Any

    @classmethod
    def from_texts(cls, texts: Sequence[str], *, k1: float = 1.2, b: float = 0.75, **analysis: Any) -> Bm25Index:
        """Return the index of some texts; `analysis` are parameters of `TfidfVectorizer` that say what a term is.

        Raises
        ------
        NothingUsable
            If no text has a term.

        Examples
        --------
        >>> index = Bm25Index.from_texts(["oil prices rise", "wheat harvest", "oil and wheat"])
        >>> index.rank("wheat harvest").tolist()
        [1, 2]
        """
        vectorizer = TfidfVectorizer(weighting="nnn", norm=None, dtype=np.float64, **analysis)
        rows = sparse.csr_array(vectorizer.fit_transform(texts))
        weighting = parse_weighting("bm25", norm=None, k1=k1, b=b)
        factors = collection_weights(
            vectorizer.document_frequency_, vectorizer.n_documents_, weighting=weighting, dtype=np.float64
        )
        weigh_rows(rows, factors, weighting=weighting, mean_length=vectorizer.mean_length_)
        return cls(vectorizer, sparse.csc_array(rows))

    def rank(self, query: str, n_best: int | None = None) -> npt.NDArray[np.int64]:
        """Return the documents that have a term of the query, best first; equal scores in the order of documents.

        Raises
        ------
        InputError
            If the query is empty, or `n_best` is not positive.
        NothingUsable
            If no document has a term of the query.
        """
        scores = self.scores(query)
        found = np.flatnonzero(scores > 0)
        order = found[np.argsort(-scores[found], kind="stable")]
        if n_best is not None and n_best < 1:
            raise InputError(f"n_best={n_best!r} is not a number of documents; give 1 or more.")
        return order[:n_best].astype(np.int64)

    def scores(self, query: str) -> npt.NDArray[np.float64]:
        """Return the score of every document, float64 array of shape (n_documents,)."""
        if not query.strip():
            raise InputError("the query is empty; give the words to search for.")
        wanted = sparse.csr_array(self.vectorizer.transform([query]))
        if wanted.nnz == 0:
            raise NothingUsable(f"no document has a word of the query {query[:80]!r}; try other words.")
        return np.asarray(self.weights[:, wanted.indices] @ wanted.data, dtype=np.float64)
