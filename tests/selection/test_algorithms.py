"""Every algorithm a selection procedure may be given works on text: sparse rows, copies among them, wide indices."""

from __future__ import annotations

import json
import pathlib
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import BisectingKMeans, KMeans, MiniBatchKMeans

from doccluster import TfidfVectorizer
from doccluster.clustering.algorithms import ALGORITHMS
from doccluster.errors import DocclusterWarning
from doccluster.geometry import documents
from doccluster.geometry.documents import count_distinct_rows
from doccluster.selection import stability, sweep
from doccluster.selection.chains import fit_chain
from doccluster.selection.prototypes import get_prototype
from tests.selection.test_tendency import blocks_of_topics

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
    algorithm = get_prototype("kmeans", n_init=1)
    grown = sparse.csr_array(texts[[0, 40, 80, 120]].astype(np.float64))
    given = algorithm.fit(texts, n_clusters=4, seed=0, init=grown)
    dense = KMeans(4, init=grown.toarray(), n_init=1).fit(texts)
    np.testing.assert_array_equal(given.labels_, dense.labels_)


@pytest.mark.parametrize("name", ["spherical-kmeans", "kmeans", "bisecting-kmeans"])
def test_copies_bring_no_warning_about_a_number_nobody_typed(texts, name):
    copies = sparse.csr_array(sparse.vstack([texts[:5]] * 8))
    found = sweep(copies, algorithm=name, **(FEW | {"ks": [2, 5, 20]}))
    assert found.table["n_clusters"].tolist() == [2, 5, 5]


def test_distinct_rows_are_told_apart_by_place_and_value():
    rows = sparse.csr_array(np.array([[1.0, 0, 0], [0, 1.0, 0], [2.0, 0, 0], [1.0, 0, 0], [0, 0, 0], [0, 0, 0]]))
    assert count_distinct_rows(rows) == count_distinct_rows(rows.toarray()) == 4


def test_the_documents_are_checked_once_for_all_numbers_of_clusters(texts, monkeypatch):
    checked, check = [], documents.check_matrix
    monkeypatch.setattr(documents, "check_matrix", lambda m, **given: checked.append(m.shape) or check(m, **given))
    algorithm = get_prototype("spherical-k-means", n_init=1)
    fit_chain(texts, [2, 3, 5, 8], algorithm, np.random.default_rng(0), warm_start=True)
    assert checked.count(texts.shape) == 1
    checked.clear()
    stability(texts, ks=[2, 3], algorithm=algorithm, n_samples=3, random_state=0)
    assert checked == [texts.shape]


@pytest.mark.parametrize("text", ["spherical-k-means", "spherical-k-means:refine=true,n_init=2"])
def test_labels_without_an_estimator_are_those_of_the_estimator(text):
    matrix = blocks_of_topics(60, seed=3)
    algorithm = get_prototype(text, n_init=3)
    for k in (2, 5, 200):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DocclusterWarning)  # of rows that are not unit, in both ways
            fitted = algorithm.fit(matrix, n_clusters=k, seed=7)
            labels = algorithm.labels(matrix, n_clusters=k, seed=7)
            weights, init = np.arange(1.0, matrix.shape[0] + 1), matrix[[0, 20, 40]]
            weighed = algorithm.fit(matrix, n_clusters=3, seed=7, weights=weights, init=init)
            found = algorithm.labels(matrix, n_clusters=3, seed=7, weights=weights, init=init)
        np.testing.assert_array_equal(labels, fitted.labels_)
        np.testing.assert_array_equal(found, weighed.labels_)
    assert algorithm.estimator.n_init == (2 if "n_init=2" in text else 3)
