"""Upper bounds of a row carried over a move of the means: a bound for each group of clusters, float32.

The loops are plain and of a length that vectors like: bounds are padded to whole octets, and what a padding group holds
is lower than every similarity. Built by hand they were no faster.
"""

from __future__ import annotations

from doccluster.kernels.jit import jit


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
def carry_by_changes(before, changes, slack, error, rest_chords, lanes, own, own_lower, upper, row):
    """Set the bounds ``upper[row]`` to what the row's changes leave possible; return how many reach `own_lower`.

    A place of the table of changes speaks of a group or of one cluster: the first n_groups places stand for the groups
    in order, the next n_groups, if `changes` has so many, hold one cluster of each. Where ``lanes[place]`` is not -1
    the change is the exact similarity, up to `error`, to the cluster of that lane; it does not count for the `own`
    lane. Else the bound grows by the change and `slack`, or by the chord of the rest of the group if that is less.
    """
    reaching, n_groups = 0, upper.shape[1]
    for group in range(n_groups):
        bound = before[group]
        if lanes[group] == -1:
            bound += min(changes[group] + slack, rest_chords[group])
        elif lanes[group] != own:
            bound = max(bound, changes[group] + error)
        second = group + n_groups
        if second < changes.size and lanes[second] != -1 and lanes[second] != own:
            bound = max(bound, changes[second] + error)
        upper[row, group] = bound
        reaching += bound >= own_lower
    return reaching


@jit(inner=True)
def write_bounds(highest, error, upper, row):
    """Set the bounds ``upper[row]`` to `highest` (n_groups,) plus `error`."""
    for group in range(upper.shape[1]):
        upper[row, group] = highest[group] + error
