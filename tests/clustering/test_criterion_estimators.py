"""Clusters by criterion functions and by repeated bisection: their promises, their optima, and the tree."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.cluster.hierarchy import fcluster, is_valid_linkage
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import doccluster
from doccluster.base.plain_values import parse_size
from doccluster.base.validation import unit_rows
from doccluster.clustering import BisectingSphericalKMeans, CriterionClustering, SphericalKMeans
from doccluster.errors import DocclusterWarning, InputError, MemoryLimitError, NothingUsable
from doccluster.geometry import ClusterEvidence
from doccluster.geometry.evidence import NAMES, SMALLEST_IS_BEST, criterion_value
from doccluster.geometry.partition import Partition
from experiments.quality.peak_memory import PeakMemory
from tests.clustering.naive import cluto_matrix


@pytest.mark.filterwarnings("ignore:X has rows that are not of unit length")  # as the checks give them
@parametrize_with_checks(
    [
        CriterionClustering(n_init=2),
        BisectingSphericalKMeans(n_init=2, split="largest", refine=True),
    ]
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


def value_of(criterion, rows, labels):
    return criterion_value(criterion, ClusterEvidence(rows, Partition.from_labels(labels)))


@pytest.fixture(scope="module")
def documents():
    """Unit rows of four topics of very different sizes."""
    rng = np.random.default_rng(3)
    topics = rng.choice(4, p=[0.5, 0.3, 0.15, 0.05], size=200)
    counts = rng.poisson(0.2 + 1.5 * (np.arange(40)[None, :] // 10 == topics[:, None]))
    rows = counts / np.linalg.norm(counts, axis=1, keepdims=True)
    return sparse.csr_array(rows.astype(np.float32)), topics


@pytest.mark.parametrize("criterion", NAMES)
def test_moves_end_at_a_better_criterion_than_spherical_k_means(documents, criterion):
    rows, _ = documents
    model = CriterionClustering(6, criterion=criterion, n_init=5, random_state=0).fit(rows)
    plain = SphericalKMeans(6, n_init=5, random_state=0).fit(rows).labels_
    sign = -1 if criterion in SMALLEST_IS_BEST else 1
    assert sign * model.criterion_value_ > sign * value_of(criterion, rows, plain)
    assert model.criterion_value_ == pytest.approx(value_of(criterion, rows, model.labels_), rel=1e-12)


def test_i2_is_the_objective_of_spherical_k_means(documents):
    rows, _ = documents
    model = CriterionClustering(5, random_state=1).fit(rows)
    assert model.criterion_value_ == pytest.approx(
        doccluster.score("skm_objective", model.labels_, vectors=rows).value, rel=1e-6
    )


@pytest.mark.parametrize("split", ["gain", "largest", "loosest"])
def test_the_topics_are_found_by_bisection(documents, split):
    rows, topics = documents
    model = BisectingSphericalKMeans(4, split=split, random_state=0).fit(rows)
    assert model.tree_.n_clusters == 4
    assert adjusted_rand_score(topics, model.labels_) > (0.95 if split == "gain" else 0.4)
    assert adjusted_rand_score(model.predict(rows), model.labels_) > 0.95


def test_the_cluster_that_is_divided_is_the_one_that_was_asked_for(documents):
    rows, _ = documents
    for split in ("gain", "largest", "loosest"):
        tree = BisectingSphericalKMeans(7, split=split, random_state=2).fit(rows).tree_
        for k in range(2, 7):
            before, after = tree.cut(k), tree.cut(k + 1)
            parts = [np.unique(after[before == cluster]) for cluster in range(k)]
            assert sorted(map(len, parts)) == [1] * (k - 1) + [2]
            chosen = next(cluster for cluster, part in enumerate(parts) if len(part) == 2)
            lengths = np.linalg.norm(np.stack([rows[before == c].sum(axis=0) for c in range(k)]), axis=1)
            if split == "largest":
                assert np.bincount(before)[chosen] == np.bincount(before).max()
            if split == "loosest":
                assert chosen == (lengths / np.bincount(before)).argmin()


def test_every_level_of_the_tree_is_what_scipy_cuts(documents):
    tree = BisectingSphericalKMeans(9, random_state=0).fit(documents[0]).tree_
    joins = tree.linkage()
    assert is_valid_linkage(joins)
    leaves = tree.cut(9)
    for k in range(1, 10):
        theirs = fcluster(joins, 9 - k, criterion="distance")[leaves]  # heights are 1 to 8
        assert adjusted_rand_score(theirs, tree.cut(k)) == 1
    assert tree.sizes[0] == 200
    assert sorted(tree.sizes[np.setdiff1d(np.arange(17), tree.divided)]) == sorted(np.bincount(leaves))


def test_refinement_ends_at_a_better_criterion_than_the_tree(documents):
    rows, _ = documents
    for criterion in ("i2", "h2"):
        tree = BisectingSphericalKMeans(7, criterion=criterion, random_state=0).fit(rows)
        refined = BisectingSphericalKMeans(7, criterion=criterion, refine=True, random_state=0).fit(rows)
        assert np.array_equal(tree.tree_.cut(7), refined.tree_.cut(7))
        values = [value_of(criterion, rows, each.labels_) for each in (tree, refined)]
        assert values[1] > values[0]


@pytest.mark.usefixtures("starts_threads")
@pytest.mark.parametrize("model", [CriterionClustering(5, criterion="h1"), BisectingSphericalKMeans(5, refine=True)])
def test_threads_and_the_form_of_the_matrix_change_no_label(documents, model):
    rows, _ = documents
    labels = [
        model.set_params(random_state=4, n_threads=threads).fit(given).labels_
        for threads, given in ((1, rows), (2, rows), (4, sparse.csc_array(rows)), (1, rows.toarray()))
    ]
    assert all(np.array_equal(labels[0], other) for other in labels[1:])


def test_fewer_distinct_rows_than_clusters_are_told():
    rows = sparse.csr_array(np.repeat(np.eye(3), 4, axis=0))
    for model in (CriterionClustering(5, random_state=0), BisectingSphericalKMeans(5, random_state=0)):
        with pytest.warns(DocclusterWarning, match="distinct rows"):
            assert adjusted_rand_score(model.fit(rows).labels_, np.repeat([0, 1, 2], 4)) == 1


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (CriterionClustering(2, criterion="i3"), "criterion='i3'"),
        (CriterionClustering(2, max_passes=0), "max_passes=0"),
        (BisectingSphericalKMeans(2, split="best"), "split='best'"),
        (BisectingSphericalKMeans(2, criterion="x"), "criterion='x'"),
        (BisectingSphericalKMeans(9), "n_clusters=9 exceeds"),
    ],
)
def test_what_cannot_be_used_is_refused(model, message):
    with pytest.raises(InputError, match=message):
        model.fit(np.eye(4))


def test_a_matrix_without_values_is_refused():
    for model in (CriterionClustering(2), BisectingSphericalKMeans(2), BisectingSphericalKMeans(1)):
        with pytest.raises(NothingUsable):
            model.fit(np.zeros((4, 3)))


@pytest.mark.real
def test_bisection_with_refinement_reaches_more_than_spherical_k_means(real_corpora):
    rows, classes = cluto_matrix(real_corpora / "cluto_matrices", "tr11")
    k = len(set(classes))
    plain = SphericalKMeans(k, random_state=0).fit(rows).labels_
    refined = BisectingSphericalKMeans(k, refine=True, random_state=0).fit(rows).labels_
    assert value_of("i2", rows, refined) > value_of("i2", rows, plain)


def test_the_table_keeps_to_the_memory_that_is_given_or_the_error_says_what_it_needs():
    rows = unit_rows(
        sparse.random_array((300, 20_000), density=0.005, rng=np.random.default_rng(3), format="csr"), warn=False
    )
    with pytest.raises(MemoryLimitError, match=r"too little for a table .*; give \d+\.\dMiB, or leave") as refused:
        CriterionClustering(80, n_init=1, random_state=0, max_memory="1M").fit(rows)
    enough = str(refused.value).split("give ")[1].split(",")[0]
    model = CriterionClustering(80, n_init=1, random_state=0, max_memory=enough)
    free = CriterionClustering(80, n_init=1, random_state=0).fit(rows)
    with PeakMemory() as memory:
        model.fit(rows)
    assert memory.added < parse_size(enough)
    assert np.array_equal(model.labels_, free.labels_)
