"""What outlets repeat is left out, by what came before."""

from __future__ import annotations

import tracemalloc

import pytest

from doccluster.stories.words import Cleaner, outlet_of

BEGGING = "Support our journalism with a small gift today."


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("bbc.com", "bbc.co.uk"),
        ("www.bbc.com", "https://www.bbc.co.uk/news/rss.xml"),
        ("BBC.com", "bbc.com"),
        ("news.com.au", "www.news.com.au"),
        ("The  Daily Tide", "the daily tide"),
    ],
)
def test_one_outlet_under_two_addresses_is_one(one, other):
    assert outlet_of(one) == outlet_of(other) != ""


@pytest.mark.parametrize(("one", "other"), [("bbc.com", "cnn.com"), ("U.S. News", "Yahoo News"), ("a.com", "b.com")])
def test_two_outlets_stay_two(one, other):
    assert outlet_of(one) != outlet_of(other)


def test_a_source_that_is_no_address_does_not_stop_the_cleaning():
    assert outlet_of("http://[broken") == "http://[broken"
    assert outlet_of("") == ""
    assert outlet_of("...") == "..."


def test_a_run_of_words_that_three_earlier_articles_had_is_left_out():
    cleaner = Cleaner()
    subjects = ["Ferry sails", "Bank closes", "Harvest fails", "Court rules", "Mayor speaks"]
    texts = [cleaner.clean(title, f"It is told that {title}. {BEGGING}", "tide")[1] for title in subjects]
    assert all("small gift" in text for text in texts[:3])
    assert texts[3:] == ["It is told that Court rules. .", "It is told that Mayor speaks. ."]


def test_another_outlet_keeps_what_one_repeats():
    cleaner = Cleaner()
    for number in range(5):
        cleaner.clean(f"Title {number}", BEGGING, "tide")
    assert cleaner.clean("Title", BEGGING, "gazette")[1] == BEGGING
    assert cleaner.clean("Title", BEGGING, "")[1] == BEGGING


def test_an_article_that_is_its_outlets_wall_has_its_title_alone():
    cleaner = Cleaner()
    wall = "To continue, please click the box below to let us know you're not a robot."
    first = cleaner.clean("Oil prices rise again", wall, "tide")
    second = cleaner.clean("Court stops the merger", wall, "tide")
    assert first == ("Oil prices rise again", wall)
    assert second == ("Court stops the merger", "")


def test_a_text_that_comes_again_under_its_title_is_no_wall():
    cleaner = Cleaner()
    cleaner.clean("Oil prices rise again", "Crude rose by two percent.", "tide")
    assert cleaner.clean("Oil prices rise", "Crude rose by two percent.", "tide")[1] == "Crude rose by two percent."


def test_ends_of_titles_that_an_outlet_repeats_are_cut_off():
    cleaner = Cleaner()
    titles = [cleaner.clean(f"{word} spoke today - NDTV", "", "ndtv")[0] for word in ("Ada", "Ben", "Cleo", "Dora")]
    assert titles == ["Ada spoke today - NDTV", "Ben spoke today - NDTV", "Cleo spoke today - NDTV", "Dora spoke today"]


def test_tags_and_entities_are_no_words():
    title, text = Cleaner().clean("Profits &amp; losses", "<p>The <b>bank</b> lost&nbsp;money</p>", "tide")
    assert title == "Profits & losses"
    assert text.split() == ["The", "bank", "lost", "money"]


def test_what_was_repeated_long_ago_is_forgotten():
    cleaner = Cleaner()
    for number in range(4):
        cleaner.clean(f"Title {number}", f"Word{number} {BEGGING}", "tide")
    for number in range(250):
        cleaner.clean(f"Another {number}", f"news{number} text{number} of{number} day{number}", "tide")
    assert cleaner.clean("Last", f"New words. {BEGGING}", "tide")[1] == f"New words. {BEGGING}"


def test_what_is_forgotten_takes_no_room():
    cleaner, sizes = Cleaner(), {}
    tracemalloc.start()
    for number in range(1_000):
        cleaner.clean(f"Title {number}", " ".join(f"word{number}x{place}" for place in range(30)), "tide")
        sizes[number] = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert sizes[999] < 1.2 * sizes[299]
