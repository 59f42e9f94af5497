"""Which terms can stand in a label, and which of them would repeat one another."""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import pairwise

from doccluster.text.scripts import is_unspaced

_WORD = re.compile(r"\w+", re.UNICODE)
_HIRAGANA = re.compile("[\u3041-\u309f]+")
# Korean particles, the verbs that stand for them, and forms of verbs that end a sentence
_KOREAN = re.compile(
    "에서|에게|으로|하[여고는다]|[한된했됐]다|되[어는다]|되었다|[있없][는다]|이다|였다|이었다|대한|위[해한]|통해|따라|인하여|인해|그리고|또는"
)
_HANGUL_FROM, _FINALS, _DOUBLE_S = 0xAC00, 28, 20  # syllables are numbered by their final letter last
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")


def is_content(term: str, function_words: Collection[str]) -> bool:
    """Return whether a term may stand in a label: its words begin with letters, and no function word is at an end.

    A single letter counts as a word only in Chinese; hiragana alone, and a few Korean words, are endings and particles.

    >>> [is_content(term, {"of", "the"}) for term in ("Bank of England", "of the", "1987", "3rd", "B52", "x")]
    [True, False, False, False, True, False]
    >>> [is_content(term, ()) for term in ("水", "ម", "ない", "有する", "에서")]
    [True, False, False, True, False]
    """
    words = _WORD.findall(term.lower())
    if not words or not all(word[0].isalpha() for word in words):
        return False
    if _HIRAGANA.fullmatch(term) or is_korean_ending(term) or (len(term) == 1 and not _HAN.fullmatch(term)):
        return False
    return words[0] not in function_words and words[-1] not in function_words


def is_korean_ending(term: str) -> bool:
    """Return whether a term is a Korean particle or a verb at the end of a sentence, which name nothing.

    >>> [is_korean_ending(term) for term in ("에서", "입었다", "합니다", "캐나다")]
    [True, True, True, False]
    """
    past = term[-1:] == "다" and (ord(term[-2:-1] or "다") - _HANGUL_FROM) % _FINALS == _DOUBLE_S
    return bool(_KOREAN.fullmatch(term)) or past or term.endswith("니다")


def same_family(term: str, other: str) -> bool:
    """Return whether two terms would repeat one another in a label: forms of one word, or a phrase and its word.

    No stemmer is asked, so this holds for any language: forms of a word share a long beginning.

    >>> same_family("printer", "printing"), same_family("oil", "oils"), same_family("new york", "york")
    (True, True, True)
    >>> same_family("soviet", "sovereign"), same_family("bank", "barrel")
    (False, False)
    """
    return any(_same_word(word, form) for word in term.casefold().split() for form in other.casefold().split())


def _same_word(word: str, form: str) -> bool:
    if is_unspaced(word) and is_unspaced(form):
        return not set(pairwise(word)).isdisjoint(pairwise(form))  # two pieces of one string
    shorter, longer = sorted((word, form), key=len)
    common = 0
    for left, right in zip(shorter, longer, strict=False):
        if left != right:
            break
        common += 1
    if common == len(shorter):
        return len(longer) - common <= (5 if common >= 4 else 2 if common == 3 else 0)
    return common >= 4 and common >= 0.6 * len(longer)
