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
    HIGHEST,
    LOWEST,
    ROUNDING,
    assign_one,
    clusters_by_lane,
    decide_exactly,
    head_end,
    highest,
    rounding_error,
    sweep,
)
from doccluster.kernels.cache_lines import LINE, add_lines
from doccluster.kernels.jit import jit
from doccluster.kernels.line_extremes import highest_of_lines, lane_holding

# What looking at a row costs at all, and for each line of its terms; measured, in lines of a whole sweep.
WHOLE_ROW, WHOLE_LINE = 60.0, 1.0
CHANGES_ROW, CHANGES_LINE = 96.0, 2.0
GROUP_ROW, GROUP_LINE = 190.0, 3.4  # the lines of a group lie here and there
CARRIED_ROW = 8.0
SMALL_CHORD = np.float32(0.03)  # movements that tight bounds survive for several iterations
FEW = 2


@jit
def add_tail(values, columns, split, last, n_head, n_lanes, tail_starts, tail_lanes, tail_values, sums):
    """Fill `sums` with the part of the similarities of one row that its tail terms make, for all `n_lanes` lanes."""
    for lane in range(n_lanes):
        sums[lane] = 0
    for position in range(split, last):
        term = columns[position] - n_head
        for entry in range(tail_starts[term], tail_starts[term + 1]):
            sums[tail_lanes[entry]] += values[position] * tail_values[entry]


@jit
def add_group(values, columns, first, split, head, group, group_width, sums):
    """Add the part that the head terms make, for the lanes of one group: whole cache lines."""
    first_lane = group * group_width
    last_lane = min(first_lane + group_width, head.shape[1])
    add_lines(values, columns, first, split, head, first_lane, (last_lane - first_lane) // LINE, sums)


@jit
def carry_bounds(changes, error, n_shared, place_group, place_lane, label_lane, rest_chord, upper, row, carried):
    """Write the upper bounds of one row after the move; return its own similarity if a place has it, else -2."""
    own = LOWEST
    for group in range(carried.size):
        carried[group] = upper[row, group]
    for place in range(n_shared):
        group = place_group[place]
        carried[group] += min(changes[place] + error + ROUNDING, rest_chord[group])
    for place in range(n_shared, place_group.size):
        if place_lane[place] == label_lane:
            own = changes[place]
        else:
            carried[place_group[place]] = max(carried[place_group[place]], changes[place] + error)
    return own


@jit
def look_at_groups(values, columns, first, split, head, group_width, error, own, sums, carried, looked_at):
    """Look at every group whose bound reaches the best similarity so far; the own group has been looked at.

    Write the highest similarity of each group to `carried` of `looked_at`, the lane with the highest of all left out.
    Return that lane, its similarity, the second highest, and how many groups were looked at.
    """
    own_group = own // group_width
    top_lane, top = own, sums[own]
    n_looked_at = 0
    for index in range(carried.size + 1):
        group = own_group if index == 0 else index - 1
        if index > 0:
            if group == own_group or carried[group] < top - error:
                continue
            add_group(values, columns, first, split, head, group, group_width, sums)
        looked_at[n_looked_at] = group
        n_looked_at += 1
        first_lane, last_lane = group * group_width, min((group + 1) * group_width, sums.size)
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
def count_reaching(lower, carried):
    """Return how many groups may hold a cluster as near as the own one."""
    reaching = 0
    for group in range(carried.size):
        reaching += carried[group] >= lower
    return reaching


@jit
def is_whole_cheaper(n_terms, n_looks, group_lines, n_lines):
    """Return whether sweeping a row over all lines costs no more than looking at so many groups, one after another."""
    whole = WHOLE_ROW + WHOLE_LINE * n_terms * n_lines
    return n_looks * (GROUP_ROW + GROUP_LINE * n_terms * group_lines) >= whole


@jit
def assign_pruned(rows, magnitudes, table, changes_table, places, chords, group_width, labels, lower, upper, work):
    """Make `labels`, which belong to the old means, those of the new ones, and carry the bounds over.

    `changes_table` is laid out as the table of means, with places for lanes; `places` is (group, lane or -1 for a
    whole group) of each; `chords` is (largest movement in each group, largest of those without a place of their own,
    movement of each lane). `work` counts rows swept for changes, groups looked at, rows swept whole and rows decided in
    float64.

    A row is looked at only if the triangle inequality leaves a group in question; then the table of changes tells which
    remain. When all means move little, few such groups are looked at at once: tight bounds will last.
    """
    values, columns, starts, _ = rows
    head, tail_starts, tail_lanes, tail_values, lanes = table
    change_head, change_starts, change_places, change_values, _ = changes_table
    place_group, place_lane = places
    group_chord, rest_chord, lane_chord = chords
    width, n_groups, n_head = head.shape[1], group_chord.size, head.shape[0]
    clusters = clusters_by_lane(lanes, width)
    sums, undecided, n_undecided = np.full(width, LOWEST, np.float32), np.empty(labels.size, np.int64), 0
    n_places = change_head.shape[1]
    changes, carried = np.empty(n_places, np.float32), np.empty(n_groups, np.float32)
    looked_at = np.empty(n_groups, np.int64)
    n_shared = 0
    while n_shared < place_lane.size and place_lane[n_shared] < 0:
        n_shared += 1
    few = FEW if highest(group_chord, 0, n_groups) < SMALL_CHORD else 0
    for row in range(starts.size - 1):
        own = lanes[labels[row]]
        own_lower = lower[row] - lane_chord[own]
        n_reaching = 0
        for group in range(n_groups):
            carried[group] = upper[row, group] + group_chord[group]
            n_reaching += carried[group] >= own_lower
        if n_reaching == 0:
            lower[row] = own_lower
            for group in range(n_groups):
                upper[row, group] = carried[group]
            continue
        first, last = starts[row], starts[row + 1]
        split = head_end(columns, first, last, n_head)
        error = rounding_error(first, split, last)
        if n_reaching > few:
            work[0] += 1
            change_error = sweep(
                magnitudes,
                columns,
                first,
                last,
                change_head,
                change_starts,
                change_places,
                change_values,
                n_places,
                changes,
            )
            similarity = carry_bounds(
                changes, change_error, n_shared, place_group, place_lane, own, rest_chord, upper, row, carried
            )
            if similarity > LOWEST:
                own_lower = max(own_lower, similarity - change_error)
            if count_reaching(own_lower, carried) == 0:
                lower[row] = own_lower
                for group in range(n_groups):
                    upper[row, group] = carried[group]
                continue
        # the own group first: it gives the own similarity, which the other groups must reach
        own_group = own // group_width
        carried[own_group] = HIGHEST
        sweeps = is_whole_cheaper(last - first, count_reaching(own_lower, carried), group_width // LINE, width // LINE)
        if not sweeps:
            work[1] += 1
            add_tail(values, columns, split, last, n_head, lanes.size, tail_starts, tail_lanes, tail_values, sums)
            add_group(values, columns, first, split, head, own_group, group_width, sums)
            n_looks = count_reaching(sums[own] - error, carried) - 1
            sweeps = is_whole_cheaper(last - first, n_looks, group_width // LINE, width // LINE)
        if sweeps:
            work[2] += 1
            label, similarity = assign_one(values, columns, first, last, table, clusters, sums, group_width, upper, row)
            if label < 0:
                undecided[n_undecided] = row
                n_undecided += 1
                continue
            labels[row] = label
            lower[row] = similarity
            continue
        top_lane, top, second, n_looked_at = look_at_groups(
            values, columns, first, split, head, group_width, error, own, sums, carried, looked_at
        )
        work[1] += n_looked_at - 1
        if top - second <= 2 * error:
            undecided[n_undecided] = row
            n_undecided += 1
            continue
        lower[row] = top - error
        for index in range(n_looked_at):
            carried[looked_at[index]] += error
        for group in range(n_groups):
            upper[row, group] = carried[group]
        if top_lane != own:
            labels[row] = clusters[top_lane]
    work[3] += n_undecided
    decide_exactly(undecided[:n_undecided], rows, table, group_width, labels, lower, upper)
