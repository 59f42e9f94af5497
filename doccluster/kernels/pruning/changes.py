"""Means replaced in their table, and what changed in them written down as a table of the same kind.

The table of changes is much narrower than that of the means: the clusters of a group share a place, whose change of a
term is the largest of theirs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from doccluster.kernels.jit import jit


class Places(NamedTuple):
    """Where the changes of moved clusters are recorded: in the place of their group, or in one of their own."""

    of_cluster: Any  # int32 array of shape (n_clusters,), -1 for clusters that did not move
    is_own: Any  # bool array of shape (n_clusters,)
    lane: Any  # int32 array of shape (n_places,), the lane of the cluster whose own place it is, else -1
    of_lane: Any  # int32 array of shape (n_lanes,), the own place of the cluster of each lane, else -1


class Recorded(NamedTuple):
    """Changes as they are recorded: those of the commonest terms dense, the others listed."""

    rises: Any  # float32 array of shape (n_dense, n_places)
    columns: Any  # int32 array, room for the listed ones
    places: Any  # int32 array of the same size
    values: Any  # float32 array of the same size


@jit
def replace_head(old, new, clusters, table, places, signed, rises):
    """Write the `new` means of `clusters` in place of the `old` ones, and what changed into the head `rises`.

    ``rises[term, place]`` becomes the new value if the place is the cluster's own, else the largest rise among the
    clusters that share it (the largest change if `signed`). A place of -1 is not recorded.
    """
    old_values, old_columns, old_starts, old_stops = old
    values, columns, starts, stops = new
    head, lanes = table.head, table.lanes
    of_cluster, own_place, _, _ = places
    n_head = head.shape[0]
    is_new = np.zeros(n_head, np.bool_)
    unmatched = np.empty(n_head, np.int32)
    for cluster in clusters:
        lane, place = lanes[cluster], of_cluster[cluster]
        is_shared, is_own = place >= 0 and not own_place[cluster], place >= 0 and own_place[cluster]
        n_unmatched = 0
        following, end = starts[cluster], stops[cluster]
        # terms that stay are in the same order if the sums were followed
        for position in range(old_starts[cluster], old_stops[cluster]):
            term = old_columns[position]
            if following < end and columns[following] == term:
                if term < n_head:
                    value = values[following]
                    head[term, lane] = value
                    if is_shared:
                        rise = value - old_values[position]
                        rises[term, place] = max(rises[term, place], abs(rise) if signed else rise)
                    elif is_own:
                        rises[term, place] = value
                following += 1
            elif term < n_head:
                unmatched[n_unmatched] = term
                n_unmatched += 1
        for position in range(following, end):
            term = columns[position]
            if term < n_head:
                is_new[term] = True
                value = values[position]
                if is_shared:
                    rise = value - head[term, lane]
                    rises[term, place] = max(rises[term, place], abs(rise) if signed else rise)
                elif is_own:
                    rises[term, place] = value
                head[term, lane] = value
        for index in range(n_unmatched):
            term = unmatched[index]
            if not is_new[term]:
                if is_shared and signed:
                    rises[term, place] = max(rises[term, place], abs(head[term, lane]))
                head[term, lane] = 0
        for position in range(following, end):
            if columns[position] < n_head:
                is_new[columns[position]] = False


@jit(inner=True)
def note_change(term, place, is_own, change, recorded, written):
    """Record a change in the dense part of the table of changes or append it to the list; return the entries listed."""
    rises, columns, places, values = recorded
    if term < rises.shape[0]:
        rises[term, place] = change if is_own else max(rises[term, place], change)
        return written
    columns[written] = term
    places[written] = place
    values[written] = change
    return written + 1


@jit
def note_tail_changes(old_means, means, clusters, table, places, signed, recorded):
    """Record what `replace_head` records, for the terms of the tail; return the number of entries listed.

    Listed is what the dense part has no room for. Several clusters of one place give several such entries for a term:
    added up they are at least the largest.
    """
    n_head = table.head.shape[0]
    old_values, old_columns, old_starts, old_stops = old_means
    values, columns, starts, stops = means
    of_cluster, own_place, _, _ = places
    old = np.zeros(table.tail_starts.size - 1, np.float32)
    written = 0
    for cluster in clusters:
        place, is_own = of_cluster[cluster], own_place[cluster]
        if place < 0:
            continue
        for position in range(old_starts[cluster], old_stops[cluster]):
            if old_columns[position] >= n_head:
                old[old_columns[position] - n_head] = old_values[position]
        for position in range(starts[cluster], stops[cluster]):
            term = columns[position]
            if term >= n_head:
                change = values[position] if is_own else values[position] - old[term - n_head]
                old[term - n_head] = 0
                if signed:
                    change = abs(change)
                if change > 0 or is_own:
                    written = note_change(term, place, is_own, change, recorded, written)
        for position in range(old_starts[cluster], old_stops[cluster]):
            term = old_columns[position]
            if term >= n_head:
                if signed and old[term - n_head] != 0 and not is_own:
                    change = abs(old[term - n_head])
                    written = note_change(term, place, False, change, recorded, written)
                old[term - n_head] = 0
    return written
