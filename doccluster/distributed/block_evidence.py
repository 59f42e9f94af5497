"""What measures and labels ask of a partition, by reduction over blocks: sums, similarities, and where documents sit.

Sums are exact, similarities are read in the groups of one process, a few rows at a time from the files of all rows; so
every value has the bytes that one process gives it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.base.executors import CsrFiles, Executor
from doccluster.base.progress import Progress, silent
from doccluster.distributed.matrix_block import MatrixBlock, in_their_places
from doccluster.geometry.documents import Documents, Rows
from doccluster.geometry.evidence import ClusterEvidence
from doccluster.geometry.partition import Partition
from doccluster.geometry.products import (
    Readings,
    SimilarityPass,
    count_close,
    counts_added,
    documents_together,
    gather_readings,
    groups_by_cluster,
    known_of_clusters,
    read_group,
)
from doccluster.geometry.sums import ClusterSums, ExactSums, count_presence, joined, sum_block
from doccluster.labeling.placement import Placement, place_labels

Integers = npt.NDArray[np.int64]

GROUPS_OF_A_TASK = 16


@dataclass(frozen=True, eq=False)
class RowGroup:
    """Rows that are read together, with their labels, scales and squared norms."""

    rows: Integers
    labels: Integers
    scale: npt.NDArray[np.float64]
    squared_norms: npt.NDArray[np.float64]


class BlockEvidence(ClusterEvidence):
    """The geometry of clusters of documents in blocks; sums and similarities are made where the blocks are.

    `blocks`: all documents, each once, in their order. `joined`: the same rows. `documents`: the same rows, mapped from
    disk, for what looks at a few of them.
    """

    def __init__(
        self,
        executor: Executor,
        blocks: Sequence[MatrixBlock],
        joined_rows: CsrFiles,
        documents: Documents,
        partition: Partition,
        *,
        n_threads: int | None = None,
        progress: Progress = silent,
    ) -> None:
        super().__init__(documents, partition, n_threads=n_threads, progress=progress)
        self._executor, self._blocks, self._joined = executor, blocks, joined_rows

    @cached_property
    def cluster_sums(self) -> ClusterSums:
        """Sums of rows by cluster, added in a tree."""
        parts = self.labels, self.n_clusters
        return ClusterSums(self._executor.reduce(sum_labelled, joined, self._blocks, *parts).by_cluster())

    @cached_property
    def support(self) -> Any:
        """How many documents of each cluster have each term, added in a tree."""
        parts = self.labels, self.n_clusters
        return self._executor.reduce(count_labelled, joined, self._blocks, *parts)

    @cached_property
    def squares(self) -> Any:
        """The sums of the squared weights of each cluster, added in a tree."""
        parts = self.labels, self.n_clusters
        return self._executor.reduce(sum_squared, joined, self._blocks, *parts).by_cluster()

    def documents_together(self, lists: Sequence[Integers]) -> list[Integers]:
        """Return for each list of terms in how many documents each two of them occur together, arrays (T, T)."""
        return self._executor.reduce(count_together, counts_added, self._blocks, list(lists))

    def count_close(self, chosen: Sequence[Integers], least: float) -> list[Integers]:
        """Return for some documents of each cluster how many of the cluster have at least this cosine to each."""
        whole = self._joined.open()
        rows = [whole[places] for places in chosen]
        return self._executor.reduce(close_in_block, counts_added, self._blocks, self.labels, rows, least)

    def _read(self, *, with_tables: bool) -> SimilarityPass:
        of_clusters = known_of_clusters(self.rows.squared_norms, self.partition, self.cluster_sums)
        rows = self.rows
        every = groups_by_cluster(self.partition)
        groups = [RowGroup(at, self.labels[at], rows.scale[at], rows.squared_norms[at]) for at in every]
        tasks = [groups[first : first + GROUPS_OF_A_TASK] for first in range(0, len(groups), GROUPS_OF_A_TASK)]
        shared = self._joined, self.cluster_sums, of_clusters, self.metric, with_tables
        readings = (reading for part in self._executor.map(read_groups, tasks, *shared) for reading in part)
        return gather_readings(every, readings, self.partition, with_tables=with_tables, progress=self.progress)


def sum_labelled(block: MatrixBlock, labels: Integers, n_clusters: int) -> ExactSums:
    """Return the sums by cluster of the rows of a block; `labels` are those of all documents."""
    return sum_block(block.documents.under("cosine"), np.arange(block.n_rows), labels[block.places], n_clusters)


def sum_squared(block: MatrixBlock, labels: Integers, n_clusters: int) -> ExactSums:
    """Return the sums by cluster of the squared values of a block; `labels` are those of all documents."""
    every, block_labels = np.arange(block.n_rows), labels[block.places]
    return sum_block(block.documents.under("cosine"), every, block_labels, n_clusters, squared=True)


def count_together(block: MatrixBlock, lists: list[Integers]) -> list[Integers]:
    """Return for each list of terms in how many documents of a block each two of them occur together."""
    return documents_together(block.matrix, lists, n_threads=1)


def close_in_block(block: MatrixBlock, labels: Integers, chosen: list[Any], least: float) -> list[Integers]:
    """Return how many documents of a block are close to some of their cluster; `labels` are those of all documents."""
    return count_close(block.matrix, labels[block.places], chosen, least)


def count_labelled(block: MatrixBlock, labels: Integers, n_clusters: int) -> Any:
    """Return in how many documents of a block with each label each term is; `labels` are those of all documents."""
    return count_presence(block.matrix, labels[block.places], n_clusters)


def read_groups(
    groups: Sequence[RowGroup],
    joined_rows: CsrFiles,
    sums: ClusterSums,
    of_clusters: Any,
    metric: str,
    with_tables: bool,
) -> list[Readings]:
    """Return the results of groups of rows."""
    readings, whole = [], joined_rows.open()
    for group in groups:
        rows = Rows(whole[group.rows], group.scale, group.squared_norms, True)
        every = np.arange(group.rows.size)
        readings.append(
            read_group(every, rows, group.labels, sums, of_clusters, metric=metric, with_tables=with_tables)
        )
    return readings


def place_in_blocks(
    executor: Executor, blocks: Sequence[MatrixBlock], partition: Partition, centroids: Any
) -> Placement:
    """Return how each document sits in the cluster of its label, as `place_documents` does."""
    parts = executor.map(place_rows_of, blocks, partition.labels, centroids)
    return Placement(**in_their_places(blocks, map(vars, parts)))


def place_rows_of(block: MatrixBlock, labels: Integers, centroids: Any) -> Placement:
    """Return how the documents of a block sit in their clusters; `labels` are those of all documents."""
    return place_labels(block.documents, labels[block.places], centroids, n_threads=1)
