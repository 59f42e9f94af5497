"""The means of clusters: float64 sums over members ascending, only the terms that occur, stored as float32.

Where all sums are exact in float64 their order does not matter: then those that left are taken away from the old sums
and those that joined are added, which gives the same numbers for less work.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from doccluster.kernels.jit import jit
from doccluster.kernels.prefetching import later_row, prefetch_row
from doccluster.kernels.reordering import ROW_PLACE, longest_row, order_by_original

CANCELLED = 1e-9  # a sum this short beside the weight of its members is rounding: the members cancel out


class WeightedRows(NamedTuple):
    """Documents as their sums read them."""

    values: Any  # float32 array of shape (n_entries,)
    columns: Any  # int32 array of shape (n_entries,)
    starts: Any  # int64 array of shape (n_documents + 1,)
    weights: Any  # float64 array of shape (n_documents,)


class Listed(NamedTuple):
    """The rows of each cluster: those of cluster c are ``rows[starts[c]:starts[c + 1]]``, ascending."""

    starts: Any  # int64 array of shape (n_clusters + 1,)
    rows: Any  # int32 array


class Membership(NamedTuple):
    """Who is in each cluster, and who came and went since its sums were made."""

    sizes: Any  # int64 array of shape (n_clusters,)
    members: Any  # Listed; may be missing where all sums are followed
    left: Any  # Listed
    joined: Any  # Listed


class SummedMeans(NamedTuple):
    """Means as `MeanArrays`, with the sums they were made of; none where they are not kept."""

    values: Any  # float32 array
    columns: Any  # int32 array
    sums: Any  # float64 array
    starts: Any  # int64 array of shape (n_clusters,)
    stops: Any  # int64 array of shape (n_clusters,)


class MeanRoom(NamedTuple):
    """Where means are written, one after another; no sums where they are not kept."""

    values: Any  # float32 array
    columns: Any  # int32 array
    sums: Any  # float64 array


class ByColumn(NamedTuple):
    """Room for a thread, by column: sums and values are all zero before and after, marks are no cluster to come."""

    sums: Any  # float64 array of shape (n_columns,)
    values: Any  # float32 array
    marks: Any  # int32 array
    touched: Any  # int32 array, a list of columns


class MeansFound(NamedTuple):
    """What `mean_rows` says of each of its clusters."""

    sizes: Any  # int64 array, how many terms the mean has
    lengths: Any  # float64 array, the length of the sum
    movements: Any  # float64 array, the chord between old and new mean as stored
    has_sums: Any  # bool array, whether the mean was made of the sums


@jit
def list_members(labels, row_starts, starts, members, entries):
    """Make `members` the rows of each cluster, ascending, and `starts` where each cluster begins (a counting sort).

    `entries` is given how many entries the members of each cluster have together; `row_starts` is where rows begin.
    """
    starts[:] = 0
    entries[:] = 0
    for row in range(labels.size):
        starts[labels[row] + 1] += 1
        entries[labels[row]] += row_starts[row + 1] - row_starts[row]
    for cluster in range(starts.size - 1):
        starts[cluster + 1] += starts[cluster]
    following = starts[:-1].copy()
    for row in range(labels.size):
        members[following[labels[row]]] = row
        following[labels[row]] += 1


@jit(inner=True)
def add_rows(documents, rows, sign, mark, room, listed, n_listed):
    """Add `sign` times the weighted rows to the sums of `room`, and list the columns not yet marked; return their
    number, and the weight of the rows."""
    values, columns, row_starts, weights = documents
    sums, _, seen, _ = room
    total = 0.0
    for place in range(rows.size):
        row = rows[place]
        prefetch_row(values, columns, row_starts[later_row(rows, place)])
        weight = sign * weights[row]
        total += weight
        for entry in range(row_starts[row], row_starts[row + 1]):
            column = columns[entry]
            if seen[column] != mark:
                seen[column] = mark
                listed[n_listed] = column
                n_listed += 1
            sums[column] += weight * values[entry]
    return n_listed, total


@jit(inner=True)
def sum_members(documents, members, old, mark, room, new):
    """Add up the rows `members`: their terms to `new`, the sums, and as values those of the `old` mean.

    Return how many terms there are, the total weight, and the squared length of the part of the old mean that is in
    none of the terms.
    """
    last_values, last_columns, _ = old
    last, columns, sums = new
    dense_sums, dense_last, _, _ = room
    n_terms, total = add_rows(documents, members, 1.0, mark, room, columns, np.int64(0))
    for entry in range(last_columns.size):
        dense_last[last_columns[entry]] = last_values[entry]
    for term in range(n_terms):
        column = columns[term]
        sums[term], last[term] = dense_sums[column], dense_last[column]
        dense_sums[column], dense_last[column] = 0.0, 0.0
    gone = 0.0
    for entry in range(last_columns.size):
        gone += np.float64(dense_last[last_columns[entry]]) ** 2
        dense_last[last_columns[entry]] = 0.0
    return n_terms, total, gone


@jit(inner=True)
def follow_members(documents, old, left, joined, mark, room, new):
    """Bring old sums to the members after some rows left and some joined; return how many terms they have.

    The terms of the `old` mean stay in their order, new ones follow; as values `new` is given the old ones.
    """
    old_values, old_columns, old_sums = old
    last, columns, sums = new
    changes, _, _, touched = room
    n_touched, _ = add_rows(documents, left, -1.0, mark, room, touched, np.int64(0))
    n_touched, _ = add_rows(documents, joined, 1.0, mark, room, touched, n_touched)
    n_terms = old_columns.size
    for entry in range(n_terms):
        column = old_columns[entry]
        columns[entry], last[entry] = column, old_values[entry]
        change = changes[column]
        sums[entry] = old_sums[entry] + change
        if change != 0.0:
            changes[column] = 0.0
    for place in range(n_touched):
        column = touched[place]
        if changes[column] != 0.0:
            columns[n_terms], last[n_terms], sums[n_terms] = column, 0.0, changes[column]
            changes[column] = 0.0
            n_terms += 1
    return n_terms


@jit(inner=True)
def sum_length(sums, n_terms):
    """Return the length of a vector of `n` sums."""
    squared = 0.0
    for term in range(n_terms):
        squared += sums[term] * sums[term]
    return np.sqrt(squared)


@jit(inner=True)
def store_mean(n_terms, length, gone, new):
    """Make the values of `new`, which are those of the last mean, its sums over `length`; drop terms that are then 0.

    Return how many are left, and the chord between the means as stored; `gone` is the squared length of what the last
    mean had in other terms.
    """
    values, columns, sums = new
    left, squared = 0, gone
    for term in range(n_terms):
        value = np.float32(sums[term] / length)
        difference = np.float64(value) - np.float64(values[term])
        squared += difference * difference
        values[left], columns[left], sums[left] = value, columns[term], sums[term]
        left += value != 0
    return left, np.sqrt(squared)


@jit(inner=True)
def rows_of(listed, cluster):
    """Return the rows that are listed for a cluster."""
    return listed.rows[listed.starts[cluster] : listed.starts[cluster + 1]]


@jit
def mean_rows(documents, membership, clusters, follows, old, room, new):
    """Write the unit means of `clusters` to `new` one after another, and return what was found of them.

    ``follows[i]`` says whether the old sums of ``clusters[i]`` are followed instead of its members added up. A cluster
    whose members have no direction together (none, or they cancel out) keeps its old mean, and has no sums.
    """
    keeps_sums = new.sums.size > 0
    found = MeansFound(
        np.empty(clusters.size, np.int64),
        np.empty(clusters.size, np.float64),
        np.empty(clusters.size, np.float64),
        np.empty(clusters.size, np.bool_),
    )
    own_sums = np.empty(0 if keeps_sums else room.touched.size, np.float64)
    written = 0
    for index in range(clusters.size):
        cluster = clusters[index]
        here = slice(old.starts[cluster], old.stops[cluster])
        last = MeanRoom(old.values[here], old.columns[here], old.sums[here])
        sums = new.sums[written:] if keeps_sums else own_sums
        mean = MeanRoom(new.values[written:], new.columns[written:], sums)
        if follows[index]:
            left, joined = rows_of(membership.left, cluster), rows_of(membership.joined, cluster)
            n_terms = follow_members(documents, last, left, joined, cluster, room, mean)
            total_weight, gone = float(membership.sizes[cluster]), 0.0
        else:
            members = rows_of(membership.members, cluster)
            n_terms, total_weight, gone = sum_members(documents, members, last, cluster, room, mean)
        length = sum_length(mean.sums, n_terms)
        found.lengths[index] = length
        found.has_sums[index] = length > CANCELLED * total_weight
        if found.has_sums[index]:
            found.sizes[index], found.movements[index] = store_mean(n_terms, length, gone, mean)
        else:
            found.sizes[index], found.movements[index] = last.columns.size, 0.0
            for entry in range(last.columns.size):
                mean.values[entry], mean.columns[entry] = last.values[entry], last.columns[entry]
        written += found.sizes[index]
    return found


@jit
def member_similarities(rows, listed, clusters, means, in_order, similarities):
    """Write the float64 similarity of each member of the `clusters` to its own mean.

    With `in_order` the terms are added in ascending order of the original columns, as the tie rule wants it.
    """
    values, columns, row_starts, original = rows
    mean_values, mean_columns, mean_starts, mean_stops = means
    mean = np.zeros(original.size, np.float32)
    keys = np.empty(longest_row(row_starts), np.int64)
    for cluster in clusters:
        for position in range(mean_starts[cluster], mean_stops[cluster]):
            mean[mean_columns[position]] = mean_values[position]
        members = rows_of(listed, cluster)
        for place in range(members.size):
            row = members[place]
            first, last = row_starts[row], row_starts[row + 1]
            total = 0.0
            if in_order:
                order_by_original(columns, first, last, original, keys)
                for at in range(last - first):
                    entry = first + (keys[at] & ROW_PLACE)
                    total += np.float64(values[entry]) * np.float64(mean[columns[entry]])
            else:
                for entry in range(first, last):
                    total += np.float64(values[entry]) * np.float64(mean[columns[entry]])
            similarities[row] = total
        for position in range(mean_starts[cluster], mean_stops[cluster]):
            mean[mean_columns[position]] = 0
