"""The quick way to the words of an article gives what the patterns give."""

from __future__ import annotations

import random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from doccluster.corpus.duplicates import mix_shingles, words_of
from doccluster.text.scripts import separate_scripts, tokenize_separated
from doccluster.text.tokens import WordTable, plain_words
from tests.conftest import examples

PRINTED = [chr(code) for code in (*range(128), 0xA0, *range(0x2010, 0x2028))]
OTHERS = ["\xe9", "\u0130", "\u00df", "\u6771", "\u0e01", "\u200d", "\u0301", "\uff21", "\U0001d400"]


@given(st.lists(st.sampled_from(PRINTED + OTHERS[:1]), max_size=40).map("".join))
@settings(max_examples=examples(400))
def test_plain_words_are_those_of_the_patterns(text):
    found = plain_words(text)
    if found is not None:
        assert found == words_of(text)
        assert [word for word in found if len(word) > 1] == tokenize_separated(separate_scripts(text.lower()))


def test_every_text_of_ascii_and_typeset_punctuation_is_plain_and_no_other_is():
    assert plain_words("".join(PRINTED)) is not None
    assert [plain_words(f"a{letter}b") for letter in OTHERS] == [None] * len(OTHERS)


def test_a_table_of_words_forgets_all_at_once_when_they_are_too_many(monkeypatch):
    monkeypatch.setattr("doccluster.text.tokens.MAX_WORDS_KNOWN", 50)
    asked, n_looked_up = [], 0

    def know(word):
        asked.append(word)
        return 100 * len(word) + ord(word[0])

    table = WordTable(know, np.int64)
    rng = random.Random(3)
    for _ in range(60):
        some = [rng.choice("abcdef") * rng.randrange(1, 12) for _ in range(rng.randrange(30))]
        n_looked_up += len(some)
        assert table.look_up(some).tolist() == [100 * len(word) + ord(word[0]) for word in some]
    assert len(set(asked)) < len(asked) < n_looked_up / 1.5


def test_shingles_are_the_mixed_codes_of_neighbouring_words():
    rng = random.Random(4)
    vocabulary = [rng.getrandbits(64) for _ in range(5)]

    def mixed(codes, size):
        number = size
        for code in codes:
            number = ((number ^ code) * 0x9E3779B97F4A7C15) % 2**64
            number ^= number >> 29
        return number

    for n_codes in (1, 2, 3, 7, 200):
        codes = rng.choices(vocabulary, k=n_codes)
        size = min(3, n_codes)
        by_hand = sorted({mixed(codes[place : place + size], size) for place in range(n_codes - size + 1)})
        assert mix_shingles(np.array(codes, dtype=np.uint64), 3).tolist() == by_hand
