"""Labels as queries: does a search for the words of a label bring the documents of its cluster back?"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.partition import Partition

MAX_DOCUMENTS = 50_000  # of more, as many evenly spaced ones are searched

Ranking = npt.NDArray[np.int64]


class LabelQueries:
    """Documents that can be searched for a few terms.

    Documents that have more of the terms of a query come first, among those the ones in which they weigh most; equal
    ones in the order of rows.

    Parameters
    ----------
    rows : csr array of shape (n_documents, n_terms)
        Weighted rows.
    labels : int array of shape (n_documents,)
    columns : collection of int
        The terms that queries are made of.
    """

    def __init__(self, rows: Any, labels: npt.NDArray[np.integer[Any]], columns: Collection[int]) -> None:
        wanted = np.unique(np.fromiter(columns, dtype=np.int64, count=len(columns)))
        self.labels = labels
        self.sizes = np.bincount(labels)
        self._places = {column: place for place, column in enumerate(wanted.tolist())}
        self._weights = sparse.csc_array(rows[:, wanted])

    @classmethod
    def of_partition(cls, rows: Any, partition: Partition, columns: Collection[int]) -> LabelQueries:
        """Return the queries of a partition; of more than 50,000 documents as many evenly spaced ones."""
        n, labels = partition.n_documents, partition.labels
        if n > MAX_DOCUMENTS:
            kept = np.arange(MAX_DOCUMENTS) * n // MAX_DOCUMENTS
            rows, labels = rows[kept], labels[kept]
        return cls(sparse.csr_array(rows), labels, columns)

    def rank(self, columns: Sequence[int], n_best: int) -> Ranking:
        """Return the best documents that have one of these terms."""
        scores = np.zeros(self.labels.size)
        n_met = np.zeros(self.labels.size, dtype=np.int64)
        for column in columns:
            place = self._places[column]
            own = slice(self._weights.indptr[place], self._weights.indptr[place + 1])
            scores[self._weights.indices[own]] += self._weights.data[own]
            n_met[self._weights.indices[own]] += 1
        found = np.flatnonzero(n_met)
        order = np.lexsort((found, -scores[found], -n_met[found]))
        ranked: Ranking = found[order[:n_best]]
        return ranked

    def share_found(self, columns: Sequence[int], cluster: int) -> float:
        """Return the share of the documents of a cluster that come back among as many hits as it has documents."""
        size = int(self.sizes[cluster]) if cluster < self.sizes.size else 0
        if size == 0:
            return 0.0
        return float((self.labels[self.rank(columns, size)] == cluster).sum() / size)
