"""The means laid out for the sweep: a dense head of common terms, lists of (lane, value) for the rare ones.

A lane is a column of the table. Clusters whose means are alike lie in neighbouring lanes, so that the clusters that a
document hesitates between share cache lines.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from doccluster.kernels.jit import jit


class MeanArrays(NamedTuple):
    """Sparse means: that of cluster c lies at ``starts[c]:stops[c]``."""

    values: Any  # float32 array
    columns: Any  # int32 array of the same size
    starts: Any  # int64 array of shape (n_clusters,)
    stops: Any  # int64 array of shape (n_clusters,)


@jit
def write_head(means, clusters, lanes, head):
    """Write the means of `clusters` into the dense head, whose row is the term and whose column is the lane."""
    values, columns, starts, stops = means
    n_head = head.shape[0]
    for cluster in clusters:
        lane = lanes[cluster]
        for position in range(starts[cluster], stops[cluster]):
            if columns[position] < n_head:
                head[columns[position], lane] = values[position]


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
def write_tail(means, clusters, table):
    """Fill the lists of the tail terms with the means of `clusters`, in their order; where lists begin is known."""
    values, columns, starts, stops = means
    head, tail_starts, tail_lanes, tail_values, lanes = table
    n_head = head.shape[0]
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
def place_tail(columns, lanes, values, table):
    """Sort entries (column, lane, value) of the tail into the list of each term, keeping their order."""
    n_head, following = table.head.shape[0], table.tail_starts[:-1].copy()
    for entry in range(columns.size):
        slot = following[columns[entry] - n_head]
        table.tail_lanes[slot] = lanes[entry]
        table.tail_values[slot] = values[entry]
        following[columns[entry] - n_head] = slot + 1
