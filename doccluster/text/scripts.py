"""Tokens for scripts written without blanks: pairs of characters for them, whole words for the rest.

Overlapping pairs need no dictionary and are the usual baseline for Chinese, Japanese and Korean retrieval; the same
rule serves Thai, Lao, Burmese and Khmer.
"""

from __future__ import annotations

import itertools
import re

# Letters of scripts that put no blank between words (and Hangul, whose endings stick to the words).
_UNSPACED = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ebd\u0ec0-\u0ece\u1000-\u103f\u1780-\u17d3"  # Thai, Lao, Burmese, Khmer
    "\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3"  # Hangul
    "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"  # kana
    "\u3105-\u312f\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # bopomofo, Han
)
_UNSPACED_ONLY = re.compile(rf"[{_UNSPACED}]+")
_RUN = re.compile(rf"([{_UNSPACED}]+)|([^\W{_UNSPACED}]{{2,}})")


def tokens_of_mixed_scripts(text: str) -> list[str]:
    """Return overlapping pairs of characters for scripts without blanks, words of two or more characters otherwise.

    A single character that stands alone is a token of its own.

    >>> tokens_of_mixed_scripts("東京都 opened 3 metro lines 水")
    ['東京', '京都', 'opened', 'metro', 'lines', '水']
    """
    found: list[str] = []
    for run, word in _RUN.findall(text):
        if word:
            found.append(word)
        elif len(run) == 1:
            found.append(run)
        else:
            found += map("".join, itertools.pairwise(run))
    return found


def is_unspaced(text: str) -> bool:
    """Return whether a text is not empty and has only letters of scripts that put no blank between words.

    >>> is_unspaced("東京"), is_unspaced("東京 1"), is_unspaced("")
    (True, False, False)
    """
    return _UNSPACED_ONLY.fullmatch(text) is not None
