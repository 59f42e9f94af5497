"""The means of clusters: float64 sums over members ascending, only the terms that occur, stored as float32.

Where all sums are exact in float64 their order does not matter: then those that left are taken away from the old sums
and those that joined are added, which gives the same numbers for less work.
"""

from __future__ import annotations

import numpy as np

from doccluster.kernels.jit import jit
from doccluster.kernels.prefetching import later_row, prefetch_row
from doccluster.kernels.reordering import ROW_PLACE, longest_row, order_by_original

CANCELLED = 1e-9  # a sum this short beside the weight of its members is rounding: the members cancel out


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


@jit
def count_members(labels, counts, sizes):
    """Write how many of the rows for which `counts` is true each cluster has."""
    sizes[:] = 0
    for row in range(labels.size):
        sizes[labels[row]] += counts[row]


@jit(inner=True)
def add_rows(documents, rows, sign, mark, sums, seen, listed, n_listed):
    """Add `sign` times the weighted rows to `sums`, and list the columns not yet marked; return their number, and the
    weight of the rows."""
    values, columns, row_starts, weights = documents
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
def sum_members(documents, members, last_mean, mark, dense, sums, columns, last):
    """Add up the rows `members`: their terms to `columns`, the sums to `sums`, the last mean's values to `last`.

    `dense` is (sums, values, marks) by column, the first two all zero before and after. Return how many terms there
    are, the total weight, and the squared length of the part of the last mean that is in none of the terms.
    """
    last_values, last_columns = last_mean
    dense_sums, dense_last, seen = dense
    n_terms, total = add_rows(documents, members, 1.0, mark, dense_sums, seen, columns, np.int64(0))
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
def follow_members(documents, old, left, joined, mark, dense, touched, sums, columns, last):
    """Bring old sums to the members after some rows left and some joined; return how many terms they have.

    `old` is (values, columns, sums) of the mean; its terms stay in their order, new ones follow.
    """
    old_values, old_columns, old_sums = old
    changes, _, seen = dense
    n_touched, _ = add_rows(documents, left, -1.0, mark, changes, seen, touched, np.int64(0))
    n_touched, _ = add_rows(documents, joined, 1.0, mark, changes, seen, touched, n_touched)
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
    """Return the length of a vector of so many sums."""
    squared = 0.0
    for term in range(n_terms):
        squared += sums[term] * sums[term]
    return np.sqrt(squared)


@jit(inner=True)
def store_mean(n_terms, length, gone, values, columns, sums):
    """Make `values`, which hold the last mean, those of ``sums / length``, without terms that are then zero.

    Return how many are left, and the chord between the means as stored; `gone` is the squared length of what the last
    mean had in other terms.
    """
    left, squared = 0, gone
    for term in range(n_terms):
        value = np.float32(sums[term] / length)
        difference = np.float64(value) - np.float64(values[term])
        squared += difference * difference
        values[left], columns[left], sums[left] = value, columns[term], sums[term]
        left += value != 0
    return left, np.sqrt(squared)


@jit
def mean_rows(documents, lists, moves, clusters, follows, old, scratch, new, found):
    """Write the unit means of `clusters` one after another, the length of each sum and how far each mean moved.

    The movement is the chord between old and new mean as stored. A cluster whose members have no direction together
    (none, or they cancel out) keeps its old mean, and has no sums.

    Parameters
    ----------
    documents : values, columns, starts and weights of the rows
    lists : how many members each cluster has, where they start, and the members (may be missing if all follow)
    moves : where those that left each cluster start, and these; the same of those that joined
    follows : bool for each of `clusters`: whether old sums are followed instead of members added up
    old : values, columns, sums (none where they are not kept), starts and stops of the means before
    scratch : sums and values by column, all zero before and after, marks that are no cluster of these, and a list
    new : values, columns and sums (none where they are not kept) to be written, one mean after another
    found : sizes, lengths, movements and whether there are sums, for each of `clusters`
    """
    n_members, starts, members = lists
    left_starts, left, joined_starts, joined = moves
    old_values, old_columns, old_sums, old_starts, old_stops = old
    new_values, new_columns, new_sums = new
    sizes, lengths, movements, has_sums = found
    dense, touched = scratch[:3], scratch[3]
    own_sums = np.empty(0 if new_sums.size else touched.size, np.float64)
    written = 0
    for index in range(clusters.size):
        cluster = clusters[index]
        here = slice(old_starts[cluster], old_stops[cluster])
        values, columns = new_values[written:], new_columns[written:]
        sums = new_sums[written:] if new_sums.size else own_sums
        if follows[index]:
            n_terms = follow_members(
                documents,
                (old_values[here], old_columns[here], old_sums[here]),
                left[left_starts[cluster] : left_starts[cluster + 1]],
                joined[joined_starts[cluster] : joined_starts[cluster + 1]],
                cluster,
                dense,
                touched,
                sums,
                columns,
                values,
            )
            total_weight, gone = float(n_members[cluster]), 0.0
        else:
            n_terms, total_weight, gone = sum_members(
                documents,
                members[starts[cluster] : starts[cluster + 1]],
                (old_values[here], old_columns[here]),
                cluster,
                dense,
                sums,
                columns,
                values,
            )
        lengths[index] = sum_length(sums, n_terms)
        has_sums[index] = lengths[index] > CANCELLED * total_weight
        if has_sums[index]:
            sizes[index], movements[index] = store_mean(n_terms, lengths[index], gone, values, columns, sums)
        else:
            sizes[index], movements[index] = here.stop - here.start, 0.0
            for entry in range(sizes[index]):
                values[entry], columns[entry] = old_values[here.start + entry], old_columns[here.start + entry]
        written += sizes[index]


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
    mean_stops,
    n_columns,
    similarities,
):
    """Write the float64 similarity of each member of some clusters to its own mean.

    With `in_order` the terms are added in ascending order of the original columns, as the tie rule wants it.
    """
    mean = np.zeros(n_columns, np.float32)
    keys = np.empty(longest_row(row_starts), np.int64)
    for cluster in range(first_cluster, last_cluster):
        for position in range(mean_starts[cluster], mean_stops[cluster]):
            mean[mean_columns[position]] = mean_values[position]
        for position in range(starts[cluster], starts[cluster + 1]):
            row = members[position]
            first, last = row_starts[row], row_starts[row + 1]
            total = 0.0
            if in_order:
                order_by_original(columns, first, last, original, keys)
                for place in range(last - first):
                    entry = first + (keys[place] & ROW_PLACE)
                    total += np.float64(values[entry]) * np.float64(mean[columns[entry]])
            else:
                for entry in range(first, last):
                    total += np.float64(values[entry]) * np.float64(mean[columns[entry]])
            similarities[row] = total
        for position in range(mean_starts[cluster], mean_stops[cluster]):
            mean[mean_columns[position]] = 0
