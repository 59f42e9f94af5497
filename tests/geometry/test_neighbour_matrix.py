"""Neighbours as scikit-learn takes them, beside scikit-learn's own."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors
from sklearn.neighbors import kneighbors_graph as theirs

from doccluster.clustering import SphericalKMeans
from doccluster.errors import InputError
from doccluster.geometry import kneighbors_graph


@pytest.fixture(scope="module")
def matrix():
    rng = np.random.default_rng(5)
    topics = rng.integers(6, size=200)
    counts = rng.poisson(0.05 + 1.5 * (np.arange(120)[None, :] // 20 == topics[:, None]))
    counts = counts * rng.uniform(0.9, 1.1, counts.shape)  # no ties
    return sparse.csr_array(counts / np.linalg.norm(counts, axis=1, keepdims=True))


@pytest.mark.parametrize("mode", ["distance", "connectivity"])
@pytest.mark.parametrize("n_neighbors", [1, 7])
def test_the_graph_is_scikit_learns(matrix, mode, n_neighbors):
    ours = kneighbors_graph(matrix, n_neighbors, mode=mode)
    expected = theirs(matrix, n_neighbors, mode=mode, metric="cosine")
    assert np.diff(ours.indptr).tolist() == [n_neighbors] * 200
    assert ours.toarray() == pytest.approx(expected.toarray(), abs=1e-6)


def test_copies_and_documents_without_common_terms_fill_the_lists():
    rows = sparse.csr_array([[1.0, 0.0, 0.0]] * 3 + [[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    found = kneighbors_graph(rows, 3)
    assert found.indices.reshape(5, 3).tolist() == [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2], [0, 1, 2]]
    assert found.data.reshape(5, 3) == pytest.approx(np.array([[0, 0, 1]] * 3 + [[1, 1, 1]] * 2))
    assert kneighbors_graph(rows, 3, mode="similarity").data == pytest.approx(1 - found.data)


def test_scikit_learns_estimators_take_it_as_precomputed(matrix):
    topics = SphericalKMeans(6, random_state=0).fit_predict(matrix)
    graph = kneighbors_graph(matrix, 12, include_self=True)
    voted = KNeighborsClassifier(5, metric="precomputed").fit(graph, topics).predict(graph)
    expected = KNeighborsClassifier(5, metric="cosine", algorithm="brute").fit(matrix, topics).predict(matrix)
    assert np.array_equal(voted, expected)
    near = NearestNeighbors(n_neighbors=5, metric="precomputed").fit(graph).kneighbors(graph, return_distance=False)
    exact = NearestNeighbors(n_neighbors=5, metric="cosine", algorithm="brute").fit(matrix)
    distances = exact.kneighbors(matrix)[0]
    by_graph = np.take_along_axis(1 - (matrix @ matrix.T).toarray(), near, axis=1)
    np.testing.assert_allclose(by_graph, distances, atol=1e-6)


@pytest.mark.parametrize(
    ("options", "message"), [({"n_neighbors": 3}, "n_neighbors=3 is not below"), ({"mode": "cosine"}, "mode='cosine'")]
)
def test_what_cannot_be_used_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        kneighbors_graph(np.eye(3), **{"n_neighbors": 1, **options})
