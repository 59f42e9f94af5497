"""Means of clusters: those that follow their old sums are those that are added up anew."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from doccluster.clustering.k_means.document_matrix import prepare
from doccluster.clustering.k_means.means import means_of_matrix, means_of_rows, update_means


def documents_of(*, signed, seed=0):
    rng = np.random.default_rng(seed)
    rows = sparse.random_array((500, 90), density=0.1, random_state=rng).tolil()
    rows[:, 0] = 0.5
    rows = sparse.csr_array(rows)
    if signed:
        rows.data *= rng.choice([-1.0, 1.0], rows.data.size)
    rows.data /= np.repeat(np.sqrt(np.add.reduceat(rows.data**2, rows.indptr[:-1])), np.diff(rows.indptr))
    return prepare(rows.astype(np.float32))[0]


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("share", [0.01, 0.2, 0.7])
def test_followed_means_are_those_of_the_members(signed, share):
    documents, rng, k = documents_of(signed=signed), np.random.default_rng(1), 7
    assert documents.has_exact_sums
    labels = rng.integers(k, size=500).astype(np.int32)
    followed = means_of_rows(documents, np.arange(k))
    anew = followed
    changed = np.ones(k, np.bool_)
    for _ in range(12):
        followed, movements = update_means(documents, labels, followed, changed)
        anew, expected = update_means(documents, labels, anew, changed, keep_sums=False)
        assert anew.summed is None
        one, other = (means.to_csr(documents.original) for means in (followed, anew))
        assert (one != other).nnz == 0
        assert movements == pytest.approx(expected, abs=1e-12)
        assert followed.lengths == pytest.approx(anew.lengths, rel=1e-14)
        moved = rng.random(500) < share
        following = np.where(moved, rng.integers(k, size=500), labels).astype(np.int32)
        if rng.random() < 0.3:
            following[following == 3] = 4  # a cluster loses all its members, and keeps its mean
        changed = np.zeros(k, np.bool_)
        changed[labels[labels != following]] = changed[following[labels != following]] = True
        labels = following


def test_sums_are_kept_only_where_they_are_exact():
    even = sparse.csr_array(np.full((4, 4), 0.5, np.float32))
    uneven = np.tile(np.array([1e-12, 1, 0, 0], np.float32), (4, 1))
    assert prepare(even)[0].has_exact_sums
    assert not prepare(sparse.csr_array(uneven))[0].has_exact_sums
    assert not prepare(even, weights=np.array([1.0, 1.0, 1.0, 0.5]))[0].has_exact_sums
    documents, _ = prepare(sparse.csr_array(uneven))
    means, _ = update_means(
        documents, np.zeros(4, np.int32), means_of_rows(documents, np.arange(1)), np.ones(1, np.bool_)
    )
    assert means.summed is None


@pytest.mark.parametrize("seed", range(6))
def test_means_that_are_kept_without_members_find_room(seed):
    documents, rng, k = documents_of(signed=False, seed=seed), np.random.default_rng(seed), 60
    given = sparse.csr_array(rng.random((k, documents.n_columns)).astype(np.float32))  # more terms than rows have
    means, labels = means_of_matrix(given, documents.original), rng.integers(k // 2, size=500).astype(np.int32)
    anew, changed = means, np.ones(k, np.bool_)
    for _ in range(30):
        means, _ = update_means(documents, labels, means, changed)
        anew, _ = update_means(documents, labels, anew, changed, keep_sums=False)
        assert (means.to_csr(documents.original) != anew.to_csr(documents.original)).nnz == 0
        filled = rng.choice(k, rng.integers(1, k), replace=False)  # the others lose all their members
        labels = rng.choice(filled, 500).astype(np.int32)
