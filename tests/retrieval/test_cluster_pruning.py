"""Cluster pruning against its definition: who follows whom, what is searched, and that a search of all is exact."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from doccluster.base.validation import unit_rows
from doccluster.errors import InputError
from doccluster.retrieval.cluster_pruning import ClusterPruning, draw_leaders


def documents(n=60, seed=0):
    table = np.random.default_rng(seed).random((n, 12)) * (np.random.default_rng(seed + 1).random((n, 12)) < 0.4)
    table[:, 0] += 0.1
    return unit_rows(sparse.csr_array(table), warn=False)


@pytest.mark.parametrize(("b1", "b2"), [(1, 1), (1, 3), (2, 2)])
def test_the_candidates_are_the_followers_of_the_nearest_leaders(b1, b2):
    rows = documents()
    leaders = rows[draw_leaders(60)]
    query = documents(1, seed=7)
    to_leaders = (rows @ leaders.T).toarray()
    near = set(np.argsort(-(query @ leaders.T).toarray()[0], kind="stable")[:b2].tolist())
    expected = [row for row in range(60) if near & set(np.argsort(-to_leaders[row], kind="stable")[:b1].tolist())]
    pruning = ClusterPruning.from_rows(rows, leaders, b1)
    assert pruning.candidates(query, b2).tolist() == expected
    ranked = pruning.rank(query, n_searched=b2).tolist()
    cosines = (rows @ query.T).toarray().ravel()
    assert ranked == sorted(expected, key=lambda row: (-cosines[row], row))
    assert pruning.rank(query, 2, n_searched=b2).tolist() == ranked[:2]


def test_looking_at_all_leaders_searches_everything():
    rows = documents()
    pruning = ClusterPruning.from_rows(rows, rows[draw_leaders(60, 5)])
    assert pruning.candidates(documents(1, seed=3), 99).tolist() == list(range(60))


def test_documents_without_a_common_term_are_not_found():
    rows = sparse.csr_array(np.eye(3))
    pruning = ClusterPruning.from_rows(rows, rows)
    assert pruning.rank(sparse.csr_array([[0.0, 1.0, 0.0]]), n_searched=3).tolist() == [1]


def test_leaders_are_drawn_once_each_and_the_same_for_a_seed():
    drawn = draw_leaders(1000, 30, random_state=4)
    assert np.unique(drawn).size == 30
    assert np.array_equal(drawn, draw_leaders(1000, 30, random_state=4))
    assert not np.array_equal(drawn, draw_leaders(1000, 30, random_state=5))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: draw_leaders(5, 6), "n_leaders=6 of 5 documents"),
        (lambda: ClusterPruning.from_rows(np.eye(3), np.eye(2)), "over the same terms"),
        (lambda: ClusterPruning.from_rows(np.eye(3), np.empty((0, 3))), "required in leaders"),
        (lambda: ClusterPruning.from_rows(np.eye(3), np.eye(3), 0), "n_followed"),
        (lambda: ClusterPruning.from_rows(np.eye(3), np.eye(3)).candidates(np.eye(3)[:1], 0), "n_searched"),
    ],
)
def test_wrong_parameters_are_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()
