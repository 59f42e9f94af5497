"""The sums that the maximisation step of a von Mises-Fisher mixture needs: rows times posteriors, block after block.

Within a block the clusters or the terms are divided among threads, and every sum runs over the documents in order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.blocks import row_blocks, share_blocks
from doccluster.clustering.mixtures.vmf_documents import UnitDocuments
from doccluster.kernels.simd.lanes import WIDE_LINE, aligned_zeros
from doccluster.kernels.vmf_mixture import add_by_cluster, add_by_term, add_certain_rows

Floats = npt.NDArray[np.float64]

_FEW_CLUSTERS = 1.0  # of a document: with more, and one for 64 lanes, adding by term is quicker
_TASKS_PER_THREAD = 4  # where tasks are of different size


def lanes_for(n_clusters: int) -> int:
    """Return the number of clusters rounded up to whole cache lines of float64."""
    return -(-n_clusters // WIDE_LINE) * WIDE_LINE


@dataclass(frozen=True, eq=False)
class PosteriorBlock:
    """A block of documents and their posteriors.

    Attributes
    ----------
    shares : float array of shape (n_rows, n_lanes)
        Posterior probabilities.
    n_positive : int32 array of shape (n_rows,)
        How many of them are above zero.
    masses : float64 array of shape (n_lanes,)
        Their sums.
    labels : int32 array of shape (n_rows,)
        The most probable cluster.
    """

    rows: slice
    shares: npt.NDArray[Any]
    n_positive: npt.NDArray[np.int32]
    masses: Floats
    labels: npt.NDArray[np.int32]

    @property
    def is_dense(self) -> bool:
        """Whether the documents count in enough clusters that sorting them by term pays, as measured."""
        n_rows, n_lanes = self.shares.shape
        return bool(self.n_positive.sum() > n_rows * (_FEW_CLUSTERS + n_lanes / 64))


@dataclass(frozen=True, eq=False)
class WeightedSums:
    """Sums of rows times posteriors and of posteriors, with lanes beyond the clusters.

    Documents that belong to one cluster wholly are noted (in `certain`, by their label, -1 for the others) and added
    at the end, which is quicker than block by block.
    """

    table: Floats
    lane_masses: Floats
    certain: npt.NDArray[np.int32]
    n_clusters: int

    @classmethod
    def zero(cls, documents: UnitDocuments, n_clusters: int) -> WeightedSums:
        """Return sums of nothing."""
        n_lanes = lanes_for(n_clusters)
        table = aligned_zeros((documents.n_terms, n_lanes), np.float64)
        return cls(table, np.zeros(n_lanes), np.full(documents.n_documents, -1, np.int32), n_clusters)

    @property
    def values(self) -> Floats:
        """Rows times posteriors, array of shape (n_terms, n_clusters)."""
        return self.table[:, : self.n_clusters]

    @property
    def masses(self) -> Floats:
        """Sums of posteriors, array of shape (n_clusters,)."""
        return self.lane_masses[: self.n_clusters]

    def add(self, documents: UnitDocuments, block: PosteriorBlock) -> None:
        """Add a block, the quicker way; documents of one cluster are noted unless all are added by term."""
        n_threads = documents.threads_for(self.lane_masses.size)
        np.add(self.lane_masses, block.masses, out=self.lane_masses)
        if block.is_dense:
            self._add_by_term(documents, block, n_threads)
            return
        self.certain[block.rows] = np.where(block.n_positive == 1, block.labels, -1)
        if (block.n_positive > 1).any():
            self._add_by_cluster(documents, block, n_threads)

    def add_certain(self, documents: UnitDocuments) -> None:
        """Add the documents that were noted, each thread some clusters."""

        def one(lanes: slice) -> None:
            add_certain_rows(documents.rows, self.certain, lanes.start, lanes.stop, self.table)

        tasks = row_blocks(self.lane_masses.size, WIDE_LINE) if (self.certain >= 0).any() else []
        share_blocks(one, tasks, n_threads=documents.threads_for(1))

    def _add_by_cluster(self, documents: UnitDocuments, block: PosteriorBlock, n_threads: int) -> None:
        """Add a block cluster by cluster, each thread to lines of its own."""
        rows = documents.rows.block(block.rows)

        def one(lanes: slice) -> None:
            add_by_cluster(rows, block.shares, block.n_positive, lanes.start, lanes.stop, self.table)

        share_blocks(one, row_blocks(self.lane_masses.size, WIDE_LINE), n_threads=n_threads)

    def _add_by_term(self, documents: UnitDocuments, block: PosteriorBlock, n_threads: int) -> None:
        """Add a block term by term, each thread to terms of its own, about as many values in each task."""
        entries = documents.by_term(block.rows)
        cuts = np.searchsorted(entries.ends, np.linspace(0, entries.ends[-1], n_threads * _TASKS_PER_THREAD + 1)[1:-1])
        edges = np.unique(np.concatenate([[0], cuts, [documents.n_terms]])).tolist()

        def one(terms: slice) -> None:
            add_by_term(entries, terms.start, terms.stop, block.shares, self.table)

        share_blocks(one, list(map(slice, edges[:-1], edges[1:])), n_threads=n_threads)
