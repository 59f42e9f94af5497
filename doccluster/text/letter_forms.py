"""Letters and words that texts write in more than one way, made one before they are counted; they are shown as written.

Pages that were set or scanned have the shapes of letters in place of letters (ligatures, Arabic letters as they look
inside a word), and words broken at the ends of lines. Unicode says which letters a shape stands for; that ``coun-`` and
``cil`` are one word is told by the collection, where the word stands elsewhere.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from functools import cache

from doccluster.text.scripts import as_ranges, is_beyond_first_plane

# Letters of keyboards and codes without those of the language: kaf and yeh of Persian, the comma below of Romanian; and
# the dots of Russian, which are mostly left out. The second of each is the one that stemmers and most texts have.
SAME_LETTERS = str.maketrans("کیșțё", "كيşţе")
WRITTEN_IN_TWO_WAYS = frozenset(["arabic", "persian", "romanian", "russian"])
# of the alphabets where I is the capital of a letter of its own, and which part of a text these letters make
_TURKISH = str.maketrans({"I": "ı", "İ": "i"})
_TURKISH_SIGNS, _AZERBAIJANI_SIGNS, SHARE_OF_SIGNS = "ıİğĞşŞ", "əƏ", 0.04

# the wide and narrow ones, and letters of scripts without blanks between words, are the business of `scripts`
_BLOCKS = (range(0xB5, 0xE00), range(0xF00, 0x3100), range(0xFB00, 0xFE00), range(0xFE71, 0xFEFD))
_BEYOND = (range(0x1D400, 0x1D800), range(0x1EE00, 0x1EF00))
_RADICALS = range(0x2E80, 0x2FE0)  # of Chinese characters, in the place of characters of the same shape
_OTHER_MEANING = ("<super>", "<sub>", "<circle>", "<square>", "<fraction>", "<noBreak>")


def plain_letters(text: str) -> str:
    """Return a text with each other form of a letter as that letter; raised and circled ones mean something else.

    >>> plain_letters("The \ufb01rst o\ufb03ce, \U0001d5ee\U0001d5f9\U0001d5fd\U0001d5f5\U0001d5ee, m\u00b2")
    'The first office, alpha, m²'
    """
    return text if _is_plain(text) else text.translate(_other_forms()[0])


def _is_plain(text: str) -> bool:
    return text.isascii() or (_other_forms()[1].search(text) is None and not is_beyond_first_plane(text))


def in_turkish_capitals(text: str, languages: Collection[str]) -> str:
    """Return a text with its capital I as the small letter that it is in Turkish and Azerbaijani.

    So is each text where Turkish is the only language, else one with enough of the other letters of these two.

    >>> in_turkish_capitals("ISLAK", ["turkish"]), in_turkish_capitals("IT in Iraq", ["turkish", "english"])
    ('ıSLAK', 'IT in Iraq')
    """
    if list(languages) != ["turkish"]:
        signs = f"{_TURKISH_SIGNS * ('turkish' in languages)}{_AZERBAIJANI_SIGNS}"
        if text.isascii() or sum(map(text.count, signs)) < SHARE_OF_SIGNS * len(text):
            return text
    return text.translate(_TURKISH)


def lowered(text: str) -> str:
    """Return a text in small, plain letters."""
    return text.lower() if _is_plain(text) else in_turkish_capitals(plain_letters(text), ()).lower()


def both_spellings(word: str) -> str:
    """Return a word as it is and with the letters by which it is counted, for lists of words."""
    return f"{word} {word.translate(SAME_LETTERS)}"


@cache
def _other_forms() -> tuple[dict[int, str], re.Pattern[str]]:
    """Return each other form with its letters, and what finds those of the first plane and letters of Azerbaijani."""
    table = {}
    for letter in filter(unicodedata.decomposition, map(chr, itertools.chain(*_BLOCKS, *_BEYOND))):
        point = ord(letter)
        plain, category = unicodedata.normalize("NFKC", letter), unicodedata.category(letter)
        is_letter = category[0] == "L" or category == "Nl" or point in _RADICALS or (point > 0xFFFF and plain.isalnum())
        has_letters = all(part.isalnum() or unicodedata.combining(part) for part in plain)
        has_other_meaning = unicodedata.decomposition(letter).startswith(_OTHER_MEANING)
        if plain != letter and is_letter and has_letters and not has_other_meaning:
            table[point] = plain
    in_first_plane = "".join(chr(point) for point in sorted(table) if point < 0x10000)
    return table, re.compile(f"[{as_ranges(in_first_plane)}{_AZERBAIJANI_SIGNS}]")


LEAST_BROKEN = 0.2  # of the words at hyphens before a blank or the end of a line; of compounds fewer stand elsewhere
LEAST_LETTERS = 5  # of a word that is put together
MAX_BROKEN_WORDS = 100_000
# what stands before a letter is looked at once, so that a text of one long word is read in linear time
_BREAK = re.compile(r"-(?<=[^\W\d_]-)\s++[^\W\d_]")  # begins with a sign, which is found fast
_BROKEN = re.compile(r"(?<![^\W\d_])([^\W\d_]++)[-\u2010]\s++(?=([^\W\d_]++))")


def broken_candidates(texts: Iterable[object]) -> set[str]:
    """Return the words, in small letters, that a hyphen and the end of a line would break if they were words."""
    breaking = (text.lower() for text in texts if isinstance(text, str) and _may_break(text))
    return {before + after for text in breaking for before, after in _BROKEN.findall(text)}


def learned_broken_words(candidates: Collection[str], times: Mapping[str, int]) -> frozenset[str]:
    """Return the words to put together where a line breaks them; none where lines hardly do that.

    `candidates` are those of `broken_candidates`, `times` says how often each word is in the same texts.

    >>> sorted(learned_broken_words({"council", "wellknown"}, {"council": 1, "stone": 1, "well": 1}))
    ['council', 'stone']
    """
    if not candidates or sum(word in times for word in candidates) < LEAST_BROKEN * len(candidates):
        return frozenset()
    words = (word for word in times if len(word) >= LEAST_LETTERS and word.isalpha())
    return frozenset(sorted(words, key=lambda word: (-times[word], word))[:MAX_BROKEN_WORDS])


def join_broken(text: str, words: Collection[str]) -> str:
    """Return a text, in small letters, with some words put together where the end of a line breaks them.

    >>> join_broken("the coun-\\n  cil of a well-\\nknown har-\\nbour", {"council", "harbour"})
    'the council of a well-\\nknown harbour'
    """
    if not _may_break(text):
        return text
    return _BROKEN.sub(lambda match: match[1] if match[1] + match[2] in words else match[0], text)


def _may_break(text: str) -> bool:
    return _BREAK.search(text) is not None or "\u2010" in text
