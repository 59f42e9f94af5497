"""Sums by cluster: exact, and the same bytes however the rows are divided."""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from operator import add

import numpy as np
import pytest
from scipy import sparse

from doccluster.geometry import ClusterEvidence, as_documents
from doccluster.geometry.partition import Partition
from doccluster.geometry.sums import cluster_sums, joined, sum_block

KINDS = [("cosine", np.float32), ("cosine", np.float64), ("euclidean", np.float32), ("euclidean", np.float64)]


def made(dtype, *, dense=False, n=300, d=70, k=7, seed=3):
    rng = np.random.default_rng(seed)
    matrix = sparse.csr_array((rng.random((n, d)) < 0.15).astype(np.float64))
    matrix.data[:] = rng.standard_normal(matrix.nnz) * np.exp(3 * rng.standard_normal(matrix.nnz))
    matrix = matrix.astype(dtype)
    labels = np.concatenate([np.arange(k), rng.integers(k, size=n - k)])
    return (matrix.toarray() if dense else matrix), Partition.from_labels(labels)


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize(("metric", "dtype"), KINDS)
def test_a_sum_is_the_exact_one_rounded(metric, dtype, dense):
    matrix, partition = made(dtype, dense=dense)
    rows = as_documents(matrix).under(metric)
    found = cluster_sums(rows, partition, n_threads=2).sums
    found = found if dense else found.toarray()
    scaled = (rows.matrix if dense else rows.matrix.toarray()).astype(np.float64) * rows.scale[:, None]
    largest = np.abs(scaled).max(axis=0) if metric == "euclidean" else np.ones(scaled.shape[1])
    for cluster in range(partition.n_clusters):
        members = scaled[partition.members(cluster)]
        exact = [float(sum(map(Fraction, column))) for column in members.T]
        lost = len(members) * largest * 2.0**-62  # each value is rounded to a step, then both sums to float64
        np.testing.assert_array_less(np.abs(found[cluster] - exact), np.spacing(np.abs(exact)) + lost)


@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize(("metric", "dtype"), KINDS)
def test_blocks_in_any_order_give_the_same_bytes(metric, dtype, dense, squared):
    matrix, partition = made(dtype, dense=dense)
    rows = as_documents(matrix).under(metric)
    whole = cluster_sums(rows, partition, squared=squared, n_threads=1).sums
    rng = np.random.default_rng(0)
    for n_blocks in (1, 2, 9, 300):
        blocks = np.array_split(rng.permutation(partition.n_documents), n_blocks)
        parts = [sum_block(rows, block, partition.labels, partition.n_clusters, squared=squared) for block in blocks]
        together, one_by_one = joined(parts), reduce(add, reversed(parts))
        for sums in (together, one_by_one):
            if dense:
                assert sums.by_cluster().tobytes() == whole.tobytes()
            else:
                assert sums.by_cluster().data.tobytes() == whole.data.tobytes()
                assert sums.by_cluster().indices.tobytes() == whole.indices.tobytes()


def test_sums_of_float32_unit_rows_are_those_of_float64_where_these_are_exact():
    rng = np.random.default_rng(1)
    columns = np.concatenate([rng.choice(50, 4, replace=False) for _ in range(200)])
    rows = sparse.csr_array((np.full(800, 0.5, np.float32), columns, np.arange(0, 801, 4)), shape=(200, 50))
    partition = Partition.from_labels(np.arange(200) % 6)
    naive = np.array([rows.toarray()[partition.labels == k].sum(axis=0, dtype=np.float64) for k in range(6)])
    np.testing.assert_array_equal(ClusterEvidence(rows, partition).sums.toarray(), naive)


def test_opposite_rows_cancel_exactly():
    matrix, _ = made(np.float64, n=40)
    both = sparse.csr_array(sparse.vstack([matrix, -matrix]))
    sums = ClusterEvidence(both, Partition.from_labels(np.zeros(80, np.int64))).sums
    assert not sums.data.any()


def test_sums_in_different_steps_are_not_added():
    first, second = (as_documents(made(np.float64, seed=seed)[0]).under("euclidean") for seed in (1, 2))
    labels = np.zeros(300, np.int64)
    with pytest.raises(ValueError, match="different steps"):
        sum_block(first, np.arange(9), labels, 1) + sum_block(second, np.arange(9), labels, 1)


@pytest.mark.parametrize("dense", [False, True])
def test_variances_are_those_of_numpy(dense):
    matrix, partition = made(np.float64, dense=dense)
    evidence = ClusterEvidence(matrix, partition, metric="euclidean")
    plain = matrix if dense else matrix.toarray()
    expected = [np.linalg.norm(plain[partition.members(c)].var(axis=0)) for c in range(partition.n_clusters)]
    np.testing.assert_allclose(evidence.centres.variance_norms, expected, rtol=1e-12)
    np.testing.assert_allclose(evidence.centres.term_squares, np.square(plain).sum(axis=0), rtol=1e-12)
