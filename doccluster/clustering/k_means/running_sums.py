"""The sum of each cluster, which follows the documents that move; no mean is ever made.

A document that moves is taken from one sum and added to another, which changes the cells of its own terms and nothing
else. Nothing is divided: the cosine of a row x to the mean of a cluster is ``x . s / |s|`` with its sum s, and ``|s|``
follows by ``|s + x|^2 = |s|^2 + 2 s.x + |x|^2``.

Sums are those of the definition to the last bit, float64, members ascending. Where float64 sums of the rows are exact,
no order counts and rows can be taken away again; elsewhere (uneven weights) a cluster that changed is summed anew. A
rare term has no line of sums: what it has in a cluster is added up, when asked for, over the few documents that have
it.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.compiled.arguments import Csr
from doccluster.base.compiled.jit import jit
from doccluster.clustering.k_means.sparse_means import CANCELLED
from doccluster.clustering.k_means.sweep import (
    ARITHMETIC,
    CELL_ROUNDOFF,
    F32,
    F64,
    I64,
    NOWHERE,
    ROUNDING,
    U64,
    UNIT_ROUNDOFF,
    Bounds,
    SweepTable,
    aligned_lanes,
    error_of,
)
from doccluster.clustering.k_means.term_places import DOWN, UP, TermPlaces, aligned_zeros, read_cell, write_cell
from doccluster.clustering.k_means.unit_documents import SweepRows, UnitDocuments

ROUNDOFF = 2.0**-53  # of float64
IMPRECISE = 1e-9  # the share of a squared length that rounding may make before it is measured again
FEW = 0.05  # of the documents: where more move, bounds spare too little to be worth the chords
MOVE_WORK = 100  # what moving an entry costs, in multiplications of a sweep

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Labels = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]


class Sums(NamedTuple):
    """The sums by cluster and term, and what those of rare terms are added up from."""

    lines: Any  # float64 (n_clusters, n_head), terms by their number in the table
    number: Any  # uint32 (n_terms,), as in `TermPlaces`
    list_starts: Any  # int64 (n_rare + 1,): where the documents of each rare term begin
    list_rows: Any  # int32: those documents, ascending
    list_values: Any  # float64: its values in them, times the weights
    weights: Any  # float64 (n_documents,)
    labels: Any  # int32 (n_documents,): whose sums these are


class Lengths(NamedTuple):
    """What is known of the length of each sum, float64 arrays of shape (n_clusters,)."""

    squares: Any  # squared lengths, as they follow from moves
    rounding: Any  # what these may be off by
    cross: Any  # the products of the sums with those before
    scales: Any  # what the cells of the table are of the sums


@jit(inner=True)
def rare_sum(first, last, list_rows, list_values, labels, cluster):
    """Return the sum of a rare term in a cluster, over the part of its list with the label of the cluster."""
    total = 0.0
    for entry in range(first, last):
        if labels[list_rows[entry]] == cluster:
            total += list_values[entry]
    return total


@jit(fastmath=ARITHMETIC)
def move_rows(rows, moves, clusters, sums, table, lengths):
    """Take rows from one sum and add them to another, for clusters from the first to before the last of `clusters`.

    `moves`: the rows, ascending, the labels of all rows before, -1 for none, and the first pass: in pass 0 `cross`
    becomes the product of new and old sums, for which the old ones are needed; in pass 1 sums, cells and lengths
    change.
    """
    starts, offsets, values, _ = rows
    moved, before, first_pass = moves
    lines, _, list_starts, list_rows, list_values, weights, after = sums
    squares, rounding, cross, scales = lengths
    cells, n_lanes = table.cells, U64(table.inverse.size)
    now = before.copy() if list_rows.size else before  # the labels of rare terms, as rows move
    for is_change in range(first_pass, 2):
        for row in moved:
            first, split, last = starts[2 * row], starts[2 * row + 1], starts[2 * row + 2]
            for joins in range(2):
                c = after[row] if joins else before[row]
                if c < clusters[0] or c >= clusters[1]:
                    continue
                weight = (weights[row] if joins else -weights[row]) * DOWN
                product, square = 0.0, 0.0
                for p in range(first, split):
                    term, x = U64(offsets[p]) // n_lanes, weight * F64(values[p])
                    total = lines[c, term]
                    product += x * total
                    if is_change:
                        square += x * x
                        lines[c, term] = total + x
                        write_cell(cells, U64(offsets[p]) + U64(c), F32((total + x) * scales[c]))
                for p in range(split, last):
                    x, term = weight * F64(values[p]), offsets[p]
                    product += x * rare_sum(list_starts[term], list_starts[term + 1], list_rows, list_values, now, c)
                    square += x * x
                if is_change:
                    # n products of vectors are off by n roundoffs of their lengths at most
                    size = max(squares[c], F64(0)) + square
                    rounding[c] += ROUNDOFF * F64(last - first + U64(4)) * size
                    squares[c] += square + 2 * product
                else:
                    cross[c] += product
            if is_change and list_rows.size:
                now[row] = after[row]


@jit(fastmath=ARITHMETIC)
def sum_anew(rows, members, clusters, sums, before, table, lengths):
    """Make the sums of `clusters` those of their members, ascending, and the cells those of unit means.

    `members`: where those of each cluster begin, and rows by cluster. `before`: the labels of the sums as they are.
    """
    starts, offsets, values, _ = rows
    member_starts, member_rows = members
    lines, _, list_starts, list_rows, list_values, weights, after = sums
    cells, n_lanes, earlier = table.cells, U64(table.inverse.size), np.empty(lines.shape[1])
    for c in clusters:
        square, cross = 0.0, 0.0
        for term in range(earlier.size):
            earlier[term], lines[c, term] = lines[c, term], 0.0
        for place in range(member_starts[c], member_starts[c + 1]):
            row = member_rows[place]
            weight = weights[row] * DOWN
            for p in range(starts[2 * row], starts[2 * row + 1]):
                lines[c, U64(offsets[p]) // n_lanes] += weight * F64(values[p])
            for p in range(starts[2 * row + 1], starts[2 * row + 2]):
                x, first, last = weight * F64(values[p]), list_starts[offsets[p]], list_starts[offsets[p] + 1]
                square += x * rare_sum(first, last, list_rows, list_values, after, c)
                cross += x * rare_sum(first, last, list_rows, list_values, before, c)
        for term in range(earlier.size):
            square += lines[c, term] * lines[c, term]
            cross += lines[c, term] * earlier[term]
        scale = DOWN / np.sqrt(square) if square > 0 else 0.0
        for term in range(earlier.size):
            if lines[c, term] != 0 or earlier[term] != 0:
                write_cell(cells, U64(term) * n_lanes + U64(c), F32(lines[c, term] * scale))
        lengths.squares[c], lengths.cross[c], lengths.scales[c] = square, cross, scale
        lengths.rounding[c] = ROUNDOFF * earlier.size * square


@jit(inner=True, fastmath=ARITHMETIC)
def cosine_to(terms, values, sums, cluster, length):
    """Return the cosine of a row to a mean in float64, in the order of the columns.

    The mean is float32, as the definition wants it; without a `length`, 0, the product with the sum is returned.
    """
    lines, number, list_starts, list_rows, list_values, _, labels = sums
    total = 0.0
    for p in range(terms.size):
        term, rare = number[terms[p]], I64(number[terms[p]]) - lines.shape[1]
        if rare < 0:
            value = lines[cluster, U64(term)]
        else:
            value = rare_sum(list_starts[rare], list_starts[rare + 1], list_rows, list_values, labels, cluster)
        total += F64(values[p]) * (F64(F32(value / length)) if length > 0 else value)
    return total


@jit(fastmath=ARITHMETIC)
def own_cosines(matrix, sums, lengths, labels):
    """Return the exact cosine of each row of a matrix (Csr) to the mean of the cluster in `labels`."""
    indptr, indices, data = matrix
    cosines = np.empty(labels.size)
    for row in range(labels.size):
        first, last, c = indptr[row], indptr[row + 1], labels[row]
        cosines[row] = cosine_to(indices[first:last], data[first:last], sums, c, lengths[c])
    return cosines


@jit
def write_means(lines, number, lengths, starts, columns, values):
    """Write the float32 means of sums, but for rare terms, into a csr array whose rows begin at `starts`."""
    for c in range(lengths.size):
        at = starts[c]
        for column in range(number.size):
            if number[column] < lines.shape[1] and lines[c, number[column]] != 0:
                columns[at], values[at] = column, lines[c, number[column]] / lengths[c]
                at += 1


@jit(fastmath=ARITHMETIC)
def decide_rows(documents, sums, table, lengths, bounds, left, asked):
    """Label rows that a sweep leaves open; return those that need the exact length of clusters, which are `asked` for.

    A row is multiplied in float64 with the sums of the clusters that may be the nearest; of those that are still too
    close for float32 means to be told from it, the exact cosines count. `documents`: their rows as a sweep reads them,
    and as a Csr. `lengths`: squared, and exact or negative.
    """
    (starts, offsets, row_values, n_additions), (indptr, indices, data) = documents
    squares, exact_lengths = lengths
    labels, own, others, width = bounds
    k, n_open, still_open = exact_lengths.size, 0, np.empty(left.size, np.int64)
    scores, cosines = np.empty(k, F32), np.empty(k)
    for row in left:
        terms, values = indices[indptr[row] : indptr[row + 1]], data[indptr[row] : indptr[row + 1]]
        for c in range(k):
            scores[c] = 0
        for p in range(starts[2 * row], starts[2 * row + 1]):
            for c in range(k):
                scores[c] += row_values[p] * read_cell(table.cells, U64(offsets[p]) + U64(c))
        for p in range(starts[2 * row + 1], starts[2 * row + 2]):
            for entry in range(table.list_starts[offsets[p]], table.list_starts[offsets[p] + 1]):
                scores[table.list_lanes[entry]] += row_values[p] * table.list_values[entry]
        top, best, n_near = NOWHERE, F64(NOWHERE), 0
        for c in range(k):
            scores[c] *= table.inverse[c]
            top = max(top, scores[c])
        error = error_of(top, F32(4) * n_additions[row], table.roundoffs)  # not four at a time
        for c in range(k):
            cosines[c] = NOWHERE
            if scores[c] >= top - F32(2) * error:
                cosines[c] = cosine_to(terms, values, sums, c, 0.0) / np.sqrt(squares[c])
                best = max(best, cosines[c])
        near, is_known = best - ROUNDING, True
        for c in range(k):
            n_near += cosines[c] >= near
        for c in range(k):
            if n_near > 1 and cosines[c] >= near and exact_lengths[c] < 0:
                asked[c], is_known = True, False
        if not is_known:
            still_open[n_open] = row
            n_open += 1
            continue
        best = F64(NOWHERE)
        for c in range(k):
            if n_near > 1 and cosines[c] >= near:
                cosines[c] = cosine_to(terms, values, sums, c, exact_lengths[c])
            if cosines[c] > best:  # not among equals: the lowest cluster wins
                best, labels[row] = cosines[c], c
        own[row] = F32(best) - ROUNDING
        for group in range(others.shape[1]):
            others[row, group] = top - error  # more than the cosines to clusters that cannot be the nearest
        for c in range(k):
            if c != labels[row]:
                others[row, c // width] = max(others[row, c // width], F32(cosines[c]) + ROUNDING)
    return still_open[:n_open]


class RunningSums:
    """The sums of the documents with each label, and the table that sweeps read, which changes with them.

    `rows`: the documents as laid out for `places`. Begin with `follow`.
    """

    def __init__(self, documents: UnitDocuments, places: TermPlaces, rows: SweepRows) -> None:
        k, n_lanes = places.n_clusters, places.n_lanes
        self.documents, self.places, self.rows = documents, places, rows
        kind: Any = np.uint16 if documents.is_positive and documents.dense is None else np.uint32
        lists = self._lists_of_rare_terms()
        values = documents.weights[lists.indices] * lists.data
        labels = np.full(documents.n_documents, -1, np.int32)
        lines = np.zeros((k, places.n_head))
        self.sums = Sums(lines, places.number, lists.indptr, lists.indices, values, documents.weights, labels)
        self.table = SweepTable(
            aligned_zeros(places.n_head * n_lanes, kind),
            np.ones(n_lanes, F32),
            aligned_lanes(k, n_lanes),
            lists.indptr.astype(np.uint64),
            np.zeros(values.size, np.int32),
            np.zeros(values.size, F32),
            (UNIT_ROUNDOFF, CELL_ROUNDOFF if kind is np.uint16 else F32(0)),
        )
        scale = DOWN / 2.0 ** np.ceil(np.log2(documents.largest_sum))
        self._lengths = Lengths(np.zeros(k), np.zeros(k), np.zeros(k), np.full(k, scale))
        self._exact_lengths = np.zeros(k)  # -1 for those that have not been asked for since a sum changed
        self._asked = np.zeros(k, np.bool_)

    def _lists_of_rare_terms(self) -> Csr:
        """Return the documents of each rare term and its values in them."""
        places, matrix = self.places, self.documents.matrix
        if not places.n_rare:
            return Csr(np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0, F32))
        number = places.number[matrix.indices]
        entries = np.flatnonzero(number >= places.n_head)
        starts = np.searchsorted(entries, matrix.indptr)
        columns = (number[entries] - np.uint32(places.n_head)).astype(np.int32)
        rows = sparse.csr_array((matrix.data[entries], columns, starts), shape=(matrix.shape[0], places.n_rare))
        return Csr.of(sparse.csr_array(rows.T.tocsr()))

    @property
    def labels(self) -> Labels:
        """The labels whose sums these are; -1 before the first."""
        labels: Labels = self.sums.labels
        return labels

    @property
    def lengths(self) -> Floats:
        """The length of each sum, within a billionth."""
        lengths: Floats = np.sqrt(np.maximum(self._lengths.squares, 0))
        return lengths

    def follow(self, labels: Labels) -> Floats | None:
        """Make the sums those of other labels; return the chords from the old means to the new, None if not known."""
        before, k, lengths = self.labels, self.places.n_clusters, self._lengths
        moved, old = np.flatnonzero(labels != before), lengths.squares.copy()
        self.sums = Sums(*self.sums[:-1], labels)
        changed = np.zeros(k + 1, np.bool_)
        changed[before[moved]] = changed[labels[moved]] = True  # the last is for rows that had no label
        changed = changed[:k]
        has_chords = (self._move if self.documents.has_exact_sums else self._sum_anew)(moved, before, changed)
        self._exact_lengths[changed] = -1
        imprecise = changed & (lengths.rounding > IMPRECISE * lengths.squares)
        if imprecise.any():
            self._measure(np.flatnonzero(imprecise))
            lengths.squares[imprecise] = self._exact_lengths[imprecise] ** 2
            lengths.rounding[imprecise] = ROUNDOFF * self.places.number.size * lengths.squares[imprecise]
        self._renew_table()
        return np.where(changed, self._chords(old), 0) if has_chords else None

    def _move(self, moved: Integers, before: Labels, changed: Flags) -> bool:
        """Move rows from sum to sum; return whether the products of old and new sums are known."""
        d, k, n_moved = self.documents, self.places.n_clusters, moved.size
        is_few = n_moved < FEW * d.n_documents
        self._lengths.cross[:] = self._lengths.squares
        ends = [k * number // d.n_threads for number in range(d.n_threads + 1)]  # a thread takes some of the clusters

        def move(clusters: tuple[int, int]) -> None:
            move_rows(self.rows, (moved, before, int(not is_few)), clusters, self.sums, self.table, self._lengths)

        work = n_moved * d.n_entries / d.n_documents * MOVE_WORK
        d.share(move, list(itertools.pairwise(ends)), multiplications=work)
        return is_few

    def _sum_anew(self, moved: Integers, before: Labels, changed: Flags) -> bool:
        """Sum the clusters that changed once more; return that the products of old and new sums are known."""
        d, k = self.documents, self.places.n_clusters
        starts = np.concatenate([[0], np.cumsum(np.bincount(self.labels, minlength=k))])
        members = starts, np.argsort(self.labels, kind="stable")

        def sum_some(clusters: Integers) -> None:
            sum_anew(self.rows, members, clusters, self.sums, before, self.table, self._lengths)

        parts = np.array_split(np.flatnonzero(changed), 4 * d.n_threads)
        d.share(sum_some, parts, multiplications=float(d.n_entries * MOVE_WORK))
        return bool(before[0] >= 0)

    def _chords(self, old: Floats) -> Floats:
        """Return how far the means moved, at most, from the squared lengths of the old sums."""
        squares, rounding, cross, _ = self._lengths
        with np.errstate(divide="ignore", invalid="ignore"):
            cosines, slack = cross / np.sqrt(old * squares), 4 * rounding / np.minimum(old, squares)
        chords: Floats = np.sqrt(np.maximum(2 - 2 * cosines, 0) + slack)
        return chords

    def _renew_table(self) -> None:
        """Make the lists of rare terms, and what turns products into cosines, those of the sums."""
        k, table, documents = self.places.n_clusters, self.table, self.documents
        with np.errstate(divide="ignore", invalid="ignore"):
            table.inverse[:k] = 1 / (self.lengths * self._lengths.scales * float(UP))
        if self.places.n_rare:
            np.take(self.labels, self.sums.list_rows, out=table.list_lanes)
            table.list_values[:] = self.sums.list_values * self._lengths.scales[table.list_lanes]
            if not documents.is_positive:
                # values of several documents may cancel out: what rounding is of them is more of their sum
                sizes = np.bincount(self.labels, documents.weights, k)
                with np.errstate(divide="ignore", invalid="ignore"):
                    spread = np.nanmax(sizes / self.lengths, initial=1)
                self.table = table._replace(roundoffs=(F32(UNIT_ROUNDOFF * spread), F32(0)))

    def has_directions(self) -> bool:
        """Whether no sum is as short as rounding makes one whose members cancel out."""
        lengths = self.lengths
        if lengths.min() > CANCELLED * self.documents.total_weight:
            return True
        return bool(np.all(lengths > CANCELLED * np.bincount(self.labels, self.documents.weights, lengths.size)))

    def table_for(self, documents: UnitDocuments) -> SweepTable:
        """Return the table that sweeps read."""
        return self.table

    def decide(
        self, documents: UnitDocuments, rows: SweepRows, block: slice, bounds: Bounds, left: Integers
    ) -> Integers:
        """Label the rows `left` of a block; return those that need lengths that `measure` finds out."""
        known = self._lengths.squares, self._exact_lengths
        ways = rows, documents.rows.block(block)
        still_open: Integers = decide_rows(ways, self.sums, self.table, known, bounds, left, self._asked)
        return still_open

    def measure(self) -> None:
        """Find out the exact lengths of the sums that deciding rows asks for."""
        self._measure(np.flatnonzero(self._asked))
        self._asked[:] = False

    def _measure(self, clusters: Integers) -> None:
        """Find out the exact lengths of the sums of some clusters."""
        clusters = clusters[self._exact_lengths[clusters] < 0]
        squares = np.array([np.square(self.sums.lines[cluster]).sum() for cluster in clusters.tolist()])
        if self.places.n_rare and clusters.size:
            rare = self._rare_sums(clusters)
            squares += np.bincount(rare.col, rare.data**2, self.places.n_clusters)[clusters]
        self._exact_lengths[clusters] = np.sqrt(squares)

    def _rare_sums(self, clusters: Integers) -> sparse.coo_array:
        """Return the sums of rare terms in some clusters, of shape (n_rare, n_clusters)."""
        n, k, sums = self.labels.size, self.places.n_clusters, self.sums
        is_asked = np.zeros(k, np.bool_)
        is_asked[clusters] = True
        entries = np.flatnonzero(is_asked[self.labels[sums.list_rows]])
        lists = sums.list_values[entries], sums.list_rows[entries], np.searchsorted(entries, sums.list_starts)
        members = sparse.csr_array((np.ones(n), self.labels, np.arange(n + 1)), shape=(n, k))
        return sparse.coo_array(sparse.csr_array(lists, shape=(self.places.n_rare, n)) @ members)

    def own_cosines(self, documents: UnitDocuments, labels: Labels) -> Floats:
        """Return the exact cosine of each document to the mean of its label."""
        self._measure(np.unique(labels))

        def measured(block: slice) -> Floats:
            cosines: Floats = own_cosines(documents.rows.block(block), self.sums, self._exact_lengths, labels[block])
            return cosines

        parts = documents.share(measured, documents.blocks(), multiplications=10.0 * documents.n_entries)
        return np.concatenate(parts)

    def to_csr(self, documents: UnitDocuments) -> sparse.csr_array:
        """Return the means, float32 csr array of shape (n_clusters, n_terms)."""
        places, k = self.places, self.places.n_clusters
        self._measure(np.arange(k))
        counts = np.count_nonzero(self.sums.lines, axis=1)
        starts = np.concatenate([[0], np.cumsum(counts)])
        columns, values = np.empty(starts[-1], np.int32), np.empty(starts[-1], F32)
        write_means(self.sums.lines, places.number, self._exact_lengths, starts, columns, values)
        means = sparse.csr_array((values, columns, starts), shape=(k, places.number.size))
        if self.places.n_rare:
            sums = self._rare_sums(np.arange(k))
            rare = (sums.data / self._exact_lengths[sums.col]).astype(F32)
            terms = places.terms[places.n_head + sums.row]
            means = sparse.csr_array(means + sparse.csr_array((rare, (sums.col, terms)), shape=means.shape))
        means.eliminate_zeros()
        return means
