"""Cluster sums stored by term: how the products of documents with all clusters read them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

# A term is kept as a dense line of the table when it occurs in more than one in DENSE_FROM clusters (measured: below
# that a posting list is faster), or in a larger share where the table would exceed TABLE_BYTES.
DENSE_FROM = 32
TABLE_BYTES = 256 * 2**20

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TermTable:
    """Cluster sums by term: dense lines for terms of many clusters, posting lists for the others."""

    lines: npt.NDArray[np.int64]  # of shape (n_terms,): the line of the term in the head, or -1
    head: Floats  # of shape (n_lines, n_clusters)
    tail: sparse.csr_array  # of shape (n_terms, n_clusters): the sums of the terms that have no line

    @classmethod
    def from_sums(cls, sums: sparse.csr_array) -> TermTable:
        """Return the table of a csr array of shape (k, n_terms)."""
        n_clusters, n_terms = sums.shape
        by_term = sparse.csr_array(sums.T)
        n_met = np.diff(by_term.indptr)
        in_head = n_met * DENSE_FROM >= n_clusters
        if int(in_head.sum()) * n_clusters * 8 > TABLE_BYTES:
            most = max(1, TABLE_BYTES // (8 * n_clusters))
            in_head = n_met > np.partition(n_met, n_terms - most - 1)[n_terms - most - 1]
        in_head &= n_met > 0
        lines = np.where(in_head, np.cumsum(in_head) - 1, -1)
        return cls(lines, by_term[in_head].toarray(), _only(by_term, ~in_head[np.repeat(np.arange(n_terms), n_met)]))

    def products(self, rows: Any) -> Floats:
        """Return the products of csr rows with every sum, array of shape (n_rows, n_clusters)."""
        lines = self.lines[rows.indices]
        in_head, in_tail = _only(rows, lines >= 0), _only(rows, lines < 0)
        shape = (rows.shape[0], self.head.shape[0])
        numbered = sparse.csr_array((in_head.data, lines[lines >= 0], in_head.indptr), shape=shape)
        return np.asarray(numbered @ self.head + in_tail @ self.tail)

    @cached_property
    def gram(self) -> Floats:
        """The products of all pairs of sums, float64 array of shape (k, k)."""
        return np.asarray(self.head.T @ self.head + self.tail.T @ self.tail)


def _only(matrix: sparse.csr_array, stays: npt.NDArray[np.bool_]) -> sparse.csr_array:
    """Return a csr array with some of its values alone."""
    starts = np.concatenate([[0], np.cumsum(stays)])[matrix.indptr]
    return sparse.csr_array((matrix.data[stays], matrix.indices[stays], starts), shape=matrix.shape)
