"""Made news streams: what the lineage says is what the articles do, and copies are copies by their definition."""

from __future__ import annotations

import re
from collections import Counter, defaultdict

import numpy as np
import pytest

from doccluster.corpus import find_near_duplicates
from doccluster.errors import InputError
from experiments.news_stream import make_news_stream


@pytest.fixture(scope="module")
def made():
    return make_news_stream(60, merges=6, splits=6, random_state=1)


def articles_by(made, column):
    groups = defaultdict(list)
    for one in made.articles:
        groups[getattr(one, column)].append(one)
    return groups


def test_articles_come_in_order_of_time_with_the_numbers_of_that_order(made):
    assert [one.date for one in made.articles] == sorted(one.date for one in made.articles)
    assert [one.id for one in made.articles] == [str(number + 1) for number in range(len(made.articles))]
    assert made.articles[0].date.startswith("2024-01-0")


def test_the_same_seed_gives_the_same_stream_and_another_seed_another_one(made):
    again = make_news_stream(60, merges=6, splits=6, random_state=1)
    assert (again.articles, again.lineage) == (made.articles, made.lineage)
    assert make_news_stream(60, merges=6, splits=6, random_state=2).articles != made.articles


def test_every_story_is_born_or_leaves_another_and_is_closed_or_merged(made):
    events = defaultdict(set)
    for one in made.lineage:
        events[one.event].add(one.other if one.other else one.story)
    appeared = set(articles_by(made, "first_story"))
    assert events["born"] | events["split"] == appeared
    assert not events["born"] & events["split"]
    assert events["closed"] | events["merged"] == appeared
    assert not events["closed"] & events["merged"]
    assert [one.when for one in made.lineage] == sorted(one.when for one in made.lineage)


def test_born_is_the_first_article_and_closed_the_last_one(made):
    first, last = articles_by(made, "first_story"), articles_by(made, "story")
    for event in made.lineage:
        if event.event == "born":
            assert event.when == first[event.story][0].date
        elif event.event == "closed":
            assert (event.when, event.documents) == (last[event.story][-1].date, len(last[event.story]))


def test_stories_that_merge_share_no_words_of_theirs_before_and_all_after(made):
    for event in (one for one in made.lineage if one.event == "merged"):
        groups = articles_by(made, "first_story")
        before = [[one for one in groups[name] if one.date < event.when] for name in (event.story, event.other)]
        after = [one for one in groups[event.story] if one.date >= event.when and not one.copy_of]
        assert min(map(len, before)) >= 5
        assert len(after) >= 8
        assert {one.story for one in groups[event.other]} == {event.story}
        assert len(groups[event.other]) == event.documents
        names = [Counter(re.findall(r"(?<=[a-z] )[A-Z]\w+", " ".join(one.text for one in own))) for own in before]
        own, other = ({name for name, count in counts.most_common(8)} for counts in names)
        assert len(own & other) <= 1
        joint = " ".join(one.text for one in after)
        assert sum(name in joint for name in own) >= 6
        assert sum(name in joint for name in other) >= 6


def test_stories_that_split_are_about_both_before_and_about_one_each_after(made):
    for event in (one for one in made.lineage if one.event == "split"):
        groups = articles_by(made, "story")
        part = [one for one in groups[event.other] if not one.copy_of]
        before = [one for one in groups[event.story] if one.date < event.when and not one.copy_of]
        rest = [one for one in groups[event.story] if one.date >= event.when and not one.copy_of]
        assert min(len(part), len(rest)) >= 7
        assert len(before) >= 5
        assert part[0].date == event.when
        counts = [Counter(re.findall(r"(?<=[a-z] )[A-Z]\w+", " ".join(o.text for o in own))) for own in (part, rest)]
        own, other = ({name for name, count in one.most_common(7)} for one in counts)
        joint = " ".join(one.text for one in before)
        assert len(own & other) <= 1
        assert sum(name in joint for name in own) >= 5
        assert sum(name in joint for name in other) >= 5


def test_no_gap_in_a_story_is_longer_than_five_days(made):
    for own in articles_by(made, "story").values():
        moments = np.array([one.date[:-1] for one in own], dtype="datetime64[s]").astype(np.int64)
        assert np.diff(moments).max(initial=0) <= 5 * 86_400


def test_reprints_are_later_of_another_outlet_and_the_only_near_copies(made):
    by_id = {one.id: one for one in made.articles}
    copies = [one for one in made.articles if one.copy_of]
    assert len(copies) / len(made.articles) == pytest.approx(0.25, abs=0.04)
    for one in copies:
        original = by_id[one.copy_of]
        assert original.copy_of == ""
        assert one.date > original.date
        assert one.source != original.source
        assert (one.story, one.title) == (original.story, original.title)
        assert one.text != original.text
    texts = [f"{one.title}\n{one.text}" for one in made.articles]
    found = find_near_duplicates(texts, threshold=0.8, n_words=5)
    families = defaultdict(set)
    for one in made.articles:
        families[one.copy_of or one.id].add(int(one.id) - 1)
    assert {frozenset(group) for group in found} == {frozenset(own) for own in families.values() if len(own) > 1}


def test_an_outlet_signs_all_its_articles_alike(made):
    endings = {one.source: Counter() for one in made.articles}
    for one in made.articles:
        endings[one.source][one.text.split(". ")[-1]] += 1
    common = {source: own.most_common(1)[0] for source, own in endings.items()}
    assert len({phrase for phrase, _ in common.values()}) == len(endings) == 12
    assert {len(phrase.split()) for phrase, _ in common.values()} == {12}


def test_options_do_what_they_say():
    plain = make_news_stream(30, reprints=0, merges=0, splits=0, boilerplate=0, n_outlets=1, random_state=0)
    assert {one.event for one in plain.lineage} == {"born", "closed"}
    assert {one.copy_of for one in plain.articles} == {""}
    assert {one.source for one in plain.articles} == {"Outlet 1"}
    assert len(make_news_stream(30, articles=40, random_state=0).articles) > 2 * len(plain.articles)
    lengths = [len(one.text.split()) for one in make_news_stream(20, median_length=400, random_state=0).articles]
    assert np.median(lengths) == pytest.approx(400, rel=0.1)
    slow, fast = (make_news_stream(20, half_life=hours, random_state=0).articles[-1].date for hours in (96, 6))
    assert slow > fast
    late = make_news_stream(20, days=300, random_state=0)
    assert max(one.when for one in late.lineage if one.event == "born") > "2024-09"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"n_stories": 0}, "n_stories"),
        ({"n_stories": 10, "merges": 5, "splits": 1}, "needs 10 stories to merge and 1 to split"),
        ({"reprints": 1.5}, "reprints"),
        ({"story_share": 0.7}, "story_share"),
        ({"n_terms": 500}, "n_terms"),
        ({"median_length": 20}, "median_length"),
        ({"days": 0}, "days"),
    ],
)
def test_what_cannot_be_made_is_refused(given, says):
    with pytest.raises(InputError, match=says):
        make_news_stream(**given)
