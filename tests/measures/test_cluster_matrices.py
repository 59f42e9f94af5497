"""Scatter, distances of clusters and Hubert's statistic, against their definitions and the examples of the book."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from doccluster import score
from doccluster.cli import reproduction
from doccluster.errors import InputError
from doccluster.lab import reproduction as rooms
from doccluster.measures import cluster_distances, hubert_gamma, scatter_matrices


@pytest.fixture(scope="module")
def iris():
    table = pd.read_csv(rooms.__path__[0] + "/iris_components.csv")
    return table[["x", "y"]].to_numpy(), table["good"].to_numpy()


def made(seed=0, n=40, d=6):
    rng = np.random.default_rng(seed)
    return rng.random((n, d)) * (rng.random((n, d)) < 0.6), rng.integers(0, 4, n)


def test_printed_matrix_of_the_distances_of_clusters(iris):
    points, good = iris
    order = np.argsort(-np.bincount(good))
    weights = cluster_distances(good, vectors=points).weights[np.ix_(order, order)]
    printed = {line["key"]: float(line["printed"]) for line in reproduction.printed_values("zaki")}
    for i, j in [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]:
        assert weights[i, j] == pytest.approx(printed[f"17.6 W(C{i + 1},C{j + 1})"], abs=0.0051)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_distances_of_clusters_are_those_of_all_pairs(form, metric):
    rows, labels = made()
    rows[:, 0] += 0.1
    unit = rows / np.linalg.norm(rows, axis=1)[:, None]
    pairs = np.linalg.norm(rows[:, None] - rows[None], axis=2) if metric == "euclidean" else 1 - unit @ unit.T
    distances = cluster_distances(labels, vectors=form(rows), metric=metric)
    for i in range(4):
        for j in range(4):
            block = pairs[labels == i][:, labels == j]
            assert distances.weights[i, j] == pytest.approx(block.sum(), abs=1e-9)
            assert distances.largest[i, j] == pytest.approx(block.max(), abs=1e-9)
            assert distances.least[i, j] == pytest.approx(np.inf if i == j else block.min(), abs=1e-9)
    between = distances.least.min() / np.diag(distances.largest).max()
    assert between == pytest.approx(score("dunn", labels, vectors=form(rows), metric=metric))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_scatter_is_its_definition_and_its_traces_are_calinski_and_harabasz(form):
    rows, labels = made(1, n=3000)
    scatter = scatter_matrices(labels, vectors=form(rows))
    within, between, mean = np.zeros((6, 6)), np.zeros((6, 6)), rows.mean(axis=0)
    for cluster in range(4):
        members = rows[labels == cluster]
        for row in members:
            within += np.outer(row - members.mean(axis=0), row - members.mean(axis=0))
        between += len(members) * np.outer(members.mean(axis=0) - mean, members.mean(axis=0) - mean)
    np.testing.assert_allclose(scatter.within, within, atol=1e-9)
    np.testing.assert_allclose(scatter.between, between, atol=1e-9)
    np.testing.assert_allclose(scatter.within + scatter.between, (rows - mean).T @ (rows - mean), atol=1e-9)
    ratio = np.trace(scatter.between) / 3 / (np.trace(scatter.within) / (3000 - 4))
    assert ratio == pytest.approx(score("calinski_harabasz", labels, vectors=rows, metric="euclidean"))


def test_hubert_of_two_matrices_is_the_measure_where_they_are_its_own(iris):
    points, good = iris
    distances = np.linalg.norm(points[:, None] - points[None], axis=2)
    means = np.array([points[good == c].mean(axis=0) for c in range(3)])[good]
    apart = np.linalg.norm(means[:, None] - means[None], axis=2)
    judged = {"vectors": points, "metric": "euclidean"}
    assert hubert_gamma(distances, apart) == pytest.approx(score("hubert", good, **judged))
    normalized = hubert_gamma(distances, apart, normalized=True)
    assert normalized == pytest.approx(score("hubert_normalized", good, **judged))
    assert (round(hubert_gamma(distances, apart), 2), round(normalized, 3)) == (8.19, 0.918)


def test_hubert_of_two_arbitrary_matrices_is_a_correlation():
    first, second = np.random.default_rng(2).normal(size=(2, 9, 9))
    above = np.triu_indices(9, 1)
    expected = np.corrcoef(first[above], second[above])[0, 1]
    assert hubert_gamma(first, second, normalized=True) == pytest.approx(expected)
    assert hubert_gamma(first, second) == pytest.approx(np.mean(first[above] * second[above]))
    assert np.isnan(hubert_gamma(first, np.ones((9, 9)), normalized=True))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: hubert_gamma(np.eye(3), np.eye(4)), "give two square ones"),
        (lambda: hubert_gamma(np.ones((3, 4)), np.ones((3, 4))), "give two square ones"),
        (lambda: hubert_gamma([["a"]], [["b"]]), "text"),
        (lambda: scatter_matrices([0, 1], vectors=sparse.csr_array(np.ones((2, 6000)))), "project the vectors"),
        (lambda: cluster_distances([0, 1], vectors=np.eye(3)), "3 document vectors and 2 labels"),
        (lambda: cluster_distances([0, 1, 1], vectors=np.eye(3), metric="taxi"), "metric"),
    ],
)
def test_what_does_not_fit_is_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()
