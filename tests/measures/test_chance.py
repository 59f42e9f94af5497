"""The random baseline: exact where all rearrangements can be visited, else sampled, with an error that holds."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import doccluster
from doccluster.errors import InputError
from doccluster.measures.chance import arrangements, number_of_arrangements


def divergence_from_random_baseline(name, found, truth, *, n_samples=1000, random_state=0, **parameters):
    draws = {"n_samples": n_samples, "random_state": random_state}
    return doccluster.score(
        "divergence_from_random_baseline", found, truth=truth, measure=name, parameters=parameters, **draws
    )


def test_every_arrangement_comes_once():
    sizes = np.array([2, 1, 3])
    ours = [tuple(each) for each in arrangements(sizes)]
    assert sorted(ours) == sorted(set(itertools.permutations([0, 0, 1, 2, 2, 2])))
    assert number_of_arrangements(sizes) == len(ours) == 60


def test_numbers_of_arrangements_too_large_to_count_are_infinite():
    assert number_of_arrangements(np.full(1000, 10)) == np.inf


def test_sampled_baseline_is_within_its_error_of_the_exact_one_and_repeats_with_its_seed():
    found, truth = [0, 0, 0, 0, 1, 1, 1, 2, 2, 2], [0, 0, 0, 1, 1, 1, 2, 2, 2, 2]
    exact = divergence_from_random_baseline("nmi", found, truth)
    assert exact.standard_error == 0.0
    twice = found * 2, truth * 2  # 20 documents: too many arrangements to visit
    sampled = divergence_from_random_baseline("purity", *twice, n_samples=200, random_state=3)
    again = divergence_from_random_baseline("purity", *twice, n_samples=200, random_state=3)
    other = divergence_from_random_baseline("purity", *twice, n_samples=1000, random_state=9)
    assert sampled.value == again.value
    assert 0 < sampled.standard_error < 0.03
    assert abs(sampled.value - other.value) < 5 * sampled.standard_error
    assert "seeded samples" in sampled.note


def test_fewer_arrangements_of_the_truth_make_the_baseline_exact_too():
    found = [*range(8), 0, 1]  # many small clusters: 453,600 arrangements or more
    truth = [0] * 5 + [1] * 5  # 252
    exact = divergence_from_random_baseline("purity", found, truth)
    assert exact.standard_error == 0.0
    swapped = divergence_from_random_baseline("inverse_purity", truth, found)
    assert exact.value == pytest.approx(swapped.value, abs=1e-12)


def test_adjusted_measures_have_a_baseline_of_zero():
    for name in ("adjusted_rand", "ami", "adjusted_fowlkes_mallows"):
        found, truth = [0, 0, 0, 1, 1, 2, 2], [0, 1, 1, 1, 0, 0, 2]
        divergence = divergence_from_random_baseline(name, found, truth).value
        own = doccluster.score(name, found, truth=truth).value
        tolerance = 1e-12 if name != "adjusted_fowlkes_mallows" else 1e-9
        assert divergence == pytest.approx(own, abs=tolerance), name


def test_trivial_partitions_diverge_by_nothing():
    for found in ([0] * 30, list(range(30))):
        result = divergence_from_random_baseline("purity", found, [0, 1, 2] * 10)
        assert (result.value, result.standard_error) == (0.0, 0.0)


def test_parameters_go_to_the_measure():
    found, truth = [0, 0, 1, 1, 2, 2], [0, 0, 0, 1, 1, 2]
    five = divergence_from_random_baseline("pair_f", found, truth, beta=5).value
    one = divergence_from_random_baseline("pair_f", found, truth).value
    assert five != one


def test_only_external_measures_have_a_baseline():
    with pytest.raises(InputError, match="not an external measure"):
        divergence_from_random_baseline("divergence_from_random_baseline", [0, 1], [0, 1])


def test_an_undefined_measure_has_an_undefined_baseline():
    result = divergence_from_random_baseline("nccg", [0, 0, 1], ["a", "b", "c"])
    assert np.isnan(result.value)
    assert "nccg is undefined" in result.note
