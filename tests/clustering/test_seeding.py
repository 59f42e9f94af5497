"""Seeds: the draws of k-means++ by its definition, and what keeps isolated documents out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import pdist

from doccluster.base.sparse_structure import Csr
from doccluster.clustering import SphericalKMeans
from doccluster.clustering.k_means.seeds import (
    SEEDINGS,
    _agglomerated_means,
    _inlying_seeds,
    affordable_seeding,
    default_trials,
    kmeans_plus_plus,
    seeding_index,
)
from doccluster.clustering.k_means.unit_documents import unit_documents
from doccluster.errors import InputError
from doccluster.geometry import as_documents


@pytest.fixture
def rows():
    rng = np.random.default_rng(5)
    own = rng.integers(8, size=300)
    counts = rng.poisson(0.1 + 0.9 * (np.arange(64)[None, :] % 8 == own[:, None])).astype(float)
    counts[counts.sum(axis=1) == 0, 0] = 1
    return (counts / np.linalg.norm(counts, axis=1, keepdims=True)).astype(np.float32)


def naive_seeds(rows, weights, k, generator):
    """Greedy k-means++ by its definition, in dense rows."""
    rows = rows.astype(np.float64)
    nearest = np.zeros(rows.shape[0])
    chosen = []
    while len(chosen) < k:
        distances = weights * np.where(1 - nearest > 1e-6, 1 - nearest, 0)
        cumulated = np.cumsum(distances)
        draws = generator.random(default_trials(k) if chosen else 1) * cumulated[-1]
        candidates = np.searchsorted(cumulated, draws, side="right")
        left = [np.sum(weights * np.maximum(0, 1 - np.maximum(nearest, rows @ rows[c]))) for c in candidates]
        best = candidates[int(np.argmin(left))]
        nearest = rows @ rows[best] if not chosen else np.maximum(nearest, rows @ rows[best])
        chosen.append(int(best))
    return chosen


def test_seeds_do_not_depend_on_the_order_of_the_columns(rows):
    matrix = sparse.csr_array(rows)
    given = unit_documents(as_documents(matrix))
    assert np.shares_memory(given.matrix.data, matrix.data)
    turned = sparse.csr_array(rows[:, ::-1])
    for same in (turned, rows, matrix * 3.0):
        documents = unit_documents(as_documents(same))
        found = kmeans_plus_plus(documents, 12, np.random.default_rng(4))
        assert np.array_equal(found, kmeans_plus_plus(given, 12, np.random.default_rng(4)))


@pytest.mark.usefixtures("starts_threads")
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n_threads", [1, 3])
def test_seeds_are_those_of_the_definition(rows, seed, n_threads):
    weights = np.random.default_rng(1).uniform(0.5, 2, size=300)
    documents = unit_documents(as_documents(sparse.csr_array(rows)), weights=weights, n_threads=n_threads)
    found = kmeans_plus_plus(documents, 20, np.random.default_rng(seed))
    assert list(found) == naive_seeds(rows, weights, 20, np.random.default_rng(seed))


def test_the_lists_of_the_index_are_the_transpose(rows):
    documents = unit_documents(as_documents(sparse.csr_array(rows)))
    lists = seeding_index(documents)
    transposed = sparse.csr_array(rows).T.tocsr()
    assert np.array_equal(lists.indptr, transposed.indptr)
    assert np.array_equal(lists.indices, transposed.indices)
    assert np.array_equal(lists.data, transposed.data)


def test_copies_of_a_seed_are_never_drawn(rows):
    documents = unit_documents(as_documents(sparse.csr_array(np.repeat(rows[:10], 30, axis=0))))
    found = kmeans_plus_plus(documents, 25, np.random.default_rng(0))
    assert sorted(found // 30) == list(range(10))


def test_rows_without_terms_or_weight_are_never_seeds(rows):
    rows[:150] = 0
    weights = np.ones(300)
    weights[200:] = 0
    documents = unit_documents(as_documents(sparse.csr_array(rows)), weights=weights)
    found = kmeans_plus_plus(documents, 40, np.random.default_rng(0))
    assert found.min() >= 150
    assert found.max() < 200


def test_isolated_documents_rarely_become_seeds():
    """A third of the documents share no term with any other: drawn evenly they would be a third of the seeds."""
    rng = np.random.default_rng(2)
    own = rng.integers(10, size=400)
    topical = rng.poisson(1.0 * (np.arange(100)[None, :] % 10 == own[:, None])).astype(float)
    topical[topical.sum(axis=1) == 0, 0] = 1
    alone = np.eye(200)
    rows = np.block([[topical, np.zeros((400, 200))], [np.zeros((200, 100)), alone]])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    documents = unit_documents(as_documents(sparse.csr_array(rows.astype(np.float32))))
    seeds = np.concatenate([kmeans_plus_plus(documents, 10, np.random.default_rng(s)) for s in range(20)])
    assert np.mean(seeds >= 400) < 0.1


def test_much_seeding_takes_a_sample_and_then_fewer_candidates():
    frequencies = np.full(1000, 100_000)
    assert affordable_seeding(frequencies, 1_000_000, 2) == (1_000_000, default_trials(2))
    sample, trials = affordable_seeding(frequencies, 1_000_000, 2000)
    assert 10_000 < sample < 1_000_000
    assert trials == default_trials(2000)
    assert affordable_seeding(10 * frequencies, 1_000_000, 50_000) == (250_000, 2)


@pytest.mark.usefixtures("starts_threads")
@pytest.mark.parametrize("init", SEEDINGS)
def test_the_same_seed_gives_the_same_labels_for_any_number_of_threads(rows, init, monkeypatch):
    monkeypatch.setattr("doccluster.clustering.k_means.unit_documents.SERIAL_WORK", 0)
    labels = [
        SphericalKMeans(9, init=init, n_init=2, random_state=6, n_threads=n).fit_predict(sparse.csr_array(rows))
        for n in (1, 2, 4)
    ]
    assert np.array_equal(labels[0], labels[1])
    assert np.array_equal(labels[0], labels[2])


def test_centroids_can_be_made_by_a_function(rows):
    def first_rows(X, n_clusters, random_state):
        assert isinstance(random_state, np.random.RandomState)
        return X[:n_clusters]

    by_function = SphericalKMeans(5, init=first_rows, n_init=1).fit(rows)
    given = SphericalKMeans(5, init=rows[:5]).fit(rows)
    assert np.array_equal(by_function.labels_, given.labels_)


@pytest.mark.usefixtures("starts_threads")
@pytest.mark.parametrize("n_threads", [1, 3])
def test_seeds_of_rows_without_zeros_are_those_of_the_definition(n_threads):
    rng = np.random.default_rng(6)
    rows = rng.uniform(0.1, 1, size=(500, 12)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    documents = unit_documents(as_documents(rows), n_threads=n_threads)
    found = kmeans_plus_plus(documents, 20, np.random.default_rng(8))
    assert list(found) == naive_seeds(rows, np.ones(500), 20, np.random.default_rng(8))
    lists = Csr.of(sparse.csr_array(documents.matrix.T.tocsr()))
    assert np.array_equal(found, kmeans_plus_plus(documents, 20, np.random.default_rng(8), index=lists))


@pytest.mark.parametrize("weighted", [False, True])
def test_many_documents_give_the_seeds_of_the_definition(weighted):
    rng = np.random.default_rng(9)
    counts = rng.poisson(0.2, size=(20_000, 40)).astype(float)
    counts[counts.sum(axis=1) == 0, 0] = 1
    rows = (counts / np.linalg.norm(counts, axis=1, keepdims=True)).astype(np.float32)
    weights = rng.uniform(0.5, 2, size=20_000) if weighted else np.ones(20_000)
    documents = unit_documents(as_documents(sparse.csr_array(rows)), weights=weights)
    found = kmeans_plus_plus(documents, 12, np.random.default_rng(2))
    assert list(found) == naive_seeds(rows, weights, 12, np.random.default_rng(2))


def test_seeds_without_outliers_are_none_of_the_documents_that_are_far_from_all_others():
    rng = np.random.default_rng(0)
    rows = np.repeat(np.eye(12)[:3], 60, axis=0) + rng.random((180, 12)) * [0.1] * 12
    rows[::20] = rng.random((9, 12)) * (rng.random((9, 12)) < 0.3) + np.eye(12)[3:12]  # nine outliers, one in twenty
    documents = unit_documents(as_documents(rows))
    cosines = (documents.matrix @ documents.matrix.T).toarray()
    np.fill_diagonal(cosines, -1)
    farthest = set(np.argsort(cosines.max(axis=1), kind="stable")[:9].tolist())
    for seed in range(20):
        seeds = _inlying_seeds(documents, 3, np.random.default_rng(seed)).toarray()
        places = [int(np.flatnonzero((documents.matrix.toarray() == row).all(axis=1))[0]) for row in seeds]
        assert not farthest & set(places)
    # draws that nothing keeps from them take some
    plain = [kmeans_plus_plus(documents, 3, np.random.default_rng(seed), n_trials=1).tolist() for seed in range(20)]
    assert any(farthest & set(seeds) for seeds in plain)


def test_agglomerated_seeds_are_the_centroids_of_scipy_s_average_linkage():
    rows = np.random.default_rng(3).random((16, 6))  # the root of k n is n, so all are joined
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    documents = unit_documents(as_documents(rows))
    seeds = _agglomerated_means(documents, 8, np.random.default_rng(0)).toarray()
    labels = fcluster(linkage(pdist(rows, "cosine"), "average"), 8, "maxclust")
    means = np.array([rows[labels == label].sum(axis=0) for label in np.unique(labels)])
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    assert sorted(map(tuple, seeds.round(5).tolist())) == sorted(map(tuple, means.astype(np.float32).round(5).tolist()))


def test_seeds_from_agglomeration_refuse_a_limit_that_is_not_kept(rows):
    with pytest.raises(InputError, match="leave out max_memory"):
        SphericalKMeans(3, init="agglomerative", max_memory="1G").fit(rows)
