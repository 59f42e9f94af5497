"""What searches and titles say of the words of a label: does it bring its cluster back, and do authors use them?"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.short_repr import ShortRepr
from doccluster.partition import Partition

MAX_DOCUMENTS = 50_000  # of more, as many evenly spaced ones are searched

Ranking = npt.NDArray[np.int64]
_ANSWER = re.compile(r"^(?:\s*\[?(?:re|fwd?|aw|wg|sv|tr)(?:\[\d+\])?\s*[:\]])+", re.IGNORECASE)
FEW = 5  # titles, of which a name should be in several


class LabelQueries:
    """Documents that can be searched for a few terms.

    Documents that have more of the terms of a query come first, among those the ones in which they weigh most; equal
    ones in the order of rows.
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


@dataclass(frozen=True, eq=False, repr=False)
class TitleCounts(ShortRepr):
    """Titles of clusters."""

    having: sparse.csr_array  # of shape (k, n_terms): how many of the titles of each cluster have each term
    n_titles: npt.NDArray[np.int64]  # of shape (k,): how many titles of each cluster were read

    @classmethod
    def of_titles(
        cls, titles: Sequence[str], count: Callable[[list[str]], Any], labels: npt.NDArray[np.int64], n_clusters: int
    ) -> TitleCounts:
        """Return the counts of titles; those of a cluster that are the same but for "Re:" count once."""
        firsts: dict[tuple[int, str], int] = {}
        for place, (title, label) in enumerate(zip(titles, labels.tolist(), strict=True)):
            firsts.setdefault((label, subject_of(title)), place)
        kept = np.fromiter(firsts.values(), np.int64, len(firsts))
        has = sparse.csr_array(count([titles[place] for place in kept.tolist()]), dtype=np.float64)
        has.data[:] = 1
        members = sparse.csr_array(
            (np.ones(kept.size), (labels[kept], np.arange(kept.size))), shape=(n_clusters, kept.size)
        )
        having = sparse.csr_array(members @ has)
        having.sort_indices()
        return cls(having, np.bincount(labels[kept], minlength=n_clusters))

    def factor(self, columns: Sequence[int], cluster: int) -> float:
        """Return the weight of a term in the titles of a cluster: the square root of the share that has it, one added.

        Of a few titles it is the share itself, and a term that none of them has counts for little. A phrase is in as
        many titles as the rarest of its words.
        """
        own = slice(self.having.indptr[cluster], self.having.indptr[cluster + 1])
        columns_of = self.having.indices[own]
        places = np.searchsorted(columns_of, columns)
        known = np.isin(columns, columns_of)
        n_having = self.having.data[own][places].min() if known.all() else 0.0
        n_titles = int(self.n_titles[cluster])
        if n_titles <= FEW:
            return float((n_having + 0.05) / (n_titles + 0.05))
        return float(np.sqrt((n_having + 1) / (n_titles + 1)))


def subject_of(title: str) -> str:
    """Return a title as it is compared: without the marks of an answer, in small letters.

    >>> subject_of("Re: RE: [Fwd] Rye bread")
    'rye bread'
    """
    return _ANSWER.sub("", title).strip().casefold()
