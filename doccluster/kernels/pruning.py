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
    first_cluster,
    head_end,
    highest,
    rounding_error,
    set_bounds,
    sweep,
    sweep_exactly,
)
from doccluster.kernels.cache_lines import LINE, add_lines
from doccluster.kernels.jit import jit


@jit
def sweep_group(
    values, columns, first, split, last, head, tail_starts, tail_lanes, tail_values, first_lane, last_lane, sums
):
    """Fill ``sums[first_lane:last_lane]``, whole cache lines, with the similarities of one row."""
    n_head = head.shape[0]
    for lane in range(first_lane, last_lane):
        sums[lane] = 0
    for position in range(split, last):
        term = columns[position] - n_head
        entry, end = tail_starts[term], tail_starts[term + 1]
        below = end
        while entry < below:  # the list is in order of the lanes
            middle = (entry + below) // 2
            if tail_lanes[middle] < first_lane:
                entry = middle + 1
            else:
                below = middle
        while entry < end and tail_lanes[entry] < last_lane:
            sums[tail_lanes[entry]] += values[position] * tail_values[entry]
            entry += 1
    add_lines(values, columns, first, split, head, first_lane, (last_lane - first_lane) // LINE, sums)


@jit
def carry_bounds(changes, error, place_group, place_lane, label_lane, rest_chord, upper, carried):
    """Write the upper bounds of one row after the move; return its exact own similarity if a column has it, else -2."""
    own = LOWEST
    carried[:] = upper
    for place in range(place_group.size):
        group = place_group[place]
        if place_lane[place] < 0:
            carried[group] = upper[group] + min(changes[place] + error + ROUNDING, rest_chord[group])
    for place in range(place_group.size):
        if place_lane[place] >= 0:
            if place_lane[place] == label_lane:
                own = changes[place]
            else:
                carried[place_group[place]] = max(carried[place_group[place]], changes[place] + error)
    return own


@jit
def can_stay(lower, upper, chord):
    """Return whether no other cluster can be as near as the own one."""
    reaching = 0
    for group in range(upper.size):
        reaching += upper[group] + chord[group] >= lower
    return reaching == 0


@jit
def assign_pruned(
    rows, magnitudes, table, changes_table, places, chords, group_width, most_groups, labels, lower, upper, work
):
    """Make `labels`, which belong to the old means, those of the new ones, and carry the bounds over.

    `changes_table` is laid out as the table of means, with places for lanes; `places` is (group, lane or -1 for a
    whole group) of each; `chords` is (largest movement in each group, largest of those without a place of their own,
    movement of each lane). A row for which more than `most_groups` groups remain is swept whole. `work` counts rows
    swept for changes, groups looked at, rows swept whole and rows decided in float64.
    """
    values, columns, starts, original = rows
    head, tail_starts, tail_lanes, tail_values, lanes = table
    change_head, change_starts, change_places, change_values, _ = changes_table
    place_group, place_lane = places
    group_chord, rest_chord, lane_chord = chords
    n_lanes = lanes.size
    n_groups = group_chord.size
    sums = np.empty(head.shape[1], np.float32)
    exact = np.empty(head.shape[1], np.float64)
    changes = np.empty(change_head.shape[1], np.float32)
    carried = np.empty(n_groups, np.float32)
    looked_at = np.empty(n_groups, np.int64)
    no_chord = np.zeros(n_groups, np.float32)
    for row in range(starts.size - 1):
        label_lane = lanes[labels[row]]
        own_group = label_lane // group_width
        own_lower = lower[row] - lane_chord[label_lane]
        if can_stay(own_lower, upper[row], group_chord):
            lower[row] = own_lower
            for group in range(n_groups):
                upper[row, group] += group_chord[group]
            continue
        first, last = starts[row], starts[row + 1]
        split = head_end(columns, first, last, head.shape[0])
        error = rounding_error(first, split, last)
        if place_group.size:
            work[0] += 1
            change_error = sweep(
                magnitudes, columns, first, last, change_head, change_starts, change_places, change_values, changes
            )
            own = carry_bounds(
                changes, change_error, place_group, place_lane, label_lane, rest_chord, upper[row], carried
            )
            if own > LOWEST:
                own_lower = max(own_lower, own - change_error)
            if can_stay(own_lower, carried, no_chord):
                lower[row] = own_lower
                upper[row] = carried
                continue
        else:
            carried[:] = upper[row]
        # the own group first: it gives the own similarity, which the other groups must reach
        sweep_group(
            values,
            columns,
            first,
            split,
            last,
            head,
            tail_starts,
            tail_lanes,
            tail_values,
            own_group * group_width,
            min((own_group + 1) * group_width, head.shape[1]),
            sums,
        )
        carried[own_group] = HIGHEST
        top = sums[label_lane]
        n_reaching = 0
        for group in range(n_groups):
            n_reaching += carried[group] >= top - error
        if n_reaching > most_groups:
            work[2] += 1
            label, similarity, was_exact = assign_one(
                values, columns, first, last, original, table, sums, exact, group_width, upper[row]
            )
            labels[row], lower[row] = label, similarity
            work[3] += was_exact
            continue
        work[1] += 1
        n_looked_at = 1
        looked_at[0] = own_group
        top_lane = label_lane
        second = LOWEST
        for index in range(n_groups + 1):
            group = own_group if index == 0 else index - 1
            if index > 0:
                if group == own_group or carried[group] < top - error:
                    continue
                sweep_group(
                    values,
                    columns,
                    first,
                    split,
                    last,
                    head,
                    tail_starts,
                    tail_lanes,
                    tail_values,
                    group * group_width,
                    min((group + 1) * group_width, head.shape[1]),
                    sums,
                )
                looked_at[n_looked_at] = group
                n_looked_at += 1
                work[1] += 1
            for lane in range(group * group_width, min((group + 1) * group_width, n_lanes)):
                if lane != top_lane:
                    if sums[lane] > top:
                        second = top
                        top = sums[lane]
                        top_lane = lane
                    elif sums[lane] > second:
                        second = sums[lane]
        if top - second <= 2 * error:
            work[3] += 1
            sweep_exactly(values, columns, first, last, original, head, tail_starts, tail_lanes, tail_values, exact)
            exact_top = highest(exact, 0, n_lanes)
            labels[row] = first_cluster(exact, exact_top, lanes)
            lower[row] = np.float32(exact_top) - ROUNDING
            set_bounds(exact, lanes[labels[row]], n_lanes, group_width, ROUNDING, upper[row])
            continue
        lower[row] = top - error
        upper[row] = carried
        sums[top_lane] = LOWEST
        for index in range(n_looked_at):
            group = looked_at[index]
            upper[row, group] = highest(sums, group * group_width, min((group + 1) * group_width, n_lanes)) + error
        if top_lane != label_lane:
            cluster = 0
            while lanes[cluster] != top_lane:
                cluster += 1
            labels[row] = cluster
