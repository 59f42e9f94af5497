"""Communities by modularity: against the definition, all partitions of small graphs, and planted groups."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import sparse

from doccluster.clustering.communities import Edges, communities


def random_graph(n_nodes, seed, *, density=0.4):
    rng = np.random.default_rng(seed)
    weights = np.triu(rng.random((n_nodes, n_nodes)) * (rng.random((n_nodes, n_nodes)) < density), 1)
    return sparse.csr_array(weights + weights.T)


def planted(n_groups, size, seed, *, within=0.6, between=0.03):
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(n_groups), size)
    chance = np.where(truth[:, None] == truth[None, :], within, between)
    edges = np.triu(rng.random(chance.shape) < chance, 1).astype(float)
    return sparse.csr_array(edges + edges.T), truth


def naive_modularity(graph, labels, resolution):
    weights = graph.toarray()
    total, degrees = weights.sum(), weights.sum(axis=1)
    found = 0.0
    for i in range(len(labels)):
        for j in range(len(labels)):
            if labels[i] == labels[j]:
                found += weights[i, j] / total - resolution * degrees[i] * degrees[j] / total**2
    return found


def partitions(n_nodes):
    """Yield every partition as labels numbered in the order in which they occur."""
    if n_nodes == 0:
        yield ()
        return
    for start in partitions(n_nodes - 1):
        for label in range(max(start, default=-1) + 2):
            yield (*start, label)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("resolution", [0.7, 1.0, 1.6])
def test_the_best_of_a_few_orders_is_nearly_the_best_of_all_partitions_of_a_small_graph(seed, resolution):
    graph = random_graph(8, seed)
    best = max(naive_modularity(graph, labels, resolution) for labels in partitions(8))
    found = [communities(graph, resolution, rng=np.random.default_rng(order)) for order in range(5)]
    reached = max(naive_modularity(graph, labels, resolution) for labels in found)
    assert best - 0.03 <= reached <= best + 1e-9


@pytest.mark.parametrize("resolution", [0.3, 1.0, 4.0])
def test_no_move_of_a_single_node_gains_anything(resolution):
    graph = random_graph(40, 3, density=0.15)
    labels = communities(graph, resolution, rng=np.random.default_rng(0))
    reached = naive_modularity(graph, labels, resolution)
    for node in range(40):
        for community in range(labels.max() + 2):
            moved = labels.copy()
            moved[node] = community
            assert naive_modularity(graph, moved, resolution) <= reached + 1e-9


def test_planted_groups_are_found_and_numbered_in_their_order():
    graph, truth = planted(12, 25, 0)
    assert communities(graph, rng=np.random.default_rng(0)).tolist() == truth.tolist()


def test_more_resolution_gives_more_communities():
    graph, _ = planted(10, 20, 1, between=0.1)
    counts = [communities(graph, g, rng=np.random.default_rng(0)).max() + 1 for g in (0.1, 1.0, 3.0, 30.0)]
    assert counts == sorted(counts)
    assert counts[0] < 10 < counts[-1]


def test_nodes_without_edges_are_alone():
    graph = sparse.csr_array(([1.0, 1.0], ([0, 3], [3, 0])), shape=(5, 5))
    assert communities(graph, rng=np.random.default_rng(0)).tolist() == [0, 1, 2, 0, 3]
    assert communities(sparse.csr_array((3, 3)), rng=np.random.default_rng(0)).tolist() == [0, 1, 2]


def test_the_graph_of_communities_has_the_weights_of_all_edges_between_their_nodes():
    graph = random_graph(30, 3)
    labels = np.random.default_rng(0).permutation(np.arange(30) % 7)
    joined = Edges.of(graph).joined(labels.astype(np.int32))
    dense = np.zeros((7, 7))
    for row, column in zip(*graph.nonzero(), strict=True):
        dense[labels[row], labels[column]] += graph[row, column]
    np.testing.assert_allclose(
        sparse.csr_array((joined.weights, joined.neighbours, joined.starts), shape=(7, 7)).toarray(), dense, rtol=1e-12
    )
    np.testing.assert_allclose(joined.degrees, dense.sum(axis=1), rtol=1e-12)
    for community, (first, last) in enumerate(itertools.pairwise(joined.starts)):  # in the order in which they are met
        met = [labels[column] for row in np.flatnonzero(labels == community) for column in graph[[row]].indices]
        assert joined.neighbours[first:last].tolist() == list(dict.fromkeys(met))
