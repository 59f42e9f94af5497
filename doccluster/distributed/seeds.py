"""Where the iterations over blocks begin: the same seeds as in one process, drawn of the same rows.

Only the rows that a draw looks at travel: a sample, or of a small collection all. k-means|| looks at all documents
where they are, a few rounds, and brings back some candidates of which the seeds are then chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.sparse_structure import document_frequencies
from doccluster.clustering.k_means.assign import assign_to_centroids
from doccluster.clustering.k_means.document_matrix import (
    DocumentMatrix,
    as_given,
    frequency_order,
    reorder,
)
from doccluster.clustering.k_means.mean_table import keeps_columns
from doccluster.clustering.k_means.means import in_given_columns, means_of_rows
from doccluster.clustering.k_means.memory import MemoryPlan
from doccluster.clustering.k_means.scalable_seeding import choose_seeds, draw_candidates, steps_to_nearest, uniform
from doccluster.clustering.k_means.seeding import affordable_seeding, kmeans_plus_plus
from doccluster.clustering.k_means.starts import clustered_means, draw_sample
from doccluster.distributed.executors import Executor
from doccluster.distributed.matrix_block import MatrixBlock
from doccluster.scratch_files import open_array, write_array

Integers = npt.NDArray[np.int64]

SEED_ENTRIES = 2**27  # of more (a gigabyte of rows) seeds are drawn from a random sample


class SeedRows:
    """The documents of all blocks in the order in which seeds are drawn, fetched as far as they are looked at.

    Parameters
    ----------
    executor : Executor
    blocks : sequence of MatrixBlock
    order : int64 array of shape (n_documents,), or None
        The documents in that order; None for their own.

    Attributes
    ----------
    most_entries : int
        Of rows with more entries in all k-means++ draws seeds from a random sample.
    """

    def __init__(self, executor: Executor, blocks: Sequence[MatrixBlock], order: Integers | None) -> None:
        self.executor, self.blocks = executor, list(blocks)
        self.n_documents = sum(block.n_rows for block in blocks)
        self.order = np.arange(self.n_documents) if order is None else order
        self.most_entries = SEED_ENTRIES

    @cached_property
    def frequencies(self) -> Integers:
        """In how many documents each term is."""
        return self.executor.reduce(block_frequencies, added, self.blocks)

    @cached_property
    def usable(self) -> Integers:
        """The documents with terms, as places in the order, ascending."""
        flags = np.concatenate(list(self.executor.map(has_terms, self.blocks)))
        return np.flatnonzero(flags[self.order])

    @property
    def n_entries(self) -> int:
        """The entries of all rows."""
        return sum(block.n_entries for block in self.blocks)

    def take(self, places: Integers) -> Any:
        """Return the rows at some places of the order, csr array."""
        wanted = self.order[places]
        ascending = np.sort(wanted)
        parts = list(self.executor.map(rows_at, self.blocks, ascending))
        rows = sparse.csr_array(sparse.vstack(parts, format="csr"))
        return sparse.csr_array(rows[np.searchsorted(ascending, wanted)])

    def documents(self, places: Integers, columns: npt.NDArray[np.int32]) -> DocumentMatrix:
        """Return these rows as the iterations of one process would read them, their columns in an order."""
        return reorder(self.take(places), columns, np.ones(places.size))


def rows_at(block: MatrixBlock, wanted: Integers) -> Any:
    """Return those rows of a block that are among places of the collection, ascending."""
    first, last = np.searchsorted(wanted, [block.first, block.first + block.n_rows])
    return sparse.csr_array(block.matrix[wanted[first:last] - block.first])


def block_frequencies(block: MatrixBlock) -> Integers:
    """Return in how many documents of a block each term is."""
    return document_frequencies(block.matrix)


def added(parts: list[Integers]) -> Integers:
    """Return the sum of whole numbers."""
    return np.asarray(np.sum(parts, axis=0))


def has_terms(block: MatrixBlock) -> npt.NDArray[np.bool_]:
    """Return whether each document of a block has a term."""
    return as_given(block.documents)[0].is_usable


def draw_seeds(
    rows: SeedRows, n_clusters: int, init: str, generator: np.random.Generator, plan: MemoryPlan, scratch: Path
) -> Any:
    """Return the centroids that a start begins at, float32 csr array: those of one process, for the same generator.

    Parameters
    ----------
    init : {"k-means++", "random", "subsample", "k-means||"}
    plan : MemoryPlan
        That of the same fit in one process.
    """
    n_terms = rows.frequencies.size
    columns = (
        np.arange(n_terms, dtype=np.int32)
        if keeps_columns(n_terms, rows.n_entries, n_clusters)
        else frequency_order(rows.frequencies)
    )
    if init == "random":
        return rows.take(np.sort(generator.permutation(rows.usable)[:n_clusters]))
    if init == "subsample":
        sample = rows.documents(draw_sample(rows.usable, n_clusters, generator), columns)
        return in_given_columns(clustered_means(sample, n_clusters, generator), sample.original)
    if init == "k-means||":
        return scalable_seeds(rows, n_clusters, generator, scratch)
    trials = affordable_seeding(rows.frequencies, rows.n_documents, n_clusters)[1]
    places = np.arange(rows.n_documents)
    n_seeding = min(plan.seed_documents or rows.n_documents, _affordable_rows(rows))
    if n_seeding < rows.n_documents:
        places = np.sort(generator.permutation(rows.usable)[: max(n_seeding, n_clusters)])
    documents = rows.documents(places, columns)
    seeds = kmeans_plus_plus(documents, n_clusters, generator, n_trials=trials)
    return in_given_columns(means_of_rows(documents, seeds), documents.original)


def _affordable_rows(rows: SeedRows) -> int:
    return max(1, int(rows.n_documents * min(1.0, rows.most_entries / max(1, rows.n_entries))))


def scalable_seeds(rows: SeedRows, n_clusters: int, generator: np.random.Generator, scratch: Path) -> Any:
    """Return the seeds of k-means||; each block keeps the distances of its documents in files of `scratch`."""
    ranks = np.empty(rows.n_documents, np.int64)
    ranks[rows.order] = np.arange(rows.n_documents)

    def join(fresh: Integers, number: int) -> int:
        return rows.executor.reduce(join_candidates, total_of, rows.blocks, rows.take(fresh), str(scratch), number)

    def draw(key: int, per_step: float, number: int) -> Integers:
        shared = ranks, key, per_step, str(scratch), number
        return np.concatenate(list(rows.executor.map(draw_from_block, rows.blocks, *shared)))

    candidates = rows.take(draw_candidates(rows.usable, n_clusters, generator, join, draw))
    weights = rows.executor.reduce(count_nearest, added, rows.blocks, candidates)
    documents, seeds = choose_seeds(candidates, weights, n_clusters, generator)
    return in_given_columns(means_of_rows(documents, seeds), documents.original)


def join_candidates(block: MatrixBlock, table: Any, folder: str, number: int) -> int:
    """Note for each document of a block its distance to the nearest candidate so far; return their sum, in steps."""
    distances = steps_to_nearest(block.documents, table, has_terms(block))
    if number:
        distances = np.minimum(distances, open_array(_distances(block, folder, number - 1)))
    write_array(_distances(block, folder, number), distances)
    return int(distances.sum())


def total_of(parts: list[int]) -> int:
    """Return the sum."""
    return sum(parts)


def draw_from_block(
    block: MatrixBlock, ranks: Integers, key: int, per_step: float, folder: str, number: int
) -> Integers:
    """Return the documents of a block that a round draws, by their places in the order of drawing."""
    own = ranks[block.places]
    chances = open_array(_distances(block, folder, number)) * per_step
    return own[uniform(own, key, number) < chances]


def count_nearest(block: MatrixBlock, candidates: Any) -> Integers:
    """Return how many documents of a block each candidate is nearest to."""
    nearest = assign_to_centroids(block.documents, candidates, n_threads=1).labels
    return np.bincount(nearest[has_terms(block)], minlength=candidates.shape[0])


def _distances(block: MatrixBlock, folder: str, number: int) -> Path:
    return Path(folder) / f"distances-{block.first}-{number}.npy"
