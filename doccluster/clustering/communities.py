"""Communities of a graph by modularity with a resolution: many edges within, few between.

Nodes are moved one by one, then whole communities, as long as modularity grows (the Louvain method), and then nodes
once more, which undoes what the joining of communities made stale.

Sources: Blondel, Guillaume, Lambiotte & Lefebvre 2008, "Fast unfolding of communities in large networks", J. Stat.
Mech. P10008; the resolution is that of Reichardt & Bornholdt 2006, doi:10.1103/PhysRevE.74.016110.

With A the weights of the edges, d the sums of the rows of A and 2m the sum of all, modularity at resolution g is

    sum over communities c of  (A within c) / 2m - g (d of c / 2m)^2

so that moving node i to c gains in proportion to (A between i and c) - g d_i (d of c without i) / 2m.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.kernels.jit import jit

MOST_VISITS = 50  # of a node, on average: rounding could let two nodes swap for ever
LEAST_GAIN = 1e-12


@jit
def move_nodes(starts, neighbours, weights, degrees, labels, order, pull):
    """Move nodes between communities until none gains by it, changing `labels`, and return how often one moved.

    A node is looked at again when a neighbour has left for another community.

    `degrees`: float64 array of shape (n_nodes,), sums of its rows. `labels`: int64 array of shape (n_nodes,), of
    0..n_nodes-1. `order`: int64 array of shape (n_nodes,), which nodes are looked at first. `pull`: the resolution over
    the sum of all degrees.
    """
    n_nodes = degrees.size
    totals, sizes = np.zeros(n_nodes), np.zeros(n_nodes, np.int64)
    for node in range(n_nodes):
        totals[labels[node]] += degrees[node]
        sizes[labels[node]] += 1
    empty, n_empty = np.empty(n_nodes, np.int64), 0
    for community in range(n_nodes - 1, -1, -1):
        if sizes[community] == 0:
            empty[n_empty] = community
            n_empty += 1
    queue, is_queued = order.copy(), np.ones(n_nodes, np.bool_)
    head, n_queued, n_visits, n_moves = 0, n_nodes, 0, 0
    shared, near = np.zeros(n_nodes), np.empty(n_nodes, np.int64)  # weight shared with communities; which have some
    while n_queued > 0 and n_visits < MOST_VISITS * n_nodes:
        node = queue[head]
        head = (head + 1) % n_nodes
        n_queued -= 1
        n_visits += 1
        is_queued[node] = False
        own, n_near = labels[node], 0
        for place in range(starts[node], starts[node + 1]):
            community = labels[neighbours[place]]
            if neighbours[place] != node:
                if shared[community] == 0.0:
                    near[n_near] = community
                    n_near += 1
                shared[community] += weights[place]
        totals[own] -= degrees[node]
        best, best_gain = own, shared[own] - pull * degrees[node] * totals[own]
        for place in range(n_near):
            gain = shared[near[place]] - pull * degrees[node] * totals[near[place]]
            if gain > best_gain + LEAST_GAIN:
                best, best_gain = near[place], gain
        if best_gain < -LEAST_GAIN and n_empty > 0 and sizes[own] > 1:  # better alone
            n_empty -= 1
            best = empty[n_empty]
        for place in range(n_near):
            shared[near[place]] = 0.0
        totals[best] += degrees[node]
        if best == own:
            continue
        labels[node] = best
        n_moves += 1
        sizes[own] -= 1
        sizes[best] += 1
        if sizes[own] == 0:
            empty[n_empty] = own
            n_empty += 1
        for place in range(starts[node], starts[node + 1]):
            other = neighbours[place]
            if labels[other] != best and not is_queued[other]:
                is_queued[other] = True
                queue[(head + n_queued) % n_nodes] = other
                n_queued += 1
    return n_moves


@jit
def number_in_order(labels):
    """Number communities from 0 in the order in which they occur, changing `labels`, and return how many there are."""
    numbers, count = np.full(labels.size, -1), 0
    for node in range(labels.size):
        community = labels[node]
        if numbers[community] < 0:
            numbers[community] = count
            count += 1
        labels[node] = numbers[community]
    return count


@jit
def graph_between(starts, neighbours, weights, labels, n_communities):
    """Return the graph whose nodes are communities, as a csr matrix: the sums of the weights between and within them.

    The first three arguments are as in `move_nodes`; labels are of 0..n_communities-1.
    """
    firsts = np.zeros(n_communities + 1, np.int64)
    for node in range(labels.size):
        firsts[labels[node] + 1] += 1
    for community in range(n_communities):
        firsts[community + 1] += firsts[community]
    members, filled = np.empty(labels.size, np.int64), firsts[:-1].copy()
    for node in range(labels.size):
        members[filled[labels[node]]] = node
        filled[labels[node]] += 1
    new_starts = np.zeros(n_communities + 1, np.int64)
    new_neighbours, new_weights = np.empty(neighbours.size, np.int64), np.empty(neighbours.size)
    sums, last_seen, end = np.zeros(n_communities), np.full(n_communities, -1), 0
    for community in range(n_communities):
        begin = end
        for member in members[firsts[community] : firsts[community + 1]]:
            for place in range(starts[member], starts[member + 1]):
                other = labels[neighbours[place]]
                if last_seen[other] != community:
                    last_seen[other] = community
                    new_neighbours[end] = other
                    end += 1
                sums[other] += weights[place]
        for place in range(begin, end):
            new_weights[place] = sums[new_neighbours[place]]
            sums[new_neighbours[place]] = 0.0
        new_starts[community + 1] = end
    return new_starts, new_neighbours[:end].copy(), new_weights[:end].copy()


ROUNDS = 2  # of moving nodes, then communities
Labels = npt.NDArray[np.int64]


def communities(graph: Any, resolution: float = 1.0, *, rng: np.random.Generator) -> Labels:
    """Return the community of each node, numbered in the order in which they occur.

    `graph`: symmetric csr array of shape (n_nodes, n_nodes), weights > 0. `resolution`: 1 is modularity; more gives
    more communities. A node without edges is a community of its own. `rng`: in which order nodes are looked at.

    >>> rows, columns = [0, 1, 2, 3], [1, 0, 3, 2]
    >>> two_pairs = sparse.csr_array(([1.0] * 4, (rows, columns)), shape=(4, 4))
    >>> communities(two_pairs, rng=np.random.default_rng(0))
    array([0, 0, 1, 1])
    """
    edges = _edges(graph)
    degrees = np.bincount(np.repeat(np.arange(graph.shape[0]), np.diff(edges[0])), edges[2], graph.shape[0])
    labels = np.arange(graph.shape[0])
    if not degrees.any():
        return labels
    pull = resolution / degrees.sum()
    for _ in range(ROUNDS):
        moved = move_nodes(*edges, degrees, labels, rng.permutation(labels.size), pull)
        number_in_order(labels)
        joined = _joined(edges, degrees, labels, pull, rng)
        if not moved and not joined:
            break
    move_nodes(*edges, degrees, labels, rng.permutation(labels.size), pull)
    number_in_order(labels)
    return labels


def _edges(graph: Any) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    rows = sparse.csr_array(graph)
    return rows.indptr.astype(np.int64), rows.indices.astype(np.int64), rows.data.astype(np.float64)


def _joined(edges: Any, degrees: Any, labels: Labels, pull: float, rng: np.random.Generator) -> bool:
    """Join whole communities as long as that gains, changing `labels`, and return whether any were joined."""
    own, changed = labels, False
    while True:
        n_communities = int(own.max()) + 1
        edges = graph_between(*edges, own, n_communities)
        degrees = np.bincount(own, degrees, n_communities)
        own = np.arange(n_communities)
        if not move_nodes(*edges, degrees, own, rng.permutation(n_communities), pull):
            return changed
        number_in_order(own)
        labels[:] = own[labels]
        changed = True
