"""Near-copies found quickly: vectors that are there anyway say which few documents have to be compared as texts.

Near-copies have nearly the same terms. MinHash (Broder 1997, doi:10.1109/SEQUEN.1997.666900) in 8 bands of 5 minima
picks out every document that shares a band with another one: it misses one in 1,300 of the pairs whose sets of terms
have a Jaccard index of 0.9, one in 150,000 of those with 0.95. Those of them that have half of their terms in common
with another one of their band are then compared exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.blocks import row_blocks
from doccluster.base.sparse_structure import checked_csr
from doccluster.corpus.duplicates import Groups, find_near_duplicates, jaccard, similar_sets

THRESHOLD = 0.9
N_BANDS = 8
BAND_SIZE = 5
MOST_COMPARED = 32  # others of one band
LEAST_ALIKE = 0.5  # as sets of terms: two near-copies are far more
PAIRS_AT_ONCE = 4096
BLOCK_SIZE = 2**14  # rows whose columns are hashed at a time

Hashes = npt.NDArray[np.uint64]
Rows = npt.NDArray[np.int64]


def find_near_copies(
    matrix: sparse.csr_array,
    texts: Sequence[str] | None = None,
    *,
    threshold: float = THRESHOLD,
    candidates: Rows | None = None,
) -> Groups:
    """Return groups of documents that are near-copies of one another.

    Parameters
    ----------
    matrix : csr array of shape (n_documents, n_terms)
        Which document has which term. A document without a term is in no group.
    texts : sequence of str of length n_documents, optional
        With them two documents are near-copies if `find_near_duplicates` says so; without them, if the Jaccard index of
        their sets of terms reaches `threshold`.
    threshold : float in (0, 1]
    candidates : int64 array, optional
        What `alike_in_a_band` says of the rows, where that was found elsewhere.

    Returns
    -------
    tuple of tuples of int
        Each in ascending order, sorted by the first document.

    Examples
    --------
    >>> rows = sparse.csr_array(np.array([[0.6, 0.8, 0], [0, 0, 1.0], [0.6, 0.8, 0]]))
    >>> find_near_copies(rows)
    ((0, 2),)
    """
    matrix = checked_csr(matrix, name="matrix")[0]
    if candidates is None:
        candidates = alike_in_a_band(matrix, band_signatures(matrix))
    if texts is not None:
        groups = find_near_duplicates([texts[row] for row in candidates.tolist()], threshold=threshold)
    else:
        rows = matrix[candidates]
        values = np.ones(rows.nnz, np.int32)
        groups = similar_sets(sparse.csr_array((values, rows.indices, rows.indptr), shape=rows.shape), threshold)
    return tuple(tuple(candidates[list(group)].tolist()) for group in groups)


def band_signatures(matrix: sparse.csr_array) -> Hashes:
    """Return a hash of the terms of each row in each band, array of shape (N_BANDS, n_rows); 0 without terms.

    The rows may be those of one block of a collection.
    """
    random = np.random.default_rng(1)  # fixed: the same documents have the same near-copies everywhere
    factors = random.integers(1 << 62, 1 << 63, (N_BANDS, BAND_SIZE), dtype=np.uint64) | np.uint64(1)
    filled = np.flatnonzero(np.diff(matrix.indptr))
    table = np.zeros((N_BANDS, matrix.shape[0]), dtype=np.uint64)
    for block in row_blocks(filled.size, BLOCK_SIZE):
        rows = filled[block]
        for factors_of_band, signatures in zip(factors, table, strict=True):
            signatures[rows] = np.maximum(_band(matrix, rows, factors_of_band), np.uint64(1))
    return table


def alike_in_a_band(matrix: sparse.csr_array, signatures: Hashes) -> Rows:
    """Return the rows that have a band and many terms in common with another row, ascending.

    Among millions of documents many share a band with one that is nothing like them, so the sets of terms of those in
    one band are compared: of each with the next `MOST_COMPARED`, those first that share another band too.
    """
    is_alike, values = np.zeros(matrix.shape[0], dtype=bool), np.ones(matrix.nnz, np.int8)
    terms = sparse.csr_array((values, matrix.indices, matrix.indptr), shape=matrix.shape)
    for number, band in enumerate(signatures):
        mark_alike(lambda rows: sparse.csr_array(terms[rows]), band, signatures[(number + 1) % N_BANDS], is_alike)
    return np.flatnonzero(is_alike)


def mark_alike(
    terms_of: Callable[[Rows], sparse.csr_array], band: Hashes, next_band: Hashes, is_alike: npt.NDArray[np.bool_]
) -> None:
    """Set `is_alike` for the rows that `alike_in_a_band` finds by one band; pairs that were found are not compared.

    `terms_of` returns some rows with a 1 in place of each value.
    """
    order = np.lexsort((next_band, band))
    starts = np.flatnonzero(np.diff(band[order], prepend=np.uint64(0)))  # of runs; rows without terms have a 0
    sizes = np.diff(starts, append=order.size)
    for apart in range(1, MOST_COMPARED + 1):
        has_pair = sizes > apart
        starts, sizes = starts[has_pair], sizes[has_pair]
        pairs_of_run = sizes - apart
        within = np.arange(pairs_of_run.sum()) - np.repeat(np.cumsum(pairs_of_run) - pairs_of_run, pairs_of_run)
        first = np.repeat(starts, pairs_of_run) + within
        pairs = np.stack([order[first], order[first + apart]])
        pairs = pairs[:, ~is_alike[pairs].all(axis=0)]
        for piece in row_blocks(pairs.shape[1], PAIRS_AT_ONCE):
            is_alike[pairs[:, piece][:, jaccard(*map(terms_of, pairs[:, piece])) >= LEAST_ALIKE]] = True


def _band(matrix: sparse.csr_array, rows: npt.NDArray[np.intp], factors: npt.NDArray[np.uint64]) -> Hashes:
    """Return for each of some ascending rows, none empty, one number made of the minima of its hashed columns."""
    first, end = matrix.indptr[rows[0]], matrix.indptr[rows[-1] + 1]
    columns = matrix.indices[first:end].astype(np.uint64) + np.uint64(1)
    band = np.zeros(rows.size, dtype=np.uint64)
    for factor in factors:
        band = _mixed(band + np.minimum.reduceat(columns * factor, matrix.indptr[rows] - first))
    return band


def _mixed(values: Hashes) -> Hashes:
    """Return the values with their bits mixed (the finisher of SplitMix64: Steele, Lea & Flood 2014)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
