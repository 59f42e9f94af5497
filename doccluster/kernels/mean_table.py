"""The means laid out for the sweep: a dense head of common terms, lists of (lane, value) for the rare ones.

A lane is a column of the table. Clusters whose means are alike lie in neighbouring lanes, so that the clusters that a
document hesitates between share cache lines.
"""

from __future__ import annotations

import numpy as np

from doccluster.kernels.jit import jit


@jit
def write_head(values, columns, starts, clusters, lanes, head):
    """Write the means of `clusters` into the dense head, whose row is the term and whose column is the lane."""
    n_head = head.shape[0]
    for cluster in clusters:
        lane = lanes[cluster]
        for position in range(starts[cluster], starts[cluster + 1]):
            if columns[position] < n_head:
                head[columns[position], lane] = values[position]


@jit
def replace_head(
    old_values,
    old_columns,
    old_starts,
    values,
    columns,
    starts,
    clusters,
    lanes,
    head,
    places,
    own_place,
    signed,
    rises,
):
    """Write new means of `clusters` in place of their old ones, and what changed into the head `rises`.

    ``rises[term, places[cluster]]`` becomes the new value if the place is the cluster's own, else the largest rise
    among the clusters that share it (the largest change if `signed`). A place of -1 is not recorded.
    """
    n_head = head.shape[0]
    seen = np.full(n_head, -1, np.int32)
    for cluster in clusters:
        lane = lanes[cluster]
        place = places[cluster]
        for position in range(starts[cluster], starts[cluster + 1]):
            term = columns[position]
            if term < n_head:
                seen[term] = cluster
                value = values[position]
                if place >= 0:
                    if own_place[cluster]:
                        rises[term, place] = value
                    else:
                        rise = value - head[term, lane]
                        rises[term, place] = max(rises[term, place], abs(rise) if signed else rise)
                head[term, lane] = value
        for position in range(old_starts[cluster], old_starts[cluster + 1]):
            term = old_columns[position]
            if term < n_head and seen[term] != cluster:
                head[term, lane] = 0
                if signed and place >= 0 and not own_place[cluster]:
                    rises[term, place] = max(rises[term, place], abs(old_values[position]))


@jit
def note_change(term, place, is_own, change, rises, listed, written):
    """Record a change in the dense part of the table of changes or append it to the list; return the entries listed."""
    if term < rises.shape[0]:
        rises[term, place] = change if is_own else max(rises[term, place], change)
        return written
    columns, places, values = listed
    columns[written] = term
    places[written] = place
    values[written] = change
    return written + 1


@jit
def count_tail(columns, n_head, tail_starts):
    """Make `tail_starts` the start of each tail term's list, terms from `n_head` on."""
    tail_starts[:] = 0
    for position in range(columns.size):
        if columns[position] >= n_head:
            tail_starts[columns[position] - n_head + 1] += 1
    for term in range(tail_starts.size - 1):
        tail_starts[term + 1] += tail_starts[term]


@jit
def write_tail(values, columns, starts, n_head, clusters, lanes, tail_starts, tail_lanes, tail_values):
    """Fill the lists of the tail terms with the means of `clusters`, in their order."""
    following = tail_starts[:-1].copy()
    for cluster in clusters:
        for position in range(starts[cluster], starts[cluster + 1]):
            if columns[position] >= n_head:
                term = columns[position] - n_head
                slot = following[term]
                tail_lanes[slot] = lanes[cluster]
                tail_values[slot] = values[position]
                following[term] = slot + 1


@jit
def note_tail_changes(old_rows, rows, clusters, sizes, owners, signed, rises, listed):
    """Record what `replace_head` records, for the terms of the tail; return the number of entries listed.

    `sizes` are the terms of the head and all terms; `listed` receives the columns, places and values that the dense
    part of the table of changes has no room for. Several clusters of one place give several such entries for a
    term: added up they are at least the largest.
    """
    n_head, n_columns = sizes
    old_values, old_columns, old_starts = old_rows
    values, columns, starts = rows
    places, own_place = owners
    old = np.zeros(n_columns - n_head, np.float32)
    written = 0
    for cluster in clusters:
        place, is_own = places[cluster], own_place[cluster]
        if place < 0:
            continue
        for position in range(old_starts[cluster], old_starts[cluster + 1]):
            if old_columns[position] >= n_head:
                old[old_columns[position] - n_head] = old_values[position]
        for position in range(starts[cluster], starts[cluster + 1]):
            term = columns[position]
            if term >= n_head:
                change = values[position] if is_own else values[position] - old[term - n_head]
                old[term - n_head] = 0
                if signed:
                    change = abs(change)
                if change > 0 or is_own:
                    written = note_change(term, place, is_own, change, rises, listed, written)
        for position in range(old_starts[cluster], old_starts[cluster + 1]):
            term = old_columns[position]
            if term >= n_head:
                if signed and old[term - n_head] != 0 and not is_own:
                    change = abs(old[term - n_head])
                    written = note_change(term, place, False, change, rises, listed, written)
                old[term - n_head] = 0
    return written


@jit
def place_tail(columns, lanes, values, n_head, tail_starts, tail_lanes, tail_values):
    """Sort entries (column, lane, value) of the tail into the list of each term, keeping their order."""
    following = tail_starts[:-1].copy()
    for entry in range(columns.size):
        slot = following[columns[entry] - n_head]
        tail_lanes[slot] = lanes[entry]
        tail_values[slot] = values[entry]
        following[columns[entry] - n_head] = slot + 1
