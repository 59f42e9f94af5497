"""Every algorithm that a sweep may be given works on text: sparse rows, copies among them, wide indices."""

from __future__ import annotations

import json
import pathlib

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import BisectingKMeans, KMeans, MiniBatchKMeans

from doccluster import TfidfVectorizer
from doccluster.clustering.algorithms import ALGORITHMS
from doccluster.geometry.documents import count_distinct_rows
from experiments.choosing_k.chains import fit_from
from experiments.choosing_k.sweep import sweep

SAMPLE = pathlib.Path(__file__).resolve().parents[2] / "corpora" / "samples" / "newsroom" / "articles.jsonl"
FEW = {"ks": [2, 6], "n_init": 1, "n_null": 1, "n_stability": 2, "random_state": 0}


@pytest.fixture(scope="module")
def texts():
    lines = SAMPLE.read_text(encoding="utf-8").splitlines()
    matrix = TfidfVectorizer(min_df=2).fit_transform([json.loads(line)["text"] for line in lines])
    return matrix[np.diff(matrix.indptr) > 0]


def with_wide_indices(matrix):
    wide = sparse.csr_array(matrix.shape, dtype=matrix.dtype)
    wide.data = matrix.data
    wide.indices, wide.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    return wide


@pytest.mark.parametrize("name", sorted(ALGORITHMS))
def test_every_named_algorithm_sweeps_over_text_the_same_for_wide_indices(texts, name):
    found = sweep(texts, algorithm=name, **FEW)
    assert found.table["n_clusters"].tolist() == [2, 6]
    wide = sweep(with_wide_indices(texts), algorithm=name, **FEW)
    assert {k: labels.tolist() for k, labels in found.labels.items()} == {
        k: labels.tolist() for k, labels in wide.labels.items()
    }


@pytest.mark.parametrize("estimator", [KMeans(), BisectingKMeans(), MiniBatchKMeans(n_init=1)], ids=repr)
def test_any_estimator_of_scikit_learn_takes_wide_indices(texts, estimator):
    assert sweep(with_wide_indices(texts), algorithm=estimator, **FEW).table["n_clusters"].tolist() == [2, 6]


def test_each_k_of_k_means_also_starts_from_the_clusters_of_the_k_before(texts):
    grown = sparse.csr_array(texts[[0, 40, 80, 120]].astype(np.float64))
    dense = KMeans(4, init=grown.toarray(), n_init=1).fit(texts)
    np.testing.assert_array_equal(fit_from(KMeans(), texts, grown), dense.labels_)


@pytest.mark.parametrize("name", ["spherical-kmeans", "kmeans", "bisecting-kmeans"])
def test_copies_bring_no_warning_about_a_number_nobody_typed(texts, name):
    copies = sparse.csr_array(sparse.vstack([texts[:5]] * 8))
    found = sweep(copies, algorithm=name, **(FEW | {"ks": [2, 5, 20]}))
    assert found.table["n_clusters"].tolist() == [2, 5, 5]


def test_distinct_rows_are_told_apart_by_place_and_value():
    rows = sparse.csr_array(np.array([[1.0, 0, 0], [0, 1.0, 0], [2.0, 0, 0], [1.0, 0, 0], [0, 0, 0], [0, 0, 0]]))
    assert count_distinct_rows(rows) == count_distinct_rows(rows.toarray()) == 4
