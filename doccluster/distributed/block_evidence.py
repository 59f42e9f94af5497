"""What measures and labels ask of a partition, by reduction over blocks: sums, similarities, and where documents sit.

Sums are exact, similarities are read in the groups of one process, a few rows at a time from the files of all rows; so
every value has the bytes that one process gives it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.distributed.executors import Executor
from doccluster.distributed.matrix_block import MatrixBlock, csr_over
from doccluster.geometry.documents import Documents
from doccluster.geometry.evidence import ClusterEvidence
from doccluster.geometry.products import (
    Readings,
    SimilarityPass,
    gather_readings,
    groups_by_cluster,
    known_of_clusters,
    read_group,
)
from doccluster.geometry.rows import Rows
from doccluster.geometry.sums import ClusterSums, ExactSums, count_presence, joined, sum_block
from doccluster.labeling.placement import Placement, place_labels
from doccluster.partition import Partition
from doccluster.progress import Progress, silent
from doccluster.scratch_files import open_array

Integers = npt.NDArray[np.int64]

GROUPS_OF_A_TASK = 16


@dataclass(frozen=True)
class JoinedRows:
    """The rows of all blocks in the files that `joined_rows` wrote, which every worker sees."""

    folder: str
    n_columns: int

    def take(self, rows: Integers) -> Any:
        """Return some rows, csr array; of the files only their pages are read."""
        data, indices, starts = (
            open_array(Path(self.folder) / f"{name}.npy") for name in ("data", "indices", "starts")
        )
        first = starts[rows]
        ends = np.concatenate([[0], np.cumsum(starts[rows + 1] - first)])
        at = np.repeat(first - ends[:-1], np.diff(ends)) + np.arange(ends[-1])
        return csr_over(data[at], indices[at], ends, (rows.size, self.n_columns))


@dataclass(frozen=True, eq=False)
class RowGroup:
    """Rows that are read together, with their labels, scales and squared norms."""

    rows: Integers
    labels: Integers
    scale: npt.NDArray[np.float64]
    squared_norms: npt.NDArray[np.float64]


class BlockEvidence(ClusterEvidence):
    """The geometry of clusters of documents in blocks; sums and similarities are made where the blocks are.

    Parameters
    ----------
    executor : Executor
    blocks : sequence of MatrixBlock
        All documents, each once, in their order.
    joined : JoinedRows
        The same rows.
    documents : Documents
        The same rows, mapped from disk, for what looks at a few of them.
    """

    def __init__(
        self,
        executor: Executor,
        blocks: Sequence[MatrixBlock],
        joined_rows: JoinedRows,
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
        return self._executor.reduce(count_labelled, joined, self._blocks, *parts).by_cluster()

    def _read(self, *, with_tables: bool) -> SimilarityPass:
        known = known_of_clusters(self.rows.squared_norms, self.partition, self.cluster_sums)
        rows = self.rows
        every = groups_by_cluster(self.partition)
        groups = [RowGroup(at, self.labels[at], rows.scale[at], rows.squared_norms[at]) for at in every]
        tasks = [groups[first : first + GROUPS_OF_A_TASK] for first in range(0, len(groups), GROUPS_OF_A_TASK)]
        shared = self._joined, self.cluster_sums, known, self.metric, with_tables
        found = (one for part in self._executor.map(read_groups, tasks, *shared) for one in part)
        return gather_readings(every, found, self.partition, with_tables=with_tables, progress=self.progress)


def sum_labelled(block: MatrixBlock, labels: Integers, n_clusters: int) -> ExactSums:
    """Return the sums by cluster of the rows of a block; `labels` are those of all documents."""
    return sum_block(block.documents.under("cosine"), np.arange(block.n_rows), labels[block.places], n_clusters)


def count_labelled(block: MatrixBlock, labels: Integers, n_clusters: int) -> ExactSums:
    """Return in how many documents of a block with each label each term is; `labels` are those of all documents."""
    return count_presence(block.matrix, labels[block.places], n_clusters)


def read_groups(
    groups: Sequence[RowGroup], joined_rows: JoinedRows, sums: ClusterSums, known: Any, metric: str, with_tables: bool
) -> list[Readings]:
    """Return what groups of rows say."""
    found = []
    for group in groups:
        rows = Rows(joined_rows.take(group.rows), group.scale, group.squared_norms, True)
        every = np.arange(group.rows.size)
        found.append(read_group(every, rows, group.labels, sums, known, metric=metric, with_tables=with_tables))
    return found


def place_in_blocks(
    executor: Executor, blocks: Sequence[MatrixBlock], partition: Partition, centroids: Any
) -> Placement:
    """Return how each document sits in the cluster of its label, as `place_documents` does."""
    parts = list(executor.map(place_rows_of, blocks, partition.labels, centroids))
    names = ("similarity", "runner_up", "runner_up_similarity")
    return Placement(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def place_rows_of(block: MatrixBlock, labels: Integers, centroids: Any) -> Placement:
    """Return how the documents of a block sit in their clusters; `labels` are those of all documents."""
    return place_labels(block.documents, labels[block.places], centroids, n_threads=1)
