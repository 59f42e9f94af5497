from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doccluster.text.letter_forms import SAME_LETTERS, lowered
from doccluster.text.scripts import (
    combining_marks,
    separate_scripts,
    tokenize_separated,
    tokens_by_script,
    whole_letters,
)
from doccluster.vectors import TfidfVectorizer
from tests.conftest import examples


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("市长今天开放新地铁线", ["市长", "长今", "今天", "天开", "开放", "放新", "新地", "地铁", "铁线"]),
        ("新しい地下鉄がウクライナで開く", ["新し", "地下", "下鉄", "ウクライナ", "開く"]),
        ("ひらがな", ["ひら", "らが", "がな"]),
        ("시장이 BTS를 만났다", ["시장", "장이", "bts", "만났", "났다"]),
        ("น้ำมันขึ้น", ["น้ำมั", "มัน", "นขึ้", "ขึ้น"]),
        ("ປະເທດ", ["ປະເທ", "ເທດ"]),
        ("កម្ពុជា", ["កម្ពុ", "ម្ពុជា"]),
        ("မြန်မာ", ["မြန်", "န်မာ"]),
        ("नई दिल्ली में वर्षा", ["नई", "दिल्ली", "में", "वर्षा"]),
        ("தமிழ்நாட்டில் மழை", ["தமிழ்நாட்டில்", "மழை"]),
        ("שָׁלוֹם עולם", ["שלום", "עולם"]),
        ("الرئيسُ أيضاً كـــتب", ["الرئيس", "أيضا", "كتب"]),
        ("cafe\u0301s na\u00efve", ["cafés", "naïve"]),
        ("ＮＨＫ　２０２４", ["nhk", "2024"]),
    ],
)
def test_a_text_is_cut_by_the_rules_of_its_script(text, tokens):
    assert tokens_by_script(text.lower()) == tokens


def test_the_dot_of_a_turkish_capital_is_no_break_in_the_word():
    assert separate_scripts("İstanbul'da İzmir".lower()) == "istanbul'da izmir"


def test_a_text_of_spaced_letters_without_marks_is_left_as_it_is():
    text = "“Café” Straße λόγος мир 10 000 € déjà-vu — 👍"
    assert separate_scripts(text) is text or separate_scripts(text) == text


def test_no_mark_is_taken_from_its_letter_in_any_script():
    """The old pattern cut at every one of these marks."""
    letters = {0x0900: "क", 0x0980: "ক", 0x0B80: "க", 0x0D00: "ക", 0x0D80: "ක", 0x0E00: "ท", 0x1780: "ក", 0x1000: "က"}
    for block, letter in letters.items():
        own = [mark for mark in combining_marks() if block <= ord(mark) < block + 0x80]
        assert own
        for mark in own:
            word = unicodedata.normalize("NFC", letter + mark + letter)
            assert "".join(tokens_by_script(word)) == word, f"U+{ord(mark):04X}"


def test_pictures_are_no_words():
    assert tokens_by_script("ok ❤️ 1️⃣ 👍🏽 東京") == ["ok", "東京"]


@settings(max_examples=examples(300))
@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=60))
def test_compiled_and_plain_counting_find_the_same_tokens(text):
    """The compiled counter and the regular expressions see the same tokens of any text, beside a text they share."""
    common = "harbour bridge"
    terms = TfidfVectorizer(analyzer="script").fit([text, common]).vocabulary_
    plain = {token for one in (text, common) for token in tokenize_separated(separate_scripts(lowered(one)))}
    assert set(terms) == {token.translate(SAME_LETTERS) for token in plain}


@settings(max_examples=examples(200))
@given(st.text(st.characters(max_codepoint=0x2FF, exclude_characters="\u00ad"), max_size=80))  # which parts no word
def test_latin_text_gives_the_terms_of_the_word_analyzer(text):
    words = TfidfVectorizer().fit([text, "harbour bridge"]).vocabulary_
    by_script = TfidfVectorizer(analyzer="script").fit([text, "harbour bridge"]).vocabulary_
    # the Turkish capital, which a word pattern cuts in two, and letters in other forms
    if "i\u0307" not in text.lower() and lowered(text).translate(SAME_LETTERS) == text.lower():
        assert by_script == words


def test_no_token_has_a_blank_or_is_a_single_letter():
    for token in tokens_by_script("東 京 a 1 กา ก 서 울 ab"):
        assert len(token) >= 2
        assert not re.search(r"\s", token)


@given(st.text("เสียงดังกà\u0301b ", max_size=12), st.data())
@settings(max_examples=examples(100))
def test_a_piece_grows_by_the_least_that_tears_no_letter(text, data):
    start = data.draw(st.integers(0, len(text)))
    stop = data.draw(st.integers(start, len(text)))

    def is_torn(place):
        if place in (0, len(text)):
            return False
        return (
            unicodedata.category(text[place])[0] == "M"
            or text[place] in "\u0e30\u0e32\u0e33\u0e45"
            or ("\u0e40" <= text[place - 1] <= "\u0e44")
        )

    first = next(place for place in range(start, -1, -1) if not is_torn(place))
    last = next(place for place in range(stop, len(text) + 1) if not is_torn(place))
    assert whole_letters(text, start, stop) == (first, last)
