"""What users give: each wrong thing one clear sentence, each odd but legal thing the right labels."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from doccluster.clustering import SphericalKMeans, assign_to_centroids
from doccluster.clustering.k_means.seeds import SEEDINGS
from doccluster.errors import DocclusterWarning, InputError, MemoryLimitError, NothingUsable


@pytest.fixture
def documents():
    rng = np.random.default_rng(11)
    own = rng.integers(4, size=90)
    rows = rng.poisson(0.1 + 1.2 * (np.arange(24)[None, :] % 4 == own[:, None])).astype(np.float32)
    rows[rows.sum(axis=1) == 0, 0] = 1
    return sparse.csr_array(rows / np.linalg.norm(rows, axis=1, keepdims=True))


@pytest.fixture
def expected(documents):
    return SphericalKMeans(4, random_state=0).fit_predict(documents)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_clusters": 0}, "n_clusters=0 is not a positive whole number"),
        ({"n_clusters": -3}, "n_clusters=-3"),
        ({"n_clusters": 2.5}, "n_clusters=2.5"),
        ({"n_clusters": 91}, r"exceeds the number of documents \(n_samples=90\)"),
        ({"init": "kmeans"}, "init='kmeans' is not a way to begin"),
        ({"init": np.ones((3, 24))}, r"init has shape \(3, 24\); give shape \(4, 24\)"),
        ({"init": np.full((4, 24), np.nan)}, "init contains NaN"),
        ({"n_init": 0}, "n_init=0"),
        ({"max_iter": 0}, "max_iter=0"),
        ({"tol": -1.0}, "tol=-1.0"),
        ({"tol": "small"}, "tol='small'"),
        ({"algorithm": "elkan"}, "algorithm='elkan' is not known"),
        ({"random_state": -1}, "random_state=-1"),
        ({"n_threads": 0}, "n_threads=0"),
        ({"n_threads": 1.5}, "n_threads=1.5 is not a number of threads"),
        ({"n_threads": "2"}, "n_threads='2' is not a number of threads"),
        ({"max_memory": "lots"}, "'lots' is not a size"),
    ],
)
def test_wrong_parameters_are_refused_with_a_sentence(documents, change, message):
    with pytest.raises(InputError, match=message):
        SphericalKMeans(**{"n_clusters": 4, **change}).fit(documents)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite_are_refused(documents, bad):
    documents.data[5] = bad
    with pytest.raises(InputError, match="NaN or infinity"):
        SphericalKMeans(4).fit(documents)


WRONG_WEIGHTS = [
    np.ones(3),
    -np.ones(90),
    np.full(90, np.nan),
    ["heavy"] * 90,
    np.full(90, 1e300),  # the square overflows
    np.full(90, 1e-300),  # the square vanishes
]


@pytest.mark.parametrize("weights", WRONG_WEIGHTS)
def test_wrong_weights_are_refused(documents, weights):
    with pytest.raises(InputError, match="sample_weight"):
        SphericalKMeans(4).fit(documents, sample_weight=weights)


def test_a_fit_interrupted_before_its_first_iteration_leaves_the_estimator_unfitted(documents):
    def interrupt(stage, done, total):
        raise KeyboardInterrupt

    model = SphericalKMeans(4, progress=interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(documents)
    for use in (model.predict, model.transform, model.score):
        with pytest.raises(NotFittedError):
            use(documents)
    with pytest.raises(NotFittedError):
        _ = model.cluster_centers_


def test_a_matrix_without_non_zeros_is_refused():
    with pytest.raises(NothingUsable, match="no row with a non-zero value"):
        SphericalKMeans(2).fit(sparse.csr_array((5, 7), dtype=np.float32))
    with pytest.raises(NothingUsable):
        SphericalKMeans(2).fit(np.zeros((5, 7)))


def test_centroids_of_another_vocabulary_are_refused(documents):
    with pytest.raises(InputError, match="X has 24 features, but the centroids have 5"):
        assign_to_centroids(documents, np.eye(5))


@pytest.mark.parametrize("index_type", [np.int32, np.int64])
def test_index_types_do_not_matter(documents, expected, index_type):
    documents.indices, documents.indptr = documents.indices.astype(index_type), documents.indptr.astype(index_type)
    assert np.array_equal(SphericalKMeans(4, random_state=0).fit_predict(documents), expected)


def test_unsorted_and_duplicate_indices_and_stored_zeros_do_not_matter(documents, expected):
    rows, columns = documents.nonzero()
    order = np.random.default_rng(0).permutation(rows.size)
    order = order[np.argsort(rows[order], kind="stable")]  # rows in order, columns shuffled within them
    halves = np.repeat(documents.data[order] / 2, 2)
    extra = sparse.csr_array((90, 24), dtype=np.float32)
    extra.indptr = np.concatenate([[0], np.cumsum(2 * np.bincount(rows, minlength=90) + 1)])
    data, indices = [], []
    for row in range(90):
        here = slice(2 * documents.indptr[row], 2 * documents.indptr[row + 1])
        indices += [*np.repeat(columns[order], 2)[here], 3]
        data += [*halves[here], 0.0]
    messy = sparse.csr_array((np.array(data, np.float32), np.array(indices), extra.indptr), shape=(90, 24))
    before = messy.indices.copy()
    assert np.array_equal(SphericalKMeans(4, random_state=0).fit_predict(messy), expected)
    assert np.array_equal(messy.indices, before)


def test_read_only_and_memory_mapped_arrays_are_read_as_they_are(documents, expected, tmp_path):
    parts = {}
    for name in ("data", "indices", "indptr"):
        np.save(tmp_path / f"{name}.npy", getattr(documents, name))
        parts[name] = np.load(tmp_path / f"{name}.npy", mmap_mode="r")
    mapped = sparse.csr_array((parts["data"], parts["indices"], parts["indptr"]), shape=documents.shape)
    model = SphericalKMeans(4, random_state=0).fit(mapped)
    assert np.array_equal(model.labels_, expected)
    assert np.array_equal(model.predict(mapped), expected)
    dense = documents.toarray()
    dense.flags.writeable = False
    assert np.array_equal(SphericalKMeans(4, random_state=0).fit_predict(dense), expected)


def test_more_clusters_than_distinct_rows_gives_fewer_and_says_so():
    rows = sparse.csr_array(np.eye(6)[[0, 1, 2, 0, 1, 2, 0, 1]])
    with pytest.warns(DocclusterWarning, match="fewer distinct rows than the 5 clusters asked for; the result has 3"):
        model = SphericalKMeans(5, random_state=0).fit(rows)
    assert model.centroids_.shape == (3, 6)
    assert sorted(set(model.labels_)) == [0, 1, 2]
    assert np.array_equal(model.labels_[:3], model.labels_[3:6])
    assert model.objective_ == pytest.approx(8)


@pytest.mark.parametrize("init", SEEDINGS)
def test_identical_documents_make_one_cluster(init):
    rows = sparse.csr_array(np.tile([[0.6, 0.8, 0.0]], (9, 1)))
    with pytest.warns(DocclusterWarning, match="3 clusters asked for; the result has 1"):
        model = SphericalKMeans(3, init=init, random_state=0).fit(rows)
    assert set(model.labels_) == {0}
    assert model.inertia_ == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("refine", [False, True])
def test_one_document_and_one_cluster(documents, refine):
    alone = SphericalKMeans(1, refine=refine).fit(documents[[0]])
    assert list(alone.labels_) == [0]
    assert alone.objective_ == pytest.approx(1)
    together = SphericalKMeans(1, refine=refine).fit(documents)
    assert set(together.labels_) == {0}
    assert together.objective_ == pytest.approx(np.linalg.norm(documents.sum(axis=0)), rel=1e-6)


def test_as_many_clusters_as_documents(documents):
    few = documents[:12]
    distinct = np.unique(few.toarray(), axis=0).shape[0]
    assert distinct == 12
    assert len(set(SphericalKMeans(12, random_state=0).fit_predict(few))) == 12


def test_rows_without_terms_get_the_lowest_label_and_count_in_no_objective(documents):
    dense = documents.toarray()
    dense[[4, 50]] = 0
    model = SphericalKMeans(4, random_state=0).fit(dense)
    assert list(model.labels_[[4, 50]]) == [0, 0]
    filled = np.delete(dense, [4, 50], axis=0)
    same = SphericalKMeans(4, init=model.centroids_).fit(filled)
    assert same.objective_ == pytest.approx(model.objective_, rel=1e-6)
    assert model.inertia_ == pytest.approx(88 - model.objective_, rel=1e-9)
    assert np.allclose(model.transform(np.zeros((1, 24))), 1)


def test_columns_that_no_document_has_are_harmless(documents, expected):
    wide = sparse.hstack([sparse.csr_array((90, 500), dtype=np.float32), documents], format="csr")
    assert np.array_equal(SphericalKMeans(4, random_state=0).fit_predict(wide), expected)


def test_dense_centroids_are_refused_above_max_memory():
    rng = np.random.default_rng(0)
    rows = sparse.random_array((300, 200_000), density=0.0002, random_state=rng, format="csr", dtype=np.float32)
    rows = rows[np.diff(rows.indptr) > 0]
    with pytest.warns(DocclusterWarning, match="unit length"):
        model = SphericalKMeans(50, n_init=1, random_state=0, max_memory="30M").fit(rows)
    with pytest.raises(MemoryLimitError, match="centroids_"):
        _ = model.cluster_centers_
    assert model.centroids_.nnz < 20_000


def test_runner_up_of_a_single_centroid_is_undefined(documents):
    found = assign_to_centroids(documents, documents[[0]])
    assert set(found.labels) == {0}
    assert set(found.runner_up) == {-1}
    assert np.isnan(found.runner_up_similarity).all()


def test_assignment_equals_the_definition(documents):
    centroids = np.random.default_rng(0).normal(size=(7, 24))
    unit = (centroids / np.linalg.norm(centroids, axis=1, keepdims=True)).astype(np.float32)
    cosines = documents.astype(np.float64) @ unit.T.astype(np.float64)
    found = assign_to_centroids(documents, centroids, n_threads=2)
    order = np.argsort(-cosines, axis=1, kind="stable")
    assert np.array_equal(found.labels, order[:, 0])
    assert np.array_equal(found.runner_up, order[:, 1])
    assert np.allclose(found.similarity, np.take_along_axis(cosines, order[:, :1], 1).ravel(), atol=1e-12)
    assert np.allclose(found.runner_up_similarity, np.take_along_axis(cosines, order[:, 1:2], 1).ravel(), atol=1e-12)
