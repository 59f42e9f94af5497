"""Near-copies found quickly: vectors that are there anyway say which few documents have to be compared as texts.

Near-copies have nearly the same terms. MinHash (Broder 1997, doi:10.1109/SEQUEN.1997.666900) in 8 bands of 5 minima
picks out every document that shares a band with another one: it misses one in 1,300 of the pairs whose sets of terms
have a Jaccard index of 0.9, one in 150,000 of those with 0.95. Only these documents are then compared exactly.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.blocks import row_blocks
from doccluster.corpus.duplicates import Groups, find_near_duplicates, sets_of, similar_sets

THRESHOLD = 0.9
N_BANDS = 8
BAND_SIZE = 5
BLOCK_SIZE = 2**14  # rows whose columns are hashed at a time

Hashes = npt.NDArray[np.uint64]


def find_near_copies(
    matrix: sparse.csr_array, texts: Sequence[str] | None = None, *, threshold: float = THRESHOLD
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
    candidates = _candidates(sparse.csr_array(matrix))
    if texts is not None:
        groups = find_near_duplicates([texts[row] for row in candidates.tolist()], threshold=threshold)
    else:
        row, column = sparse.csr_array(matrix)[candidates].tocoo().coords
        groups = similar_sets(sets_of(row.astype(np.int64), column.astype(np.int64), candidates.size), threshold)
    return tuple(tuple(candidates[list(group)].tolist()) for group in groups)


def _candidates(matrix: sparse.csr_array) -> npt.NDArray[np.int64]:
    """Return the rows that have a band in common with another row, ascending."""
    filled = np.flatnonzero(np.diff(matrix.indptr))
    random = np.random.default_rng(1)  # fixed: the same documents have the same near-copies everywhere
    shared = np.zeros(filled.size, dtype=bool)
    for _ in range(N_BANDS if filled.size else 0):
        factors = random.integers(1 << 62, 1 << 63, BAND_SIZE, dtype=np.uint64) | np.uint64(1)
        blocks = row_blocks(filled.size, BLOCK_SIZE)
        band = np.concatenate([_band(matrix, filled[rows], factors) for rows in blocks])
        _, place, count = np.unique(band, return_inverse=True, return_counts=True)
        shared |= count[place] > 1
    return filled[shared].astype(np.int64)


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
