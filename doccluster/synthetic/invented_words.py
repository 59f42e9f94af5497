"""A vocabulary of pronounceable invented words, so that made documents can go through the whole line from text on.

Words are chains of syllables of one consonant and one vowel; the frequent ones are short. None ends in "e", which keeps
out the stop words of that form (here, some, were), and no ending is one that a stemmer would cut.
"""

from __future__ import annotations

from doccluster.errors import InputError

_CONSONANTS = "bdfgklmnprstvz"
_VOWELS = "aeiou"
_LAST_VOWELS = "aiou"
_FULL = tuple(c + v for c in _CONSONANTS for v in _VOWELS)
_LAST = tuple(c + v for c in _CONSONANTS for v in _LAST_VOWELS)
_STEP = 0.6180339887498949  # of a tier's length, made coprime: neighbouring ranks do not look alike
MAX_WORDS = 1_000_000


def invented_words(n_words: int) -> list[str]:
    """Return distinct words by rank, the first few thousand of two syllables, the others of three and more.

    >>> invented_words(3)
    ['baba', 'pogu', 'geno']
    """
    if not 1 <= n_words <= MAX_WORDS:
        raise InputError(
            "is out of range",
            argument="n_terms",
            received=n_words,
            expected=f"a number of words from 1 to {MAX_WORDS:,}",
        )
    words: list[str] = []
    n_syllables = 2
    while len(words) < n_words:
        length = len(_FULL) ** (n_syllables - 1) * len(_LAST)
        step = _coprime_step(length)
        words.extend(_word(rank * step % length, n_syllables) for rank in range(min(length, n_words - len(words))))
        n_syllables += 1
    return words


def _word(code: int, n_syllables: int) -> str:
    code, last = divmod(code, len(_LAST))
    syllables = [_LAST[last]]
    for _ in range(n_syllables - 1):
        code, next_one = divmod(code, len(_FULL))
        syllables.append(_FULL[next_one])
    return "".join(reversed(syllables))


def _coprime_step(length: int) -> int:
    """Return a step near the golden section of `length` without 2, 5 and 7, the primes of all lengths."""
    step = int(length * _STEP)
    while any(step % prime == 0 for prime in (2, 5, 7)):
        step += 1
    return step
