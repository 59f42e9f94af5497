"""Centroids as sparse unit rows: those that are given, that lie in files, or that are no sums of documents.

They serve where `RunningSums` do not apply: for the first sweep of a start, `predict`, blocks of documents elsewhere,
where dense sums would take too much memory, and where the members of a cluster cancel out and it keeps the centroid it
had.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.blocks import entry_blocks
from doccluster.clustering.k_means.sweep import (
    CELL_ROUNDOFF,
    FAR,
    NOWHERE,
    UNIT_ROUNDOFF,
    Bounds,
    SweepTable,
    aligned_lanes,
)
from doccluster.clustering.k_means.term_places import DOWN, TermPlaces, aligned_zeros, cells_of
from doccluster.clustering.k_means.unit_documents import SweepRows, UnitDocuments

CANCELLED = 1e-9  # a sum this short beside the weight of its members is rounding: they have no direction together
COSINES_AT_ONCE = 2**20
ENTRIES_AT_ONCE = 2**18

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int32]


class SparseMeans:
    """Float32 unit rows, csr array of shape (n_clusters, n_terms), and the table that sweeps read.

    `lengths` of shape (n_clusters,): those of the sums that they were made of; 0 for given ones.
    """

    def __init__(self, means: Any, places: TermPlaces, lengths: Floats | None = None) -> None:
        self.means, self.places = sparse.csr_array(means, dtype=np.float32), places
        self.lengths = np.zeros(means.shape[0]) if lengths is None else lengths
        self._tables: dict[Any, SweepTable] = {}
        self._by_term: sparse.csr_array | None = None

    def table_for(self, documents: UnitDocuments) -> SweepTable:
        """Return the table that sweeps of the documents read, made when it is first asked for."""
        is_positive = documents.is_positive and documents.dense is None and self.means.data.min(initial=0) >= 0
        kind = np.uint16 if is_positive else np.uint32
        if kind not in self._tables:
            self._tables[kind] = self._table(kind)
        return self._tables[kind]

    def _table(self, kind: Any) -> SweepTable:
        means, n_lanes, n_head = self.means, self.places.n_lanes, self.places.n_head
        columns = self.places.number[means.indices].astype(np.int32)
        values = means.data * np.float32(DOWN)
        by_term = sparse.csr_array((values, columns, means.indptr), shape=means.shape).tocsc()
        starts, last = by_term.indptr.astype(np.uint64), by_term.indptr[n_head]
        lines = np.repeat(np.arange(n_head) * n_lanes, np.diff(by_term.indptr[: n_head + 1]))
        cells = aligned_zeros(n_head * n_lanes, kind)
        cells[lines + by_term.indices[:last]] = cells_of(by_term.data[:last], kind)
        return SweepTable(
            cells,
            np.ones(n_lanes, np.float32),
            aligned_lanes(means.shape[0], n_lanes),
            starts[n_head:] - starts[n_head],
            by_term.indices[last:].astype(np.int32),
            by_term.data[last:].copy(),
            (UNIT_ROUNDOFF, CELL_ROUNDOFF if kind is np.uint16 else np.float32(0)),
        )

    def decide(
        self, documents: UnitDocuments, rows: SweepRows, block: slice, bounds: Bounds, left: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.int64]:
        """Label the rows `left` of a block by float64 cosines, terms in the order of the columns; none stays open."""
        if self._by_term is None:
            self._by_term = self.means.T.tocsr().astype(np.float64)
        step = max(1, COSINES_AT_ONCE // self.places.n_clusters)
        for first in range(0, left.size, step):
            some = left[first : first + step]
            cosines = documents.matrix[block.start + some].astype(np.float64) @ self._by_term
            bounds.labels[some] = cosines.toarray().argmax(axis=1)
            bounds.own[some], bounds.others[some] = NOWHERE, FAR  # the next search looks at these rows again
        return left[:0]

    def measure(self) -> None:
        """Nothing: no row stays open."""

    def own_cosines(self, documents: UnitDocuments, labels: Labels) -> Floats:
        """Return the float64 cosine of each document to the centroid of its label, in the order of the columns."""
        means, n_terms, cosines = self.means, documents.n_terms, []
        places = np.repeat(np.arange(means.shape[0]) * n_terms, np.diff(means.indptr)) + means.indices
        if not places.size:
            return np.zeros(labels.size)
        for block in entry_blocks(documents.rows.indptr, ENTRIES_AT_ONCE):
            starts, columns, values = documents.rows.block(block)
            here, rows = slice(starts[0], starts[-1]), np.repeat(np.arange(starts.size - 1), np.diff(starts))
            wanted = labels[block][rows].astype(np.int64) * n_terms + columns[here]
            at = np.minimum(np.searchsorted(places, wanted), places.size - 1)
            products = values[here] * np.where(places[at] == wanted, means.data[at], 0).astype(np.float64)
            cosines.append(np.bincount(rows, products, starts.size - 1))
        return np.concatenate(cosines)

    def following(self, documents: UnitDocuments, labels: Labels) -> SparseMeans:
        """Return the means of the documents with each label; a cluster whose members cancel out keeps what it had."""
        matrix, k = documents.matrix, self.places.n_clusters
        self._tables, self._by_term = {}, None  # the next sweep is of what follows
        order, starts = np.argsort(labels, kind="stable"), np.zeros(k + 1, np.int64)
        np.cumsum(np.bincount(labels, minlength=k), out=starts[1:])
        entries = np.concatenate([[0], np.cumsum(np.diff(matrix.indptr)[order])])[starts]
        means, lengths = [], np.empty(k)
        for some in entry_blocks(entries, ENTRIES_AT_ONCE):
            rows = order[starts[some.start] : starts[some.stop]]
            ones = np.ones(rows.size), np.arange(rows.size), starts[some.start : some.stop + 1] - starts[some.start]
            members = sparse.csr_array(ones, shape=(some.stop - some.start, rows.size))
            members.data *= documents.weights[rows]
            sums = sparse.csr_array(members @ matrix[rows].astype(np.float64))  # adds the members in ascending order
            sums.sort_indices()
            clusters = np.repeat(np.arange(sums.shape[0]), np.diff(sums.indptr))
            own = lengths[some] = np.sqrt(np.bincount(clusters, sums.data**2, sums.shape[0]))
            stays = own <= CANCELLED * np.asarray(members.sum(axis=1)).ravel()
            values = (sums.data / np.where(stays, 1, own)[clusters]).astype(np.float32)
            directions = sparse.csr_array((values, sums.indices, sums.indptr), shape=sums.shape)
            if stays.any():
                both = sparse.vstack([directions, self.means[some]], format="csr")
                directions = both[np.arange(stays.size) + stays.size * stays]
            means.append(directions)
        together = sparse.csr_array(sparse.vstack(means, format="csr"))
        together.eliminate_zeros()
        return SparseMeans(together, self.places, lengths)

    def to_csr(self, documents: UnitDocuments) -> sparse.csr_array:
        """Return the means."""
        return self.means
