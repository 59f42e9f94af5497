"""Terms of clusters against the definitions, written out with dense arrays and loops."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from doccluster.geometry.partition import Partition
from doccluster.labeling.describe import descriptive_terms, discriminating_terms
from doccluster.labeling.profiles import ClusterProfiles, largest_per_row


def random_rows(n_documents, n_terms, seed):
    dense = np.random.default_rng(seed).random((n_documents, n_terms))
    dense[dense < 0.7] = 0
    dense[:, 0] += 0.1
    return dense / np.linalg.norm(dense, axis=1, keepdims=True)


@pytest.fixture(scope="module")
def case():
    rows = random_rows(60, 25, seed=3)
    labels = np.random.default_rng(4).integers(0, 4, 60)
    names = np.array([f"term{column}" for column in range(25)], dtype=object)
    return rows, labels, names, ClusterProfiles.from_partition(sparse.csr_array(rows), Partition.from_labels(labels))


def test_descriptive_shares_are_each_terms_part_of_the_sum_of_own_cosines(case):
    rows, labels, names, profiles = case
    for cluster, terms in enumerate(descriptive_terms(profiles, names, n_terms=25)):
        members = rows[labels == cluster]
        total = members.sum(axis=0)
        centroid = total / np.linalg.norm(total)
        cohesion = sum(float(row @ centroid) for row in members)
        assert sum(term.share for term in terms) == pytest.approx(1.0, abs=1e-12)
        for term in terms:
            explained = sum(row[term.column] * centroid[term.column] for row in members)
            assert term.share == pytest.approx(explained / cohesion, abs=1e-12)
            assert term.support == np.count_nonzero(members[:, term.column])
            assert term.term == f"term{term.column}"


def test_discriminating_shares_are_parts_of_the_squared_distance_to_everything_outside(case):
    rows, labels, names, profiles = case
    for cluster, terms in enumerate(discriminating_terms(profiles, names, n_terms=25)):
        inside, outside = rows[labels == cluster].sum(axis=0), rows[labels != cluster].sum(axis=0)
        c, r = inside / np.linalg.norm(inside), outside / np.linalg.norm(outside)
        expected = {t: (c[t] - r[t]) ** 2 / ((c - r) ** 2).sum() for t in range(25) if c[t] > r[t]}
        assert {term.column for term in terms} == set(expected)
        for term in terms:
            assert term.share == pytest.approx(expected[term.column], abs=1e-9)
        assert [term.share for term in terms] == sorted((term.share for term in terms), reverse=True)


def test_one_cluster_has_descriptive_but_no_discriminating_terms(case):
    rows, _, names, _ = case
    profiles = ClusterProfiles.from_partition(sparse.csr_array(rows), Partition.from_labels([0] * 60))
    assert discriminating_terms(profiles, names) == [()]
    assert len(descriptive_terms(profiles, names, n_terms=3)[0]) == 3


def test_dense_rows_give_the_same_profiles_as_sparse_rows(case):
    rows, labels, _, profiles = case
    dense = ClusterProfiles.from_partition(rows, Partition.from_labels(labels))
    np.testing.assert_allclose(dense.sums.toarray(), profiles.sums.toarray(), atol=1e-14)
    np.testing.assert_array_equal(dense.support.toarray(), profiles.support.toarray())


def test_identical_clusters_have_no_discriminating_terms_and_divide_by_nothing():
    rows = sparse.csr_array(np.array([[0.6, 0.8], [0.6, 0.8]]))
    profiles = ClusterProfiles.from_partition(rows, Partition.from_labels([0, 1]))
    shares = [sum(t.share for t in terms) for terms in discriminating_terms(profiles, np.array(["a", "b"], object))]
    assert all(0 <= share <= 1 for share in shares)


def test_largest_per_row_gives_ties_to_the_lowest_column_and_leaves_out_what_is_not_positive():
    matrix = sparse.csr_array(np.array([[1.0, 3.0, 1.0, 1.0, 0.0], [0.0, -1.0, 0.0, 0.0, 2.0], [0.0] * 5]))
    columns = [found.tolist() for found, _ in largest_per_row(matrix, 2)]
    assert columns == [[1, 0], [4], []]
