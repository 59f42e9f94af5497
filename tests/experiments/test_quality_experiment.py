"""The comparison of algorithms: what matters comes first, and means are those of whole seeds."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from experiments.quality.corpora import CLUTO
from experiments.quality.page import cells, means, of_seven, put_between, with_ratios
from experiments.quality.run import cases_in_order


def test_one_seed_of_everything_comes_before_further_seeds_and_those_without_a_seed_come_once():
    cases = cases_in_order(["tr11", "reuters"], ["spherical k-means", "agglomerative, Ward"], 4)
    seeds = [(case["corpus"], case["seed"]) for case in cases if case["algorithm"] == "spherical k-means"]
    assert seeds == [(name, seed) for group in ([0], [1, 2], [3]) for name in ("tr11", "reuters") for seed in group]
    assert [case["seed"] for case in cases if case["algorithm"] == "agglomerative, Ward"] == [0, 0]


@pytest.fixture
def runs():
    """Two algorithms on the seven sets, two seeds; the second seed of one lacks a set."""
    rng = np.random.default_rng(0)
    cases = [(c, a, s) for a in ("scikit-learn NMF", "spherical k-means") for c in CLUTO for s in range(3)]
    table = pd.DataFrame(cases, columns=["corpus", "algorithm", "seed"])
    for name in ("nmi", "adjusted_rand", "clusters", "seconds", "wall_seconds", "megabytes"):
        table[name] = rng.uniform(1.0, 2.0, len(table))
    return table[~((table.corpus == "la1") & (table.seed == 2) & (table.algorithm == "scikit-learn NMF"))]


def test_the_interval_is_that_of_the_means_over_the_sets_of_whole_seeds(runs):
    found = of_seven(with_ratios(runs))
    assert list(found.index) == ["spherical k-means", "scikit-learn NMF"]
    assert found["seeds"].tolist() == [3, 2]
    own = runs[(runs.algorithm == "scikit-learn NMF") & (runs.seed < 2)]
    by_seed = own.groupby("seed").nmi.mean()
    low, high = stats.t.interval(0.95, 1, by_seed.mean(), stats.sem(by_seed))
    assert found.loc["scikit-learn NMF", "nmi"] == pytest.approx((low + high) / 2)
    assert found.loc["scikit-learn NMF", "nmi_half"] == pytest.approx((high - low) / 2)
    plain = runs[runs.algorithm == "spherical k-means"].groupby("corpus").seconds.mean()
    assert found.loc["scikit-learn NMF", "times_plain"] == pytest.approx((own.seconds / own.corpus.map(plain)).mean())


def test_a_fit_that_was_ended_says_after_how_many_seconds(runs):
    ended = runs.head(1).assign(nmi=np.nan, seconds=120.0)
    row = means(with_ratios(ended).groupby("algorithm")).iloc[0]
    assert cells(row).split(" | ")[0] == "not finished"
    assert "over 120" in cells(row)
    assert cells(row).count("|") == 7


def test_a_table_replaces_what_stood_between_its_marks():
    text = "a\n<!-- one -->\nold\n<!-- end of one -->\nb <!-- two --> c"
    assert put_between(text, "one", r"\new") == "a\n<!-- one -->\n\\new\n<!-- end of one -->\nb <!-- two --> c"
