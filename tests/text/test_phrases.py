"""Phrases that recur in texts: which are kept, where they may begin and end, and what breaks them."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pytest

from doccluster.text.phrases import COMPLETE, find_phrases, word_uses, written_as
from doccluster.text.running_text import RunningText

STOP = frozenset({"the", "of", "in", "a", "and"})


def phrases_of(*texts):
    running = RunningText.of_texts(texts)
    found = find_phrases(running, word_uses(running, STOP), function_words=STOP)
    return {" ".join(one.words): one.texts.tolist() for one in found}


def test_a_part_of_a_longer_phrase_is_left_out_and_a_phrase_of_its_own_is_kept():
    texts = ["new york city council", "the new york city council", "old city council", "city council again"]
    assert phrases_of(*texts) == {"new york city council": [0, 1], "city council": [0, 1, 2, 3]}


def test_a_phrase_begins_and_ends_with_no_function_word_and_has_at_most_one_inside():
    texts = ["bank of england and the house of the rising sun", "bank of england in the house of the rising sun"]
    assert set(phrases_of(*texts)) == {"bank of england", "rising sun"}


def test_punctuation_empty_lines_and_apostrophes_break_a_phrase():
    texts = ["oil. price", "oil. price", "gold\n\nmine", "gold\n\nmine", "god's wrath", "god's wrath", "rye\nbread"]
    assert phrases_of(*texts, "rye bread") == {"rye bread": [6, 7]}


def test_a_hyphen_joins_and_a_number_ends_no_phrase():
    assert phrases_of("x-ray tube 1987", "x-ray tube 1987") == {"x-ray": [0, 1], "x-ray tube": [0, 1]}


def test_words_of_scripts_without_blanks_form_no_phrases():
    assert phrases_of("東京 地下鉄", "東京 地下鉄") == {}


@pytest.mark.parametrize("texts", [[], [""], ["", " \n"], ["one"], ["..."], ["a b", "c d"]])
def test_texts_without_a_common_phrase_have_none(texts):
    assert phrases_of(*texts) == {}


def test_phrases_are_those_of_a_plain_count():
    rng = np.random.default_rng(5)
    texts = [
        " ".join(rng.choice(["ant", "bee", "cat", "the", "of"], 9, p=[0.3, 0.2, 0.2, 0.2, 0.1])) for _ in range(12)
    ]
    assert phrases_of(*texts) == plain_count(texts)


def plain_count(texts):
    """Return the phrases by the definition, one n-gram after the other."""
    times, documents = Counter(), {}
    for number, text in enumerate(texts):
        words = re.findall(r"\w+", text)
        for length in (2, 3, 4, 5, 6, 7):
            for start in range(len(words) - length + 1):
                gram = tuple(words[start : start + length])
                times[gram] += 1
                documents.setdefault(gram, set()).add(number)
    frequent = {gram for gram in times if len(documents[gram]) >= 2}
    found = {}
    for gram in frequent:
        longer = [one for one in frequent if (one[:-1] == gram and one[-1] not in STOP)]
        longer += [one for one in frequent if (one[1:] == gram and one[0] not in STOP)]
        content = sum(word not in STOP for word in gram)
        if len(gram) > 6 or content > 4:
            continue
        ends = gram[0] not in STOP and gram[-1] not in STOP and sum(word in STOP for word in gram) <= 1
        if ends and all(times[one] < COMPLETE * times[gram] for one in longer):
            found[" ".join(gram)] = sorted(documents[gram])
    return found


def test_a_phrase_is_written_as_a_whole_and_not_as_in_headlines():
    texts = ["He sued at the Supreme Court of a state.", "The Supreme Court ruled.", "Supreme Court Ruling Court Day"]
    texts += ["the court met again in court", "a court of the court"]
    running = RunningText.of_texts(texts)
    found = find_phrases(running, word_uses(running, STOP), function_words=STOP)
    assert "Supreme Court" in [written_as(one, running) for one in found]


def test_an_english_phrase_begins_with_no_verb_and_ends_with_no_verb_of_saying():
    texts = ["he drew Gattine and the storm said no", "she drew Gattine and the storm said no", "they drew on"] * 3
    running = RunningText.of_texts(texts)
    words = STOP | {"he", "she", "they", "no", "on"}
    found = find_phrases(running, word_uses(running, words, ["english"]), function_words=words)
    assert [one.words for one in found] == []


def test_an_english_verb_beside_other_languages_names_nothing():
    texts = ["Hurricane Julia leaves at least 80 people dead", "A quake leaves more than 90 people dead"] * 3
    running = RunningText.of_texts([*texts, *["le séisme fait des morts", "un séisme fait des blessés"] * 3])
    uses = word_uses(running, STOP, ["english", "french"])
    alone = dict(zip(running.words, uses.may_stand_alone.tolist(), strict=True))
    assert not alone["leaves"]
    assert alone["hurricane"]
    assert alone["séisme"]


def test_what_is_counted_and_what_stands_in_brackets_names_nothing_in_any_language():
    texts = [f"{day} grudnya zemletrus (foto) 1.{day}00 ludei, ale zemletrus" for day in range(1, 6)]
    running = RunningText.of_texts([*texts, "(a bracket that zemletrus does not close"])
    uses = word_uses(running, STOP)
    named = {word for word, ends in zip(running.words, uses.may_end.tolist(), strict=True) if ends}
    assert named == {"zemletrus", "ale", "bracket", "that", "does", "not", "close"}
    rare = RunningText.of_texts(texts[:4])
    assert word_uses(rare, STOP).may_end[rare.words.index("foto")], "four occurrences say little"


def test_a_piece_of_headlines_that_no_sentence_has_names_nothing_unless_its_ends_are_nouns():
    titles = [
        "Weiner Denies Sending Photo",
        "Weiner Denies It Again",
        "Town Faculty Chides Ryan",
        "Town Faculty Objects",
    ]
    body = "the photo of a faculty in the Town was sent, as Weiner said"
    running = RunningText.of_texts([f"{title}\n\n{body}" for title in titles])
    words = STOP | {"as", "was", "it"}
    found = find_phrases(running, word_uses(running, words, ["english"]), function_words=words)
    names = {written_as(one, running) for one in found}
    assert "Town Faculty" in names or "Town faculty" in names
    assert not any("denies" in name.casefold() for name in names)


def test_an_english_word_that_never_ends_a_noun_phrase_does_not_stand_alone():
    texts = ["build it someplace else with a bank technician", "it is worthy of the technician"] * 5
    running = RunningText.of_texts(texts)
    uses = word_uses(running, STOP | {"it", "is", "with"}, ["english"])
    alone = dict(zip(running.words, uses.may_stand_alone.tolist(), strict=True))
    assert alone["technician"]
    assert not alone["someplace"]
    assert not alone["worthy"]


def test_a_title_before_a_name_is_a_part_of_it():
    assert {"st. louis", "sen. rand paul"} <= set(phrases_of(*["in St. Louis, Sen. Rand Paul"] * 2))
