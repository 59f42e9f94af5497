"""The second reading of the matrix: every document against every cluster, a block of rows at a time.

One reading serves all measures that need it (coherence, adherence, silhouette, the simplified silhouette,
Wemmert-Gancarski, PBM, three forms of the generalised Dunn index), so together they cost about one assignment step.
Counts of documents stand beside it: with which terms together, and close to which others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from doccluster.base.arrays import Array, CscArray, CsrArray, Flags, Floats, Integers, Matrix, is_sparse
from doccluster.base.blocks import entry_blocks, map_blocks, row_blocks
from doccluster.base.progress import Progress
from doccluster.base.sparse_structure import Csr
from doccluster.geometry.documents import Rows
from doccluster.geometry.partition import Partition
from doccluster.geometry.sums import ClusterSums, cluster_order

BLOCK_PRODUCTS = 2**17  # products held per block: 1 MiB, what the second-level cache of a core keeps
MIN_ROWS, MAX_ROWS = 64, 4096  # of a group that is compared at once
ROWS_IN_TURN = 1024  # of a group that is compared one by one

FAR = 1e300  # above every distance; below every similarity with a minus


class ClusterNorms(NamedTuple):
    """Sizes and norms of each of the k clusters, arrays of shape (k,), and the norm of all documents."""

    sizes: Floats
    inverse_norms: Floats  # 1 over the length of the sum, or 0
    mean_norms: Floats  # |mu_j|^2
    norm_totals: Floats  # the sum of the squared norms of the members
    grand_norm: float  # |mu|^2
    directions: Floats  # of shape (n_terms,): the sum of the directions of the sums


class Readings(NamedTuple):
    """The similarities and distances of a group of rows, and largest values by cluster."""

    of_rows: dict[str, Array]  # arrays in the order of the rows, by the names of `SimilarityPass`
    # of shape (clusters met, k): the largest similarity to each centroid, the summed distances to each mean
    tables: tuple[Floats, Floats] | None


@dataclass(frozen=True, eq=False)
class SimilarityPass:
    """The similarities and distances of each document, and of each pair of clusters.

    All are arrays of shape (n_documents,). `coherent`, `coherent_others`: whether no other centroid is nearer than the
    average of all (of the other) centroids. `cohesion`, `separation`: a and b of the silhouette in cosine or squared
    Euclidean distance; zeros under ``euclidean``. `own_distance`, `other_distance`, `grand_distance`: euclidean
    distance to the mean of the own, of the nearest other cluster, and of all documents. `adherence`, `distance_sums` of
    shape (k, k): the largest cosine of a document of p to centroid q, and the summed distances of the documents of p to
    mean q.
    """

    own_similarity: Floats  # cosine to the centroid of the own cluster
    coherent: Flags
    coherent_others: Flags
    cohesion: Floats
    separation: Floats
    own_distance: Floats
    other_distance: Floats
    grand_distance: Floats
    adherence: Floats | None
    distance_sums: Floats | None


def groups_by_cluster(partition: Partition, *, at_once: bool) -> list[Integers]:
    """Return the rows in groups that are read together, one cluster after the other; smaller ones for a table."""
    order, _ = cluster_order(partition)
    size = max(MIN_ROWS, min(MAX_ROWS, BLOCK_PRODUCTS // partition.n_clusters)) if at_once else ROWS_IN_TURN
    return [order[block] for block in row_blocks(partition.n_documents, size)]


def read_group(
    block: Integers,
    rows: Rows,
    labels: Integers,
    sums: ClusterSums,
    cluster_norms: ClusterNorms,
    *,
    metric: str,
    with_tables: bool,
) -> Readings:
    """Return the readings of some rows, their labels ascending."""
    clusters, q, tau = labels[block], rows.squared_norms[block], rows.tau
    sizes, inverse_norms, mean_norms, norm_totals, grand_norm, _ = cluster_norms
    k, own_sizes = sizes.size, sizes[clusters]
    of_all = block, rows, clusters, sums, cluster_norms
    if with_tables or not rows.is_sparse:
        compared = compare_at_once(*of_all, with_tables=with_tables, has_spreads=metric == "sqeuclidean")
    else:
        compared = compare_one_by_one(*of_all)
    own_products, total, to_grand, nearest, closest, least, apart, tables = compared
    own_similarity = own_products * inverse_norms[clusters]
    is_meant = (q > 0) & (own_similarity > 0)
    other_means = (total - own_similarity) / (k - 1) if k > 1 else 0.0
    norms = q + mean_norms[clusters]
    own_squared = _without_noise(norms - 2.0 * (own_products / own_sizes), tau * norms)
    # |x - mu|^2 = q + |mu|^2 - 2 x.mu, for the means of clusters above and that of all here
    to_all = q + grand_norm
    cohesion = separation = np.zeros(block.size)
    if metric == "cosine":
        inside = own_sizes - own_products
        inside = np.where(inside > tau * own_sizes, inside - (1.0 - q), 0.0)
        separation = _without_noise(1.0 - closest, tau)
    elif metric == "sqeuclidean":
        both = own_sizes * q + norm_totals[clusters]
        inside = _without_noise(both - 2.0 * own_products, tau * both)
        separation = apart
    if metric != "euclidean":
        cohesion = np.where(own_sizes > 1, inside / np.maximum(own_sizes - 1, 1), 0.0)
    of_rows = {
        "own_similarity": own_similarity,
        "coherent": is_meant & (nearest <= total / k + rows.slack),
        "coherent_others": is_meant & (nearest <= other_means + rows.slack),
        "cohesion": cohesion,
        "separation": separation,
        "own_distance": np.sqrt(own_squared),
        "other_distance": np.sqrt(least),
        "grand_distance": np.sqrt(_without_noise(to_all - 2.0 * to_grand / sizes.sum(), tau * to_all)),
    }
    return Readings(of_rows, tables)


class Compared(NamedTuple):
    """What is known of some rows and all clusters, arrays of shape (n_rows,)."""

    own: Floats  # the product with the sum of the own cluster
    total: Floats  # the sum of all cosines to centroids
    to_grand: Floats  # the product with the sum of all documents
    nearest: Floats  # the highest cosine to the centroid of another cluster
    closest: Floats  # the highest product with the mean of another one
    least: Floats  # the lowest squared distance to the mean of another one
    apart: Floats  # the lowest mean squared distance to the documents of another one, where it was asked for
    tables: tuple[Floats, Floats] | None = None  # as in `Readings`


def compare_at_once(
    block: Integers,
    rows: Rows,
    clusters: Integers,
    sums: ClusterSums,
    cluster_norms: ClusterNorms,
    *,
    with_tables: bool = False,
    has_spreads: bool = True,
) -> Compared:
    """Compare rows with all clusters by a table of their products."""
    place, q, tau = np.arange(block.size), rows.squared_norms[block][:, None], rows.tau
    sizes, inverse_norms, mean_norms, norm_totals, _, _ = cluster_norms
    first_of_cluster = np.flatnonzero(np.diff(clusters, prepend=-1))
    products = _products(rows, sums, block)
    similarity, closeness = products * inverse_norms, products / sizes
    total = similarity.sum(axis=1)
    largest = np.maximum.reduceat(similarity, first_of_cluster) if with_tables else similarity[:0]
    norms = q + mean_norms
    squared = apart = _without_noise(norms - 2.0 * closeness, tau * norms)
    if has_spreads:
        norms = q + norm_totals / sizes
        apart = _without_noise(norms - 2.0 * closeness, tau * norms)
    tables = (largest, np.add.reduceat(np.sqrt(squared), first_of_cluster)) if with_tables else None
    # with its own cluster out of the way, the largest of a row is that of its nearest other one
    similarity[place, clusters] = closeness[place, clusters] = -FAR
    squared[place, clusters] = apart[place, clusters] = FAR
    (nearest, closest), (least, apart) = (similarity.max(1), closeness.max(1)), (squared.min(1), apart.min(1))
    own, to_grand = products[place, clusters], products.sum(axis=1)
    return Compared(own, total, to_grand, nearest, closest, least, apart, tables)


def compare_one_by_one(
    block: Integers, rows: Rows, clusters: Integers, sums: ClusterSums, cluster_norms: ClusterNorms
) -> Compared:
    """Compare sparse rows with all clusters, of which many have no term of a row, without a table of products."""
    from doccluster.geometry._compare_rows import compare_rows  # compiles: who lists measures loads no compiler

    entries = _scaled(rows, block)
    sizes, inverse_norms, mean_norms, norm_totals, _, directions = cluster_norms
    of_clusters = inverse_norms, sizes, mean_norms, norm_totals / sizes
    in_head, in_tail = map(Csr.of, sums.table.parted(entries))
    of_rows, found = (clusters, rows.squared_norms[block], rows.tau), np.empty((5, block.size))
    lists, products = Csr.of(sums.table.by_term), np.zeros((2, sizes.size))
    compare_rows((in_head, in_tail), of_rows, lists, of_clusters, products, found)
    own, nearest, closest, least, apart = found
    return Compared(own, entries @ directions, entries @ sums.total, nearest, closest, least, apart)


def _without_noise(values: Floats, least: Floats | float) -> Floats:
    """Return the values, 0 where they are not above `least`: rounding noise."""
    return np.where(values > least, values, 0.0)


def known_of_clusters(squared_norms: Floats, partition: Partition, sums: ClusterSums) -> ClusterNorms:
    """Return the sums of each cluster before its documents are read, from the squared norms of all rows."""
    squared = sums.squared_norms
    norms = np.sqrt(squared)
    sizes = partition.sizes.astype(np.float64)
    norm_totals = np.bincount(partition.labels, weights=squared_norms, minlength=partition.n_clusters)
    inverse_norms = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
    grand_norm, directions = float(sums.total_squared / partition.n_documents**2), inverse_norms @ sums.sums
    totals = norm_totals.astype(np.float64)
    return ClusterNorms(sizes, inverse_norms, squared / sizes**2, totals, grand_norm, directions)


def _products(rows: Rows, sums: ClusterSums, block: Integers) -> Floats:
    if not rows.is_sparse:
        return np.asarray(rows.dense_block(block) @ sums.sums.T)
    return sums.table.products(_scaled(rows, block))


def _scaled(rows: Rows, block: Integers) -> CsrArray:
    """Return some scaled rows of a csr matrix in float64."""
    entries = rows.matrix[block]
    values = entries.data * np.repeat(rows.scale[block], np.diff(entries.indptr))
    return sparse.csr_array((values, entries.indices, entries.indptr), shape=entries.shape)


def gather_readings(
    blocks: Sequence[Integers],
    parts: Iterator[Readings],
    partition: Partition,
    *,
    with_tables: bool,
    progress: Progress,
) -> SimilarityPass:
    """Put what the blocks say in the places of their documents and clusters."""
    n, k = partition.n_documents, partition.n_clusters
    arrays: dict[str, Any] = {}
    largest, distances = (np.full((k, k), -np.inf), np.zeros((k, k))) if with_tables else (np.empty(0), np.empty(0))
    for n_done, (block, reading) in enumerate(zip(blocks, parts, strict=True), start=1):
        for name, values in reading.of_rows.items():
            arrays.setdefault(name, np.empty(n, values.dtype))[block] = values
        if reading.tables is not None:
            lines = slice(partition.labels[block[0]], partition.labels[block[-1]] + 1)
            np.maximum(largest[lines], reading.tables[0], out=largest[lines])
            distances[lines] += reading.tables[1]
        progress("similarities", n_done, len(blocks))
    adherence, distance_sums = (largest, distances) if with_tables else (None, None)
    return SimilarityPass(**arrays, adherence=adherence, distance_sums=distance_sums)


DENSE_ROWS = 4096


def documents_together(matrix: Matrix, lists: Sequence[Integers], *, n_threads: int | None = None) -> list[Integers]:
    """Return for each list of terms in how many rows each two of them are above 0, int64 arrays of shape (T, T).

    The diagonal says in how many rows each term is. One pass over the matrix, whose rows are read in pieces.

    `matrix`: csr array or dense array of shape (n_documents, n_terms).

    >>> rows = np.array([[2.0, 1.0, 0.0], [1.0, 0.0, 3.0]])
    >>> [counts.tolist() for counts in documents_together(rows, [np.array([0, 2])])]
    [[[2, 1], [1, 1]]]
    """
    columns = np.unique(np.concatenate(lists)) if len(lists) else np.empty(0, np.int64)
    places = [np.searchsorted(columns, terms) for terms in lists]
    pieces = entry_blocks(matrix.indptr) if is_sparse(matrix) else row_blocks(matrix.shape[0], DENSE_ROWS)

    def one(rows: slice) -> list[Integers]:
        is_there: Any = matrix[rows][:, columns] > 0
        if is_sparse(matrix):
            by_term = is_there.tocsc()
            return [_counted_together(by_term, place) for place in places]
        held = is_there.astype(np.float64)  # products of which are exact below 2^53, and quick
        return [np.rint(held[:, place].T @ held[:, place]).astype(np.int64) for place in places]

    total = [np.zeros((terms.size, terms.size), np.int64) for terms in lists]
    for counts in map_blocks(one, pieces, n_threads=n_threads):
        for sums, block_sums in zip(total, counts, strict=True):
            sums += block_sums
    return total


def _counted_together(by_term: CscArray, terms: Integers) -> Integers:
    """Return in how many rows of a csc array each two of a few columns have a value; only rows that have any count."""
    starts, none = by_term.indptr, by_term.indices[:0]
    rows = np.concatenate([none, *(by_term.indices[starts[term] : starts[term + 1]] for term in terms)])
    # of all rows only the places of these are written and read
    place, numbers = np.empty(by_term.shape[0], np.int64), np.arange(rows.size)
    place[rows] = numbers
    different = rows[place[rows] == numbers]
    place[different] = numbers[: different.size]
    held = np.zeros((different.size, terms.size))
    held[place[rows], np.repeat(np.arange(terms.size), starts[terms + 1] - starts[terms])] = 1.0
    return np.asarray(np.rint(held.T @ held), dtype=np.int64)


def counts_added(parts: list[list[Integers]]) -> list[Integers]:
    """Return the counts of several blocks of documents together."""
    return [np.asarray(np.sum(counts, axis=0)) for counts in zip(*parts, strict=True)]


def count_close(matrix: Matrix, labels: Integers, chosen: Sequence[CsrArray], least: float) -> list[Integers]:
    """Return for each cluster how many of its rows have at least some cosine to each of a few unit rows.

    `matrix`: csr array or dense array of shape (n_documents, n_terms), unit rows. `labels`: int64 array of shape
    (n_documents,). `chosen` of shape (any, n_terms): those of each cluster, in the form of `matrix`.

    >>> rows = np.array([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]])
    >>> [counts.tolist() for counts in count_close(rows, np.array([0, 0, 1]), [rows[:2], rows[2:]], 0.9)]
    [[1, 1], [1]]
    """
    counts = [np.zeros(rows.shape[0], np.int64) for rows in chosen]
    order = np.argsort(labels, kind="stable")
    edges = np.searchsorted(labels[order], np.arange(len(chosen) + 1))
    for cluster in np.flatnonzero(np.diff(edges) * [part.size for part in counts]).tolist():
        members = order[edges[cluster] : edges[cluster + 1]]
        counts[cluster] += (cosines(matrix[members], chosen[cluster]) >= least).sum(axis=0)
    return counts


def cosines(rows: CsrArray, columns: Any) -> Floats:
    """Return the cosines of some unit rows to a few others; dense, but only as wide as the few."""
    product = rows @ columns.T
    return np.asarray(product if isinstance(product, np.ndarray) else product.toarray(), dtype=np.float64)
