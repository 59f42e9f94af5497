"""Scores smoothed over nearest neighbours: what is like good documents is probably good too."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.errors import InputError
from doccluster.geometry import NeighbourGraph, as_documents, nearest_neighbours
from doccluster.retrieval.ranking import best_documents
from doccluster.validation import check_positive_int

N_RERANKED = 1_000
N_NEIGHBOURS = 10
WEIGHT = 0.5

Floats = npt.NDArray[np.float64]


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
    rows: Any,
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
