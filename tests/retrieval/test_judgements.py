"""Measures of rankings against their definitions, and against scikit-learn where it has them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, ndcg_score

from doccluster.errors import InputError
from doccluster.retrieval import average_precision, ndcg_at, precision_at


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
