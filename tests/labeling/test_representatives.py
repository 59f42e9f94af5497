"""Representatives, borderline documents, and where each document sits, against full tables of cosines."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from doccluster.geometry.partition import Partition
from doccluster.labeling import borderline_documents, describe_clusters, place_documents, representative_documents
from doccluster.labeling.profiles import ClusterProfiles
from doccluster.vectors.document_vectors import DocumentVectors


def unit(dense):
    return dense / np.linalg.norm(dense, axis=1, keepdims=True)


@pytest.fixture(scope="module")
def case():
    generator = np.random.default_rng(11)
    dense = generator.random((80, 30)) * (generator.random((80, 30)) < 0.3)
    dense[:, 0] += 0.05
    return unit(dense), Partition.from_labels(generator.integers(0, 5, 80))


def cosines_to_centroids(rows, partition):
    sums = np.stack([rows[partition.labels == cluster].sum(axis=0) for cluster in range(partition.n_clusters)])
    return rows @ unit(sums).T


def test_placement_compares_the_own_cluster_with_the_best_other_one(case):
    rows, partition = case
    table = cosines_to_centroids(rows, partition)
    profiles = ClusterProfiles.from_partition(sparse.csr_array(rows), partition)
    placed = place_documents(sparse.csr_array(rows), partition, profiles.centroids)
    for row, cluster in enumerate(partition.labels):
        others = [(-table[row, j], j) for j in range(5) if j != cluster]
        assert placed.similarity[row] == pytest.approx(table[row, cluster], abs=1e-6)
        assert placed.runner_up[row] == min(others)[1]
        assert placed.margin[row] == pytest.approx(table[row, cluster] + min(others)[0], abs=1e-6)
    assert (placed.margin < 0).any(), "random labels: some documents must be nearer to another centroid"


def test_representatives_are_the_nearest_to_the_centroid(case):
    rows, partition = case
    similarity = cosines_to_centroids(rows, partition)[np.arange(80), partition.labels]
    for cluster, shown in enumerate(representative_documents(sparse.csr_array(rows), partition, similarity)):
        members = partition.members(cluster)
        expected = members[np.argsort(-similarity[members], kind="stable")][:5]
        assert [document.row for document in shown] == expected.tolist()


def test_a_text_that_came_twice_is_shown_once_and_its_copies_are_counted():
    rows = unit(np.array([[3.0, 1, 0], [3.0, 1, 0], [3.0, 1, 0.05], [1.0, 1, 0], [0, 0, 1]]))
    partition = Partition.from_labels([0, 0, 0, 0, 1])
    centroids = unit(np.array([rows[:4].sum(axis=0), rows[4]]))
    similarity = np.einsum("ij,ij->i", rows, centroids[partition.labels])
    shown = representative_documents(rows, partition, similarity, near_copy=0.95)[0]
    assert [document.row for document in shown] == [0, 3]
    assert [document.n_copies for document in shown] == [2, 0]


def test_borderline_documents_have_the_smallest_margins_of_their_cluster(case):
    rows, partition = case
    placed = place_documents(
        sparse.csr_array(rows), partition, ClusterProfiles.from_partition(rows, partition).centroids
    )
    table = cosines_to_centroids(rows, partition)
    for cluster, found in enumerate(borderline_documents(partition, placed, max_margin=1.0)):
        members = partition.members(cluster)
        others = np.delete(table, cluster, axis=1).max(axis=1)
        margins = np.sort(table[members, cluster] - others[members])
        assert [document.margin for document in found] == pytest.approx(margins[:5], abs=1e-6)
        assert all(document.runner_up != cluster for document in found)


def test_only_documents_that_hardly_prefer_their_cluster_are_borderline(case):
    rows, partition = case
    table = cosines_to_centroids(rows, partition)
    margin = np.array([table[row, own] - np.delete(table[row], own).max() for row, own in enumerate(partition.labels)])
    vectors = DocumentVectors(sparse.csr_array(rows), tuple(map(str, range(80))))
    for cluster, described in enumerate(describe_clusters(vectors, partition, n_documents=80)):
        members = partition.members(cluster)
        assert {document.row for document in described.borderline} == set(members[margin[members] < 0.02].tolist())


def test_clusters_that_lie_far_apart_have_no_borderline_documents():
    rows = sparse.csr_array(unit(np.array([[3.0, 1, 0, 0], [1.0, 3, 0, 0], [0, 0, 3, 1], [0, 0.1, 1, 3]])))
    vectors = DocumentVectors(rows, ("a", "b", "c", "d"))
    described = describe_clusters(vectors, Partition.from_labels([0, 0, 1, 1]))
    assert [cluster.borderline for cluster in described] == [(), ()]


def test_a_single_cluster_has_no_borderline_documents_and_no_runner_up(case):
    rows, _ = case
    vectors = DocumentVectors(sparse.csr_array(rows), tuple(map(str, range(80))))
    described = describe_clusters(vectors, Partition.from_labels([0] * 80))
    assert described[0].borderline == ()
    assert described[0].size == 80


def test_dense_and_sparse_rows_are_described_alike(case):
    rows, partition = case
    names = np.array([f"t{column}" for column in range(30)], dtype=object)
    ids = tuple(map(str, range(80)))
    dense = describe_clusters(DocumentVectors(rows, ids, names), partition)
    csr = describe_clusters(DocumentVectors(sparse.csr_array(rows), ids, names), partition)
    assert [d.label for d in dense] == [d.label for d in csr]
    assert [[r.row for r in d.representatives] for d in dense] == [[r.row for r in d.representatives] for d in csr]
