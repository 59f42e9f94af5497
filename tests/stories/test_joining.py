"""The joining of stories and the cutting of the tree, against loops that follow the sentences of the docs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from doccluster.stories.dump import cut_where_stable, join_stories, stories_in
from doccluster.stories.likeness import DAY, Crowd


def naive_likeness(likeness, times, window, young, one, other):
    """Likeness of two lists of articles, None where no pair is within the window."""
    pairs = [(i, j) for i in one for j in other if abs(times[i] - times[j]) <= window]
    if not pairs:
        return None
    values = [likeness[i, j] for i, j in pairs]
    mean = sum(values) / len(pairs) * len(pairs) ** 0.25
    return (0.8 * mean + 0.2 * max(values)) / (1 + young / len(pairs))


def naive_joins(likeness, times, window, bar, young):
    """All joins, as (articles of one side, of the other, likeness)."""
    stories = [[i] for i in range(len(times))]
    joins = []
    while True:
        best = None
        for a in range(len(stories)):
            for b in range(a + 1, len(stories)):
                value = naive_likeness(likeness, times, window, young, stories[a], stories[b])
                if value is not None and value >= bar and (best is None or value > best[0]):
                    best = value, a, b
        if best is None:
            return joins
        value, a, b = best
        joins.append((sorted(stories[a]), sorted(stories[b]), value))
        joined = stories[a] + stories[b]
        stories = [one for place, one in enumerate(stories) if place not in (a, b)] + [joined]


def random_articles(seed, n=24):
    rng = np.random.default_rng(seed)
    times = np.sort(rng.integers(0, 6 * DAY, n))
    likeness = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.4), 1)
    likeness[np.abs(times[:, None] - times) > 3 * DAY] = 0
    return times, likeness + likeness.T


def joined(likeness, times, bar, young):
    graph = sparse.csr_array(likeness)
    return join_stories(
        graph.indptr.astype(np.int64), graph.indices.astype(np.int64), graph.data, times, 3 * DAY, bar, young
    )


def random_hub(seed, n=40):
    """An article that all others are like, within a day: nearly all pairs that are put into the heap become stale."""
    rng = np.random.default_rng(seed)
    likeness = np.zeros((n, n))
    likeness[0, 1:] = likeness[1:, 0] = rng.random(n - 1)
    return np.sort(rng.integers(0, DAY, n)), likeness


@pytest.mark.parametrize(
    ("articles", "seed", "bar", "young"),
    [*((random_articles, seed, 0.18, 0.5) for seed in range(6)), (random_hub, 0, 1e-9, 5.0)],
)
def test_the_likest_two_stories_are_joined_first_until_none_reach_the_bar(articles, seed, bar, young):
    times, likeness = articles(seed)
    left, right, heights = joined(likeness, times, bar, young)
    members = {i: [i] for i in range(times.size)}
    made = []
    for place, (one, other, height) in enumerate(zip(left, right, heights, strict=True)):
        members[times.size + place] = members[one] + members[other]
        made.append(({tuple(sorted(members[one])), tuple(sorted(members[other]))}, height))
    expected = naive_joins(likeness, times, 3 * DAY, bar, young)
    assert len(made) == len(expected) > 5
    for (sides, height), (one, other, value) in zip(made, expected, strict=True):
        assert sides == {tuple(one), tuple(other)}
        assert height == pytest.approx(value, rel=1e-9)


def test_two_sides_come_apart_where_their_own_lives_are_longer_together():
    # two groups of three at .9, joined at .2; the bar is .1: lives 3 x .7 twice against 6 x .1
    left, right = np.array([0, 6, 3, 8, 7]), np.array([1, 2, 4, 5, 9])
    heights = np.array([0.9, 0.9, 0.9, 0.9, 0.2])
    stories = cut_where_stable(6, left, right, heights, 0.1)
    assert len(set(stories[:3])) == len(set(stories[3:])) == 1
    assert stories[0] != stories[3]


def test_two_sides_stay_together_where_the_whole_lives_longer():
    # joined at .8: lives 3 x .1 twice against 6 x .7
    left, right = np.array([0, 6, 3, 8, 7]), np.array([1, 2, 4, 5, 9])
    stories = cut_where_stable(6, left, right, np.array([0.9, 0.9, 0.9, 0.9, 0.8]), 0.1)
    assert len(set(stories)) == 1


def test_a_story_goes_on_while_it_takes_in_fewer_than_three_at_a_time():
    # a pair joins a story of three at .2: the life goes on, so nothing comes apart
    left, right = np.array([0, 5, 3, 6]), np.array([1, 2, 4, 7])
    stories = cut_where_stable(5, left, right, np.array([0.9, 0.9, 0.9, 0.2]), 0.1)
    assert len(set(stories)) == 1


def test_no_article_and_one_article_have_their_stories():
    crowd = Crowd(3 * DAY, 0.1, 0.0)
    for n in (0, 1):
        assert stories_in(sparse.csr_array((n, n)), np.zeros(n, np.int64), crowd).tolist() == list(range(n))


@pytest.mark.parametrize(
    ("n_in_72_hours", "window_days", "bar"), [(3, 21, 0.06), (18, 16.6, 0.06), (240, 3, 0.098), (2400, 3, 0.166)]
)
def test_window_and_bar_follow_the_crowd(n_in_72_hours, window_days, bar):
    times = np.arange(0, 60 * DAY, 3 * DAY // n_in_72_hours)
    crowd = Crowd.of(times)
    assert crowd.window / DAY == pytest.approx(window_days, abs=0.1)
    assert crowd.bar == pytest.approx(bar, abs=0.012)
