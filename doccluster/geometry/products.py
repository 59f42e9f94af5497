"""The second reading of the matrix: every document against every cluster, a block of rows at a time.

One reading serves all measures that need it (coherence, adherence, silhouette, the simplified silhouette,
Wemmert-Gancarski, PBM, three forms of the generalised Dunn index), so together they cost about one assignment step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.base.progress import Progress
from doccluster.blocks import map_blocks, row_blocks
from doccluster.geometry.rows import Rows
from doccluster.geometry.similarity_extremes import (
    ClusterNorms,
    ClusterReadings,
    Labelled,
    RowReadings,
    empty_readings,
    read_products,
)
from doccluster.geometry.sums import ClusterSums, cluster_order
from doccluster.geometry.table import products_with_clusters
from doccluster.kernels.arguments import metric_code
from doccluster.partition import Partition

BLOCK_PRODUCTS = 2**17  # products held per block: 1 MiB, what the second-level cache of a core keeps
LEAST_ROWS, MOST_ROWS = 64, 4096  # of a group that is read together

FloatArray = npt.NDArray[np.float64]
Readings = tuple[RowReadings, ClusterReadings]


@dataclass(frozen=True, eq=False)
class SimilarityPass:
    """What one reading says of each document, and of each pair of clusters.

    All are arrays of shape (n_documents,). `coherent`, `coherent_others`: whether no other centroid is nearer than the
    average of all (of the other) centroids. `cohesion`, `separation`: a and b of the silhouette in cosine or squared
    Euclidean distance; zeros under ``euclidean``. `own_distance`, `other_distance`, `grand_distance`: euclidean
    distance to the mean of the own, of the nearest other cluster, and of all documents. `adherence`, `distance_sums` of
    shape (k, k): the largest cosine of a document of p to centroid q, and the summed distances of the documents of p to
    mean q.
    """

    own_similarity: FloatArray  # cosine to the centroid of the own cluster
    coherent: npt.NDArray[np.bool_]
    coherent_others: npt.NDArray[np.bool_]
    cohesion: FloatArray
    separation: FloatArray
    own_distance: FloatArray
    other_distance: FloatArray
    grand_distance: FloatArray
    adherence: FloatArray | None
    distance_sums: FloatArray | None


def read_similarities(
    rows: Rows,
    partition: Partition,
    sums: ClusterSums,
    *,
    metric: str,
    with_tables: bool,
    n_threads: int | None,
    progress: Progress,
) -> SimilarityPass:
    """Read the matrix once and return what it says; O(nnz k) time, O(block k + n) memory besides the tables."""
    blocks = groups_by_cluster(partition)
    known = known_of_clusters(rows.squared_norms, partition, sums)

    def read(block: npt.NDArray[np.int64]) -> Readings:
        return read_group(block, rows, partition.labels, sums, known, metric=metric, with_tables=with_tables)

    readings = map_blocks(read, blocks, n_threads=n_threads)
    return gather_readings(blocks, readings, partition, with_tables=with_tables, progress=progress)


def groups_by_cluster(partition: Partition) -> list[npt.NDArray[np.int64]]:
    """Return the rows in groups that are read together, one cluster after the other."""
    order, _ = cluster_order(partition)
    size = max(LEAST_ROWS, min(MOST_ROWS, BLOCK_PRODUCTS // partition.n_clusters))
    return [order[block] for block in row_blocks(partition.n_documents, size)]


def read_group(
    block: npt.NDArray[np.int64],
    rows: Rows,
    labels: npt.NDArray[np.int64],
    sums: ClusterSums,
    known: ClusterNorms,
    *,
    metric: str,
    with_tables: bool,
) -> Readings:
    """Return the products of some rows, their labels ascending."""
    documents = Labelled(labels, rows.squared_norms, rows.tau, rows.slack)
    n_met = int(labels[block[-1]]) - int(labels[block[0]]) + 1
    readings, tables = empty_readings(block.size, n_met if with_tables else 0, known.sizes.size)
    read_products(block, _products(rows, sums, block), documents, known, metric_code(metric), readings, tables)
    return readings, tables


def known_of_clusters(squared_norms: FloatArray, partition: Partition, sums: ClusterSums) -> ClusterNorms:
    """Return the sums of each cluster before its documents are read, from the squared norms of all rows."""
    squared = sums.squared_norms
    norms = np.sqrt(squared)
    sizes = partition.sizes.astype(np.float64)
    norm_totals = np.bincount(partition.labels, weights=squared_norms, minlength=partition.n_clusters)
    return ClusterNorms(
        sizes,
        1.0 / sizes,
        np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0),
        squared / sizes**2,
        norm_totals.astype(np.float64, copy=False),
        norm_totals / sizes,
        float(sums.total_squared / partition.n_documents**2),
    )


def _products(rows: Rows, sums: ClusterSums, block: npt.NDArray[np.int64]) -> FloatArray:
    if not rows.is_sparse:
        return np.asarray(rows.dense_block(block) @ sums.sums.T)
    return np.asarray(products_with_clusters(block, rows.arrays, rows.scale, sums.table.arrays))


def gather_readings(
    blocks: Sequence[npt.NDArray[np.int64]],
    parts: Iterator[Readings],
    partition: Partition,
    *,
    with_tables: bool,
    progress: Progress,
) -> SimilarityPass:
    """Put what the blocks say in the places of their documents and clusters."""
    n, k = partition.n_documents, partition.n_clusters
    found: dict[str, Any] = {}
    largest = np.full((k, k), -np.inf) if with_tables else None
    distances = np.zeros((k, k)) if with_tables else None
    for done, (block, (readings, tables)) in enumerate(zip(blocks, parts, strict=True), start=1):
        for name, values in readings._asdict().items():
            found.setdefault(name, np.empty(n, values.dtype))[block] = values
        if largest is not None and distances is not None:
            lines = slice(partition.labels[block[0]], partition.labels[block[-1]] + 1)
            np.maximum(largest[lines], tables.largest, out=largest[lines])
            distances[lines] += tables.distances
        progress("similarities", done, len(blocks))
    return SimilarityPass(**found, adherence=largest, distance_sums=distances)
