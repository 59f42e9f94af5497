"""The rule of the excess: right where it is plain, and silent where there is nothing."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest

from experiments.choosing_k.excess import recommend, structure_p_value, sweep_with_null
from experiments.choosing_k.sweep import Sweep, sweep
from experiments.tendency.null_models import sample_null
from tests.experiments.test_tendency import blocks_of_topics


@pytest.fixture(scope="module")
def topics():
    return blocks_of_topics(120, n_topics=4, n_terms=80, seed=1)


def swept(points, *, n_stability=0, **settings):
    return sweep_with_null(points, n_stability=n_stability, random_state=0, **settings)


def test_the_excess_finds_the_right_number_and_calls_noise_noise(topics):
    found = recommend(swept(topics, ks=range(2, 9), n_null=19, n_init=3, n_stability=6))
    assert found.k == 4
    assert found.has_structure
    assert found.p_value == pytest.approx(0.05)
    assert 4 in found.about_as_good
    noise = sample_null(topics, model="permute", random_state=np.random.default_rng(9))
    assert recommend(swept(noise, ks=range(2, 7), n_null=19, n_init=2, n_stability=4)).k is None


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


def test_structure_that_resampled_data_do_not_share_is_none(topics):
    found = swept(topics, ks=[3, 4, 5], n_null=4, n_init=2, n_stability=3)
    assert recommend(found).k == 4
    assert found.table["stability_se"].between(0, 0.5).all()
    noisy = found.table.assign(stability=found.table["null_stability"] + 0.09)
    assert recommend(dataclasses.replace(found, table=noisy)).k is None
