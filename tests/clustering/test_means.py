"""Means of clusters: those that follow the rows that move are those of the members, added up anew."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from doccluster.clustering.k_means.lloyd_steps import LloydSteps
from doccluster.clustering.k_means.unit_documents import unit_documents
from doccluster.geometry import as_documents


def documents_of(*, signed, seed=0, weights=None):
    rng = np.random.default_rng(seed)
    rows = sparse.random_array((500, 90), density=0.1, random_state=rng).tolil()
    rows[:, 0] = 0.5
    rows = sparse.csr_array(rows)
    if signed:
        rows.data *= rng.choice([-1.0, 1.0], rows.data.size)
    rows.data /= np.repeat(np.sqrt(np.add.reduceat(rows.data**2, rows.indptr[:-1])), np.diff(rows.indptr))
    return unit_documents(as_documents(rows.astype(np.float32)), weights=weights)


def table_of(documents):
    return documents.matrix.toarray().astype(np.float64)


def updated(steps, labels):
    steps.nearest.labels[:] = labels
    return steps.update()


def means_by_definition(documents, labels, before):
    """Unit sums of the members as float32, members ascending; without members the mean stays. Also the lengths."""
    sums = np.zeros(before.shape)
    np.add.at(sums, labels, documents.weights[:, None] * table_of(documents))
    lengths = np.linalg.norm(sums, axis=1)
    return np.where(lengths[:, None] > 0, sums / np.where(lengths, lengths, 1)[:, None], before), lengths


@pytest.mark.parametrize("n_head", [None, 20, 0])
@pytest.mark.parametrize("kind", ["exact", "signed", "weighted", "decades"])
@pytest.mark.parametrize("share", [0.01, 0.2, 0.7])
def test_followed_means_are_those_of_the_members(kind, share, n_head):
    exponents = np.random.default_rng(2).uniform(-6, 6, 500)
    weights = {"weighted": 3 + exponents / 2.1, "decades": 10.0**exponents}.get(kind)
    rounding = 1e-9 if kind == "decades" else 1e-12  # of a sum that a document of a million times its length has left
    documents, rng, k = documents_of(signed=kind == "signed", weights=weights), np.random.default_rng(1), 7
    assert documents.has_exact_sums == (kind in ("exact", "signed"))
    labels = rng.integers(k, size=500).astype(np.int32)
    followed = LloydSteps(documents, documents.matrix[:k], n_head=n_head)
    before = followed.centroids.to_csr().toarray()
    for _ in range(12):
        objective = updated(followed, labels)
        expected, lengths = means_by_definition(documents, labels, before)
        found = followed.centroids.to_csr().toarray()
        assert np.abs(found - expected).max() <= 6e-8
        assert followed.centroids.lengths == pytest.approx(lengths, rel=rounding)
        assert objective == pytest.approx(lengths.sum(), rel=rounding)
        before = found
        moved = rng.random(500) < share
        following = np.where(moved, rng.integers(k, size=500), labels).astype(np.int32)
        if rng.random() < 0.3:
            following[following == 3] = 4  # a cluster loses all its members, and keeps its mean
        labels = following


def test_sums_are_followed_only_where_they_are_exact():
    even = sparse.csr_array(np.full((4, 4), 0.5, np.float32))
    uneven = np.tile(np.array([1e-12, 1, 0, 0], np.float32), (4, 1))
    assert unit_documents(as_documents(even)).has_exact_sums
    assert not unit_documents(as_documents(sparse.csr_array(uneven))).has_exact_sums
    assert unit_documents(as_documents(even), weights=np.array([1.0, 1.0, 3.0, 0.5])).has_exact_sums
    assert not unit_documents(as_documents(even), weights=np.array([1.0, 1.0, 1.0, 0.3])).has_exact_sums


@pytest.mark.parametrize("n_head", [None, 10])
@pytest.mark.parametrize("seed", range(3))
def test_given_means_are_kept_without_members(seed, n_head):
    documents, rng, k = documents_of(signed=False, seed=seed), np.random.default_rng(seed), 60
    given = sparse.csr_array(rng.random((k, documents.n_terms)).astype(np.float32))  # more terms than rows have
    followed = LloydSteps(documents, given, n_head=n_head)
    labels, before = rng.integers(k // 2, size=500).astype(np.int32), followed.centroids.to_csr().toarray()
    for _ in range(15):
        updated(followed, labels)
        expected, _ = means_by_definition(documents, labels, before)
        before = followed.centroids.to_csr().toarray()
        assert np.abs(before - expected).max() <= 6e-8
        filled = rng.choice(k, rng.integers(1, k), replace=False)  # the others lose all their members
        labels = rng.choice(filled, 500).astype(np.int32)
