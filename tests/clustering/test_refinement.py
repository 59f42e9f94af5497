"""Moves of single documents: what they promise, checked by trying every move."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from doccluster.clustering import SphericalKMeans
from tests.clustering.naive import cluto_matrix


@pytest.fixture
def documents():
    rng = np.random.default_rng(4)
    own = rng.integers(5, size=70)
    rows = rng.poisson(0.2 + 0.8 * (np.arange(40)[None, :] % 5 == own[:, None])).astype(float)
    rows[rows.sum(axis=1) == 0, 0] = 1
    return sparse.csr_array((rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32))


def objective(rows, weights, labels, k):
    return sum(np.linalg.norm((weights[labels == c, None] * rows[labels == c]).sum(axis=0)) for c in range(k))


def gains_of_all_moves(rows, weights, labels, k):
    """Every single-document move that leaves no cluster empty, by the definition of the objective."""
    now = objective(rows, weights, labels, k)
    gains = np.full((labels.size, k), -np.inf)
    for row in range(labels.size):
        if np.count_nonzero(labels == labels[row]) < 2:
            continue
        for cluster in set(range(k)) - {labels[row]}:
            moved = labels.copy()
            moved[row] = cluster
            gains[row, cluster] = objective(rows, weights, moved, k) - now
    return gains


def test_no_single_move_gains_after_refinement(documents):
    plain = SphericalKMeans(5, random_state=0, n_init=1, tol=0).fit(documents)
    refined = SphericalKMeans(5, random_state=0, n_init=1, tol=0, refine=True).fit(documents)
    rows, weights = documents.toarray().astype(float), np.ones(70)
    assert refined.objective_ > plain.objective_
    assert gains_of_all_moves(rows, weights, plain.labels_, 5).max() > 1e-3  # batch steps alone stop too early here
    assert gains_of_all_moves(rows, weights, refined.labels_, 5).max() < 1e-5
    assert np.array_equal(refined.predict(documents), refined.labels_)


def test_moves_gain_by_the_weights_of_the_documents(documents):
    weights = np.random.default_rng(0).uniform(0.5, 2, size=70)
    refined = SphericalKMeans(5, random_state=0, n_init=1, tol=0, refine=True).fit(documents, sample_weight=weights)
    rows = documents.toarray().astype(float)
    assert refined.objective_ == pytest.approx(objective(rows, weights, refined.labels_, 5), rel=1e-6)
    assert gains_of_all_moves(rows, weights, refined.labels_, 5).max() < 1e-5


@pytest.mark.usefixtures("starts_threads")
def test_refinement_never_lowers_the_objective_and_is_the_same_for_any_threads(documents):
    results = [
        SphericalKMeans(7, random_state=3, n_init=3, refine=True, n_threads=threads).fit(documents)
        for threads in (1, 3)
    ]
    plain = SphericalKMeans(7, random_state=3, n_init=3).fit(documents)
    assert results[0].objective_ >= plain.objective_
    assert np.array_equal(results[0].labels_, results[1].labels_)


@pytest.mark.real
def test_refinement_raises_the_objective_on_a_real_matrix(real_corpora):
    matrix, _ = cluto_matrix(real_corpora / "cluto_matrices", "tr23")
    plain = SphericalKMeans(6, random_state=1, n_init=2).fit(matrix)
    refined = SphericalKMeans(6, random_state=1, n_init=2, refine=True).fit(matrix)
    assert refined.objective_ > 1.002 * plain.objective_
