"""scikit-learn's own checks, and the attributes that KMeans' users expect."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer
from sklearn.utils.estimator_checks import parametrize_with_checks

from doccluster.clustering import SphericalKMeans
from doccluster.errors import DocclusterWarning

EQUIVALENCE = "a weight of 2 draws other seeds than a row given twice; scikit-learn's own KMeans fails it too"
EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": EQUIVALENCE,
    "check_sample_weight_equivalence_on_sparse_data": EQUIVALENCE,
}


@pytest.mark.filterwarnings("ignore::doccluster.errors.DocclusterWarning")  # the checks give rows of many kinds
@parametrize_with_checks([SphericalKMeans(n_init=2)], expected_failed_checks=lambda estimator: EXPECTED_FAILURES)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.fixture
def documents():
    rng = np.random.default_rng(3)
    topics = rng.integers(3, size=60)
    counts = rng.poisson(0.3 + 3.0 * (np.arange(30)[None, :] // 10 == topics[:, None]))
    return sparse.csr_array(Normalizer().fit_transform(counts.astype(np.float32)))


def test_attributes_are_consistent(documents):
    model = SphericalKMeans(3, random_state=0).fit(documents)
    cosines = documents @ model.cluster_centers_.T
    own = cosines[np.arange(60), model.labels_].astype(np.float64)
    assert model.labels_.shape == (60,)
    assert isinstance(model.centroids_, sparse.csr_array)
    assert np.allclose(np.linalg.norm(model.cluster_centers_, axis=1), 1, atol=1e-6)
    assert model.objective_ == pytest.approx(own.sum(), rel=1e-6)
    assert model.inertia_ == pytest.approx((1 - own).sum(), rel=1e-6)
    assert np.array_equal(model.labels_, cosines.argmax(axis=1))
    assert np.array_equal(model.predict(documents), model.labels_)
    assert np.allclose(model.transform(documents), 1 - cosines, atol=1e-6)
    assert model.score(documents) == pytest.approx(model.objective_, rel=1e-9)
    assert model.n_features_in_ == 30
    assert 1 <= model.n_iter_ <= 300
    assert model.interrupted_ is False


def test_dense_and_sparse_input_give_the_same_labels(documents):
    sparse_labels = SphericalKMeans(3, random_state=0).fit_predict(documents)
    for other in (documents.toarray(), sparse.csc_array(documents), sparse.coo_matrix(documents)):
        assert np.array_equal(SphericalKMeans(3, random_state=0).fit_predict(other), sparse_labels)


def test_feature_names_and_pandas_output(documents):
    import pandas as pd

    frame = pd.DataFrame(documents.toarray(), columns=[f"term{i}" for i in range(30)])
    model = SphericalKMeans(3, random_state=0).set_output(transform="pandas").fit(frame)
    assert list(model.feature_names_in_) == list(frame.columns)
    assert list(model.get_feature_names_out()) == ["sphericalkmeans0", "sphericalkmeans1", "sphericalkmeans2"]
    assert list(model.transform(frame).columns) == list(model.get_feature_names_out())


def test_it_works_in_pipelines_searches_and_clones(documents):
    counts = documents * 3.0
    pipeline = make_pipeline(Normalizer(), SphericalKMeans(3, random_state=0))
    assert len(set(pipeline.fit_predict(counts))) == 3
    search = GridSearchCV(SphericalKMeans(random_state=0, n_init=1), {"n_clusters": [2, 3]}, cv=2).fit(documents)
    assert search.best_params_["n_clusters"] in (2, 3)
    assert clone(SphericalKMeans(4, tol=0.0)).get_params()["tol"] == 0.0


def test_rows_that_are_not_unit_are_normalised_with_one_warning_and_not_changed(documents):
    longer = documents.copy()
    longer.data *= 7
    before = longer.data.copy()
    with pytest.warns(DocclusterWarning, match="unit length") as caught:
        labels = SphericalKMeans(3, random_state=0).fit_predict(longer)
    assert len(caught) == 1
    assert np.array_equal(before, longer.data)
    assert np.array_equal(labels, SphericalKMeans(3, random_state=0).fit_predict(documents))


def test_weights_count_like_repeated_documents_from_the_same_centroids(documents):
    weights = np.random.default_rng(0).integers(1, 4, size=60)
    start = documents[[0, 20, 40]]
    repeated = documents[np.repeat(np.arange(60), weights)]
    weighted = SphericalKMeans(3, init=start).fit(documents, sample_weight=weights)
    plain = SphericalKMeans(3, init=start).fit(repeated)
    assert np.array_equal(np.repeat(weighted.labels_, weights), plain.labels_)
    assert weighted.objective_ == pytest.approx(plain.objective_, rel=1e-9)
    assert np.allclose(weighted.cluster_centers_, plain.cluster_centers_, atol=1e-6)


def test_a_fit_does_not_touch_the_global_random_state(documents):
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    SphericalKMeans(3).fit(documents)
    assert np.array_equal(before, np.random.get_state()[1])  # noqa: NPY002
