"""Several partitions of the same documents as one sparse matrix: how far they agree, and who stays with whom.

Every cluster of every run is a column and every document has one entry for each run, so nothing grows with the square
of the number of documents.

Source: Strehl & Ghosh 2002, "Cluster ensembles: a knowledge reuse framework for combining multiple partitions", JMLR 3.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.errors import InputError
from doccluster.partition import Partition
from doccluster.short_repr import ShortRepr
from doccluster.validation import unit_rows

Floats = npt.NDArray[np.float64]
NO_CLUSTER = -1  # scikit-learn's label of noise


@dataclass(frozen=True, eq=False, repr=False)
class Ensemble(ShortRepr):
    """The partitions that several runs found.

    Attributes
    ----------
    memberships : csr array of shape (n_documents, n_clusters of all runs), ones
        A document of the label -1 has no entry for that run.
    run_of : int64 array of shape (n_clusters of all runs,), ascending
        The run that each column is of.
    labels : int64 array of shape (n_runs, n_documents)
        The column of each document in each run; -1 for none.
    """

    memberships: Any
    run_of: npt.NDArray[np.int64]
    labels: npt.NDArray[np.int64]

    @classmethod
    def from_labels(cls, runs: Sequence[Iterable[Any]]) -> Ensemble:
        """Return the ensemble of runs, each one label per document, of any kind; -1 means that it has no cluster.

        Raises InputError if there is no run, they are of different lengths, or labels are missing.

        Examples
        --------
        >>> Ensemble.from_labels([[5, 5, 2], ["a", "b", "b"]]).labels
        array([[1, 1, 0],
               [2, 3, 3]])
        """
        if not len(runs):
            raise InputError("runs is empty", remedy="give the labels of at least one run")
        numbered: list[npt.NDArray[np.int64]] = []
        first = 0
        for number, given in enumerate(runs):
            partition = Partition.from_labels(given, name=f"runs[{number}]")
            if numbered and partition.n_documents != numbered[0].size:
                raise InputError(
                    f"runs[{number}] has {partition.n_documents} labels and runs[0] has {numbered[0].size}",
                    remedy="give one label per document in every run",
                )
            is_cluster = np.array([not _is_noise(name) for name in partition.names])
            column = np.where(is_cluster, first + np.cumsum(is_cluster) - 1, NO_CLUSTER)
            numbered.append(column[partition.labels])
            first += int(is_cluster.sum())
        labels = np.stack(numbered)
        run, document = np.nonzero(labels >= 0)
        columns = labels[run, document]
        shape = labels.shape[1], first
        memberships = sparse.csr_array(sparse.coo_array((np.ones(run.size), (document, columns)), shape=shape))
        run_of = np.zeros(first, dtype=np.int64)
        run_of[columns] = run
        return cls(memberships, run_of, labels)

    @property
    def n_runs(self) -> int:
        """The number of runs."""
        return int(self.labels.shape[0])

    @property
    def n_documents(self) -> int:
        """The number of documents."""
        return int(self.labels.shape[1])


def agreement(ensemble: Ensemble) -> Floats:
    """Return how far each two runs agree, float64 array of shape (n_runs, n_runs), 0..1.

    It is normalised mutual information with the arithmetic mean of the entropies, over the documents that have a
    cluster in both runs; 1 where both runs have only one cluster there, nan where there is no such document.
    """
    runs = ensemble.n_runs
    both = sparse.coo_array(ensemble.memberships.T @ ensemble.memberships)
    run, other = ensemble.run_of[both.row], ensemble.run_of[both.col]
    pair = run * runs + other
    common = np.bincount(pair, both.data, runs * runs)
    sizes = np.bincount(both.row * runs + other, both.data, ensemble.run_of.size * runs)
    own = (np.repeat(ensemble.run_of, runs) * runs) + np.tile(np.arange(runs), ensemble.run_of.size)

    def entropy(counts: npt.NDArray[Any], of_pair: npt.NDArray[Any]) -> Floats:
        """Return the entropy of the counts of each pair of runs, in nats; nan without documents."""
        held = counts > 0
        sums = np.bincount(of_pair[held], counts[held] * np.log(counts[held]), runs * runs)
        logs = np.log(common, out=np.zeros_like(common), where=common > 0)
        return logs - np.divide(sums, common, out=np.full_like(common, np.nan), where=common > 0)

    marginal = entropy(sizes, own).reshape(runs, runs)
    total = marginal + marginal.T
    shared = total - entropy(both.data, pair).reshape(runs, runs)
    found = np.divide(2.0 * shared, total, out=np.ones_like(total), where=~(total <= 0))
    return np.clip((found + found.T) / 2.0, 0.0, 1.0)


def co_association_rows(ensemble: Ensemble) -> Any:
    """Return unit rows whose cosines are the shares of the runs that put two documents together.

    Where both documents have a cluster in every run; float32 csr array of shape (n_documents, clusters of all runs).
    """
    return unit_rows(ensemble.memberships, warn=False).astype(np.float32)


def medoid_run(ensemble: Ensemble) -> int:
    """Return the run whose mean agreement with the others is highest, the first on ties."""
    values = agreement(ensemble)
    np.fill_diagonal(values, np.nan)
    known = ~np.isnan(values)
    sums = np.where(known, values, 0.0).sum(axis=1)
    return int(np.divide(sums, known.sum(axis=1), out=np.zeros_like(sums), where=known.any(axis=1)).argmax())


def medoid_centroids(ensemble: Ensemble, n_clusters: int) -> Any:
    """Return the sums of the co-association rows by cluster of the medoid run, for k-means to begin from.

    csr array of shape (n_clusters, clusters of all runs); None where that run has fewer clusters, or documents without.
    """
    labels = ensemble.labels[medoid_run(ensemble)]
    names, clusters = np.unique(labels, return_inverse=True)
    if names.size != n_clusters or names[0] == NO_CLUSTER:
        return None
    n = ensemble.n_documents
    members = sparse.csr_array((np.ones(n, np.float32), (clusters, np.arange(n))), shape=(n_clusters, n))
    return sparse.csr_array(members @ co_association_rows(ensemble))


def _is_noise(name: Any) -> bool:
    return not isinstance(name, str) and bool(name == NO_CLUSTER)
