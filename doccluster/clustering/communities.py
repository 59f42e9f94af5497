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

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.arrays import CsrArray, Floats, Integers, Labels
from doccluster.base.compiled import jit

U32, U64 = np.uint32, np.uint64  # a number with a sign might count from the end, which is looked at first
MAX_VISITS = 50  # of a node, on average: rounding could let two nodes swap for ever
MIN_GAIN = 1e-12
ROUNDS = 2  # of moving nodes, then communities

Numbers = npt.NDArray[np.int32]


@jit
def move_nodes(edges, degrees, labels, queue, pull, room):
    """Move nodes between communities until none gains by it, changing `labels`, and return how often one moved.

    A node is looked at again when a neighbour has left for another community. The labels are numbered at the end in the
    order in which they occur.

    `degrees`: float64 array of shape (n_nodes,), sums of its rows. `labels`: int32 array of shape (n_nodes,), of
    0..n_nodes-1. `queue`: int64 array of shape (n_nodes,), which nodes are looked at first; it changes. `pull`: the
    resolution over the sum of all degrees. `room`: of each community 0, its degrees, and 0, the weight that a node
    shares with it; 0, its size; two scratch arrays; and True, whether a node is queued.
    """
    (starts, neighbours, weights), n_nodes = edges, degrees.size
    totals, shared, sizes, empty, near, is_queued = room
    for node in range(n_nodes):
        totals[labels[node]] += degrees[node]
        sizes[labels[node]] += 1
    n_empty = 0
    for community in range(n_nodes - 1, -1, -1):
        if sizes[community] == 0:
            empty[n_empty] = community
            n_empty += 1
    head, n_queued, n_visits, n_moves = U64(0), U64(n_nodes), 0, 0
    while n_queued > U64(0) and n_visits < MAX_VISITS * n_nodes:
        node = U64(queue[head])
        head = head + U64(1) if head + U64(1) < U64(n_nodes) else U64(0)
        n_queued -= U64(1)
        n_visits += 1
        is_queued[node] = False
        current, n_near, first, last = U32(labels[node]), U64(0), U64(starts[node]), U64(starts[node + U64(1)])
        for place in range(first, last):
            neighbour = U32(neighbours[place])
            if neighbour != node:
                community = U32(labels[neighbour])
                if shared[community] == 0.0:
                    near[n_near] = community
                    n_near += U64(1)
                shared[community] += weights[place]
        totals[current] -= degrees[node]
        best, best_gain = current, shared[current] - pull * degrees[node] * totals[current]
        for place in range(n_near):
            gain = shared[near[place]] - pull * degrees[node] * totals[near[place]]
            if gain > best_gain + MIN_GAIN:
                best, best_gain = near[place], gain
        if best_gain < -MIN_GAIN and n_empty > 0 and sizes[current] > 1:  # better alone
            n_empty -= 1
            best = U32(empty[n_empty])
        for place in range(n_near):
            shared[near[place]] = 0.0
        totals[best] += degrees[node]
        if best == current:
            continue
        labels[node] = best
        n_moves += 1
        sizes[current] -= 1
        sizes[best] += 1
        if sizes[current] == 0:
            empty[n_empty] = current
            n_empty += 1
        for place in range(first, last):
            neighbour = U32(neighbours[place])
            if U32(labels[neighbour]) != best and not is_queued[neighbour]:
                is_queued[neighbour] = True
                end = head + n_queued
                queue[end if end < U64(n_nodes) else end - U64(n_nodes)] = neighbour
                n_queued += U64(1)
    number, n_communities = empty, 0
    for community in range(n_nodes):
        number[community] = -1
    for node in range(n_nodes):
        if number[labels[node]] < 0:
            number[labels[node]] = n_communities
            n_communities += 1
        labels[node] = number[labels[node]]
    return n_moves


@jit
def join_nodes(edges, labels, order, sizes, joined, room):
    """Write the graph of whole communities: starts, neighbours and weights of its rows, one for each community.

    `labels`: int32 array of shape (n_nodes,), of 0..n_communities-1. `order`: the nodes by community. `sizes`: how many
    each has. `joined`: room for as many edges as there are. `room`: of each community 0, and a scratch array.
    """
    starts, neighbours, weights = edges
    joined_starts, joined_neighbours, joined_weights = joined
    (sums, near), n_edges, first = room, 0, 0
    for community in range(sizes.size):
        n_near = 0
        for member in range(first, first + sizes[community]):
            node = order[member]
            for place in range(starts[node], starts[node + 1]):
                neighbour = labels[neighbours[place]]
                if sums[neighbour] == 0.0:  # weights are positive: the first edge to it
                    near[n_near] = neighbour
                    n_near += 1
                sums[neighbour] += weights[place]
        for place in range(n_near):
            joined_neighbours[n_edges] = near[place]
            joined_weights[n_edges] = sums[near[place]]
            sums[near[place]] = 0.0
            n_edges += 1
        first += sizes[community]
        joined_starts[community + 1] = n_edges


@dataclass(frozen=True)
class Edges:
    """A symmetric graph by rows: node i has the neighbours between starts[i] and starts[i + 1]."""

    starts: Integers
    neighbours: Numbers
    weights: Floats

    @classmethod
    def of(cls, graph: CsrArray) -> Edges:
        """Return the edges of a symmetric csr array of shape (n_nodes, n_nodes), weights > 0."""
        graph = sparse.csr_array(graph)
        return cls(graph.indptr.astype(np.int64), graph.indices.astype(np.int32), graph.data.astype(np.float64))

    @property
    def n_nodes(self) -> int:
        """How many nodes the graph has."""
        return self.starts.size - 1

    @cached_property
    def degrees(self) -> Floats:
        """The sum of the weights of each node."""
        nodes = np.repeat(np.arange(self.n_nodes), np.diff(self.starts))
        return np.bincount(nodes, self.weights, self.n_nodes).astype(np.float64)

    def joined(self, labels: Numbers) -> Edges:
        """Return the graph of communities; `labels` of 0..n_communities-1, each with at least one node.

        The weight of two communities is that of all edges between their nodes; a community is its own neighbour.
        """
        sizes, n_edges = np.bincount(labels), self.neighbours.size
        starts, neighbours = np.zeros(sizes.size + 1, np.int64), np.empty(n_edges, np.int32)
        joined = starts, neighbours, np.empty(n_edges)
        rows, order = (self.starts, self.neighbours, self.weights), np.argsort(labels, kind="stable")
        join_nodes(rows, labels, order, sizes, joined, (np.zeros(sizes.size), np.empty(sizes.size, np.int32)))
        return Edges(starts, neighbours[: starts[-1]], joined[2][: starts[-1]])


def communities(graph: object, resolution: float = 1.0, *, rng: np.random.Generator) -> Labels:
    """Return the community of each node, numbered in the order in which they occur.

    `graph`: symmetric csr array of shape (n_nodes, n_nodes), weights > 0, or its `Edges`. `resolution`: 1 is
    modularity; more gives more communities. A node without edges is a community of its own. `rng`: in which order nodes
    are looked at.

    >>> rows, columns = [0, 1, 2, 3], [1, 0, 3, 2]
    >>> two_pairs = sparse.csr_array(([1.0] * 4, (rows, columns)), shape=(4, 4))
    >>> communities(two_pairs, rng=np.random.default_rng(0))
    array([0, 0, 1, 1])
    """
    edges = graph if isinstance(graph, Edges) else Edges.of(graph)
    labels, total = np.arange(edges.n_nodes, dtype=np.int32), edges.weights.sum()
    if not total:
        return labels.astype(np.int64)
    pull = resolution / total
    for _ in range(ROUNDS):
        labels, has_moved = _moved(edges, labels, pull, rng)
        labels, has_joined = _joined(edges, labels, pull, rng)
        if not has_moved and not has_joined:
            break
    return _moved(edges, labels, pull, rng)[0].astype(np.int64)


def _moved(edges: Edges, labels: Numbers, pull: float, rng: np.random.Generator) -> tuple[Numbers, bool]:
    """Return labels after moves of single nodes, numbered in the order in which they occur, and whether any moved."""
    moved = labels.copy()
    n, rows = edges.n_nodes, (edges.starts, edges.neighbours, edges.weights)
    room = *np.zeros((2, n)), *np.zeros((2, n), np.int32), np.empty(n, U32), np.ones(n, np.bool_)
    return moved, move_nodes(rows, edges.degrees, moved, rng.permutation(n), pull, room) > 0


def _joined(edges: Edges, labels: Numbers, pull: float, rng: np.random.Generator) -> tuple[Numbers, bool]:
    """Return labels after joining whole communities as long as that gains, and whether any were joined."""
    has_joined, between = False, edges.joined(labels)
    while True:
        merged, has_moved = _moved(between, np.arange(between.n_nodes, dtype=np.int32), pull, rng)
        if not has_moved:
            return labels, has_joined
        labels, has_joined, between = merged[labels], True, between.joined(merged)
