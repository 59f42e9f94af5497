"""The sums that the maximisation step of a von Mises-Fisher mixture needs: rows times posteriors, block after block.

Within a block the clusters or the terms are divided among threads, and every sum runs over the documents in order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.blocks import map_blocks, row_blocks
from doccluster.clustering.vmf_documents import UnitDocuments
from doccluster.kernels.cache_lines import WIDE_LINE, aligned_zeros
from doccluster.kernels.vmf_mixture import add_by_cluster, add_by_term

Floats = npt.NDArray[np.float64]

_FEW_CLUSTERS = 1.0  # of a document: with more, and one for 64 lanes, adding by term is quicker
_TASKS_PER_THREAD = 4  # where tasks are of different size


def lanes_for(n_clusters: int) -> int:
    """Return the number of clusters rounded up to whole cache lines of float64."""
    return -(-n_clusters // WIDE_LINE) * WIDE_LINE


@dataclass(frozen=True, eq=False)
class PosteriorBlock:
    """A block of documents, their posteriors, float array of shape (n_rows, n_lanes), and the sums of these."""

    rows: slice
    shares: npt.NDArray[Any]
    masses: Floats
    n_positive: int

    @property
    def is_dense(self) -> bool:
        """Whether the documents count in so many clusters that sorting them by term pays, as measured."""
        n_rows, n_lanes = self.shares.shape
        return bool(self.n_positive > n_rows * (_FEW_CLUSTERS + n_lanes / 64))


@dataclass(frozen=True, eq=False)
class WeightedSums:
    """Sums of rows times posteriors and of posteriors, with lanes beyond the clusters."""

    table: Floats
    lane_masses: Floats
    n_clusters: int

    @classmethod
    def zero(cls, documents: UnitDocuments, n_clusters: int) -> WeightedSums:
        """Return sums of nothing."""
        n_lanes = lanes_for(n_clusters)
        return cls(aligned_zeros((documents.n_terms, n_lanes), np.float64), np.zeros(n_lanes), n_clusters)

    @property
    def values(self) -> Floats:
        """Rows times posteriors, array of shape (n_terms, n_clusters)."""
        return self.table[:, : self.n_clusters]

    @property
    def masses(self) -> Floats:
        """Sums of posteriors, array of shape (n_clusters,)."""
        return self.lane_masses[: self.n_clusters]

    def add(self, documents: UnitDocuments, block: PosteriorBlock) -> None:
        """Add a block, the quicker way."""
        n_threads = documents.threads_for(self.lane_masses.size)
        np.add(self.lane_masses, block.masses, out=self.lane_masses)
        (self._add_by_term if block.is_dense else self._add_by_cluster)(documents, block, n_threads)

    def _add_by_cluster(self, documents: UnitDocuments, block: PosteriorBlock, n_threads: int) -> None:
        """Add a block cluster by cluster, each thread to lines of its own."""
        rows = (documents.values, documents.columns, documents.starts_of(block.rows))

        def one(lanes: slice) -> None:
            add_by_cluster(*rows, block.shares, lanes.start, lanes.stop, self.table)

        list(map_blocks(one, row_blocks(self.lane_masses.size, WIDE_LINE), n_threads=n_threads))

    def _add_by_term(self, documents: UnitDocuments, block: PosteriorBlock, n_threads: int) -> None:
        """Add a block term by term, each thread to terms of its own, about as many values in each task."""
        entries = documents.by_term(block.rows)
        cuts = np.searchsorted(entries.ends, np.linspace(0, entries.ends[-1], n_threads * _TASKS_PER_THREAD + 1)[1:-1])
        edges = np.unique(np.concatenate([[0], cuts, [documents.n_terms]])).tolist()
        by_term = (entries.values, entries.rows, entries.ends)

        def one(terms: slice) -> None:
            add_by_term(*by_term, terms.start, terms.stop, block.shares, self.table)

        list(map_blocks(one, map(slice, edges[:-1], edges[1:]), n_threads=n_threads))
