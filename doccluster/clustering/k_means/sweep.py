"""The nearest mean of each row: float32 sweeps that touch few bytes, decided again in float64 where they are too close.

A row's similarities to all clusters are built in one accumulator: four terms of the dense head per sweep (the
accumulator is read and written once for four products), and the lists of the tail. The labels are those of float64
arithmetic in ascending order of the original columns, lowest cluster on ties: whenever two clusters lie closer than
twice the rounding error that float32 can have made, the row is swept again in float64.

Kernels take rows as `RowArrays`, the table of means as `LaneTable` and what they find out as `Bounds`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from doccluster.kernels.jit import jit

LINE = 16  # float32 lanes of a cache line
OCTET = 8  # groups of a vector of bounds
ARITHMETIC = {"contract", "nnan", "nsz"}  # no reassociation: the error bound below counts the additions as written
UNIT_ROUNDOFF = 6.0e-8  # of float32, 2**-24, rounded up; the excess covers rows that are unit within 1e-5
ROUNDING = np.float32(1.2e-7)  # of storing a value near 1 as float32
LOWEST = np.float32(-2.0)  # below every cosine
HIGHEST = np.float32(2.0)  # above every cosine
SHORT = 40  # rows up to this length are sorted by insertion at one distance
CLOSER = 3  # distances of the sort: 1, 4, 13, 40 ... (Knuth 1973, section 5.2.1)
ROW_PLACE = 0xFFFFFFFF  # the low half of a key: a place in the row


class RowArrays(NamedTuple):
    """Documents as a sweep reads them: a `DocumentMatrix` without what only Python needs."""

    values: Any  # float32 array of shape (n_entries,)
    columns: Any  # int32 array of shape (n_entries,), ascending within each row
    starts: Any  # int64 array of shape (n_rows + 1,), where rows begin and the last one ends
    original: Any  # int32 array of shape (n_columns,), the column of the matrix as given


class LaneTable(NamedTuple):
    """Means by term: a dense line for each common term, a list of (cluster, value) for each rare one."""

    head: Any  # float32 array of shape (n_head, n_lanes), a lane for each cluster, whole cache lines
    tail_starts: Any  # int64 array, where the list of each term from n_head on begins
    tail_clusters: Any  # int32 array
    tail_values: Any  # float32 array
    n_clusters: Any  # int


class Bounds(NamedTuple):
    """What is known of each row: its label, and how similar it is to the means at least and at most."""

    labels: Any  # int32 array of shape (n_rows,)
    lower: Any  # float32 array of shape (n_rows,), at most the similarity to the own mean
    upper: Any  # float32 array (n_rows, n_groups), at least that to the other means of each group; or no columns

    def part(self, block: slice) -> Bounds:
        """Return the bounds of a block of rows, not copied."""
        return Bounds(self.labels[block], self.lower[block], self.upper[block])

    def forget(self, rows: Any, labels: Any) -> None:
        """Take over labels that were changed from outside for these rows."""
        self.labels[rows] = labels[rows]
        self.lower[rows] = LOWEST
        self.upper[rows] = HIGHEST


@jit(forceinline=True, inner=True)
def head_end(columns, first, last, n_head):
    """Return where the columns of the head end in a row; they are ascending, so those of the tail come last."""
    while last > first and columns[last - 1] >= n_head:
        last -= 1
    return last


@jit(forceinline=True, inner=True)
def rounding_error(first, split, last):
    """Return a bound on the float32 rounding of a row's similarities.

    By Cauchy and Schwarz the absolute terms of a product of unit vectors add up to at most 1, so each addition in the
    chain, one for four terms of the head and one for each of the tail, errs by at most one unit roundoff. The 12 covers
    what does not grow with the row (docs/explanation/numerics.md).
    """
    return np.float32(UNIT_ROUNDOFF * (0.25 * (split - first) + (last - split) + 12.0))


@jit(inner=True)
def add_tail(rows, split, last, table, start, sums):
    """Set `sums` to `start` plus the part of a row's similarities that its tail terms make."""
    values, columns, _, _ = rows
    head, tail_starts, tail_clusters, tail_values, _ = table
    n_head = head.shape[0]
    for lane in range(start.size):
        sums[lane] = start[lane]
    for position in range(split, last):
        term = columns[position] - n_head
        for entry in range(tail_starts[term], tail_starts[term + 1]):
            sums[tail_clusters[entry]] += values[position] * tail_values[entry]


@jit(inner=True)
def sort_in_place(keys, length):
    """Sort the first keys (Shell's method); numba's own sorts take seconds to compile."""
    apart = 1
    while apart * SHORT < length:
        apart = CLOSER * apart + 1
    while apart > 0:
        for end in range(apart, length):
            key = keys[end]
            slot = end
            while slot >= apart and keys[slot - apart] > key:
                keys[slot] = keys[slot - apart]
                slot -= apart
            keys[slot] = key
        apart //= CLOSER


@jit(inner=True)
def longest_row(starts):
    """Return the most entries of a row."""
    longest = 0
    for row in range(starts.size - 1):
        longest = max(longest, starts[row + 1] - starts[row])
    return longest


@jit(inner=True)
def order_by_original(columns, first, last, original, keys):
    """Make the low half of ``keys`` the places of a row's entries, from `first` on, in ascending original columns."""
    for offset in range(last - first):
        keys[offset] = (np.int64(original[columns[first + offset]]) << 32) | offset
    sort_in_place(keys, last - first)


@jit(inner=True)
def sweep_exactly(rows, first, last, table, keys, sums):
    """Fill the float64 `sums` with the similarities of one row, terms in ascending order of the original columns.

    `keys` is room for the longest row.
    """
    values, columns, _, original = rows
    head, tail_starts, tail_clusters, tail_values, _ = table
    n_head = head.shape[0]
    sums[:] = 0
    order_by_original(columns, first, last, original, keys)
    for place in range(last - first):
        position = first + (keys[place] & ROW_PLACE)
        value = np.float64(values[position])
        if columns[position] < n_head:
            row = head[columns[position]]
            for lane in range(sums.size):
                sums[lane] += value * np.float64(row[lane])
        else:
            term = columns[position] - n_head
            for entry in range(tail_starts[term], tail_starts[term + 1]):
                sums[tail_clusters[entry]] += value * np.float64(tail_values[entry])


@jit(fastmath=ARITHMETIC, forceinline=True, inner=True)
def highest(sums, first, last):
    """Return the largest of ``sums[first:last]``; written so that it runs many lanes at a time."""
    best = sums[first]
    for lane in range(first + 1, last):
        best = max(best, sums[lane])
    return best


@jit(fastmath={"nnan", "nsz"}, forceinline=True, inner=True)
def highest_of_lines(sums, first_lane, last_lane, left_out):
    """Return the largest of whole lines of `sums`; the lane `left_out` does not count (none if it lies outside).

    The inner loop has a length that is known when it is compiled, and no index that may count from the end, so that it
    becomes a few instructions on vectors.
    """
    best = np.float32(-np.inf)
    for first in range(first_lane, last_lane, LINE):
        for lane in range(LINE):
            value = sums[np.uint64(first + lane)]
            best = max(best, value if first + lane != left_out else np.float32(-np.inf))
    return best


@jit(forceinline=True, inner=True)
def lane_holding(value, sums, first_lane, last_lane):
    """Return the first lane of ``sums[first_lane:last_lane]`` that holds `value`, which one does."""
    lane = np.int64(first_lane)
    while lane < last_lane and sums[np.uint64(lane)] != value:
        lane += 1
    return lane


@jit(inner=True)
def first_holding(sums, value):
    """Return the lowest cluster whose similarity is `value`, which one is."""
    cluster = 0
    while sums[cluster] != value:
        cluster += 1
    return cluster


@jit(inner=True)
def sums_to_start_from(n_clusters, width):
    """Return the values that the sums of a row begin with: 0, and `LOWEST` in the lanes that stand for no cluster."""
    start = np.full(width, LOWEST, np.float32)
    start[:n_clusters] = 0
    return start


@jit(inner=True)
def peaks_of(width):
    """Return room for the peaks of `width` lanes and an octet more, whole lines of it."""
    return np.full((width // LINE + OCTET + LINE - 1) // LINE * LINE, -np.inf, np.float32)


@jit(fastmath=ARITHMETIC, inner=True)
def add_lines(values, columns, first, last, head, sums):
    """Add a row's products with the dense lines of its terms to `sums`, four terms at a time.

    Products of four are added to each other first: sums are read and written less often, and round less often.
    """
    position = first
    while position + 3 < last:
        a, b = head[columns[position]], head[columns[position + 1]]
        c, d = head[columns[position + 2]], head[columns[position + 3]]
        u, v, w, x = values[position], values[position + 1], values[position + 2], values[position + 3]
        for lane in range(sums.size):
            sums[lane] += (u * a[lane] + v * b[lane]) + (w * c[lane] + x * d[lane])
        position += 4
    while position < last:
        a, u = head[columns[position]], values[position]
        for lane in range(sums.size):
            sums[lane] += u * a[lane]
        position += 1


@jit(forceinline=True, inner=True)
def sum_row(rows, first, split, last, table, start, sums):
    """Set `sums` to `start` plus a row's similarities; the columns of the head end at `split`."""
    if split < last:
        add_tail(rows, split, last, table, start, sums)
    else:
        for lane in range(start.size):
            sums[np.uint64(lane)] = start[np.uint64(lane)]
    add_lines(rows.values, rows.columns, first, split, table.head, sums)


@jit(forceinline=True, inner=True)
def nearest_lane(sums, peaks):
    """Return the lane with the highest sum, that sum and the second highest; leave it out of the peak of its line."""
    top = highest_of_lines(peaks, 0, peaks.size, -1)
    line = lane_holding(top, peaks, 0, peaks.size)
    lane = lane_holding(top, sums, LINE * line, LINE * line + LINE)
    beside = highest_of_lines(sums, LINE * line, LINE * line + LINE, lane)
    second = max(beside, highest_of_lines(peaks, 0, peaks.size, line))
    peaks[line] = beside
    return lane, top, second


@jit(forceinline=True, inner=True)
def count_groups(width, group_width):
    """Return how many groups this many lanes make."""
    return (width + group_width - 1) // group_width


@jit(inner=True)
def fold_peaks(peaks, n_lines, lines_per_group, bounds):
    """Write the highest peak of each group of lines to `bounds`, which may be `peaks`, and -inf up to an octet."""
    n_groups = count_groups(n_lines, lines_per_group)
    for group in range(n_groups):
        bounds[group] = peaks[group * lines_per_group]
        for line in range(group * lines_per_group + 1, min((group + 1) * lines_per_group, n_lines)):
            bounds[group] = max(bounds[group], peaks[line])
    bounds[n_groups : n_groups + OCTET] = -np.inf


@jit(inner=True)
def write_bounds(highest, error, upper, row):
    """Set the bounds ``upper[row]`` to `highest` (n_groups,) plus `error`."""
    for group in range(upper.shape[1]):
        upper[row, group] = highest[group] + error


@jit(inner=True)
def decide_exactly(undecided, rows, table, group_width, bounds):
    """Find in float64 what a sweep in float32 leaves open, for the rows `undecided`."""
    starts, head, n_clusters = rows.starts, table.head, table.n_clusters
    labels, lower, upper = bounds
    exact, keys = np.empty(head.shape[1], np.float64), np.empty(longest_row(starts), np.int64)
    for row in undecided:
        first, last = starts[row], starts[row + 1]
        sweep_exactly(rows, first, last, table, keys, exact)
        top = highest(exact, np.int64(0), n_clusters)
        labels[row] = first_holding(exact, top)
        lower[row] = np.float32(top) - ROUNDING
        exact[labels[row]] = LOWEST
        for group in range(min(upper.shape[1], count_groups(exact.size, group_width))):
            lane = group * group_width
            upper[row, group] = highest(exact, lane, min(lane + group_width, n_clusters)) + ROUNDING


@jit(inner=True)
def sweep_rows(rows, table, which, group_width, bounds):
    """Write labels and bounds of the rows `which` as far as float32 decides them; return the others."""
    columns, starts = rows.columns, rows.starts
    labels, lower, upper = bounds
    n_head, width = table.head.shape
    start, sums, peaks = sums_to_start_from(table.n_clusters, width), np.empty(width, np.float32), peaks_of(width)
    undecided, n_undecided = np.empty(which.size, np.int64), 0
    for place in range(which.size):
        row = which[place]
        first, last = starts[row], starts[row + 1]
        split = head_end(columns, first, last, n_head)
        sum_row(rows, first, split, last, table, start, sums)
        for line in range(width // LINE):
            peaks[line] = highest_of_lines(sums, line * LINE, line * LINE + LINE, -1)
        error = rounding_error(first, split, last)
        lane, top, second = nearest_lane(sums, peaks)
        if top - second <= 2 * error:
            undecided[n_undecided] = row  # decided after the others: the rare way, taken here, would slow them down
            n_undecided += 1
            continue
        labels[row] = lane
        lower[row] = top - error
        if upper.shape[1] > 0:
            if group_width > LINE:
                fold_peaks(peaks, width // LINE, group_width // LINE, peaks)
            write_bounds(peaks, error, upper, row)
    return undecided[:n_undecided]


@jit
def assign_rows(rows, table, which, group_width, bounds):
    """Write the nearest cluster of the rows `which`, a lower bound on the similarity to it, and bounds on the others.

    The upper bounds are written for each group of lanes if there is room. Return how many rows were decided in float64.
    """
    undecided = sweep_rows(rows, table, which, group_width, bounds)
    decide_exactly(undecided, rows, table, group_width, bounds)
    return undecided.size


@jit
def own_products(rows, table, labels, in_order):
    """Return the float64 product of each row with the mean of its cluster.

    With `in_order` the terms are added in ascending order of the original columns, as the tie rule wants it.
    """
    values, columns, starts, original = rows
    head, tail_starts, tail_clusters, tail_values, _ = table
    products, keys = np.empty(labels.size), np.empty(longest_row(starts), np.int64)
    for row in range(labels.size):
        first, last, total = starts[row], starts[row + 1], 0.0
        begin = first if in_order else head_end(columns, first, last, head.shape[0])
        for entry in range(first, begin):
            total += np.float64(values[entry]) * np.float64(head[columns[entry], labels[row]])
        if in_order:
            order_by_original(columns, first, last, original, keys)
        for place in range(begin - first, last - first):
            entry = first + (keys[place] & ROW_PLACE if in_order else place)
            term = columns[entry] - head.shape[0]
            if term < 0:
                total += np.float64(values[entry]) * np.float64(head[columns[entry], labels[row]])
                continue
            for at in range(tail_starts[term], tail_starts[term + 1]):
                if tail_clusters[at] == labels[row]:
                    total += np.float64(values[entry]) * np.float64(tail_values[at])
        products[row] = total
    return products


@jit
def place_rows(rows, table, given):
    """Return the nearest and the second nearest cluster of each row, and their float64 similarities.

    `given` is a cluster for each row, or empty.

    Returned: `labels`, `runners_up` (int32 arrays of shape (n_rows,); -1 for a second that there is not); `best`,
    `second`, `own` (float64 arrays of shape (n_rows,)): the similarities to both (nan for a second that there is not),
    and to the given cluster (to the nearest without one).
    """
    starts, head, n_clusters = rows.starts, table.head, table.n_clusters
    n_rows = starts.size - 1
    labels, runners_up = np.empty(n_rows, np.int32), np.full(n_rows, np.int32(-1))
    best, second, own = np.empty(n_rows), np.full(n_rows, np.nan), np.empty(n_rows)
    exact, keys = np.empty(head.shape[1], np.float64), np.empty(longest_row(starts), np.int64)
    for row in range(n_rows):
        first, last = starts[row], starts[row + 1]
        sweep_exactly(rows, first, last, table, keys, exact)
        best[row] = highest(exact, np.int64(0), n_clusters)
        labels[row] = first_holding(exact, best[row])
        own[row] = exact[given[row]] if given.size else best[row]
        if n_clusters > 1:
            exact[labels[row]] = LOWEST
            second[row] = highest(exact, np.int64(0), n_clusters)
            runners_up[row] = first_holding(exact, second[row])
    return labels, best, runners_up, second, own


@jit
def similarity_rows(rows, table):
    """Return the float64 similarity of each row to each cluster, array of shape (n_rows, n_clusters)."""
    starts, head, n_clusters = rows.starts, table.head, table.n_clusters
    exact, keys = np.empty(head.shape[1], np.float64), np.empty(longest_row(starts), np.int64)
    similarities = np.empty((starts.size - 1, n_clusters))
    for row in range(starts.size - 1):
        first, last = starts[row], starts[row + 1]
        sweep_exactly(rows, first, last, table, keys, exact)
        similarities[row] = exact[:n_clusters]
    return similarities
