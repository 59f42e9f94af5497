"""What is read of documents in many clusters, without a table of all products, is what such a table says."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from doccluster.geometry import ClusterEvidence, products
from doccluster.geometry.partition import Partition

N_DOCUMENTS, N_CLUSTERS, N_TERMS = 1600, 1100, 900  # more clusters than have a table


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(4)
    terms = rng.zipf(1.3, size=(N_DOCUMENTS, 9)) % N_TERMS
    values = rng.random(terms.shape).astype(np.float32)
    values[5] = 0  # a document without terms
    terms[N_CLUSTERS - 1], terms[7] = 0, N_TERMS  # one of the commonest term alone, one of a term of its own
    matrix = sparse.csr_array((values.ravel(), (np.repeat(np.arange(N_DOCUMENTS), 9), terms.ravel())))
    matrix.eliminate_zeros()
    return matrix


@pytest.fixture(scope="module")
def labels():
    rng = np.random.default_rng(5)
    return np.concatenate([np.arange(N_CLUSTERS), rng.integers(N_CLUSTERS, size=N_DOCUMENTS - N_CLUSTERS)])


@pytest.mark.parametrize("metric", ["cosine", "euclidean", "sqeuclidean"])
def test_readings_are_those_of_the_definition(rows, labels, metric):
    evidence = ClusterEvidence(rows, Partition.from_labels(labels), metric=metric, n_threads=2)
    read, dense = evidence.similarities, rows.toarray().astype(np.float64)
    if metric == "cosine":
        lengths = np.linalg.norm(dense, axis=1, keepdims=True)
        dense = np.divide(dense, lengths, out=np.zeros_like(dense), where=lengths > 0)
    sums = np.array([dense[labels == cluster].sum(axis=0) for cluster in range(N_CLUSTERS)])
    sizes, lengths = np.bincount(labels)[:, None], np.linalg.norm(sums, axis=1, keepdims=True)
    cosines = dense @ np.divide(sums, lengths, out=np.zeros_like(sums), where=lengths > 0).T
    means, squares = sums / sizes, (dense**2).sum(axis=1)
    distances = np.sqrt(np.maximum(squares[:, None] + (means**2).sum(axis=1) - 2 * dense @ means.T, 0))
    own = np.arange(N_DOCUMENTS), labels
    np.testing.assert_allclose(read.own_similarity, cosines[own], atol=1e-12)
    np.testing.assert_allclose(read.own_distance, distances[own], atol=1e-6)
    np.testing.assert_allclose(read.grand_distance, np.linalg.norm(dense - dense.mean(axis=0), axis=1), atol=1e-9)
    others = distances.copy()
    others[own] = np.inf
    np.testing.assert_allclose(read.other_distance, others.min(axis=1), atol=1e-6)
    totals = np.bincount(labels, squares)
    if metric == "cosine":
        apart = 1 - dense @ means.T
    else:
        apart = squares[:, None] + totals / sizes.ravel() - 2 * dense @ means.T
    apart[own] = np.inf
    expected = np.zeros(N_DOCUMENTS) if metric == "euclidean" else apart.min(axis=1)
    np.testing.assert_allclose(read.separation, expected, atol=1e-9)
    mean, nearest = cosines.mean(axis=1), cosines.copy()
    nearest[own] = -np.inf
    is_meant = (squares > 0) & (cosines[own] > 0)
    assert np.array_equal(read.coherent, is_meant & (nearest.max(axis=1) <= mean + 1e-6))
    assert 0 < read.coherent.sum() < N_DOCUMENTS


def test_every_digit_is_that_of_a_table_of_products(rows, labels, monkeypatch):
    monkeypatch.setattr(products, "compare_at_once", None)  # it is not called
    partition = Partition.from_labels(labels)
    one_by_one = ClusterEvidence(rows, partition, n_threads=1).similarities
    monkeypatch.undo()
    monkeypatch.setattr(products, "compare_one_by_one", products.compare_at_once)
    at_once = ClusterEvidence(rows, partition, n_threads=1).similarities
    for name in ("own_similarity", "coherent", "coherent_others", "cohesion", "separation", "own_distance"):
        assert np.array_equal(getattr(one_by_one, name), getattr(at_once, name)), name
    assert np.array_equal(one_by_one.other_distance, at_once.other_distance)
    np.testing.assert_allclose(one_by_one.grand_distance, at_once.grand_distance, rtol=1e-12)
