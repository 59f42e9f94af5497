"""The nearest centroid of each document, found mostly in 16 bits, with the labels of float64.

A sweep reads a `SweepTable`: for each term a line of cells, one for each cluster, and multiplies four lines at a time
with the values of a row. It finds the nearest and the second nearest cluster. Where these lie further apart than
rounding explains, the label is certain; of other rows it lists the clusters that may be the nearest, and float64
cosines to these decide (`Centroids.cosines`).

What a sweep finds out is kept as bounds of each document, on the cosine to its own centroid and, for groups of
clusters, on all others. They are carried on by how far centroids move, and a document whose bounds tell that its label
stays is not looked at: most centroids move little, but seldom all of them.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from doccluster.base.arrays import Array, Floats, Integers, SingleFloats
from doccluster.base.compiled import jit
from doccluster.clustering.k_means.term_places import LINE, UP, TermPlaces, aligned_zeros, read_cell
from doccluster.clustering.k_means.unit_documents import UnitDocuments

# No reassociation: the bound on rounding counts additions as they are written. Contraction changes no float64 product
# below, since that of two float32 is exact.
ARITHMETIC = {"contract", "nnan", "nsz"}
UNIT_ROUNDOFF = np.float32(6.0e-8)  # of float32, 2^-24, rounded up; the excess covers rows that are unit within 1e-5
CELL_ROUNDOFF = np.float32(2.0**-11 * 1.01)  # of a cell of 16 bits: it keeps 10 bits after the first
FIXED_ADDITIONS = np.float32(16)  # as many roundings as do not grow with the row
ROUNDING = np.float32(3e-7)  # what storing bounds and movements as float32, and means as float32, may add
NOWHERE, FAR = np.float32(-9), np.float32(9)  # below and above every cosine
MAX_GROUPS = 64  # each costs four bytes a document ...
LANES_PER_GROUP = 5  # ... and as much time as this many lanes, measured
CHORD_SLACK = 1.00002  # rows are unit within 1e-5
MAX_CANDIDATES = 2**12  # clusters of open rows that are looked at together

F32, F64, I32, I64, U64 = np.float32, np.float64, np.int32, np.int64, np.uint64
LOWEST = np.int32(-(2**31))


class SweepRows(NamedTuple):
    """Rows as kernels read them: terms with a line in the table, and rare terms.

    Columns become places in the table, the commonest terms first, so that what is read most lies together. The order of
    the entries within a row stays that of the columns, which is the order in which exact cosines are added up.
    """

    starts: npt.NDArray[np.uint64]  # (n_rows + 1,): where each row begins, and where all end
    terms: npt.NDArray[np.uint32]  # (n_entries + 3,): the line of a term; sweeps read four at a time
    values: SingleFloats  # (n_entries + 3,), times UP
    rare_starts: npt.NDArray[np.uint64]  # (n_rows + 1,)
    rare_terms: npt.NDArray[np.uint32]  # the number among rare terms
    rare_values: SingleFloats  # times UP


class SweepTable(NamedTuple):
    """Clusters by term: a line of cells for each common term, a list of (cluster, value) for each rare one."""

    cells: Array  # uint16 (n_head * n_lanes,), uint32 where values have signs
    factors: SingleFloats  # (n_lanes,): a sum of products times this is a cosine
    # float32 (n_lanes,): what sums begin with, 0, or NOWHERE for a lane without a cluster; of rows without zeros
    # (n_rows * n_lanes,): the products of each row, which a library has multiplied already
    initial_sums: SingleFloats
    list_starts: npt.NDArray[np.uint64]  # (n_rare + 1,): where the list of each rare term begins
    list_lanes: npt.NDArray[np.int32]
    list_values: SingleFloats
    cell_roundoff: Any  # float32: what cells are off by, as a share of a cosine

    @classmethod
    def empty(cls, places: TermPlaces, *, is_short: bool) -> SweepTable:
        """Return a table without values, with cells of 16 bits if `is_short`, for values that are not negative."""
        return cls(
            aligned_zeros(places.n_head * places.n_lanes, np.uint16 if is_short else np.uint32),
            np.ones(places.n_lanes, F32),
            np.where(np.arange(places.n_lanes) < places.n_clusters, F32(0), NOWHERE),
            np.zeros(places.n_rare + 1, U64),
            np.empty(0, I32),
            np.empty(0, F32),
            CELL_ROUNDOFF if is_short else F32(0),
        )


def sweep_rows(documents: UnitDocuments, places: TermPlaces) -> SweepRows:
    """Return the rows as sweeps of a table with these places read them."""
    starts, columns, data = documents.rows
    rare_starts, rare_terms, rare_values = np.zeros_like(starts), np.empty(0, np.uint32), np.empty(0, np.float32)
    numbers = places.number
    if places.n_rare:
        is_rare = numbers[columns] >= places.n_head
        rare_starts = np.concatenate([[0], np.cumsum(is_rare)])[starts]
        rare_terms, rare_values = numbers[columns[is_rare]] - np.uint32(places.n_head), data[is_rare] * UP
        starts, columns, data = starts - rare_starts, columns[~is_rare], data[~is_rare]
    # sweeps read terms four at a time, also beyond the last
    terms, values = np.zeros(data.size + 3, np.uint32), np.zeros(data.size + 3, np.float32)
    np.take(numbers, columns, out=terms[: data.size], mode="clip")  # other modes take a buffer
    np.multiply(data, UP, out=values[: data.size])
    return SweepRows(starts.view(np.uint64), terms, values, rare_starts.view(np.uint64), rare_terms, rare_values)


class Bounds(NamedTuple):
    """What is known of each row; carried from iteration to iteration."""

    labels: npt.NDArray[np.int32]
    lower: SingleFloats  # at most the cosine to the own centroid
    # float32 (n_groups or all clusters, n_rows), at least the cosine to every other centroid c of group c % n_groups
    upper: SingleFloats


@jit(inner=True)
def in_order(bits, cells):
    """Turn the bits of a float32 into an int32 that compares as the float does, and back.

    Bits of floats that are not negative compare so as they are: with 16-bit cells only NOWHERE is negative.
    """
    return I32(bits) if cells.itemsize == 2 else I32(bits ^ ((bits >> I32(31)) & I32(0x7FFFFFFF)))


@jit(fastmath=ARITHMETIC)
def sweep(rows, table, row_numbers, bounds, scratch, candidates):
    """Label some rows by their nearest cluster; return how many, and how many `candidates` there are.

    Candidates are the rows that a sweep leaves open, each once for every cluster that may be its nearest. Where there
    is no room for more of them the sweep ends. `scratch`: a sum and a key for each lane, a peak for each group of
    clusters, and how many roundings do not grow with the row.

    Nearly all time of a fit is spent in the loop over four terms, which LLVM turns into a few vector instructions: the
    number of lanes is a visible multiple of 16, and no index is signed, since a signed one might count from the end.
    Tuples are taken apart before the loops: numba counts references to each array that it takes from one.

    By Cauchy and Schwarz the absolute terms of a product of unit vectors add up to 1 at most, so each addition errs by
    a unit roundoff at most. Cells are rounded only where no value is negative: they err by a share of the cosine.
    """
    starts, terms, values, rare_starts, rare_terms, rare_values = rows
    cells, factors, initial_sums, list_starts, list_lanes, list_values, cell_roundoff = table
    labels, lower, upper = bounds
    sums, keys, peaks, fixed_additions = scratch
    open_rows, clusters = candidates
    n_lanes, n_groups = U64(sums.size // LINE) * U64(LINE), U64(peaks.size // LINE) * U64(LINE)
    stride, n_open = n_lanes if initial_sums.size > sums.size else U64(0), U64(0)
    for number in range(row_numbers.size):
        if n_open + n_lanes > U64(open_rows.size):
            return number, n_open
        row, first_lane = U64(row_numbers[number]), U64(number) * stride
        p, last, first_rare, last_rare = starts[row], starts[row + U64(1)], rare_starts[row], rare_starts[row + U64(1)]
        error = UNIT_ROUNDOFF * (fixed_additions + F32(last - p) / F32(4) + F32(last_rare - first_rare))
        for lane in range(n_lanes):
            sums[lane] = initial_sums[first_lane + lane]
        for rare in range(first_rare, last_rare):
            term, value = U64(rare_terms[rare]), rare_values[rare]
            for entry in range(list_starts[term], list_starts[term + U64(1)]):
                sums[U64(list_lanes[entry])] += value * list_values[entry]
        while p < last:
            # products of four are added to each other first: sums are read, written and rounded less often
            a, b = U64(terms[p]) * n_lanes, U64(terms[p + U64(1)]) * n_lanes
            c, d = U64(terms[p + U64(2)]) * n_lanes, U64(terms[p + U64(3)]) * n_lanes
            u = values[p]
            v = values[p + U64(1)] if p + U64(1) < last else F32(0)
            w = values[p + U64(2)] if p + U64(2) < last else F32(0)
            x = values[p + U64(3)] if p + U64(3) < last else F32(0)
            for lane in range(n_lanes):
                sums[lane] += (u * read_cell(cells, a + lane) + v * read_cell(cells, b + lane)) + (
                    w * read_cell(cells, c + lane) + x * read_cell(cells, d + lane)
                )
            p += U64(4)
        # The highest cosine and its lane are one int64, the cosine in the upper half, and among equals the lowest lane
        # the highest number: maxima of whole numbers, unlike those of floats, are found many lanes at a time.
        best = I64(-(2**63))
        for lane in range(n_lanes):
            key = in_order(F32(sums[lane] * factors[lane]).view(I32), cells)
            keys[lane] = key
            key_and_lane = (I64(key) << I64(32)) | I64(U64(0xFFFFFFFF) - lane)
            best = key_and_lane if key_and_lane > best else best
        nearest, top_key, second = U64(0xFFFFFFFF) - (U64(best) & U64(0xFFFFFFFF)), I32(best >> I64(32)), NOWHERE
        # The upper bound of a group is its highest cosine but for the nearest cluster; clusters take turns as groups.
        keys[nearest] = LOWEST
        for group in range(n_groups):
            peaks[group] = keys[group]
        for strip in range(n_groups, n_lanes, n_groups):
            for group in range(n_groups if n_groups < n_lanes - strip else n_lanes - strip):
                key = keys[strip + group]
                peaks[group] = key if key > peaks[group] else peaks[group]
        for group in range(upper.shape[0]):
            peak = F32(I32(in_order(peaks[group], cells)).view(F32)) if peaks[group] > LOWEST else NOWHERE
            peak += error + cell_roundoff * (peak if peak > F32(0) else F32(0))
            upper[group, row] = peak
            second = peak if peak > second else second
        top = I32(in_order(top_key, cells)).view(F32)
        error += cell_roundoff * (top if top > F32(0) else F32(0))
        labels[row], lower[row] = I32(nearest), top - error
        # Two cosines, each off by an error at most, may be in the other order if they differ by less than two errors.
        if second >= top - error:
            keys[nearest] = top_key
            for lane in range(n_lanes):
                if I32(in_order(keys[lane], cells)).view(F32) >= top - error - error:
                    open_rows[n_open], clusters[n_open] = I64(row), I64(lane)
                    n_open += U64(1)
    return row_numbers.size, n_open


class Moves(NamedTuple):
    """How far centroids moved, and with them what the bounds of a group of clusters may be off by; chords."""

    moved: SingleFloats  # (n_clusters,)
    largest: SingleFloats  # (n_groups,): the farthest of each group
    # bool (at least n_clusters,): whether a cluster is that one; None where each group is one cluster
    is_farthest: Any
    second_largest: Any  # (n_groups,): the farthest of the others

    @classmethod
    def of(cls, movements: Floats, n_groups: int) -> Moves:
        """Return the moves of clusters, rounded up; cluster c is in group c % n_groups."""
        moved = np.where(movements > 0, movements * CHORD_SLACK + ROUNDING, 0).astype(F32)
        if moved.size <= n_groups:
            return cls(moved, moved, None, None)
        padded = np.zeros(-(-moved.size // n_groups) * n_groups, F32)
        padded[: moved.size] = moved
        by_group = padded.reshape(-1, n_groups)
        farthest, groups = by_group.argmax(axis=0), np.arange(n_groups)
        largest = by_group[farthest, groups]
        by_group[farthest, groups] = 0
        is_farthest = np.zeros(padded.size, np.bool_)
        is_farthest[farthest * n_groups + groups] = True
        return cls(moved, largest, is_farthest, by_group.max(axis=0))


def rows_in_question(bounds: Bounds, moves: Moves) -> Integers:
    """Carry the bounds over a move of the centroids and return the rows whose label may change.

    No cosine changes by more than the chord that its centroid moves: |x.c' - x.c| <= |c' - c| for unit x. The upper
    bound of a group is for all clusters but a row's own: for members of the one that moved farthest the next counts.
    """
    labels, lower, upper = bounds
    moved, largest, is_farthest, second_largest = moves
    lower -= moved[labels]
    if is_farthest is None:
        upper += largest[:, None]
    else:
        rows = np.flatnonzero(is_farthest[labels])
        groups = labels[rows] % largest.size
        members = upper[groups, rows] + second_largest[groups]
        upper += largest[:, None]
        upper[groups, rows] = members
    return np.flatnonzero(upper.max(axis=0) >= lower)


class Centroids(Protocol):
    """Centroids, `RunningSums` or `SparseMeans`: what sweeps read, and what decides in float64."""

    def table_for(self, documents: UnitDocuments) -> SweepTable:
        """Return the table that sweeps of the documents read."""
        ...

    def cosines(self, documents: UnitDocuments, rows: Integers, clusters: Integers, *, is_exact: bool) -> Floats:
        """Return the cosine of each of some documents to the mean of a cluster, exact or within `ROUNDING`."""
        ...


class NearestCentroids:
    """The nearest centroid of each document, under centroids that follow one another.

    Documents whose bounds tell that their label stays are skipped. `places`: where tables keep terms and clusters.
    `n_groups`: the most groups of clusters that have a bound for each document; 0 sweeps all in every search. `labels`:
    int32 array of shape (n_documents,), which the next search changes.
    """

    def __init__(self, documents: UnitDocuments, places: TermPlaces, n_groups: int = MAX_GROUPS) -> None:
        n, self._skips = documents.n_documents, n_groups > 0
        n_groups = groups_of(places.n_lanes, n_groups)
        self.documents, self.places, self.rows = documents, places, sweep_rows(documents, places)
        self.labels: npt.NDArray[np.int32] = np.zeros(n, I32)
        self.bounds = Bounds(self.labels, np.full(n, NOWHERE), np.full((min(n_groups, places.n_clusters), n), FAR))
        is_zero = ~documents.has_value  # at cosine 0 from all: always the first
        self.bounds.lower[is_zero], self.bounds.upper[:, is_zero] = np.inf, -np.inf
        self._swept, additions = self.rows, FIXED_ADDITIONS
        if documents.are_multiplied(places):
            # a library adds up the products in an order of its own, and a sweep finds no terms left to add
            self._swept = self.rows._replace(starts=np.zeros_like(self.rows.starts))
            additions += documents.n_terms
        self._blocks, (_, lower, upper) = [], self.bounds
        for block in documents.blocks:
            bounds = Bounds(self.labels[block], lower[block], upper[:, block])  # not copied
            lanes = aligned_zeros(places.n_lanes, F32), aligned_zeros(places.n_lanes, I32)
            scratch = *lanes, np.empty(n_groups, I32), F32(additions)
            room = min((block.stop - block.start) * places.n_clusters, MAX_CANDIDATES) + places.n_lanes
            candidates = np.empty(room, I64), np.empty(room, I64)
            self._blocks.append((block, bounds, scratch, candidates))

    def search(self, centroids: Centroids, movements: Floats | None = None) -> None:
        """Label all documents; `movements` are the chords from the centroids before to these, None if not known."""
        documents, table, moves = self.documents, centroids.table_for(self.documents), None
        if movements is not None and self._skips:
            moves = Moves.of(movements, self.bounds.upper.shape[0])

        def label(number: int) -> None:
            block, bounds, scratch, candidates = self._blocks[number]
            in_question = np.flatnonzero(bounds.lower < np.inf) if moves is None else rows_in_question(bounds, moves)
            rows = in_question + block.start
            products = self._multiply(table, rows) if documents.are_multiplied(self.places) else table
            while rows.size:  # a sweep ends early where its candidates are many
                n_swept, n_open = sweep(self._swept, products, rows, self.bounds, scratch, candidates)
                if n_open:
                    self._decide(centroids, candidates[0][:n_open], candidates[1][:n_open])
                rows = rows[n_swept:]
                if products is not table:
                    products = products._replace(initial_sums=products.initial_sums[n_swept * self.places.n_lanes :])

        work = float(documents.n_entries * self.places.n_clusters)
        documents.share(label, range(len(self._blocks)), multiplications=work)

    def _multiply(self, table: SweepTable, rows: Integers) -> SweepTable:
        """Return the table with the products of rows without zeros, which a library adds up in an order of its own."""
        dense, n_lanes, k = self.documents.dense, self.places.n_lanes, self.places.n_clusters
        assert dense is not None
        products = dense[rows] @ table.cells.view(F32).reshape(-1, n_lanes)
        products *= UP
        products[:, k:] = NOWHERE
        return table._replace(initial_sums=products.ravel())

    def _decide(self, centroids: Centroids, rows: Integers, clusters: Integers) -> None:
        """Label rows that a sweep leaves open, ascending, each with the clusters that may be its nearest.

        Cosines within `ROUNDING` decide for most rows; where several clusters are as near as that, exact ones do.
        """
        documents, is_first = self.documents, np.ones(rows.size, np.bool_)
        np.not_equal(rows[1:], rows[:-1], out=is_first[1:])
        starts, row_numbers = np.flatnonzero(is_first), np.cumsum(is_first) - 1
        cosines = centroids.cosines(documents, rows, clusters, is_exact=False)
        near = cosines >= np.maximum.reduceat(cosines, starts)[row_numbers] - ROUNDING
        near &= np.add.reduceat(near, starts, dtype=I64)[row_numbers] > 1  # a cluster alone is the nearest
        if near.any():
            cosines[near] = centroids.cosines(documents, rows[near], clusters[near], is_exact=True)
        best = np.flatnonzero(cosines == np.maximum.reduceat(cosines, starts)[row_numbers])[::-1]
        self.labels[rows[best]] = clusters[best]  # of several the last is kept: the lowest cluster
        self.forget(rows[starts])

    def forget(self, rows: Integers) -> None:
        """Give up the bounds of rows whose label did not come from a sweep: the next search looks at them."""
        self.bounds.lower[rows], self.bounds.upper[:, rows] = NOWHERE, FAR


def own_cosines(centroids: Centroids, documents: UnitDocuments, labels: npt.NDArray[np.int32]) -> Floats:
    """Return the exact cosine of each document to the centroid of its label."""

    def cosines(block: slice) -> Floats:
        rows = np.arange(block.start, block.stop)
        return centroids.cosines(documents, rows, labels[block].astype(I64), is_exact=True)

    return np.concatenate(documents.share(cosines, documents.blocks, multiplications=10.0 * documents.n_entries))


def groups_of(n_lanes: int, largest: int = MAX_GROUPS) -> int:
    """Return how many groups of clusters have a bound of their own, `largest` at most but one cache line."""
    return LINE * max(1, min(largest // LINE, n_lanes // (LINE * LANES_PER_GROUP)))
