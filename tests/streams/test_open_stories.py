"""Open stories and the index of their articles: products as by hand, and what a story is named by."""

from __future__ import annotations

import numpy as np
import pytest

from doccluster.streams.article_index import ArticleIndex
from doccluster.streams.frequencies import WeightedTerms
from doccluster.streams.joining import shipped_coefficients
from doccluster.streams.open_stories import OpenStories
from doccluster.streams.settings import DAY, HOUR, StreamSettings
from doccluster.streams.story import Member, Story

N_TERMS = 300


def vector(rng):
    ids = rng.choice(N_TERMS, size=int(rng.integers(1, 40)), replace=False).astype(np.int32)
    values = rng.random(ids.size) + 0.01
    return WeightedTerms(ids, (values / np.linalg.norm(values)).astype(np.float32))


def dense(one):
    row = np.zeros(N_TERMS)
    row[one.ids] = one.values
    return row


def test_products_are_those_by_hand_also_after_slots_were_given_up():
    rng = np.random.default_rng(1)
    index, held = ArticleIndex(), {}
    for step in range(3000):
        if held and rng.random() < 0.45:
            slot = int(rng.choice(list(held)))
            del held[slot]
            index.give_up(slot)
        one = vector(rng)
        slot = index.add(one)
        assert slot not in held
        held[slot] = one
        if step % 500 == 499:
            asked = vector(rng)
            products = index.products(asked)
            for slot, other in held.items():
                assert products[slot] == pytest.approx(dense(asked) @ dense(other), abs=1e-12)


def test_the_arena_holds_little_more_than_the_postings_however_often_lists_were_moved():
    rng = np.random.default_rng(4)
    index = ArticleIndex()
    n_postings = 0
    for _ in range(4000):
        one = vector(rng)
        index.add(one)
        n_postings += one.ids.size
    assert int(index._lists[:, 1].sum()) == n_postings > 30_000
    assert index._slots.size <= 1.5 * n_postings + 2 * 4000


@pytest.fixture
def crowd():
    """Two hundred stories of up to nine members, in three languages, some closed."""
    rng = np.random.default_rng(2)
    stories = OpenStories(StreamSettings(), shipped_coefficients())
    number = 0
    for place in range(200):
        times = np.sort(rng.integers(0, 12 * DAY, size=int(rng.integers(1, 10)))).tolist()
        story = Story(f"s{place:03}", "", times[0], times[0], times[-1], ("", "english", "german")[place % 3])
        story.touched, base = times[-1], vector(rng)
        for time in times:
            number += 1
            story.members.append(Member(number, number, "", time, base if rng.random() < 0.5 else vector(rng)))
        story.n_families = len(times)
        stories.open_new(story)
        if place % 10 == 0:
            stories.close(story)
    return stories


def test_likeness_does_not_depend_on_where_articles_lie_in_the_index(crowd):
    rng = np.random.default_rng(3)
    asked = [vector(rng) for _ in range(20)]
    before = [crowd.compare(one, time=6 * DAY, language="").scores.copy() for one in asked]
    for story in list(crowd):
        crowd.replace(story, story.members)
    after = [crowd.compare(one, time=6 * DAY, language="").scores for one in asked]
    assert all((one == other).all() for one, other in zip(before, after, strict=True))


def test_a_large_story_is_no_nearer_than_a_small_one_of_the_same_articles():
    rng = np.random.default_rng(5)
    stories = OpenStories(StreamSettings(), shipped_coefficients())
    base, asked = vector(rng), vector(rng)
    for name, size in (("small", 2), ("large", 60)):
        members = [Member(one, one, "", 0, base) for one in range(1, size + 1)]
        stories.open_new(Story(name, "", 0, 0, 0, "", members=members, n_families=size))
    found = [stories.match(stories.open[name], asked, time=HOUR, language="") for name in ("small", "large")]
    assert found[0].likeness == pytest.approx(found[1].likeness)
    assert found[0].score == pytest.approx(found[1].score)


def test_the_stories_that_have_ended_are_the_open_ones_that_were_not_touched_for_long_enough(crowd):
    for time in (0, 4 * DAY, 8.5 * DAY, 20 * DAY):
        by_hand = [story for story in crowd if story.touched + story.wait(crowd.settings) <= time]
        assert crowd.ended_by(time) == sorted(by_hand, key=lambda one: (one.touched, one.id))


def test_a_story_is_named_anew_once_a_day_by_a_newer_article_that_says_as_much():
    rng = np.random.default_rng(6)
    stories = OpenStories(StreamSettings(), shipped_coefficients())
    base = vector(rng)
    story = Story("s", "", 0, 0, 0, "", members=[Member(1, 1, "", 0, base)], n_families=1)
    stories.open_new(story)
    stories.choose_lead(story, 0)
    leads = []
    for number in range(2, 40):
        story.last = number * HOUR
        stories.add(story, Member(number, number, "", story.last, base))
        stories.choose_lead(story, story.last)
        leads.append(story.lead)
    assert leads[0] == 1
    assert leads[-1] > 20
    assert len(set(leads)) == 2
