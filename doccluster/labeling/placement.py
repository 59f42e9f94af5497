"""How each document sits in a partition and why; which to show: the most central, and those on the border."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.arrays import CsrArray, Flags, Floats, Integers, Matrix
from doccluster.base.blocks import row_blocks
from doccluster.base.place import Place
from doccluster.base.plain_values import ShortRepr
from doccluster.base.validation import check_matrix, unit_rows
from doccluster.clustering.k_means import assign
from doccluster.errors import InputError
from doccluster.geometry import ClusterEvidence, Documents, as_documents
from doccluster.geometry.partition import Partition
from doccluster.geometry.products import cosines
from doccluster.geometry.sums import sums_by_label
from doccluster.labeling.profiles import Borderline, Representative, checked_documents
from doccluster.vectors.document_vectors import DocumentVectors

BLOCK_ROWS = 2**13  # that are placed at a time in files
MIN_STAYING = 2  # documents of a cluster, or all of it stay
NEAR_COPY = 0.9  # two texts with this cosine read as the same text
CANDIDATES_PER_PLACE = 8
BORDERLINE_MARGIN = 0.02  # with a smaller one a document could as well be in the next cluster


@dataclass(frozen=True, eq=False, repr=False)
class Placement(ShortRepr):
    """One entry per document: cosine to the own centroid, next best cluster (-1 if k = 1), cosine to it (nan)."""

    similarity: Floats
    runner_up: Integers
    runner_up_similarity: Floats

    @property
    def margin(self) -> Floats:
        """How much nearer a document is to its own centroid than to the next; negative if the next is nearer."""
        return self.similarity - self.runner_up_similarity


def place_documents(
    matrix: Matrix, partition: Partition, centroids: Matrix, *, n_threads: int | None = None, place: Place | None = None
) -> Placement:
    """Return how each document sits in `partition`, whose clusters have these unit `centroids`.

    The next best cluster is the best one that is not the document's own, also where the document is nearer to another
    centroid than to its own (a fit that was stopped, labels from elsewhere). In a `place` a few thousand are read at a
    time.
    """
    documents, centres = checked_centroids(matrix, partition, centroids)
    if place is None:
        return place_labels(documents, partition.labels, centres, n_threads=n_threads)
    blocks = row_blocks(documents.n_documents, BLOCK_ROWS)
    parts = list(place.map(place_block, blocks, documents.matrix, partition.labels, centres.matrix))
    return Placement(*(np.concatenate(columns) for columns in zip(*map(astuple, parts), strict=True)))


def place_block(block: slice, matrix: Matrix, labels: Integers, centroids: Matrix) -> Placement:
    """Return how some documents sit in their clusters; `labels` are those of all documents."""
    return place_labels(Documents(matrix[block]), labels[block], Documents(centroids), n_threads=1)


def place_labels(matrix: Matrix, labels: Integers, centroids: Matrix, *, n_threads: int | None = None) -> Placement:
    """Return how each document sits in the cluster of its label; not every cluster need have a document."""
    best, similarity = assign.place_documents(matrix, centroids, labels, n_threads=n_threads)
    is_own = best.labels == labels
    runner_up = np.where(is_own, best.runner_up, best.labels).astype(np.int64)
    runner_up_similarity = np.where(is_own, best.runner_up_similarity, best.similarity).astype(np.float64)
    return Placement(similarity, runner_up, runner_up_similarity)


def fit_none(labels: Integers, placed: Placement) -> Flags:
    """Return which documents fit no cluster; none of a cluster of which fewer than two would stay."""
    is_other = is_nearer_to_another(labels, placed)
    stay: Flags = np.bincount(labels[~is_other], minlength=int(labels.max()) + 1) >= MIN_STAYING
    return is_other & stay[labels]


def rows_that_fit_none(rows: Documents, labels: Integers, *, n_threads: int | None = None) -> Flags:
    """Return which rows fit none of the clusters 0..k-1, each with a row, by their own means."""
    partition = Partition(labels, tuple(range(int(labels.max()) + 1)))
    centroids = unit_rows(sums_by_label(rows.unit, labels, partition.n_clusters), warn=False).astype(rows.unit.dtype)
    return fit_none(labels, place_documents(rows, partition, centroids, n_threads=n_threads))


def is_nearer_to_another(labels: Integers, placed: Placement) -> Flags:
    """Return which documents are less like their cluster without them than like another cluster.

    A row of zeros is like no cluster, and nearer to none.
    """
    is_zero = (placed.similarity == 0) & (placed.runner_up_similarity == 0)
    # never where there is no other
    return np.asarray(~is_zero & (similarity_without(labels, placed.similarity) < placed.runner_up_similarity))


def similarity_without(labels: Integers, similarity: Floats) -> Floats:
    """Return how like each document its cluster is without it.

    The sum ``s`` of the unit rows of a cluster is as long as the sum of their cosines to its centroid; without row x it
    is ``s - x``, whose cosine to x is ``(x.s - 1) / |s - x|``.
    """
    length = np.bincount(labels, weights=similarity)[labels]
    product = length * similarity
    length_without = np.sqrt(np.maximum(length**2 - 2 * product + 1, 0))
    cosine: Floats = np.divide(
        product - 1, length_without, out=np.zeros_like(length_without), where=length_without > 1e-6
    )
    return cosine


def checked_centroids(matrix: Matrix, partition: Partition, centroids: Matrix) -> tuple[Documents, Documents]:
    """Return the documents and the centroids of a partition, checked unless they were before.

    Raises InputError if one cannot be used, or the partition, the centroids and the documents do not fit one another.
    """
    documents, centres = checked_documents(matrix, partition), as_documents(centroids, name="centroids")
    expected = (partition.n_clusters, documents.n_terms)
    if centres.shape != expected:
        raise InputError(
            f"has shape {centres.shape}",
            argument="centroids",
            expected=f"{expected}: one for each cluster of the partition, in the columns of the vectors",
        )
    return documents, centres


def dense_row(matrix: Matrix, row: int) -> Floats:
    """Return one row of a csr or dense matrix as a dense float64 array."""
    line = matrix[[row]]
    return np.asarray(line if isinstance(line, np.ndarray) else line.toarray(), dtype=np.float64).ravel()


def representative_documents(
    matrix: Matrix,
    partition: Partition,
    similarity: Floats,
    *,
    n_documents: int = 5,
    near_copy: float = NEAR_COPY,
    outlets: Sequence[str] | None = None,
    evidence: ClusterEvidence | None = None,
) -> list[tuple[Representative, ...]]:
    """Return for each cluster the documents nearest to its centroid, without near-copies of a listed one.

    With `outlets` the most central document of each outlet is taken before a second one of any.

    Parameters
    ----------
    matrix : Documents, or a csr or dense array of shape (n_documents, n_terms)
    partition : Partition
    similarity : float64 array of shape (n_documents,)
        The cosine of each document to the centroid of its cluster.
    n_documents : int
        The most per cluster, taken from the nearest eight times as many.
    near_copy : float
        Two documents with at least this cosine count as copies; each representative says how many the cluster has.
    outlets : sequence of str, optional
        Who published each document; those without an outlet are all taken for different ones.
    evidence : ClusterEvidence, optional
        That of the same documents and clusters, if it is there.
    """
    if n_documents == 0:
        return [()] * partition.n_clusters
    documents = checked_documents(matrix, partition)
    evidence_of_all, rows = evidence or ClusterEvidence(documents, partition), documents.unit
    chosen, counted = [], {}
    for cluster in range(partition.n_clusters):
        members = partition.members(cluster)
        # more than are shown, since copies of one text are left out
        nearest = members[np.argsort(-similarity[members], kind="stable")[: n_documents * CANDIDATES_PER_PLACE]]
        nearest_outlets = None if outlets is None else [outlets[row] for row in nearest.tolist()]
        products = _products_among(rows[nearest])
        places = _distinct(products, n_documents, near_copy, nearest_outlets)
        chosen.append(nearest[places])
        if nearest.size == members.size:
            counted[cluster] = (products[:, places] >= near_copy).sum(axis=0)
    to_count = [shown[:0] if cluster in counted else shown for cluster, shown in enumerate(chosen)]
    counts = evidence_of_all.count_close(to_count, near_copy)
    copies = [counted.get(cluster, of_cluster) for cluster, of_cluster in enumerate(counts)]
    return [
        tuple(
            Representative(int(row), float(similarity[row]), int(max(number - 1, 0)))
            for row, number in zip(shown, numbers, strict=True)
        )
        for shown, numbers in zip(chosen, copies, strict=True)
    ]


def _products_among(rows: Matrix) -> Floats:
    """Return the cosines of a few unit rows, array (n, n), without a look at terms that they do not have."""
    if not isinstance(rows, np.ndarray):
        terms, columns = np.unique(rows.indices, return_inverse=True)
        rows = sparse.csr_array((rows.data, columns, rows.indptr), shape=(rows.shape[0], terms.size))
    return cosines(rows, rows)


def _distinct(products: Floats, count: int, near_copy: float, outlets: Sequence[str] | None) -> list[int]:
    """Return candidates without near-copies of one another: the first of each outlet, then the first of all."""
    chosen: list[int] = []
    outlets_shown: set[str] = set()
    for needs_new in (True, False) if outlets is not None else (False,):
        for candidate in range(len(products)):
            outlet = "" if outlets is None else outlets[candidate]
            if len(chosen) == count or candidate in chosen or (needs_new and outlet in outlets_shown):
                continue
            if (products[candidate, chosen] < near_copy).all():
                chosen.append(candidate)
                outlets_shown.update(filter(None, [outlet]))
    return sorted(chosen)


def borderline_documents(
    partition: Partition, placement: Placement, *, n_documents: int = 5, max_margin: float = BORDERLINE_MARGIN
) -> list[tuple[Borderline, ...]]:
    """Return for each cluster the documents that hardly prefer it to another one, smallest margin first.

    Parameters
    ----------
    partition : Partition
    placement : Placement
    n_documents : int
        The most per cluster.
    max_margin : float
        Only documents with a margin below this; a cluster may have none, and a single cluster has none.
    """
    if partition.n_clusters == 1:
        return [()]
    lists, margin = [], placement.margin
    for cluster in range(partition.n_clusters):
        members = partition.members(cluster)
        close = members[margin[members] < max_margin]
        rows = close[np.argsort(margin[close], kind="stable")[:n_documents]]
        lists.append(
            tuple(
                Borderline(
                    int(row),
                    float(placement.similarity[row]),
                    int(placement.runner_up[row]),
                    float(margin[row]),
                )
                for row in rows
            )
        )
    return lists


N_TERMS = 10
N_BETWEEN = 5


@dataclass(frozen=True)
class Contribution:
    """What one term adds to a cosine: its written form, column, weight in the document and the centroid, product."""

    term: str
    column: int
    document_weight: float
    centroid_weight: float
    contribution: float


def explain_membership(
    matrix: Matrix,
    row: int,
    centroids: Matrix,
    cluster: int,
    *,
    names: npt.NDArray[np.object_] | None = None,
    n_terms: int | None = None,
) -> tuple[Contribution, ...]:
    """Return the terms that bring a document to a centroid, largest contribution first.

    The contributions ``x_t c_t`` of all shared terms sum to the cosine of the document to the centroid.

    Parameters
    ----------
    matrix : csr or dense array of shape (n_documents, n_terms), unit rows
    row : int
        The document.
    centroids : csr or dense array of shape (k, n_terms), unit rows
    cluster : int
        The centroid: the document's own cluster, or any other to compare with.
    names : array of str of shape (n_terms,), optional
        The written form of each column; without it a column is called by its number.
    n_terms : int, optional
        The most terms; all shared ones by default.

    Examples
    --------
    >>> x = np.array([[0.6, 0.8, 0.0]])
    >>> c = np.array([[0.0, 0.6, 0.8]])
    >>> explain_membership(x, 0, c, 0, names=np.array(["oil", "wheat", "gold"], dtype=object))
    (Contribution(term='wheat', column=1, document_weight=0.8, centroid_weight=0.6, contribution=0.48),)
    """
    matrix, centroids = check_matrix(matrix, name="vectors"), check_matrix(centroids, name="centroids")
    for what, number, rows in (("document", row, matrix), ("cluster", cluster, centroids)):
        if not 0 <= number < rows.shape[0]:
            raise InputError(f"there is no {what} {number}", remedy=f"give a number from 0 to {rows.shape[0] - 1}")
    if matrix.shape[1] != centroids.shape[1]:
        raise InputError(
            f"has {matrix.shape[1]} columns, centroids {centroids.shape[1]}",
            argument="vectors",
            remedy="give the same terms",
        )
    weights, centroid = dense_row(matrix, row), dense_row(centroids, cluster)
    columns = np.flatnonzero(weights)
    weights, centroid = weights[columns], centroid[columns]
    products = weights * centroid
    # the largest contributions to the cosine; equal ones in the order of columns
    order = np.lexsort((columns, -products))
    order = order[products[order] != 0][:n_terms]
    return tuple(
        Contribution(
            term=str(names[columns[index]]) if names is not None else str(columns[index]),
            column=int(columns[index]),
            document_weight=float(weights[index]),
            centroid_weight=float(centroid[index]),
            contribution=float(products[index]),
        )
        for index in order
    )


@dataclass(frozen=True)
class TermShare:
    """A term, and what part of a cosine or of a squared distance it explains."""

    term: str
    column: int
    share: float


@dataclass(frozen=True)
class Between:
    """A document of one of the two clusters, and how much nearer it is to its own centroid than to the other."""

    row: int
    cluster: int
    margin: float


@dataclass(frozen=True)
class Contrast:
    """Two clusters compared: terms they share, terms that separate them, documents between them.

    Attributes
    ----------
    similarity : float
        The cosine of the two centroids.
    shared : tuple of TermShare
        The terms with the largest part of that cosine, c_t d_t / (c . d).
    first_only, second_only : tuple of TermShare
        The terms with the largest part of the squared distance of the centroids, (c_t - d_t)^2 / |c - d|^2, among those
        that weigh more in the first, or in the second.
    between : tuple of Between
        The documents with the smallest margin.
    """

    similarity: float
    shared: tuple[TermShare, ...]
    first_only: tuple[TermShare, ...]
    second_only: tuple[TermShare, ...]
    between: tuple[Between, ...]


def contrast_clusters(
    vectors: DocumentVectors, partition: Partition, centroids: Matrix, first: int, second: int
) -> Contrast:
    """Compare two clusters: the terms they share, and those that separate them.

    Parameters
    ----------
    vectors : DocumentVectors
        The documents of the partition, row for row; without terms there are only documents.
    partition : Partition
    centroids : csr or dense array of shape (k, n_terms), unit rows
    first, second : int
        Two different clusters.
    """
    documents, centres = checked_centroids(vectors, partition, centroids)
    first_centroid, second_centroid = dense_row(centres.matrix, first), dense_row(centres.matrix, second)
    products, difference = first_centroid * second_centroid, first_centroid - second_centroid
    similarity, distance = float(products.sum()), float(difference @ difference)
    squares = difference**2
    return Contrast(
        similarity=similarity,
        shared=_largest(vectors, products, similarity),
        first_only=_largest(vectors, np.where(difference > 0, squares, 0), distance),
        second_only=_largest(vectors, np.where(difference < 0, squares, 0), distance),
        between=_between(documents.matrix, partition, first_centroid, second_centroid, first, second),
    )


def _largest(vectors: DocumentVectors, parts: Any, whole: float) -> tuple[TermShare, ...]:
    names = vectors.display_terms if vectors.display_terms is not None else vectors.terms
    if names is None or whole <= 0:
        return ()
    order = np.argsort(-parts, kind="stable")[:N_TERMS]
    return tuple(TermShare(str(names[t]), int(t), float(parts[t] / whole)) for t in order if parts[t] > 0)


def _between(
    matrix: CsrArray, partition: Partition, first_centroid: Matrix, second_centroid: Matrix, first: int, second: int
) -> tuple[Between, ...]:
    documents = []
    for cluster, centroid, next_to in (
        (first, first_centroid, second_centroid),
        (second, second_centroid, first_centroid),
    ):
        members = partition.members(cluster)
        rows = matrix[members]
        margins = rows @ centroid - rows @ next_to
        documents += [Between(int(row), cluster, float(m)) for row, m in zip(members, margins, strict=True)]
    return tuple(sorted(documents, key=lambda document: (document.margin, document.row))[:N_BETWEEN])
