"""What measures, labels and the search for near-copies ask of all rows, answered where these lie in files.

Sums are exact, similarities are read in the groups of one process, a few rows at a time from the files of all rows; so
every value has the bytes that one process gives it. Signatures of near-copies are made block by block, and compared
band by band.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from doccluster.base.arrays import CsrArray, Floats, Integers
from doccluster.base.blocks import open_array, row_blocks, write_array
from doccluster.base.place import FilePlace
from doccluster.base.progress import Progress, silent
from doccluster.corpus.duplicates import N_BANDS, Hashes, band_signatures, mark_alike
from doccluster.geometry.documents import Documents, Rows
from doccluster.geometry.evidence import ClusterEvidence
from doccluster.geometry.partition import Partition
from doccluster.geometry.products import (
    ClusterNorms,
    Readings,
    count_close,
    counts_added,
    documents_together,
    read_group,
)
from doccluster.geometry.sums import ClusterSums, ExactSums, count_presence, sum_block

BLOCK_ROWS = 2**13
GROUPS_OF_A_TASK = 16


class RowGroup(NamedTuple):
    """Rows that are read together."""

    places: Integers
    labels: Integers
    scale: Floats
    squared_norms: Floats


class BlockEvidence(ClusterEvidence):
    """The geometry of clusters of csr rows in files of a place; sums and similarities are made there."""

    def __init__(
        self,
        place: FilePlace,
        documents: Documents,
        partition: Partition,
        *,
        n_threads: int | None = None,
        progress: Progress = silent,
    ) -> None:
        super().__init__(documents, partition, n_threads=n_threads, progress=progress)
        self._place, self._blocks = place, row_blocks(documents.n_documents, BLOCK_ROWS)

    def _added(self, function: Callable[..., object], *shared: object) -> Any:
        """Return the sum of a function of the rows and labels of each block, added in a tree."""
        return self._place.add(function, self._blocks, self.documents.matrix, self.labels, self.n_clusters, *shared)

    @cached_property
    def cluster_sums(self) -> ClusterSums:
        """Sums of rows by cluster, added in a tree."""
        return ClusterSums(self._added(sum_labelled, False).by_cluster())

    @cached_property
    def support(self) -> CsrArray:
        """How many documents of each cluster have each term, added in a tree."""
        return self._added(count_labelled)

    @cached_property
    def squares(self) -> CsrArray:
        """The sums of the squared weights of each cluster, added in a tree."""
        return self._added(sum_labelled, True).by_cluster()

    def documents_together(self, lists: Sequence[Integers]) -> list[Integers]:
        """Return for each list of terms in how many documents each two of them occur together, arrays (T, T)."""
        return self._place.reduce(count_together, counts_added, self._blocks, self.documents.matrix, list(lists))

    def count_close(self, chosen: Sequence[Integers], least: float) -> list[Integers]:
        """Return for some documents of each cluster how many of the cluster have at least this cosine to each."""
        matrix = self.documents.matrix
        shared = matrix, self.labels, [matrix[places] for places in chosen], least
        return self._place.reduce(close_in_block, counts_added, self._blocks, *shared)

    def _readings(self, groups: list[Integers], norms: ClusterNorms, *, with_tables: bool) -> Iterator[Readings]:
        rows = self.rows
        parts = [RowGroup(at, self.labels[at], rows.scale[at], rows.squared_norms[at]) for at in groups]
        tasks = [parts[first : first + GROUPS_OF_A_TASK] for first in range(0, len(parts), GROUPS_OF_A_TASK)]
        shared = self.documents.matrix, self.cluster_sums, norms, self.metric, with_tables
        return (reading for task in self._place.map(read_groups, tasks, *shared) for reading in task)


def sum_labelled(block: slice, matrix: CsrArray, labels: Integers, n_clusters: int, squared: bool) -> ExactSums:
    """Return the sums by cluster of some rows, or of their squared values."""
    rows = Documents(matrix[block]).under("cosine")
    return sum_block(rows, np.arange(block.stop - block.start), labels[block], n_clusters, squared=squared)


def count_labelled(block: slice, matrix: CsrArray, labels: Integers, n_clusters: int) -> CsrArray:
    """Return in how many of some documents with each label each term is."""
    return count_presence(matrix[block], labels[block], n_clusters)


def count_together(block: slice, matrix: CsrArray, lists: list[Integers]) -> list[Integers]:
    """Return for each list of terms in how many of some documents each two of them occur together."""
    return documents_together(matrix[block], lists, n_threads=1)


def close_in_block(
    block: slice, matrix: CsrArray, labels: Integers, chosen: list[CsrArray], least: float
) -> list[Integers]:
    """Return how many of some documents are close to some of their cluster."""
    return count_close(matrix[block], labels[block], chosen, least)


def read_groups(
    groups: Sequence[RowGroup], matrix: CsrArray, sums: ClusterSums, norms: ClusterNorms, metric: str, with_tables: bool
) -> list[Readings]:
    """Return the readings of groups of rows."""
    readings = []
    for group in groups:
        rows = Rows(matrix[group.places], group.scale, group.squared_norms, True)
        every = np.arange(group.places.size)
        readings.append(read_group(every, rows, group.labels, sums, norms, metric=metric, with_tables=with_tables))
    return readings


def likely_copies(place: FilePlace, matrix: CsrArray) -> Integers:
    """Return `alike_in_a_band` of csr rows in files of a place."""
    with place.for_a_while() as inner:
        blocks = row_blocks(matrix.shape[0], BLOCK_ROWS)
        paths = list(inner.map(write_signatures, blocks, matrix, str(inner.folder)))
        return np.unique(np.concatenate(list(inner.map(alike_in_stored_band, range(N_BANDS), paths, matrix))))


def write_signatures(block: slice, matrix: CsrArray, folder: str) -> str:
    """Write what near-copies of some rows are looked for by, and return the name of the file."""
    path = Path(folder) / f"signatures-{block.start}.npy"
    write_array(path, band_signatures(matrix[block]))
    return str(path)


def alike_in_stored_band(number: int, paths: list[str], matrix: CsrArray) -> Integers:
    """Return the rows that have a band and many terms in common with another one, ascending."""
    band, next_band = _band(paths, number), _band(paths, (number + 1) % N_BANDS)
    is_alike = np.zeros(band.size, dtype=bool)

    def terms_of(rows: Integers) -> CsrArray:
        pair_rows = matrix[rows]
        pair_rows.data = np.ones(pair_rows.nnz, np.int8)
        return pair_rows

    mark_alike(terms_of, band, next_band, is_alike)
    return np.flatnonzero(is_alike)


def _band(paths: list[str], number: int) -> Hashes:
    return np.concatenate([open_array(Path(path))[number] for path in paths])
