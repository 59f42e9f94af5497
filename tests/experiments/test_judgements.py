"""Measures of rankings against their definitions, and against scikit-learn where it has them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, ndcg_score

from doccluster.errors import InputError
from experiments.retrieval.ranking_measures import average_precision, ndcg_at, precision_at


@pytest.mark.parametrize("seed", range(20))
def test_measures_are_scikit_learn_s(seed):
    rng = np.random.default_rng(seed)
    grades = rng.choice([0, 0, 0, 1, 2, 4], size=30)
    grades[0] = 3
    scores = rng.permutation(30).astype(float)
    ranking = np.argsort(-scores)
    given = dict(enumerate(grades.tolist()))
    assert average_precision(ranking, given) == pytest.approx(average_precision_score(grades > 0, scores))
    assert ndcg_at(ranking, given, 10) == pytest.approx(ndcg_score([grades], [scores], k=10))
    assert precision_at(ranking, given, 10) == pytest.approx(np.mean(grades[ranking[:10]] > 0))


@pytest.mark.parametrize("seed", range(20))
def test_measures_are_those_of_trec_eval(seed):
    trec_eval = pytest.importorskip("pytrec_eval", reason="pytrec-eval-terrier is not installed")
    rng = np.random.default_rng(seed)
    judged = {int(one): int(rng.choice([-1, 0, 1, 2, 4])) for one in rng.choice(50, 20, replace=False)}
    judged[int(rng.integers(50))] = 1
    ranking = rng.permutation(50)[: int(rng.integers(3, 50))]
    names = {"map", "P_10", "ndcg_cut_10"}
    run = {str(one): float(-place) for place, one in enumerate(ranking.tolist())}
    grades = {str(one): grade for one, grade in judged.items()}
    expected = trec_eval.RelevanceEvaluator({"q": grades}, names).evaluate({"q": run})["q"]
    assert average_precision(ranking, judged) == pytest.approx(expected["map"])
    assert precision_at(ranking, judged, 10) == pytest.approx(expected["P_10"])
    assert ndcg_at(ranking, judged, 10) == pytest.approx(expected["ndcg_cut_10"])


def test_short_rankings_unjudged_documents_and_negative_grades():
    assert average_precision([7, 1], {1: 1, 2: 1}) == pytest.approx(0.25)
    assert precision_at([1], {1: 1}, 10) == pytest.approx(0.1)
    assert average_precision([1, 2], {1: -1, 2: 1}) == pytest.approx(0.5)
    assert ndcg_at([], {1: 1}) == 0.0


def test_without_a_relevant_document_there_is_no_value():
    assert np.isnan(average_precision([1], {1: 0}))
    assert np.isnan(ndcg_at([1], {}))
    with pytest.raises(InputError, match="k=0"):
        precision_at([1], {1: 1}, 0)
