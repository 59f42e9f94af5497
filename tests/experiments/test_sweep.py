"""The sweep over k: shared fits, honest references, resumable."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import calinski_harabasz_score, silhouette_score

from doccluster.errors import InputError
from experiments.choosing_k.sweep import default_ks, sweep
from tests.experiments.test_tendency import blocks_of_topics


@pytest.fixture(scope="module")
def topics():
    return blocks_of_topics(120, n_topics=4, n_terms=80, seed=1)


def test_table_holds_what_the_definitions_give(topics):
    found = sweep(topics, ks=[1, 2, 4], n_null=2, n_init=2, random_state=0)
    dense = topics.toarray()
    row = found.table.set_index("k").loc[4]
    labels = found.labels[4]
    means = np.array([dense[labels == c].mean(axis=0) for c in range(4)])
    assert row["rss"] == pytest.approx(np.square(dense - means[labels]).sum(), rel=1e-9)
    assert row["silhouette"] == pytest.approx(silhouette_score(dense, labels, metric="cosine"), abs=1e-9)
    assert row["calinski_harabasz"] == pytest.approx(calinski_harabasz_score(dense, labels), rel=1e-9)
    within = sum(1 - dense[i] @ dense[j] for i in range(120) for j in range(i + 1, 120) if labels[i] == labels[j])
    assert row["within"] == pytest.approx(within, rel=1e-9)
    assert math.isnan(found.table.set_index("k").loc[1]["silhouette"])


def test_euclidean_k_means_is_judged_in_its_own_metric():
    points = np.random.default_rng(0).normal(size=(60, 2)) + np.repeat([[0, 0], [9, 0], [0, 9]], 20, axis=0)
    found = sweep(points, ks=[2, 3, 4], algorithm="kmeans", null="uniform", n_null=5, random_state=0)
    row = found.table.set_index("k").loc[3]
    assert row["silhouette"] == pytest.approx(silhouette_score(points, found.labels[3]), abs=1e-9)
    assert row["rss"] == pytest.approx(KMeans(3, n_init=5, random_state=0).fit(points).inertia_, rel=1e-6)
    assert found.choices["silhouette"] == 3
    assert found.choices["gap_rss_tibshirani"] == 3


@pytest.mark.usefixtures("starts_threads")
def test_the_same_seed_gives_the_same_answer_for_any_number_of_threads(topics):
    one = sweep(topics, ks=[2, 3], n_null=3, n_init=2, n_stability=3, random_state=5, n_threads=1)
    two = sweep(topics, ks=[2, 3], n_null=3, n_init=2, n_stability=3, random_state=5, n_threads=2)
    assert one.table.equals(two.table)


@pytest.mark.parametrize("ks", [[], [0], [500], [-2]])
def test_numbers_of_clusters_out_of_range_are_refused(topics, ks):
    with pytest.raises(InputError):
        sweep(topics, ks=ks)


def test_default_numbers_reach_three_times_the_square_root():
    assert default_ks(100)[-1] == 30
    assert default_ks(10_000)[-1] == 300
    assert len(default_ks(10_000)) < 32
    assert default_ks(5) == [2, 3, 4]


def test_sd_and_krzanowski_lai_are_those_of_their_definitions(topics):
    table = sweep(topics, ks=[2, 3, 4], n_null=0, n_init=2, random_state=0).table.set_index("k")
    rss, d = table["rss"], topics.shape[1]
    diff = {k: (k - 1) ** (2 / d) * rss[k - 1] - k ** (2 / d) * rss[k] for k in (3, 4)}
    assert table.loc[3, "krzanowski_lai"] == pytest.approx(abs(diff[3] / diff[4]))
    assert table["sd"].notna().all()
