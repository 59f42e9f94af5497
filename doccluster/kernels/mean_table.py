"""The means laid out for the sweep: a dense head of common terms, lists of (lane, value) for the rare ones.

A lane is a column of the table. Clusters whose means are alike lie in neighbouring lanes, so that the clusters that a
document hesitates between share cache lines.
"""

from __future__ import annotations

import numpy as np

from doccluster.kernels.jit import jit


@jit
def write_head(rows, clusters, lanes, head):
    """Write the means of `clusters` into the dense head, whose row is the term and whose column is the lane."""
    values, columns, starts, stops = rows
    n_head = head.shape[0]
    for cluster in clusters:
        lane = lanes[cluster]
        for position in range(starts[cluster], stops[cluster]):
            if columns[position] < n_head:
                head[columns[position], lane] = values[position]


@jit
def replace_head(old_rows, rows, clusters, lanes, head, places, own_place, signed, rises):
    """Write new means of `clusters` in place of their old ones, and what changed into the head `rises`.

    ``rises[term, places[cluster]]`` becomes the new value if the place is the cluster's own, else the largest rise
    among the clusters that share it (the largest change if `signed`). A place of -1 is not recorded.
    """
    old_values, old_columns, old_starts, old_stops = old_rows
    values, columns, starts, stops = rows
    n_head = head.shape[0]
    is_new = np.zeros(n_head, np.bool_)
    unmatched = np.empty(n_head, np.int32)
    for cluster in clusters:
        lane, place = lanes[cluster], places[cluster]
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
def count_tail(columns, starts, stops, n_head, tail_starts):
    """Make `tail_starts` the start of each tail term's list, terms from `n_head` on, for the entries of some rows."""
    tail_starts[:] = 0
    for row in range(starts.size):
        for position in range(starts[row], stops[row]):
            if columns[position] >= n_head:
                tail_starts[columns[position] - n_head + 1] += 1
    for term in range(tail_starts.size - 1):
        tail_starts[term + 1] += tail_starts[term]


@jit
def write_tail(rows, n_head, clusters, lanes, tail_starts, tail_lanes, tail_values):
    """Fill the lists of the tail terms with the means of `clusters`, in their order."""
    values, columns, starts, stops = rows
    following = tail_starts[:-1].copy()
    for cluster in clusters:
        for position in range(starts[cluster], stops[cluster]):
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
    old_values, old_columns, old_starts, old_stops = old_rows
    values, columns, starts, stops = rows
    places, own_place = owners
    old = np.zeros(n_columns - n_head, np.float32)
    written = 0
    for cluster in clusters:
        place, is_own = places[cluster], own_place[cluster]
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
                    written = note_change(term, place, is_own, change, rises, listed, written)
        for position in range(old_starts[cluster], old_stops[cluster]):
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
