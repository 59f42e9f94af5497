"""Function words of languages without a list are learned from the texts; words of content are not."""

from __future__ import annotations

import numpy as np
import pytest

from doccluster.corpus import read_corpus
from doccluster.pipeline.naming import unwanted_words
from doccluster.pipeline.vectorizing import vectorize_texts
from doccluster.text.language import learned_function_words

FUNCTION = ("kwa", "na", "ya")


def sentence(rng, subject, n_words):
    """Return words of a subject, every third of them a function word."""
    return " ".join(
        FUNCTION[rng.integers(3)] if place % 3 == 0 else subject[rng.integers(len(subject))] for place in range(n_words)
    )


def subjects(n):
    return [
        [f"{letter}ubu{number}a".translate(str.maketrans("0123456789", "abcdefghij")) for letter in "bdglmt"]
        for number in range(n)
    ]


def test_words_in_every_passage_of_long_texts_are_function_words():
    rng = np.random.default_rng(0)
    texts = [" ".join(sentence(rng, own, 25) for own in subjects(40)) for _ in range(2)]
    assert learned_function_words(texts, [{"the"}]) == set(FUNCTION)


def test_words_of_many_short_texts_of_all_subjects_are_function_words():
    rng = np.random.default_rng(1)
    texts = [sentence(rng, own, 18) for own in subjects(12) for _ in range(8)]
    assert learned_function_words(texts, [{"the"}]) == set(FUNCTION)


def test_words_of_no_subject_that_few_of_the_texts_have_are_not_function_words():
    rng = np.random.default_rng(3)
    words = [word for own in subjects(16) for word in own]
    texts = [sentence(rng, words, 18) for _ in range(300)]
    share = [sum(word in text.split() for text in texts) / 300 for word in words]
    assert 15 / 300 < min(share) < max(share) < 0.25
    assert learned_function_words(texts, [{"the"}]) == set(FUNCTION)


def test_a_language_with_a_list_teaches_nothing():
    rng = np.random.default_rng(2)
    texts = [sentence(rng, own, 18) for own in subjects(12) for _ in range(8)]
    assert learned_function_words(texts, [{"the"}, set(FUNCTION)]) == frozenset()


def test_titles_are_too_short_to_learn_from():
    assert learned_function_words(["Drupal node search", "Drupal migration"] * 30, [{"the"}]) == frozenset()


def test_a_few_long_texts_are_read_among_many_of_one_word():
    rng = np.random.default_rng(0)
    long = [" ".join(sentence(rng, own, 25) for own in subjects(40)) for _ in range(2)]
    texts = [f"word{place}" for place in range(5_000)]
    texts[1], texts[3] = long  # of many texts every other one is read
    made = vectorize_texts(read_corpus(texts), language="auto", options={}, n_threads=1)
    assert set(FUNCTION) <= unwanted_words(made, texts, None)


@pytest.mark.parametrize(("word", "is_learned"), [("ka", True), ("wao", False)])
def test_very_short_words_may_be_spread_over_fewer_of_the_texts(word, is_learned):
    rng = np.random.default_rng(1)
    long = [" ".join(f"{word} {sentence(rng, own, 24)}" for own in subjects(40)) for _ in range(2)]
    once = [f"{word} {' '.join(sentence(rng, own, 25) for own in subjects(40))}" for _ in range(10)]
    assert (word in learned_function_words([*long, *once], [{"the"}])) is is_learned
