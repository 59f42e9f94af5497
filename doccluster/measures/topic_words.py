"""TopicWords: the top terms of each cluster and how often they occur together; evidence for measures of topics.

A cluster is read as a topic: its terms of largest mean weight, ranked. Co-occurrence is counted in whole documents of
the corpus (or of a reference corpus with the same columns), from the columns of the top terms only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from scipy import sparse

from doccluster.base.arrays import Floats, Integers
from doccluster.base.validation import check_matrix, check_positive_int
from doccluster.errors import InputError, NotComputable
from doccluster.geometry.evidence import ClusterEvidence
from doccluster.geometry.products import documents_together

TOP_TERMS = 10


class TopicWords:
    """Top terms of clusters, their weights, and the documents they occur in.

    `terms` are the ranked top terms of each cluster (column numbers), instead of those of largest mean weight; the
    matrix `reference` is where documents are counted, if not in the clustered ones, a term where its weight is above 0.
    Raises InputError if there is not one list per cluster, or a column does not exist.

    >>> from doccluster.geometry.partition import Partition
    >>> geometry = ClusterEvidence([[2, 1, 0], [1, 2, 0], [0, 0, 1]], Partition.from_labels([0, 0, 1]))
    >>> [top.tolist() for top in TopicWords(geometry).top_terms(2)]
    [[0, 1], [2]]
    """

    def __init__(self, geometry: ClusterEvidence, *, terms: Any = None, reference: Any = None) -> None:
        self.geometry = geometry
        self._terms = None if terms is None else _checked_terms(terms, geometry)
        matrix = geometry.rows.matrix if reference is None else check_matrix(reference, name="reference")
        if matrix.shape[1] != geometry.rows.n_terms:
            raise InputError(
                f"reference has {matrix.shape[1]} columns and the documents have {geometry.rows.n_terms}",
                remedy="count both with the same vocabulary",
            )
        self._reference = None if reference is None else matrix
        self.n_reference_documents = int(matrix.shape[0])
        self._counted = lru_cache(maxsize=8)(self._count)

    def top_terms(self, n_top_terms: int | None = None) -> list[Integers]:
        """Return the ranked top terms of each cluster, at most `n_top_terms` (10; all of those that were given).

        Raises NotComputable if values are negative, as those of embeddings are: no column is then a term.
        """
        if self._terms is not None:
            return [terms[:n_top_terms] for terms in self._terms]
        if self._is_signed:
            raise NotComputable("there are negative values, so the columns are not terms")
        number = TOP_TERMS if n_top_terms is None else check_positive_int(n_top_terms, "n_top_terms")
        return [self._largest(cluster, number) for cluster in range(self.geometry.n_clusters)]

    @cached_property
    def _is_signed(self) -> bool:
        matrix = self.geometry.rows.matrix
        values = matrix.data if sparse.issparse(matrix) else matrix
        return bool(values.size and values.min() < 0)

    def mean_weights(self, lists: list[Integers]) -> Iterator[Floats]:
        """Yield for each list of terms their mean weights in every cluster, array of shape (k, n_terms_of_the_list)."""
        columns = np.unique(np.concatenate(lists))
        sums = self.geometry.sums[:, columns]
        by_term = sparse.csc_array(sums) if sparse.issparse(sums) else sums
        for terms in lists:
            weights = by_term[:, np.searchsorted(columns, terms)]
            values = weights.toarray() if sparse.issparse(weights) else weights
            yield np.asarray(values / self.geometry.sizes[:, None])

    def counts(self, n_top_terms: int | None = None) -> list[Integers]:
        """Return, for each cluster, in how many documents each pair of its top terms occurs, arrays (T, T)."""
        counted: list[Integers] = self._counted(n_top_terms)
        return counted

    def _count(self, n_top_terms: int | None) -> list[Integers]:
        lists = self.top_terms(n_top_terms)
        if self._reference is None:
            return self.geometry.documents_together(lists)
        return documents_together(self._reference, lists, n_threads=self.geometry.n_threads)

    def _largest(self, cluster: int, number: int) -> Integers:
        sums = self.geometry.sums
        if sparse.issparse(sums):
            stored = slice(sums.indptr[cluster], sums.indptr[cluster + 1])
            terms, weights = sums.indices[stored].astype(np.int64), sums.data[stored]
        else:
            terms, weights = np.arange(sums.shape[1]), sums[cluster]
        weights = weights / self.geometry.sizes[cluster]
        positive = np.flatnonzero(weights > 0)
        order = positive[np.argsort(-weights[positive], kind="stable")]
        terms, weights = terms[order], weights[order]
        # weights that differ by rounding are ties, and ties go to the lowest column
        slack = 1e-12 if self.geometry.rows.slack <= 1e-12 else 1e-6 * weights[1:]
        run = np.cumsum(np.concatenate([[False], weights[:-1] - weights[1:] > slack])[: terms.size])
        return np.asarray(terms[np.lexsort((terms, run))][:number], dtype=np.int64)


def _checked_terms(terms: Any, geometry: ClusterEvidence) -> list[Integers]:
    lists = list(terms) if isinstance(terms, Iterable) and not isinstance(terms, str | bytes) else []
    if len(lists) != geometry.n_clusters:
        raise InputError(
            f"terms has {len(lists)} list(s) and there are {geometry.n_clusters} clusters",
            remedy="give the ranked column numbers of the top terms of each cluster",
        )
    checked = []
    for ranked_terms in lists:
        columns = np.asarray(ranked_terms)
        if columns.size and (columns.ndim != 1 or columns.dtype.kind not in "iu"):
            raise InputError(f"terms has {ranked_terms!r} where a list of column numbers is expected.")
        if columns.size and (columns.min() < 0 or columns.max() >= geometry.rows.n_terms):
            raise InputError(f"terms has a column outside 0..{geometry.rows.n_terms - 1}", remedy="give column numbers")
        checked.append(columns.astype(np.int64).ravel())
    return checked
