"""Levels above and below a partition, against what can be read off the sums of the rows themselves."""

import numpy as np
import pytest
from scipy import sparse
from scipy.cluster import hierarchy
from sklearn.metrics import adjusted_rand_score

from doccluster.clustering.nesting import (
    Merge,
    coarser_groups,
    groups_after,
    joins_of,
    majority_groups,
    merge_order,
    moved_whole,
    nested_labels,
    number_of_groups,
    products_of_groups,
    products_of_sums,
)


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.fixture(params=range(6))
def clusters(request):
    rng = np.random.default_rng(request.param)
    n, k = 150, 14
    heads = rng.normal(size=(4, 9))
    kinds = np.arange(k) % 4
    labels = np.concatenate([np.arange(k), rng.integers(0, k, n - k)])
    means = heads[kinds] + 0.6 * rng.normal(size=(k, 9))
    return unit(means[labels] + 0.4 * rng.normal(size=(n, 9))), labels, k


def naive_merges(rows, labels, k):
    """All merges by trying every pair of sums each time."""
    sums = {cluster: rows[labels == cluster].sum(axis=0) for cluster in range(k)}
    merges = []
    while len(sums) > 1:
        loss, first, second = min(
            (np.linalg.norm(sums[a]) + np.linalg.norm(sums[b]) - np.linalg.norm(sums[a] + sums[b]), a, b)
            for a in sums
            for b in sums
            if a < b
        )
        sums[first] = sums[first] + sums.pop(second)
        merges.append((first, second, loss))
    return merges


def total_length(rows, labels, groups):
    return sum(np.linalg.norm(rows[groups[labels] == group].sum(axis=0)) for group in range(groups.max() + 1))


def test_merges_are_those_of_trying_every_pair(clusters):
    rows, labels, k = clusters
    merges, expected = merge_order(products_of_sums(rows, labels, k)), naive_merges(rows, labels, k)
    assert [tuple(merge[:2]) for merge in merges] == [merge[:2] for merge in expected]
    np.testing.assert_allclose([merge.loss for merge in merges], [loss for *_, loss in expected], atol=1e-9)


def test_sums_that_cancel_but_for_rounding_merge_without_a_warning():
    (merge,) = merge_order(np.array([[1.0, -1 - 1e-15], [-1 - 1e-15, 1.0]]))
    assert merge.loss == pytest.approx(2.0)


def test_sparse_rows_merge_as_dense_ones(clusters):
    rows, labels, k = clusters
    dense = products_of_sums(rows, labels, k)
    np.testing.assert_allclose(products_of_sums(sparse.csr_array(rows), labels, k), dense, atol=1e-12)


def test_products_of_groups_are_those_of_their_sums(clusters):
    rows, labels, k = clusters
    groups = np.arange(k) % 5
    expected = products_of_sums(rows, groups[labels], 5)
    np.testing.assert_allclose(products_of_groups(products_of_sums(rows, labels, k), groups), expected, atol=1e-9)


def test_no_single_move_of_a_cluster_is_left_that_gains(clusters):
    rows, labels, k = clusters
    products = products_of_sums(rows, labels, k)
    before = groups_after(merge_order(products), 5)
    groups = moved_whole(products, before)
    best = total_length(rows, labels, groups)
    assert best >= total_length(rows, labels, before) - 1e-9
    assert groups.max() == 4  # no group is emptied
    for cluster in range(k):
        for group in range(5):
            tried = groups.copy()
            tried[cluster] = group
            if np.unique(tried).size == 5:
                assert total_length(rows, labels, tried) <= best + 1e-6


def test_the_number_is_where_merging_begins_to_cost():
    rng = np.random.default_rng(3)
    heads = np.repeat(np.eye(8), 4, axis=0)  # eight kinds of four clusters each
    rows = unit(np.hstack([heads, 0.3 * np.eye(32)]).repeat(5, axis=0) + 0.01 * rng.normal(size=(160, 40)))
    labels = np.arange(32).repeat(5)
    products = products_of_sums(rows, labels, 32)
    assert number_of_groups(merge_order(products)) == 8
    groups = coarser_groups(products)
    assert [np.unique(groups[4 * kind : 4 * kind + 4]).size for kind in range(8)] == [1] * 8
    assert coarser_groups(products, 3).max() == 2


@pytest.mark.parametrize(("k", "most"), [(1, 1), (2, 1), (3, 2), (12, 8), (18, 12), (60, 20)])
def test_groups_are_at_most_two_thirds_of_the_clusters(k, most):
    """Two merges cost nothing, so that the largest gap is at two less than there are clusters."""
    merges = [Merge(0, cluster, 1e-6 if cluster < 3 else 1.0) for cluster in range(1, k)]
    assert number_of_groups(merges) <= most


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("as_sparse", [False, True])
def test_finer_clusters_always_nest(seed, as_sparse):
    rng = np.random.default_rng(seed)
    n, k, m = 200, 7, 30
    rows = unit(rng.random((n, 12)))
    labels, fine = rng.integers(0, k, n), rng.integers(-1, m, n)
    labels[:k] = np.arange(k)
    is_counted = rng.random(n) < 0.8
    nested = nested_labels(sparse.csr_array(rows) if as_sparse else rows, labels, fine, is_counted)
    assert set(nested) == set(range(nested.max() + 1))
    for cluster in range(nested.max() + 1):
        assert np.unique(labels[nested == cluster]).size == 1
    # what lay in the cluster of the majority stays together
    for cluster in range(m):
        home = np.bincount(labels[is_counted & (fine == cluster)], minlength=k).argmax()
        stayed = nested[(fine == cluster) & (labels == home)]
        assert np.unique(stayed).size == 1


def test_strays_go_to_the_nearest_part_of_their_own_cluster():
    rows = unit(np.array([[1.0, 0.1, 0], [1, 0, 0], [0, 1, 0.1], [0, 1, 0], [0.1, 1, 0], [0, 0, 1], [0, 0.1, 1]]))
    labels = np.array([0, 0, 0, 0, 0, 1, 1])
    fine = np.array([0, 0, 1, 1, 2, 2, 2])  # the fifth document lies in a fine cluster of the second cluster
    nested = nested_labels(rows, labels, fine)
    assert nested.tolist() == [0, 0, 1, 1, 1, 2, 2]


def test_a_cluster_without_parts_stays_whole():
    nested = nested_labels(np.eye(4), np.array([0, 0, 1, 1]), np.array([0, 1, -1, -1]))
    assert nested.tolist() == [0, 1, 2, 2]
    assert nested_labels(np.eye(2), np.array([0, 1]), np.array([-1, -1])).tolist() == [0, 1]


def test_stories_go_to_the_topic_of_most_of_their_documents():
    stories, topics = np.array([0, 0, 0, 1, 1, 2]), np.array([1, 1, 0, 0, -1, -1])
    assert majority_groups(stories, topics, 3).tolist() == [1, 0, 0]


def test_joins_stay_inside_groups_until_these_are_whole(clusters):
    rows, labels, k = clusters
    products = products_of_sums(rows, labels, k)
    groups = coarser_groups(products, 4)
    joins = joins_of(products, groups)
    assert hierarchy.is_valid_linkage(joins)
    assert (np.diff(joins[:, 2]) >= 0).all()
    cut = hierarchy.fcluster(joins, 4, criterion="maxclust")
    assert adjusted_rand_score(cut, groups) == 1
