"""Ranking the best documents again by the neighbours among them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from doccluster.base.validation import unit_rows
from doccluster.errors import InputError
from doccluster.geometry import nearest_neighbours
from doccluster.retrieval import rerank, smooth_scores


def test_a_document_like_the_best_ones_overtakes_one_that_is_like_none():
    rows = unit_rows(sparse.csr_array([[1, 0, 0], [1, 0.1, 0], [1, 0, 0.1], [0, 1, 0.2], [0, 0.1, 1.0]]), warn=False)
    scores = np.array([3.0, 2.9, 1.0, 1.1, 0.0])
    assert np.argsort(-scores, kind="stable").tolist() == [0, 1, 3, 2, 4]
    assert rerank(scores, rows, n_neighbors=2).tolist() == [0, 1, 2, 3]


def test_with_all_documents_found_it_ranks_as_smoothed_scores_do():
    rng = np.random.default_rng(0)
    rows = unit_rows(sparse.csr_array(rng.random((80, 20)) * (rng.random((80, 20)) < 0.3)), warn=False)
    scores = rng.random(80) + 0.01
    graph = nearest_neighbours(rows, 5, fold=None)
    expected = np.argsort(-smooth_scores(scores, graph, weight=0.3, n_neighbors=5), kind="stable")
    assert rerank(scores, rows, weight=0.3, n_neighbors=5).tolist() == expected.tolist()


def test_what_is_not_found_is_not_ranked_and_only_the_best_are_taken():
    rows = sparse.csr_array(np.eye(4))
    assert rerank(np.array([0.0, 2.0, -1.0, 3.0]), rows).tolist() == [3, 1]
    assert rerank(np.array([1.0, 2.0, 0.5, 3.0]), rows, n_reranked=2).tolist() == [3, 1]
    assert rerank(np.zeros(4), rows).tolist() == []
    with pytest.raises(InputError, match="n_reranked"):
        rerank(np.ones(4), rows, n_reranked=0)
