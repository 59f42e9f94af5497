"""The means of clusters: float64 sums over members ascending, only the terms that occur, stored as float32.

Where all sums are exact in float64 their order does not matter: then those that left are taken away from the old sums
and those that joined are added, which gives the same numbers for less work.
"""

from __future__ import annotations

import numpy as np

from doccluster.kernels.jit import jit

CANCELLED = 1e-9  # a sum this short beside the weight of its members is rounding: the members cancel out


@jit
def list_members(labels, starts, members):
    """Make `members` the rows of each cluster, ascending, and `starts` where each cluster begins (a counting sort)."""
    starts[:] = 0
    for row in range(labels.size):
        starts[labels[row] + 1] += 1
    for cluster in range(starts.size - 1):
        starts[cluster + 1] += starts[cluster]
    following = starts[:-1].copy()
    for row in range(labels.size):
        members[following[labels[row]]] = row
        following[labels[row]] += 1


@jit
def list_entries(starts, members, row_starts, entries):
    """Write how many entries the members of each cluster have together."""
    for cluster in range(starts.size - 1):
        total = 0
        for position in range(starts[cluster], starts[cluster + 1]):
            total += row_starts[members[position] + 1] - row_starts[members[position]]
        entries[cluster] = total


@jit
def add_row(documents, row, weight, mark, sums, seen, touched, n_touched):
    """Add a weighted row to `sums`; list the terms not yet marked as seen, and return their number."""
    values, columns, row_starts, _ = documents
    for entry in range(row_starts[row], row_starts[row + 1]):
        column = columns[entry]
        if seen[column] != mark:
            seen[column] = mark
            touched[n_touched] = column
            n_touched += 1
            sums[column] = 0.0
        sums[column] += weight * values[entry]
    return n_touched


@jit
def sum_members(documents, members, mark, sums, seen, touched):
    """Add up the rows `members`; return how many terms they have and their total weight."""
    weights = documents[3]
    n_touched, total = 0, 0.0
    for row in members:
        total += weights[row]
        n_touched = add_row(documents, row, weights[row], mark, sums, seen, touched, n_touched)
    return n_touched, total


@jit
def follow_members(documents, old_columns, old_sums, left, joined, mark, sums, seen, touched):
    """Bring old sums to the members after some rows left and some joined; return how many terms are touched."""
    n_touched = old_columns.size
    for entry in range(old_columns.size):
        column = old_columns[entry]
        seen[column] = mark
        touched[entry] = column
        sums[column] = old_sums[entry]
    for row in left:
        n_touched = add_row(documents, row, -1.0, mark, sums, seen, touched, n_touched)
    for row in joined:
        n_touched = add_row(documents, row, 1.0, mark, sums, seen, touched, n_touched)
    return n_touched


@jit
def store_mean(terms, length, last_mean, mark, sums, seen, new, written):
    """Write the unit mean of the sums of some terms; return where it ends, and its chord to the last mean.

    `sums` of these terms are overwritten.
    """
    last_values, last_columns = last_mean
    values, columns, kept_sums = new
    for term in terms:
        value = np.float32(sums[term] / length)
        if value != 0:
            values[written] = value
            columns[written] = term
            if kept_sums.size:
                kept_sums[written] = sums[term]
            written += 1
        sums[term] = value
    squared = 0.0
    for entry in range(last_columns.size):
        term = last_columns[entry]
        difference = -np.float64(last_values[entry])
        if seen[term] == mark:
            difference += sums[term]
            sums[term] = 0.0
        squared += difference * difference
    for term in terms:
        squared += sums[term] * sums[term]
    return written, np.sqrt(squared)


@jit
def mean_rows(documents, lists, moves, clusters, follows, old, n_columns, new, found):
    """Write the unit means of `clusters` one after another, the length of each sum and how far each mean moved.

    The movement is the chord between old and new mean as stored. A cluster whose members have no direction together
    (none, or they cancel out) keeps its old mean, and has no sums.

    Parameters
    ----------
    documents : values, columns, starts and weights of the rows
    lists : where the members of each cluster start, and the members
    moves : where those that left each cluster start, and these; the same of those that joined
    follows : bool for each of `clusters`: whether old sums are followed instead of members added up
    old : values, columns, sums (none where they are not kept) and starts of the means before
    new : values, columns and sums to be written, one mean after another
    found : sizes, lengths, movements and whether there are sums, for each of `clusters`
    """
    starts, members = lists
    left_starts, left, joined_starts, joined = moves
    old_values, old_columns, old_sums, old_starts = old
    new_values, new_columns, _ = new
    sizes, lengths, movements, has_sums = found
    sums = np.zeros(n_columns, np.float64)
    seen = np.full(n_columns, -1, np.int32)
    touched = np.empty(n_columns, np.int32)
    written = 0
    for index in range(clusters.size):
        cluster = clusters[index]
        first, last = starts[cluster], starts[cluster + 1]
        old_first, old_last = old_starts[cluster], old_starts[cluster + 1]
        if follows[index]:
            n_touched = follow_members(
                documents,
                old_columns[old_first:old_last],
                old_sums[old_first:old_last],
                left[left_starts[cluster] : left_starts[cluster + 1]],
                joined[joined_starts[cluster] : joined_starts[cluster + 1]],
                index,
                sums,
                seen,
                touched,
            )
            total_weight = float(last - first)
        else:
            n_touched, total_weight = sum_members(documents, members[first:last], index, sums, seen, touched)
        squared = 0.0
        for slot in range(n_touched):
            squared += sums[touched[slot]] * sums[touched[slot]]
        length = np.sqrt(squared)
        lengths[index] = length
        has_sums[index] = length > CANCELLED * total_weight
        begin = written
        if not has_sums[index]:
            for entry in range(old_first, old_last):
                new_values[written] = old_values[entry]
                new_columns[written] = old_columns[entry]
                written += 1
            movements[index] = 0.0
        else:
            last_mean = old_values[old_first:old_last], old_columns[old_first:old_last]
            written, movements[index] = store_mean(
                touched[:n_touched], length, last_mean, index, sums, seen, new, written
            )
        sizes[index] = written - begin
    return written


@jit
def copy_rows(values, columns, sums, starts, clusters, new_starts, new_values, new_columns, new_sums):
    """Copy the rows `clusters` of one set of means to their places in another; `starts` are per entry of `clusters`."""
    for index in range(clusters.size):
        cluster = clusters[index]
        target = new_starts[cluster]
        for position in range(starts[index], starts[index + 1]):
            new_values[target] = values[position]
            new_columns[target] = columns[position]
            if new_sums.size:
                new_sums[target] = sums[position]
            target += 1


@jit
def member_similarities(
    values,
    columns,
    row_starts,
    original,
    in_order,
    starts,
    members,
    first_cluster,
    last_cluster,
    mean_values,
    mean_columns,
    mean_starts,
    n_columns,
    similarities,
):
    """Write the float64 similarity of each member of some clusters to its own mean.

    With `in_order` the terms are added in ascending order of the original columns, as the tie rule wants it.
    """
    mean = np.zeros(n_columns, np.float32)
    for cluster in range(first_cluster, last_cluster):
        for position in range(mean_starts[cluster], mean_starts[cluster + 1]):
            mean[mean_columns[position]] = mean_values[position]
        for position in range(starts[cluster], starts[cluster + 1]):
            row = members[position]
            first, last = row_starts[row], row_starts[row + 1]
            total = 0.0
            if in_order:
                for offset in np.argsort(original[columns[first:last]]):
                    total += np.float64(values[first + offset]) * np.float64(mean[columns[first + offset]])
            else:
                for entry in range(first, last):
                    total += np.float64(values[entry]) * np.float64(mean[columns[entry]])
            similarities[row] = total
        for position in range(mean_starts[cluster], mean_starts[cluster + 1]):
            mean[mean_columns[position]] = 0
