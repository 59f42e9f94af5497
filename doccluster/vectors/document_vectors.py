"""The second value on the line: documents as rows of a matrix, each row of unit length or empty.

`read_matrix` and `write_matrix` have it in files: vectors that are ready, or counts that only need their weights.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.arrays import Array, CsrArray, Flags, Floats, Integers, is_sparse
from doccluster.base.packed_strings import MadeItems, pack_strings
from doccluster.base.parameter_fields import at_the_door
from doccluster.base.paths import shown_path
from doccluster.base.place import Place
from doccluster.base.plain_values import cut, listed
from doccluster.base.sparse_structure import checked_csr, document_frequencies, with_values
from doccluster.base.validation import check_matrix, compact_indices, unit_rows, within_range
from doccluster.corpus.stored_texts import PickedTexts
from doccluster.errors import Argument, DocclusterWarning, InputError
from doccluster.geometry.documents import Documents, TermMatrix, as_documents
from doccluster.vectors.letters import Letters
from doccluster.vectors.matrix_files import MATRIX_SCHEMA, MatrixFile, load_matrix_file
from doccluster.vectors.meaning import Meaning
from doccluster.vectors.weighting import collection_weights, parse_weighting, weigh_rows

MIN_TERM_FACTOR = 0.01


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
    term_factors : float64 array of shape (n_terms,), or None
        What each term counts for beside its weight, 0 to 1: `matrix` and `counts` hold it already (see `weighed_down`).
    letters : Letters or None
        Short documents by runs of letters, which `DocumentClustering` can take.
    next_part : int64 array of shape (n_documents,), or None
        Of documents in parts: the row of the part that follows each in its document, -1 where none does.
    """

    matrix: Any
    ids: Sequence[str]
    terms: npt.NDArray[np.object_] | None = None
    display_terms: npt.NDArray[np.object_] | None = None
    counts: CsrArray | None = None
    meaning: Meaning | None = None
    term_factors: Floats | None = None
    letters: Letters | None = None
    next_part: Integers | None = None

    def __post_init__(self) -> None:
        """Raise InputError unless there is a name for each row; terms are easily taken for names."""
        for name in ("matrix", "counts"):  # those of scikit-learn are of a class whose sums are of two dimensions
            if sparse.issparse(rows := getattr(self, name)) and not isinstance(rows, sparse.csr_array):
                object.__setattr__(self, name, checked_csr(rows, name=name)[0])  # damaged ones end scipy
        if not isinstance(next(iter(self.ids), ""), str):  # the index of a frame
            object.__setattr__(self, "ids", tuple(map(str, self.ids)))
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
    def is_empty(self) -> Flags:
        """Whether each document has neither a term (a zero row) nor a meaning, bool array of shape (n_documents,)."""
        empty: Flags = self.documents.squared_norms == 0
        return empty if self.meaning is None else empty & ~self.meaning.rows.any(axis=1)

    @cached_property
    def mean_words(self) -> float:
        """The mean number of known words in a document; of distinct ones where the counts are not known."""
        if self.counts is None:
            stored = self.matrix.data if is_sparse(self.matrix) else self.matrix
            return float(np.count_nonzero(stored) / max(self.n_documents, 1))
        n_words = self.counts.sum(dtype=np.float64)
        return float(n_words / max(self.n_documents, 1))

    def take(self, rows: Integers, place: Place | None = None) -> DocumentVectors:
        """Return the vectors of these rows, in this order; with a place, where it keeps them."""
        where = place or Place(1)
        ids = tuple(self.ids[row] for row in rows.tolist()) if place is None else PickedTexts(self.ids, rows)
        documents = Documents(where.take(self.documents.matrix, rows))  # rows of a checked matrix need no check
        counts = None if self.counts is None else where.take(self.counts, rows)
        meaning = None if self.meaning is None else self.meaning.take(rows, place)
        letters = None if self.letters is None else self.letters.take(rows, place)
        fields = (documents.matrix, ids, self.terms, self.display_terms, counts, meaning, self.term_factors, letters)
        return _carrying(documents, DocumentVectors(*fields, self._next_among(rows)))

    def _next_among(self, rows: Integers) -> Integers | None:
        """Return which of some rows follows each of them; None where documents are whole."""
        if self.next_part is None:
            return None
        place = np.full(self.n_documents + 1, -1)  # the last for -1
        place[rows] = np.arange(rows.size)
        return np.asarray(place[self.next_part[rows]])

    def kept_in(self, place: Place) -> DocumentVectors:
        """Return the same vectors as a place keeps them."""
        counts = None if self.counts is None else place.keep(self.counts)
        meaning = None if self.meaning is None else replace(self.meaning, rows=place.keep(self.meaning.rows))
        return replace(self, matrix=place.keep(self.matrix), counts=counts, meaning=meaning)

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
            return self._changed(meaning=None)
        n_without = int((~self.meaning.rows.any(axis=1)).sum())
        if n_without:
            raise InputError(
                f"{n_without:,} of {self.n_documents:,} documents have no meaning: their embeddings are zero",
                remedy=("leave out ", Argument("space"), ", and they go by their words"),
            )
        return DocumentVectors(self.meaning.rows, self.ids, next_part=self.next_part)

    def weighed_down(self, factors: Floats) -> DocumentVectors:
        """Return the vectors with each term times a factor from 0 to 1, in rows of unit length again and in counts.

        No factor is below 0.01, so that every document keeps its terms.
        """
        factors = np.clip(factors, MIN_TERM_FACTOR, 1.0)
        matrix = unit_rows(scaled_columns(self.matrix, factors), warn=False)
        counts = None if self.counts is None else scaled_columns(self.counts, factors)
        return replace(self, matrix=matrix, counts=counts, term_factors=factors)

    @property
    def whole_counts(self) -> CsrArray | None:
        """The counts as they were before any term was weighed down; None where they are not known."""
        if self.counts is None or self.term_factors is None:
            return self.counts
        counts = scaled_columns(self.counts, 1 / self.term_factors)
        return with_values(counts, np.rint(counts.data))

    def with_letters(self, letters: Letters | None) -> DocumentVectors:
        """Return the same vectors with letters beside their words."""
        return self._changed(letters=letters)

    def with_order(self, document_of: Integers) -> DocumentVectors:
        """Return the same vectors, whose rows stand in the order of the documents they are parts of."""
        follows = np.append(document_of[1:] == document_of[:-1], np.False_)
        return self._changed(next_part=np.where(follows, np.arange(1, document_of.size + 1), -1))

    def shown_as(self, display_terms: npt.NDArray[np.object_]) -> DocumentVectors:
        """Return the same vectors with other written forms of their terms."""
        return self._changed(display_terms=display_terms)

    def _changed(self, **fields: Any) -> DocumentVectors:
        return _carrying(self.documents, replace(self, **fields))

    @property
    def empty_ids(self) -> tuple[str, ...]:
        """The names of the documents that have no term left, nor a meaning."""
        return tuple(self.ids[row] for row in np.flatnonzero(self.is_empty).tolist())


def _carrying(documents: Documents, vectors: DocumentVectors) -> DocumentVectors:
    """Return vectors with the documents of their matrix, which was checked already."""
    vectors.__dict__["documents"] = documents  # where `cached_property` keeps it
    return vectors


class RowNumbers(MadeItems[str]):
    """The names that readers give to rows without names: "1", "2", ..."""

    def __init__(self, n_rows: int) -> None:
        self._n_rows = n_rows

    def __len__(self) -> int:
        return self._n_rows

    def _item(self, row: int) -> str:
        return str(row + 1)


def as_vectors(rows: object, **further: Any) -> DocumentVectors:
    """Return a matrix, or `Documents`, as vectors with numbers for names, and what else is known of them by field.

    >>> as_vectors([[1.0, 0.0], [0.0, 1.0]]).ids[1]
    '2'
    """
    documents = as_documents(rows)
    return _carrying(documents, DocumentVectors(documents.matrix, RowNumbers(documents.n_documents), **further))


def scaled_columns(matrix: CsrArray, factors: Floats) -> CsrArray:
    """Return a csr matrix with its columns times factors; counts become fractions."""
    return with_values(matrix, matrix.data * factors.astype(np.float32)[matrix.indices])


LARGEST_COUNT = 2**53  # above it float64 does not tell a whole number from the next
Names = str | os.PathLike[str] | Iterable[str]


@at_the_door
def read_matrix(
    path: Any,
    *,
    classes: Names | None = None,
    terms: Names | None = None,
    weighting: str = "tfidf",
    drop_empty_columns: bool = False,
    dtype: npt.DTypeLike = np.float32,
) -> tuple[DocumentVectors, list[str] | None]:
    """Return a matrix file as document vectors, and the class of each document where there is one.

    Parameters
    ----------
    path : path, or array of shape (n_documents, n_terms), sparse or dense
        CLUTO .mat (sparse or dense), Matrix Market .mtx or .mtx.gz, .npz (of scipy.sparse, or written by
        `write_matrix`) or .npy.
    classes, terms : path, iterable of str, or None
        One name per row or column. None looks beside the matrix: `x.mat` goes with `x.rclass` or `x.mat.rclass`,
        `x.clabel` and `x.rlabel` (the ids of the documents).
    weighting : str
        What is done to counts (whole numbers): "tfidf" (scikit-learn's defaults, unit rows), "bm25", SMART's letters;
        "none" takes the values as they are. A matrix of fractions is weighted already and is taken as it is.
    drop_empty_columns : bool
        Leave out the terms that no document has.
    dtype : float32 or float64
        The type of the vectors.

    Returns
    -------
    vectors : DocumentVectors
        Rows of unit length or zero.
    classes : list of str or None
        The class of each document.

    Raises
    ------
    InputError
        If the file is missing, damaged, or holds NaN, infinity or negative counts, or names do not fit the matrix.
    """
    is_file = isinstance(path, str | os.PathLike)
    place = Path(path) if is_file else Path("the matrix")
    if is_file:
        file = load_matrix_file(place)
    else:  # as if it had come from a file; one that holds no counts is weighted already
        checked = check_matrix(path, name="the matrix")
        file = MatrixFile(checked, is_weighted=not is_counts(checked.data if sparse.issparse(checked) else checked))
    if 0 in file.matrix.shape:
        raise InputError(
            f"{place} holds a matrix of {file.matrix.shape[0]} x {file.matrix.shape[1]}", remedy="it is empty"
        )
    n_documents, n_terms = file.matrix.shape
    matrix, counts = _weighted(file, weighting, dtype, str(place))
    row_classes = _names(classes, place, ".rclass", n_documents, "classes") or file.classes
    columns = _names(terms, place, ".clabel", n_terms, "terms") or file.terms
    ids = _names(None, place, ".rlabel", n_documents, "ids") or file.ids or list(map(str, range(1, n_documents + 1)))
    shown = file.display_terms or columns
    if drop_empty_columns:
        filled = np.flatnonzero(np.asarray((matrix != 0).sum(axis=0)))
        matrix, counts = matrix[:, filled], None if counts is None else counts[:, filled]
        columns, shown = (None if names is None else [names[i] for i in filled] for names in (columns, shown))
    matrix = compact_indices(unit_rows(matrix, warn=False))
    vectors = DocumentVectors(matrix, tuple(ids), _object_array(columns), _object_array(shown), counts)
    return vectors, row_classes


def write_matrix(
    path: str | os.PathLike[str], vectors: DocumentVectors, *, classes: Sequence[str] | None = None
) -> None:
    """Write vectors with their ids and terms (and classes) to an npz file that `read_matrix` reads; no pickle.

    Raises
    ------
    InputError
        If the name does not end in .npz, or the classes do not fit the rows.
    """
    place = Path(path)
    if place.suffix != ".npz":
        raise InputError(f"{shown_path(place)} does not end in .npz", remedy="vectors are written as npz")
    if classes is not None and len(classes) != vectors.n_documents:
        raise InputError(
            f"{len(classes)} classes were given for {vectors.n_documents} documents", remedy="give one for each"
        )
    np.savez_compressed(place, **matrix_arrays(vectors, classes=classes))


def matrix_arrays(vectors: DocumentVectors, *, classes: Sequence[str] | None = None) -> dict[str, Any]:
    """Return vectors with their ids and terms (and classes) as the plain arrays of our npz files."""
    arrays: dict[str, object] = {"doccluster_schema": np.array(MATRIX_SCHEMA, dtype=np.int64)}
    if sparse.issparse(vectors.matrix):
        csr = checked_csr(vectors.matrix, name="vectors")[0]
        arrays |= {"data": csr.data, "indices": csr.indices, "indptr": csr.indptr, "shape": np.array(csr.shape)}
        counts = vectors.whole_counts
        if counts is not None and np.array_equal(counts.indices, csr.indices):
            arrays["counts"] = counts.data.astype(np.min_scalar_type(int(counts.data.max(initial=0))))
    else:
        arrays["dense"] = np.asarray(vectors.matrix)
    for name, strings in (
        ("ids", vectors.ids),
        ("terms", vectors.terms),
        ("display_terms", vectors.display_terms),
        ("classes", classes),
    ):
        if strings is not None:
            arrays[f"{name}_characters"], arrays[f"{name}_ends"] = pack_strings(strings)
    return arrays


def _weighted(file: MatrixFile, weighting: str, dtype: npt.DTypeLike, name: str) -> tuple[Any, CsrArray | None]:
    """Return the weighted rows, and the counts they are made of: whole numbers, or those that a file holds."""
    scheme = None if weighting == "none" else parse_weighting(weighting)
    matrix = check_matrix(file.matrix, name=name)
    values = matrix.data if sparse.issparse(matrix) else matrix
    # values that are weights stay as they are; only counts are weighted here
    if file.is_weighted and file.counts is not None:
        return matrix.astype(dtype, copy=False), with_values(matrix, file.counts.astype(dtype))
    if file.is_weighted:
        return within_range(matrix).astype(dtype, copy=False), None
    if scheme is None and not (sparse.issparse(matrix) and is_counts(values)):
        return within_range(matrix).astype(dtype, copy=False), None
    if (values != np.floor(values)).any() or values.max(initial=0) > LARGEST_COUNT:
        kind = "fractions" if values.max(initial=0) <= LARGEST_COUNT else "numbers too large for counts"
        warnings.warn(
            DocclusterWarning(
                f"{name} holds {kind}, so it is taken as weighted already and only its rows are normalised; give ",
                Argument("weighting", "none"),
                " to say so.",
            ),
            stacklevel=3,
        )
        return within_range(matrix).astype(dtype, copy=False), None
    if (values < 0).any():
        raise InputError(
            f"{name} holds negative counts",
            remedy=("give ", Argument("weighting", "none"), " if its values are not counts"),
        )
    counts = sparse.csr_array(matrix, dtype=dtype, copy=True)
    counts.eliminate_zeros()
    if scheme is None:
        return counts, counts
    rows = with_values(counts, counts.data.copy())
    df = document_frequencies(counts)
    factors = collection_weights(df, counts.shape[0], weighting=scheme, dtype=dtype)
    total = float(counts.data.sum(dtype=np.float64))
    weigh_rows(rows, factors, weighting=scheme, mean_length=max(1.0, total / counts.shape[0]))
    return rows, counts


def is_counts(values: Array, largest: int = LARGEST_COUNT) -> bool:
    """Return whether values are counts: whole numbers from 0 up that float64 tells apart, or to a smaller number."""
    if values.size == 0:
        return True
    return bool(values.min() >= 0 and values.max() <= largest and (values == np.floor(values)).all())


def _names(names_or_file: Names | None, matrix: Path, suffix: str, expected: int, what: str) -> list[str] | None:
    """Return the names that were given or that lie beside the matrix, or None."""
    if names_or_file is None:
        names_or_file = _beside(matrix, suffix)
        if names_or_file is None:
            return None
    if isinstance(names_or_file, str | os.PathLike):
        source = Path(names_or_file)
        if not source.is_file():
            raise InputError(f"{source} does not exist", remedy=f"give the file of the {what}, or a list of them")
        text = source.read_text(encoding="utf-8", errors="replace")
        names, origin = [line.strip() for line in text.rstrip().split("\n")], str(source)
    else:
        names, origin = [str(name) for name in names_or_file], f"the list of {what}"
    if len(names) != expected:
        raise InputError(f"{origin} has {len(names)} {what}, but {matrix} needs {expected}", remedy="give one for each")
    return names


def _beside(matrix: Path, suffix: str) -> Path | None:
    plain = matrix.name.removesuffix(".gz")
    for stem in (plain, plain.rsplit(".", 1)[0]):
        candidate = matrix.with_name(stem + suffix)
        if candidate.is_file():
            return candidate
    return None


def _object_array(names: Sequence[str] | None) -> npt.NDArray[np.object_] | None:
    return None if names is None else np.array(list(names), dtype=object)
