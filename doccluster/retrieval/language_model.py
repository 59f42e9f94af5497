"""Documents ranked by how probable they make the query, smoothed with the collection or with clusters."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.validation import check_matrix
from doccluster.errors import InputError
from doccluster.retrieval.ranking import as_query

Floats = npt.NDArray[np.float64]


def query_likelihood(counts: Any, query: Any, *, mu: float = 500.0) -> Floats:
    r"""Return log p(query | document) for every document, with Dirichlet smoothing.

    sum over the terms t of the query of n(t, q) ln((tf + mu p(t | collection)) / (|d| + mu))

    (Zhai and Lafferty 2004, doi:10.1145/984321.984322, table 1). Terms that the collection lacks are left out.

    Parameters
    ----------
    counts : array of shape (n_documents, n_terms)
        How often each term occurs in each document.
    query : csr array of shape (1, n_terms)
        How often each occurs in the query.
    mu : float > 0

    Returns
    -------
    float64 array of shape (n_documents,)

    Examples
    --------
    >>> counts = sparse.csc_array(np.array([[2.0, 0.0], [1.0, 1.0]]))
    >>> query_likelihood(counts, sparse.csr_array([[0.0, 1.0]]), mu=2.0).round(3)
    array([-2.079, -0.981])
    """
    if not mu > 0:
        raise InputError(f"mu={mu!r} is no weight of the collection; give a number above 0.")
    counts, terms = sparse.csc_array(check_matrix(counts, name="counts")), as_query(query, counts.shape[1])
    lengths = np.asarray(counts.sum(axis=1), dtype=np.float64).ravel()
    total = lengths.sum()
    scores = np.zeros(counts.shape[0])
    for term, times in zip(terms.indices.tolist(), terms.data.tolist(), strict=True):
        postings = slice(counts.indptr[term], counts.indptr[term + 1])
        in_collection = float(counts.data[postings].sum()) / total if total else 0.0
        if in_collection == 0:
            continue
        smoothed = np.full(scores.size, mu * in_collection)
        smoothed[counts.indices[postings]] += counts.data[postings]
        scores += times * np.log(smoothed / (lengths + mu))
    return scores


def cluster_likelihood(
    counts: Any, query: Any, labels: npt.NDArray[np.integer[Any]], *, mu: float = 500.0, beta: float = 0.5
) -> Floats:
    r"""Return log p(query | document) for every document, smoothed with its cluster and with the collection (CBDM).

    sum over the terms t of the query of
    n(t, q) ln((tf + mu (beta p(t | cluster) + (1 - beta) p(t | collection))) / (|d| + mu))

    (Liu and Croft 2004, doi:10.1145/1008992.1009026, with Dirichlet smoothing). Terms that the collection lacks are
    left out.

    Parameters
    ----------
    counts : array of shape (n_documents, n_terms)
        How often each term occurs in each document.
    query : csr array of shape (1, n_terms)
        How often each occurs in the query.
    labels : int array of shape (n_documents,)
        The cluster of each document, 0..k-1.
    mu : float > 0
    beta : float in [0, 1)
        The weight of the cluster; with 0 this is `query_likelihood`.

    Returns
    -------
    float64 array of shape (n_documents,)

    Examples
    --------
    >>> counts = sparse.csc_array(np.array([[2.0, 0.0], [1.0, 1.0]]))
    >>> query, labels = sparse.csr_array([[0.0, 1.0]]), np.array([0, 0])
    >>> cluster_likelihood(counts, query, labels, mu=2.0).round(3)
    array([-2.079, -0.981])
    """
    if not mu > 0:
        raise InputError(f"mu={mu!r} is no weight of the collection; give a number above 0.")
    if not 0 <= beta < 1:
        raise InputError(f"beta={beta!r} is no weight of clusters; give a number from 0 up to 1, without 1.")
    if len(labels) != counts.shape[0]:
        raise InputError(f"{len(labels):,} labels for {counts.shape[0]:,} documents; give one for each.")
    counts, terms = sparse.csc_array(check_matrix(counts, name="counts")), as_query(query, counts.shape[1])
    lengths = np.asarray(counts.sum(axis=1), dtype=np.float64).ravel()
    total = lengths.sum()
    n_clusters = int(np.max(labels, initial=0)) + 1
    cluster_lengths = np.bincount(labels, weights=lengths, minlength=n_clusters)
    scores = np.zeros(counts.shape[0])
    for term, times in zip(terms.indices.tolist(), terms.data.tolist(), strict=True):
        postings = slice(counts.indptr[term], counts.indptr[term + 1])
        rows, values = counts.indices[postings], counts.data[postings]
        in_collection = float(values.sum()) / total if total else 0.0
        if in_collection == 0:
            continue
        of_cluster = np.bincount(labels[rows], weights=values, minlength=n_clusters)
        in_cluster = np.divide(of_cluster, cluster_lengths, out=np.zeros(n_clusters), where=cluster_lengths > 0)
        smoothed = mu * (beta * in_cluster[labels] + (1 - beta) * in_collection)
        smoothed[rows] += values
        scores += times * np.log(smoothed / (lengths + mu))
    return scores
