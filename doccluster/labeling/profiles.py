"""What is said of one cluster, as plain records, and the sparse algebra under every statement about its content.

A profile takes one pass over the matrix, then k sparse rows. Here is also what a namer gets (a function, program or
model that people choose), and which of its answers can be names.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from doccluster.base.arrays import Floats, Integers, Matrix
from doccluster.base.blocks import entry_blocks
from doccluster.base.plain_values import ShortRepr, cut, listed
from doccluster.base.sparse_structure import with_values
from doccluster.errors import InputError
from doccluster.geometry import ClusterEvidence, Documents, as_documents
from doccluster.geometry.partition import Partition

MAX_NAME_LETTERS = 60
N_TERMS = 10
CONTENT = ("level", "size", "terms", "apart", "phrases", "titles", "excerpts", "parent", "siblings")

_MARKUP = re.compile(r"[<>{}\[\]`*|\\]|__|~~|^#|&#|&\w+;|://|\bwww\.", re.IGNORECASE)
_AROUND = " \t\r\n\"'`*“”„‘’«»「」"
_JOINERS = str.maketrans("", "", "\u200c\u200d")  # invisible, and part of words in Persian and scripts of India


@dataclass(frozen=True)
class Term:
    """One term of a cluster.

    Attributes
    ----------
    term : str
        The commonest written form.
    column : int
        The column of the matrix.
    share : float
        What part of the cluster's cohesion (descriptive terms) or of its distance from the other clusters
        (discriminating terms) this term explains, in [0, 1].
    support : int
        The number of documents of the cluster that have the term.
    """

    term: str
    column: int
    share: float
    support: int


@dataclass(frozen=True)
class LabelTerm:
    """A word or phrase that may name a cluster.

    Attributes
    ----------
    term : str
        As it is written.
    score : float
        What having it says about being in the cluster (mutual information, bits), times the share of the cluster that a
        search for it brings back.
    coverage : float
        The share of the documents of the cluster that have it, in [0, 1]; of a phrase, estimated from a sample.
    """

    term: str
    score: float
    coverage: float


@dataclass(frozen=True)
class Representative:
    """A document near the centroid: its row, its cosine to the centroid, and how many near-copies it stands for."""

    row: int
    similarity: float
    n_copies: int = 0


@dataclass(frozen=True)
class Borderline:
    """A document that could as well be elsewhere: row, cosine to its centroid, next best cluster, and the margin."""

    row: int
    similarity: float
    runner_up: int
    margin: float


@dataclass(frozen=True, repr=False)
class ClusterDescription:
    """What one cluster is about.

    Attributes
    ----------
    cluster : int
        Its number, 0..k-1.
    size : int
        The number of its documents.
    label : str
        A short label, distinct among the clusters of the partition.
    descriptive, discriminating : tuple of Term
        Largest share first; empty when the columns of the matrix have no names.
    representatives : tuple of Representative
        Nearest to the centroid first, near-copies only once. Rows count the documents of the partition.
    name : str
        What an editor or a model calls it, which is then its label too; empty without a name.
    named_by : str
        The model that chose the name; empty where a person did, and without a name.
    borderline : tuple of Borderline
        Smallest margin first.
    label_terms : tuple of LabelTerm
        The words and phrases the label was chosen from, best first; empty in a run of an earlier version.
    """

    cluster: int
    size: int
    label: str
    descriptive: tuple[Term, ...] = ()
    discriminating: tuple[Term, ...] = ()
    representatives: tuple[Representative, ...] = ()
    borderline: tuple[Borderline, ...] = ()
    name: str = ""
    label_terms: tuple[LabelTerm, ...] = ()
    named_by: str = ""

    @property
    def terms(self) -> tuple[str, ...]:
        """The descriptive terms alone, the one of the largest share first."""
        return tuple(term.term for term in self.descriptive)

    def __repr__(self) -> str:
        terms = listed(self.terms, 5)
        return cut(f"ClusterDescription({self.cluster}: {self.label!r}, {self.size:,} documents; terms: {terms})")


ENTRIES_AT_ONCE = 2**20  # of the table of clusters and terms, where several arrays of its size would be held


def mutual_information(support: Floats, frequency: Floats, size: Floats, n_documents: int) -> Floats:
    """Return the mutual information, in bits, of having a term and of being in a cluster; 0 where it is rarer inside.

    Manning, Raghavan and Schuetze (2008), equation 13.17.

    `support`, `frequency` of shape (n,): how many documents of the cluster, and of all, have the term. `size` of shape
    (n,): how many documents the cluster has.

    >>> mutual_information(np.array([4.0, 2.0]), np.array([4.0, 4.0]), np.array([4.0, 4.0]), 8).round(3)
    array([1., 0.])
    """
    n = float(n_documents)
    total = np.zeros(support.size)
    for count, with_term, of_cluster in (
        (support, frequency, size),
        (frequency - support, frequency, n - size),
        (size - support, n - frequency, size),
        (n - size - frequency + support, n - frequency, n - size),
    ):
        expected = with_term * of_cluster
        is_counted = (count > 0) & (expected > 0)
        ratio = np.divide(count * n, expected, out=np.ones_like(total), where=is_counted)
        total += np.where(is_counted, count / n * np.log2(ratio), 0.0)
    return np.where(support * n > frequency * size, np.maximum(total, 0.0), 0.0)


@dataclass(frozen=True, eq=False, repr=False)
class ClusterProfiles(ShortRepr):
    """The direction of each cluster, and of everything outside it, term by term.

    Attributes
    ----------
    sums : csr array of shape (k, n_terms), float64
        The sum s of the rows of each cluster.
    support : csr array of shape (k, n_terms)
        How many documents of each cluster have each term.
    sizes : int64 array of shape (k,)
    """

    sums: sparse.csr_array
    support: sparse.csr_array
    sizes: Integers

    @classmethod
    def from_partition(cls, matrix: Matrix, partition: Partition) -> ClusterProfiles:
        """Return the profiles of the clusters of `partition`; rows that are not of length one are made so.

        Raises
        ------
        InputError
            If the matrix cannot be used, or has another number of rows than the partition has labels.
        """
        return cls.from_evidence(ClusterEvidence(checked_documents(matrix, partition), partition))

    @classmethod
    def from_evidence(cls, evidence: ClusterEvidence) -> ClusterProfiles:
        """Return the profiles of clusters whose sums under the cosine may be known already."""
        return cls(sparse.csr_array(evidence.sums), evidence.support, evidence.sizes)

    @property
    def n_clusters(self) -> int:
        """The number of clusters k."""
        return int(self.sums.shape[0])

    @cached_property
    def lengths(self) -> Floats:
        """The length |s| of each sum: the sum of the cosines of the cluster's documents to its centroid."""
        return np.sqrt(self._row_totals(np.square(self.sums.data)))

    @cached_property
    def centroids(self) -> sparse.csr_array:
        """The unit centroids c = s / |s| (zero where s is zero)."""
        return self._with_data(self.sums.data * np.repeat(_inverse(self.lengths), np.diff(self.sums.indptr)))

    @cached_property
    def outside(self) -> sparse.csr_array:
        """The unit direction r of all other clusters together, on the terms of each cluster only; 0 when k = 1."""
        total = self.total
        if self.n_clusters == 1:
            return self._with_data(np.zeros_like(self.sums.data))
        # |total - s|^2 without forming the k x n_terms rest
        dots = self.sums @ total
        # BLAS adds in an order that depends on the number of its threads
        squared = np.maximum(np.einsum("i,i", total, total) - 2 * dots + self.lengths**2, 0)
        scale = np.repeat(_inverse(np.sqrt(squared)), np.diff(self.sums.indptr))
        return self._with_data((total[self.sums.indices] - self.sums.data) * scale)

    @cached_property
    def total(self) -> Floats:
        """The sum of all rows, float64 array of shape (n_terms,)."""
        return np.asarray(self.sums.sum(axis=0), dtype=np.float64)

    @cached_property
    def document_frequency(self) -> Floats:
        """In how many documents each term is, float64 array of shape (n_terms,)."""
        return np.asarray(self.support.sum(axis=0), dtype=np.float64)

    def cohesion_shares(self) -> sparse.csr_array:
        """Return the share of each cluster's cohesion that each term explains: c_t s_t / |s| = c_t^2, rows sum to 1."""
        return self._with_data(np.square(self.centroids.data))

    def contrast_shares(self) -> sparse.csr_array:
        """Return the share of |c - r|^2 of each term where the cluster has more of it than the others, else 0."""
        difference = self.centroids.data - self.outside.data
        cosine = self._row_totals(self.centroids.data * self.outside.data)
        gap = np.repeat(_inverse(2 * np.maximum(1 - cosine, 0)), np.diff(self.sums.indptr))
        shares = np.where(difference > 0, np.square(difference) * gap, 0.0)
        return self._with_data(np.minimum(shares, 1.0))

    def mutual_information(self) -> sparse.csr_array:
        """Return how much having each term says about being in each cluster, in bits; 0 where it is rarer inside."""
        starts, n = self.support.indptr, int(self.sizes.sum())
        values = np.empty(int(starts[-1]))
        for clusters in entry_blocks(starts, ENTRIES_AT_ONCE):
            entry_range = slice(int(starts[clusters.start]), int(starts[clusters.stop]))
            lengths = np.diff(starts[clusters.start : clusters.stop + 1])
            sizes = np.repeat(self.sizes[clusters].astype(np.float64), lengths)
            support = self.support.data[entry_range].astype(np.float64)
            values[entry_range] = mutual_information(
                support, self.document_frequency[self.support.indices[entry_range]], sizes, n
            )
        return with_values(self.support, values)

    def _with_data(self, data: Floats) -> sparse.csr_array:
        return with_values(self.sums, data)

    def _row_totals(self, data: Floats) -> Floats:
        return np.asarray(self._with_data(data) @ np.ones(self.sums.shape[1]))  # one value after the other


def checked_documents(matrix: Matrix, partition: Partition) -> Documents:
    """Return the documents of a partition, checked unless they came through the door before.

    Raises InputError if the matrix cannot be used, or has another number of rows than the partition has labels.
    """
    documents = as_documents(matrix, name="vectors")
    if documents.n_documents != partition.n_documents:
        raise InputError(
            f"the partition has {partition.n_documents} labels, vectors has {documents.n_documents} rows",
            remedy="give one for each",
        )
    return documents


def largest_per_row(matrix: sparse.csr_array, count: int) -> list[tuple[Integers, Floats]]:
    """Return for each row the columns of its `count` largest positive values, largest first, and the values.

    Equal values go to the lowest column.
    """
    lists = []
    for start, stop in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True):
        columns, values = matrix.indices[start:stop], matrix.data[start:stop]
        if values.size > count:
            keep = values >= np.partition(values, values.size - count)[values.size - count]
            columns, values = columns[keep], values[keep]
        order = np.lexsort((columns, -values))[:count]
        order = order[values[order] > 0]
        lists.append((columns[order].astype(np.int64), values[order]))
    return lists


def entries(matrix: sparse.csr_array, row: int, columns: Integers) -> Floats:
    """Return the values of one row at some columns (all stored, indices sorted)."""
    start, stop = matrix.indptr[row], matrix.indptr[row + 1]
    values: Floats = matrix.data[start + np.searchsorted(matrix.indices[start:stop], columns)]
    return values


def _inverse(values: Floats) -> Floats:
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)


@dataclass(frozen=True, repr=False)
class NamingRequest(ClusterDescription):
    """The description of a cluster as a namer gets it: with texts of documents, and the names around it.

    Attributes
    ----------
    level : str
        What the cluster is: "section", "topic", "subtopic", "story" or "cluster".
    terms, apart, phrases : tuple of str
        Terms that hold it together, terms that set it apart from the others, phrases that may name it; best first.
    titles, excerpts : tuple of str
        Of its most central documents, each on one line and cut; empty ones are left out.
    parent : str
        The name of the cluster that it is part of; empty on the coarsest level.
    siblings : tuple of str
        The names of the other parts of its parent, or their labels where they have no names yet.
    """

    level: str = "cluster"
    terms: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()
    excerpts: tuple[str, ...] = ()
    parent: str = ""
    siblings: tuple[str, ...] = ()

    @classmethod
    def of(cls, cluster: ClusterDescription, **context: Any) -> NamingRequest:
        """Return a request for a name of `cluster`; the keywords are the attributes beside its terms and phrases."""
        return cls(
            **{part.name: getattr(cluster, part.name) for part in fields(ClusterDescription)},
            terms=cluster.terms[:N_TERMS],
            apart=tuple(term.term for term in cluster.discriminating[:N_TERMS]),
            phrases=tuple(term.term for term in cluster.label_terms if len(term.term.split()) > 1)[:N_TERMS],
            **context,
        )

    def content(self) -> dict[str, Any]:
        """Return the request as values of JSON: what a program or a model reads."""
        return {name: getattr(self, name) for name in CONTENT}


Namer = Callable[[NamingRequest], str]


def plain_name(answer: str) -> str:
    """Return the name in an answer, without quotation marks, asterisks and a full stop around it.

    >>> plain_name(' **"Rye prices".** '), plain_name("U.S. attorneys.")
    ('Rye prices', 'U.S. attorneys.')
    """
    name = unicodedata.normalize("NFC", answer).strip(_AROUND)
    return name.removesuffix(".").strip(_AROUND) if name.count(".") == 1 else name


def name_problem(name: str, names: Collection[str] = ()) -> str:
    """Return in a few words why a text cannot name a cluster beside clusters of these names; nothing where it can.

    >>> name_problem("Rye prices"), name_problem("<b>Rye</b>"), name_problem("rye", ["Rye"])
    ('', 'has markup or an address', 'is the name of another cluster')
    """
    problems = (
        (not name, "is empty"),
        (len(name.splitlines()) > 1, "has more than one line"),
        (not name.translate(_JOINERS).isprintable(), "has control characters"),
        (len(name) > MAX_NAME_LETTERS, f"has more than {MAX_NAME_LETTERS} characters"),
        (_MARKUP.search(name), "has markup or an address"),
        (not any(map(str.isalpha, name)), "has no letters"),
        (name.casefold() in {label.casefold() for label in names}, "is the name of another cluster"),
    )
    return next((problem for is_wrong, problem in problems if is_wrong), "")
