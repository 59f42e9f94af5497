"""Agglomerative clustering of sparse rows beside scipy's linkage of dense distances, and Buckshot starts."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.cluster import hierarchy
from scipy.spatial.distance import pdist
from sklearn.cluster import AgglomerativeClustering as TheirClustering
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from doccluster.clustering import AgglomerativeClustering
from doccluster.clustering.hierarchical.agglomeration import LINKAGES, agglomerate, cut_tree
from doccluster.errors import InputError, MemoryLimitError
from tests.clustering.naive import cluto_matrix


@pytest.mark.filterwarnings("ignore:X has rows that are not of unit length")  # as the checks give them
@parametrize_with_checks([AgglomerativeClustering(linkage="ward")])  # other linkages take the same rows
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def documents():
    """Unit rows of four topics, no two alike."""
    rng = np.random.default_rng(12)
    topics = rng.integers(4, size=150)
    dense = rng.poisson(0.2 + 1.5 * (np.arange(40)[None, :] // 10 == topics[:, None])) * rng.uniform(
        0.9, 1.1, (150, 40)
    )
    return sparse.csr_array(dense / np.linalg.norm(dense, axis=1, keepdims=True)), topics


def theirs(rows, linkage):
    metric = "euclidean" if linkage == "ward" else "cosine"
    return hierarchy.linkage(pdist(rows.toarray(), metric), linkage)


@pytest.mark.parametrize("linkage", LINKAGES)
def test_the_tree_is_that_of_scipy(documents, linkage):
    rows, _ = documents
    found, expected = agglomerate(rows, linkage), theirs(rows, linkage)
    assert found[:, 2] == pytest.approx(expected[:, 2], abs=1e-5)
    assert np.array_equal(found[:, [0, 1, 3]], expected[:, [0, 1, 3]])
    assert hierarchy.is_valid_linkage(found)


def joined_sets(tree, k):
    """The partition before the last joins, from sets of documents; scipy's own cut errs where distances fall."""
    sets = {i: {i} for i in range(len(tree) + 1)}
    for step, (one, two) in enumerate(tree[: len(tree) + 1 - k, :2].astype(int)):
        sets[len(tree) + 1 + step] = sets.pop(one) | sets.pop(two)
    labels = np.empty(len(tree) + 1, int)
    for number, members in enumerate(sets.values()):
        labels[list(members)] = number
    return labels


@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize("k", [1, 2, 7, 60, 150])
def test_cutting_the_tree_gives_the_partition_before_the_last_joins(documents, linkage, k):
    rows, _ = documents
    expected = joined_sets(theirs(rows, linkage), k)
    assert adjusted_rand_score(hierarchy.cut_tree(theirs(rows, linkage), k).ravel(), expected) == 1
    found = cut_tree(agglomerate(rows, linkage), k)
    assert adjusted_rand_score(expected, found) == 1
    first = [np.flatnonzero(found == cluster)[0] for cluster in range(k)]
    assert first == sorted(first)


@pytest.mark.parametrize(("linkage", "metric"), [("average", "cosine"), ("complete", "cosine"), ("ward", "euclidean")])
def test_the_clusters_are_those_of_scikit_learn(documents, linkage, metric):
    rows, topics = documents
    model = AgglomerativeClustering(4, linkage=linkage).fit(rows)
    peer = TheirClustering(4, linkage=linkage, metric=metric).fit(rows.toarray())
    assert adjusted_rand_score(peer.labels_, model.labels_) == 1
    assert adjusted_rand_score(topics, model.labels_) > 0.8
    assert model.children_.shape == peer.children_.shape
    assert adjusted_rand_score(model.predict(rows), topics) > 0.8


@pytest.mark.usefixtures("starts_threads")
@pytest.mark.parametrize("linkage", LINKAGES)
def test_threads_and_the_form_of_the_matrix_change_nothing(documents, linkage):
    rows, _ = documents
    trees = [agglomerate(rows, linkage, n_threads=n) for n in (1, 2, 4)]
    trees.append(AgglomerativeClustering(3, linkage=linkage).fit(rows.toarray()).linkage_)
    assert all(np.array_equal(trees[0], other) for other in trees[1:])


@pytest.mark.parametrize("linkage", LINKAGES)
def test_copies_and_rows_without_terms_are_joined_sensibly(linkage):
    rows = sparse.csr_array([[1.0, 0.0, 0.0]] * 3 + [[0.0, 0.0, 0.0]] * 2 + [[0.0, 0.6, 0.8]] * 2)
    joins = agglomerate(rows, linkage)
    alike = 4 if linkage == "ward" else 3  # the cosine of rows without terms is 0 to one another too
    assert joins[:alike, 2] == pytest.approx(0, abs=1e-6)
    assert np.isfinite(joins).all()
    assert joins[-1, 3] == 7
    found = cut_tree(joins, 7 - alike)
    assert found[0] == found[1] == found[2] != found[5] == found[6]
    assert found[3] not in found[[0, 5]]


@pytest.mark.parametrize("linkage", LINKAGES)
def test_one_document_and_two_have_a_tree(linkage):
    assert agglomerate(sparse.csr_array([[1.0, 0.0]]), linkage).shape == (0, 4)
    two = agglomerate(sparse.csr_array([[1.0, 0.0], [0.0, 1.0]]), linkage)
    assert two == pytest.approx(np.array([[0, 1, np.sqrt(2) if linkage == "ward" else 1.0, 2]]), abs=1e-6)


def test_what_does_not_fit_is_refused_with_what_would_do(documents):
    with pytest.raises(MemoryLimitError, match="150 documents need max_memory='44 KiB'"):
        agglomerate(documents[0], max_memory="10K")
    agglomerate(documents[0], max_memory="44K")


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (AgglomerativeClustering(2, linkage="median"), "linkage='median'"),
        (AgglomerativeClustering(9), "n_clusters=9 exceeds"),
    ],
)
def test_what_cannot_be_used_is_refused(model, message):
    with pytest.raises(InputError, match=message):
        model.fit(np.eye(4))
    with pytest.raises(InputError, match="n_clusters=5 is not a level"):
        AgglomerativeClustering(2).fit(np.eye(4)).cut(5)


@pytest.mark.real
def test_a_real_set_has_scipys_tree(real_corpora):
    rows, _ = cluto_matrix(real_corpora / "cluto_matrices", "tr12")
    for linkage in ("average", "ward"):
        assert agglomerate(rows, linkage)[:, 2] == pytest.approx(theirs(rows, linkage)[:, 2], abs=2e-5)
