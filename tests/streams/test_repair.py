"""Repair of stories: the quick 2-means gives what the general algorithm gives."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from doccluster.clustering import SphericalKMeans
from doccluster.streams.frequencies import WeightedTerms
from doccluster.streams.repair import N_STARTS, halves_of


def articles(rng, n_articles, n_groups):
    """Unit vectors in groups with terms of their own, and terms that all share; some are copies of others."""
    found = []
    for number in range(n_articles):
        group = int(rng.integers(n_groups))
        own = 40 * group + rng.choice(40, size=12, replace=False)
        shared = 400 + rng.choice(60, size=int(rng.integers(3, 25)), replace=False)
        ids = rng.permutation(np.concatenate([own, shared])).astype(np.int32)
        values = np.repeat(rng.random(ids.size)[:, None], 3, axis=1)
        one = WeightedTerms(ids, (values / np.linalg.norm(values[:, 1])).astype(np.float32))
        found.append(found[int(rng.integers(number))] if number and rng.random() < 0.1 else one)
    return found


@pytest.mark.parametrize("n_groups", [1, 2, 3])
def test_the_halves_of_a_story_are_the_clusters_of_spherical_2_means(n_groups):
    for seed in range(25):
        rng = np.random.default_rng(seed)
        vectors = articles(rng, int(rng.integers(6, 60)), n_groups)
        ids = np.concatenate([one.ids for one in vectors])
        values = np.concatenate([one.values[:, 1] for one in vectors])
        ends = np.cumsum([0, *(one.ids.size for one in vectors)])
        rows = sparse.csr_array((values, ids, ends), shape=(len(vectors), 460))
        rows.sort_indices()
        by_hand = SphericalKMeans(2, n_init=N_STARTS, random_state=0, n_threads=1).fit(rows)
        assert halves_of(vectors) == by_hand.labels_.tolist()


def test_articles_that_are_all_the_same_or_empty_are_not_halved():
    rng = np.random.default_rng(1)
    one = articles(rng, 1, 1)[0]
    empty = WeightedTerms(np.empty(0, dtype=np.int32), np.empty((0, 3), dtype=np.float32))
    assert halves_of([one] * 7) == [0] * 7
    assert halves_of([one, *articles(rng, 5, 2), empty]) == [0] * 7
