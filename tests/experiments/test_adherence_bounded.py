"""Adherence as an objective: bounds are kept, the right k is found where it is plain, scikit-learn agrees."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from doccluster.errors import InputError
from doccluster.validation import unit_rows
from experiments.choosing_k.adherence_bounded import AdherenceBoundedKMeans
from tests.experiments.test_tendency import blocks_of_topics


@pytest.mark.filterwarnings("default::doccluster.errors.DocclusterWarning")  # the checks give rows that are not unit
@parametrize_with_checks([AdherenceBoundedKMeans(max_clusters=4, n_init=1)])
def test_scikit_learn_check(estimator, check):
    check(estimator)


def naive_adherence(matrix, labels):
    dense, k = matrix.toarray(), labels.max() + 1
    centroids = [dense[labels == c].sum(axis=0) for c in range(k)]
    centroids = [c / np.linalg.norm(c) for c in centroids]
    return np.array([[max(x @ centroids[q] for x in dense[labels == p]) for q in range(k)] for p in range(k)])


@pytest.mark.parametrize("bound", [0.3, 0.45, 0.6, 0.9])
def test_every_bound_is_kept_and_the_adherence_is_reported(bound):
    matrix = blocks_of_topics(60)
    model = AdherenceBoundedKMeans(bound, min_size=3, max_clusters=8, random_state=0).fit(matrix)
    reached = naive_adherence(matrix, model.labels_)
    assert model.adherence_ == pytest.approx(reached, abs=1e-6)
    off = reached[~np.eye(model.n_clusters_, dtype=bool)]
    assert off.size == 0 or off.max() <= bound + 1e-6
    assert np.bincount(model.labels_).min() >= 3
    assert model.n_clusters_ == max(step.n_clusters for step in model.path_ if step.is_feasible)


def test_separate_topics_are_found():
    rows = sparse.csr_array(np.kron(np.eye(5), np.ones((6, 4))) * np.random.default_rng(0).random((30, 20)))
    model = AdherenceBoundedKMeans(0.2, min_size=5, random_state=0).fit(unit_rows(rows, warn=False))
    assert model.n_clusters_ == 5
    assert adjusted_rand_score(np.repeat(np.arange(5), 6), model.labels_) == 1.0


def test_a_lower_bound_keeps_clusters_near_one_another():
    rows = sparse.csr_array(np.kron(np.eye(3), np.ones((6, 4))))
    model = AdherenceBoundedKMeans(0.9, min_adherence=0.1, random_state=0).fit(unit_rows(rows, warn=False))
    assert model.n_clusters_ == 1  # any two blocks are at cosine zero
    assert np.isnan(model.max_adherence_)


def test_copies_are_one_cluster_and_empty_rows_are_legal():
    rows = sparse.csr_array(np.vstack([np.tile([1.0, 0.0, 0.0], (6, 1)), np.zeros((1, 3))]))
    assert AdherenceBoundedKMeans(random_state=0).fit(rows).n_clusters_ == 1


@pytest.mark.parametrize(
    "settings", [{"max_adherence": 0}, {"max_adherence": 2}, {"min_size": 0}, {"min_adherence": 0.9}]
)
def test_bounds_that_mean_nothing_are_refused(settings):
    with pytest.raises(InputError):
        AdherenceBoundedKMeans(**settings).fit(blocks_of_topics(20))
