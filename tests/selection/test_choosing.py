"""The sweep over k and the recommendation: shared fits, honest references, resumable, and right where it is plain."""

from __future__ import annotations

import dataclasses
import json
import math

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import calinski_harabasz_score, silhouette_score

from doccluster.errors import InputError
from doccluster.selection import choose_k, default_ks, gap_statistic, recommend, sweep
from doccluster.selection.null_models import sample_null
from tests.selection.test_tendency import blocks_of_topics


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


def test_gap_by_hand():
    gap, sd = gap_statistic({2: 4.0, 3: 0.0}, [{2: 8.0, 3: 1.0}, {2: 16.0, 3: 1.0}])
    assert gap[2] == pytest.approx(1.5)
    assert sd[2] == pytest.approx(0.5)
    assert math.isnan(gap[3])


def test_the_right_number_is_recommended_and_noise_is_called_noise(topics):
    found = choose_k(topics, ks=range(2, 9), n_init=3, n_stability=6, random_state=0)
    assert found.k == 4
    assert found.has_structure
    assert found.p_value == pytest.approx(0.05)
    assert 4 in found.about_as_good
    noise = sample_null(topics, model="permute", random_state=np.random.default_rng(9))
    nothing = choose_k(noise, ks=range(2, 7), n_init=2, n_stability=4, random_state=0)
    assert nothing.k is None
    assert nothing.sentence.startswith("no structure beyond chance")


def test_the_same_seed_gives_the_same_answer_for_any_number_of_threads(topics):
    one = sweep(topics, ks=[2, 3], n_null=3, n_init=2, n_stability=3, random_state=5, n_threads=1)
    two = sweep(topics, ks=[2, 3], n_null=3, n_init=2, n_stability=3, random_state=5, n_threads=2)
    assert one.table.equals(two.table)


def test_a_sweep_goes_on_from_its_finished_pieces(topics, tmp_path):
    settings = {"ks": [2, 3], "n_null": 2, "n_init": 2, "random_state": 0, "checkpoint": tmp_path / "kept"}
    first = sweep(topics, **settings)
    (tmp_path / "kept" / "chain-2.json").unlink()
    kept = tmp_path / "kept" / "chain-1.json"
    piece = json.loads(kept.read_text())
    piece["values"]["2"]["silhouette"] = 0.5  # to see that it is read and not made anew
    kept.write_text(json.dumps(piece))
    second = sweep(topics, **settings)
    assert second.null_silhouettes[0, 0] == 0.5
    assert second.null_silhouettes[1].tolist() == first.null_silhouettes[1].tolist()
    assert second.labels[3].tolist() == first.labels[3].tolist()
    with pytest.raises(InputError, match="other work"):
        sweep(topics, **{**settings, "n_init": 3})


@pytest.mark.parametrize("ks", [[], [0], [500], [-2]])
def test_numbers_of_clusters_out_of_range_are_refused(topics, ks):
    with pytest.raises(InputError):
        sweep(topics, ks=ks)


def test_too_few_documents_are_refused():
    with pytest.raises(InputError, match="too few"):
        choose_k(np.eye(3))


def test_default_numbers_reach_three_times_the_square_root():
    assert default_ks(100)[-1] == 30
    assert default_ks(10_000)[-1] == 300
    assert len(default_ks(10_000)) < 32
    assert default_ks(5) == [2, 3, 4]


def test_a_sweep_without_a_rise_over_the_reference_recommends_nothing(topics):
    found = sweep(topics, ks=[2, 3], n_null=3, n_init=1, random_state=0)
    flat = found.table.assign(silhouette=found.table["null_silhouette"])
    assert recommend(dataclasses.replace(found, table=flat)).k is None
