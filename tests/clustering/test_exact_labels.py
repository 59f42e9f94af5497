"""Labels and means are those of the naive definition after every iteration, whatever threads, blocks and bounds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from doccluster.clustering.k_means import sweep, unit_documents
from doccluster.clustering.k_means.assign import SparseMeans, nearest_centroids
from doccluster.clustering.k_means.lloyd import Limits, run_start
from doccluster.clustering.k_means.lloyd_steps import LloydSteps, RunningSums
from doccluster.clustering.k_means.spherical import SphericalParameters, spherical_k_means
from doccluster.clustering.k_means.sweep import NearestCentroids
from doccluster.clustering.k_means.term_places import TermPlaces
from doccluster.geometry import as_documents
from tests.clustering.naive import cluto_matrix, naive_lloyd, naive_similarities

WAYS = {
    "every row": {"n_groups": 0},
    "bounds": {},
    "lists": {},
    "without sums": {"keeps_sums": False},
}
ALGORITHMS = list(WAYS)


def unit(dense):
    lengths = np.linalg.norm(dense, axis=1, keepdims=True)
    return sparse.csr_array((dense / np.where(lengths == 0, 1, lengths)).astype(np.float32))


def topics(n=400, n_terms=120, n_topics=6, seed=0):
    rng = np.random.default_rng(seed)
    own = rng.integers(n_topics, size=n)
    rate = 0.05 + 1.0 * (np.arange(n_terms)[None, :] % n_topics == own[:, None])
    return unit(rng.poisson(rate).astype(float))


def duplicates():
    few = topics(n=15).toarray()
    return unit(few[np.random.default_rng(1).integers(15, size=200)])


def orthogonal():
    return unit(np.eye(40)[np.random.default_rng(2).integers(40, size=120)])


def ties():
    """Rows halfway between unit vectors, and permutations of one set of values: equal cosines by construction."""
    rows = [np.eye(12)[i] + np.eye(12)[j] for i in range(12) for j in range(i)]
    values = np.array([1.0, 2.0, 3.0, 5.0] + [0.0] * 8)
    rows += [np.random.default_rng(s).permutation(values) for s in range(60)]
    return unit(np.array(rows))


def empty_rows():
    rows = topics(n=80).toarray()
    rows[::7] = 0
    return sparse.csr_array(rows)


def signed():
    return unit(np.random.default_rng(5).normal(size=(200, 9)))


def sparse_signed():
    rng = np.random.default_rng(12)
    return unit(rng.normal(size=(150, 60)) * (rng.random((150, 60)) < 0.07))


def long_rows():
    return unit(np.random.default_rng(6).random((60, 700)))


def signs():
    """Rows of plus and minus one: dense, with many equal cosines."""
    return unit(np.random.default_rng(8).choice([-1.0, 1.0], size=(150, 10)))


ALL = (topics, duplicates, orthogonal, ties, empty_rows, signed, sparse_signed, long_rows, signs)
DATA = {f.__name__: f for f in ALL}
LONG_WAYS = ("topics", "ties", "signed")  # with seven clusters: enough iterations for bounds to be carried along


_LAST = {}


def naive_run(matrix, start, weights):
    """Return what the naive definition does; its last run is kept, since several ways to do the same are compared."""
    parts = (matrix.data, matrix.indices, matrix.indptr, start) + (() if weights is None else (weights,))
    key = tuple(part.tobytes() for part in parts)
    if key not in _LAST:
        _LAST.clear()
        _LAST[key] = list(naive_lloyd(matrix, start, weights=weights, max_iter=60))
    return _LAST[key]


def compare(matrix, start_rows, *, n_threads=1, algorithm="every row", weights=None, **limits):
    """Run both to the end and compare every iteration."""
    documents = unit_documents.unit_documents(as_documents(matrix), n_threads=n_threads, weights=weights)
    start = sparse.csr_array(matrix[start_rows])
    seen = []
    options = WAYS[algorithm] | ({"n_head": matrix.shape[1] // 3} if algorithm == "lists" else {}) | limits
    steps = LloydSteps(documents, start, **options)
    found = run_start(
        steps,
        Limits(max_iter=60, tol=0.0),
        observe=lambda *_: seen.append((steps.centroids.to_csr(), steps.labels.copy())),
    )
    naive = naive_run(matrix, start.toarray(), weights)
    for number, ((means, labels), (naive_means, naive_labels)) in enumerate(zip(seen, naive, strict=False)):
        assert np.array_equal(labels, naive_labels), f"labels differ after assignment {number}"
        assert np.abs(means.toarray() - naive_means).max() <= 6e-8, f"means differ before assignment {number}"
    assert found.converged
    assert len(seen) == len(naive) - 1
    return len(seen)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("k", [1, 2, 7, 24])
@pytest.mark.parametrize("data", DATA)
def test_every_iteration_equals_the_naive_definition(data, k, algorithm):
    matrix = DATA[data]()
    rows = np.random.default_rng(k).permutation(matrix.shape[0])[:k]
    least = 6 if k == 7 and data in LONG_WAYS else 1
    assert compare(matrix, rows, algorithm=algorithm) >= least


@pytest.mark.usefixtures("starts_threads")
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(("n_threads", "block_rows"), [(1, 1), (2, 7), (3, 64), (5, 100)])
def test_threads_and_block_sizes_change_nothing(n_threads, block_rows, algorithm, monkeypatch):
    monkeypatch.setattr(unit_documents, "BLOCK_ROWS", block_rows)
    monkeypatch.setattr(unit_documents, "SERIAL_WORK", 0)
    compare(topics(), np.arange(12), n_threads=n_threads, algorithm=algorithm)


@pytest.mark.parametrize("algorithm", ALGORITHMS[:2])
@pytest.mark.parametrize("data", ["topics", "signed", "ties"])
@pytest.mark.parametrize("n_head", [0, 3, 40])
def test_a_short_dense_head_changes_nothing(n_head, data, algorithm):
    matrix = DATA[data]()
    compare(matrix, np.arange(20), n_head=min(n_head, matrix.shape[1]), algorithm=algorithm)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("data", DATA)
def test_a_fit_that_keeps_the_columns_as_given_ends_as_the_naive_definition_does(data, dtype):
    matrix = DATA[data]()
    start = matrix[np.random.default_rng(7).permutation(matrix.shape[0])[:7]]
    given = matrix.astype(dtype) if data not in ("signed", "signs") else matrix.astype(dtype).toarray()
    found = spherical_k_means(given, SphericalParameters(7, init=start, tol=0.0, max_iter=60))
    *_, (means, labels) = naive_lloyd(matrix, start.toarray(), max_iter=60)
    assert np.array_equal(found.labels, labels)
    assert np.abs(found.centroids.toarray() - means).max() <= 6e-8


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_weights_change_means_as_defined(algorithm):
    weights = np.random.default_rng(0).choice([0.0, 0.5, 1.0, 3.0], size=400)
    compare(topics(), np.arange(8), weights=weights, algorithm=algorithm)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("data", ["ties", "duplicates", "signs", "sparse_signed", "empty_rows", "orthogonal"])
def test_weights_over_twelve_decades_change_no_label(data, algorithm):
    matrix, rng = DATA[data](), np.random.default_rng(3)
    weights = 10.0 ** rng.uniform(-6, 6, size=matrix.shape[0])
    compare(matrix, rng.permutation(matrix.shape[0])[:9], weights=weights, algorithm=algorithm)


@pytest.mark.parametrize("data", ["topics", "ties", "sparse_signed"])
def test_the_order_of_the_documents_changes_nothing(data):
    matrix, rng = DATA[data](), np.random.default_rng(4)
    start, order = matrix[:9], rng.permutation(matrix.shape[0])
    parameters = SphericalParameters(9, init=start, tol=0.0)
    found = spherical_k_means(matrix, parameters)
    in_order = spherical_k_means(sparse.csr_array(matrix[order]), parameters)
    assert np.array_equal(in_order.labels, found.labels[order])
    assert in_order.centroids.data.tobytes() == found.centroids.data.tobytes()


def test_a_cluster_that_shrinks_to_one_document_keeps_an_exact_length():
    """The square of a length follows by additions, which a long sum leaves too coarse for a short one."""
    matrix, weights = topics(n=400), np.full(400, 100.0)
    weights[7] = 1
    documents = unit_documents.unit_documents(as_documents(matrix), weights=weights)
    assert documents.has_exact_sums
    places = TermPlaces.of(documents.frequencies, 2)
    sums = RunningSums(documents, places, sweep.sweep_rows(documents, places))
    everywhere, one = np.zeros(400, np.int32), np.ones(400, np.int32)
    one[7] = 0
    for labels in (everywhere, one) * 200:
        sums.follow(labels)
    assert sums.lengths[0] == pytest.approx(np.linalg.norm(matrix[[7]].toarray().astype(np.float64)), rel=1e-9)


def test_centroids_with_signs_are_swept_in_cells_with_signs():
    matrix, rng = topics(), np.random.default_rng(9)
    means = unit(rng.normal(size=(12, matrix.shape[1])))
    assert np.array_equal(nearest_centroids(matrix, means), naive_similarities(matrix, means.toarray()).argmax(axis=1))


@pytest.mark.real
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(("name", "k"), [("tr11", 9), ("tr23", 30), ("re0", 60)])
def test_real_matrices_equal_the_naive_definition_at_every_iteration(real_corpora, name, k, algorithm):
    matrix, _ = cluto_matrix(real_corpora / "cluto_matrices", name)
    rows = np.random.default_rng(7).permutation(matrix.shape[0])[:k]
    assert compare(matrix, rows, algorithm=algorithm, n_threads=2) > 3


@pytest.mark.parametrize("data", ["signed", "long_rows", "signs"])
def test_labels_of_dense_rows_are_exact_where_a_matrix_product_leaves_them_open(data, monkeypatch):
    matrix, left_open, swept = DATA[data](), [], sweep.sweep

    def noted(rows, table, *arguments):
        assert table.initial_sums.size >= 16 * arguments[0].size
        left_open.append(swept(rows, table, *arguments)[1])
        return arguments[0].size, left_open[-1]

    monkeypatch.setattr(sweep, "sweep", noted)
    start = matrix[: min(24, matrix.shape[0])].toarray()
    exact = naive_similarities(matrix, start)
    assert np.array_equal(nearest_centroids(matrix.toarray(), start), exact.argmax(axis=1))
    assert len(left_open) == 1
    assert (left_open[0] > 0) == (data == "signs")
    compare(matrix, np.arange(min(24, matrix.shape[0])))
    assert len(left_open) > 1


def assert_bounds(nearest, exact):
    """Compare the bounds of every document with the exact similarities."""
    labels, own, others_of_groups = nearest.bounds
    assert np.array_equal(labels, exact.argmax(axis=1))
    has_value = nearest.documents.has_value
    rows = np.arange(labels.size)
    assert (own <= exact[rows, labels])[has_value].all()
    others = exact.copy()
    others[rows, labels] = -np.inf
    for group, upper in enumerate(others_of_groups):
        highest = others[:, group :: len(others_of_groups)].max(axis=1, initial=-np.inf)
        assert (upper >= highest)[has_value].all()


def check_bounds(matrix, k, *, n_head=None):
    """Run every iteration and compare bounds, labels and means with the truth; count the iterations."""
    documents = unit_documents.unit_documents(as_documents(matrix))
    rows = np.random.default_rng(3).permutation(matrix.shape[0])[:k]
    steps, labels, checked = LloydSteps(documents, sparse.csr_array(matrix[rows]), n_head=n_head), None, 0
    for _ in range(25):
        steps.nearest.search(steps.centroids, steps._movements)
        if labels is not None and np.array_equal(steps.labels, labels):
            break
        labels = steps.labels.copy()
        exact = naive_similarities(matrix, steps.centroids.to_csr().toarray())
        assert_bounds(steps.nearest, exact)
        own = sweep.own_cosines(steps.centroids, documents, labels)
        assert own == pytest.approx(exact.max(axis=1), abs=1e-15 * matrix.shape[1])
        checked += 1
        steps._refill()
        steps.update()
    return checked


@pytest.mark.parametrize("n_head", [None, 5])
@pytest.mark.parametrize("k", [2, 9, 24, 60])
@pytest.mark.parametrize("data", DATA)
def test_bounds_hold_for_every_document_after_every_iteration(data, k, n_head):
    matrix = DATA[data]()
    assert check_bounds(matrix, min(k, matrix.shape[0]), n_head=n_head) > 0


@pytest.mark.real
@pytest.mark.parametrize(("name", "k"), [("tr11", 9), ("tr11", 40), ("re0", 60), ("re0", 150)])
def test_bounds_hold_on_real_matrices(real_corpora, name, k):
    matrix, _ = cluto_matrix(real_corpora / "cluto_matrices", name)
    assert check_bounds(matrix, k) > 2


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_means_asked_for_after_an_interruption_are_those_of_the_labels(algorithm):
    documents = unit_documents.unit_documents(as_documents(topics()))
    steps = LloydSteps(documents, documents.matrix[:9], **WAYS[algorithm])
    steps.assign()
    steps.update()
    snapshot = steps.postpone_snapshot(1)
    means, labels = steps.centroids.to_csr().toarray(), steps.labels.copy()
    steps.assign()
    steps.update()
    assert not np.array_equal(steps.centroids.to_csr().toarray(), means)
    assert np.array_equal(snapshot().means.toarray(), means)
    assert np.array_equal(snapshot().labels, labels)


def swept_rows(matrix, k, monkeypatch, **limits):
    """Return how many rows a start swept, and how many it has in all its iterations."""
    swept, sweep_rows = [], sweep.sweep
    monkeypatch.setattr(sweep, "sweep", lambda *given: swept.append(given[2].size) or sweep_rows(*given))
    documents = unit_documents.unit_documents(as_documents(matrix))
    found = run_start(LloydSteps(documents, matrix[:k], **limits), Limits(tol=0.0))
    monkeypatch.setattr(sweep, "sweep", sweep_rows)
    return sum(swept), matrix.shape[0] * (found.n_iter + 1)


def test_rows_whose_bounds_tell_their_label_are_skipped(monkeypatch):
    swept, everything = swept_rows(topics(), 12, monkeypatch)
    assert topics().shape[0] < swept < 0.9 * everything
    swept, everything = swept_rows(topics(), 12, monkeypatch, n_groups=0)
    assert swept == everything


def some_means(rng, matrix, k):
    """Unit means of random groups of documents, as float32."""
    groups = rng.integers(k, size=matrix.shape[0])
    sums = np.stack([matrix[groups == c].sum(axis=0) for c in range(k)]).astype(np.float64)
    return (sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-12)).astype(np.float32)


def next_means(rng, means, matrix):
    """Move some means a little or far, make some equal to others, put some on a document, halfway, or to zero."""
    following = means.astype(np.float64)
    for cluster in rng.permutation(means.shape[0])[: rng.integers(1, means.shape[0] + 1)]:
        other = int(rng.integers(means.shape[0]))
        document = matrix[[int(rng.integers(matrix.shape[0]))]].toarray().ravel().astype(np.float64)
        kind = rng.choice(["little", "far", "equal", "document", "swap", "zero"], p=[0.5, 0.1, 0.15, 0.1, 0.12, 0.03])
        if kind in ("little", "far"):
            following[cluster] += (0.01 if kind == "little" else 1.0) * document
        elif kind == "equal":
            following[cluster] = following[other]
        elif kind == "document":
            following[cluster] = document
        elif kind == "swap":
            following[[cluster, other]] = following[[other, cluster]]
        else:
            following[cluster] = 0
    return (following / np.maximum(np.linalg.norm(following, axis=1, keepdims=True), 1e-12)).astype(np.float32)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "data", ["topics", "ties", "duplicates", "orthogonal", "signed", "sparse_signed", "empty_rows"]
)
@pytest.mark.parametrize("n_head", [None, 5])
def test_any_sequence_of_means_is_followed_exactly(data, seed, n_head):
    rng = np.random.default_rng(seed)
    matrix = DATA[data]()
    documents = unit_documents.unit_documents(as_documents(matrix))
    k, movements = int(rng.integers(2, 45)), None
    places = TermPlaces.of(documents.frequencies, k, n_head)
    nearest, means = NearestCentroids(documents, places), some_means(rng, matrix, k)
    for _ in range(10):
        nearest.search(SparseMeans(sparse.csr_array(means), places), movements)
        assert_bounds(nearest, naive_similarities(matrix, means))
        following = next_means(rng, means, matrix)
        movements = np.linalg.norm(following.astype(np.float64) - means.astype(np.float64), axis=1)
        means = following
