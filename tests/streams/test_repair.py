"""Repair of stories: the halves in which a story may be split."""

from __future__ import annotations

import numpy as np

from doccluster.streams.frequencies import WeightedTerms
from doccluster.streams.repair import halves_of


def articles(rng, n_articles, n_groups):
    """Unit vectors in groups with terms of their own, and terms that all share; some are copies of others."""
    found = []
    for number in range(n_articles):
        group = int(rng.integers(n_groups))
        own = 40 * group + rng.choice(40, size=12, replace=False)
        shared = 400 + rng.choice(60, size=int(rng.integers(3, 25)), replace=False)
        ids = rng.permutation(np.concatenate([own, shared])).astype(np.int32)
        values = rng.random(ids.size)
        one = WeightedTerms(ids, (values / np.linalg.norm(values)).astype(np.float32))
        found.append(found[int(rng.integers(number))] if number and rng.random() < 0.1 else one)
    return found


def test_the_halves_of_a_story_are_its_two_groups():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        one, other = (articles(rng, 9, 1) for _ in range(2))
        other = [WeightedTerms(own.ids + 1000, own.values) for own in other]
        halves = halves_of([*one, *other])
        assert [set(halves[:9]), set(halves[9:])] in ([{0}, {1}], [{1}, {0}])


def test_articles_that_are_all_the_same_or_empty_are_not_halved():
    rng = np.random.default_rng(1)
    one = articles(rng, 1, 1)[0]
    empty = WeightedTerms(np.empty(0, dtype=np.int32), np.empty(0, dtype=np.float32))
    assert halves_of([one] * 7) == [0] * 7
    assert halves_of([one, *articles(rng, 5, 2), empty]) == [0] * 7
