"""Documents ranked for a query by BM25, and by scores smoothed over nearest neighbours.

What is like good documents is probably good too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.arrays import CsrArray, Floats, Matrix, MatrixLike
from doccluster.base.characters import without_invisible
from doccluster.base.validation import check_matrix, check_positive_int
from doccluster.errors import InputError, NothingUsable
from doccluster.geometry import NeighbourGraph, as_documents, nearest_neighbours
from doccluster.vectors import TfidfVectorizer
from doccluster.vectors.weighting import collection_weights, parse_weighting, weigh_rows

RANK_OFFSET = 60  # of the paper: the first ranks differ little
N_RERANKED = 1_000
N_NEIGHBOURS = 10
WEIGHT = 0.5


def best_documents(scores: npt.NDArray[np.float64], n_best: int | None = None) -> npt.NDArray[np.int64]:
    """Return the documents with a score above 0, best first; equal scores in the order of documents.

    >>> best_documents(np.array([0.0, 1.0, 2.0, 1.0]), 2).tolist()
    [2, 1]
    """
    if n_best is not None and n_best < 1:
        raise InputError(f"n_best={n_best!r} is not a number of documents; give 1 or more.")
    positive = np.flatnonzero(scores > 0)
    if n_best is not None and n_best < positive.size:
        least = np.partition(scores[positive], positive.size - n_best)[positive.size - n_best]
        positive = positive[scores[positive] >= least]
    ranked: npt.NDArray[np.int64] = positive[np.argsort(-scores[positive], kind="stable")[:n_best]].astype(np.int64)
    return ranked


def joined_ranks(*rankings: npt.NDArray[np.int64], n_documents: int) -> npt.NDArray[np.float64]:
    """Return the sum of the reciprocal ranks of each document, float64 array of shape (n_documents,).

    A ranking gives its document of rank r, from 1, 1 / (60 + r) (Cormack, Clarke and Büttcher 2009,
    doi:10.1145/1571941.1572114).

    >>> best_documents(joined_ranks(np.array([0, 2]), np.array([2, 1]), n_documents=4)).tolist()
    [2, 0, 1]
    """
    scores = np.zeros(n_documents)
    for ranking in rankings:
        scores[ranking] += 1 / (RANK_OFFSET + 1 + np.arange(ranking.size))
    return scores


def as_query(query: object, n_terms: int) -> sparse.csr_array:
    """Return the counts of a query as a csr array of shape (1, n_terms), or raise InputError."""
    counts = sparse.csr_array(check_matrix(query, name="query"))
    if counts.shape != (1, n_terms):
        raise InputError(
            f"has shape {counts.shape}", argument="query", expected=f"(1, {n_terms}): one row, over the same terms"
        )
    return counts


@dataclass(frozen=True, eq=False)
class Bm25Index:
    """BM25 weights of documents, to be ranked for queries.

    score(q, d) = sum over the terms t of q of
    n(t, q) ln(1 + (N - df + 1/2) / (df + 1/2)) tf (k1 + 1) / (tf + k1 (1 - b + b length / mean length))

    (Robertson and Zaragoza 2009, doi:10.1561/1500000019, with the idf that is never negative). A term that the query
    has twice counts twice.

    Attributes
    ----------
    vectorizer : TfidfVectorizer, fitted
        It counts the terms of queries.
    weights : csc array of shape (n_documents, n_terms), float64
    """

    vectorizer: TfidfVectorizer
    weights: Any

    @classmethod
    def from_texts(cls, texts: Sequence[str], *, k1: float = 1.2, b: float = 0.75, **analysis: Any) -> Bm25Index:
        """Return the index of some texts; `analysis` are parameters of `TfidfVectorizer` that say what a term is.

        Raises
        ------
        NothingUsable
            If no text has a term.

        Examples
        --------
        >>> index = Bm25Index.from_texts(["oil prices rise", "wheat harvest", "oil and wheat"])
        >>> index.rank("wheat harvest").tolist()
        [1, 2]
        """
        vectorizer = TfidfVectorizer(weighting="nnn", norm=None, dtype=np.float64, **analysis)
        return cls.from_counts(vectorizer.fit_transform(texts), vectorizer, k1=k1, b=b)

    @classmethod
    def from_counts(
        cls, counts: CsrArray, vectorizer: TfidfVectorizer, *, k1: float = 1.2, b: float = 0.75
    ) -> Bm25Index:
        """Return the index of documents that were counted already.

        Parameters
        ----------
        counts : csr array of shape (n_documents, n_terms)
            How often each term occurs in each document; it is not changed.
        vectorizer : TfidfVectorizer, fitted
            The one that made the columns.
        """
        rows = sparse.csr_array(check_matrix(counts, name="counts"), dtype=np.float64, copy=True)
        weighting = parse_weighting("bm25", norm=None, k1=k1, b=b)
        frequency = np.bincount(rows.indices, minlength=rows.shape[1])
        factors = collection_weights(frequency, rows.shape[0], weighting=weighting, dtype=np.float64)
        mean_length = max(1.0, float(rows.data.sum()) / max(rows.shape[0], 1))
        weigh_rows(rows, factors, weighting=weighting, mean_length=mean_length)
        return cls(vectorizer, sparse.csc_array(rows))

    def rank(self, query: str, n_best: int | None = None) -> npt.NDArray[np.int64]:
        """Return the documents that have a term of the query, best first; equal scores in the order of documents.

        Raises
        ------
        InputError
            If the query is empty, or `n_best` is not positive.
        NothingUsable
            If no document has a term of the query.
        """
        return best_documents(self.scores(query), n_best)

    def scores(self, query: str) -> npt.NDArray[np.float64]:
        """Return the score of every document, float64 array of shape (n_documents,)."""
        if not query.strip():
            raise InputError("the query is empty; give the words to search for.")
        counts = sparse.csr_array(self.vectorizer.transform_counts([without_invisible(query)]))
        if counts.nnz == 0:
            raise NothingUsable(f"no document has a word of the query {query[:80]!r}; try other words.")
        return self.score_counts(counts)

    def score_counts(self, query: MatrixLike) -> npt.NDArray[np.float64]:
        """Return the score of every document for a query whose terms were counted, csr array of shape (1, n_terms)."""
        query = as_query(query, self.weights.shape[1])
        scores: Floats = (self.weights[:, query.indices] @ query.data.astype(np.float64)).ravel()
        return scores


def smooth_scores(scores: Floats, graph: NeighbourGraph, *, weight: float = 0.5, n_neighbors: int = 10) -> Floats:
    """Return scores mixed with those of the nearest neighbours: relevant documents are alike (the cluster hypothesis).

    (1 - weight) z(d) + weight sum over neighbours e of cosine(d, e) z(e) / sum of the cosines, with z the scores
    brought to mean 0 and variance 1. The neighbours of a document are its cluster, as in Kurland and Lee (2004,
    doi:10.1145/1008992.1009027); scores are mixed here instead of language models, so any ranking can be smoothed.

    Parameters
    ----------
    scores : float64 array of shape (n_documents,)
    graph : NeighbourGraph
        Made without folding copies.
    weight : float in 0..1
    n_neighbors : int
        At most as many as the graph has.

    Returns
    -------
    float64 array of shape (n_documents,)
    """
    if not 0 <= weight <= 1:
        raise InputError(f"weight={weight!r}  is not a share; give a number from 0 to 1.")
    if graph.first.size != scores.size:
        raise InputError("the graph folds copies; make it with fold=None.")
    spread = scores.std()
    if spread == 0:
        return np.zeros_like(scores)
    z = (scores - scores.mean()) / spread
    near, cosine = graph.neighbours[:, :n_neighbors], graph.similarity[:, :n_neighbors]
    weights = np.where(near >= 0, cosine, 0.0)
    sums = weights.sum(axis=1)
    of_neighbours = (weights * z[near]).sum(axis=1) / np.where(sums > 0, sums, 1.0)
    # a document without neighbours keeps its own score
    mixed: Floats = np.where(sums > 0, (1 - weight) * z + weight * of_neighbours, z)
    return mixed


def rerank(
    scores: Floats,
    rows: Matrix,
    *,
    n_reranked: int = N_RERANKED,
    weight: float = WEIGHT,
    n_neighbors: int = N_NEIGHBOURS,
    n_threads: int | None = None,
) -> npt.NDArray[np.int64]:
    """Return the documents with the best scores, ranked again by scores smoothed over the neighbours among them.

    Neighbours are looked for among the best documents alone, so that it takes the same time for any collection.

    Parameters
    ----------
    scores : float64 array of shape (n_documents,)
        Documents with a score of 0 or less are not found.
    rows : Documents or a csr array of shape (n_documents, n_terms), unit rows
        Documents are not checked again, so that a search takes the same time for any collection.
    n_reranked : int
        How many of the best are taken.
    weight, n_neighbors
        As for `smooth_scores`.
    n_threads : int, optional
        Changes no result.

    Returns
    -------
    int64 array
        Documents, best first; equal ones as they were ranked before.

    Examples
    --------
    >>> from scipy import sparse
    >>> rows = sparse.csr_array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [0.0, 1.0]])
    >>> rerank(np.array([1.1, 1.0, 1.0, 0.0]), rows, n_neighbors=1, weight=0.2).tolist()
    [0, 1, 2]
    """
    check_positive_int(n_reranked, "n_reranked")
    documents = as_documents(rows, name="rows")
    best = best_documents(scores, n_reranked)
    if best.size < 2:
        return best
    graph = nearest_neighbours(documents.take(best), min(n_neighbors, best.size - 1), fold=None, n_threads=n_threads)
    smoothed = smooth_scores(scores[best], graph, weight=weight, n_neighbors=n_neighbors)
    ranked: npt.NDArray[np.int64] = best[np.argsort(-smoothed, kind="stable")]
    return ranked
