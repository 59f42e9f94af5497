"""The means laid out for the sweep: a dense head of common terms, lists of (cluster, value) for the rare ones."""

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
def write_head(means, clusters, head):
    """Write the means of `clusters` into the dense head, whose row is the term."""
    values, columns, starts, stops = means
    n_head = head.shape[0]
    for cluster in clusters:
        for position in range(starts[cluster], stops[cluster]):
            if columns[position] < n_head:
                head[columns[position], cluster] = values[position]


@jit
def replace_head(old, new, clusters, head):
    """Write the `new` means of `clusters` in place of the `old` ones."""
    _, old_columns, old_starts, old_stops = old
    values, columns, starts, stops = new
    n_head = head.shape[0]
    for cluster in clusters:
        for position in range(old_starts[cluster], old_stops[cluster]):
            if old_columns[position] < n_head:
                head[old_columns[position], cluster] = 0
        for position in range(starts[cluster], stops[cluster]):
            if columns[position] < n_head:
                head[columns[position], cluster] = values[position]


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
def write_tail(means, table):
    """Fill the lists of the tail terms with the means, clusters ascending; where lists begin is known."""
    values, columns, starts, stops = means
    head, tail_starts, tail_clusters, tail_values, n_clusters = table
    n_head = head.shape[0]
    following = tail_starts[:-1].copy()
    for cluster in range(n_clusters):
        for position in range(starts[cluster], stops[cluster]):
            if columns[position] >= n_head:
                term = columns[position] - n_head
                slot = following[term]
                tail_clusters[slot] = cluster
                tail_values[slot] = values[position]
                following[term] = slot + 1
