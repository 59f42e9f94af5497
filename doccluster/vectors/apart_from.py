"""Terms that go with who wrote a document rather than with what it is about, and a factor that weighs them down.

A term is in some documents of an author. As many as the documents of others would have it are expected; what goes
beyond that is the author's. The factor of a term is the share of its documents that do not go beyond: it is used like
idf, so that new documents, and those without an author, need nothing else.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from doccluster.base.arrays import Floats, Integers

SPARED_DOCUMENTS = 2.0  # of an author that may have a term beyond what is expected
TRUSTED_DOCUMENTS = 10.0  # by which the rate in a cluster is drawn towards the rate everywhere
PAIRS_AT_A_TIME = 20_000  # of an author and a term


@dataclass(frozen=True, eq=False)
class AuthorTerms:
    """What terms keep apart from the authors of one column.

    Attributes
    ----------
    factors : float64 array of shape (n_terms,)
        From 0 (the term is in documents of its authors alone) to 1.
    beyond : csr array of shape (n_authors, n_terms)
        How many documents of the author have the term beyond those expected.
    """

    factors: Floats
    beyond: Any

    def strongest(self, terms: Sequence[str], n_terms: int = 8) -> list[list[str]]:
        """Return for each author the terms that go with the author most."""
        starts = self.beyond.indptr
        parts = (slice(start, end) for start, end in itertools.pairwise(starts))
        orders = ((part, np.argsort(-self.beyond.data[part], kind="stable")[:n_terms]) for part in parts)
        return [[str(terms[term]) for term in self.beyond.indices[part][order]] for part, order in orders]


def author_terms(counts: Any, authors: Integers, clusters: Integers | None = None) -> AuthorTerms:
    """Return the factor of each term apart from the authors, and which terms go with whom.

    Parameters
    ----------
    counts : csr array of shape (n_documents, n_terms)
    authors : int64 array of shape (n_documents,)
        0..n_authors-1; -1 where the author is not known: such documents are not counted.
    clusters : int64 array of shape (n_documents,), optional
        The cluster of each document, 0..k-1. As many documents are then expected as those of others in the same
        clusters would have, so that a subject an author writes much about stays a subject.

    Examples
    --------
    >>> words = sparse.csr_array(np.array([[1, 0, 1]] * 8 + [[0, 1, 1]] * 8))
    >>> author_terms(words, np.repeat([0, 1], 8)).factors.tolist()
    [0.25, 0.25, 1.0]
    """
    n_authors, n_terms = int(authors.max(initial=-1)) + 1, counts.shape[1]
    frequencies, n_documents = _document_frequencies(counts, authors, n_authors)
    totals = np.asarray(frequencies.sum(axis=0)).ravel()
    is_many = frequencies.data > SPARED_DOCUMENTS  # only these can go beyond
    author = np.repeat(np.arange(n_authors), np.diff(frequencies.indptr))[is_many]
    term, n_with = frequencies.indices[is_many].astype(np.int64), frequencies.data[is_many]
    rate = (totals[term] - n_with) / np.maximum(n_documents.sum() - n_documents[author], 1)
    expected = n_documents[author] * rate
    if clusters is not None:
        expected = _expected_by_clusters(counts, authors, clusters, author, term, rate)
    beyond = np.maximum(n_with - expected - SPARED_DOCUMENTS, 0)
    factors = 1 - np.bincount(term, beyond, minlength=n_terms) / np.maximum(totals, 1)
    table = sparse.csr_array((beyond, (author, term)), shape=(n_authors, n_terms))
    table.eliminate_zeros()
    return AuthorTerms(factors, table)


def _expected_by_clusters(
    counts: Any, authors: Integers, clusters: Integers, author: Integers, term: Integers, rate: Floats
) -> Floats:
    """Return in how many of an author's documents a term is expected, by those of others in the same clusters.

    The rate of a cluster is drawn towards the rate everywhere by some documents. `author`, `term` and `rate` have an
    entry for each pair that is looked at.
    """
    n_authors, k = int(authors.max()) + 1, int(clusters.max()) + 1
    pairs = np.where(authors >= 0, authors * k + clusters, -1)
    in_pair, n_pair = _document_frequencies(counts, pairs, n_authors * k)
    in_cluster, n_cluster = _document_frequencies(counts, np.where(authors >= 0, clusters, -1), k)
    n_pair = n_pair.reshape(n_authors, k)
    weight = n_pair / (n_cluster - n_pair + TRUSTED_DOCUMENTS)  # of one document of others in the cluster
    places = np.arange(n_authors * k), np.arange(0, n_authors * k + 1, k)
    of_author = sparse.csr_array((weight.ravel(), *places), shape=(n_authors, n_authors * k)) @ in_pair
    by_term = sparse.csc_array(in_cluster)
    expected = TRUSTED_DOCUMENTS * rate * weight.sum(axis=1)[author]
    for start in range(0, author.size, PAIRS_AT_A_TIME):
        block = slice(start, start + PAIRS_AT_A_TIME)
        columns = by_term[:, term[block]].toarray()  # k x pairs
        expected[block] += np.einsum("ij,ji->i", weight[author[block]], columns)
    remainder: Floats = expected - _values_at(sparse.csr_array(of_author), author, term)
    return remainder


def _document_frequencies(counts: Any, groups: Integers, n_groups: int) -> tuple[Any, Integers]:
    """Return in how many documents of each group each term is, csr, and how many documents each group has."""
    rows = np.flatnonzero(groups >= 0)
    members = sparse.csr_array((np.ones(rows.size), (groups[rows], rows)), shape=(n_groups, groups.size))
    has_term = sparse.csr_array((np.ones(counts.nnz), counts.indices, counts.indptr), shape=counts.shape)
    frequencies = sparse.csr_array(members @ has_term)
    frequencies.sort_indices()
    return frequencies, np.bincount(groups[rows], minlength=n_groups)


def _values_at(table: Any, rows: Integers, columns: Integers) -> Floats:
    """Return the entries of a csr array at some places; 0 where none is stored."""
    table.sort_indices()
    keys = np.repeat(np.arange(table.shape[0], dtype=np.int64), np.diff(table.indptr)) * table.shape[1] + table.indices
    if not keys.size:
        return np.zeros(rows.size)
    places = rows * table.shape[1] + columns
    nearest = np.minimum(np.searchsorted(keys, places), keys.size - 1)
    values: Floats = np.where(keys[nearest] == places, table.data[nearest], 0.0)
    return values
