"""Stability of resampled clusterings: Algorithm 17.1 by hand, on the book's data, and on text."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans

from doccluster.base.validation import unit_rows
from doccluster.errors import InputError
from doccluster.geometry import as_documents
from doccluster.lab.criteria import best_k
from doccluster.lab.resampling import _perturbed, agreement, drawn_counts, mean_agreement, stability
from doccluster.measures import get_measure
from tests.selection.test_tendency import blocks_of_topics


def test_agreement_counts_a_document_as_often_as_both_samples_hold_it():
    first, second = np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1])
    purity_like = get_measure("rand")
    once = agreement(first, second, common=np.array([1, 1, 1, 1]), measure=purity_like)
    twice = agreement(first, second, common=np.array([2, 1, 1, 1]), measure=purity_like)
    assert once == pytest.approx(3 / 6)
    assert twice == pytest.approx(
        agreement(first[[0, 0, 1, 2, 3]], second[[0, 0, 1, 2, 3]], common=np.ones(5, int), measure=purity_like)
    )
    assert math.isnan(agreement(first, second, common=np.zeros(4, int), measure=purity_like))


def test_an_asymmetric_measure_is_averaged_over_both_orders():
    first, second = np.array([0, 0, 1, 1]), np.array([0, 0, 0, 1])
    record = get_measure("conditional_entropy")
    common = np.ones(4, int)
    both = agreement(first, second, common=common, measure=record)
    assert both == pytest.approx(agreement(second, first, common=common, measure=record))


def test_a_bootstrap_sample_has_as_many_documents():
    counts = drawn_counts(50, "bootstrap", np.random.default_rng(0))
    assert counts.sum() == 50
    assert counts.max() > 1


def test_a_subsample_has_seven_tenths_of_the_documents_and_a_perturbed_sample_all():
    subsample = drawn_counts(50, "subsample", np.random.default_rng(0))
    assert (subsample.sum(), subsample.max()) == (35, 1)
    assert drawn_counts(50, "perturb", np.random.default_rng(0)).tolist() == [1] * 50


@pytest.mark.parametrize("resampling", ["subsample", "perturb"])
def test_topics_are_most_stable_at_their_number_however_documents_are_resampled(resampling):
    means, _ = stability(
        blocks_of_topics(), ks=[2, 3, 4, 6], n_samples=6, random_state=0, measure="vi", resampling=resampling
    )
    assert best_k(means, largest=False) == 3


def test_noise_is_a_tenth_of_each_value_and_leaves_empty_cells_empty():
    rows = sparse.csr_array(np.array([[4.0, 0, 2], [0, 1, 0]] * 500))
    noisy = _perturbed(as_documents(rows), np.random.default_rng(0)).matrix
    assert (noisy.indices == rows.indices).all()
    assert np.std(noisy.data / rows.data) == pytest.approx(0.1, rel=0.1)
    points = np.random.default_rng(1).normal(scale=[1, 5], size=(2000, 2)) + 100
    moved = _perturbed(as_documents(points), np.random.default_rng(2)).matrix - points
    assert moved.std(axis=0) == pytest.approx([0.1, 0.5], rel=0.1)
    unit = _perturbed(as_documents(unit_rows(rows, warn=False)), np.random.default_rng(0))
    assert unit.has_unit_rows


def test_a_way_of_resampling_that_is_not_known_is_refused():
    with pytest.raises(InputError, match="resampling='twice'"):
        stability(blocks_of_topics(), ks=[2], resampling="twice")


def test_reference_values(oracle):
    case = json.loads((oracle / "relative_and_misc.json").read_text())["stability"]
    counts = [np.bincount(sample, minlength=6) for sample in case["samples"]]
    labels = [np.array([own.get(str(i), -1) for i in range(6)]) for own in case["labels"]]
    for measure, key in (("vi", "mean_vi_nats"), ("fowlkes_mallows", "mean_fm"), ("adjusted_rand", "mean_ari")):
        assert mean_agreement(labels, counts, get_measure(measure))[0] == pytest.approx(case[key], abs=1e-12)


def test_a_failed_fit_is_left_out():
    labels = [np.array([0, 0, 1]), None, np.array([0, 1, 1])]
    counts = [np.ones(3, int)] * 3
    value, _ = mean_agreement(labels, counts, get_measure("rand"))
    assert value == pytest.approx(1 / 3)


def test_the_book_s_choice_on_iris(oracle):
    points = np.array(json.loads((oracle / "zaki_iris.json").read_text())["points"])
    for measure in ("vi", "fowlkes_mallows"):
        means, _ = stability(
            points, ks=range(2, 6), algorithm=KMeans(n_init=5), n_samples=10, measure=measure, random_state=0
        )
        assert best_k(means, largest=measure != "vi") == 2
    assert means[2] == pytest.approx(0.996, abs=0.02)


def test_topics_are_most_stable_at_their_number_on_text():
    means, errors = stability(blocks_of_topics(), ks=[2, 3, 4, 6], n_samples=6, random_state=0)
    assert best_k(means) == 3
    assert means[3] > 0.8
    assert 0 < errors[2] < 0.3


@pytest.mark.usefixtures("starts_threads")
def test_threads_do_not_change_the_answer():
    results = [stability(blocks_of_topics(), ks=[2, 3], n_samples=4, random_state=1, n_threads=n) for n in (1, 2)]
    assert results[0] == results[1]


def test_only_external_measures_compare_partitions():
    with pytest.raises(InputError, match="measure"):
        stability(blocks_of_topics(), ks=[2], measure="silhouette")
