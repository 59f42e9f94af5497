"""Upper bounds of a row carried over a move of the means: a bound for each group of clusters, float32.

The loops are plain and of a length that vectors like: bounds are padded to whole octets, and what a padding group holds
is lower than every similarity. Built by hand they were no faster.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from doccluster.kernels.jit import jit


class Chords(NamedTuple):
    """Upper bounds on how far similarities can have risen, float32: |x.c' - x.c| <= |c' - c|."""

    of_group: Any  # array of shape (n_groups,), whole octets: the largest movement in each group
    of_rest: Any  # the same of the clusters that have no place of their own in the table of changes
    of_lane: Any  # array of shape (n_lanes,)


@jit(inner=True)
def carry_by_chords(chords, own_lower, upper, row, before):
    """Add `chords` (n_groups,) to the bounds ``upper[row]``; `before` is given what they were.

    Return how many reach `own_lower`.
    """
    reaching = 0
    for group in range(upper.shape[1]):
        before[group] = upper[row, group]
        upper[row, group] += chords[group]
        reaching += upper[row, group] >= own_lower
    return reaching


@jit(inner=True)
def carry_by_changes(before, changes, error, rest_chords, lanes, own, bounds):
    """Set bounds to what a row's changes leave possible; return how many reach the lower one.

    A place of the table of changes speaks of a group or of one cluster: the first n_groups places stand for the groups
    in order, the next n_groups, if `changes` has so many, hold one cluster of each. Where ``lanes[place]`` is not -1
    the change is the exact similarity, up to an error, to the cluster of that lane; it does not count for the `own`
    lane. Else the bound grows by the change and that of storing it, or by the chord of the rest of the group if that is
    less. `error` is (of a similarity, of a change with what storing it adds); `bounds` is (lower, upper (n_groups,)).
    """
    of_similarity, of_change = error
    own_lower, upper = bounds
    reaching, n_groups = 0, upper.size
    for group in range(n_groups):
        bound = before[group]
        if lanes[group] == -1:
            bound += min(changes[group] + of_change, rest_chords[group])
        elif lanes[group] != own:
            bound = max(bound, changes[group] + of_similarity)
        second = group + n_groups
        if second < changes.size and lanes[second] != -1 and lanes[second] != own:
            bound = max(bound, changes[second] + of_similarity)
        upper[group] = bound
        reaching += bound >= own_lower
    return reaching


@jit
def rows_in_question(chords, bounds):
    """Carry the bounds of all rows over a move of the means and return the rows that may have a new label.

    The labels of `bounds` are lanes.
    """
    labels, lower, upper = bounds
    before, rows = np.empty(upper.shape[1], np.float32), np.empty(labels.size, np.int64)
    n_rows = 0
    for row in range(labels.size):
        own_lower = lower[row] - chords.of_lane[labels[row]]
        lower[row] = own_lower
        if carry_by_chords(chords.of_group, own_lower, upper, row, before) > 0:
            rows[n_rows] = row
            n_rows += 1
    return rows[:n_rows]
