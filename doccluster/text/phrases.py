"""Phrases of two to six words that several texts have, written as they are most often written.

A phrase lies between two breaks (punctuation, quotation marks, an empty line) and is complete, as in the labels of
Lingo (Osinski, Stefanowski and Weiss 2004): where most of its occurrences go on with the same word, or follow the same
word, the longer phrase stands for it. A name is complete too: "Kim Jong" is none where another capital follows it.

Which words begin and end phrases is told by the words beside them: in English a noun follows articles, possessives and
prepositions; a verb follows pronouns and auxiliaries, and articles follow it; an adjective is followed by another word
of content. Counting these neighbours in the collection itself tells the three apart well enough for labels, and needs
no model of the language.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from doccluster.base.arrays import Flags, Integers
from doccluster.text.language import is_adverb, weak_alone, weak_words, words_that_only_begin
from doccluster.text.running_text import BREAK, RunningText

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
_PLURAL = re.compile(r".{2,}[^s]s$")  # needs no article
_PARTICIPLE = re.compile(r".{3,}(?:[^e]ed|ing)$")


@dataclass(frozen=True, eq=False)
class WordUses:
    """Which words may begin and end a phrase, and stand alone, one entry per word of a running text.

    Of headlines alone a phrase must begin and end with words that are used as its nouns are.
    """

    may_begin: Flags
    may_end: Flags
    may_stand_alone: Flags
    before_nouns: Flags
    nominal: Flags


def word_uses(running: RunningText, function_words: Collection[str], languages: Collection[str] = ()) -> WordUses:
    """Return which words may begin and end a phrase, and which may stand alone: no function or weak words, no numbers.

    A word that mostly follows a number is a month, a unit, or what is counted; one mostly in brackets is an aside.
    English verbs and adjectives are left out; in texts that are German alone a phrase ends in a capital word.
    """
    weak, first_only = weak_words(languages), words_that_only_begin(languages)
    is_function = running.are(function_words)
    is_content = (
        np.array([word[:1].isalpha() for word in running.words], dtype=bool) & ~is_function & ~running.are(weak)
    )
    is_content &= ~_counted_or_aside(running)
    may_begin, may_end = is_content | running.are(first_only), is_content & ~running.are(first_only)
    alone = ~running.are(weak_alone(languages)) & ~_torn(running, is_function)
    only = next(iter(languages)) if len(languages) == 1 else ""
    before_nouns = nominal = np.ones(len(running.words), dtype=bool)
    # the words before and after a word say whether it is used as a noun or a verb here
    if "english" in languages:
        noun = running.counts_after(NOUN_SIGNS)
        verb = running.counts_after(VERB_SIGNS) + running.counts_before(OBJECT_SIGNS)
        is_frequent = noun + verb >= FEWEST
        lower = ~running.mostly_capital & (is_frequent | (only == "english"))
        adverb = running.matching(is_adverb) & lower
        participle = running.matching(_PARTICIPLE.match) & lower & ~((noun > verb) & (noun >= 2))
        begins_like_verb = (verb > VERB_FIRST * noun) & is_frequent & lower
        may_begin &= ~(begins_like_verb | adverb)
        may_end &= ~((verb > VERB_LAST * noun) & is_frequent & lower | adverb | participle)
        if only == "english":
            may_end &= ~_like_adjective(running, is_function | begins_like_verb)
            nominal = _nominal(running, is_function | running.are(weak))
            before_nouns = nominal | (running.counts_after(NOUN_SIGNS) > 0)
            is_rare = np.bincount(running.word, minlength=len(running.words)) < FEWEST
            may_end &= nominal | is_rare | running.matching(_PLURAL.match)
    elif only == "german":
        may_end &= running.mostly_capital
    return WordUses(may_begin, may_end, may_end & alone, before_nouns, nominal)


def _counted_or_aside(running: RunningText) -> Flags:
    """Return which words mostly come after a number, or mostly in brackets."""
    n_words = len(running.words)
    times = np.bincount(running.word, minlength=n_words)
    is_number = running.matching(lambda word: word.replace(".", "").isdigit())
    counted = np.bincount(running.word[1:][is_number[running.word[:-1]]], minlength=n_words)
    aside = np.bincount(running.word[running.is_aside], minlength=n_words)
    flags: Flags = (2 * np.maximum(counted, aside) > times) & (times >= FEWEST)
    return flags


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


def _nominal(running: RunningText, is_function: Flags) -> Flags:
    """Return which words are names, or stand before a function word or a break and after an article or a preposition.

    One word of content may be between: "a bank technician".
    """
    begins = running.are(NOUN_SIGNS)[running.word]
    closes = is_function[running.word] | (running.word == BREAK)
    after = begins[:-1].copy()
    after[1:] |= begins[:-2] & ~closes[1:-1]
    is_noun = after[:-1] & closes[2:]
    return running.mostly_capital | (np.bincount(running.word[1:-1][is_noun], minlength=len(running.words)) > 0)


LONGEST = 6
MAX_CONTENT = 4  # words of a phrase that are not function words
MIN_TEXTS = 2
COMPLETE = 0.6  # a phrase is a part of a longer one that covers so much of its occurrences
MAX_LINKS = 1  # function words inside a phrase: "Bank of England"
MAX_LINKS_OF_NAMES = 2  # "Department of Health and Human Services"
NAMES_JOINED_BY = frozenset({"of", "and", "for", "the", "&", "de", "del", "und", "et", "y"})


@dataclass(frozen=True)
class Phrase:
    """The words of a phrase, the texts (positions, ascending) that have it, and where it begins in the running text."""

    words: tuple[str, ...]
    texts: Integers
    places: Integers


def find_phrases(
    running: RunningText,
    uses: WordUses,
    *,
    function_words: Collection[str] = frozenset(),
    links: Collection[str] | None = None,
) -> list[Phrase]:
    """Return the complete phrases that at least two texts have, in the order of their first occurrence.

    `links` are the function words that may stand inside a phrase, one in a phrase and two in a name; any by default.

    Examples
    --------
    >>> from doccluster.text.phrases import word_uses
    >>> running = RunningText.of_texts(["War in the Middle East", "In the Middle East, again", "a Middle East war"])
    >>> found = find_phrases(running, word_uses(running, {"the", "in", "a"}), function_words={"the", "in", "a"})
    >>> [(written_as(phrase, running), phrase.texts.tolist()) for phrase in found]
    [('Middle East', [0, 1, 2])]
    """
    marks = _Marks.of_words(running, uses, function_words, links)
    phrases: list[tuple[int, Phrase]] = []
    shorter = _Runs.of_words(running)
    for length in range(2, LONGEST + 2):
        longer = shorter.longer(running)
        if length == 2:
            phrases += _compounds(running, uses)
        else:
            phrases += _complete_phrases(shorter, longer, running, marks)
        if longer.first.size == 0:
            break
        shorter = longer
    return [phrase for _, phrase in sorted(phrases, key=lambda pair: (pair[0], len(pair[1].words)))]


def written_as(phrase: Phrase, running: RunningText) -> str:
    """Return how a phrase is most often written where its case says something; else word by word."""
    length = len(phrase.words)
    inside = phrase.places[running.says_case[phrase.places[:, None] + np.arange(length)].all(axis=1)]
    if inside.size == 0:
        words = running.word[phrase.places[0] : phrase.places[0] + length]
        return " ".join(running.best_forms[word] for word in words.tolist())
    counts = Counter(map(tuple, running.form[inside[:, None] + np.arange(length)].tolist()))
    forms = min(counts, key=lambda written_form: (-counts[written_form], written_form))
    return " ".join(running.forms[form] for form in forms)


@dataclass(frozen=True, eq=False)
class _Marks:
    """The role of each word in phrases (one entry per word), and the places where a name goes on (one per place)."""

    uses: WordUses
    begins_name: Flags
    is_function: Flags
    is_link: Flags
    joins: Flags
    name_before: Flags
    name_after: Flags

    @classmethod
    def of_words(
        cls, running: RunningText, uses: WordUses, function_words: Collection[str], links: Collection[str] | None
    ) -> _Marks:
        is_function = running.are(function_words)
        begins_name = running.matching(lambda word: word[:1].isalpha()) & ~is_function
        is_link = is_function if links is None else running.are(links)
        joins = running.are(NAMES_JOINED_BY)
        capital = running.has_capital & ~is_function[running.word]
        name_before, name_after = np.zeros_like(capital), np.zeros_like(capital)
        name_before[1:] = capital[:-1]
        name_before[2:] |= joins[running.word[1:-1]] & capital[:-2]
        name_after[:-1] = capital[1:]
        return cls(uses, begins_name, is_function, is_link, joins, name_before, name_after)


@dataclass(frozen=True, eq=False)
class _Runs:
    """The frequent runs of `length` words, by number from 1; `number` says which begins at each place."""

    length: int
    number: Integers
    first: Integers  # the place at which each begins for the first time
    times: Integers

    @classmethod
    def of_words(cls, running: RunningText) -> _Runs:
        """Return the runs of one word, none of them left out; number 0 is a break."""
        n_words = len(running.words)
        times = np.bincount(running.word, minlength=n_words)[1:]
        return cls(1, running.word, np.zeros(n_words - 1, dtype=np.int64), times)

    def longer(self, running: RunningText) -> _Runs:
        """Return the runs of one word more that are in enough texts; both their shorter parts are frequent too."""
        places = np.flatnonzero((self.number[:-1] > 0) & (self.number[1:] > 0))
        keys = self.number[places] * np.int64(self.times.size + 1) + self.number[places + 1]
        _, first, run, times = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
        n_texts = max(running.n_texts, 1)
        pairs = np.unique(run * np.int64(n_texts) + running.text[places])
        is_kept = np.bincount(pairs // n_texts, minlength=times.size) >= MIN_TEXTS
        number = np.zeros_like(self.number)
        number[places] = (np.cumsum(is_kept) * is_kept)[run]
        return _Runs(self.length + 1, number, places[first[is_kept]], times[is_kept])


def _compounds(running: RunningText, uses: WordUses) -> list[tuple[int, Phrase]]:
    """Return the words with a hyphen or a dot inside that several texts have: to the vectors they are several words."""
    is_compound = running.matching(lambda word: "-" in word or "." in word[:-1]) & uses.may_end & uses.nominal
    places = np.flatnonzero(is_compound[running.word])
    order = places[np.argsort(running.word[places], kind="stable")]
    compounds = []
    for places_of_word in np.split(order, np.flatnonzero(np.diff(running.word[order])) + 1):
        texts = np.unique(running.text[places_of_word])
        if texts.size >= MIN_TEXTS:
            first = int(places_of_word[0])
            compounds.append((first, Phrase((running.words[running.word[first]],), texts, places_of_word)))
    return compounds


def _complete_phrases(runs: _Runs, longer: _Runs, running: RunningText, marks: _Marks) -> list[tuple[int, Phrase]]:
    """Return the phrases of one length that are not part of a longer one, each with its first place."""
    if runs.first.size == 0:
        return []
    places = np.flatnonzero(runs.number)
    run_of = runs.number[places] - 1
    last = places + runs.length - 1
    capital, tells = running.has_capital, running.says_case
    is_name = _mostly(run_of, capital[places] & capital[last], tells[places] | tells[last], runs.times.size)
    words_of_runs = running.word[runs.first[:, None] + np.arange(runs.length)]
    is_kept = _well_made(words_of_runs, is_name, marks)
    is_kept &= _covered(runs, longer, running, marks) < COMPLETE * runs.times
    # a piece of headlines that no sentence has may have a verb in it: "Minister Denies"
    in_sentence = np.bincount(run_of[tells[last]], minlength=runs.times.size) > 0
    is_kept &= in_sentence | (marks.uses.before_nouns[words_of_runs[:, 0]] & marks.uses.nominal[words_of_runs[:, -1]])
    # part of a longer name is no phrase of its own
    goes_on = (marks.name_before[places] & capital[places]) | (marks.name_after[last] & capital[last])
    is_kept &= ~_mostly(run_of, goes_on, np.ones_like(goes_on), runs.times.size)
    order = np.argsort(run_of, kind="stable")
    bounds = np.searchsorted(run_of[order], np.arange(runs.times.size + 1))
    phrases = []
    for run in np.flatnonzero(is_kept).tolist():
        places_of_run = places[order[bounds[run] : bounds[run + 1]]]
        words = tuple(running.words[word] for word in words_of_runs[run].tolist())
        texts = running.text[places_of_run]
        phrases.append((int(runs.first[run]), Phrase(words, texts[np.diff(texts, prepend=-1) > 0], places_of_run)))
    return phrases


def _well_made(words: Integers, is_name: Flags, marks: _Marks) -> Flags:
    """Return which runs begin and end well, and have no more inside than links."""
    first, last = words[:, 0], words[:, -1]
    n_function = marks.is_function[words].sum(axis=1)
    is_kept: Flags = (marks.uses.may_begin[first] | (is_name & marks.begins_name[first])) & marks.uses.may_end[last]
    is_kept &= n_function <= np.where(is_name, MAX_LINKS_OF_NAMES, MAX_LINKS)
    links = marks.is_link[words] | (is_name[:, None] & marks.joins[words])
    is_kept &= (links | ~marks.is_function[words]).all(axis=1)
    is_kept &= words.shape[1] - n_function <= MAX_CONTENT
    return is_kept


def _covered(runs: _Runs, longer: _Runs, running: RunningText, marks: _Marks) -> Integers:
    """Return how many occurrences of each run the commonest run of one word more covers."""
    covered = np.zeros(runs.times.size + 1, dtype=np.int64)
    places = np.flatnonzero(longer.number)
    times = longer.times[longer.number[places] - 1]
    # a word that may not stand at the end makes no other phrase
    for part, added, may in (
        (places, places + runs.length, marks.uses.may_end),
        (places + 1, places, marks.begins_name),
    ):
        counts = may[running.word[added]]
        np.maximum.at(covered, runs.number[part[counts]], times[counts])
    return covered[1:]


def _mostly(run_of: Integers, holds: Flags, of: Flags, n_runs: int) -> Flags:
    """Return for which runs something holds in most of the places that count."""
    mostly: Flags = 2 * np.bincount(run_of[holds & of], minlength=n_runs) > np.bincount(run_of[of], minlength=n_runs)
    return mostly
