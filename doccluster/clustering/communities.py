"""Communities of a graph by modularity with a resolution: many edges within, few between.

Nodes are moved one by one, then whole communities, as long as modularity grows (the Louvain method), and then nodes
once more, which undoes what the joining of communities made stale.

Sources: Blondel, Guillaume, Lambiotte & Lefebvre 2008, "Fast unfolding of communities in large networks", J. Stat.
Mech. P10008; the resolution is that of Reichardt & Bornholdt 2006, doi:10.1103/PhysRevE.74.016110.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.kernels.communities import graph_between, move_nodes, number_in_order

ROUNDS = 2  # of moving nodes, then communities
Labels = npt.NDArray[np.int64]


def communities(graph: Any, resolution: float = 1.0, *, rng: np.random.Generator) -> Labels:
    """Return the community of each node, numbered in the order in which they occur.

    Parameters
    ----------
    graph : symmetric csr array of shape (n_nodes, n_nodes), weights > 0
    resolution : float > 0
        1 is modularity; more gives more communities. A node without edges is a community of its own.
    rng : numpy Generator
        In which order nodes are looked at.

    Examples
    --------
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
