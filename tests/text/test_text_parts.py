"""Long texts in parts: nothing is lost, sizes are as promised, and borders of people are kept."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doccluster.errors import InputError
from doccluster.text.scripts import count_words
from doccluster.text.text_parts import RULES, checked_rule, cut_text

SENTENCES = [
    "The mill burned down in 1912.",
    "Mr. Hill said so!",
    "“Was it rain?” she asked.",
    "東京は日本の首都です。",
    "「本当ですか。」",
    "他说：“不。”",
    "هل هذا صحيح؟",
    "یہ ایک جملہ ہے۔",
    "यह एक वाक्य है।",
    "ภาษาไทยไม่มีเครื่องหมายจบประโยค",
    "ភាសាខ្មែរជាភាសា។",
    "Սա նախադասություն է։",
    "이것은 문장입니다.",
    "no full stop here",
    "a,b;c\t1\t2\t3",
]
BETWEEN = [" ", "\n", "\n\n", "\n    ", "\f", "\r\n\r\n", "\u3000", "", "\n# A heading\n\n", "\nMR SMITH: ", "\n > "]
texts = st.lists(st.tuples(st.sampled_from(SENTENCES), st.integers(1, 40), st.sampled_from(BETWEEN)), max_size=12).map(
    lambda pieces: "".join(between + f"{sentence} " * times for sentence, times, between in pieces)
)


def letters(text: str) -> str:
    return "".join(text.split())


@settings(max_examples=30, deadline=None)
@given(st.one_of(texts, st.text(max_size=400)), st.sampled_from([*RULES, 10, 40]))
def test_joined_parts_are_the_text_but_for_white_space(text: str, rule: str | int) -> None:
    parts = cut_text(text, rule)
    assert letters("".join(parts)) == letters(text)
    assert all(part.strip() for part in parts)
    assert parts == cut_text(text, rule)


@settings(max_examples=30, deadline=None)
@given(texts, st.sampled_from(["auto", 30]))
def test_parts_have_from_a_third_to_about_twice_the_words(text: str, rule: str | int) -> None:
    parts, n = cut_text(text, rule), 100 if rule == "auto" else int(rule)
    if len(parts) > 1:
        sizes = [count_words(part) for part in parts]
        # letters of scripts without blanks are rounded to words, so that parts may be a word or two off
        assert min(sizes) >= 0.85 * (n // 3)
        assert max(sizes) <= 2.5 * n


@pytest.mark.parametrize("sentence", [sentence for sentence in SENTENCES if sentence[-1] in ".。؟۔।។։!"])
def test_every_script_is_cut_at_its_ends_of_sentences(sentence: str) -> None:
    parts = cut_text(f"{sentence} " * (900 // max(1, count_words(sentence))))
    assert len(parts) > 5
    assert all(letters(part).endswith(letters(sentence)) for part in parts)


def test_a_short_document_stays_whole() -> None:
    assert cut_text("One paragraph.\n\nAnother one. " * 49) == [("One paragraph.\n\nAnother one. " * 49).strip()]


def test_an_empty_or_blank_text_has_no_part() -> None:
    assert [cut_text(text, rule) for text in ("", " \n\f ") for rule in RULES] == [[]] * 10


def test_a_heading_begins_a_part_and_stays_with_what_it_is_above() -> None:
    section = "Some words of a section that is long enough to be a part. " * 7
    parts = cut_text("\n\n".join(f"{number} Title of this\n\n{section}" for number in (1, 2, 3)))
    assert [part.partition("\n")[0] for part in parts] == ["1 Title of this", "2 Title of this", "3 Title of this"]


def test_speakers_begin_parts() -> None:
    answer = "We went there and saw what they had built over the years. " * 8
    interview = "".join(f"Q: And then?\nMR SMITH: {answer}\n" for _ in range(6))
    assert all(part.startswith("Q: And then?\nMR SMITH:") for part in cut_text(interview))
    assert [part[:2] for part in cut_text(interview, "turns")] == ["Q:"] * 6


def test_the_head_of_a_letter_is_no_interview() -> None:
    head = "From: Ann\nSubject: Rye\nDate: May\nLines: 90\nTo: Bo\n\n"
    body = "Bread of rye wants more time than bread of wheat. " * 40
    assert cut_text(head + body)[0].startswith("From: Ann\nSubject: Rye\nDate: May\nLines: 90\nTo: Bo\n\nBread")


def test_a_page_ends_a_part_only_where_a_sentence_ends() -> None:
    assert cut_text("It goes\fon here. And it ends.\fA new page.", "paragraphs") == [
        "It goes\non here. And it ends.\n\nA new page."
    ]
    assert cut_text("It goes\fon here.", "pages") == ["It goes", "on here."]


def test_a_text_of_lines_is_cut_at_lines_and_a_wrapped_one_is_not() -> None:
    line = "Each line is a paragraph with a few words. " * 5
    assert all(part.endswith("words.") for part in cut_text(f"{line}\n" * 20))
    wrapped = "these lines are broken\nat a width so that\nno sentence ends there\n" * 60
    assert all(80 <= count_words(part) <= 120 for part in cut_text(wrapped))


def test_indents_begin_paragraphs() -> None:
    paragraph = "    It began in spring and\ngrew over the year until it was\nas tall as a house of two floors. " * 4
    parts = cut_text("\n".join([paragraph.strip("\n")] * 12))
    assert all(part.startswith("It began") for part in parts)


def test_a_shortened_word_ends_no_sentence() -> None:
    assert cut_text("Mr. Hill met Dr. Bo. They left.", "sentences") == ["Mr. Hill met Dr. Bo.", "They left."]


def test_a_number_of_words_is_a_rule_too() -> None:
    text = "A sentence of six short words. " * 200
    assert len(cut_text(text, 300)) < len(cut_text(text)) < len(cut_text(text, 40))
    assert (checked_rule(40), checked_rule("40"), checked_rule("turns")) == (40, 40, "turns")


@pytest.mark.parametrize("rule", ["chapters", 0, 9, -100, 1.5, True, None, "", ["auto"]])
def test_another_rule_is_refused(rule: object) -> None:
    with pytest.raises(InputError, match="no way to cut documents"):
        checked_rule(rule)
