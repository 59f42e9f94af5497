"""One string -> its tokens: preprocessing, word patterns, word and character n-grams; and where its sentences end.

The rules of tokens are those of scikit-learn's text vectorizers, so that the same parameters give the same terms.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence

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
_TITLES = r"(?<!\b(?:Mr|Ms|Dr|St|Lt|vs)\.)(?<!\b(?:Mrs|Sen|Rep|Gov|Gen|Col|Sgt)\.)(?<!\bProf\.)"
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


def strip_accents_unicode(text: str) -> str:
    """Return `text` decomposed (NFKD) and without combining marks.

    >>> strip_accents_unicode("Žluťoučký kůň")
    'Zlutoucky kun'
    """
    if text.isascii():
        return text
    return "".join(mark for mark in unicodedata.normalize("NFKD", text) if not unicodedata.combining(mark))


def strip_accents_ascii(text: str) -> str:
    """Return `text` decomposed (NFKD) and with everything dropped that is not ASCII.

    >>> strip_accents_ascii("Řím 東京")
    'Rim '
    """
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")


def build_preprocessor(
    *, lowercase: bool, strip_accents: str | Callable[[str], str] | None, preprocessor: Preprocessor | None
) -> Preprocessor:
    """Return the function that prepares a text: `preprocessor` if there is one, else lower case, then accents."""
    if preprocessor is not None:
        return preprocessor
    if strip_accents is None or callable(strip_accents):
        strip = strip_accents
    else:
        functions = {"ascii": strip_accents_ascii, "unicode": strip_accents_unicode}
        strip = functions[check_choice(strip_accents, functions, "strip_accents")]
    if not lowercase:
        return strip or str
    if strip is None:
        return str.lower
    return lambda text: strip(text.lower())


def build_tokenizer(token_pattern: str) -> Tokenizer:
    """Return the function that finds the tokens of a text by a regular expression with at most one group.

    Raises InputError if the pattern is not a regular expression, or has more than one capturing group.
    """
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

    >>> sentences("The U.S. envoy met Mr. J. Hill. It rained! So what?")
    ['The U.S. envoy met Mr. J. Hill.', 'It rained!', 'So what?']
    """
    return [sentence for sentence in _END.split(text) if sentence]
