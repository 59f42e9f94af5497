"""The evidence of external measures: counts, the best matching, and the expectation of information."""

from __future__ import annotations

import itertools
import math
import statistics
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import (
    adjusted_mutual_info_score,
    adjusted_rand_score,
    cluster,
    completeness_score,
    fowlkes_mallows_score,
    homogeneity_score,
    normalized_mutual_info_score,
    rand_score,
    v_measure_score,
)

import doccluster
from doccluster.errors import InputError
from doccluster.geometry.partition import Partition
from doccluster.measures import contingency
from doccluster.measures.contingency import ContingencyTable, best_matching, is_unique
from doccluster.measures.pair_counting import hubert_discrete_normalized
from tests.conftest import examples
from tests.oracles import external


def table_of(found, truth):
    return ContingencyTable.from_partitions(Partition.from_labels(found), Partition.from_labels(truth))


def test_counts_are_those_of_a_double_loop_for_small_and_for_sparse_tables():
    generator = np.random.default_rng(0)
    for n, k in ((50, 4), (400, 390)):
        found, truth = generator.integers(0, k, n), generator.integers(0, k, n)
        table = table_of(found, truth)
        expected = np.zeros(table.counts.shape, np.int64)
        for c, t in zip(table.partition.labels, table.truth.labels, strict=True):
            expected[c, t] += 1
        assert np.array_equal(table.counts.toarray(), expected)
        assert table.counts.has_canonical_format


def test_counting_by_sorting_equals_counting_in_an_array():
    generator = np.random.default_rng(1)
    found, truth = generator.permutation(3000), generator.integers(0, 2500, 3000)
    table = table_of(found, truth)  # 3000 x ~1700 cells: too many for an array of all
    reference = sparse.coo_array((np.ones(3000, np.int64), (table.partition.labels, table.truth.labels))).tocsr()
    assert (table.counts != reference).nnz == 0


def test_unequal_lengths_are_refused_with_both_numbers():
    with pytest.raises(InputError, match="labels has 3 labels, truth has 2"):
        table_of([0, 1, 1], [0, 1])


def test_pair_counts_do_not_overflow_at_sizes_where_products_pass_64_bits():
    n = 200_000
    found, truth = np.zeros(n, np.int64), np.repeat([0, 1], n // 2)
    table = table_of(found, truth)
    half = (n // 2) * (n // 2 - 1) // 2
    assert table.pairs.together == 2 * half
    assert table.pairs.total == n * (n - 1) // 2
    assert doccluster.score("adjusted_rand", found, truth=truth).value == 0.0
    mixed = np.arange(n) % 3
    ours = doccluster.score("adjusted_rand", mixed, truth=truth).value
    assert ours == pytest.approx(adjusted_rand_score(truth, mixed), abs=1e-12)


@settings(max_examples=examples(60))
@given(st.integers(1, 9), st.integers(1, 9), st.floats(0.1, 1.0), st.integers(0, 2**32 - 1))
def test_best_matching_equals_a_dense_assignment(n_rows, n_columns, filled, seed):
    generator = np.random.default_rng(seed)
    dense = generator.integers(1, 6, (n_rows, n_columns)) * (generator.random((n_rows, n_columns)) < filled)
    dense[0, 0] = 1
    rows, columns = linear_sum_assignment(dense, maximize=True)
    ours = best_matching(sparse.csr_array(dense))
    assert ours.total == dense[rows, columns].sum()
    assert len(set(ours.clusters)) == len(ours.clusters)
    assert len(set(ours.classes)) == len(ours.classes)
    assert dense[ours.clusters, ours.classes].sum() == ours.total
    assert np.all(dense[ours.clusters, ours.classes] > 0)


def test_sparse_solver_gives_the_same_total_as_the_dense_one(monkeypatch):
    generator = np.random.default_rng(3)
    dense = generator.integers(1, 50, (60, 45)) * (generator.random((60, 45)) < 0.15)
    table = sparse.csr_array(dense)
    reference = best_matching(table).total
    monkeypatch.setattr(contingency, "MAX_MATCHING_CELLS", 1)
    assert best_matching(table).total == reference
    rows, columns = linear_sum_assignment(dense, maximize=True)
    assert reference == dense[rows, columns].sum()


@settings(max_examples=examples(60))
@given(st.integers(1, 4), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_uniqueness_of_the_matching_equals_a_count_of_all_maps(n_rows, n_columns, seed):
    dense = np.random.default_rng(seed).integers(0, 4, (n_rows, n_columns))
    dense[0, 0] = 3
    totals = {}
    for taken in itertools.permutations(range(max(n_rows, n_columns)), min(n_rows, n_columns)):
        pairs = [(i, j) if n_rows <= n_columns else (j, i) for i, j in enumerate(taken)]
        kept = frozenset(pair for pair in pairs if dense[pair] > 0)
        totals.setdefault(sum(int(dense[pair]) for pair in pairs), set()).add(kept)
    expected = len(totals[max(totals)]) == 1
    table = sparse.csr_array(dense)
    assert is_unique(table, best_matching(table)) is expected


def test_very_many_clusters_are_matched_without_a_dense_table():
    labels = np.arange(20_000)  # a dense table would have 400 million cells
    tracemalloc.start()
    try:
        table = table_of(labels, np.roll(labels, 1))
        assert table.matching.total == 20_000
        assert table.is_identical
        assert tracemalloc.get_traced_memory()[1] < 20 * 2**20
    finally:
        tracemalloc.stop()


def test_expected_information_is_the_mean_over_all_rearrangements():
    for found, truth in (([0, 0, 1, 1, 2], [0, 0, 0, 1, 1]), ([0, 1, 1, 1, 1, 1], [0, 0, 1, 1, 2, 2])):
        every = set(itertools.permutations(found))
        mean = statistics.fmean(external.information(list(each), truth) for each in every)
        assert table_of(found, truth).expected_mutual_information == pytest.approx(mean, abs=1e-12)


def test_expected_information_agrees_with_scikit_learn_on_large_uneven_sizes():
    generator = np.random.default_rng(5)
    found = generator.choice(40, 20_000, p=generator.dirichlet(np.full(40, 0.5)))
    truth = generator.choice(25, 20_000, p=generator.dirichlet(np.full(25, 0.5)))
    table = table_of(found, truth)
    theirs = cluster.expected_mutual_information(sparse.csr_matrix(table.counts), table.n_documents)
    assert table.expected_mutual_information == pytest.approx(theirs, rel=1e-7)  # theirs sums rounded log-factorials


def test_expected_information_of_singletons_is_the_entropy_of_the_classes():
    truth = np.random.default_rng(6).integers(0, 7, 3000)
    table = table_of(np.arange(3000), truth)
    assert table.expected_mutual_information == pytest.approx(table.class_entropy, abs=1e-12)


PEERS = {
    "rand": rand_score,
    "adjusted_rand": adjusted_rand_score,
    "fowlkes_mallows": fowlkes_mallows_score,
    "homogeneity": homogeneity_score,
    "completeness": completeness_score,
    "v_measure": v_measure_score,
    "nmi": normalized_mutual_info_score,
    "nmi_geometric": lambda t, f: normalized_mutual_info_score(t, f, average_method="geometric"),
    "nmi_min": lambda t, f: normalized_mutual_info_score(t, f, average_method="min"),
    "nmi_max": lambda t, f: normalized_mutual_info_score(t, f, average_method="max"),
    "ami": adjusted_mutual_info_score,
    "ami_max": lambda t, f: adjusted_mutual_info_score(t, f, average_method="max"),
}


@pytest.mark.parametrize("name", PEERS)
def test_measures_that_scikit_learn_defines_agree_with_it(name):
    generator = np.random.default_rng(11)
    for k, g, noise in ((3, 3, 0.2), (12, 5, 0.5), (4, 30, 0.9)):
        truth = generator.integers(0, g, 600)
        found = np.where(generator.random(600) < noise, generator.integers(0, k, 600), truth % k)
        ours = doccluster.score(name, found, truth=truth).value
        assert ours == pytest.approx(PEERS[name](truth, found), abs=1e-10)


def test_where_scikit_learn_differs_on_trivial_partitions_ours_follows_the_policy():
    singles = list(range(6))
    assert doccluster.score("fowlkes_mallows", singles, truth=singles).value == 1.0
    assert fowlkes_mallows_score(singles, singles) == 0.0


def test_pair_counts_equal_those_of_scikit_learn():
    generator = np.random.default_rng(4)
    found, truth = generator.integers(0, 9, 500), generator.integers(0, 5, 500)
    theirs = cluster.pair_confusion_matrix(truth, found)
    pairs = table_of(found, truth).pairs
    ours = [[2 * pairs.apart, 2 * pairs.cluster_only], [2 * pairs.class_only, 2 * pairs.together]]
    assert np.array_equal(theirs, ours)


def test_large_tables_are_not_handed_out_as_dense_arrays():
    labels = np.arange(3000)
    assert doccluster.score("purity", labels, truth=labels).per_pair is None
    small = doccluster.score("purity", [0, 0, 1], truth=[0, 1, 1])
    assert small.per_pair.tolist() == [[0.5, 0.5], [0.0, 1.0]]


def test_precision_and_recall_tables_are_those_of_strehl():
    table = table_of([0, 0, 0, 1], ["a", "a", "b", "b"])
    assert table.precision.toarray().tolist() == [[2 / 3, 1 / 3], [0, 1]]
    assert table.recall.toarray().tolist() == [[1, 0.5], [0, 0.5]]


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("pair_f", {"beta": -1}),
        ("pair_f", {"beta": "much"}),
        ("mutual_information", {"base": 1}),
        ("mutual_information", {"base": "two"}),
        ("nmi", {"average": "median"}),
        ("macro_f", {"mapping": "best"}),
        ("strehl_entropy", {"n_classes": 1}),
        ("nccg", {"statistic": "median"}),
    ],
)
def test_parameters_out_of_range_are_refused(name, parameters):
    with pytest.raises(InputError):
        doccluster.score(name, [0, 1, 1], truth=[0, 1, 1], **parameters)


def test_beta_weights_recall_and_at_infinity_is_recall():
    found, truth = [0, 0, 0, 1], [0, 0, 1, 1]
    recall = doccluster.score("pair_recall", found, truth=truth).value
    assert doccluster.score("pair_f", found, truth=truth, beta=math.inf).value == recall
    assert doccluster.score("pair_f", found, truth=truth, beta=1e6).value == pytest.approx(recall)
    completeness = doccluster.score("completeness", found, truth=truth).value
    assert doccluster.score("v_measure", found, truth=truth, beta=math.inf).value == completeness


def test_strehl_entropy_can_be_given_the_number_of_classes_of_the_whole():
    subset = doccluster.score("strehl_entropy", [0, 0, 1, 1], truth=[0, 1, 1, 1], n_classes=4).value
    two = doccluster.score("strehl_entropy", [0, 0, 1, 1], truth=[0, 1, 1, 1]).value
    assert 1 - subset == pytest.approx((1 - two) / 2)


def all_partitions(n):
    """Every partition of n documents, as labels in order of appearance."""
    if n == 0:
        yield []
        return
    for shorter in all_partitions(n - 1):
        for label in range(max(shorter, default=-1) + 2):
            yield [*shorter, label]


@pytest.mark.parametrize(("n", "least"), [(3, -0.5), (4, -0.5), (5, -3 / 7)])
def test_least_value_of_the_normalised_hubert_statistic_over_all_pairs_of_partitions(n, least):
    tables = [table_of(found, truth) for found in all_partitions(n) for truth in all_partitions(n)]
    scores = [hubert_discrete_normalized(table) for table in tables]
    assert min(scores) == pytest.approx(least, abs=1e-12)
    assert max(scores) == 1.0
