"""Assignment that skips what cannot have changed, exactly.

Lanes are taken in groups of neighbours. For every row there is a lower bound on the similarity to its own mean and, for
every group, an upper bound on the similarity to the other means of the group. When means move, bounds are carried over:

* by the triangle inequality, ``x.c' <= x.c + |c' - c|``, which needs no look at the row;
* by the change table, ``x.c' <= x.c + sum_t x_t max_j (c'_jt - c_jt)`` over the moved means j of a group: one column
  for a group, and much tighter, because a document meets few of the terms in which a mean moved;
* a mean that moved alone in its group, or far, has a column of its own in the change table and is computed exactly.

Only groups whose bound reaches the own similarity are looked at, sixteen lanes (one cache line) for each term.
The bounds are those of Elkan and of Yinyang (Ding et al., ICML 2015) on cosines (Schubert, Lang and Feher, SISAP 2021);
the sparse change table takes the place of their metric bound where that is too loose.
"""

from __future__ import annotations

import numpy as np

from doccluster.kernels.assignment import (
    LOWEST,
    ROUNDING,
    RowArrays,
    add_tail,
    clusters_by_lane,
    count_groups,
    decide_exactly,
    fold_peaks,
    head_end,
    highest,
    nearest_lane,
    peaks_of,
    rounding_error,
    sums_to_start_from,
    write_bounds,
)
from doccluster.kernels.jit import jit
from doccluster.kernels.pruning.bounds import carry_by_changes, carry_by_chords
from doccluster.kernels.simd import (
    highest_of_lines,
    lane_holding,
    sum_lines,
    sum_lines_and_peaks,
)
from doccluster.kernels.simd.lanes import LINE

# What looking at a row costs at all, and for each line of its terms; measured, in lines of a whole sweep.
WHOLE_ROW, WHOLE_LINE = 40.0, 1.0
CHANGES_ROW, CHANGES_LINE = 60.0, 2.0
GROUP_ROW, GROUP_LINE = 300.0, 5.0  # the lines of a group lie here and there
CARRIED_ROW = 20.0
SMALL_CHORD = np.float32(0.03)  # movements that tight bounds survive for several iterations
FEW = 2


@jit(forceinline=True, inner=True)
def is_whole_cheaper(n_terms, n_looks, group_lines, n_lines):
    """Return whether sweeping a row over all lines costs no more than looking at so many groups, one after another."""
    whole = WHOLE_ROW + WHOLE_LINE * n_terms * n_lines
    return n_looks * (GROUP_ROW + GROUP_LINE * n_terms * group_lines) >= whole


@jit(inner=True)
def look_at_groups(rows, row, head, group_width, own, sums, groups):
    """Look at the group of the `own` lane, then at those whose bound reaches the best similarity so far.

    `row` is where the row begins, where its tail begins, and where it ends; `sums` is what sums start from, and the
    sums, to which the tail has already been added; `groups` is the bounds of all groups, and room for those looked at.
    Write the highest similarity of each group looked at to its bound, the lane with the highest of all left out.
    Return that lane, its similarity, the second highest, and how many groups were looked at: 0 if a whole sweep is
    cheaper after all.
    """
    values, columns, _, _ = rows
    first, split, last = row
    start, sums = sums
    carried, looked_at = groups
    error = rounding_error(first, split, last)
    own_group, lines, n_lines = own // group_width, group_width // LINE, sums.size // LINE
    top_lane, top, n_looked_at = own, LOWEST, 0
    for index in range(carried.size + 1):
        group = own_group if index == 0 else index - 1
        if index > 0 and (group == own_group or carried[group] < top - error):
            continue
        first_lane, last_lane = group * group_width, min((group + 1) * group_width, sums.size)
        n_summed = (last_lane - first_lane) // LINE
        sum_lines(values, columns, first, split, head, first_lane, n_summed, start, split < last, sums)
        if index == 0:
            top = sums[own]
            reaching = 0
            for other in range(carried.size):
                reaching += carried[other] >= top - error and other != own_group
            if is_whole_cheaper(last - first, reaching, lines, n_lines):
                return own, top, top, 0
        looked_at[n_looked_at] = group
        n_looked_at += 1
        carried[group] = highest_of_lines(sums, first_lane, last_lane, -1)
        if carried[group] > top:
            top = carried[group]
            top_lane = lane_holding(top, sums, first_lane, last_lane)
    group = top_lane // group_width
    carried[group] = highest_of_lines(sums, group * group_width, min((group + 1) * group_width, sums.size), top_lane)
    second = LOWEST
    for index in range(n_looked_at):
        second = max(second, carried[looked_at[index]])
    return top_lane, top, second, n_looked_at


@jit
def assign_pruned(rows, magnitudes, table, movement, group_width, bounds):
    """Make the labels of `bounds`, which belong to the old means, those of the new ones, and carry the bounds over.

    `magnitudes` are the absolute values of the rows; `movement` is what is known of the move: the table of changes,
    laid out as the table of means with places for lanes, and the `Places` and `Chords`. Return how many rows were swept
    for changes, how many groups were looked at, and how many rows were swept whole and decided in float64.

    A row is looked at only if the triangle inequality leaves a group in question; then the table of changes tells which
    remain. When all means move little, few such groups are looked at at once: tight bounds will last.
    """
    values, columns, starts, original = rows
    sizes = RowArrays(magnitudes, columns, starts, original)
    head, lanes = table.head, table.lanes
    changes_table, places, chords = movement
    place_lane, place_of_lane, change_head = places.lane, places.of_lane, changes_table.head
    group_chord, rest_chord, lane_chord = chords
    labels, lower, upper = bounds
    (n_head, width), (n_changes, n_places) = head.shape, change_head.shape
    n_groups = count_groups(width, group_width)
    clusters = clusters_by_lane(lanes, width)
    start, sums, peaks = sums_to_start_from(lanes, width), np.empty(width, np.float32), peaks_of(width)
    zero, changes, change_peaks = np.zeros(n_places, np.float32), np.empty(n_places, np.float32), peaks_of(n_places)
    undecided, n_undecided = np.empty(labels.size, np.int64), 0
    before, carried = np.empty(upper.shape[1], np.float32), np.empty(n_groups, np.float32)
    looked_at = np.empty(n_groups, np.int64)
    few = FEW if highest(group_chord, 0, n_groups) < SMALL_CHORD else 0
    n_swept_for_changes, n_looked_at_in_all, n_swept_whole = 0, 0, 0
    for row in range(starts.size - 1):
        own = lanes[labels[row]]
        own_lower = lower[row] - lane_chord[own]
        n_reaching = carry_by_chords(group_chord, own_lower, upper, row, before)
        if n_reaching == 0:
            lower[row] = own_lower
            continue
        first, last = starts[row], starts[row + 1]
        if n_reaching > few:
            n_swept_for_changes += 1
            split = head_end(columns, first, last, n_changes)
            if split < last:
                add_tail(sizes, split, last, changes_table, zero, changes)
            sum_lines_and_peaks(
                magnitudes, columns, first, split, change_head, zero, split < last, changes, change_peaks
            )
            error = rounding_error(first, split, last)
            if place_of_lane[own] >= 0:
                own_lower = max(own_lower, changes[place_of_lane[own]] - error)
            n_reaching = carry_by_changes(
                before, changes, (error, error + ROUNDING), rest_chord, place_lane, own, (own_lower, upper[row])
            )
            if n_reaching == 0:
                lower[row] = own_lower
                continue
        # the own group first: it gives the own similarity, which the other groups must reach
        n_reaching += upper[row, own // group_width] < own_lower
        n_looked_at = 0
        split = head_end(columns, first, last, n_head)
        error = rounding_error(first, split, last)
        if not is_whole_cheaper(last - first, n_reaching, group_width // LINE, width // LINE):
            if split < last:
                add_tail(rows, split, last, table, start, sums)
            for group in range(n_groups):
                carried[group] = upper[row, group]
            top_lane, top, second, n_looked_at = look_at_groups(
                rows, (first, split, last), head, group_width, own, (start, sums), (carried, looked_at)
            )
            n_looked_at_in_all += max(1, n_looked_at)
        if n_looked_at == 0:
            n_swept_whole += 1
            if split < last:
                add_tail(rows, split, last, table, start, sums)
            sum_lines_and_peaks(values, columns, first, split, head, start, split < last, sums, peaks)
            top_lane, top, second = nearest_lane(sums, peaks)
        if top - second <= 2 * error:
            undecided[n_undecided] = row
            n_undecided += 1
            continue
        labels[row] = clusters[top_lane]
        lower[row] = top - error
        if n_looked_at == 0:
            if group_width > LINE:
                fold_peaks(peaks, width // LINE, group_width // LINE, peaks)
            write_bounds(peaks, error, upper, row)
        for index in range(n_looked_at):
            upper[row, looked_at[index]] = carried[looked_at[index]] + error
    decide_exactly(undecided[:n_undecided], rows, table, group_width, bounds)
    return n_swept_for_changes, n_looked_at_in_all, n_swept_whole, n_undecided
