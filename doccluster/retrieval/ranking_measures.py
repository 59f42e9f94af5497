"""How good a ranking is by relevance judgements, and whether documents that answer a query are alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.base.arrays import Floats
from doccluster.base.plain_values import ShortRepr
from doccluster.errors import InputError
from doccluster.geometry import nearest_neighbours

Ranking = Sequence[int] | npt.NDArray[np.integer]


def precision_at(ranking: Ranking, grades: Mapping[int, float], k: int = 10) -> float:
    """Return the share of relevant documents among the first k, in [0, 1]; a shorter ranking counts as if filled up.

    Parameters
    ----------
    ranking : sequence of int
        Documents, best first.
    grades : mapping of document to grade
        Documents with a grade above 0 are relevant; absent ones are not.
    k : int

    Examples
    --------
    >>> precision_at([3, 1, 2], {1: 1, 5: 1}, 2)
    0.5
    """
    _check_k(k)
    return float(_gains(ranking[:k], grades).astype(bool).sum() / k)


def average_precision(ranking: Ranking, grades: Mapping[int, float]) -> float:
    """Return the mean of the precision at the rank of each relevant document, 0 for those not ranked, in [0, 1].

    Manning, Raghavan, Schuetze (2008), equation 8.8 for one query; nan if no document is relevant.

    Examples
    --------
    >>> average_precision([3, 1, 2], {1: 1, 5: 1})
    0.25
    """
    n_relevant = sum(grade > 0 for grade in grades.values())
    if n_relevant == 0:
        return float("nan")
    is_relevant = _gains(ranking, grades) > 0
    precision = np.cumsum(is_relevant) / np.arange(1, is_relevant.size + 1)
    return float(precision[is_relevant].sum() / n_relevant)


def ndcg_at(ranking: Ranking, grades: Mapping[int, float], k: int = 10) -> float:
    """Return the discounted cumulative gain of the first k over that of the best ranking, in [0, 1].

    The gain of a document is its grade, discounted by log2(rank + 1) (Jarvelin and Kekalainen 2002,
    doi:10.1145/582415.582418, in the form trec_eval uses); nan if no document is relevant.

    Examples
    --------
    >>> round(ndcg_at([3, 1, 2], {1: 1, 5: 1}), 4)
    0.3869
    """
    _check_k(k)
    best = np.sort([grade for grade in grades.values() if grade > 0])[::-1][:k]
    if best.size == 0:
        return float("nan")
    gains = _gains(ranking[:k], grades)
    return float(_discounted(gains) / _discounted(best))


@dataclass(frozen=True, eq=False, repr=False)
class ClusterHypothesis(ShortRepr):
    """Whether documents that answer the same query are alike; a query with fewer than two is nan.

    Attributes
    ----------
    shares : float64 array of shape (n_queries,)
        Of the nearest neighbours of a document that answers the query, the share that answers it too, in [0, 1].
    chance : float64 array of shape (n_queries,)
        What that share would be among all other documents.
    """

    shares: Floats
    chance: Floats

    @property
    def mean(self) -> float:
        """The mean of the shares over queries."""
        return float(np.nanmean(self.shares))

    @property
    def mean_chance(self) -> float:
        """The mean over queries of what chance gives."""
        return float(np.nanmean(self.chance))


def cluster_hypothesis(
    rows: Any, grades: Sequence[Mapping[int, float]], *, n_neighbors: int = 5, n_threads: int | None = None
) -> ClusterHypothesis:
    """Return how many of the nearest neighbours of relevant documents are relevant to the same query.

    A test of the cluster hypothesis: Voorhees 1985, The Cluster Hypothesis Revisited, doi:10.1145/253495.253524.

    Parameters
    ----------
    rows : Documents or csr array of shape (n_documents, n_terms)
        Compared by cosine; a neighbour that a document lacks counts as not relevant.
    grades : sequence of mappings of document to grade, one for each query
        Documents with a grade above 0 are relevant.
    n_neighbors : int

    Raises
    ------
    InputError
        If no query has two relevant documents, or a document is not among the rows.

    Examples
    --------
    >>> rows = np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.1, 0.9]])
    >>> tested = cluster_hypothesis(rows, [{0: 1, 1: 1}, {1: 1, 2: 1}], n_neighbors=1)
    >>> tested.shares, tested.mean_chance.__round__(2)
    (array([1., 0.]), 0.33)
    """
    graph = nearest_neighbours(rows, n_neighbors, fold=None, n_threads=n_threads)
    relevant = [np.array([document for document, grade in query.items() if grade > 0], np.int64) for query in grades]
    n_documents = graph.families.size
    if any(documents.size and not 0 <= documents.min() <= documents.max() < n_documents for documents in relevant):
        raise InputError(f"a query has a document that is none of the {n_documents:,} rows; number documents from 0.")
    sizes = np.array([documents.size for documents in relevant])
    if not (sizes > 1).any():
        raise InputError("no query has two relevant documents; give the grades of queries that have.")
    shares, chance = np.full(sizes.size, np.nan), np.full(sizes.size, np.nan)
    for query in np.flatnonzero(sizes > 1):
        near = graph.neighbours[relevant[query]]
        shares[query] = np.isin(near, relevant[query]).mean()
        chance[query] = (sizes[query] - 1) / (n_documents - 1)
    return ClusterHypothesis(shares, chance)


def _gains(ranking: Ranking, grades: Mapping[int, float]) -> Floats:
    known = np.fromiter(grades.keys(), dtype=np.int64, count=len(grades))
    values = np.fromiter(grades.values(), dtype=np.float64, count=len(grades))
    documents, order = np.asarray(ranking, dtype=np.int64), np.argsort(known)
    if known.size == 0:
        return np.zeros(documents.size)
    places = order[np.searchsorted(known[order], documents).clip(max=known.size - 1)]
    return np.where(known[places] == documents, np.maximum(values[places], 0.0), 0.0)


def _discounted(gains: Floats) -> float:
    return float((gains / np.log2(np.arange(2, gains.size + 2))).sum())


def _check_k(k: int) -> None:
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise InputError(f"k={k!r} is not a number of documents; give 1 or more.")
