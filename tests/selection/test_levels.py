"""Which levels of communities come back, and which of them are taken for topics and for subtopics."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

from doccluster.geometry.neighbours import neighbour_edges
from doccluster.selection.levels import (
    Level,
    _usual,
    adjusted_rand,
    agreement_of_parts,
    between,
    few_among,
    find_levels,
    find_structure,
    finer_wanted,
    middle_among,
    split_terms,
    subtopics_among,
    sure_from,
    topics_among,
)
from doccluster.synthetic import make_sparse_vmf, make_vmf_mixture


def level(sizes, agreement, *, resolution=1.0):
    return Level(resolution, np.repeat(np.arange(len(sizes)), sizes), agreement)


def even(k, agreement, *, n_nodes=600):
    return level([n_nodes // k] * k, agreement)


def test_agreement_is_the_mean_adjusted_rand_of_what_pairs_of_parts_share():
    rng = np.random.default_rng(0)
    drawn = [np.sort(rng.choice(50, 35, replace=False)) for _ in range(4)]
    labels = [rng.integers(0, 5, 35) for _ in range(4)]
    expected = []
    for one, other in itertools.combinations(range(4), 2):
        shared, a, b = np.intersect1d(drawn[one], drawn[other], return_indices=True)
        assert shared.size > 10
        expected.append(adjusted_rand_score(labels[one][a], labels[other][b]))
    assert agreement_of_parts(drawn, labels, 50) == pytest.approx(np.mean(expected))


@pytest.mark.parametrize("n_clusters", [1, 3, 40, 400])
def test_clusterings_agree_as_in_scikit_learn_however_many_clusters_there_are(n_clusters):
    rng = np.random.default_rng(n_clusters)
    first, second = rng.integers(0, n_clusters, 500), 2 * rng.integers(0, 7, 500)  # numbers without documents too
    assert adjusted_rand(first, second) == pytest.approx(adjusted_rand_score(first, second), abs=1e-12)
    assert adjusted_rand(first, first) == 1.0


def test_a_node_alone_is_no_cluster():
    assert level([5, 3, 1, 1], 0.5).n_clusters == 2
    assert level([5, 3, 1, 1], 0.5).largest == 0.5


def test_topics_are_the_coarsest_level_without_a_heap_that_comes_back():
    heap = level([400, 100, 100], 0.8)
    assert topics_among([heap, even(6, 0.7), even(12, 0.8), even(30, 0.5)]).n_clusters == 6
    assert topics_among([heap, even(6, 0.2), even(8, 0.2), even(12, 0.8), even(30, 0.8)]).n_clusters == 12


def test_a_large_cluster_of_a_level_that_comes_back_almost_exactly_is_no_heap():
    sure = [level([400, 100, 100], 0.97), level([400, 100, 100], 0.97), even(12, 0.8)]
    assert topics_among(sure).n_clusters == 3


def test_a_heap_of_at_most_half_is_none_where_its_level_comes_back_far_more_than_those_without():
    finer = [even(20, 0.7), even(40, 0.68)]
    assert topics_among([level([230, 130, 120, 120], 0.85), *finer]).n_clusters == 4
    assert topics_among([level([230, 130, 120, 120], 0.78), *finer]).n_clusters == 20
    assert topics_among([level([310, 100, 100, 90], 0.94), *finer]).n_clusters == 20


def test_topics_need_more_where_sections_come_back_as_well_and_where_documents_are_few():
    weak, strong, topics = even(6, 0.4, n_nodes=3_000), even(6, 0.8, n_nodes=3_000), even(30, 0.8, n_nodes=3_000)
    assert sure_from(weak, topics) == pytest.approx(0.526 + 0.5 / 3)
    assert sure_from(strong, topics) == pytest.approx(0.526 + 1 / 3)
    assert sure_from(weak, even(30, 0.8, n_nodes=1_000)) == pytest.approx(sure_from(weak, topics), abs=1e-3)
    assert sure_from(weak, even(30, 0.8, n_nodes=300)) > sure_from(weak, topics) + 0.07


def test_of_several_starts_the_median_is_taken_unless_parts_of_the_documents_say_otherwise():
    def start_of(k, of_parts):
        return [replace(even(k, 0.8), parts=tuple(even(n, 0.8) for n in of_parts))]

    def usual(*numbers, of_parts):
        starts = iter([start_of(k, of_parts) for k in numbers])
        return _usual(lambda: next(starts), 600, topics_among)[0].n_clusters

    assert usual(10, 5, 6, of_parts=[6, 8, 8]) == 6
    assert usual(10, 5, 6, of_parts=[12, 12, 10]) == 10
    assert usual(10, 5, 6, of_parts=[]) == 6


def test_parts_are_kept_where_they_are_asked_for():
    graph = neighbour_edges(make_vmf_mixture(200, 20, 4, kappa=60, random_state=1).vectors.matrix)
    plain, kept = (
        find_levels(graph, [1.0], with_parts=with_parts, rng=np.random.default_rng(0))[0]
        for with_parts in (False, True)
    )
    assert plain.parts == ()
    assert plain.labels.tolist() == kept.labels.tolist()
    assert [part.labels.size for part in kept.parts] == [140] * 8
    assert [part.n_clusters for part in kept.parts] == [4] * 8


def test_a_community_much_smaller_than_the_mean_is_no_topic():
    assert replace(level([300, 200, 90, 6, 4, 1], 0.5), smallest=0.15).n_clusters == 3


def test_where_little_comes_back_there_are_few_clusters():
    heap, weak = level([400, 100, 100], 0.6), [even(6, 0.2), even(12, 0.4), even(30, 0.45), even(60, 0.6)]
    assert topics_among([heap, *weak]).n_clusters == 30
    assert few_among([heap, *weak], topics_among([heap, *weak])).n_clusters == 12
    sure = [even(6, 0.5), even(12, 0.7), even(30, 0.75)]
    assert few_among(sure, topics_among(sure)) is topics_among(sure)
    assert few_among([even(30, 0.3)], even(30, 0.3)).n_clusters == 30  # there are none of few clusters
    assert few_among([], None) is None


def test_stories_are_the_finest_of_the_levels_that_come_back_most():
    found = [even(10, 0.5), even(20, 0.78), even(30, 0.8), even(40, 0.79), even(60, 0.77), even(100, 0.6)]
    assert subtopics_among(found).n_clusters == 60
    assert subtopics_among([even(400, 1.0, n_nodes=400)]) is None


def test_stories_are_no_fewer_than_topics():
    found = [even(5, 0.98), even(8, 0.97), even(20, 0.6), even(30, 0.5)]
    assert subtopics_among(found).n_clusters == 8
    assert subtopics_among(found, even(11, 0.7)).n_clusters == 20
    assert subtopics_among(found, even(40, 0.7)) is None


def test_a_level_between_two_is_told_where_it_comes_back_better_and_is_apart_from_both():
    coarse, middle, fine = even(6, 0.65), even(30, 0.8), even(200, 0.7)
    found = [coarse, even(10, 0.65), middle, even(60, 0.7)]
    assert between(found, coarse, fine) is middle
    assert between(found, coarse, even(40, 0.9)) is None
    sure = [coarse, *(replace(level, agreement=0.95) for level in found[1:])]
    assert between(sure, coarse, even(40, 0.9)).n_clusters == 30, "topics that are shown may be nearer to subtopics"
    assert between(sure, coarse, even(35, 0.9)) is None
    assert between(found, even(25, 0.7), fine) is None
    as_good = even(6, 0.79)
    assert between([as_good, *found[1:]], as_good, fine) is None
    assert between([coarse, even(10, 0.55)], coarse, fine) is None
    assert between([coarse], even(40, 0.7), fine) is None
    assert between(found, None, fine) is None
    assert between(found, coarse, None) is None


def test_a_middle_level_is_told_where_none_of_20_to_60_is_and_it_comes_back():
    found = [even(8, 0.7, n_nodes=2400), even(24, 0.69, n_nodes=2400), even(40, 0.71, n_nodes=2400)]
    coarse, fine = found[0], even(200, 0.75, n_nodes=2400)
    assert middle_among([*found, fine], coarse, None).n_clusters == 24
    assert middle_among([*found, fine], coarse, fine).n_clusters == 24
    assert middle_among([*found, fine], coarse, found[2]) is None, "there is one of that size"
    assert middle_among([*found, fine], found[1], None) is None
    assert middle_among([*found, even(200, 0.97, n_nodes=2400)], coarse, None) is None, "it comes back far less"
    assert middle_among([replace(level, agreement=0.59) for level in found], coarse, None) is None
    assert middle_among([even(8, 0.7), even(24, 0.7, n_nodes=480)], even(8, 0.7, n_nodes=480), None) is None, "few"
    assert middle_among(found, even(18, 0.7, n_nodes=2400), None).n_clusters == 40
    assert middle_among([], None, None) is None


def test_finer_levels_are_looked_at_while_the_finest_is_the_best_and_comes_back():
    assert finer_wanted([even(10, 0.7), even(20, 0.8)])
    assert not finer_wanted([even(10, 0.8), even(20, 0.7)])
    assert not finer_wanted([even(10, 0.4), even(20, 0.5)])


def test_levels_of_planted_directions_come_back():
    points = make_vmf_mixture(600, 50, 12, kappa=150, random_state=1)
    levels = find_levels(neighbour_edges(points.vectors.matrix), [0.5, 1.0, 2.0], rng=np.random.default_rng(0))
    assert [one.n_clusters for one in levels] == [12, 12, 12]
    assert all(one.agreement > 0.95 for one in levels)
    assert adjusted_rand_score(points.truth, levels[1].labels) > 0.95


@pytest.mark.usefixtures("starts_threads")
def test_levels_do_not_depend_on_the_number_of_threads():
    graph = neighbour_edges(make_vmf_mixture(200, 20, 4, kappa=20, random_state=1).vectors.matrix)
    one, three = (find_levels(graph, [1.0, 4.0], rng=np.random.default_rng(0), n_threads=n) for n in (1, 3))
    for here, there in zip(one, three, strict=True):
        assert here.labels.tolist() == there.labels.tolist()
        assert here.agreement == there.agreement


@pytest.mark.parametrize("form", ["dense", "sparse", "signed"])
def test_edges_join_each_row_with_its_nearest(form):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(30, 6)) if form == "dense" else rng.random((30, 6)) * (rng.random((30, 6)) < 0.7)
    if form == "signed":
        rows *= np.where(rng.random((30, 6)) < 0.5, -1, 1)
    rows[:, 0] += 0.1
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    found = neighbour_edges(rows if form == "dense" else sparse.csr_array(rows), 3).toarray()
    if form == "signed":  # those that share signs
        rows = np.hstack([np.maximum(rows, 0), np.maximum(-rows, 0)])
    cosines = rows @ rows.T
    np.fill_diagonal(cosines, -np.inf)
    nearest = np.zeros_like(found, dtype=bool)
    np.put_along_axis(nearest, np.argsort(-cosines, axis=1)[:, :3], True, axis=1)
    nearest |= nearest.T
    shares = nearest & (cosines > 0)
    np.testing.assert_allclose(found[shares], cosines[shares], rtol=1e-5)
    assert found[~nearest].max() == 0


def test_the_halves_share_no_term_and_say_about_as_much():
    rows = make_sparse_vmf(600, 20_000, 10, mean_resultant_length=0.35, random_state=3).vectors.matrix
    marked = sparse.csr_array((np.ones(rows.nnz), rows.indices, rows.indptr), shape=rows.shape)
    first, second, filled = split_terms(marked, np.random.default_rng(0))
    assert first.shape[1] + second.shape[1] == np.unique(rows.indices).size
    assert abs(first.nnz - second.nnz) < 0.01 * rows.nnz
    assert filled.size == first.shape[0] == second.shape[0]


def test_halves_of_planted_directions_agree_and_halves_of_noise_do_not():
    rng = np.random.default_rng(0)
    there = find_structure(make_vmf_mixture(400, 50, 6, kappa=60, random_state=1).vectors.matrix, rng)
    noise = find_structure(make_vmf_mixture(400, 50, 1, kappa=60, random_state=1).vectors.matrix, rng)
    assert there.is_there
    assert there.deviations > 50
    assert not noise.is_there
    assert noise.deviations < 5
