"""Topic measures against enumerated values, and what they say at the edges."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy import sparse

import doccluster
from doccluster.errors import InputError
from doccluster.geometry.evidence import ClusterEvidence
from doccluster.geometry.partition import Partition
from doccluster.measures import get_measure
from doccluster.measures.topics import TopicWords

NAMES = ("umass", "uci", "npmi", "exclusivity")


def test_columns_with_negative_values_are_not_terms_and_the_score_says_so():
    rows = np.random.default_rng(0).normal(size=(12, 5))
    for name in (*NAMES, "topic_diversity"):
        for form in (np.asarray, sparse.csr_array):
            found = doccluster.score(name, [0, 1, 2] * 4, vectors=form(rows))
            assert np.isnan(found.value)
            assert "not terms" in found.note
        known = doccluster.score(name, [0, 1, 2] * 4, vectors=np.abs(rows))
        assert np.isfinite(known.value)


def topics_of(matrix, labels, **options):
    return TopicWords(ClusterEvidence(matrix, Partition.from_labels(labels)), **options)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_top_terms_and_all_measures(oracle, form, dtype):
    case = json.loads((oracle / "extra_cases.json").read_text())["topics"]
    tolerance = 1e-12 if dtype == np.float64 else 1e-5
    topics = topics_of(form(np.array(case["counts"], dtype=dtype)), case["labels"])
    for key, values in case["values"].items():
        number = int(key.removeprefix("top_"))
        assert [top.tolist() for top in topics.top_terms(number)] == values["top_terms"]
        for name in NAMES:
            result = get_measure(name).compute(topics, n_top_terms=number)
            np.testing.assert_allclose(result.per_cluster, values[name], atol=tolerance)
            assert result.value == pytest.approx(values[f"{name}_mean"], abs=tolerance)
        diversity = get_measure("topic_diversity").compute(topics, n_top_terms=number)
        assert diversity.value == pytest.approx(values["topic_diversity"], abs=1e-12)


def test_given_terms_in_a_reference_corpus(oracle):
    case = json.loads((oracle / "relative_and_misc.json").read_text())["topic_coherence"]
    reference = sparse.csr_array(np.array(case["B"], dtype=float))
    topics = topics_of(np.eye(4), [0, 0, 0, 0], terms=[case["terms"]], reference=reference)
    for name in ("umass", "uci", "npmi"):
        assert get_measure(name).compute(topics).value == pytest.approx(case[name], abs=1e-12)
    lists = topics_of(np.eye(4), [0, 0, 1, 1], terms=case["diversity_of"])
    assert get_measure("topic_diversity").compute(lists).value == pytest.approx(case["diversity"])


def test_ties_of_weight_go_to_the_lowest_column():
    topics = topics_of(np.array([[1.0, 2.0, 1.0, 2.0]]), [0])
    assert topics.top_terms(4)[0].tolist() == [1, 3, 0, 2]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_top_terms_are_those_of_sorting_all_however_many_tie(dtype):
    rng = np.random.default_rng(3)
    weights = rng.choice([0.0, 1.0, 2.0, 3.0], size=(6, 500), p=[0.5, 0.2, 0.2, 0.1]).astype(dtype)
    weights[1, 100:] = 0
    weights[2] = 1 + rng.random(500) * 1e-4  # a chain of small steps in float32
    weights[3, 3:] = 0
    topics = topics_of(sparse.csr_array(weights), range(6))
    for number in (1, 4, 10, 700):
        for cluster, found in enumerate(topics.top_terms(number)):
            assert found.tolist() == _all_sorted(weights[cluster].astype(np.float64), number, dtype)


def _all_sorted(weights, number, dtype):
    """Rank the terms of one document one by one: within rounding of the one before is a tie with it."""
    weights = weights / np.sqrt((weights**2).sum())
    left = sorted(np.flatnonzero(weights > 0), key=lambda term: (-weights[term], term))
    ranked, run = [], []
    for term in left:
        slack = 1e-12 if dtype == np.float64 else 1e-6 * weights[term]
        if run and weights[run[-1]] - weights[term] > slack:
            ranked += sorted(run)
            run = []
        run.append(term)
    return [int(term) for term in (ranked + sorted(run))[:number]]


def test_a_cluster_without_terms_is_left_out_with_a_note():
    topics = topics_of(np.array([[1.0, 1.0], [1.0, 1.0], [0.0, 0.0]]), [0, 0, 1])
    result = get_measure("umass").compute(topics)
    assert np.isnan(result.per_cluster[1])
    assert result.value == pytest.approx(math.log(3 / 2))
    assert "excluded" in result.note
    nothing = topics_of(np.zeros((2, 2)), [0, 1])
    for name in (*NAMES, "topic_diversity"):
        empty = get_measure(name).compute(nothing)
        assert math.isnan(empty.value)
        assert empty.note


def test_a_pair_in_all_documents_has_npmi_one():
    topics = topics_of(np.array([[1.0, 1.0], [1.0, 2.0]]), [0, 0])
    assert get_measure("npmi").compute(topics).value == 1.0
    assert get_measure("exclusivity").compute(topics).value == 1.0


@pytest.mark.parametrize("terms", [[[0]], [[0], [9]], [[0], ["a"]], "ab", 3])
def test_unusable_terms_are_refused(terms):
    with pytest.raises(InputError, match="terms"):
        topics_of(np.eye(3), [0, 1, 1], terms=terms)


def test_a_reference_with_other_columns_is_refused():
    with pytest.raises(InputError, match="same vocabulary"):
        topics_of(np.eye(3), [0, 1, 1], reference=np.eye(2))
