"""Criteria over k: shared fits, honest references, and the choice of each."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import calinski_harabasz_score, silhouette_score

from doccluster.base.choices import CRITERIA
from doccluster.errors import DocclusterWarning, InputError
from doccluster.lab import reproduction as rooms
from doccluster.lab.criteria import criteria_over_k
from tests.selection.test_tendency import blocks_of_topics


@pytest.fixture(scope="module")
def topics():
    return blocks_of_topics(120, n_topics=4, n_terms=80, seed=1)


def test_table_holds_what_the_definitions_give(topics):
    found = criteria_over_k(topics, ks=[1, 2, 4], n_null=2, n_resamples=2, n_init=2, random_state=0)
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
    names = ["silhouette", "gap-rss"]
    found = criteria_over_k(
        points, ks=[2, 3, 4], criteria=names, algorithm="kmeans", null="uniform", n_null=5, random_state=0
    )
    row = found.table.set_index("k").loc[3]
    assert row["silhouette"] == pytest.approx(silhouette_score(points, found.labels[3]), abs=1e-9)
    assert row["rss"] == pytest.approx(KMeans(3, n_init=5, random_state=0).fit(points).inertia_, rel=1e-6)
    assert found.choices == {"silhouette": 3, "gap-rss": 3}


def iris():
    table = pd.read_csv(rooms.__path__[0] + "/iris_components.csv")
    return table[["x", "y"]].to_numpy()


def test_an_estimator_is_judged_as_it_is_asked_to_be():
    """Examples 17.7 and 17.8 of Zaki & Meira: SC(2) = .706, CH(2) = 570.25; at unit length both are others."""
    names = ["silhouette", "calinski-harabasz"]
    how = {"ks": [2, 3], "criteria": names, "algorithm": KMeans(n_init=5), "random_state": 0}
    euclidean = criteria_over_k(iris(), metric="euclidean", **how).table.set_index("k")
    assert euclidean["silhouette"][2] == pytest.approx(0.706, abs=0.0006)
    assert euclidean["calinski_harabasz"][2] == pytest.approx(570.25, abs=0.006)
    with pytest.warns(DocclusterWarning, match='give metric="euclidean"'):
        cosine = criteria_over_k(iris(), **how).table.set_index("k")
    assert cosine["silhouette"][2] == pytest.approx(0.880, abs=0.001)
    named = criteria_over_k(iris(), metric="cosine", **how).table  # asked for, so nothing is said
    assert named.set_index("k")["silhouette"].tolist() == cosine["silhouette"].tolist()
    with pytest.raises(InputError, match="metric='taxi'"):
        criteria_over_k(iris(), ks=[2], metric="taxi")


def test_a_distance_between_clusterings_chooses_its_least_value(topics):
    how = {"ks": [2, 4, 6], "criteria": "stability", "n_resamples": 6, "random_state": 0}
    result = criteria_over_k(topics, stability_measure="vi", **how)
    values = result.curve("stability")
    assert result.choices["stability"] == min(values, key=values.get) == 4


@pytest.mark.usefixtures("starts_threads")
def test_the_same_seed_gives_the_same_answer_for_any_number_of_threads(topics):
    serial, threaded = (
        criteria_over_k(topics, ks=[2, 3], n_null=3, n_init=2, n_resamples=3, random_state=5, n_threads=n)
        for n in (1, 2)
    )
    assert serial.table.equals(threaded.table)


@pytest.mark.parametrize("ks", [[], [0], [500], [-2]])
def test_numbers_of_clusters_out_of_range_are_refused(topics, ks):
    with pytest.raises(InputError):
        criteria_over_k(topics, ks=ks)


def test_all_criteria_name_the_number_of_clear_topics(topics):
    result = criteria_over_k(topics, ks=range(2, 8), penalty=1.0, n_init=3, n_resamples=6, random_state=0)
    assert list(result.choices) == list(CRITERIA)
    assert [result.choices[name] for name in ("silhouette", "gap-rss", "knee", "stability")] == [4, 4, 4, 4]
    rss, d = result.curve("rss"), topics.shape[1]
    falls = {k: (k - 1) ** (2 / d) * rss[k - 1] - k ** (2 / d) * rss[k] for k in (3, 4)}
    assert result.curve("krzanowski_lai")[3] == pytest.approx(abs(falls[3] / falls[4]))


def test_what_a_criterion_lacks_is_named(topics):
    assert "penalised-rss" not in criteria_over_k(topics, ks=[2, 3], n_null=1, n_init=1, n_resamples=2).choices
    with pytest.raises(InputError, match="penalty"):
        criteria_over_k(topics, ks=[2, 3], criteria="penalised-rss")
    with pytest.raises(InputError, match="n_null=0 is not at least 1"):
        criteria_over_k(topics, ks=[2, 3], criteria="gap", n_null=0)
    with pytest.raises(InputError, match="silhouette"):
        criteria_over_k(topics, ks=[2, 3], criteria="elbow")
