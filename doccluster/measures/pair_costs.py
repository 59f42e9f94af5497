"""What visiting all pairs of documents costs one processor, said before it is done; the constants are measured on one.

A sweep gives sums and extremes. The measures of pair order besides compare pairs with pairs: with float32 rows each
pair adds one to a table of distances, with finer rows the smaller kind of pairs (within or between) is collected, and
all pairs of the other kind are met and sorted after it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.geometry.documents import as_documents
from doccluster.geometry.evidence import ClusterEvidence
from doccluster.measures.order_counts import COUNTED_KEYS, number_of_keys
from doccluster.measures.sorted_documents import common_terms, largest_squared
from doccluster.sparse_structure import document_frequencies

SECONDS_PER_POSTING = 1.2e-9  # one product through the inverted index
SECONDS_PER_LINE_CELL = 1.5e-10  # one product with a dense line of a common term
SECONDS_PER_DENSE_PRODUCT = 1e-10
SECONDS_PER_PAIR = 5e-9  # distance, sums and histogram of one pair
SECONDS_PER_DISTANCE = 3e-9  # the distance of one pair alone
SECONDS_PER_COUNT = 1.2e-8  # one pair added to a table of distances
SECONDS_PER_SORTED_KEY = 1.4e-8  # one pair of the larger kind, sorted in its block and compared
SECONDS_PER_COLLECTED_KEY = 1.2e-7  # one pair of the smaller kind, sorted and summed with all others


def estimate_seconds(matrix: Any) -> float:
    """Return about how many seconds one sweep over all pairs of rows takes one processor."""
    checked = as_documents(matrix).matrix
    return _products(checked, _documents_with(checked)) + _pairs(checked) * SECONDS_PER_PAIR


def estimate_order_seconds(geometry: ClusterEvidence) -> float:
    """Return about how many seconds one processor takes to count in which order all comparisons of pairs come out."""
    rows = geometry.rows
    distances = _products(rows.matrix, _documents_with(rows.matrix)) + geometry.n_pairs * SECONDS_PER_DISTANCE
    is_counted = number_of_keys(largest_squared(rows, geometry.metric), rows.grid) <= COUNTED_KEYS
    if is_counted:
        return float(distances + geometry.n_pairs * SECONDS_PER_COUNT)
    smaller = min(geometry.n_inner_pairs, geometry.n_outer_pairs)
    return float(2 * distances + geometry.n_pairs * SECONDS_PER_SORTED_KEY + smaller * SECONDS_PER_COLLECTED_KEY)


def _pairs(matrix: Any) -> float:
    return float(matrix.shape[0]) ** 2 / 2


def _documents_with(matrix: Any) -> npt.NDArray[np.float64]:
    """Return how many rows have each term, array of shape (n_terms,); nothing of a dense matrix."""
    return document_frequencies(matrix).astype(np.float64) if sparse.issparse(matrix) else np.empty(0)


def _products(matrix: Any, met: npt.NDArray[np.float64]) -> float:
    """Return the seconds for the products of all pairs of rows; `met` says how many rows have each term."""
    n = matrix.shape[0]
    if not sparse.issparse(matrix):
        return float(_pairs(matrix) * matrix.shape[1] * SECONDS_PER_DENSE_PRODUCT)
    common = common_terms(met, n, matrix.dtype.itemsize)
    cells = met[common].sum() * n / 2
    rare = met.copy()
    rare[common] = 0
    return float(rare @ rare / 2 * SECONDS_PER_POSTING + cells * SECONDS_PER_LINE_CELL)
