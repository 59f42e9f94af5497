"""The criterion functions and the moves that optimise them, beside dense definitions over pairs of documents."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from doccluster.errors import InputError
from doccluster.geometry import ClusterEvidence
from doccluster.geometry.criterion_moves import refine_by_moves
from doccluster.geometry.evidence import NAMES, SMALLEST_IS_BEST, criterion_value
from doccluster.geometry.partition import Partition
from doccluster.measures import get_measure


@pytest.fixture
def rows():
    rng = np.random.default_rng(8)
    dense = rng.random((40, 12)) * (rng.random((40, 12)) < 0.4)
    dense[:, 0] += 0.1
    return sparse.csr_array(dense / np.linalg.norm(dense, axis=1, keepdims=True))


def value_of(criterion, rows, labels):
    return criterion_value(criterion, ClusterEvidence(rows, Partition.from_labels(labels)))


def naive_value(criterion, dense, labels):
    """Sums over pairs of documents: cos(x, y) within a cluster, with all documents, and across its border."""
    cosines = dense @ dense.T
    i1 = i2 = e1 = g1 = 0.0
    for cluster in set(labels.tolist()):
        own = labels == cluster
        within = cosines[np.ix_(own, own)].sum()
        to_all = cosines[own].sum()
        across = cosines[np.ix_(own, ~own)].sum()
        i1 += within / own.sum()
        i2 += np.sqrt(within)
        e1 += own.sum() * to_all / np.sqrt(within)
        g1 += across / within
    return {"i1": i1, "i2": i2, "e1": e1, "g1": g1, "h1": i1 / e1, "h2": i2 / e1}[criterion]


@pytest.mark.parametrize("criterion", NAMES)
def test_a_criterion_is_its_definition_over_pairs_of_documents(rows, criterion):
    labels = np.random.default_rng(1).integers(4, size=40)
    expected = naive_value(criterion, rows.toarray(), labels)
    assert value_of(criterion, rows, labels) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("criterion", NAMES)
def test_in_the_end_no_single_move_gains(rows, criterion):
    labels = np.random.default_rng(2).integers(3, size=40)
    found = refine_by_moves(criterion, rows, labels, 3, rng=np.random.default_rng(0))
    dense = rows.toarray()
    sign = -1 if criterion in SMALLEST_IS_BEST else 1
    value = sign * naive_value(criterion, dense, found)
    assert value > sign * naive_value(criterion, dense, labels)
    for row in range(40):
        for cluster in range(3):
            other = found.copy()
            other[row] = cluster
            if len(set(other.tolist())) == 3:
                assert sign * naive_value(criterion, dense, other) <= value * (1 + sign * 1e-9)


def test_the_first_pass_makes_the_best_move_of_each_document_in_turn(rows):
    labels = np.random.default_rng(3).integers(3, size=40)
    dense, expected = rows.toarray(), labels.copy()
    for row in np.random.default_rng(7).permutation(40):
        if (expected == expected[row]).sum() > 1:
            tried = [np.where(np.arange(40) == row, cluster, expected) for cluster in range(3)]
            expected = tried[int(np.argmax([naive_value("h2", dense, each) for each in tried]))]
    found = refine_by_moves("h2", rows, labels, 3, max_passes=1, rng=np.random.default_rng(7))
    assert np.array_equal(found, expected)


def test_rows_without_terms_count_nowhere_and_stay(rows):
    labels = np.random.default_rng(1).integers(3, size=40)
    longer = sparse.csr_array(sparse.vstack([rows, sparse.csr_array((2, 12))]))
    with_empty = np.append(labels, [2, 2])
    for criterion in NAMES:
        assert value_of(criterion, longer, with_empty) == pytest.approx(value_of(criterion, rows, labels), rel=1e-12)
        assert refine_by_moves(criterion, longer, with_empty, 3, rng=np.random.default_rng(0))[-2:].tolist() == [2, 2]


def test_no_cluster_is_emptied():
    rows = sparse.csr_array(np.tile([[0.6, 0.8]], (5, 1)))
    for criterion in NAMES:
        found = refine_by_moves(criterion, rows, [0, 1, 2, 2, 2], 3, rng=np.random.default_rng(0))
        assert np.unique(found).size == 3


def test_an_unknown_criterion_is_refused(rows):
    with pytest.raises(InputError, match="criterion='i3' is not known"):
        value_of("i3", rows, np.zeros(40, int))


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_criteria_that_are_measures_have_their_values(rows, metric):
    labels = np.random.default_rng(5).integers(4, size=40)
    scaled = sparse.csr_array(rows * np.linspace(0.5, 2, 40)[:, None])
    evidence = ClusterEvidence(scaled, Partition.from_labels(labels), metric=metric)
    for name in NAMES:
        assert criterion_value(name, evidence) == pytest.approx(get_measure(name).compute(evidence).value, rel=1e-12)
