"""The penalty on very small and very large clusters, and the objective of each iteration, against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from doccluster.clustering import SphericalKMeans
from doccluster.errors import InputError


@pytest.fixture
def rows():
    rng = np.random.default_rng(1)
    topic = np.repeat([0, 1, 2], [70, 15, 5])
    rows = rng.poisson(0.2 + 1.5 * (np.arange(30)[None, :] % 3 == topic[:, None])).astype(float)
    rows[:, 0] += 0.1
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def cosines(rows, labels):
    """The sum of the cosines to the own centroid: the lengths of the sums of clusters."""
    return sum(np.linalg.norm(rows[labels == label].sum(axis=0)) for label in np.unique(labels))


def penalised(rows, labels, k, size_penalty):
    sizes = np.bincount(labels, minlength=k)
    return cosines(rows, labels) - size_penalty * k / (2 * len(rows)) * float(sizes @ sizes)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("size_penalty", [0.1, 0.5])
def test_no_move_of_a_document_raises_the_objective_less_the_penalty(rows, form, size_penalty):
    model = SphericalKMeans(3, size_penalty=size_penalty, n_init=2, random_state=0).fit(form(rows))
    best = penalised(rows, model.labels_, 3, size_penalty)
    for row in range(len(rows)):
        for cluster in range(3):
            moved = model.labels_.copy()
            moved[row] = cluster
            assert penalised(rows, moved, 3, size_penalty) <= best + 1e-5
    assert model.objective_ == pytest.approx(cosines(rows, model.labels_), abs=1e-4)
    means = np.array([rows[model.labels_ == c].sum(axis=0) for c in range(3)])
    np.testing.assert_allclose(
        model.centroids_.toarray(), means / np.linalg.norm(means, axis=1, keepdims=True), atol=1e-5
    )


def test_a_larger_penalty_gives_more_equal_sizes_and_none_changes_nothing(rows):
    sizes = {
        penalty: np.bincount(SphericalKMeans(3, size_penalty=penalty, random_state=0).fit_predict(rows))
        for penalty in (0, 0.2, 50)
    }
    assert np.ptp(sizes[0]) > np.ptp(sizes[0.2]) > np.ptp(sizes[50])
    assert sizes[50].tolist() == [30, 30, 30]
    plain = SphericalKMeans(3, random_state=0).fit(rows)
    assert plain.labels_.tolist() == SphericalKMeans(3, size_penalty=0, random_state=0).fit_predict(rows).tolist()


def test_the_start_that_is_kept_is_the_best_with_its_penalty(rows):
    several = SphericalKMeans(4, size_penalty=0.3, n_init=6, init="random", random_state=3).fit(rows)
    generator = np.random.default_rng(3)
    singles = [
        SphericalKMeans(4, size_penalty=0.3, n_init=1, init="random", random_state=generator).fit_predict(rows)
        for _ in range(6)
    ]
    values = [penalised(rows, labels, 4, 0.3) for labels in singles]
    assert np.ptp(values) > 1e-3
    assert penalised(rows, several.labels_, 4, 0.3) == pytest.approx(max(values), abs=1e-5)


def test_documents_without_terms_pay_nothing(rows):
    longer = np.vstack([rows, np.zeros((40, rows.shape[1]))])
    labels = SphericalKMeans(3, size_penalty=50, random_state=0).fit_predict(longer)
    assert np.bincount(labels[:90]).tolist() == [30, 30, 30]


def test_a_penalty_below_zero_is_refused(rows):
    with pytest.raises(InputError, match="size_penalty=-1"):
        SphericalKMeans(3, size_penalty=-1).fit(rows)


def test_the_history_is_that_of_a_naive_lloyd(rows):
    seeds = rows[[0, 30, 80]]
    model = SphericalKMeans(3, init=seeds, tol=0).fit(rows)
    means, objectives, labels = seeds, [], None
    while labels is None or not np.array_equal(labels, (rows @ means.T).argmax(axis=1)):
        labels = (rows @ means.T).argmax(axis=1)
        sums = np.array([rows[labels == c].sum(axis=0) for c in range(3)])
        means = sums / np.linalg.norm(sums, axis=1, keepdims=True)
        objectives.append(np.linalg.norm(sums, axis=1).sum())
    assert model.history_ == pytest.approx(objectives, abs=1e-4)
    assert len(model.history_) == model.n_iter_ > 2
    assert model.history_[-1] == pytest.approx(model.objective_, abs=1e-4)


@pytest.mark.parametrize(
    "options", [{}, {"refine": True}, {"size_penalty": 0.2}, {"refine": True, "size_penalty": 0.2}]
)
def test_the_history_has_each_iteration_of_the_best_start_and_never_falls_by_batch_steps(rows, options):
    model = SphericalKMeans(5, init="random", n_init=4, random_state=2, **options).fit(rows)
    assert len(model.history_) == model.n_iter_
    steps = np.diff(model.history_)
    assert (steps[: -1 if "size_penalty" in options else None] >= -1e-9).all()
