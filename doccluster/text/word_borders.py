"""Where words begin and end in scripts without blanks: by BudouX where it is installed (the extra ``cjk``).

BudouX cuts Chinese and Thai into words and Japanese into phrases, a word with its particles, which are left out here.
Korean has blanks, and particles at the ends of its words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from functools import cache, lru_cache
from itertools import accumulate

from doccluster.text.scripts import scripts_without_blanks

Parse = Callable[[str], list[str]]

_LONGEST = 200  # characters of a clause
_CLAUSE = re.compile(r"[\w\u0e00-\u0eff]+")
_PARTICLES = re.compile("[\u3041-\u309f]+$")
_ENDINGS = re.compile("(?:에서|에게|으로|까지|부터|은|는|이|가|을|를|의|에|로|와|과|도|만)$")  # Korean particles
# the commonest characters that are written otherwise in simplified Chinese
_TRADITIONAL = re.compile("[國們這來說時會為個學體與對發東車門長開關電點後過還從總統議獲選戰國際間經報導區]")


def whole_word(text: str, start: int, stop: int) -> str:
    """Return the words around a piece of a text; an empty text where words cannot be told."""
    first = max(0, start - _LONGEST // 2)
    for clause in _CLAUSE.finditer(text, first, stop + _LONGEST // 2):
        if clause.start() <= start and stop <= clause.end():
            borders = _borders(clause[0])
            if not borders:
                break
            begin = max(border for border in borders if border <= start - clause.start())
            end = min(border for border in borders if border >= stop - clause.start())
            particles = _PARTICLES.search(clause[0][begin:end])
            if particles and particles.start() > 0:
                end = begin + particles.start()
            return clause[0][begin:end]
    return ""


def without_ending(word: str, words: Collection[str]) -> str:
    """Return a Korean word without its particle, where it is among the words without it or with another one as well.

    >>> without_ending("지진이", {"지진이", "지진으로"}), without_ending("고양이", {"고양이", "강아지"})
    ('지진', '고양이')
    """
    bare = _ENDINGS.sub("", word)
    forms = {other for other in words if bare in (other, _ENDINGS.sub("", other))}
    return bare if len(bare) > 1 and len(forms | {word}) > 1 else word


@lru_cache(maxsize=4096)
def _borders(clause: str) -> tuple[int, ...]:
    """Return where words of a clause begin and end, ascending; nothing where no parser knows its script."""
    scripts = scripts_without_blanks(clause)
    if "kana" in scripts:
        name = "japanese"
    elif "Thai" in scripts:
        name = "thai"
    elif "Chinese characters" in scripts:
        name = "traditional_chinese" if _TRADITIONAL.search(clause) else "simplified_chinese"
    else:
        return (0, len(clause)) if "Hangul" in scripts else ()
    parse = _parsers().get(name)
    return () if parse is None else (0, *accumulate(map(len, parse(clause))))


@cache
def _parsers() -> dict[str, Parse]:
    try:
        import budoux
    except ImportError:
        return {}
    return {
        "japanese": budoux.load_default_japanese_parser().parse,
        "thai": budoux.load_default_thai_parser().parse,
        "simplified_chinese": budoux.load_default_simplified_chinese_parser().parse,
        "traditional_chinese": budoux.load_default_traditional_chinese_parser().parse,
    }
