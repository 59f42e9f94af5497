"""The index of open stories: sums as by hand, and the pruned search finds what a full scan finds."""

from __future__ import annotations

import numpy as np
import pytest

from doccluster.streams.frequencies import WeightedTerms
from doccluster.streams.joining import shipped_coefficients
from doccluster.streams.open_stories import OpenStories
from doccluster.streams.settings import DAY, StreamSettings
from doccluster.streams.story import Member, Story
from doccluster.streams.story_index import StoryIndex

N_TERMS = 300


def vectors(rng):
    ids = rng.choice(N_TERMS, size=int(rng.integers(1, 40)), replace=False).astype(np.int32)
    values = rng.random((ids.size, 3)) * (rng.random((ids.size, 3)) < 0.7)
    if rng.random() < 0.2:
        values[:, 0] = 0
    values[0, 1] = 1
    lengths = np.sqrt((values**2).sum(axis=0))
    return WeightedTerms(ids, (values / np.where(lengths > 0, lengths, 1)).astype(np.float32))


def dense(one):
    row = np.zeros((N_TERMS, 3))
    row[one.ids] = one.values
    return row


def test_the_arena_holds_little_more_than_the_postings_however_often_lists_were_moved():
    rng = np.random.default_rng(4)
    index = StoryIndex()
    slots = [index.take_slot() for _ in range(400)]
    held = set()
    for step in range(4000):
        one, slot = vectors(rng), slots[step % 400]
        index.add(slot, one, 1.0)
        held |= {(int(term), slot) for term in one.ids}
    n_postings = int(index._lists[:, 1].sum())
    assert n_postings == len(held) > 30_000
    assert index._slots.size <= 1.5 * n_postings + 2 * 400


def test_sums_and_products_are_those_by_hand_also_after_slots_were_given_up():
    rng = np.random.default_rng(1)
    index, sums = StoryIndex(), {}
    for step in range(3000):
        if sums and rng.random() < 0.2:
            slot = int(rng.choice(list(sums)))
            del sums[slot]
            index.give_up(slot)
        slot = index.take_slot() if not sums or rng.random() < 0.4 else int(rng.choice(list(sums)))
        one, factor = vectors(rng), float(rng.random() * 4)
        sums[slot] = sums.get(slot, np.zeros((N_TERMS, 3))) + factor * dense(one)
        index.add(slot, one, factor)
        if step % 500 == 499:
            asked = vectors(rng)
            products, has_field = index.products(asked)
            assert has_field.tolist() == asked.has_field.tolist()
            for slot, total in sums.items():
                by_hand = (total * dense(asked)).sum(axis=0)
                np.testing.assert_allclose(products[:, slot], by_hand, rtol=1e-9, atol=1e-12)
                np.testing.assert_allclose(index.squares[slot], (total**2).sum(axis=0), rtol=1e-9, atol=1e-12)


@pytest.fixture
def crowd():
    """Two hundred stories of up to nine members, in three languages, some closed."""
    rng = np.random.default_rng(2)
    stories = OpenStories(StreamSettings(), shipped_coefficients())
    number = 0
    for place in range(200):
        times = np.sort(rng.integers(0, 12 * DAY, size=int(rng.integers(1, 10)))).tolist()
        story = Story(f"s{place:03}", "", times[0], times[0], times[0], times[0], ("", "english", "german")[place % 3])
        base = vectors(rng)
        for time in times:
            number += 1
            own = base if rng.random() < 0.5 else vectors(rng)
            member = Member(number, number, "", time, own)
            story.n_families += 1
            story.last = story.touched = max(story.last, time)
            if story.members:
                stories.add(story, member)
            else:
                story.members.append(member)
                stories.open_new(story)
        if place % 10 == 0:
            stories.close(story)
    return stories


def is_near(story, time):
    wait = story.wait(StreamSettings())
    return story.first - wait < time < story.last + wait


@pytest.mark.parametrize("cut", [-4.0, -1.0, 0.0, 2.0])
def test_the_pruned_search_finds_what_a_full_scan_finds(crowd, cut):
    rng = np.random.default_rng(3)
    n_found = 0
    for _ in range(60):
        donor = list(crowd)[int(rng.integers(len(crowd.open)))]
        own = donor.members[-1].vectors if rng.random() < 0.7 else vectors(rng)
        time = int(rng.integers(0, 14 * DAY))
        language = ("", "english", "german")[int(rng.integers(3))]
        found, products = crowd.matches(own, time=time, language=language, cut=cut)
        products = products.copy()
        wanted = [crowd.match(story, own, time=time, language=language) for story in crowd]
        wanted = [
            one
            for one in wanted
            if one.score >= cut
            and products[1, one.story.slot] > 0
            and (not language or one.story.language in ("", language))
            and is_near(one.story, time)
        ]
        assert {one.story.id for one in found} == {one.story.id for one in wanted}
        assert [one.score for one in found] == sorted((one.score for one in wanted), reverse=True)
        n_found += len(found)
    assert n_found > 20


def test_the_cosine_with_the_newest_members_is_that_by_hand(crowd):
    rng = np.random.default_rng(4)
    own = vectors(rng)
    for story in crowd:
        newest = sorted(story.members, key=lambda one: (-one.time, -one.number))[:5]
        by_hand = max(float((dense(own)[:, 1] * dense(one.vectors)[:, 1]).sum()) for one in newest)
        assert crowd.match(story, own, time=0).likeness.near == pytest.approx(by_hand, abs=1e-12)


def test_the_stories_that_have_ended_are_the_open_ones_that_were_not_touched_for_long_enough(crowd):
    for time in (0, 4 * DAY, 8.5 * DAY, 20 * DAY):
        by_hand = [story for story in crowd if story.touched + story.wait(crowd.settings) <= time]
        assert crowd.ended_by(time) == sorted(by_hand, key=lambda one: (one.touched, one.id))


def test_the_article_that_names_a_story_is_the_one_most_like_the_sum_of_all(crowd):
    n_compared = 0
    for story in crowd:
        story.lead = story.led_at = 0
        crowd.choose_lead(story)
        total = sum(
            story.factor(one.time, crowd.settings.half_life) * dense(one.vectors)[:, 1] for one in story.members
        )
        likeness = {one.number: float(dense(one.vectors)[:, 1] @ total) for one in story.members}
        assert likeness[story.lead] == pytest.approx(max(likeness.values()), abs=1e-12)
        n_compared += len(set(likeness.values())) > 1
    assert n_compared > 50


def test_the_rival_of_a_story_is_the_other_open_story_of_its_language_that_is_most_alike(crowd):
    rng = np.random.default_rng(6)
    for _ in range(20):
        own = list(crowd)[int(rng.integers(len(crowd.open)))].members[-1].vectors
        boths = {one.id: crowd.match(one, own, time=5 * DAY).likeness.both for one in crowd if is_near(one, 5 * DAY)}
        asked, *others = rng.choice(sorted(boths), 4, replace=False).tolist()
        story = crowd.open[asked]
        in_all = max(value for name, value in boths.items() if name != asked)
        assert crowd.match(story, own, time=5 * DAY).likeness.rival == in_all
        left = crowd.match(story, own, time=5 * DAY, besides=[crowd.open[one] for one in others]).likeness.rival
        assert left == max(value for name, value in boths.items() if name not in (asked, *others))
        spoken = crowd.match(story, own, time=5 * DAY, language="german").likeness.rival
        assert spoken == max(
            (value for name, value in boths.items() if name != asked and crowd.open[name].language in ("", "german"))
        )


def test_a_story_that_goes_on_for_long_keeps_only_its_newest_members_in_the_sums():
    rng = np.random.default_rng(5)
    stories = OpenStories(StreamSettings(half_life=DAY), shipped_coefficients())
    story = Story("s", "", 0, 0, 0, 0, "", members=[Member(1, 1, "", 0, vectors(rng))])
    stories.open_new(story)
    left = []
    for number in range(2, 50):
        story.last = number * DAY
        left += stories.add(story, Member(number, number, "", number * DAY, vectors(rng)))
    assert [one.number for one in left] == list(range(1, len(left) + 1))
    assert 10 <= len(story.members) <= 31
    by_hand = sum(2.0 ** ((one.time - story.reference) / DAY) * dense(one.vectors)[:, 1] for one in story.members)
    asked = vectors(rng)
    cosine = (by_hand * dense(asked)[:, 1]).sum() / np.sqrt((by_hand**2).sum())
    assert stories.match(story, asked, time=story.last).likeness.both == pytest.approx(cosine, rel=1e-9)
