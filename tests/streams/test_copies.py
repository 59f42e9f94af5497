"""Copies found one by one are those found at once, on every prefix of a stream."""

from __future__ import annotations

import random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from doccluster.corpus import find_near_duplicates
from doccluster.corpus.duplicates import PrefixIndex, ShingleIndex, codes_of, mix_shingles
from doccluster.streams.copies import Families, codes_of_article

WORDS = ["wheat", "price", "rose", "port", "storm", "east", "ship", "late", "vote", "bank"]


def families_of(texts, *, threshold, n_words):
    """The families after each article, as `find_near_duplicates` gives groups."""
    index = ShingleIndex(threshold=threshold, n_words=n_words)
    family = {}
    for number, text in enumerate(texts):
        joined = {family[other] for other in index.add(number, 0, mix_shingles(codes_of(text), n_words), arrived=0)}
        family[number] = min(joined, default=number)
        family = {one: family[number] if own in joined else own for one, own in family.items()}
        groups = {}
        for one, own in family.items():
            groups.setdefault(own, []).append(one)
        yield tuple(sorted(tuple(group) for group in groups.values() if len(group) > 1))


def edited(text, seed):
    """The text with a few words changed."""
    rng = random.Random(seed)
    words = text.split()
    for _ in range(rng.randrange(3)):
        words[rng.randrange(len(words))] = rng.choice(WORDS)
    return " ".join(words)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 50)), max_size=14), st.sampled_from([0.5, 0.8, 0.9, 1.0]))
@settings(max_examples=150)
def test_on_every_prefix_the_copies_are_those_of_the_batch_function(made, threshold):
    bases = [" ".join(random.Random(base).choices(WORDS, k=25)) for base in range(4)]
    texts = [edited(bases[base], seed) for base, seed in made]
    for n_done, found in enumerate(families_of(texts, threshold=threshold, n_words=3), 1):
        assert found == find_near_duplicates(texts[:n_done], threshold=threshold, n_words=3)


def test_long_texts_have_the_copies_of_the_batch_function_at_its_threshold():
    rng = random.Random(5)
    vocabulary = [f"w{number}" for number in range(900)]
    bases = [" ".join(rng.choices(vocabulary, k=rng.randrange(60, 300))) for _ in range(12)]
    texts = [edited(bases[rng.randrange(12)], seed) for seed in range(80)]
    families = Families()
    found = {}
    for number, text in enumerate(texts):
        family, joined = families.add(number, 0, codes_of_article("", text), arrived=0)
        found[number] = family
        found = {one: family if own in joined else own for one, own in found.items()}
    groups = [tuple(one for one in found if found[one] == own) for own in sorted(set(found.values()))]
    assert tuple(group for group in groups if len(group) > 1) == find_near_duplicates(texts, threshold=0.8, n_words=5)
    assert 12 <= len(groups) < 20


def test_what_is_out_of_the_window_has_no_copies():
    families = Families()
    text = "Ministers agreed to raise the price of wheat by two percent in the spring"
    assert families.add(1, 0, codes_of_article("", text), arrived=0) == (1, [])
    families.forget_before(10)
    assert families.add(2, 20, codes_of_article("", text), arrived=20) == (2, [])
    assert families.add(3, 20, codes_of_article("", text), arrived=20) == (2, [])


def test_a_text_without_words_is_a_copy_of_nothing():
    families = Families()
    assert [families.add(number, 0, codes_of_article("", "..."), arrived=0)[0] for number in (1, 2)] == [1, 2]


LEDE = "Rescuers brought all forty passengers of a ferry to safety on Monday after it had run aground off the island"
REST = "The owner said that the captain had noticed too late how far the ship had drifted to the east. " * 5


def test_a_summary_in_one_outlet_is_a_copy_of_the_whole_text_in_another():
    families = Families()
    printed = [
        ("Ferry aground", f"SKERROW (Wire) - {LEDE}. {REST}", "Tide"),
        ("All safe after ferry scare", LEDE, "Post"),
    ]
    for number, (title, text, outlet) in enumerate(printed, 1):
        codes = codes_of_article(title, text)
        assert families.add(number, 0, codes, arrived=0, outlet=outlet) == (1, [])


def test_texts_of_one_outlet_or_of_none_that_begin_alike_are_no_copies():
    for outlet in ("Post", ""):
        families = Families()
        for number, rest in enumerate((REST, REST[::-1]), 1):
            codes = codes_of_article("", f"{LEDE} {rest}")
            assert families.add(number, 0, codes, arrived=0, outlet=outlet)[0] == number


def test_a_few_words_that_two_outlets_begin_with_make_no_copy():
    families = Families()
    for number, outlet in enumerate(("Tide", "Post"), 1):
        codes = codes_of_article(f"Harbour news {outlet}", "Read the whole story at our site")
        assert families.add(number, 0, codes, arrived=0, outlet=outlet)[0] == number


def test_a_copy_of_two_families_makes_them_one():
    index = Families()
    half, other = "a b c d e f g h i j", "k l m n o p q r s t"
    index.add(1, 0, codes_of_article("", half), arrived=0)
    index.add(2, 0, codes_of_article("", other), arrived=0)
    index._short.threshold = 0.4  # so that a text can be near two that are not near one another
    assert index.add(3, 0, codes_of_article("", f"{half} {other}"), arrived=0) == (1, [2])


def test_articles_with_a_shingle_are_found_also_after_pairs_were_sorted_in_and_left_out(monkeypatch):
    monkeypatch.setattr("doccluster.corpus.duplicates.MOST_RECENT", 40)
    rng = np.random.default_rng(3)
    index, held = PrefixIndex(), {}
    for number in range(300):
        prefix = np.unique(rng.integers(2**63, 2**63 + 60, size=rng.integers(1, 9), dtype=np.uint64))
        assert index.find(prefix) == {one for one, own in held.items() if own & set(prefix.tolist())}
        index.add(number, prefix)
        held[number] = set(prefix.tolist())
        if number % 50 == 49:
            old = [one for one in held if one < number - 30]
            index.forget(old)
            held = {one: own for one, own in held.items() if one not in old}
