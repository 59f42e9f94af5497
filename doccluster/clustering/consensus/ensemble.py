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

from doccluster.base.short_repr import ShortRepr
from doccluster.errors import InputError
from doccluster.partition import Partition
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


def co_association_rows(ensemble: Ensemble) -> Any:
    """Return unit rows whose cosines are the shares of the runs that put two documents together.

    Where both documents have a cluster in every run; float32 csr array of shape (n_documents, clusters of all runs).
    """
    return unit_rows(ensemble.memberships, warn=False).astype(np.float32)


def _is_noise(name: Any) -> bool:
    return not isinstance(name, str) and bool(name == NO_CLUSTER)
