"""Data without clusters that otherwise resemble the real data: what the gap statistic and tendency compare with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.arrays import AnyIntegers, Flags, Floats, Integers, Matrix, is_sparse
from doccluster.base.validation import check_choice, unit_rows
from doccluster.errors import Argument, InputError

NullModel = Literal["deal", "permute", "uniform"]
MAX_DENSE_CELLS = 50_000_000  # 400 MB of float64
DEALING_ROUNDS = 50
MAX_SHARE_LOST = 1e-3  # of the entries that are left out because their document already has that term


def sample_null(
    matrix: Matrix, *, model: NullModel = "deal", random_state: np.random.Generator, keep_unit_rows: bool = True
) -> Matrix:
    """Return one data set of the same shape drawn under a null hypothesis of no clusters.

    Raises InputError if the model is unknown, or a dense one would need more than 50,000,000 cells.

    "deal" deals the terms out again to documents, each document as many as it has and each term to as many documents as
    it is in, which breaks what terms have to do with one another: pairs of document and term are shuffled, and swapped
    on where a document got a term twice, until at most one entry in a thousand has no place; those are left out.
    Weights go with the term, freed of the length of their document (times the root of its number of terms). "permute"
    deals each term's weights to documents whatever their lengths, so that all become about equally long. Both stay
    sparse. "uniform" is uniform in the box that the data span (Zaki & Meira, section 17.3.1), dense. Rows are
    normalised, as cosine needs, unless `keep_unit_rows` is false; they may come out empty under "permute".
    """
    models: dict[str, Callable[[Matrix, np.random.Generator], Matrix]] = {
        "deal": dealt_terms,
        "permute": permuted_columns,
        "uniform": uniform_box,
    }
    sample = models[check_choice(model, models, "null")](matrix, random_state)
    return unit_rows(sample, warn=False) if keep_unit_rows else sample


def dealt_terms(matrix: Matrix, random_state: np.random.Generator) -> Matrix:
    """Return the matrix with its terms dealt out again, document lengths and document frequencies kept.

    A dense array has no terms to deal: its columns are permuted.
    """
    if not is_sparse(matrix):
        return permuted_columns(matrix, random_state)
    n_terms = matrix.shape[1]
    lengths = np.diff(matrix.indptr)
    rows = np.repeat(np.arange(lengths.size), lengths)
    order = random_state.permutation(rows.size)
    terms = matrix.indices[order].astype(np.int64)
    weights = (matrix.data * np.sqrt(lengths)[rows])[order]
    for _ in range(DEALING_ROUNDS):
        repeats = np.flatnonzero(~_is_first(rows, terms, n_terms))
        if repeats.size <= MAX_SHARE_LOST * rows.size:
            break
        partners, places = np.unique(random_state.integers(rows.size, size=repeats.size), return_index=True)
        is_free = ~np.isin(partners, repeats)
        left, right = repeats[places[is_free]], partners[is_free]
        terms[left], terms[right] = terms[right], terms[left]
        weights[left], weights[right] = weights[right], weights[left]
    is_first = _is_first(rows, terms, n_terms)
    return sparse.coo_array((weights[is_first], (rows[is_first], terms[is_first])), shape=matrix.shape).tocsr()


def permuted_columns(matrix: Matrix, random_state: np.random.Generator) -> Matrix:
    """Return the matrix with the entries of each column dealt to rows drawn without replacement."""
    if not sparse.issparse(matrix):
        return random_state.permuted(matrix, axis=0)
    columns = sparse.csc_array(matrix)
    rows = distinct_rows(np.diff(columns.indptr), columns.shape[0], random_state)
    shuffled = sparse.csc_array((columns.data, rows, columns.indptr), shape=columns.shape)
    return shuffled.tocsr()


def distinct_rows(counts: AnyIntegers, n_rows: int, random_state: np.random.Generator) -> npt.NDArray[np.int32]:
    """Return for each column that many different row numbers, uniformly at random, one column after the other.

    Sparse columns are drawn together and collisions are drawn again; a column more than a quarter full is permuted.
    """
    counts = np.asarray(counts, dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum(counts)])
    rows = random_state.integers(0, n_rows, size=int(starts[-1]), dtype=np.int32)
    column = np.repeat(np.arange(counts.size), counts)
    for full in np.flatnonzero(counts * 4 > n_rows):
        rows[starts[full] : starts[full + 1]] = random_state.permutation(n_rows)[: counts[full]]
    repeats = np.flatnonzero(~_is_first(column, rows, n_rows))
    while repeats.size:
        rows[repeats] = random_state.integers(0, n_rows, size=repeats.size, dtype=np.int32)
        repeats = np.flatnonzero(~_is_first(column, rows, n_rows))
    return rows


def _is_first(column: Integers, rows: AnyIntegers, n_rows: int) -> Flags:
    key = column * n_rows + rows
    order = np.argsort(key, kind="stable")
    first = np.ones(key.size, dtype=bool)
    first[order[1:]] = key[order[1:]] != key[order[:-1]]
    return first


def uniform_box(matrix: Matrix, random_state: np.random.Generator) -> Floats:
    """Return points uniform in the box between the smallest and the largest value of each dimension."""
    n, d = matrix.shape
    if n * d > MAX_DENSE_CELLS:
        raise InputError(
            f"this null model is dense and would need {n} x {d} = {n * d:,} cells (limit {MAX_DENSE_CELLS:,})",
            remedy=("use ", Argument("null", "deal"), ", or reduce the data first (doccluster.vectors, truncated SVD)"),
        )
    low, high = column_ranges(matrix)
    return low + (high - low) * random_state.random((n, d))


def column_ranges(matrix: Matrix) -> tuple[Floats, Floats]:
    """Return the least and the largest value of each column, implicit zeros included."""
    low, high = matrix.min(axis=0), matrix.max(axis=0)
    if sparse.issparse(matrix):
        low, high = low.toarray().ravel(), high.toarray().ravel()
    return np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
