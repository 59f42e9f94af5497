"""The second value on the line: documents as rows of a matrix, each row of unit length or empty."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.plain_values import cut, listed
from doccluster.errors import Argument, InputError
from doccluster.geometry.documents import Documents, TermMatrix, as_documents
from doccluster.vectors.meaning import Meaning


@dataclass(frozen=True, eq=False, repr=False)
class DocumentVectors(TermMatrix):
    """Documents as unit rows.

    Attributes
    ----------
    matrix : csr array of shape (n_documents, n_terms), or a dense array
        Rows of unit length or zero; float32 by default.
    ids : sequence of str, of length n_documents
        The name of each document.
    terms : str array of shape (n_terms,), or None
        The term of each column as the model knows it (stemmed when stemming is on).
    display_terms : str array of shape (n_terms,), or None
        The commonest written form of each term; equal to `terms` without stemming.
    counts : csr array of shape (n_documents, n_terms), or None
        How often each term occurs in each document, in the places of the entries of `matrix`; None where not known.
    meaning : Meaning or None
        The documents in a second space, of which no column is a term.
    """

    matrix: Any
    ids: Sequence[str]
    terms: npt.NDArray[np.object_] | None = None
    display_terms: npt.NDArray[np.object_] | None = None
    counts: Any | None = None
    meaning: Meaning | None = None

    def __post_init__(self) -> None:
        """Raise InputError unless there is a name for each row; terms are easily taken for names."""
        if len(self.ids) != self.matrix.shape[0]:
            raise InputError(
                f"has {len(self.ids):,} names for {self.matrix.shape[0]:,} rows",
                argument="ids",
                remedy="give one for each document; the names of columns are terms=",
            )

    def __repr__(self) -> str:
        stored = getattr(self.matrix, "nnz", None)
        kind = "dense" if stored is None else f"sparse, {stored:,} entries"
        names = "" if self.terms is None else f"; terms: {listed(self.terms)}"
        second = "" if self.meaning is None else f"; meaning: {self.meaning.n_dimensions} dimensions"
        size = f"{self.n_documents:,} x {self.n_terms:,} {self.matrix.dtype}"
        return cut(f"DocumentVectors({size}, {kind}{names}{second})")

    def get_feature_names_out(self) -> npt.NDArray[np.object_]:
        """Return `terms`, under scikit-learn's name. Raises InputError if they are not known."""
        if self.terms is None:
            raise InputError("the vectors came without terms", remedy="give them when you make them, as terms=")
        return self.terms

    @cached_property
    def documents(self) -> Documents:
        """The rows as a checked matrix, made once for all that is asked of these vectors."""
        return as_documents(self.matrix, name="vectors")

    @cached_property
    def is_empty(self) -> npt.NDArray[np.bool_]:
        """Whether each document has neither a term (a zero row) nor a meaning, bool array of shape (n_documents,)."""
        empty: npt.NDArray[np.bool_] = self.documents.squared_norms == 0
        return empty if self.meaning is None else empty & ~self.meaning.rows.any(axis=1)

    @cached_property
    def mean_words(self) -> float:
        """The mean number of known words in a document; of distinct ones where the counts are not known."""
        n_words = self.matrix.nnz if self.counts is None else self.counts.sum(dtype=np.float64)
        return float(n_words / max(self.n_documents, 1))

    def take(self, rows: npt.NDArray[np.int64]) -> DocumentVectors:
        """Return the vectors of these rows, in this order."""
        ids = tuple(self.ids[row] for row in rows.tolist())
        documents = self.documents.take(rows)
        counts = None if self.counts is None else self.counts[rows]
        meaning = None if self.meaning is None else self.meaning.take(rows)
        fields = (documents.matrix, ids, self.terms, self.display_terms, counts, meaning)
        return _carrying(documents, DocumentVectors(*fields))

    def in_space(self, space: str) -> DocumentVectors:
        """Return the vectors as a space sees them: their words alone, their meaning alone as rows, or both.

        Raises
        ------
        InputError
            If the meaning of documents is asked for that have none.
        """
        if self.meaning is None or space == "both":
            return self
        if space == "words":
            return _carrying(self.documents, replace(self, meaning=None))
        n_without = int((~self.meaning.rows.any(axis=1)).sum())
        if n_without:
            raise InputError(
                f"{n_without:,} of {self.n_documents:,} documents have no meaning: their embeddings are zero",
                remedy=("leave out ", Argument("space"), ", and they go by their words"),
            )
        return DocumentVectors(self.meaning.rows, self.ids)

    def shown_as(self, display_terms: npt.NDArray[np.object_]) -> DocumentVectors:
        """Return the same vectors with other written forms of their terms."""
        return _carrying(self.documents, replace(self, display_terms=display_terms))

    @property
    def empty_ids(self) -> tuple[str, ...]:
        """The names of the documents that have no term left, nor a meaning."""
        return tuple(self.ids[row] for row in np.flatnonzero(self.is_empty).tolist())


def _carrying(documents: Documents, vectors: DocumentVectors) -> DocumentVectors:
    """Return vectors with the documents of their matrix, which was checked already."""
    vectors.__dict__["documents"] = documents  # where `cached_property` keeps it
    return vectors


def with_values(matrix: Any, values: npt.NDArray[Any]) -> Any:
    """Return a csr array with other values in the places of the entries of `matrix`."""
    return sparse.csr_array((values, matrix.indices, matrix.indptr), shape=matrix.shape)
