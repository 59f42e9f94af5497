"""Which centroid is nearest to each document, and which is next: for `predict`, `transform` and new documents.

Centroids are sparse unit rows here: those that are given, that lie in files, or that are no sums of documents. They
serve where `RunningSums` do not apply: for the first sweep of a start, `predict`, blocks of documents elsewhere, where
dense sums would take too much memory, and where the members of a cluster cancel out and it keeps the centroid it had.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.arrays import AnyIntegers, Array, CsrArray, Floats, Integers, MatrixLike
from doccluster.base.blocks import entry_blocks, resolve_threads, row_blocks
from doccluster.base.plain_values import ShortRepr
from doccluster.clustering.k_means.sweep import NearestCentroids, SweepTable
from doccluster.clustering.k_means.term_places import DOWN, TermPlaces, cells_of
from doccluster.clustering.k_means.unit_documents import UnitDocuments, unit_documents, unit_rows_of
from doccluster.errors import InputError
from doccluster.geometry.documents import Documents, as_documents

COSINES_AT_ONCE = 2**20  # 8 MiB

Result = TypeVar("Result")
CANCELLED = 1e-9  # a sum this short beside the weight of its members is rounding: they have no direction together
ENTRIES_AT_ONCE = 2**18

Labels = npt.NDArray[np.int32]


class SparseMeans:
    """Float32 unit rows, csr array of shape (n_clusters, n_terms), and the table that sweeps read.

    `lengths` of shape (n_clusters,): those of the sums that they were made of; 0 for given ones.
    """

    def __init__(self, means: CsrArray, places: TermPlaces, lengths: Floats | None = None) -> None:
        self.means, self.places = sparse.csr_array(means, dtype=np.float32), places
        self.lengths = np.zeros(means.shape[0]) if lengths is None else lengths
        self._tables: dict[bool, SweepTable] = {}  # for documents with and without values below zero

    def table_for(self, documents: UnitDocuments) -> SweepTable:
        """Return the table that sweeps of the documents read, made when it is first asked for."""
        is_short = documents.have_short_cells(self.places) and bool(self.means.data.min(initial=0) >= 0)
        if is_short not in self._tables:
            self._tables[is_short] = self._make_table(is_short=is_short)
        return self._tables[is_short]

    def _make_table(self, *, is_short: bool) -> SweepTable:
        means, places = self.means, self.places
        table = SweepTable.empty(places, is_short=is_short)
        # the means by term: common terms fill the cells of their lines, a block of lines at a time, rare ones the lists
        columns, values = places.number[means.indices].astype(np.int32), means.data * np.float32(DOWN)
        by_term = sparse.csr_array((values, columns, means.indptr), shape=means.shape).tocsc()
        last = by_term.indptr[places.n_head]
        cells = table.cells.reshape(places.n_head, places.n_lanes)
        for block in entry_blocks(by_term.indptr[: places.n_head + 1], ENTRIES_AT_ONCE):
            terms = np.repeat(np.arange(block.start, block.stop), np.diff(by_term.indptr[block.start : block.stop + 1]))
            here = slice(by_term.indptr[block.start], by_term.indptr[block.stop])
            cells[terms, by_term.indices[here]] = cells_of(by_term.data[here], cells.dtype)
        return table._replace(
            list_starts=(by_term.indptr[places.n_head :] - last).astype(np.uint64),
            list_lanes=by_term.indices[last:].astype(np.int32, copy=False),
            list_values=by_term.data[last:],
        )

    def cosines(self, documents: UnitDocuments, rows: Integers, clusters: Integers, *, is_exact: bool) -> Floats:
        """Return the cosine of each of some documents to the mean of a cluster, in the order of the columns."""
        means, n_terms, starts = self.means, documents.n_terms, documents.rows.indptr
        # cluster and column of each entry of the means as one number, ascending: entries of rows are looked up in these
        keys = np.repeat(np.arange(means.shape[0]) * n_terms, np.diff(means.indptr)) + means.indices
        if not keys.size:
            return np.zeros(rows.size)
        cosines, sizes = [], starts[rows + 1] - starts[rows]
        for block in entry_blocks(np.concatenate([[0], np.cumsum(sizes)]), ENTRIES_AT_ONCE):
            pairs = np.repeat(np.arange(block.stop - block.start), sizes[block])
            matrix = documents.matrix[rows[block]]
            row_keys = clusters[block][pairs] * n_terms + matrix.indices
            at = np.minimum(np.searchsorted(keys, row_keys), keys.size - 1)
            products = matrix.data * np.where(keys[at] == row_keys, means.data[at], 0).astype(np.float64)
            cosines.append(np.bincount(pairs, products, block.stop - block.start))
        return np.concatenate(cosines)

    def following(self, documents: UnitDocuments, labels: Labels) -> SparseMeans:
        """Return the means of the documents with each label; a cluster whose members cancel out keeps what it had."""
        matrix, k = documents.matrix, self.places.n_clusters
        self._tables = {}  # the next sweep is of what follows
        # the members of each cluster side by side, and clusters added up in blocks of about as many entries
        order, starts = np.argsort(labels, kind="stable"), np.zeros(k + 1, np.int64)
        np.cumsum(np.bincount(labels, minlength=k), out=starts[1:])
        entries = np.concatenate([[0], np.cumsum(np.diff(matrix.indptr)[order])])[starts]
        means, lengths = [], np.empty(k)
        for block in entry_blocks(entries, ENTRIES_AT_ONCE):
            rows = order[starts[block.start] : starts[block.stop]]
            ends = starts[block.start : block.stop + 1] - starts[block.start]
            members = sparse.csr_array((documents.weights[rows], np.arange(rows.size), ends))
            sums = sparse.csr_array(members @ matrix[rows].astype(np.float64))  # adds the members in ascending order
            sums.sort_indices()
            clusters = np.repeat(np.arange(sums.shape[0]), np.diff(sums.indptr))
            norms = lengths[block] = np.sqrt(np.bincount(clusters, sums.data**2, sums.shape[0]))
            stays = norms <= CANCELLED * np.asarray(members.sum(axis=1)).ravel()
            values = (sums.data / np.where(stays, 1, norms)[clusters]).astype(np.float32)
            directions = sparse.csr_array((values, sums.indices, sums.indptr), shape=sums.shape)
            if stays.any():  # takes these rows from the means of before
                both = sparse.vstack([directions, self.means[block]], format="csr")
                directions = both[np.arange(stays.size) + stays.size * stays]
            means.append(directions)
        together = sparse.csr_array(sparse.vstack(means, format="csr"))
        together.eliminate_zeros()
        return SparseMeans(together, self.places, lengths)

    def to_csr(self) -> sparse.csr_array:
        """Return the means."""
        return self.means


@dataclass(frozen=True, eq=False, repr=False)
class Assignment(ShortRepr):
    """The nearest centroid of each document and the one after it.

    Attributes
    ----------
    labels : int32 array of shape (n_documents,)
    similarity : float64 array of shape (n_documents,)
        Cosine to the nearest centroid, -1..1; 0 for a document without terms.
    runner_up : int32 array of shape (n_documents,)
        The second nearest centroid, -1 when there is only one.
    runner_up_similarity : float64 array of shape (n_documents,)
        Cosine to it; nan when there is only one.
    """

    labels: npt.NDArray[np.int32]
    similarity: Floats
    runner_up: npt.NDArray[np.int32]
    runner_up_similarity: Floats


def assign_to_centroids(
    matrix: MatrixLike | Documents, centroids: MatrixLike, *, n_threads: int | None = None
) -> Assignment:
    """Return the nearest and the second nearest centroid of each document by cosine, lowest index on ties.

    Parameters
    ----------
    matrix : csr or dense matrix of shape (n_documents, n_terms)
        Rows need not be unit.
    centroids : csr or dense matrix of shape (n_clusters, n_terms)
        Rows need not be unit; a zero row is at cosine 0 from everything.
    n_threads : int, optional
        All processors by default; the result does not depend on it.

    Raises
    ------
    InputError
        If a matrix is not finite and numeric, or they differ in their number of columns.

    Examples
    --------
    >>> assign_to_centroids([[1.0, 0.1], [0.0, 2.0]], [[1.0, 0.0], [0.0, 1.0]]).labels
    array([0, 1], dtype=int32)
    """
    return place_documents(matrix, centroids, n_threads=n_threads)[0]


def place_documents(
    matrix: MatrixLike | Documents,
    centroids: MatrixLike,
    labels: AnyIntegers | None = None,
    *,
    n_threads: int | None = None,
) -> tuple[Assignment, Floats]:
    """Return `assign_to_centroids`, and of the same sweep the cosine of each document to the centroid in `labels`.

    Without `labels` that is the nearest one.
    """
    documents, means = _checked(matrix, centroids, n_threads)

    def place(block: slice, cosines: Floats) -> tuple[Array, ...]:
        rows = np.arange(cosines.shape[0])
        nearest = cosines.argmax(axis=1)
        similarity = cosines[rows, nearest]
        to_label = similarity if labels is None else cosines[rows, labels[block]]
        cosines[rows, nearest] = -np.inf
        runner_up = cosines.argmax(axis=1)
        return nearest, similarity, runner_up, cosines[rows, runner_up], to_label

    parts = zip(*_map_cosines(documents, means, place), strict=True)
    nearest, similarity, runner_up, runner_up_similarity, to_label = map(np.concatenate, parts)
    if means.shape[0] == 1:
        runner_up, runner_up_similarity = np.full_like(runner_up, -1), np.full_like(similarity, np.nan)
    assignment = Assignment(nearest.astype(np.int32), similarity, runner_up.astype(np.int32), runner_up_similarity)
    return assignment, to_label


def nearest_centroids(
    matrix: MatrixLike | Documents, centroids: MatrixLike, *, n_threads: int | None = None
) -> npt.NDArray[np.int32]:
    """Return the labels of `assign_to_centroids` alone, a few times faster."""
    documents, means = _checked(matrix, centroids, n_threads)
    places = TermPlaces.of(documents.frequencies, means.shape[0])
    nearest = NearestCentroids(documents, places)
    nearest.search(SparseMeans(means, places))
    return nearest.labels


def centroid_similarities(
    matrix: MatrixLike | Documents, centroids: MatrixLike, *, n_threads: int | None = None
) -> Floats:
    """Return the cosine of each document to each centroid, float64 array of shape (n_documents, n_clusters)."""
    documents, means = _checked(matrix, centroids, n_threads)
    return np.concatenate(_map_cosines(documents, means, lambda _, cosines: cosines))


def _map_cosines(
    documents: UnitDocuments, means: sparse.csr_array, function: Callable[[slice, Floats], Result]
) -> list[Result]:
    """Return a function of each block of documents and its float64 cosines to the means."""
    by_term = means.T.tocsr().astype(np.float64)

    def multiply(block: slice) -> Result:
        return function(block, (documents.matrix[block].astype(np.float64) @ by_term).toarray())

    blocks = row_blocks(documents.n_documents, max(1, COSINES_AT_ONCE // means.shape[0]))
    return documents.share(multiply, blocks, multiplications=float(documents.n_entries * means.shape[0]))


def _checked(
    matrix: MatrixLike | Documents, centroids: MatrixLike, n_threads: int | None
) -> tuple[UnitDocuments, sparse.csr_array]:
    """Return unit documents and unit centroids in the same columns."""
    checked, means = as_documents(matrix), unit_rows_of(as_documents(centroids, name="centroids"))
    if means.shape[1] != checked.n_terms:
        raise InputError(
            f"X has {checked.n_terms} features, but the centroids have {means.shape[1]}",
            remedy="use the vectorizer that the centroids were made with",
        )
    return unit_documents(checked, n_threads=resolve_threads(n_threads)), means
