"""PairwiseDistances: the parts that small inputs do not reach, sampling, promises on memory, and refusals."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import sparse
from sklearn import metrics
from sklearn.preprocessing import normalize

from doccluster.errors import InputError, NotComputable
from doccluster.geometry.evidence import ClusterEvidence
from doccluster.geometry.partition import Partition
from doccluster.measures import _distances, get_measure
from doccluster.measures._distances import PairwiseDistances


def made(n=120, d=30, k=4, density=0.2, seed=0, dtype=np.float64):
    generator = np.random.default_rng(seed)
    matrix = sparse.random(n, d, density=density, random_state=generator, format="csr", dtype=np.float64)
    norms = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    scale = sparse.diags_array(np.where(norms > 0, 1 / np.maximum(norms, 1e-300), 0))
    return sparse.csr_array(scale @ matrix).astype(dtype), generator.integers(0, k, n)


def pairs_of(matrix, labels, metric="euclidean", *, max_memory=None, **options):
    evidence = ClusterEvidence(matrix, Partition.from_labels(labels), metric=metric, **options)
    return PairwiseDistances(evidence, max_memory=max_memory)


def in_blocks_of(monkeypatch, n_rows, n_documents):
    monkeypatch.setattr(_distances, "BLOCK_CELLS", n_rows * n_documents)


def dense_distances(matrix, metric="euclidean"):
    return metrics.pairwise_distances(matrix.toarray(), metric=metric)


def test_scikit_learn_defines_the_same_silhouette_and_scatter_indices():
    matrix, labels = made()
    dense = matrix.toarray() + np.random.default_rng(1).random(matrix.shape)
    geometry = ClusterEvidence(dense, Partition.from_labels(labels), metric="euclidean")
    values = {name: get_measure(name).compute(geometry).value for name in ("calinski_harabasz", "davies_bouldin_mean")}
    assert values["calinski_harabasz"] == pytest.approx(metrics.calinski_harabasz_score(dense, labels), rel=1e-10)
    assert values["davies_bouldin_mean"] == pytest.approx(metrics.davies_bouldin_score(dense, labels), rel=1e-10)
    for metric in ("euclidean", "cosine"):
        widths = get_measure("silhouette").compute(pairs_of(dense, labels, metric)).per_document
        np.testing.assert_allclose(widths, metrics.silhouette_samples(dense, labels, metric=metric), atol=1e-12)


@pytest.mark.parametrize("n_bins", [1, 7, 2**16])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_extreme_sums_are_exact_whatever_the_bins_in_which_they_end(monkeypatch, n_bins, metric):
    monkeypatch.setattr(_distances, "N_BINS", n_bins)
    in_blocks_of(monkeypatch, 9, 80)
    matrix, labels = made(n=80, density=0.3)
    counts = np.rint(matrix.toarray() * 3)  # small whole numbers: most squared distances are tied
    for k, rows in itertools.product((2, 4), (matrix, sparse.csr_array(counts))):
        pairs = pairs_of(rows, labels % k, metric)
        table = dense_distances(rows, metric)
        empty = np.asarray(rows.multiply(rows).sum(axis=1)).ravel() == 0
        table[np.ix_(empty, empty)] = 0.0 if metric == "euclidean" else 1.0
        ordered = np.sort(table[np.triu_indices(80, 1)])
        number = pairs.geometry.n_inner_pairs
        assert pairs.extreme_sums == pytest.approx((ordered[:number].sum(), ordered[-number:].sum()), rel=1e-9)


@pytest.mark.parametrize("k", [2, 9])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_order_counts_agree_with_all_comparisons(monkeypatch, k, metric):
    matrix, labels = made(n=90, k=k, density=0.1)
    matrix.data = np.rint(matrix.data * 4 + 1)
    rows = sparse.csr_array(normalize(matrix))
    double = pairs_of(rows, labels, metric).order_counts
    in_blocks_of(monkeypatch, 7, 90)
    single = rows.astype(np.float32)
    found = pairs_of(single, labels, metric, n_threads=3).order_counts
    exact = sparse.csr_array(normalize(single.astype(np.float64)))  # float32 rows count as exactly unit
    assert (found.s_plus, found.s_minus) == naive_order(dense_distances(exact, metric), labels, metric, 1e-6)
    assert (double.s_plus, double.s_minus) == naive_order(dense_distances(rows, metric), labels, metric, 1e-10)


def naive_order(table, labels, metric, grid):
    upper = np.triu_indices(len(labels), 1)
    values = table[upper] if metric == "cosine" else table[upper] ** 2
    keys = np.rint(values / grid)
    inside = labels[upper[0]] == labels[upper[1]]
    closer = keys[inside][:, None] < keys[~inside][None, :]
    farther = keys[inside][:, None] > keys[~inside][None, :]
    return int(closer.sum()), int(farther.sum())


def test_sampled_silhouette_is_within_its_standard_error():
    matrix, labels = made(n=300, density=0.3)
    record = get_measure("silhouette")
    pairs = pairs_of(matrix, labels)
    exact, sampled = record.compute(pairs), record.compute(pairs, sample=150, random_state=1)
    assert abs(sampled.value - exact.value) < 4 * sampled.standard_error
    assert "150" in sampled.note
    known = ~np.isnan(sampled.per_document)
    assert known.sum() == 150
    np.testing.assert_allclose(sampled.per_document[known], exact.per_document[known], atol=1e-12)
    assert record.compute(pairs, sample=300).value == pytest.approx(exact.value, abs=1e-12)
    linear = ClusterEvidence(matrix, Partition.from_labels(labels))
    assert record.compute(linear, sample=10).value == record.compute(linear).value


def test_tables_that_do_not_fit_are_refused_with_what_they_need_but_the_rest_is_computed():
    matrix, labels = made(n=60, k=30)
    pairs = pairs_of(matrix, labels, max_memory=1000)
    plain = pairs_of(matrix, labels)
    for name in ("dunn", "silhouette", "c_index", "beta_cv", "point_biserial", "normalized_cut"):
        assert get_measure(name).compute(pairs).value == pytest.approx(
            get_measure(name).compute(plain).value, abs=1e-12
        )
    with pytest.raises(NotComputable, match="max_memory"):
        get_measure("gdi_6_1").compute(pairs)


def test_cost_is_stated_before_the_sweep():
    matrix, labels = made()
    four = pairs_of(sparse.vstack([matrix] * 4), np.tile(labels, 4))
    assert four.estimate_seconds() > 8 * pairs_of(matrix, labels).estimate_seconds()


def test_pairs_that_cannot_be_held_are_refused_with_what_they_need(monkeypatch):
    matrix, labels = made(density=0.5)
    monkeypatch.setattr(_distances, "MIN_KEYS", 10)
    with pytest.raises(NotComputable, match="raise max_memory"):
        get_measure("gamma").compute(pairs_of(matrix, labels, max_memory=1000))


def test_terms_of_many_documents_are_told_to_cost_less_than_as_many_postings():
    rng = np.random.default_rng(0)
    labels = np.arange(2000) % 2
    common = pairs_of(sparse.csr_array(rng.random((2000, 20))), labels)
    blocks = pairs_of(
        sparse.block_diag([sparse.coo_array(rng.random((40, 20))) for _ in range(50)], format="csr"), labels
    )
    assert common.geometry.rows.matrix.nnz == blocks.geometry.rows.matrix.nnz
    assert (common.documents._common.shape[1], blocks.documents._rare.shape[1]) == (20, 1000)
    for pairs in (common, blocks):
        assert 0.1 < pairs.estimate_seconds() < 1


def test_progress_ends_with_all_pairs_and_an_interrupt_passes_through(monkeypatch):
    in_blocks_of(monkeypatch, 10, 120)
    matrix, labels = made()
    told = []
    pairs = pairs_of(matrix, labels, progress=lambda stage, done, total: told.append((stage, done, total)))
    assert pairs.sweep.least_between > 0
    assert told[-1][1] == told[-1][2]
    assert len(told) == 12

    def interrupt(stage, done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pairs_of(matrix, labels, progress=interrupt, n_threads=2).sweep


def test_unusable_input_is_refused():
    partition = Partition.from_labels([0, 1])
    with pytest.raises(InputError, match="3 document vectors and 2 labels"):
        ClusterEvidence(np.eye(3), partition)
    with pytest.raises(InputError, match="metric='manhattan'"):
        ClusterEvidence(np.eye(2), partition, metric="manhattan")
    with pytest.raises(InputError, match="NaN"):
        ClusterEvidence(np.array([[1.0, math.nan], [0.0, 1.0]]), partition)
    with pytest.raises(InputError, match="use PairwiseDistances"):
        ClusterEvidence(np.eye(2), partition, metric="euclidean").pairs.block_weights
    geometry = ClusterEvidence(np.eye(2), partition)
    for name, options in (
        ("davies_bouldin", {"q": 0}),
        ("davies_bouldin", {"q": "two"}),
        ("coherence", {"average": "some"}),
        ("adherence", {"summary": "median"}),
        ("gdi", {"between": 7}),
        ("silhouette", {"over": "terms"}),
    ):
        with pytest.raises(InputError):
            get_measure(name).compute(geometry, **options)


def test_many_clusters_get_their_tables_in_a_reading_of_their_own(monkeypatch):
    from doccluster.geometry import evidence as module

    matrix, labels = made(k=9)
    plain = ClusterEvidence(matrix, Partition.from_labels(labels)).adherence
    monkeypatch.setattr(module, "TABLES_UP_TO", 3)
    late = ClusterEvidence(matrix, Partition.from_labels(labels))
    assert late.similarities.adherence is None
    np.testing.assert_array_equal(late.adherence, plain)


def test_terms_of_few_clusters_are_kept_as_posting_lists(monkeypatch):
    from doccluster.geometry import sums as module

    matrix, labels = made(n=400, d=300, k=60, density=0.005)
    plain = ClusterEvidence(matrix, Partition.from_labels(labels))
    assert not plain.cluster_sums.table.in_head.all()
    dense = ClusterEvidence(matrix.toarray(), Partition.from_labels(labels))
    np.testing.assert_allclose(plain.cluster_sums.gram, dense.cluster_sums.gram, atol=1e-12)
    np.testing.assert_allclose(plain.adherence, dense.adherence, atol=1e-12)
    monkeypatch.setattr(module, "TABLE_BYTES", 60 * 8 * 20)  # room for 20 dense lines
    tight = ClusterEvidence(matrix, Partition.from_labels(labels))
    assert len(tight.cluster_sums.table.head) <= 20
    np.testing.assert_allclose(tight.adherence, plain.adherence, atol=1e-12)


@pytest.mark.parametrize("empty", [(), (0,), (0, 1), (0, 2), (0, 1, 2), (0, 1, 2, 3)])
def test_the_nearest_two_of_different_clusters_are_told_also_with_documents_without_terms(empty):
    rows = np.array([[3.0, 4, 0], [4, 3, 0], [1, 0, 4], [0, 1, 4]]) / 5
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    rows[list(empty)] = 0
    labels = np.array([0, 0, 1, 1])
    apart = min(((rows[one] - rows[other]) ** 2).sum() for one in (0, 1) for other in (2, 3))
    found = pairs_of(sparse.csr_array(rows), labels, "cosine").least_squared_between
    assert found == pytest.approx(apart, abs=1e-12)
