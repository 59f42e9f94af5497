"""Measures of rankings against their definitions, and against scikit-learn where it has them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, ndcg_score

from doccluster.errors import InputError
from doccluster.retrieval.judged_collections import FILES, read_collection
from doccluster.retrieval.ranking_measures import average_precision, cluster_hypothesis, ndcg_at, precision_at


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


def test_the_cluster_hypothesis_is_the_share_of_relevant_neighbours():
    rng = np.random.default_rng(3)
    rows = rng.random((30, 8)) + 0.01
    grades = [dict.fromkeys(rng.choice(30, 6, replace=False).tolist(), 1.0), {4: 1.0}, {1: 2, 2: 0, 9: 1}]
    cosines = rows @ rows.T / np.outer(*[np.linalg.norm(rows, axis=1)] * 2)
    np.fill_diagonal(cosines, -1)
    tested = cluster_hypothesis(rows, grades, n_neighbors=4)
    for place, relevant in ((0, set(grades[0])), (2, {1, 9})):
        near = [sum(int(other) in relevant for other in np.argsort(-cosines[row])[:4]) for row in relevant]
        assert tested.shares[place] == pytest.approx(np.mean(near) / 4)
        assert tested.chance[place] == pytest.approx((len(relevant) - 1) / 29)
    assert np.isnan(tested.shares[1])
    assert tested.mean == pytest.approx((tested.shares[0] + tested.shares[2]) / 2)


@pytest.mark.parametrize(("grades", "message"), [([{0: 1}], "two relevant"), ([{0: 1, 7: 1}], "none of the 3 rows")])
def test_queries_that_say_nothing_of_the_hypothesis_are_refused(grades, message):
    with pytest.raises(InputError, match=message):
        cluster_hypothesis(np.eye(3), grades)


@pytest.mark.real
def test_on_cranfield_relevant_documents_are_alike(real_corpora):
    folder = real_corpora / "retrieval_cranfield_cisi"
    collection = read_collection([next(folder.glob(pattern)) for pattern in FILES["Cranfield"]], "Cranfield")
    tested = cluster_hypothesis(collection.rows, collection.grades)
    assert tested.mean > 20 * tested.mean_chance
