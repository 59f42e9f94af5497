"""All partitions of a few documents: their number, the best of them, and what spherical k-means reaches of it."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans

from doccluster import SphericalKMeans, score
from doccluster.errors import InputError
from doccluster.selection import best_partition, n_partitions


@pytest.mark.parametrize(("n", "k"), [(1, 1), (4, 2), (6, 3), (7, 5), (5, 6)])
def test_the_number_of_partitions_is_that_of_all_label_arrays_without_their_names(n, k):
    named = {
        tuple(labels.index(label) for label in labels)
        for labels in itertools.product(range(k), repeat=n)
        if len(set(labels)) == k
    }
    assert n_partitions(n, k) == len(named) <= k**n / math.factorial(k)


def naive_value(rows, labels, metric):
    """The sum of the cosines to the own centroid, or RSS, cluster by cluster."""
    clusters = [rows[labels == cluster] for cluster in range(3)]
    if metric == "euclidean":
        return sum(np.square(members - members.mean(axis=0)).sum() for members in clusters)
    sums = [(members / np.linalg.norm(members, axis=1)[:, None]).sum(axis=0) for members in clusters]
    return sum(float(np.linalg.norm(total)) for total in sums)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_no_partition_is_better_than_the_best(metric, form):
    rows = np.random.default_rng(1).random((7, 4)) * (np.random.default_rng(2).random((7, 4)) < 0.7)
    found = best_partition(form(rows), 3, metric=metric)
    name = "skm_objective" if metric == "cosine" else "rss"
    values = [
        naive_value(rows, np.array(labels), metric)
        for labels in itertools.product(range(3), repeat=7)
        if len(set(labels)) == 3
    ]
    assert found.objective == pytest.approx(max(values) if metric == "cosine" else min(values))
    assert found.objective == pytest.approx(float(score(name, found.labels, vectors=rows, metric=metric)))
    assert found.labels[0] == 0
    assert found.n_partitions == len(values) / 6


def test_partitions_are_looked_at_in_blocks(monkeypatch):
    rows = np.random.default_rng(4).random((9, 3))
    whole = best_partition(rows, 3)
    monkeypatch.setattr("doccluster.lab.enumeration.BLOCK", 7)
    assert best_partition(rows, 3).labels.tolist() == whole.labels.tolist()


@pytest.mark.parametrize("seed", range(3))
def test_spherical_k_means_never_passes_the_optimum_and_refined_starts_reach_it(seed):
    rows = np.abs(np.random.default_rng(seed).normal(size=(11, 4)))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    exact = best_partition(rows, 3)
    for init in ("k-means++", "random", "without-outliers", "agglomerative"):
        single = SphericalKMeans(3, init=init, n_init=1, random_state=seed).fit(rows)
        assert single.objective_ <= exact.objective + 1e-5
    many = SphericalKMeans(3, n_init=30, refine=True, random_state=0).fit(rows)
    assert many.objective_ == pytest.approx(exact.objective, abs=1e-5)
    assert score("adjusted_rand", many.labels_, truth=exact.labels) == 1


def test_bad_seeds_of_the_slides_end_above_the_optimum():
    """Manning, Raghavan & Schuetze, slides on chapter 16: six points in two rows; seeds d2 and d5, then d2 and d3."""
    points = np.array([[0.0, 1.0], [2.0, 1.0], [4.0, 1.0], [0.0, 0.0], [2.0, 0.0], [4.0, 0.0]])
    exact = best_partition(points, 2, metric="euclidean")
    good, bad = (KMeans(2, init=points[seeds], n_init=1).fit(points) for seeds in ([1, 2], [1, 4]))
    assert good.inertia_ == pytest.approx(exact.objective)
    assert bad.inertia_ > 2 * exact.objective


def test_too_many_partitions_are_refused():
    with pytest.raises(InputError, match=r"21,457,825 partitions of 17 documents into 3 clusters; give fewer"):
        best_partition(np.eye(17), 3)
    with pytest.raises(InputError, match="n_clusters"):
        best_partition(np.eye(3), 4)
