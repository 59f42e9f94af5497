"""The comparison of retrieval models: cross-validation, the paired test, the peer, absent collections."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from experiments.reproduction import Work
from experiments.retrieval.judged_collections import Collection
from experiments.retrieval.judging import cross_validated, judge, randomisation_p
from experiments.retrieval.peer import compare_with_bm25s
from experiments.retrieval.run import reproduce

WORDS = ["rye", "bread", "oven", "herring", "boat", "harbour", "goal", "cup", "final", "storm"]


@pytest.fixture(scope="module")
def collection():
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(WORDS, rng.integers(4, 20))) for _ in range(60)]
    queries = [" ".join(rng.choice(WORDS, 2, replace=False)) for _ in range(10)]
    grades = [{int(row): 1.0 for row in rng.choice(60, 5, replace=False)} for _ in queries]
    return Collection("made", texts, queries, grades)


def test_each_query_is_judged_by_what_is_best_on_the_queries_of_other_folds(collection):
    rng = np.random.default_rng(1)
    runs = [rng.random((10, 60)) for _ in range(4)]
    average = np.array([judge(collection, run)["MAP"] for run in runs])
    values, scores = cross_validated(collection, runs)
    for query in range(10):
        others = [other for other in range(10) if other % 5 != query % 5]
        best = int(np.argmax(average[:, others].mean(axis=1)))
        assert values["MAP"][query] == average[best, query]
        assert np.array_equal(scores[query], runs[best][query])


def test_the_paired_test_comes_near_to_trying_all_signs():
    first, second = np.random.default_rng(2).random((2, 8)) + np.array([[0.3], [0.0]])
    difference = first - second
    every = [abs(np.dot(signs, difference)) for signs in itertools.product((-1, 1), repeat=8)]
    exact = np.mean(np.array(every) >= abs(difference.sum()) - 1e-12)
    assert randomisation_p(first, second) == pytest.approx(exact, abs=0.01)


def test_bm25s_ranks_as_we_do(collection):
    pytest.importorskip("bm25s", reason="bm25s is not installed")
    table = compare_with_bm25s(collection)
    assert table["same ranking"].tolist() == [1.0, 1.0]
    assert table["BM25 of"].tolist() == ["doccluster", "bm25s"]


def test_without_the_collections_nothing_is_computed(tmp_path):
    assert reproduce(Work(False, tmp_path / "a" / "experiments" / "retrieval", tmp_path)) == {}
