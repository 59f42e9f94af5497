"""Single-document moves and chains: what they promise, checked by trying every move."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from doccluster.clustering import SphericalKMeans
from doccluster.clustering.k_means.document_matrix import prepare
from doccluster.clustering.k_means.lloyd import Limits
from doccluster.clustering.k_means.means import means_of_rows
from doccluster.clustering.k_means.refinement import refine_start, weigh_moves
from doccluster.clustering.k_means.running_means import RunningMeans, Snapshot
from doccluster.kernels.arguments import Csr
from doccluster.kernels.refinement import Clusters, best_chain
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


def test_the_gain_of_a_move_is_the_change_of_the_objective(documents):
    weights = np.random.default_rng(0).uniform(0.5, 2, size=70)
    matrix, _ = prepare(documents, weights=weights)
    labels = np.random.default_rng(1).integers(4, size=70).astype(np.int32)
    followed = RunningMeans(matrix, means_of_rows(matrix, np.arange(4)))
    followed.update(labels)
    gains, targets, _, _ = weigh_moves(followed, labels)
    expected = gains_of_all_moves(documents.toarray().astype(float), weights, labels, 4)
    assert gains == pytest.approx(expected.max(axis=1), abs=1e-6)
    assert np.array_equal(targets, expected.argmax(axis=1))


def test_no_single_move_gains_after_refinement(documents):
    plain = SphericalKMeans(5, random_state=0, n_init=1, tol=0).fit(documents)
    refined = SphericalKMeans(5, random_state=0, n_init=1, tol=0, refine=True).fit(documents)
    rows, weights = documents.toarray().astype(float), np.ones(70)
    assert refined.objective_ > plain.objective_
    assert gains_of_all_moves(rows, weights, plain.labels_, 5).max() > 1e-3  # batch steps alone stop too early here
    assert gains_of_all_moves(rows, weights, refined.labels_, 5).max() < 1e-5
    assert np.array_equal(refined.predict(documents), refined.labels_)


def test_a_chain_gains_what_it_says_and_moves_each_row_once(documents):
    matrix, _ = prepare(documents)
    rng = np.random.default_rng(8)
    labels = rng.integers(3, size=70).astype(np.int32)
    rows = documents.toarray().astype(float)
    sums = np.stack([rows[labels == c].sum(axis=0) for c in range(3)])
    moves = np.zeros((30, 3), np.int64)
    length, gain = best_chain(
        matrix.rows(slice(0, 70)),
        matrix.weights,
        Csr.of(matrix.terms_from(0)),
        rows @ sums.T,
        Clusters(np.linalg.norm(sums, axis=1), np.bincount(labels, minlength=3)),
        labels.copy(),
        moves,
    )
    after = labels.copy()
    after[moves[:length, 0]] = moves[:length, 2]
    assert gain > 0
    assert np.unique(moves[:length, 0]).size == length
    assert objective(rows, np.ones(70), after, 3) - objective(rows, np.ones(70), labels, 3) == pytest.approx(gain, 1e-6)


@pytest.mark.parametrize(
    ("seed", "stuck"),
    [(37, [2, 1, 0, 1, 2, 2, 1, 1, 0, 1, 0, 2]), (42, [0, 0, 2, 1, 1, 1, 2, 1, 2, 0, 1, 0])],
)
def test_a_chain_passes_through_a_loss(seed, stuck):
    """Partitions that no single move improves: only moves that first lose and then gain lead on."""
    rows = np.random.default_rng(seed).random((12, 5)) ** 3
    rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    labels = np.array(stuck, dtype=np.int32)
    before = objective(rows.astype(float), np.ones(12), labels, 3)
    assert gains_of_all_moves(rows.astype(float), np.ones(12), labels, 3).max() < 0
    matrix, _ = prepare(sparse.csr_array(rows))
    start = Snapshot(labels, means_of_rows(matrix, np.arange(3)), before, 0)
    refined = refine_start(matrix, start, Limits(tol=0.0))
    assert objective(rows.astype(float), np.ones(12), refined.labels, 3) > before + 0.03


@pytest.mark.usefixtures("starts_threads")
def test_refinement_never_lowers_the_objective_and_is_the_same_for_any_threads(documents):
    results = [
        SphericalKMeans(7, random_state=3, n_init=3, refine=True, n_threads=threads).fit(documents)
        for threads in (1, 3)
    ]
    plain = SphericalKMeans(7, random_state=3, n_init=3).fit(documents)
    assert results[0].objective_ >= plain.objective_
    assert np.array_equal(results[0].labels_, results[1].labels_)


def test_interrupted_refinement_keeps_the_batch_result(documents):
    matrix, _ = prepare(documents)
    kept = []
    plain = SphericalKMeans(5, random_state=0, n_init=1).fit(documents)
    start = Snapshot(plain.labels_, means_of_rows(matrix, np.arange(5)), plain.objective_, 3)
    refine_start(matrix, start, Limits(tol=0.0), keep=kept.append)
    assert all(snapshot.objective >= plain.objective_ - 1e-9 for snapshot in kept)


@pytest.mark.real
def test_refinement_raises_the_objective_on_a_real_matrix(real_corpora):
    matrix, _ = cluto_matrix(real_corpora / "cluto_matrices", "tr23")
    plain = SphericalKMeans(6, random_state=1, n_init=2).fit(matrix)
    refined = SphericalKMeans(6, random_state=1, n_init=2, refine=True).fit(matrix)
    assert refined.objective_ > 1.002 * plain.objective_
