"""Which words can begin and end a phrase that names something, told by the words beside them.

In English a noun follows articles, possessives and prepositions; a verb follows pronouns and auxiliaries, and articles
follow it; an adjective is followed by another word of content. Counting these neighbours in the collection itself tells
the three apart well enough for labels, and needs no model of the language.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from doccluster.text.running_text import BREAK, Flags, RunningText
from doccluster.text.weak_words import is_adverb, weak_alone, weak_words, words_that_only_begin

_BEFORE_NOUNS = """
the a an this these those his her its their our my your no some any each every of in on at by from with for about
against between over under into during without
"""
_BEFORE_VERBS = """
to will would can could may might must should shall not never he she it they we i you who which has have had was were is
are be been being
"""
_AFTER_VERBS = "the his her its their them him at more over nearly"
NOUN_SIGNS, VERB_SIGNS = frozenset(_BEFORE_NOUNS.split()), frozenset(_BEFORE_VERBS.split())
OBJECT_SIGNS = frozenset(_AFTER_VERBS.split())
FEWEST = 5  # occurrences that say something of a word
# How many signs of a verb to one of a noun make a verb at the beginning of a phrase, and at its end, where "health
# care" is fine; a form in -ed or -ing is a noun only by signs of one.
VERB_FIRST, VERB_LAST = 4.0, 8.0
ADJECTIVE, ADJECTIVE_BY_ENDING = 0.85, 0.4  # of the occurrences of a word, before a word of content
FIRST_NAME, LAST_NAME = 0.6, 0.8  # of the occurrences of a name, before or after another one: it is torn alone
_ADJECTIVE_ENDING = re.compile(r".{3,}(?:ous|ful|less|able|ible|ive|ish|ical|ual|ory|ary)$")
_PARTICIPLE = re.compile(r".{3,}(?:[^e]ed|ing)$")


@dataclass(frozen=True, eq=False)
class WordUses:
    """Which words may begin and end a phrase, and stand alone, one entry per word of a running text."""

    may_begin: Flags
    may_end: Flags
    may_stand_alone: Flags


def word_uses(running: RunningText, function_words: Collection[str], languages: Collection[str] = ()) -> WordUses:
    """Return which words may begin and end a phrase, and which may stand alone: no function or weak words, no numbers.

    In any language a word that mostly follows a number is a month, a unit, or what is counted ("321 people"), and one
    that mostly stands in brackets an aside ("pictured"): these name nothing.
    English verbs and adjectives are found; in mixed collections only those with enough English words beside them;
    in texts that are German alone a word that ends a phrase has a capital.
    """
    weak, first_only = weak_words(languages), words_that_only_begin(languages)
    is_function = running.are(function_words)
    named = np.array([word[:1].isalpha() for word in running.words], dtype=bool) & ~is_function & ~running.are(weak)
    named &= ~_counted_or_aside(running)
    may_begin, may_end = named | running.are(first_only), named & ~running.are(first_only)
    alone = ~running.are(weak_alone(languages)) & ~_torn(running, is_function)
    only = next(iter(languages)) if len(languages) == 1 else ""
    if "english" in languages:
        noun = running.counts_after(NOUN_SIGNS)
        verb = running.counts_after(VERB_SIGNS) + running.counts_before(OBJECT_SIGNS)
        some = noun + verb >= FEWEST
        lower = ~running.mostly_capital & (some | (only == "english"))
        adverb = running.matching(is_adverb) & lower
        participle = running.matching(_PARTICIPLE.match) & lower & ~((noun > verb) & (noun >= 2))
        begins_like_verb = (verb > VERB_FIRST * noun) & some & lower
        may_begin &= ~(begins_like_verb | adverb)
        may_end &= ~((verb > VERB_LAST * noun) & some & lower | adverb | participle)
        if only == "english":
            may_end &= ~_like_adjective(running, is_function | begins_like_verb)
    elif only == "german":
        may_end &= running.mostly_capital
    return WordUses(may_begin, may_end, may_end & alone)


def _counted_or_aside(running: RunningText) -> Flags:
    """Return which words mostly come after a number, or mostly in brackets."""
    n_words = len(running.words)
    times = np.bincount(running.word, minlength=n_words)
    is_number = running.matching(lambda word: word.replace(".", "").isdigit())
    counted = np.bincount(running.word[1:][is_number[running.word[:-1]]], minlength=n_words)
    aside = np.bincount(running.word[running.is_aside], minlength=n_words)
    found: Flags = (2 * np.maximum(counted, aside) > times) & (times >= FEWEST)
    return found


def _torn(running: RunningText, is_function: Flags) -> Flags:
    """Return which words are mostly a part: of a word with a hyphen, an address, or a longer name."""
    n_words = len(running.words)
    times = np.bincount(running.word, minlength=n_words)
    parts = np.array([running.torn.get(word, 0) for word in running.words])
    capital = running.has_capital & ~is_function[running.word]
    times_capital = np.bincount(running.word[capital], minlength=n_words)
    before = np.bincount(running.word[:-1][capital[:-1] & capital[1:]], minlength=n_words)
    after = np.bincount(running.word[1:][capital[1:] & capital[:-1]], minlength=n_words)
    in_name = (before > FIRST_NAME * times_capital) | (after > LAST_NAME * times_capital)
    torn: Flags = (parts > times) | in_name & (2 * times_capital > times)
    return torn


def _like_adjective(running: RunningText, is_other: Flags) -> Flags:
    """Return which words nearly always stand before another word of content that is not a verb."""
    n_words = len(running.words)
    before, after = running.word[:-1], running.word[1:]
    content = ~is_other
    content[BREAK] = False
    times = np.bincount(before, minlength=n_words)
    followed = np.bincount(before[content[after]], minlength=n_words)
    ending = running.matching(_ADJECTIVE_ENDING.match) & ~running.mostly_capital
    like_adjective: Flags = (followed >= ADJECTIVE * times) & (times >= FEWEST)
    like_adjective |= ending & ((followed >= ADJECTIVE_BY_ENDING * times) | (times < FEWEST))
    return like_adjective
