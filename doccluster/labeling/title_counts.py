"""How many titles of each cluster have a term: titles are what authors call their documents."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.short_repr import ShortRepr

_ANSWER = re.compile(r"^(?:\s*\[?(?:re|fwd?|aw|wg|sv|tr)(?:\[\d+\])?\s*[:\]])+", re.IGNORECASE)
FEW = 5  # titles, of which a name should be in several


@dataclass(frozen=True, eq=False, repr=False)
class TitleCounts(ShortRepr):
    """Titles of clusters.

    Attributes
    ----------
    having : csr array of shape (k, n_terms)
        How many of the titles of each cluster have each term.
    n_titles : int64 array of shape (k,)
        How many titles of each cluster were read.
    """

    having: sparse.csr_array
    n_titles: npt.NDArray[np.int64]

    @classmethod
    def of_titles(
        cls, titles: Sequence[str], count: Callable[[list[str]], Any], labels: npt.NDArray[np.int64], n_clusters: int
    ) -> TitleCounts:
        """Return the counts of titles; those of a cluster that are the same but for "Re:" count once.

        Parameters
        ----------
        titles : sequence of str
        count : callable
            Titles -> csr array of the counts of terms in each.
        labels : int array, one per title
        n_clusters : int
        """
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
