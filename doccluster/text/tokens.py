"""One string -> its tokens: preprocessing, word patterns, word and character n-grams; and where its sentences end.

The rules of tokens are those of scikit-learn's text vectorizers, so that the same parameters give the same terms. The
words of news articles are cut faster where all letters are those of ASCII; what is found is what the patterns find.

A matcher of regular expressions that goes back and tries again needs time that grows with a power of the text's length,
or doubles with each letter, where the same letters can be divided among repetitions in many ways: ``(\\w+)+!``. So a
pattern from another person's file is read from left to right, and refused where two repetitions could share letters.
Some harmless ones are refused too: those with groups inside groups, alternatives inside a group, or what looks ahead or
back.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from doccluster.base.arrays import AnyArray
from doccluster.base.validation import check_choice
from doccluster.errors import InputError

DEFAULT_TOKEN_PATTERN = r"(?u)\b\w\w+\b"

Preprocessor = Callable[[str], str]
Tokenizer = Callable[[str], Sequence[str]]

_SPACES = re.compile(r"\s\s+")
# Patterns that mean "every run of at least m word characters", in the ways people write them.
_WORD_RUN = re.compile(r"(?:\(\?u\))?(?:\\b)?((?:\\w)*)\\w(?:\+|\{([1-9][0-9]?),\})(?:\\b)?")
# what stands before the point of a shortened word, by its length, since a look back has one length
_INITIAL = r"(?<!\b\w\.)"
_TITLES = "".join(
    rf"(?<!\b(?i:{titles})\.)"
    for titles in (
        *("Mr|Ms|Dr|St|Lt|vs", "Mrs|Drs|Sen|Rep|Gov|Gen|Col|Sgt|Rev", "Prof|Capt|Mmes|Sens|Reps|Govs|Gens"),
        *("Profs", "Messrs"),
    )
)
_END = re.compile(rf"(?:(?<=[!?…])|(?<=\.){_INITIAL}{_TITLES}(?=\s+[^\sa-z]))\s+|(?<=[。！？])")


def word_run_length(token_pattern: str) -> int | None:
    r"""Return m when `token_pattern` means "each run of at least m word characters", else None.

    A greedy ``\w+`` always ends at a boundary, so the ``\b`` marks change nothing.

    >>> word_run_length(r"(?u)\b\w\w+\b"), word_run_length(r"\w{3,}"), word_run_length(r"[a-z]+")
    (2, 3, None)
    """
    match = _WORD_RUN.fullmatch(token_pattern)
    if match is None:
        return None
    return len(match[1]) // 2 + int(match[2] or 1)


def build_preprocessor(
    *, lowercase: bool, strip_accents: str | Callable[[str], str] | None, preprocessor: Preprocessor | None
) -> Preprocessor:
    """Return the function that prepares a text: `preprocessor` if there is one, else lower case, then accents."""
    if preprocessor is not None:
        return preprocessor
    if strip_accents is None or callable(strip_accents):
        strip = strip_accents
    else:
        from sklearn.feature_extraction.text import strip_accents_ascii, strip_accents_unicode

        functions = {"ascii": strip_accents_ascii, "unicode": strip_accents_unicode}
        strip = functions[check_choice(strip_accents, functions, "strip_accents")]
    if not lowercase:
        return strip or (lambda text: text)
    if strip is None:
        return str.lower
    return lambda text: strip(text.lower())


def build_tokenizer(token_pattern: str) -> Tokenizer:
    """Return the function that finds the tokens of a text by a regular expression with at most one group."""
    length = word_run_length(token_pattern)
    if length is not None:
        return re.compile(rf"\w{{{length},}}" if length > 2 else r"\w" * (length - 1) + r"\w+").findall
    try:
        pattern = re.compile(token_pattern)
    except (re.error, TypeError) as error:
        raise InputError(
            f"is not a regular expression: {error}", argument="token_pattern", received=token_pattern
        ) from error
    if pattern.groups > 1:
        raise InputError(
            f"has {pattern.groups} capturing groups",
            argument="token_pattern",
            received=token_pattern,
            remedy="write (?:...) for all but one",
        )
    return pattern.findall


def word_ngrams(tokens: Sequence[str], *, ngram_range: tuple[int, int]) -> list[str]:
    """Return the runs of `ngram_range` many neighbouring tokens, joined by a blank, shortest first.

    >>> word_ngrams(["peace", "talks", "resume"], ngram_range=(1, 2))
    ['peace', 'talks', 'resume', 'peace talks', 'talks resume']
    """
    smallest, largest = ngram_range
    ngrams = list(tokens) if smallest == 1 else []
    for length in range(max(2, smallest), min(largest, len(tokens)) + 1):
        ngrams += map(" ".join, zip(*(tokens[start:] for start in range(length)), strict=False))
    return ngrams


def character_ngrams(text: str, *, ngram_range: tuple[int, int]) -> list[str]:
    """Return the runs of `ngram_range` many characters, white space runs counting as one blank, shortest first.

    >>> character_ngrams("to  go", ngram_range=(4, 5))
    ['to g', 'o go', 'to go']
    """
    text = _SPACES.sub(" ", text)
    smallest, largest = ngram_range
    return [
        text[start : start + length]
        for length in range(smallest, min(largest, len(text)) + 1)
        for start in range(len(text) - length + 1)
    ]


def character_ngrams_in_words(text: str, *, ngram_range: tuple[int, int]) -> list[str]:
    """Return the runs of characters inside each word, the word padded by a blank on both sides.

    A word shorter than a length is counted once, whole, and no longer length is tried.

    >>> character_ngrams_in_words("to go", ngram_range=(3, 3))
    [' to', 'to ', ' go', 'go ']
    """
    smallest, largest = ngram_range
    ngrams: list[str] = []
    for word in text.split():
        padded = f" {word} "
        for length in range(smallest, largest + 1):
            ngrams += [padded[start : start + length] for start in range(max(1, len(padded) - length + 1))]
            if len(padded) <= length:
                break
    return ngrams


def sentences(text: str) -> list[str]:
    """Return the sentences of a text; what follows a shortened word goes on with its sentence.

    >>> sentences("The U.S. envoy met Mr. J. Hill and SEN. Bo. It rained! So what?")
    ['The U.S. envoy met Mr. J. Hill and SEN. Bo.', 'It rained!', 'So what?']
    """
    return [sentence for sentence in _END.split(text) if sentence]


LONGEST = 200  # characters of a pattern
_LETTER = r"""\\[wWdDsS.+*?()\[\]{}|^$\\/'"&@\#_-]|\[\^?\]?(?:\\.|[^\]\\])*\]|[^\\()\[\]{}|*+?^$]"""
_TIMES = r"(?:([*+?])|\{(\d{0,4})(,)?(\d{0,4})\})?\??"
_EDGE = re.compile(r"\\[bBAZ]|[\^$]")
_ITEM = re.compile(f"({_LETTER}){_TIMES}")
_GROUP = re.compile(rf"\((?:\?:)?((?:\\[bBAZ]|(?:{_LETTER}){_TIMES})*)\){_TIMES}")
_BRANCH = re.compile(rf"((?:\((?:{_LETTER}|[?*+^${{}}])*\)|{_LETTER}|\\[bBAZ]|[*+?^${{}}])*)(\||$)")
# letters that stand for all others when sets of letters are compared
_SAMPLE = "".join(map(chr, range(128))) + "àßéğñøÅЖдעم漢かン가ก０½²€–—’‘“”…\xa0\u0301\U0001f600"

Letters = frozenset[str]


@dataclass(frozen=True)
class Item:
    """A letter or a set of letters, and how often it may be repeated."""

    letters: Letters
    low: int
    high: float


def check_safe_pattern(pattern: str) -> None:
    r"""Raise ValueError unless a pattern is one of those that are sure to end soon.

    >>> check_safe_pattern(r"(?u)\b\w\w+\b"), check_safe_pattern(r"[a-z]+(?:-[a-z]+)*")
    (None, None)
    >>> check_safe_pattern(r"\w+\w+!")
    Traceback (most recent call last):
        ...
    ValueError: the token pattern '\\w+\\w+!' might never finish on some texts: two repetitions share letters
    """
    build_tokenizer(pattern[: LONGEST + 1])
    if word_run_length(pattern) is not None:
        return
    reason = f"it has more than {LONGEST} characters" if len(pattern) > LONGEST else ""
    unread = re.sub(r"^\(\?[aimsux]+\)", "", pattern)
    while unread and not reason:
        branch = _BRANCH.match(unread)
        if branch is None:
            reason = f"{unread[:10]!r} is not looked into"
            break
        reason, unread = _danger(branch[1]), unread[branch.end() :]
    if reason:
        raise ValueError(f"the token pattern {pattern[:80]!r} might never finish on some texts: {reason}")


def _danger(branch: str) -> str:
    """Return why an alternative might take long; an empty text if it cannot."""
    place, open_ended = 0, list[Letters]()  # the letters of items that may still go on
    while place < len(branch):
        if edge := _EDGE.match(branch, place):
            place = edge.end()
            continue
        if group := _GROUP.match(branch, place):
            items = [_item(match) for match in _ITEM.finditer(_EDGE.sub("", group[1]))]
            low, high = _times(group.groups()[-4:])
        elif group := _ITEM.match(branch, place):
            items, low, high = [_item(group)], 1, 1
        else:
            return f"{branch[place:][:10]!r} is not looked into"
        if high > 1 and not _begins_apart(items):
            return f"{group[0][:20]!r} repeats what can be divided in several ways"
        if low != high and (not items or any(items[0].letters & letters for letters in open_ended)):
            return "two repetitions share letters"
        inside = list(open_ended)
        for item in items:
            if item.low != item.high:
                if any(item.letters & letters for letters in inside):
                    return "two repetitions share letters"
                inside.append(item.letters)
            else:  # what has none of these letters ends the repetitions before it
                inside = [letters for letters in inside if item.letters & letters]
        open_ended = inside if low == high else [*open_ended, *inside, items[0].letters]
        place = group.end()
    return ""


def _begins_apart(items: Sequence[Item]) -> bool:
    """Return whether the times of a repeated group can be told apart: by one letter that is nowhere else in it."""
    return (
        bool(items)
        and items[0].low == items[0].high == 1
        and not any(items[0].letters & item.letters for item in items[1:])
    )


def _item(match: re.Match[str]) -> Item:
    letter = re.compile(match[1])
    return Item(
        frozenset(character for character in _SAMPLE if letter.fullmatch(character)), *_times(match.groups()[-4:])
    )


def _times(quantifier: Sequence[str | None]) -> tuple[int, float]:
    """Return the least and the largest number of times."""
    sign, low, comma, high = quantifier
    if sign is not None:
        return int(sign == "+"), 1 if sign == "?" else float("inf")
    if low is None:
        return 1, 1
    least = int(low or 0)
    return least, least if not comma else float(high or "inf")


MAX_WORDS_KNOWN = 1 << 17
_PUNCTUATION = re.compile("[\xa0\u2010-\u2027]")  # the quotes and dashes of typesetters, which are in no word
_BETWEEN_WORDS = "".join(
    character for character in map(chr, range(128)) if not (character.isalnum() or character == "_")
)
_LOWER_WORDS = str.maketrans(
    string.ascii_uppercase + _BETWEEN_WORDS, string.ascii_lowercase + " " * len(_BETWEEN_WORDS)
)


def plain_words(text: str) -> list[str] | None:
    r"""Return the words (``\w+``) of a text in small letters, or None if it has letters beyond ASCII.

    >>> plain_words("The \u201cold\u201d harbour \u2013 it's shut"), plain_words("Skerrow's caf\u00e9")
    (['the', 'old', 'harbour', 'it', 's', 'shut'], None)
    """
    if not text.isascii():
        text = _PUNCTUATION.sub(" ", text)
        if not text.isascii():
            return None
    return text.translate(_LOWER_WORDS).split()


class WordTable:
    """Numbers by word, made when a word is first met by `know`; all are dropped when they are too many."""

    def __init__(self, know: Callable[[str], object], dtype: npt.DTypeLike) -> None:
        self._numbers = _Numbers()
        self._rows = np.zeros(1 << 10, dtype=dtype)
        self._know = know

    def look_up(self, words: Collection[str]) -> AnyArray:
        """Return the values of words: array of shape (n_words,)."""
        numbers = self._numbers
        n_before = len(numbers)
        if n_before > MAX_WORDS_KNOWN:
            numbers.clear()
            n_before = 0
        numbers_of_words = np.fromiter(map(numbers.__getitem__, words), dtype=np.int64, count=len(words))
        if numbers.fresh:
            if len(numbers) > self._rows.shape[0]:
                self._rows = np.resize(self._rows, 2 * len(numbers))
            self._rows[n_before : len(numbers)] = [self._know(word) for word in numbers.fresh]
            numbers.fresh = []
        return self._rows[numbers_of_words]


class _Numbers(dict[str, int]):
    """Numbers words in the order of their first use, and notes the new ones."""

    def __init__(self) -> None:
        super().__init__()
        self.fresh: list[str] = []

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        self.fresh.append(word)
        return number


def word_codes(words: Sequence[str]) -> npt.NDArray[np.uint64]:
    """Return a number of 64 bits for each word, the same everywhere."""
    return _CODES.look_up(words)


_CODES = WordTable(
    lambda word: int.from_bytes(blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little"),
    np.uint64,
)
