"""Characters that nobody sees part no words: not in tokens, in searches, in labels or on the page."""

from __future__ import annotations

import pytest

import doccluster
from doccluster.base.characters import without_invisible
from doccluster.corpus import read_corpus
from doccluster.text.scripts import separate_scripts, tokenize_separated

SOFT, JOINER, MARK, NON_JOINER, ZERO_SPACE = "\u00ad", "\u2060", "\ufeff", "\u200c", "\u200b"
PERSIAN = "می\u200cخواهم کتاب\u200cها را ببینم"
FAMILY = "\U0001f469\u200d\U0001f469\u200d\U0001f467"  # an emoji of three, joined
HINDI = "क्\u200dष"  # a joiner that decides how the letters are drawn
KHMER = "ភាសា\u200bខ្មែរ"


def tokens(text):
    return tokenize_separated(separate_scripts(text.lower()))


@pytest.mark.parametrize("character", [SOFT, JOINER, MARK, NON_JOINER, "\u200d", ZERO_SPACE, SOFT + JOINER])
@pytest.mark.parametrize("word", ["Gesamt{}konzept", "πρω{}τεύουσα", "сто{}лица", "{}harbour", "harbour{}"])
def test_a_text_keeps_no_character_that_is_not_seen_inside_its_words(word, character):
    (text,) = read_corpus([f"The {word.format(character)} is old"]).texts
    assert tokens(text) == tokens(f"The {word.format('')} is old")
    if not word.startswith("{") and not word.endswith("}"):
        assert text == f"The {word.format('')} is old"


@pytest.mark.parametrize("text", [PERSIAN, f"a {FAMILY} b", HINDI, KHMER, "❤\ufe0f", "א\u200fב"])
def test_what_decides_how_a_text_looks_stays_in_it(text):
    assert read_corpus([text]).texts == (text,)


def test_a_soft_hyphen_at_the_end_of_a_line_joins_the_word():
    assert without_invisible("das Gesamt\u00ad\nkonzept\nsteht\u00ad\n\nda") == "das Gesamtkonzept\nsteht\n\nda"


def test_a_zero_width_space_still_parts_words_where_no_blank_does():
    assert tokens("ភាសា\u200bខ្មែរ") != tokens("ភាសាខ្មែរ")
    assert without_invisible(KHMER) == KHMER
    assert without_invisible("news\u200broom") == "newsroom"


@pytest.mark.parametrize("text", [PERSIAN, HINDI, "葛\U000e0100城市", "Ge\u200esamt"])
def test_tokens_pass_over_joiners_and_selectors_in_a_text_as_in_a_query(text):
    bare = "".join(letter for letter in text if letter not in "\u200c\u200d\u200e\U000e0100")
    assert tokens(text) == tokens(bare)
    assert "".join(tokens(text)) != ""


@pytest.mark.parametrize("query", ["Gesamtkonzept", "Gesamt\u00adkonzept", "Hafenmauer", "Hafen\u2060mauer"])
def test_a_search_finds_a_word_however_it_is_written(query):
    texts = [
        "Das Gesamt\u00adkonzept für den Hafen wird am Montag beschlossen.",
        "Die Hafen\u2060mauer wird erhöht.",
        "Das Gesamtkonzept und die Hafenmauer kosten viel.",
    ]
    assert len(doccluster.search(query, texts).hits) == 2


def test_a_search_finds_persian_words_with_and_without_their_joints():
    texts = [PERSIAN, PERSIAN.replace(NON_JOINER, ""), "دریا و کشتی"]
    for query in ("می\u200cخواهم", "میخواهم"):
        assert sorted(hit.id for hit in doccluster.search(query, texts).hits) == ["1", "2"]


def test_labels_and_texts_of_the_page_have_whole_words(tmp_path):
    texts = [
        *(f"Der Hafen\u00admeister prüft die Hafen\u00admauer, Bericht {number}" for number in range(6)),
        *(f"Die Wasser\u2060stoff\u2060fabrik liefert Wasser\u2060stoff, Meldung {number}" for number in range(6)),
    ]
    doccluster.run(texts, n_clusters=2, output=tmp_path / "run")
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "Hafenmeister" in page
    assert "Wasserstofffabrik" in page
    assert not set("\u00ad\u2060") & set(page)
