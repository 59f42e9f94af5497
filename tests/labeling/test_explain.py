"""The parts of a cosine sum to the cosine."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from doccluster.geometry.partition import Partition
from doccluster.labeling import explain_membership
from doccluster.labeling.placement import contrast_clusters
from doccluster.vectors.document_vectors import DocumentVectors


@pytest.mark.parametrize("as_matrix", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_contributions_sum_to_the_cosine_and_come_largest_first(as_matrix):
    generator = np.random.default_rng(5)
    rows = generator.random((6, 12)) * (generator.random((6, 12)) < 0.5)
    centroids = generator.random((3, 12)) * (generator.random((3, 12)) < 0.7)
    for row in range(6):
        for cluster in range(3):
            parts = explain_membership(as_matrix(rows), row, as_matrix(centroids), cluster)
            values = [part.contribution for part in parts]
            assert sum(values) == pytest.approx(float(rows[row] @ centroids[cluster]), abs=1e-12)
            assert values == sorted(values, reverse=True)
            assert all(p.contribution == pytest.approx(p.document_weight * p.centroid_weight) for p in parts)


def test_only_as_many_terms_as_asked_for_and_by_their_written_form():
    names = np.array(["oil", "wheat", "gold"], dtype=object)
    parts = explain_membership(np.array([[0.6, 0.6, 0.5]]), 0, np.array([[0.2, 0.9, 0.3]]), 0, names=names, n_terms=2)
    assert [part.term for part in parts] == ["wheat", "gold"]


def test_two_clusters_are_told_apart_by_ten_terms_at_most():
    names = np.array([f"term {number}" for number in range(12)], dtype=object)
    rows = np.vstack([np.sqrt(np.arange(12) + 1.0), np.sqrt(12.0 - np.arange(12))])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    vectors = DocumentVectors(rows, ids=("a", "b"), terms=names)
    found = contrast_clusters(vectors, Partition.from_labels([0, 1]), rows, 0, 1)
    largest = np.argsort(-rows[0] * rows[1], kind="stable")[:10]
    assert [part.term for part in found.shared] == names[largest].tolist()
    assert len(found.first_only) == len(found.second_only) == 6
