"""Comparing algorithms: the statistics by hand and by scipy, and a real comparison in processes of its own."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from doccluster.errors import InputError
from doccluster.selection import Comparison, LabelledCorpus, compare
from doccluster.selection.significance import (
    friedman_nemenyi,
    holm,
    mean_with_interval,
    paired_tests,
    rank_biserial,
    wilcoxon_p,
)
from tests.selection.test_tendency import blocks_of_topics


def test_interval_is_that_of_student():
    values = [1.0, 2.0, 4.0, math.nan]
    mean, low, high = mean_with_interval(values)
    expected = stats.t.interval(0.95, 2, loc=np.mean(values[:3]), scale=stats.sem(values[:3]))
    assert (low, high) == pytest.approx(expected)
    assert mean == pytest.approx(7 / 3)
    assert all(math.isnan(each) for each in mean_with_interval([3.0])[1:])


def test_rank_biserial_by_hand():
    assert rank_biserial([2, 2, 2], [1, 1, 1]) == 1.0
    assert rank_biserial([3, 1], [1, 2]) == pytest.approx((2 - 1) / 3)
    assert rank_biserial([1, 1], [1, 1]) == 0.0


def test_wilcoxon_is_scipy_s_and_equal_pairs_are_no_evidence():
    rng = np.random.default_rng(0)
    one, two = rng.normal(size=12), rng.normal(0.5, size=12)
    assert wilcoxon_p(one, two) == pytest.approx(stats.wilcoxon(one, two).pvalue)
    assert wilcoxon_p(one, one) == 1.0
    with pytest.raises(InputError):
        wilcoxon_p(one, two[:3])


def test_holm_never_lowers_a_p_value():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.9, 0.8]) == pytest.approx([1.0, 1.0])


def test_effect_is_positive_where_the_first_is_better():
    worse, better = [0.1, 0.2, 0.3, 0.25, 0.15], [0.5, 0.6, 0.8, 0.7, 0.65]
    assert paired_tests({"a": better, "b": worse}).loc[0, "effect"] == 1.0
    assert paired_tests({"a": better, "b": worse}, higher_is_better=False).loc[0, "effect"] == -1.0


def test_friedman_and_nemenyi_reach_the_printed_values():
    table = pd.DataFrame({"a": [0.9, 0.8, 0.7, 0.9], "b": [0.5, 0.6, 0.5, 0.4], "c": [0.1, 0.2, 0.3, 0.2]})
    p, ranks, critical = friedman_nemenyi(table)
    assert ranks.to_dict() == {"a": 1.0, "b": 2.0, "c": 3.0}
    assert p == pytest.approx(stats.friedmanchisquare(*table.to_numpy().T).pvalue)
    assert critical == pytest.approx(2.343 * math.sqrt(3 * 4 / (6 * 4)), abs=1e-3)  # Demsar 2006, table 5: 2.343
    with pytest.raises(InputError):
        friedman_nemenyi(table[["a", "b"]])


def test_agreement_is_positive_where_a_measure_follows_the_truth():
    rows = []
    for seed, (ari, silhouette, adherence) in enumerate([(0.1, 0.2, 0.9), (0.5, 0.3, 0.5), (0.9, 0.6, 0.2)]):
        for measure, value in (("adjusted_rand", ari), ("silhouette", silhouette), ("adherence", adherence)):
            rows.append(("c", "x", seed, measure, value))
    found = Comparison(pd.DataFrame(rows, columns=["corpus", "algorithm", "seed", "measure", "value"])).agreement()
    assert found.set_index("measure")["correlation"].to_dict() == {"adherence": 1.0, "silhouette": 1.0}


def test_a_real_comparison_and_its_continuation(tmp_path):
    corpora = [
        LabelledCorpus(f"made-{seed}", blocks_of_topics(60, seed=seed), [i % 3 for i in range(60)], 3)
        for seed in (0, 1)
    ]
    settings = {
        "algorithms": ["spherical-kmeans:n_init=1", "kmeans:n_init=1", "bisecting-kmeans"],
        "seeds": range(2),
        "measures": ["adjusted_rand", "silhouette"],
        "checkpoint": tmp_path,
    }
    found = compare(corpora, **settings)
    assert len(found.runs) == 2 * 3 * 2 * 4
    seconds = found.runs[found.runs["measure"] == "seconds"]["value"]
    assert (seconds > 0).all()
    again = compare(corpora, **settings)
    pd.testing.assert_frame_equal(found.runs, again.runs)  # finished runs are read, seconds and all
    p, ranks, _ = found.ranks("adjusted_rand")
    assert 0 <= p <= 1
    assert ranks.sum() == pytest.approx(6.0)
    assert set(found.tests(["adjusted_rand"])["corpus"]) == {"made-0", "made-1"}
    summary = found.summary().set_index(["corpus", "algorithm", "measure"])
    assert summary.loc[("made-0", "spherical-kmeans:n_init=1", "adjusted_rand"), "mean"] > 0.5


@pytest.mark.parametrize("name", ["dbscan", "kmeans:depth=3", "kmeans:n_init"])
def test_unknown_algorithms_and_parameters_are_refused_before_any_work(name):
    with pytest.raises(InputError):
        compare([], algorithms=[name])
