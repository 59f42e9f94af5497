"""The nearest centroid of each document, found mostly in 16 bits, with the labels of float64.

A sweep reads a `SweepTable`: for each term a line of cells, one for each cluster, and multiplies four lines at a time
with the values of a row. It finds the nearest and the second nearest cluster. Where these lie further apart than
rounding explains, the label is certain; the other rows are decided in float64 by the centroids themselves
(`Centroids.decide`).

What a sweep finds out is kept as bounds of each document, on the cosine to its own centroid and, for groups of
neighbouring lanes, on all others. They are carried on by how far centroids move, and a document whose bounds tell that
its label stays is not looked at: most centroids move little, but seldom all of them.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from doccluster.base.compiled.jit import jit
from doccluster.clustering.k_means.term_places import LINE, UP, TermPlaces, aligned_zeros, read_cell
from doccluster.clustering.k_means.unit_documents import SweepRows, UnitDocuments

# No reassociation: the bound on rounding counts additions as they are written. Contraction changes no float64 product
# below, since that of two float32 is exact.
ARITHMETIC = {"contract", "nnan", "nsz"}
UNIT_ROUNDOFF = np.float32(6.0e-8)  # of float32, 2^-24, rounded up; the excess covers rows that are unit within 1e-5
CELL_ROUNDOFF = np.float32(2.0**-11 * 1.01)  # of a cell of 16 bits: it keeps 10 bits after the first
ROUNDING = np.float32(3e-7)  # what storing bounds and movements as float32, and means as float32, may add
NOWHERE, FAR = np.float32(-9), np.float32(9)  # below and above every cosine
MOST_GROUPS = 64  # each costs four bytes a document
CHORD_SLACK = 1.00002  # rows are unit within 1e-5

F32, F64, I32, I64, U32, U64 = np.float32, np.float64, np.int32, np.int64, np.uint32, np.uint64


class SweepTable(NamedTuple):
    """Clusters by term: a line of cells for each common term, a list of (cluster, value) for each rare one."""

    cells: Any  # uint16 (n_head * n_lanes,), uint32 where values have signs
    inverse: Any  # float32 (n_lanes,): what makes a sum of products a cosine
    begin: Any  # float32 (n_lanes,): what sums begin with, 0, or NOWHERE for a lane without a cluster
    list_starts: Any  # uint64 (n_rare + 1,): where the list of each rare term begins
    list_lanes: Any  # int32
    list_values: Any  # float32
    roundoffs: Any  # two float32: what an addition may be off by, and, as a share of a cosine, what cells are


class Bounds(NamedTuple):
    """What is known of each document; carried from iteration to iteration."""

    labels: Any  # int32
    own: Any  # float32, at most the cosine to the own centroid
    others: Any  # float32 (n_rows, n_groups), at least the cosine to every other centroid of a group
    width: Any  # int: the lanes of a group

    def block(self, rows: slice) -> Bounds:
        """Return the bounds of neighbouring rows, not copied."""
        return Bounds(self.labels[rows], self.own[rows], self.others[rows], self.width)


@jit
def rows_in_question(movements, bounds):
    """Carry the bounds over a move of the centroids and return the rows whose label may change.

    No cosine changes by more than the chord that its centroid moves: |x.c' - x.c| <= |c' - c| for unit x.
    """
    labels, own, others, width = bounds
    which, n, n_groups = np.empty(labels.size, np.int64), 0, others.shape[1]
    farthest, most, next_most = np.zeros(n_groups, np.int64), np.zeros(n_groups, F32), np.zeros(n_groups, F32)
    for c in range(movements.size):
        group = c // width
        if movements[c] > most[group]:
            farthest[group], most[group], next_most[group] = c, movements[c], most[group]
        else:
            next_most[group] = max(next_most[group], movements[c])
    for row in range(labels.size):
        label, reaching = labels[row], 0
        own[row] -= movements[label]
        group = label // width
        if farthest[group] == label:  # its own centroid moved farthest, which is none of the others
            others[row, group] += next_most[group] - most[group]
        for group in range(n_groups):
            others[row, group] += most[group]
            reaching += others[row, group] >= own[row]
        if reaching:
            which[n] = row
            n += 1
    return which[:n]


@jit(inner=True)
def in_order(bits, cells):
    """Turn the bits of a float32 into an int32 in the order of the floats, and back; those of positive ones are one."""
    return I32(bits) if cells.itemsize == 2 else I32(bits ^ ((bits >> I32(31)) & I32(0x7FFFFFFF)))


@jit(inner=True, fastmath=ARITHMETIC)
def error_of(cosine, n_additions, roundoffs):
    """Return a bound on the rounding of a cosine of a sweep; `roundoffs`: of an addition, and of cells.

    By Cauchy and Schwarz the absolute terms of a product of unit vectors add up to 1 at most, so each addition errs by
    a unit roundoff at most; 16 covers what does not grow with the row. Cells are rounded only where no value is
    negative: they err by a share of the cosine itself.
    """
    return roundoffs[0] * (F32(n_additions) + F32(16)) + roundoffs[1] * max(cosine, F32(0))


@jit(inner=True, forceinline=True, fastmath=ARITHMETIC)
def two_highest(sums, keys, inverse, cells, width, peaks):
    """Return the highest cosine, its lane and the second highest of sums of products; `keys` are the sums as int32.

    That of each group of `width` lanes, but for this lane, is written to `peaks`. The highest cosine and its lane are
    one int64, the cosine in the upper half, and among equals the lowest lane the highest number: maxima of whole
    numbers, unlike those of floats, are found many lanes at a time.
    """
    n_lanes, best = U64(sums.size // LINE) * U64(LINE), I64(-(2**63))
    for lane in range(n_lanes):
        key = in_order(F32(sums[lane] * inverse[lane]).view(I32), cells)
        sums[lane] = I32(key).view(F32)
        best = max(best, (I64(key) << I64(32)) | I64(U64(0xFFFFFFFF) - lane))
    nearest, second = U64(0xFFFFFFFF) - (U64(best) & U64(0xFFFFFFFF)), I32(-(2**31))
    for group in range(peaks.size):
        beside = I32(-(2**31))
        for lane in range(U64(group) * U64(width), min(U64(group + 1) * U64(width), n_lanes)):
            beside = max(beside, keys[lane] if lane != nearest else I32(-(2**31)))
        peaks[group] = I32(in_order(beside, cells)).view(F32)
        second = max(second, beside)
    top, second = in_order(I32(best >> I64(32)), cells), in_order(second, cells)
    return I32(top).view(F32), nearest, I32(second).view(F32)


@jit(fastmath=ARITHMETIC)
def sweep(rows, table, which, bounds, scratch):
    """Label the rows `which` as far as a sweep of the table decides them, and return the others.

    Nearly all time of a fit is spent in the loop over four terms, which LLVM turns into a few vector instructions: the
    number of lanes is a visible multiple of 16, and no index is signed, since a signed one might count from the end.
    Tuples are taken apart before the loops: numba counts references to each array that it takes from one.
    """
    starts, offsets, values, n_additions = rows
    cells, inverse, begin, list_starts, list_lanes, list_values, roundoffs = table
    labels, own, others, width = bounds
    sums, peaks = scratch
    left, n = np.empty(which.size, np.int64), 0
    n_lanes, keys = U64(sums.size // LINE) * U64(LINE), sums.view(I32)
    for place in range(which.size):
        row = U64(which[place])
        p, split, last = starts[U64(2) * row], starts[U64(2) * row + U64(1)], starts[U64(2) * row + U64(2)]
        for lane in range(n_lanes):
            sums[lane] = begin[lane]
        for rare in range(split, last):
            term, value = U64(offsets[rare]), values[rare]
            for entry in range(list_starts[term], list_starts[term + U64(1)]):
                sums[U64(list_lanes[entry])] += value * list_values[entry]
        while (
            p < split
        ):  # products of four are added to each other first: sums are read, written and rounded less often
            a, b, c, d = U64(offsets[p]), U64(offsets[p + U64(1)]), U64(offsets[p + U64(2)]), U64(offsets[p + U64(3)])
            u, v, w, x = values[p], values[p + U64(1)], values[p + U64(2)], values[p + U64(3)]
            for lane in range(n_lanes):
                sums[lane] += (u * read_cell(cells, a + lane) + v * read_cell(cells, b + lane)) + (
                    w * read_cell(cells, c + lane) + x * read_cell(cells, d + lane)
                )
            p += U64(4)
        top, nearest, second = two_highest(sums, keys, inverse, cells, width, peaks)
        own[row] = top - error_of(top, n_additions[row], roundoffs)
        for group in range(peaks.size):
            others[row, group] = peaks[group] + error_of(peaks[group], n_additions[row], roundoffs)
        if second + error_of(second, n_additions[row], roundoffs) < own[row]:
            labels[row] = I32(nearest)
        else:
            left[n] = row
            n += 1
    return left[:n]


@jit(fastmath=ARITHMETIC)
def settle_products(products, n_additions, table, which, bounds, scratch):
    """Do what `sweep` does with rows whose products with the table are known."""
    cells, inverse, begin, _, _, _, roundoffs = table
    labels, own, others, width = bounds
    sums, peaks = scratch
    left, n, keys = np.empty(which.size, np.int64), 0, sums.view(I32)
    for place in range(which.size):
        row = which[place]
        for lane in range(sums.size):
            sums[lane] = begin[lane] + products[place, lane] * UP
        top, nearest, second = two_highest(sums, keys, inverse, cells, width, peaks)
        own[row] = top - error_of(top, n_additions[row], roundoffs)
        for group in range(peaks.size):
            others[row, group] = peaks[group] + error_of(peaks[group], n_additions[row], roundoffs)
        if second + error_of(second, n_additions[row], roundoffs) < own[row]:
            labels[row] = I32(nearest)
        else:
            left[n] = row
            n += 1
    return left[:n]


class Centroids(Protocol):
    """Centroids, `RunningSums` or `SparseMeans`: what sweeps read, and what decides in float64."""

    def table_for(self, documents: UnitDocuments) -> SweepTable:
        """Return the table that sweeps of the documents read."""
        ...

    def decide(
        self, documents: UnitDocuments, rows: SweepRows, block: slice, bounds: Bounds, left: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.int64]:
        """Write labels and bounds of the rows `left` of a block; return those that need `measure` before."""
        ...

    def measure(self) -> None:
        """Prepare for deciding what `decide` returned."""
        ...


class NearestCentroids:
    """The nearest centroid of each document, under centroids that follow one another.

    Documents whose bounds tell that their label stays are skipped. `places`: those of the tables. `n_groups`: the most
    groups of lanes that have a bound for each document; 0 sweeps all documents in every search.
    """

    def __init__(self, documents: UnitDocuments, places: TermPlaces, n_groups: int = MOST_GROUPS) -> None:
        n, self._skips = documents.n_documents, n_groups > 0
        width = LINE * -(-places.n_lanes // (LINE * max(1, n_groups)))
        n_groups = -(-places.n_lanes // width)
        self.documents, self.places, self.rows = documents, places, documents.laid_out(places)
        self.bounds = Bounds(np.zeros(n, np.int32), np.full(n, NOWHERE), np.full((n, n_groups), FAR), width)
        is_zero = ~documents.has_value
        self.bounds.own[is_zero], self.bounds.others[is_zero] = (
            np.inf,
            -np.inf,
        )  # at cosine 0 from all: always the first
        self._blocks = [
            (block, self.rows.block(block), self.bounds.block(block), (aligned_zeros(places.n_lanes, F32), peaks))
            for block, peaks in ((block, np.empty(n_groups, F32)) for block in documents.blocks())
        ]

    @property
    def labels(self) -> npt.NDArray[np.int32]:
        """The labels, which the next search changes."""
        labels: npt.NDArray[np.int32] = self.bounds.labels
        return labels

    def search(self, centroids: Centroids, movements: npt.NDArray[np.float64] | None = None) -> None:
        """Label all documents; `movements` are the chords from the centroids before to these, None if not known."""
        documents, dense, table = self.documents, self.documents.dense, centroids.table_for(self.documents)
        moved = np.full(self.places.n_clusters, FAR)
        if movements is not None and self._skips:
            moved = np.where(movements > 0, movements * CHORD_SLACK + ROUNDING, 0).astype(F32)

        def label(number: int) -> npt.NDArray[np.int64]:
            block, rows, bounds, scratch = self._blocks[number]
            left: npt.NDArray[np.int64] = rows_in_question(moved, bounds)
            if left.size and dense is not None and not self.places.n_rare:
                # rows without zeros are multiplied by a library, in whatever order it likes
                some = dense[block] if left.size == block.stop - block.start else dense[block][left]
                products = some @ table.cells.view(F32).reshape(-1, self.places.n_lanes)
                left = settle_products(products, rows.n_additions, table, left, bounds, scratch)
            elif left.size:
                left = sweep(rows, table, left, bounds, scratch)
            return centroids.decide(documents, rows, block, bounds, left) if left.size else left

        def label_again(number: int) -> None:
            block, rows, bounds, _ = self._blocks[number]
            centroids.decide(documents, rows, block, bounds, open_rows[number])

        work, numbers = float(documents.n_entries * self.places.n_clusters), range(len(self._blocks))
        open_rows = documents.share(label, numbers, multiplications=work)
        again = [number for number in numbers if open_rows[number].size]
        if again:
            centroids.measure()
            documents.share(label_again, again, multiplications=work)

    def forget(self, rows: npt.NDArray[np.int64]) -> None:
        """Take over labels that were changed from outside for these rows: nothing is known of their cosines."""
        self.bounds.own[rows], self.bounds.others[rows] = NOWHERE, FAR


def aligned_lanes(n_clusters: int, n_lanes: int) -> npt.NDArray[np.float32]:
    """Return the values that the sums of a sweep begin with."""
    return np.where(np.arange(n_lanes) < n_clusters, F32(0), NOWHERE)
