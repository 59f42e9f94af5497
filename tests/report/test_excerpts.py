"""Excerpts: the sentence that says most, and the words in it that are marked."""

from __future__ import annotations

from doccluster.report.wording import marked_excerpt


def marked(text, terms, **options):
    return [piece for piece, is_term in marked_excerpt(text, terms, **options) if is_term]


def test_the_first_sentence_with_the_greatest_sum_is_taken_and_a_term_counts_once():
    text = "Rates, rates and rates. The bank holds rates. The bank holds rates again."
    pieces = marked_excerpt(text, {"bank": 2.0, "rates": 1.0})
    assert "".join(piece for piece, _ in pieces) == "The bank holds rates."
    assert [piece for piece, is_term in pieces if is_term] == ["bank", "rates"]


def test_only_whole_words_are_marked_in_either_case_and_parts_of_words_in_scripts_without_blanks():
    assert marked("Bankers of the BANK banked", {"bank": 1.0}) == ["BANK"]
    assert marked("中央银行维持利率不变。", {"银行": 1.0}) == ["银行"]


def test_terms_with_signs_of_patterns_are_looked_for_as_they_are():
    assert marked("a+b costs 3.5 now", {"3.5": 1.0, "(": 1.0}) == ["3.5"]


def test_without_a_term_there_is_no_excerpt():
    assert marked_excerpt("The bank holds rates.", {"ferry": 1.0}) == ()
    assert marked_excerpt("The bank holds rates.", {}) == ()


def test_long_sentences_are_cut_and_characters_that_act_are_left_out():
    pieces = marked_excerpt("bank \u202e" + "word " * 100, {"bank": 1.0}, length=40)
    line = "".join(piece for piece, _ in pieces)
    assert (len(line) <= 40, line[-1], "\u202e" in line) == (True, "…", False)
