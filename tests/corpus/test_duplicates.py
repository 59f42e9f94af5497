"""Copies are found exactly: against the naive definition over all pairs."""

from __future__ import annotations

import itertools
import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doccluster.corpus import find_near_duplicates
from doccluster.errors import InputError


def naive_groups(texts: list[str], threshold: float, n_words: int) -> tuple[tuple[int, ...], ...]:
    """Join documents whose sets of word tuples have a Jaccard index >= threshold; words are runs of letters."""
    sets = []
    for text in texts:
        words = re.findall(r"\w+", text.casefold())
        runs = {tuple(words[place : place + n_words]) for place in range(max(len(words) - n_words + 1, 1))}
        sets.append(runs if words else set())
    group = list(range(len(texts)))
    for left, right in itertools.combinations(range(len(texts)), 2):
        union = sets[left] | sets[right]
        if union and len(sets[left] & sets[right]) >= threshold * len(union) - 1e-12 and sets[left] and sets[right]:
            group = [group[left] if one == group[right] else one for one in group]
    found = [tuple(n for n, one in enumerate(group) if one == name) for name in dict.fromkeys(group)]
    return tuple(sorted(one for one in found if len(one) > 1))


@settings(max_examples=60)
@given(
    st.lists(st.lists(st.sampled_from("abcde"), max_size=9).map(" ".join), max_size=12),
    st.sampled_from([0.2, 0.5, 0.75, 0.9, 1.0]),
    st.integers(1, 4),
)
def test_groups_are_those_of_the_naive_definition(texts, threshold, n_words):
    assert find_near_duplicates(texts, threshold=threshold, n_words=n_words) == naive_groups(texts, threshold, n_words)


@pytest.mark.parametrize("threshold", [0.6, 0.8, 0.9])
def test_edited_copies_of_longer_texts_are_found(threshold):
    draw = random.Random(3)
    words = [f"w{number}" for number in range(300)]
    texts = [" ".join(draw.choices(words, k=draw.randint(5, 80))) for _ in range(60)]
    for text in texts[:20]:
        copy = text.split()
        for _ in range(draw.randint(0, 6)):
            copy[draw.randrange(len(copy))] = draw.choice(words)
        texts.append(" ".join(copy).upper())
    groups = find_near_duplicates(texts, threshold=threshold)
    assert groups == naive_groups(texts, threshold, 3)
    assert groups


def test_a_thousand_copies_are_one_group():
    texts = ["the same wire story was printed again and again"] * 1000 + ["another one", ""]
    assert find_near_duplicates(texts) == (tuple(range(1000)),)


def test_scripts_without_spaces_are_compared_by_characters():
    texts = ["東京で大きな地震があり多くの人が避難した", "東京で大きな地震があり多くの人が避難した。", "大阪は晴れ"]
    assert find_near_duplicates(texts) == ((0, 1),)


def test_nothing_is_a_copy_of_nothing():
    assert find_near_duplicates([]) == ()
    assert find_near_duplicates(["", " ", "!?"]) == ()


@pytest.mark.parametrize("threshold", [0, -1, 1.1, float("nan")])
def test_a_wrong_threshold_is_refused(threshold):
    with pytest.raises(InputError, match="above 0 and at most 1"):
        find_near_duplicates(["a"], threshold=threshold)
