"""Scatter: some documents put into a few clusters, fast enough to wait for.

Up to 5,000 documents are clustered by spherical k-means. Of more, a sample of 5,000 is, and all are assigned to its
centroids in two passes. That is Buckshot (Cutting, Karger, Pedersen and Tukey 1992, doi:10.1145/133160.133214) with
k-means in place of agglomeration, which leaves most documents of a text collection in one cluster. Above 50,000
meta-documents are clustered, groups of documents that were made once, each with the sum of its rows: clustering a few
hundred of them takes the same time for any number of documents (Cutting, Karger and Pedersen 1993,
doi:10.1145/160688.160706). Then the centroids follow a sample of the documents, and each document goes to the nearest:
meta-documents that stay whole lose an eighth of the agreement with human classes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.blocks import row_blocks
from doccluster.clustering.k_means.spherical import SphericalParameters, spherical_k_means
from doccluster.errors import InputError
from doccluster.geometry.documents import as_documents
from doccluster.geometry.sums import sums_by_label
from doccluster.short_repr import ShortRepr
from doccluster.validation import check_positive_int

FULL_UP_TO = 5_000
DOCUMENTS_UP_TO = 50_000
N_STARTS = 3
N_PASSES = 2
BRANCHES = 20  # of each node of the tree
NODE_SAMPLE = 1_000  # documents of a node that are clustered to split it
NODE_ROUNDS = 5
LEAF = 200  # a node of so few documents is not split
N_META_DOCUMENTS = 500  # that one scatter clusters
N_HEAVIEST = 200  # terms of a meta-document that are kept
N_REFINED = 5_000  # documents that the centroids of meta-documents follow,
REFINED_ROUNDS = 5  # the rounds of refining
BLOCK_ROWS = 8_192

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class MetaDocuments(ShortRepr):
    """A tree of groups of documents; node 0 is all of them.

    Attributes
    ----------
    order : int64 array of shape (n_documents,)
        The documents, so that those of a node stand side by side.
    first, last : int64 arrays of shape (n_nodes,)
        The documents of a node are order[first:last].
    children : tuple of int64 arrays
        The nodes that a node is split into; empty for a leaf.
    directions : csr array of shape (n_nodes, n_terms), unit rows
        The heaviest terms of the sum of the rows.
    weights : float64 array of shape (n_nodes,)
        The length of that sum: the sum of the cosines of the documents to its direction.
    """

    order: Integers
    first: Integers
    last: Integers
    children: tuple[Integers, ...]
    directions: sparse.csr_array
    weights: npt.NDArray[np.float64]


def scatter(
    rows: Any,
    members: npt.ArrayLike | None = None,
    n_clusters: int = 10,
    *,
    tree: MetaDocuments | None = None,
    documents_up_to: int = DOCUMENTS_UP_TO,
    random_state: int = 0,
    n_threads: int | None = None,
) -> list[Integers]:
    """Return some documents in clusters, the largest first; the same seed gives the same clusters.

    Parameters
    ----------
    rows : Documents or a csr array of shape (n_documents, n_terms), unit rows
        Documents without terms come into the first cluster.
    members : int array, optional
        The documents to cluster, all by default.
    n_clusters : int
        The most; fewer if there are fewer documents with terms.
    tree : MetaDocuments, optional
        With it more than `documents_up_to` are clustered by their meta-documents (`build_meta_documents`).
    documents_up_to : int
    random_state : int
    n_threads : int, optional
        Changes no result.

    Returns
    -------
    list of int64 arrays
        The documents of each cluster, ascending.

    Raises
    ------
    InputError
        If there is no document.

    Examples
    --------
    >>> rows = sparse.csr_array([[1.0, 0, 0], [0.8, 0.6, 0], [0, 0, 1], [1, 0, 0]])
    >>> [own.tolist() for own in scatter(rows, [0, 1, 2], 2)]
    [[0, 1], [2]]
    """
    check_positive_int(n_clusters, "n_clusters")
    rows = as_documents(rows, name="rows").matrix
    chosen = np.arange(rows.shape[0]) if members is None else np.unique(np.asarray(members, dtype=np.int64))
    if chosen.size == 0:
        raise InputError("there is no document to scatter; choose at least one cluster.")
    if tree is not None and chosen.size > documents_up_to:
        return _by_meta_documents(rows, tree, chosen, n_clusters, random_state, n_threads)
    own = rows if chosen.size == rows.shape[0] else rows[chosen]
    parameters = SphericalParameters(n_clusters, n_init=N_STARTS, random_state=random_state, n_threads=n_threads)
    labels = _labels(sparse.csr_array(own), n_clusters, FULL_UP_TO, parameters)
    return _largest_first([chosen[labels == label] for label in range(int(labels.max()) + 1)])


def build_meta_documents(
    rows: Any, *, random_state: int = 0, n_threads: int | None = None, leaf: int = LEAF
) -> MetaDocuments:
    """Return the tree of meta-documents of a collection: each node is split into 20 until it has 200 documents.

    A node is split by k-means (one start, five rounds) of a sample of 1,000 of its documents, and two passes.

    Parameters
    ----------
    rows : Documents or a csr array of shape (n_documents, n_terms), unit rows
    random_state : int
    n_threads : int, optional
        Changes no result.
    leaf : int
        A node of at most this many documents is not split.
    """
    rows = as_documents(rows, name="rows").matrix
    n = rows.shape[0]
    order = np.arange(n)
    first, last, children = [0], [n], [np.empty(0, dtype=np.int64)]
    node = 0
    while node < len(first):
        own = order[first[node] : last[node]]
        if own.size > leaf:
            labels = _labels(
                sparse.csr_array(rows[own]), BRANCHES, NODE_SAMPLE, _node_parameters(random_state, n_threads)
            )
            parts = _largest_first([own[labels == label] for label in range(int(labels.max()) + 1)])
            if len(parts) > 1:
                children[node] = np.arange(len(first), len(first) + len(parts))
                order[first[node] : last[node]] = np.concatenate(parts)
                edges = first[node] + np.concatenate([[0], np.cumsum([part.size for part in parts])])
                first += edges[:-1].tolist()
                last += edges[1:].tolist()
                children += [np.empty(0, dtype=np.int64)] * len(parts)
        node += 1
    directions, weights = _directions(rows, order, np.array(first), np.array(last), children)
    return MetaDocuments(order, np.array(first), np.array(last), tuple(children), directions, weights)


def _directions(
    rows: Any, order: Integers, first: Integers, last: Integers, children: list[Integers]
) -> tuple[sparse.csr_array, npt.NDArray[np.float64]]:
    """Return the direction of each node on its heaviest terms, and the length of its whole sum."""
    leaves = [node for node in range(first.size) if children[node].size == 0]
    labels = np.empty(order.size, dtype=np.int64)
    for place, node in enumerate(leaves):
        labels[order[first[node] : last[node]]] = place
    of_leaves = sparse.csr_array(sums_by_label(sparse.csr_array(rows), labels, len(leaves)))
    sums: dict[int, Any] = {node: of_leaves[[place]] for place, node in enumerate(leaves)}
    kept, weights = [], np.zeros(first.size)
    for node in range(first.size - 1, -1, -1):  # children have higher numbers than their node
        if children[node].size:
            sums[node] = sparse.csr_array(sum(sums.pop(child) for child in children[node].tolist()))
        own = sums[node]
        weights[node] = float(np.sqrt((own.data**2).sum()))
        kept.append(_heaviest(own))
    return sparse.csr_array(sparse.vstack(kept[::-1], format="csr")), weights


def _heaviest(row: Any) -> sparse.csr_array:
    """Return a row with its heaviest terms alone, of length one."""
    order = np.lexsort((row.indices, -row.data))[:N_HEAVIEST]
    order = order[np.argsort(row.indices[order])]
    values = row.data[order]
    length = float(np.sqrt((values**2).sum()))
    values = (values / length if length else values).astype(np.float32)
    return sparse.csr_array((values, row.indices[order], [0, order.size]), shape=row.shape)


def _node_parameters(random_state: int, n_threads: int | None) -> SphericalParameters:
    return SphericalParameters(BRANCHES, n_init=1, max_iter=NODE_ROUNDS, random_state=random_state, n_threads=n_threads)


def _labels(rows: sparse.csr_array, n_clusters: int, n_sampled: int, parameters: SphericalParameters) -> Integers:
    """Return the cluster of each row, by way of a sample of this size; those without terms are in cluster 0."""
    labels = np.zeros(rows.shape[0], dtype=np.int64)
    filled = np.flatnonzero(np.diff(rows.indptr))
    k = min(n_clusters, filled.size)
    if k < 2:
        return labels
    if filled.size < rows.shape[0]:
        rows = sparse.csr_array(rows[filled])
    given = replace(parameters, n_clusters=k)
    if filled.size <= n_sampled:
        labels[filled] = spherical_k_means(rows, given).labels
        return labels
    drawn = np.sort(np.random.default_rng(parameters.random_state).choice(filled.size, n_sampled, replace=False))
    centroids = spherical_k_means(sparse.csr_array(rows[drawn]), given).centroids
    passes = replace(given, n_clusters=centroids.shape[0], init=centroids, max_iter=N_PASSES, tol=0)
    labels[filled] = spherical_k_means(rows, passes).labels
    return labels


def _by_meta_documents(
    rows: Any, tree: MetaDocuments, members: Integers, n_clusters: int, random_state: int, n_threads: int | None
) -> list[Integers]:
    """Return members in clusters that begin with their meta-documents."""
    is_member = np.zeros(tree.order.size, dtype=bool)
    is_member[members] = True
    before = np.concatenate([[0], np.cumsum(is_member[tree.order])])
    counts = before[tree.last] - before[tree.first]
    nodes = _expanded(tree, counts)
    sizes = (tree.last - tree.first)[nodes]
    weights = np.maximum(tree.weights[nodes] * counts[nodes] / sizes, 1e-9)
    parameters = SphericalParameters(
        min(n_clusters, nodes.size), n_init=N_STARTS, random_state=random_state, n_threads=n_threads
    )
    found = spherical_k_means(sparse.csr_array(tree.directions[nodes]), parameters, sample_weight=weights)
    labels = _nearest(rows, is_member, _refined(rows, members, found.centroids, parameters))
    return _largest_first([members[labels[members] == label] for label in range(parameters.n_clusters)])


def _refined(rows: Any, members: Integers, centroids: Any, parameters: SphericalParameters) -> Any:
    """Return centroids after a few rounds of k-means on a sample of the members."""
    drawn = members
    if members.size > N_REFINED:
        generator = np.random.default_rng(parameters.random_state)
        drawn = members[np.sort(generator.choice(members.size, N_REFINED, replace=False))]
    sample = sparse.csr_array(rows[drawn])
    filled = sparse.csr_array(sample[np.flatnonzero(np.diff(sample.indptr))])
    if filled.shape[0] < centroids.shape[0]:
        return centroids
    given = replace(parameters, n_clusters=centroids.shape[0], init=centroids, n_init=1, max_iter=REFINED_ROUNDS, tol=0)
    return spherical_k_means(filled, given).centroids


def _nearest(rows: Any, is_member: npt.NDArray[np.bool_], centroids: Any) -> Integers:
    """Return the nearest centroid of each member, of equally near ones the first; other documents have any label."""
    dense = centroids.toarray() if sparse.issparse(centroids) else np.asarray(centroids)  # a few columns of terms
    table = np.ascontiguousarray(dense.T, dtype=np.float32)
    labels = np.zeros(is_member.size, dtype=np.int64)
    for block in row_blocks(is_member.size, BLOCK_ROWS):
        own = block.start + np.flatnonzero(is_member[block])
        if own.size:  # a whole block is copied faster than its rows are picked
            labels[own] = (rows[block] @ table)[own - block.start].argmax(axis=1)
    return labels


def _expanded(tree: MetaDocuments, counts: Integers) -> Integers:
    """Return nodes that hold all members, the largest split until there are enough; of equal ones the first."""
    nodes = {0: int(counts[0])}
    while len(nodes) < N_META_DOCUMENTS:
        split = [(-size, node) for node, size in nodes.items() if tree.children[node].size]
        if not split:
            break
        _, node = min(split)
        del nodes[node]
        nodes.update({child: int(counts[child]) for child in tree.children[node].tolist() if counts[child]})
    return np.array(sorted(nodes), dtype=np.int64)


def _largest_first(clusters: list[Integers]) -> list[Integers]:
    """Return the clusters that have a document, by size; of equal ones that with the lowest document."""
    return sorted((own for own in clusters if own.size), key=lambda own: (-own.size, int(own[0])))
