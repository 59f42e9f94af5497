"""The sweep over k and its choice: shared fits, honest references, resumable, and right where it is plain."""

from __future__ import annotations

import dataclasses
import json
import math

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import calinski_harabasz_score, silhouette_score

from doccluster.errors import InputError
from doccluster.selection import (
    Sweep,
    default_ks,
    estimate_seconds,
    gap_statistic,
    recommend,
    stability,
    sweep,
)
from doccluster.selection.null_models import sample_null
from doccluster.selection.sweep_rule import structure_p_value
from tests.selection.test_tendency import blocks_of_topics


@pytest.fixture(scope="module")
def topics():
    return blocks_of_topics(120, n_topics=4, n_terms=80, seed=1)


def swept(points, *, n_stability=0, **settings):
    return sweep(points, n_stability=n_stability, n_null_stability=1 if n_stability else 0, random_state=0, **settings)


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


def test_the_excess_finds_the_right_number_and_calls_noise_noise(topics):
    found = recommend(swept(topics, ks=range(2, 9), n_null=19, n_init=3, n_stability=6))
    assert found.k == 4
    assert found.has_structure
    assert found.p_value == pytest.approx(0.05)
    assert 4 in found.about_as_good
    noise = sample_null(topics, model="permute", random_state=np.random.default_rng(9))
    assert recommend(swept(noise, ks=range(2, 7), n_null=19, n_init=2, n_stability=4)).k is None


@pytest.mark.usefixtures("starts_threads")
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


def test_default_numbers_reach_three_times_the_square_root():
    assert default_ks(100)[-1] == 30
    assert default_ks(10_000)[-1] == 300
    assert len(default_ks(10_000)) < 32
    assert default_ks(5) == [2, 3, 4]


def test_a_sweep_without_a_rise_over_the_reference_recommends_nothing(topics):
    found = sweep(topics, ks=[2, 3], n_null=3, n_init=1, random_state=0)
    flat = found.table.assign(silhouette=found.table["null_silhouette"])
    assert recommend(dataclasses.replace(found, table=flat)).k is None


def test_clusters_that_could_not_be_filled_are_not_recommended():
    copies = np.repeat(np.eye(4), 10, axis=0)  # four distinct documents
    found = swept(copies, ks=[2, 3, 4, 6], n_null=3, n_init=1)
    assert found.table.set_index("k").loc[6, "n_clusters"] == 4
    assert 6 not in recommend(found).merit
    assert recommend(found).k == 4


def test_the_p_value_of_one_more_draw_of_the_null_is_uniform():
    rng = np.random.default_rng(0)
    p_values = []
    for _ in range(300):
        drawn = rng.normal(size=(5, 3))
        table = pd.DataFrame({"k": [2, 3, 4], "n_clusters": [2, 3, 4], "silhouette": drawn[0]})
        p_values.append(structure_p_value(Sweep(table, {}, {}, drawn[1:])))
    shares = np.unique(p_values, return_counts=True)[1] / 300
    assert shares == pytest.approx(np.full(5, 0.2), abs=0.07)  # three standard errors of a share of 300


def test_stability_goes_on_from_its_finished_numbers(topics, tmp_path):
    settings = {"n_samples": 3, "random_state": 0, "checkpoint": tmp_path}
    first = stability(topics, ks=[2, 3], **settings)
    (tmp_path / "k-2.json").write_text("[0.25, 0.0, 0]")  # to see that it is read and not made anew
    (tmp_path / "k-3.json").unlink()
    second = stability(topics, ks=[2, 3], **settings)
    assert second.values == {2: 0.25, 3: first.values[3]}
    with pytest.raises(InputError, match="other work"):
        stability(topics, ks=[2], **{**settings, "measure": "rand"})


def test_the_estimate_grows_with_the_work(topics):
    little = estimate_seconds(topics, ks=[3], n_init=1, n_data_sets=1, n_threads=1)
    assert 0 < little < 60
    assert estimate_seconds(topics, ks=[3], n_init=100, n_data_sets=10, n_threads=1) > 20 * little


def test_sd_and_krzanowski_lai_are_those_of_their_definitions(topics):
    table = sweep(topics, ks=[2, 3, 4], n_null=0, n_init=2, random_state=0).table.set_index("k")
    rss, d = table["rss"], topics.shape[1]
    diff = {k: (k - 1) ** (2 / d) * rss[k - 1] - k ** (2 / d) * rss[k] for k in (3, 4)}
    assert table.loc[3, "krzanowski_lai"] == pytest.approx(abs(diff[3] / diff[4]))
    assert table["sd"].notna().all()


def test_structure_that_resampled_data_do_not_share_is_none(topics):
    found = swept(topics, ks=[3, 4, 5], n_null=4, n_init=2, n_stability=3)
    assert recommend(found).k == 4
    assert found.table["stability_se"].between(0, 0.5).all()
    noisy = found.table.assign(stability=found.table["null_stability"] + 0.09)
    assert recommend(dataclasses.replace(found, table=noisy)).k is None
