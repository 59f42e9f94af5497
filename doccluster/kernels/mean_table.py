"""The means laid out for the sweep: a dense head of common terms, lists of (cluster, value) for the rare ones."""

from __future__ import annotations

from doccluster.kernels.jit import jit


@jit
def write_head(values, columns, starts, clusters, head):
    """Write the entries of the rows `clusters` into the dense head, whose row is the term and column the cluster."""
    n_head = head.shape[0]
    for cluster in clusters:
        for position in range(starts[cluster], starts[cluster + 1]):
            if columns[position] < n_head:
                head[columns[position], cluster] = values[position]


@jit
def clear_head(columns, starts, clusters, head):
    """Write zero where `write_head` wrote the rows `clusters`."""
    n_head = head.shape[0]
    for cluster in clusters:
        for position in range(starts[cluster], starts[cluster + 1]):
            if columns[position] < n_head:
                head[columns[position], cluster] = 0


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
def write_tail(values, columns, starts, n_head, tail_starts, tail_clusters, tail_values):
    """Fill the lists of the tail terms, clusters ascending."""
    following = tail_starts[:-1].copy()
    for cluster in range(starts.size - 1):
        for position in range(starts[cluster], starts[cluster + 1]):
            if columns[position] >= n_head:
                term = columns[position] - n_head
                slot = following[term]
                tail_clusters[slot] = cluster
                tail_values[slot] = values[position]
                following[term] = slot + 1
