"""TopicWords: the top terms of each cluster and how often they occur together; evidence for measures of topics.

A cluster is read as a topic: its terms of largest mean weight, ranked. Co-occurrence is counted in whole documents of
the corpus (or of a reference corpus with the same columns), from the columns of the top terms only.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.errors import InputError
from doccluster.geometry.evidence import ClusterEvidence
from doccluster.validation import check_matrix, check_positive_int

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

TOP_TERMS = 10


class TopicWords:
    """Top terms of clusters, their weights, and the documents they occur in.

    Parameters
    ----------
    geometry : ClusterEvidence
        Documents and clusters; mean weights come from its sums.
    terms : one sequence of column numbers per cluster, optional
        The ranked top terms, instead of those of largest weight.
    reference : csr array or dense array of shape (any, n_terms), optional
        Where documents are counted, if not in the clustered ones; a term occurs where its weight is above 0.

    Raises
    ------
    InputError
        If `terms` has not one list per cluster, or a column that does not exist; if `reference` has other columns.

    Examples
    --------
    >>> from doccluster.partition import Partition
    >>> geometry = ClusterEvidence([[2, 1, 0], [1, 2, 0], [0, 0, 1]], Partition.from_labels([0, 0, 1]))
    >>> [top.tolist() for top in TopicWords(geometry).top_terms(2)]
    [[0, 1], [2]]
    """

    def __init__(self, geometry: ClusterEvidence, *, terms: Any = None, reference: Any = None) -> None:
        self.geometry = geometry
        self._given = None if terms is None else _checked_terms(terms, geometry)
        matrix = geometry.rows.matrix if reference is None else check_matrix(reference, name="reference")
        if matrix.shape[1] != geometry.rows.n_terms:
            raise InputError(
                f"reference has {matrix.shape[1]} columns and the documents have {geometry.rows.n_terms}",
                remedy="count both with the same vocabulary",
            )
        self._columns = sparse.csc_array(matrix) if sparse.issparse(matrix) else matrix
        self.n_reference_documents = int(matrix.shape[0])
        self._counted = lru_cache(maxsize=8)(self._count)

    def top_terms(self, n_top_terms: int | None = None) -> list[IntArray]:
        """Return the ranked top terms of each cluster, at most `n_top_terms` (10; all of those that were given)."""
        if self._given is not None:
            return [given[:n_top_terms] for given in self._given]
        number = TOP_TERMS if n_top_terms is None else check_positive_int(n_top_terms, "n_top_terms")
        return [self._largest(cluster, number) for cluster in range(self.geometry.n_clusters)]

    def mean_weights(self, terms: IntArray) -> FloatArray:
        """Return the mean weight of some terms in every cluster, array of shape (k, len(terms))."""
        sums = self.geometry.sums[:, terms]
        values = sums.toarray() if sparse.issparse(sums) else sums
        return np.asarray(values / self.geometry.sizes[:, None])

    def counts(self, n_top_terms: int | None = None) -> list[IntArray]:
        """Return, for each cluster, in how many documents each pair of its top terms occurs, arrays (T, T)."""
        counted: list[IntArray] = self._counted(n_top_terms)
        return counted

    def _count(self, n_top_terms: int | None) -> list[IntArray]:
        return [self._documents_with(terms) for terms in self.top_terms(n_top_terms)]

    def _documents_with(self, terms: IntArray) -> IntArray:
        occurs = self._columns[:, terms] > 0
        if sparse.issparse(occurs):
            whole = sparse.csc_array(occurs, dtype=np.int64)
            return np.asarray((whole.T @ whole).toarray(), dtype=np.int64)
        whole = occurs.astype(np.float64)  # exact below 2^53 documents
        return np.asarray(np.rint(whole.T @ whole), dtype=np.int64)

    def _largest(self, cluster: int, number: int) -> IntArray:
        sums = self.geometry.sums
        if sparse.issparse(sums):
            stored = slice(sums.indptr[cluster], sums.indptr[cluster + 1])
            terms, weights = sums.indices[stored].astype(np.int64), sums.data[stored]
        else:
            terms, weights = np.arange(sums.shape[1]), sums[cluster]
        weights = weights / self.geometry.sizes[cluster]
        positive = weights > 0
        terms, weights = terms[positive], weights[positive]
        order = np.argsort(-weights, kind="stable")
        terms, weights = terms[order], weights[order]
        # Weights that differ by rounding are ties, and ties go to the lowest column.
        slack = 1e-12 if self.geometry.rows.slack <= 1e-12 else 1e-6 * weights[1:]
        run = np.concatenate([[0], np.cumsum(weights[:-1] - weights[1:] > slack)]) if terms.size else terms
        return np.asarray(terms[np.lexsort((terms, run))][:number], dtype=np.int64)


def _checked_terms(terms: Any, geometry: ClusterEvidence) -> list[IntArray]:
    lists = list(terms) if isinstance(terms, Iterable) and not isinstance(terms, str | bytes) else []
    if len(lists) != geometry.n_clusters:
        raise InputError(
            f"terms has {len(lists)} list(s) and there are {geometry.n_clusters} clusters",
            remedy="give the ranked column numbers of the top terms of each cluster",
        )
    checked = []
    for given in lists:
        columns = np.asarray(given)
        if columns.size and (columns.ndim != 1 or columns.dtype.kind not in "iu"):
            raise InputError(f"terms has {given!r} where a list of column numbers is expected.")
        if columns.size and (columns.min() < 0 or columns.max() >= geometry.rows.n_terms):
            raise InputError(f"terms has a column outside 0..{geometry.rows.n_terms - 1}", remedy="give column numbers")
        checked.append(columns.astype(np.int64).ravel())
    return checked
