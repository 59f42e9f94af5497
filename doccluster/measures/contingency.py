"""The first kind of evidence: how many documents each cluster shares with each class.

Every external measure is a short function of this table. It is sparse (at most one cell per document), so a million
documents in a million clusters are as welcome as ten in two, and what several measures need is computed once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import sparse, special
from scipy.sparse.csgraph import min_weight_full_bipartite_matching

from doccluster.base.arrays import Floats, Integers
from doccluster.base.plain_values import ShortRepr
from doccluster.errors import InputError
from doccluster.geometry.partition import Partition

MAX_MATCHING_CELLS = 4_000_000  # a table k x g that is matched as one array; larger ones stay sparse


@dataclass(frozen=True, eq=False)
class Matching:
    """A one-to-one map: cluster ``clusters[i]`` is matched with class ``classes[i]``; all pairs share documents."""

    clusters: Integers
    classes: Integers
    total: float

    def class_of(self, n_clusters: int) -> Integers:
        """Return the class of each cluster, -1 where it has none; shape (n_clusters,)."""
        result = np.full(n_clusters, -1, np.int64)
        result[self.clusters] = self.classes
        return result


def best_matching(weights: sparse.csr_array) -> Matching:
    """Return the matching with the largest sum of weights.

    `weights`: csr array of shape (k, g), all stored values > 0.
    """
    table = sparse.csr_array(weights)
    n_rows, n_columns = table.shape
    if n_rows * n_columns <= MAX_MATCHING_CELLS:
        from scipy.optimize import linear_sum_assignment  # takes long to import

        rows, columns = linear_sum_assignment(table.toarray(), maximize=True)
    else:
        # each row also has a column of its own, of weight 1, for staying unmatched
        index = table.indices.astype(np.int32), table.indptr.astype(np.int32)  # all that scipy before 1.15 matches
        raised = sparse.csr_array((table.data + 1.0, *index), shape=table.shape)
        graph = sparse.hstack([raised, sparse.eye_array(n_rows)], format="csr")
        rows, columns = min_weight_full_bipartite_matching(graph, maximize=True)
        rows, columns = rows[columns < n_columns], columns[columns < n_columns]
    values = np.asarray(table[rows, columns]).ravel()
    shared = values > 0  # pairs that share nothing do not count
    rows, columns = rows[shared].astype(np.int64), columns[shared].astype(np.int64)
    return Matching(rows, columns, float(np.sum(values[shared])))


def is_unique(counts: sparse.csr_array, matching: Matching) -> bool:
    """Return whether `matching` is the only one of its total, for a table of counts.

    Among the matchings of the largest total, the one that shares the fewest pairs with `matching` is found: counts are
    integers, so a bonus below one for leaving a pair tells them apart without changing the order of the totals.
    """
    table = sparse.coo_array(counts)
    pair_of_row = matching.class_of(counts.shape[0])
    is_chosen = pair_of_row[table.row] == table.col
    bonus = np.where(is_chosen, 0.0, 1.0 / (2 * (min(counts.shape) + 1)))
    rival = best_matching(sparse.csr_array((table.data + bonus, (table.row, table.col)), shape=counts.shape))
    same = rival.clusters.size == matching.clusters.size and np.array_equal(rival.classes, matching.classes)
    return bool(same and np.array_equal(rival.clusters, matching.clusters)) or int(rival.total) < int(matching.total)


@dataclass(frozen=True, eq=False)
class LabelSets:
    """The different sets of labels that documents have; none is empty."""

    labels: sparse.csr_array  # (n_sets, n_labels), ones: which labels are in each set
    counts: sparse.csr_array  # (k, n_sets): documents of each cluster with each set

    @property
    def n_documents(self) -> int:
        """The number of documents that have a label."""
        return int(self.counts.sum())

    @classmethod
    def of_classes(cls, counts: sparse.csr_array) -> LabelSets:
        """Return the sets where every document has one label: a set for each class."""
        return cls(sparse.csr_array(sparse.eye_array(counts.shape[1])), counts)

    @classmethod
    def of_documents(cls, labels: Iterable[Sequence[object]], clusters: Integers, n_clusters: int) -> LabelSets:
        """Return the sets of documents with any number of different labels; those without one are left out."""
        documents = list(labels)
        every = [label for labels_of_document in documents for label in labels_of_document]
        columns = {label: number for number, label in enumerate(Partition.from_labels(every, name="truth").names)}
        # sets of numbers, whose order is the same in every process
        sets = [frozenset(columns[label] for label in labels_of_document) for labels_of_document in documents]
        numbers = {members: number for number, members in enumerate(dict.fromkeys(filter(None, sets)))}
        members = [(number, column) for labels_of_set, number in numbers.items() for column in labels_of_set]
        at = np.array(members, np.int64).reshape(-1, 2)
        table = sparse.coo_array((np.ones(len(members)), at.T), shape=(len(numbers), len(columns)))
        rows = np.flatnonzero(list(map(bool, sets)))
        cells = clusters[rows], np.array([numbers[sets[row]] for row in rows], np.int64)
        counts = sparse.coo_array((np.ones(rows.size, np.int64), cells), shape=(n_clusters, len(numbers)))
        return cls(sparse.csr_array(table), sparse.csr_array(counts))


MAX_DENSE_CELLS = 1_000_000  # a table k x g handed out as one array; larger ones stay sparse


class PairCounts(NamedTuple):
    """The pairs of documents, by whether they share a cluster and a class; Python integers, so products are exact."""

    together: int  # same cluster, same class (TP, SS)
    cluster_only: int  # same cluster, other class (FP, SD)
    class_only: int  # other cluster, same class (FN, DS)
    apart: int  # TN, DD

    @classmethod
    def from_sizes(cls, cells: Integers, clusters: Integers, classes: Integers) -> PairCounts:
        """Return the counts from the numbers of documents of each cell, cluster and class."""
        together, same_cluster, same_class = map(_pairs_within, (cells, clusters, classes))
        n_documents = int(clusters.sum())
        apart = n_documents * (n_documents - 1) // 2 - same_cluster - same_class + together
        return cls(together, same_cluster - together, same_class - together, apart)

    @property
    def total(self) -> int:
        """The number of pairs, n (n - 1) / 2."""
        return self.together + self.cluster_only + self.class_only + self.apart

    @property
    def adjusted_rand(self) -> float:
        """The Rand index adjusted for chance; 1 for identical partitions."""
        tp, fp, fn, tn = self
        if fp == fn == 0:
            return 1.0
        return 2 * (tp * tn - fn * fp) / ((tp + fn) * (fn + tn) + (tp + fp) * (fp + tn))


@dataclass(frozen=True, eq=False, repr=False)
class ContingencyTable(ShortRepr):
    """Counts of documents by cluster (rows) and class (columns).

    >>> clusters = Partition.from_labels([0, 0, 1, 1])
    >>> truth = Partition.from_labels(["a", "a", "a", "b"])
    >>> ContingencyTable.from_partitions(clusters, truth).counts.toarray()
    array([[2, 0],
           [1, 1]])
    """

    partition: Partition
    truth: Partition
    counts: sparse.csr_array  # (k, g), int64: documents of cluster i in class j; cells that are not empty
    several: LabelSets | None = None  # of all documents that have a label; None where none has several

    @classmethod
    def from_partitions(
        cls, partition: Partition, truth: Partition, *, several: LabelSets | None = None
    ) -> ContingencyTable:
        """Return the table of two partitions of as many documents (or raise InputError)."""
        if partition.n_documents != truth.n_documents:
            raise InputError(
                f"has {partition.n_documents} labels, truth has {truth.n_documents}",
                argument="labels",
                expected="one of each per document",
            )
        weights, shape = np.ones(partition.n_documents, np.int64), (partition.n_clusters, truth.n_clusters)
        pairs = sparse.coo_array((weights, (partition.labels, truth.labels)), shape=shape)
        return cls(partition, truth, pairs.tocsr(), several)

    @cached_property
    def label_sets(self) -> LabelSets:
        """The sets of labels of documents, and how many documents of each cluster have each."""
        return LabelSets.of_classes(self.counts) if self.several is None else self.several

    @property
    def n_documents(self) -> int:
        """The number of documents n."""
        return self.partition.n_documents

    @property
    def n_clusters(self) -> int:
        """The number of clusters k."""
        return self.partition.n_clusters

    @property
    def n_classes(self) -> int:
        """The number of classes g that occur."""
        return self.truth.n_clusters

    @property
    def cluster_sizes(self) -> Integers:
        """Documents per cluster, shape (k,)."""
        return self.partition.sizes

    @property
    def class_sizes(self) -> Integers:
        """Documents per class, shape (g,)."""
        return self.truth.sizes

    @cached_property
    def cell_clusters(self) -> Integers:
        """The cluster of each stored cell."""
        return np.repeat(np.arange(self.n_clusters), np.diff(self.counts.indptr))

    @property
    def cell_classes(self) -> Integers:
        """The class of each stored cell."""
        return np.asarray(self.counts.indices, np.int64)

    @property
    def cell_counts(self) -> Integers:
        """The documents of each stored cell, all >= 1."""
        return np.asarray(self.counts.data)

    @property
    def is_identical(self) -> bool:
        """Whether the partitions are the same up to the names of the clusters."""
        return self.n_clusters == self.n_classes == int(self.counts.nnz)

    @property
    def has_single_group(self) -> bool:
        """Whether all documents are in one cluster, or in one class."""
        return self.n_clusters == 1 or self.n_classes == 1

    @property
    def has_singletons_only(self) -> bool:
        """Whether every cluster, or every class, is a single document."""
        return self.n_documents in (self.n_clusters, self.n_classes)

    @cached_property
    def largest_in_cluster(self) -> Integers:
        """The largest cell of each cluster, shape (k,)."""
        return np.maximum.reduceat(self.cell_counts, self.counts.indptr[:-1])

    @cached_property
    def largest_in_class(self) -> Integers:
        """The largest cell of each class, shape (g,)."""
        largest = np.zeros(self.n_classes, np.int64)
        np.maximum.at(largest, self.cell_classes, self.cell_counts)
        return largest

    @cached_property
    def majority_class(self) -> Integers:
        """The commonest class of each cluster; of tied ones the smallest, then the first. Shape (k,)."""
        order = np.lexsort(
            (self.cell_classes, self.class_sizes[self.cell_classes], -self.cell_counts, self.cell_clusters)
        )
        return np.asarray(self.cell_classes[order[self.counts.indptr[:-1]]])

    @cached_property
    def majority_note(self) -> str | None:
        """Say how many clusters have several commonest classes; None if no cluster has."""
        is_largest = self.cell_counts == self.largest_in_cluster[self.cell_clusters]
        tied = np.count_nonzero(np.bincount(self.cell_clusters[is_largest], minlength=self.n_clusters) > 1)
        if tied == 0:
            return None
        which = "1 cluster has" if tied == 1 else f"{tied:,} clusters have"
        return f"{which} several commonest classes: the smallest of them is taken, then the first"

    @cached_property
    def pairs(self) -> PairCounts:
        """The four pair counts (Zaki & Meira 17.6-17.10)."""
        return PairCounts.from_sizes(self.cell_counts, self.cluster_sizes, self.class_sizes)

    @cached_property
    def cluster_entropy(self) -> float:
        """H(C) in nats."""
        return entropy(self.cluster_sizes)

    @cached_property
    def class_entropy(self) -> float:
        """H(T) in nats."""
        return entropy(self.class_sizes)

    @cached_property
    def mutual_information(self) -> float:
        """I(C, T) in nats, never negative."""
        if self.has_single_group:
            return 0.0
        products = self.cluster_sizes[self.cell_clusters] * self.class_sizes[self.cell_classes].astype(np.float64)
        logs = np.log(self.cell_counts * (self.n_documents / products))
        return max(0.0, float(np.sum(self.cell_counts * logs)) / self.n_documents)

    @cached_property
    def expected_mutual_information(self) -> float:
        """The mean of I over all pairs of partitions of these sizes, in nats (Vinh, Epps & Bailey 2010)."""
        sizes, repeats = np.unique(self.cluster_sizes, return_counts=True)
        class_sizes, other_repeats = np.unique(self.class_sizes, return_counts=True)
        terms = (_expected_terms(int(size), class_sizes, self.n_documents) @ other_repeats for size in sizes)
        return float(repeats @ np.fromiter(terms, np.float64, sizes.size))

    @cached_property
    def class_entropy_of_clusters(self) -> Floats:
        """H(T | C_i) in nats for each cluster, shape (k,)."""
        return _conditional_entropies(self.cell_counts, self.cell_clusters, self.cluster_sizes)

    @cached_property
    def cluster_entropy_of_classes(self) -> Floats:
        """H(C | T_j) in nats for each class, shape (g,)."""
        return _conditional_entropies(self.cell_counts, self.cell_classes, self.class_sizes)

    @cached_property
    def precision(self) -> sparse.csr_array:
        """n_ij / n_i, csr array of shape (k, g) (Strehl 4.21)."""
        return self.with_cells(self.cell_counts / self.cluster_sizes[self.cell_clusters])

    @cached_property
    def recall(self) -> sparse.csr_array:
        """n_ij / m_j, csr array of shape (k, g) (Strehl 4.22)."""
        return self.with_cells(self.cell_counts / self.class_sizes[self.cell_classes])

    @cached_property
    def matching(self) -> Matching:
        """The one-to-one map between clusters and classes that covers the most documents."""
        return best_matching(self.counts)

    @cached_property
    def is_matching_unique(self) -> bool:
        """Whether no other one-to-one map covers as many documents."""
        return is_unique(self.counts, self.matching)

    def f_scores(self, beta: float) -> Floats:
        """F_beta of cluster and class for each stored cell: (1 + b2) n_ij / (b2 m_j + n_i)."""
        weighted = beta * beta
        sizes = weighted * self.class_sizes[self.cell_classes] + self.cluster_sizes[self.cell_clusters]
        return (1 + weighted) * self.cell_counts / sizes

    def dense(self, cells: Floats | sparse.csr_array) -> Floats | None:
        """Return a table of shape (k, g) from one value per stored cell, or None where it would be too large."""
        if self.n_clusters * self.n_classes > MAX_DENSE_CELLS:
            return None
        table = self.with_cells(cells) if isinstance(cells, np.ndarray) else cells
        return np.asarray(table.toarray(), np.float64)

    def with_cells(self, values: Floats) -> sparse.csr_array:
        """Return a table of shape (k, g) with these values in the stored cells."""
        return sparse.csr_array((values, self.counts.indices, self.counts.indptr), shape=self.counts.shape)


def entropy(sizes: Integers) -> float:
    """Return the entropy in nats of groups of these sizes."""
    shares = sizes / sizes.sum()
    return max(0.0, -float(np.sum(shares * np.log(shares))))


def _expected_terms(size: int, class_sizes: Integers, n: int) -> Floats:
    """Return the mean of (s/n) log(n s/(a b)), s the overlap of random sets of a and b of n: `size` and `class_sizes`.

    The overlap is hypergeometric; its probabilities are built up by their ratios and divided by their sum, which needs
    no factorials. Vinh, Epps & Bailey 2010, Eq. 24a.
    """
    mean = size * class_sizes / n
    reach = 10 * np.sqrt(mean * (1 - size / n)) + 25  # what lies beyond is below 1e-20
    smallest = np.maximum(np.maximum(0, size + class_sizes - n), np.floor(mean - reach)).astype(np.int64)
    largest = np.minimum(np.minimum(size, class_sizes), np.ceil(mean + reach)).astype(np.int64)
    overlaps = smallest[:, None] + np.arange(int((largest - smallest).max()) + 1)
    fits, a, b = overlaps <= largest[:, None], float(size), class_sizes[:, None].astype(np.float64)
    s = np.minimum(overlaps, largest[:, None]).astype(np.float64)
    up, down = (a - s + 1) * (b - s + 1), s * (n - a - b + s)  # P(s) / P(s - 1)
    up[:, 0] = down[:, 0] = 1.0
    logs = np.cumsum(np.log(up / down), axis=1)
    weights = np.where(fits, np.exp(logs - np.max(logs, axis=1, where=fits, initial=-np.inf, keepdims=True)), 0.0)
    values = special.xlogy(s, s * n / (a * b))
    return np.asarray((weights * values).sum(axis=1) / weights.sum(axis=1) / n)


def _pairs_within(sizes: Integers) -> int:
    return int(np.sum(sizes * (sizes - 1))) // 2  # below n^2, so int64 holds it for n < 3e9


def _conditional_entropies(counts: Integers, groups: Integers, sizes: Integers) -> Floats:
    shares = counts / sizes[groups]
    sums = np.bincount(groups, weights=-shares * np.log(shares), minlength=sizes.size)
    return np.maximum(sums, 0.0)
