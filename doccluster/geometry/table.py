"""Cluster sums stored by term: how the products of documents with all clusters read them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.kernels.products import TermArrays, add_tail_products

# A term is kept as a dense line of the table when it occurs in more than one in DENSE_FROM clusters (measured: below
# that a posting list is faster), or in a larger share where the table would exceed TABLE_BYTES.
DENSE_FROM = 32
TABLE_BYTES = 256 * 2**20


@dataclass(frozen=True, eq=False)
class TermTable:
    """Cluster sums by term: dense lines for terms of many clusters, posting lists for the others."""

    arrays: TermArrays

    @classmethod
    def from_sums(cls, sums: sparse.csr_array) -> TermTable:
        """Return the table of a csr array of shape (k, n_terms)."""
        n_clusters, n_terms = sums.shape
        by_term = sums.tocsc()
        n_met = np.diff(by_term.indptr)
        in_head = n_met * DENSE_FROM >= n_clusters
        if int(in_head.sum()) * n_clusters * 8 > TABLE_BYTES:
            most = max(1, TABLE_BYTES // (8 * n_clusters))
            in_head = n_met > np.partition(n_met, n_terms - most - 1)[n_terms - most - 1]
        in_head &= n_met > 0
        lines = np.flatnonzero(in_head)
        head_row = np.full(n_terms, -1, np.int32)
        head_row[lines] = np.arange(lines.size)
        head = np.zeros((lines.size, n_clusters))
        term = np.repeat(np.arange(n_terms, dtype=np.int32), n_met)
        dense = in_head[term]
        head[head_row[term[dense]], by_term.indices[dense]] = by_term.data[dense]
        tail_ptr = np.concatenate([[0], np.cumsum(np.where(in_head, 0, n_met))]).astype(np.int64)
        tail = tail_ptr, by_term.indices[~dense].astype(np.int32), by_term.data[~dense]
        return cls(TermArrays(head_row, head, *tail))

    @cached_property
    def gram(self) -> npt.NDArray[np.float64]:
        """The products of all pairs of sums, float64 array of shape (k, k)."""
        head = self.arrays.head
        gram: npt.NDArray[np.float64] = head.T @ head
        add_tail_products(np.flatnonzero(np.diff(self.arrays.tail_ptr)), self.arrays, gram)
        return gram
