"""Cluster pruning: a query is compared with a few leaders, and only the documents that follow the nearest are searched.

Manning, Raghavan and Schuetze (2008), section 7.1.6, with its two parameters: each document follows its b1 nearest
leaders, and a query looks at the followers of its b2 nearest ones. Leaders are documents drawn at random, as in the
book, or any other rows, such as the centroids of clusters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from doccluster.base.arrays import Integers
from doccluster.base.blocks import row_blocks
from doccluster.base.plain_values import ShortRepr
from doccluster.base.validation import check_matrix, check_positive_int
from doccluster.errors import InputError
from doccluster.geometry import as_documents
from doccluster.retrieval.ranking import as_query

BLOCK_ROWS = 4096


@dataclass(frozen=True, eq=False, repr=False)
class ClusterPruning(ShortRepr):
    """Documents that can be searched by way of leaders.

    Attributes
    ----------
    rows : csr array of shape (n_documents, n_terms), unit rows
    leaders : csr array of shape (n_leaders, n_terms), unit rows
    followers : csr array of shape (n_leaders, n_documents)
        One where a document follows a leader.
    """

    rows: sparse.csr_array
    leaders: sparse.csr_array
    followers: sparse.csr_array

    @classmethod
    def from_rows(cls, rows: Any, leaders: Any, n_followed: int = 1) -> ClusterPruning:
        """Return the documents with their leaders.

        Parameters
        ----------
        rows : Documents or a csr array of shape (n_documents, n_terms), unit rows
        leaders : csr array of shape (n_leaders, n_terms), unit rows
        n_followed : int
            How many leaders each document follows, the book's b1; equally near ones in their order.

        Examples
        --------
        >>> rows = sparse.csr_array([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]])
        >>> pruning = ClusterPruning.from_rows(rows, rows[[0, 2]])
        >>> pruning.rank(sparse.csr_array([[1.0, 0.0]]), n_searched=1).tolist()
        [0, 1]
        """
        check_positive_int(n_followed, "n_followed")
        rows = sparse.csr_array(as_documents(rows, name="rows").matrix)
        leaders = sparse.csr_array(check_matrix(leaders, name="leaders"))
        if rows.shape[1] != leaders.shape[1]:
            raise InputError(
                f"leaders of shape {leaders.shape} cannot lead rows of shape {rows.shape}",
                remedy="give leaders over the same terms",
            )
        count = min(n_followed, leaders.shape[0])
        blocks = row_blocks(rows.shape[0], BLOCK_ROWS)
        followed = np.concatenate(
            [np.empty(0, dtype=np.int64), *(_nearest(rows[block], leaders, count) for block in blocks)]
        )
        starts = np.arange(0, followed.size + 1, count)
        by_document = sparse.csr_array(
            (np.ones(followed.size), followed, starts), shape=(rows.shape[0], leaders.shape[0])
        )
        return cls(rows, leaders, sparse.csr_array(by_document.T))

    def candidates(self, query: Any, n_searched: int = 1) -> Integers:
        """Return the documents that follow one of the leaders nearest to a query, ascending.

        Parameters
        ----------
        query : csr array of shape (1, n_terms)
        n_searched : int
            How many leaders are looked at, the book's b2.
        """
        check_positive_int(n_searched, "n_searched")
        near = _nearest(as_query(query, self.leaders.shape[1]), self.leaders, min(n_searched, self.leaders.shape[0]))
        return np.unique(self.followers[near].indices).astype(np.int64)

    def rank(self, query: Any, n_best: int | None = None, *, n_searched: int = 1) -> Integers:
        """Return the candidates by their cosine to a query, those without a common term left out, best first."""
        candidates = self.candidates(query, n_searched)
        cosines = (self.rows[candidates] @ as_query(query, self.rows.shape[1]).T).toarray().ravel()
        order = np.argsort(-cosines, kind="stable")[: np.count_nonzero(cosines > 0)]
        ranked: Integers = candidates[order[:n_best]]
        return ranked


def draw_leaders(n_documents: int, n_leaders: int | None = None, *, random_state: int = 0) -> Integers:
    """Return the documents that lead, ascending: drawn at random, the root of the number of documents by default.

    >>> draw_leaders(100).size
    10
    """
    count = round(n_documents**0.5) if n_leaders is None else n_leaders
    if not 1 <= count <= n_documents:
        raise InputError(f"n_leaders={count!r} of {n_documents:,} documents; give a number from 1 to {n_documents:,}.")
    return np.sort(np.random.default_rng(random_state).choice(n_documents, count, replace=False))


def _nearest(rows: Any, leaders: sparse.csr_array, count: int) -> Integers:
    """Return the nearest leaders of each row, one row after the other; a block of rows is a small dense table."""
    cosines = (sparse.csr_array(rows) @ leaders.T).toarray()
    nearest: Integers = np.argsort(-cosines, axis=1, kind="stable")[:, :count].ravel()
    return nearest
