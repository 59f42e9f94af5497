"""The means of clusters: float64 sums over members ascending, only the terms that occur, stored as float32."""

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
def mean_rows(
    values,
    columns,
    row_starts,
    weights,
    starts,
    members,
    clusters,
    old_values,
    old_columns,
    old_starts,
    n_columns,
    new_values,
    new_columns,
    sizes,
    lengths,
    movements,
):
    """Write the unit means of `clusters` one after another, the length of each sum and how far each mean moved.

    The movement is the chord between old and new mean as stored. A cluster whose members have no direction together
    (none, or they cancel out) keeps its old mean.
    """
    sums = np.zeros(n_columns, np.float64)
    seen = np.full(n_columns, -1, np.int32)
    touched = np.empty(n_columns, np.int32)
    written = 0
    for index in range(clusters.size):
        cluster = clusters[index]
        n_touched = 0
        total_weight = 0.0
        for position in range(starts[cluster], starts[cluster + 1]):
            row = members[position]
            weight = weights[row]
            total_weight += weight
            for entry in range(row_starts[row], row_starts[row + 1]):
                column = columns[entry]
                if seen[column] != index:
                    seen[column] = index
                    touched[n_touched] = column
                    n_touched += 1
                    sums[column] = 0.0
                sums[column] += weight * values[entry]
        squared = 0.0
        for slot in range(n_touched):
            squared += sums[touched[slot]] * sums[touched[slot]]
        length = np.sqrt(squared)
        lengths[index] = length
        old_first, old_last = old_starts[cluster], old_starts[cluster + 1]
        begin = written
        if length <= CANCELLED * total_weight:
            for entry in range(old_first, old_last):
                new_values[written] = old_values[entry]
                new_columns[written] = old_columns[entry]
                written += 1
            movements[index] = 0.0
        else:
            chord = 0.0
            for slot in range(n_touched):
                column = touched[slot]
                value = np.float32(sums[column] / length)
                sums[column] = value
                if value != 0:
                    new_values[written] = value
                    new_columns[written] = column
                    written += 1
            for entry in range(old_first, old_last):
                column = old_columns[entry]
                difference = -np.float64(old_values[entry])
                if seen[column] == index:
                    difference += sums[column]
                    sums[column] = 0.0
                chord += difference * difference
            for slot in range(n_touched):
                chord += sums[touched[slot]] * sums[touched[slot]]
            movements[index] = np.sqrt(chord)
        sizes[index] = written - begin
    return written


@jit
def copy_rows(values, columns, starts, clusters, new_starts, new_values, new_columns):
    """Copy the rows `clusters` of one set of means to their places in another; `starts` are per entry of `clusters`."""
    for index in range(clusters.size):
        cluster = clusters[index]
        target = new_starts[cluster]
        for position in range(starts[index], starts[index + 1]):
            new_values[target] = values[position]
            new_columns[target] = columns[position]
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
