"""Query likelihood and smoothed scores against their definitions, written out."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import sparse

from doccluster.errors import InputError
from doccluster.geometry import nearest_neighbours
from doccluster.retrieval import smooth_scores
from doccluster.retrieval.language_model import cluster_likelihood, query_likelihood

COUNTS = np.array([[2.0, 0, 1, 0], [0, 3, 0, 0], [1, 1, 1, 0], [0, 0, 0, 0]])


@pytest.mark.parametrize("mu", [0.5, 2.0, 100.0])
def test_likelihoods_are_those_of_the_definition(mu):
    query = {0: 2, 1: 1, 3: 1}  # the last term is in no document
    expected = []
    for row in COUNTS:
        value = 0.0
        for term, times in query.items():
            share = COUNTS[:, term].sum() / COUNTS.sum()
            if share:
                value += times * math.log((row[term] + mu * share) / (row.sum() + mu))
        expected.append(value)
    asked = sparse.csr_array(([2.0, 1.0, 1.0], ([0, 0, 0], [0, 1, 3])), shape=(1, 4))
    np.testing.assert_allclose(query_likelihood(sparse.csc_array(COUNTS), asked, mu=mu), expected)


def test_where_nothing_is_counted_no_document_is_likelier_than_another():
    asked = sparse.csr_array([[1.0, 1.0]])
    for counts in (sparse.csr_array((3, 2)), sparse.csr_array(([0.0], ([1], [0])), shape=(3, 2))):
        assert query_likelihood(counts, asked, mu=2.0).tolist() == [0, 0, 0]


@pytest.mark.parametrize(("weight", "n_neighbors"), [(0.0, 2), (0.3, 1), (0.7, 2)])
def test_smoothed_scores_are_those_of_the_definition(weight, n_neighbors):
    rng = np.random.default_rng(1)
    rows = rng.random((8, 5)) * (rng.random((8, 5)) < 0.7)
    rows[3] = 0  # no term, no neighbour
    rows /= np.maximum(np.linalg.norm(rows, axis=1), 1e-12)[:, None]
    scores = rng.random(8)
    graph = nearest_neighbours(sparse.csr_array(rows), 2, fold=None)
    z = (scores - scores.mean()) / scores.std()
    cosines = rows @ rows.T
    np.fill_diagonal(cosines, 0)
    expected = []
    for row in range(8):
        near = np.argsort(-cosines[row], kind="stable")[:n_neighbors]
        near = near[cosines[row, near] > 0]
        if near.size == 0:
            expected.append(z[row])
            continue
        weights = cosines[row, near]
        expected.append((1 - weight) * z[row] + weight * (weights @ z[near]) / weights.sum())
    np.testing.assert_allclose(
        smooth_scores(scores, graph, weight=weight, n_neighbors=n_neighbors), expected, atol=1e-9
    )


def test_equal_scores_stay_equal_and_wrong_use_is_refused():
    rows = sparse.csr_array(np.eye(3))
    graph = nearest_neighbours(rows, 1, fold=None)
    assert smooth_scores(np.ones(3), graph).tolist() == [0, 0, 0]
    with pytest.raises(InputError, match="weight=2"):
        smooth_scores(np.ones(3), graph, weight=2)
    with pytest.raises(InputError, match="fold=None"):
        smooth_scores(np.ones(4), graph)
    with pytest.raises(InputError, match="mu=0"):
        query_likelihood(sparse.csc_array(COUNTS), sparse.csr_array((1, 4)), mu=0)


@pytest.mark.parametrize(("mu", "beta"), [(1.0, 0.5), (300.0, 0.9), (10.0, 0.0)])
def test_cluster_likelihood_is_that_of_the_definition(mu, beta):
    labels = np.arange(len(COUNTS)) % 2
    query = {0: 2.0, 1: 1.0, 3: 1.0}
    total = COUNTS.sum()
    expected = []
    for row, counts in enumerate(COUNTS):
        cluster = COUNTS[labels == labels[row]]
        value = 0.0
        for term, times in query.items():
            if COUNTS[:, term].sum() == 0:
                continue
            smoothed = beta * cluster[:, term].sum() / cluster.sum() + (1 - beta) * COUNTS[:, term].sum() / total
            value += times * np.log((counts[term] + mu * smoothed) / (counts.sum() + mu))
        expected.append(value)
    asked = sparse.csr_array((list(query.values()), ([0, 0, 0], list(query))), shape=(1, 4))
    found = cluster_likelihood(sparse.csc_array(COUNTS), asked, labels, mu=mu, beta=beta)
    np.testing.assert_allclose(found, expected)
    if beta == 0:
        np.testing.assert_allclose(found, query_likelihood(sparse.csc_array(COUNTS), asked, mu=mu))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"mu": 0}, "mu=0"),
        ({"beta": 1.0}, "beta=1.0"),
        ({"beta": -0.1}, "beta=-0.1"),
        ({"labels": [0]}, "1 labels for"),
    ],
)
def test_clusters_that_do_not_fit_are_refused(given, message):
    asked = {"labels": np.zeros(len(COUNTS), dtype=np.int64), **given}
    labels = np.asarray(asked.pop("labels"))
    with pytest.raises(InputError, match=message):
        cluster_likelihood(sparse.csc_array(COUNTS), sparse.csr_array((1, 4)), labels, **asked)
