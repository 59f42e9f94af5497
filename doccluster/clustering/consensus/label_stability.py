"""Which documents and clusters stay what they are from run to run, and between which clusters the others move.

Source of the stability of a cluster: Hennig 2007, "Cluster-wise assessment of cluster stability", Computational
Statistics & Data Analysis 52(1), section 2 (largest Jaccard coefficient, mean over the runs).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.short_repr import ShortRepr
from doccluster.clustering.consensus.ensemble import Ensemble
from doccluster.errors import InputError
from doccluster.partition import Partition

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class LabelStability(ShortRepr):
    """How far the documents and clusters of a partition come back in several runs.

    Attributes
    ----------
    documents : float64 array of shape (n_documents,), 0..1
        The share of the runs that put the document where most of its cluster is; nan for one without any cluster.
    clusters : float64 array of shape (n_clusters,), 0..1
        The mean over the runs of the largest Jaccard coefficient with a cluster of the run.
    others : int64 array of shape (n_documents,)
        The other cluster to which the document moves most often (the lowest on ties); -1 for one that never moves.
    other_shares : float64 array of shape (n_documents,), 0..1
        The share of the runs that put it there.
    n_runs : int
    """

    documents: Floats
    clusters: Floats
    others: npt.NDArray[np.int64]
    other_shares: Floats
    n_runs: int


@dataclass(frozen=True)
class Movement:
    """Documents of two clusters that change places from run to run.

    Attributes
    ----------
    clusters : pair of int
        The lower number first.
    documents : tuple of int
        Their row numbers, ascending.
    share : float in 0..1
        The mean share of the runs in which they are in the other cluster.
    """

    clusters: tuple[int, int]
    documents: tuple[int, ...]
    share: float


def measure_stability(
    labels: Iterable[Any], runs: Sequence[Iterable[Any]], *, n_clusters: int | None = None
) -> LabelStability:
    """Return how stable a partition is over several runs of any algorithms.

    A cluster of a run stands for the cluster of the partition that has most of its documents (the lowest on ties).

    Parameters
    ----------
    labels : one label per document
        The partition, such as that of `consensus_labels`; clusters are numbered in the order of the labels.
    runs : sequence of label arrays
        -1 means that a document has no cluster in that run.
    n_clusters : int, optional
        Where `labels` are numbers from 0 to `n_clusters` - 1, some of which perhaps no document has; such a cluster has
        the stability nan. By default only labels that occur count.

    Raises
    ------
    InputError
        If the runs and the labels are of different lengths.

    Examples
    --------
    >>> found = measure_stability([0, 0, 0, 1, 1], [[0, 0, 1, 1, 1], [1, 1, 1, 0, 0]])
    >>> found.documents, found.others
    (array([1. , 1. , 0.5, 1. , 1. ]), array([-1, -1,  1, -1, -1]))
    """
    partition = Partition.from_labels(labels)
    ensemble = Ensemble.from_labels(runs)
    if partition.n_documents != ensemble.n_documents:
        raise InputError(
            f"labels has {partition.n_documents} labels and runs[0] has {ensemble.n_documents}",
            remedy="give one label per document",
        )
    k = partition.n_clusters
    numbers = np.arange(k) if n_clusters is None else np.array(partition.names, dtype=np.int64)
    overlap = sparse.csr_array(ensemble.memberships.T @ partition.membership)  # (clusters of the runs, clusters)
    stands_for = _largest_entries(overlap)
    votes = _votes(ensemble, stands_for, k)
    known = np.asarray(votes.sum(axis=1)).ravel()
    shares = sparse.csr_array(sparse.diags_array(1.0 / np.maximum(known, 1.0)) @ votes)
    own = np.asarray(shares[np.arange(partition.n_documents), partition.labels]).ravel()
    elsewhere = sparse.csr_array(shares - shares.multiply(partition.membership))
    elsewhere.eliminate_zeros()
    others = _largest_entries(elsewhere)
    largest = np.where(others >= 0, elsewhere.max(axis=1).toarray().ravel(), 0.0)
    clusters = np.full(k if n_clusters is None else n_clusters, np.nan)
    clusters[numbers] = _jaccard(ensemble, overlap, partition)
    others = np.where(others >= 0, numbers[others], -1)
    return LabelStability(np.where(known > 0, own, np.nan), clusters, others, largest, ensemble.n_runs)


def movements(labels: npt.ArrayLike, stability: LabelStability) -> tuple[Movement, ...]:
    """Return between which clusters documents move, the most documents first.

    A document that moves between several clusters counts for the other one that it is in most often.

    Parameters
    ----------
    labels : int array of shape (n_documents,)
        As the stability was computed for them, numbered from 0.
    stability : LabelStability

    >>> labels = [0, 0, 0, 1, 1]
    >>> movements(labels, measure_stability(labels, [[0, 0, 1, 1, 1], [1, 1, 1, 0, 0]]))
    (Movement(clusters=(0, 1), documents=(2,), share=0.5),)
    """
    own = np.asarray(labels, dtype=np.int64)
    rows = np.flatnonzero(stability.others >= 0)
    ends = np.sort(np.column_stack([own[rows], stability.others[rows]]), axis=1)
    pairs, which = np.unique(ends, axis=0, return_inverse=True)
    found = [
        Movement(
            (int(low), int(high)),
            tuple(rows[which == number].tolist()),
            float(stability.other_shares[rows[which == number]].mean()),
        )
        for number, (low, high) in enumerate(pairs)
    ]
    return tuple(sorted(found, key=lambda one: (-len(one.documents), one.clusters)))


def _votes(ensemble: Ensemble, stands_for: npt.NDArray[np.int64], n_clusters: int) -> Any:
    """Return how many runs put each document in each cluster, csr array of shape (n_documents, n_clusters)."""
    run, document = np.nonzero(ensemble.labels >= 0)
    clusters = stands_for[ensemble.labels[run, document]]
    entries = sparse.coo_array((np.ones(run.size), (document, clusters)), shape=(ensemble.n_documents, n_clusters))
    return sparse.csr_array(entries)  # the votes of all runs for one cluster are added up


def _jaccard(ensemble: Ensemble, overlap: Any, partition: Partition) -> Floats:
    """Return the mean over the runs of the largest Jaccard coefficient of each cluster with those of the run."""
    entries = sparse.coo_array(overlap)
    sizes = np.asarray(ensemble.memberships.sum(axis=0)).ravel()
    union = sizes[entries.row] + partition.sizes[entries.col] - entries.data
    largest = np.zeros((ensemble.n_runs, partition.n_clusters))
    np.maximum.at(largest, (ensemble.run_of[entries.row], entries.col), entries.data / union)
    means: Floats = largest.mean(axis=0)
    return means


def _largest_entries(table: Any) -> npt.NDArray[np.int64]:
    """Return the column of the largest entry of each row, the lowest on ties; -1 for a row without entries."""
    entries = sparse.coo_array(table)
    order = np.lexsort((entries.col, -entries.data, entries.row))
    rows, first = np.unique(entries.row[order], return_index=True)
    found = np.full(table.shape[0], -1, dtype=np.int64)
    found[rows] = entries.col[order][first]
    return found
